"""What counts as a case, how many there are, and how many questions were asked."""

import numpy as np
import pytest
from scipy import stats

from fairtrial.report.checks import registry
from tests.report.result_cases import few_learners, skilled_results
from tests.study.archives import real_results


def test_splits_of_one_data_set_are_told_with_both_p_values():
    results = few_learners(["bayes", "near"], ["wine"])
    found = registry["FT001"](results)
    assert found.outcome == "raised"
    scores = results.scores("accuracy")
    first, second = (scores.loc[(scores["learner"] == name) & (scores["level"] == 0), "value"] for name in ("bayes", "near"))
    gains = first.to_numpy() - second.to_numpy()
    t = gains.mean() / np.sqrt((1 / 5 + 1 / 4) * gains.var(ddof=1))  # Nadeau and Bengio: five folds test a fifth each
    row = found.details.iloc[0]
    assert row["p if independent"] == pytest.approx(stats.ttest_rel(first, second).pvalue)
    assert row["p corrected"] == pytest.approx(2 * stats.t.sf(abs(t), 4))


def test_data_sets_are_cases_of_their_own():
    assert registry["FT001"](real_results()).outcome == "passed"
    assert registry["FT001"](few_learners(["tree"])).outcome == "not applicable"


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
