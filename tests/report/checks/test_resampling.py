"""Leaks, schemes, rows left out and single partitions are seen in the splits."""

import numpy as np
import pytest

from fairtrial.report.checks import registry
from tests.report.checks.made_results import halves, labelled, of_a_file
from tests.study.archives import real_results


def twice(n):
    """Two repeats of two folds: even and odd rows, the first and the last half."""
    first, last = np.arange(n // 2), np.arange(n // 2, n)
    return halves(n) | {(1, 0): (last, first), (1, 1): (first, last)}


def test_rows_in_both_parts_are_a_leak():
    splits = halves(40)
    train, test = splits[0, 1]
    splits[0, 1] = np.concatenate([train, test[:3]]), test
    found = registry["FT004"](labelled([0, 1] * 20, splits))
    assert found.outcome == "raised"
    assert found.details.to_numpy().tolist() == [["made", 0, 1, 23, 20, 3]]
    assert (found.finding["both"], found.finding["rows"]) == (3, 20)


def test_no_leak_where_parts_are_apart_and_what_cannot_be_seen_is_said():
    found = registry["FT004"](real_results())
    assert found.outcome == "passed"
    assert registry["FT004"](of_a_file()).outcome == "not applicable"


@pytest.mark.parametrize(
    ("scheme", "outcome"),
    [("dob-scv", "raised"), ("stratified", "passed"), ("given", "not applicable"), (None, "not applicable")],
)
def test_the_scheme_decides_about_optimism(scheme, outcome):
    results = real_results(declaration={"resampling": {"scheme": scheme}} if scheme else {})
    assert registry["FT006"](results).outcome == outcome


def test_rows_that_no_fold_tests_are_seen():
    splits = halves(40)
    train, test = splits[0, 0]
    splits[0, 0] = train, np.concatenate([test[:15], test[:1]])
    found = registry["FT012"](labelled([0, 0, 1, 1] * 10, splits))
    assert found.outcome == "raised"
    assert found.details.to_numpy().tolist() == [["made", 40, 5, 0, 2]]
    assert (found.finding["rows"], found.finding["never"], found.finding["most"]) == (40, 5, 2)


def test_every_row_tested_equally_often_passes_and_drawn_tests_promise_nothing():
    assert registry["FT012"](real_results()).outcome == "passed"
    assert registry["FT012"](labelled([0, 0, 1, 1] * 10, twice(40))).outcome == "passed"
    one = {(0, 0): halves(40)[0, 0]}
    drawn = labelled([0, 0, 1, 1] * 10, one, {"resampling": {"scheme": "holdout"}})
    assert registry["FT012"](drawn).outcome == "not applicable"
    assert registry["FT012"](labelled([0, 0, 1, 1] * 10, one)).outcome == "raised"


def test_one_partition_is_no_repeat():
    assert registry["FT016"](real_results()).outcome == "raised"
    assert registry["FT016"](labelled([0, 0, 1, 1] * 10, twice(40))).outcome == "passed"


@pytest.mark.parametrize("scheme", ["leave-one-out", "given"])
def test_what_cannot_be_repeated_need_not_be(scheme):
    assert registry["FT016"](real_results(declaration={"resampling": {"scheme": scheme}})).outcome == "not applicable"
