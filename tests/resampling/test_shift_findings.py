"""Findings of shift."""

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
    (cell,) = found[0].values["cells"]
    assert dict(cell.values) == {"class_name": "a", "split": "fold 1", "value": 0.4, "expected": 0.1, "p": 0.01}
    (cell,) = found[1].values["cells"]
    assert (cell["attribute"], cell["class_name"], cell["split"], cell["value"]) == ("x0", "a", "fold 1", 0.7)


def test_all_classes_together():
    (found,) = find_shift_problems(LAYOUT, [judged(KS, [0.7, 0.1], [0.02, 0.9], 0, label=-1)], [], 0.05)
    (cell,) = found.values["cells"]
    assert dict(cell.values) == {"attribute": "x0", "split": "fold 1", "value": 0.7, "expected": 0.1, "p": 0.02}


@pytest.mark.parametrize("scheme", ["LeaveGroupOut()", "Repeated(splitter=StratifiedGroupKFold(), n_repeats=2)"])
def test_groups_may_differ(scheme):
    layout = replace(LAYOUT, splits=replace(LAYOUT.splits, scheme=scheme))
    cells = [judged(ENERGY, [0.4, 0.1], [0.01, 0.9]), judged(OUTLYING, [0.2, 0.0], [0.01, 0.9], label=-1)]
    found = find_shift_problems(layout, cells, [], 0.05)
    assert [each.level for each in found] == ["note", "note"]
    assert [each.details[-1].kind for each in found] == ["group_shift", "group_shift"]


def test_fold_1_farther_out_hints_at_dob_scv():
    (found,) = find_shift_problems(LAYOUT, [judged(OUTLYING, [0.2, 0.0], [0.01, 0.9], label=-1)], [], 0.05)
    assert [each.kind for each in found.details] == ["outlying_farther", "literal_dob_scv"]
    (split,) = found.values["splits"]
    assert dict(split.values) == {"split": "fold 1", "difference": 0.2, "low": -0.05, "high": 0.06, "p": 0.01}


def test_nearer_folds_do_not():
    (found,) = find_shift_problems(LAYOUT, [judged(OUTLYING, [0.0, -0.2], [0.9, 0.01], label=-1)], [], 0.05)
    assert [each.kind for each in found.details] == ["outlying_nearer"]
    assert [(split["split"], split["difference"]) for split in found.values["splits"]] == [("fold 2", 0.2)]


def test_too_alike_is_a_note():
    (found,) = find_shift_problems(
        LAYOUT, [], [SimilarityTest(AUC, 0.3, 0.5, 0.01), SimilarityTest(ENERGY, 0.3, 0.5, 0.2)], 0.05
    )
    assert found.level == "note"
    (statistic,) = found.values["statistics"]
    assert dict(statistic.values) == {"check": AUC, "mean": 0.3, "expected": 0.5, "p": 0.01}


def test_undefined_p_is_no_finding():
    assert find_shift_problems(LAYOUT, [judged(ENERGY, [np.nan, 0.1], [np.nan, 0.9])], [], 0.05) == []
