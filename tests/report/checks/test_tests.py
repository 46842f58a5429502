"""What counts as a case, how many there are, and how many questions were asked."""

import numpy as np
import pytest
from scipy.stats import wilcoxon

from fairtrial.report.checks import registry
from tests.report.result_cases import few_learners, skilled_results
from tests.study.archives import real_results


def test_splits_of_one_data_set_pass_if_the_test_allows_for_overlap():
    found = registry["FT001"](few_learners(["bayes", "near"], ["wine"]))
    assert found.outcome == "passed"
    assert found.finding.kind == "FT001/corrected"


def test_data_sets_are_independent_cases():
    assert registry["FT001"](real_results()).outcome == "passed"
    for number in ("FT001", "FT008"):
        assert registry[number](few_learners(["tree"])).outcome == "not applicable"
        assert registry[number](real_results(lambda *_: "crash")).outcome == "not applicable"


@pytest.mark.parametrize(
    ("skills", "sets", "outcome"),
    [
        ({"a": 0.9, "b": 0.6}, 5, "raised"),
        ({"a": 0.9, "b": 0.6}, 6, "passed"),
        ({"a": 0.9, "b": 0.8, "c": 0.6}, 9, "raised"),
        ({"a": 0.9, "b": 0.8, "c": 0.6}, 10, "passed"),
        ({f"l{i}": 0.8 for i in range(11)}, 10, "raised"),
        ({"a": 0.9, "b": 0.6}, 1, "not applicable"),
    ],
)
def test_data_sets_needed_for_a_test(skills, sets, outcome):
    assert registry["FT008"](skilled_results(skills, sets=sets)).outcome == outcome


def holm(p):
    order = np.argsort(p)
    steps = np.maximum.accumulate(np.minimum(1, p[order] * np.arange(len(p), 0, -1)))
    return steps[np.argsort(order)]


def test_verdicts_that_do_not_survive_their_number_are_named():
    results = real_results(names=["iris"])
    found = registry["FT015"](results)
    assert found.outcome == "raised"
    where = {"clean": None, "class-noise 0.2": "class-noise"}
    p = np.array(
        [results.verdict(m, condition=where[c]).p_value for m, c in found.details[["measure", "condition"]].to_numpy()]
    )
    assert len(p) == 4
    assert found.details["p"].to_numpy() == pytest.approx(p)
    assert found.details["p adjusted"].to_numpy() == pytest.approx(holm(p))
    assert ((p <= 0.05) & (holm(p) > 0.05)).any()


def test_clear_verdicts_and_single_ones_need_no_adjustment():
    skills = {"good": 0.95, "fair": 0.8, "poor": 0.6}
    declared = {"measures": ["accuracy", "kappa"]}
    assert registry["FT015"](skilled_results(skills, sets=12, declaration=declared)).outcome == "passed"
    assert registry["FT015"](skilled_results(skills, declaration={"measures": ["accuracy"]})).outcome == "not applicable"


@pytest.mark.parametrize(("alpha", "sets", "outcome"), [(0.01, 7, "raised"), (0.01, 8, "passed"), (0.1, 5, "passed")])
def test_how_many_data_sets_wilcoxon_needs_depends_on_the_level_of_the_study(alpha, sets, outcome):
    results = skilled_results({"a": 0.95, "b": 0.55}, sets=sets, declaration={"verdict": {"alpha": alpha}})
    found = registry["FT008"](results)
    assert found.outcome == outcome
    smallest = wilcoxon(np.arange(1.0, sets + 1), method="exact").pvalue
    assert (smallest <= alpha) == (outcome == "passed")
