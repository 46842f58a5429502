"""Crossing curves, missing scores, bad probabilities and undefined measures are seen."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.metrics import roc_auc_score, roc_curve

from fairtrial.measures import calibration_error
from fairtrial.report.checks import registry
from fairtrial.report.checks.measures import compute_areas_between, compute_standard_error
from tests.report.checks.made_results import halves, labelled
from tests.study.archives import real_results


def points(truth, scores):
    fpr, tpr, _ = roc_curve(truth, scores, drop_intermediate=False)
    return np.column_stack([fpr, tpr])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([2, 4, 1000]))
def test_areas_differ_by_the_difference_of_aucs_and_agree_with_a_fine_grid(seed, values):
    rng = np.random.default_rng(seed)
    truth = np.r_[0, 1, rng.integers(0, 2, 30)]
    first, second = rng.integers(0, values, (2, 32)).astype(float)
    above, below = compute_areas_between(points(truth, first), points(truth, second))
    assert above - below == pytest.approx(roc_auc_score(truth, first) - roc_auc_score(truth, second), abs=1e-12)
    x = (np.arange(20000) + 0.5) / 20000
    heights = [np.interp(x, *points(truth, each).T) for each in (first, second)]
    assert above == pytest.approx(np.maximum(heights[0] - heights[1], 0).mean(), abs=1e-3)


def crossing(learner, truth, _condition):
    """The first learner ranks half of the positives above all others and half below; the second ranks nothing."""
    if learner == "second":
        return np.full(len(truth), 0.4)
    scores, yes = np.full(len(truth), 0.5), np.flatnonzero(truth)
    scores[yes[: len(yes) // 2]], scores[yes[len(yes) // 2 :]] = 0.9, 0.1
    return scores


def test_curves_that_cross_are_named_with_their_areas():
    found = registry["FT010"](labelled([0, 0, 1, 1] * 20, halves(80), predict=crossing))
    assert found.outcome == "raised"
    assert found.details.iloc[0, :3].tolist() == ["made", "first", "second"]
    # (0, 1/2) to (1, 1/2) against the diagonal: two triangles of 1/2 x 1/2 x 1/2.
    assert found.details.iloc[0, 3:].tolist() == pytest.approx([0.125, 0.125])


def test_the_same_crossing_of_few_cases_may_be_chance():
    # Eight cases of each class: the areas are 0.125 as above, the standard error of guessing is sqrt(17 / 768) = 0.149.
    results = labelled([0, 0, 1, 1] * 4, halves(16), predict=crossing)
    first, second = (own[["fpr", "tpr"]].to_numpy() for _, own in results.curves("roc").groupby("learner"))
    assert compute_areas_between(first, second) == pytest.approx((0.125, 0.125))
    assert registry["FT010"](results).outcome == "passed"


@pytest.mark.parametrize(("positives", "negatives"), [(5, 9), (40, 40)])
def test_the_standard_error_of_guessing_is_that_of_mann_and_whitney(positives, negatives):
    expected = np.sqrt((positives + negatives + 1) / (12 * positives * negatives))
    assert compute_standard_error(0.5, positives, negatives) == pytest.approx(expected)
    assert compute_standard_error(1.0, positives, negatives) == 0


def test_curves_of_which_one_dominates_do_not_cross():
    results = labelled(
        [0, 0, 1, 1] * 20, halves(80), predict=lambda name, truth, _: np.where(name == "first", truth, 0.5) * 1.0
    )
    assert registry["FT010"](results).outcome == "passed"
    assert registry["FT010"](real_results(declaration={"measures": ["accuracy"]})).outcome == "not applicable"
    assert registry["FT010"](real_results(names=["iris"])).outcome == "not applicable"


def test_learners_without_probabilities_are_named_with_the_measure():
    found = registry["FT013"](real_results(declaration={"measures": ["accuracy", "auc", "log_loss"]}))
    assert found.outcome == "raised"
    assert found.details.to_numpy().tolist() == [["ridge", "decision", "log_loss", "probabilities"]]
    labels = registry["FT013"](labelled([0, 1] * 10, halves(20), {"measures": ["accuracy", "auc"]}))
    assert labels.details[["learner", "measure"]].to_numpy().tolist() == [["first", "auc"], ["second", "auc"]]


def test_learners_that_give_enough_pass_and_none_ran_is_no_answer():
    assert registry["FT013"](real_results(declaration={"measures": ["accuracy", "auc"]})).outcome == "passed"
    assert registry["FT013"](real_results(lambda *_: "error")).outcome == "not applicable"


def boasting(learner, truth, _condition):
    return np.where(learner == "first", 0.95, 0.5) + 0.0 * truth


def test_probabilities_that_are_off_are_seen_where_no_measure_sees_them():
    found = registry["FT014"](labelled([0, 0, 1, 1] * 20, halves(80), predict=boasting))
    assert found.outcome == "raised"
    assert found.details["learner"].tolist() == ["first"]
    assert found.details["calibration error"].tolist() == pytest.approx([calibration_error([0, 1] * 40, [0.95] * 80)])


def test_a_declared_measure_of_probabilities_is_enough():
    results = labelled([0, 0, 1, 1] * 20, halves(80), {"measures": ["accuracy", "brier"]}, boasting)
    assert registry["FT014"](results).outcome == "passed"
    assert registry["FT014"](real_results()).outcome == "passed"
    assert registry["FT014"](labelled([0, 1] * 10, halves(20))).outcome == "not applicable"


def test_measures_undefined_in_folds_of_one_class_are_seen():
    scored = {"predict": lambda _name, truth, _condition: 0.25 + 0.5 * truth, "declaration": {"measures": ["accuracy", "auc"]}}
    found = registry["FT021"](labelled([0, 0, 0, 1] * 10, halves(40), **scored))  # even rows are all of one class
    assert found.outcome == "raised"
    assert found.details.to_numpy().tolist() == [["auc", "first", 1, 2, 0.5], ["auc", "second", 1, 2, 0.5]]
    assert registry["FT021"](labelled([0, 0, 1, 1] * 10, halves(40), **scored)).outcome == "passed"


def test_learners_without_scores_are_left_to_their_own_check():
    assert registry["FT021"](labelled([0, 0, 1, 1] * 10, halves(40), {"measures": ["auc"]})).outcome == "passed"
    assert registry["FT021"](real_results(lambda *_: "error")).outcome == "not applicable"
