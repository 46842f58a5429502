"""What is said about shift."""

from dataclasses import replace

import numpy as np
import pytest

from fairtrial.resampling.audit import find_shift_problems
from fairtrial.resampling.layout import read_layout
from fairtrial.resampling.shift import AUC, ENERGY, KS, OUTLYING, PermutedStatistic, ShiftTest, SimilarityTest

LAYOUT = read_layout([([0, 1], [2, 3]), ([2, 3], [0, 1])], ([[1.0], [2.0], [3.0], [4.0]], ["a", "b", "a", "b"]))


def judged(check, values, p, attribute=-1, label=0):
    n = len(values)
    given = PermutedStatistic(check, np.array([values]), np.arange(n), np.full(n, label), np.full(n, attribute))
    return ShiftTest(given, np.full(n, 0.1), np.full(n, -0.05), np.full(n, 0.06), np.array(p), np.array(p))


def test_shift_names_class_fold_and_attribute():
    found = find_shift_problems(
        LAYOUT, [judged(ENERGY, [0.4, 0.1], [0.01, 0.9]), judged(KS, [0.7, 0.1], [0.02, 0.9], 0)], [], 0.05
    )
    assert [each.level for each in found] == ["fault", "fault"]
    assert "class a of fold 1 0.4 where 0.1 is expected (p = 0.01)" in found[0].text
    assert "x0 in class a of fold 1 0.7" in found[1].text


def test_all_classes_together():
    (found,) = find_shift_problems(LAYOUT, [judged(KS, [0.7, 0.1], [0.02, 0.9], 0, label=-1)], [], 0.05)
    assert "x0 in all classes of fold 1 0.7 where 0.1 is expected" in found.text


@pytest.mark.parametrize("scheme", ["LeaveGroupOut()", "Repeated(splitter=StratifiedGroupKFold(), n_repeats=2)"])
def test_groups_may_differ(scheme):
    layout = replace(LAYOUT, splits=replace(LAYOUT.splits, scheme=scheme))
    cells = [judged(ENERGY, [0.4, 0.1], [0.01, 0.9]), judged(OUTLYING, [0.2, 0.0], [0.01, 0.9], label=-1)]
    found = find_shift_problems(layout, cells, [], 0.05)
    assert [each.level for each in found] == ["note", "note"]
    assert all("Splits by group do so wherever groups differ" in each.text for each in found)
    assert not any("DOB-SCV" in each.text for each in found)


def test_fold_1_farther_out_hints_at_dob_scv():
    (found,) = find_shift_problems(LAYOUT, [judged(OUTLYING, [0.2, 0.0], [0.01, 0.9], label=-1)], [], 0.05)
    assert "farther from the centre of their class than training rows: fold 1 by 20 % (random folds -5 to +6 %" in found.text
    assert "assign='literal'" in found.text


def test_nearer_folds_do_not():
    (found,) = find_shift_problems(LAYOUT, [judged(OUTLYING, [0.0, -0.2], [0.9, 0.01], label=-1)], [], 0.05)
    assert "nearer to the centre of their class than training rows: fold 2 by 20 %" in found.text
    assert "DOB-SCV" not in found.text


def test_too_alike_is_a_note():
    (found,) = find_shift_problems(
        LAYOUT, [], [SimilarityTest(AUC, 0.3, 0.5, 0.01), SimilarityTest(ENERGY, 0.3, 0.5, 0.2)], 0.05
    )
    assert found.level == "note"
    assert "mean two-sample AUC 0.3 where 0.5 is expected (p = 0.01)" in found.text
    assert "energy" not in found.text


def test_undefined_p_is_no_finding():
    assert find_shift_problems(LAYOUT, [judged(ENERGY, [np.nan, 0.1], [np.nan, 0.9])], [], 0.05) == []
