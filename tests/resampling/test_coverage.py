"""Counts of training and test rows, and the findings from them."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeaveOneOut, RepeatedStratifiedKFold, ShuffleSplit

from fairtrial.resampling.layout import count_coverage, find_coverage_problems, read_layout
from fairtrial.resampling.splits import Split, Splits
from tests.reference.folds import stratified

Y = np.repeat(["a", "b"], [20, 10])
X = np.arange(30.0)[:, None]


def checks(splits, y=Y):
    layout = read_layout(splits, (X[: len(y)], y))
    return {each.check: each for each in find_coverage_problems(layout, count_coverage(layout))}


def folds():
    return stratified(Y, 5, np.random.default_rng(0))


def test_sound_folds_have_no_findings():
    assert checks(folds()) == {}


def test_leave_one_out_has_no_findings():
    assert checks(LeaveOneOut()) == {}


def test_rows_in_both_parts():
    splits = folds()
    splits[2] = (np.append(splits[2][0], splits[2][1][:2]), splits[2][1])
    found = checks(splits)["in train and test"]
    assert found.level == "fault"
    (split,) = found.values["splits"]
    assert dict(split.values) == {"split": "fold 3", "rows": 2, "test_rows": 6}


def test_rows_twice_in_a_test_part():
    splits = folds()
    splits[0] = (splits[0][0], np.append(splits[0][1], splits[0][1][:1]))
    assert checks(splits)["twice in test"].level == "fault"


def test_rows_never_tested_and_tested_again():
    splits = folds()
    splits[0] = (np.append(splits[0][0][1:], splits[0][1]), np.append(splits[0][1][1:], splits[0][0][0]))
    found = checks(splits)
    for check in ("never tested", "tested again"):
        assert dict(found[check].values) == {"rows": 1, "n_rows": 30}
    assert found["never tested"].level == found["tested again"].level == "fault"


@pytest.mark.parametrize("splits", [ShuffleSplit(5, test_size=0.3, random_state=0), [(np.arange(20), np.arange(20, 30))]])
def test_draws_may_leave_rows_out(splits):
    found = checks(splits)
    assert found["never tested"].level == "note"
    assert "tested again" not in found


def test_absent_classes():
    found = checks(KFold(3))
    absent = [(item["class_name"], item["split"]) for item in found["class absent from test"].values["classes"]]
    assert absent == [("b", "fold 1"), ("b", "fold 2"), ("a", "fold 3")]
    assert found["class absent from test"].level == "caution"
    assert found["class absent from training"].level == "fault"
    assert [item["split"] for item in found["class absent from training"].values["classes"]] == ["fold 3"]


def test_uneven_folds():
    fold = np.repeat([0, 1, 2], [7, 10, 13])
    found = checks([(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)])
    (sizes,) = found["sizes"].values["ranges"]
    assert (sizes["least"], sizes["most"]) == (7, 13)
    assert found["class counts"].level == "caution"


def test_counts():
    layout = read_layout(folds(), (X, Y))
    found = count_coverage(layout)
    assert found.test.tolist() == [[4, 2]] * 5
    assert found.train.tolist() == [[16, 8]] * 5
    assert found.never_tested.tolist() == found.tested_again.tolist() == [0]
    assert found.are_folds == (True,)


def test_folds_and_repeats_can_be_counted_from_zero():
    splits = RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=1).split(X, Y)
    parts = [Split(train, test, s // 2, s % 2) for s, (train, test) in enumerate(splits)]
    parts[3] = Split(np.append(parts[3].train, parts[3].test[:2]), parts[3].test[1:], 1, 1)
    layout = read_layout(Splits(len(Y), tuple(parts), "given"), (X, Y))
    plain, numbered = (
        {
            each.check: each.values
            for each in find_coverage_problems(layout, count_coverage(layout), use_split_numbers=by_number)
        }
        for by_number in (False, True)
    )
    for values, split, repeat in ((plain, "fold 2 of repeat 2", 2), (numbered, "fold 1 of repeat 1", 1)):
        (overlap,) = values["in train and test"]["splits"]
        assert dict(overlap.values) == {"split": split, "rows": 1, "test_rows": 14}
        assert dict(values["never tested"]) == {"rows": 1, "n_rows": 30, "repeat": repeat}
