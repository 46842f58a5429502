"""Simulations where the true error and the true difference are known."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from fairtrial.reproduce.claim import estimate_mean
from fairtrial.reproduce.experiment import Request
from fairtrial.reproduce.tutorial import simulations
from fairtrial.reproduce.tutorial.simulations import (
    ALL_FOLDS_T,
    CALIBRATED,
    FIVE_F,
    FIVE_T,
    FOLD_T,
    PROBLEMS,
    SCHEMES,
    build_known_error,
    build_repeated_tests,
    classify_naive_bayes,
    classify_nearest,
    draw_twonorm,
    estimate_bias,
    estimate_by_jackknife,
    estimate_gaps,
    judge_known_error,
    judge_more_rejections,
    judge_repeated_tests,
    judge_smaller,
    score_threshold,
    simulate_accuracies,
    simulate_estimation_errors,
)

DEVIATION = "standard deviation"


@pytest.mark.parametrize(
    ("classify", "learner"), [(classify_naive_bayes, GaussianNB()), (classify_nearest, KNeighborsClassifier(1))]
)
def test_classifiers_are_those_of_scikit_learn(classify, learner):
    (X, y), (X_new, _) = draw_twonorm(40, 0.3, [1, 2]), draw_twonorm(300, 0.3, [1, 3])
    assert np.mean(classify(X, y, X_new) == learner.fit(X, y).predict(X_new)) > 0.995


def test_flipped_labels():
    clean, noisy = (draw_twonorm(4000, flipped, [7, 1]) for flipped in (0.0, 0.3))
    assert np.mean(clean[1] != noisy[1]) == pytest.approx(0.3, abs=0.03)


def test_known_error_section(tmp_path, frame):
    section = build_known_error(Request("smoke", tmp_path))
    table = frame(section, "known_error")
    assert len(table) == 2 * 2 * 5
    assert (table["root mean squared error"] >= table["bias"].abs() - 1e-12).all()
    assert len(section.claims) == 9


def test_smoke_scale_decides_nothing(tmp_path, monkeypatch):
    """Not even a bias that three samples show."""
    monkeypatch.setattr(simulations, "_estimate_error", lambda *_: dict.fromkeys(SCHEMES, 0.9))
    claims = build_known_error(Request("smoke", tmp_path)).claims
    assert {claim.reproduced for claim in claims} == {None}
    assert "3 samples are too few (20 are needed)" in claims[0].details


def test_problems_have_different_samples():
    """Two problems with the same distribution must not have the same sample."""
    errors = simulate_estimation_errors(4, 40, 1, {"one": 0.0, "other": 0.0}).drop(columns="problem")
    one, other = errors.iloc[:8], errors.iloc[8:].reset_index(drop=True)
    assert (one[["learner", "replicate"]] == other[["learner", "replicate"]]).all().all()
    assert (one["true error"] != other["true error"]).any()
    assert (one["10-fold"] != other["10-fold"]).any()


def make_errors(n=200, learners=("l",)):
    """Errors of two schemes, `b` twice as variable; every learner has the same ones."""
    rng = np.random.default_rng(1)
    columns = {"replicate": range(n), "true error": 0.0, "a": rng.normal(0, 1, n), "b": rng.normal(0, 2, n)}
    return pd.concat([pd.DataFrame({"problem": "p", "learner": name, **columns}) for name in learners])


def test_a_clearly_smaller_statistic_is_found():
    errors = make_errors()
    assert judge_smaller("x", errors, "a", "b", DEVIATION).reproduced is True
    assert judge_smaller("x", errors, "b", "a", DEVIATION).reproduced is False
    assert judge_smaller("x", errors, "a", "a", DEVIATION).reproduced is None
    assert judge_smaller("x", make_errors(n=3), "a", "b", DEVIATION).reproduced is None
    difference = float(errors["b"].std() - errors["a"].std())
    assert f", b - a {difference:+.4f} (" in judge_smaller("x", errors, "a", "b", DEVIATION).details


def test_learners_on_the_same_sample_do_not_shrink_intervals():
    one, four = make_errors(), make_errors(learners=("k", "l", "m", "n"))
    assert estimate_bias(four, "a").format("{:.12f}") == estimate_mean(one["a"]).format("{:.12f}")
    (alone,) = estimate_gaps(one, "a", "b", DEVIATION).values()
    assert list(estimate_gaps(four, "a", "b", DEVIATION).values()) == [alone] * 4


def test_every_learner_must_agree():
    """The mean over both learners has `a` far below `b`; one of the two learners has it above."""
    one, other = make_errors(), make_errors(learners=("m",)).rename(columns={"a": "b", "b": "a"})
    claim = judge_smaller("x", pd.concat([one.assign(b=10 * one["b"]), other]), "a", "b", DEVIATION)
    assert claim.reproduced is False
    assert "l, p: " in claim.details
    assert "m, p: " in claim.details
    undecided = pd.concat([one, other.assign(b=other["a"])])
    assert judge_smaller("x", undecided, "a", "b", DEVIATION).reproduced is None


def test_what_the_slides_exempt_is_reported_and_not_judged():
    one, other = make_errors(), make_errors(learners=("m",)).rename(columns={"a": "b", "b": "a"})
    claim = judge_smaller("x", one, "a", "b", DEVIATION, exempt=other)
    assert claim.reproduced is True
    assert "; exempted by the slides: m, p: " in claim.details


def test_e632_is_compared_with_10_fold_for_naive_bayes():
    """e632 is better for naive Bayes on both problems, far worse for the nearest neighbour."""
    rng = np.random.default_rng(4)
    widths = {"NB": (2, 1), "1NN": (1, 9)}
    errors = [
        pd.DataFrame({"problem": problem, "learner": learner, "replicate": range(100), "true error": 0.3})
        .assign(**dict.fromkeys(SCHEMES, 0.1))
        .assign(**{"10-fold": folds * rng.normal(size=100), "e632": bootstrap * rng.normal(size=100)})
        for problem in PROBLEMS
        for learner, (folds, bootstrap) in widths.items()
    ]
    claims = {claim.text.split(":")[0]: claim for claim in judge_known_error(pd.concat(errors))}
    (better,) = [claim for text, claim in claims.items() if "better than 10-fold" in text]
    assert better.reproduced is True
    assert "exempted by the slides: 1NN, small error" in better.details
    assert claims["The e632 bootstrap is poor for nearest neighbours"].reproduced is True


@pytest.mark.parametrize(("centre", "spread", "reproduced"), [(0.0, 0.01, True), (0.0, 0.5, None), (0.1, 0.01, False)])
def test_unbiased_needs_the_whole_interval(centre, spread, reproduced):
    errors = pd.DataFrame({"replicate": range(100), "a": centre + spread * np.array([-1.0, 1.0] * 50)})
    assert estimate_bias(errors, "a").is_within(0.01) is reproduced


def test_jackknife_of_a_mean_is_the_t_interval():
    """Pseudo-values of a mean are the values themselves."""
    values = np.random.default_rng(2).normal(1, 3, 30)
    estimate, expected = estimate_by_jackknife(np.mean, values), estimate_mean(values)
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx((expected.value, expected.low, expected.high))


def test_jackknife_covers_a_known_standard_deviation():
    """The interval of a standard deviation, which is 1 here, misses it in about 5 % of samples."""
    samples = np.random.default_rng(3).normal(0, 1, (300, 60))
    estimates = [estimate_by_jackknife(lambda rows: rows.std(ddof=1), sample).subtract(1) for sample in samples]
    assert sum(estimate.sign != 0 for estimate in estimates) / 300 == pytest.approx(0.05, abs=0.04)


@pytest.mark.parametrize("attribute", [[0.0, 2.0, 4.0, 6.0, 3.5, 2.9], [6.0, 4.0, 2.0, 0.0, 3.5, 2.9]])
def test_threshold_is_halfway_between_the_class_means(attribute):
    """Means 1 and 5 or 5 and 1, threshold 3: one of two test rows is right either way."""
    y = np.array([0, 0, 1, 1, 1, 1])
    assert score_threshold(np.array([attribute]), y, np.arange(4), np.array([4, 5])).tolist() == [0.5]


def test_learners_are_equal_by_symmetry():
    """The best rule errs with probability Phi(-1/2); both come close to it."""
    first, second = simulate_accuracies("10x10", 300, 1.0, 3)
    assert first.shape == (300, 10, 10)
    assert first.mean() == pytest.approx(second.mean(), abs=0.01)
    assert first.mean() == pytest.approx(0.6915, abs=0.015)


def test_comparison_of_rejections_is_paired():
    data = pd.DataFrame({"a": [True] * 60 + [False] * 40, "b": [True] * 30 + [False] * 70, "c": [False] * 40 + [True] * 60})
    assert judge_more_rejections("x", data, "a", "b").reproduced is True
    assert judge_more_rejections("x", data, "b", "a").reproduced is False
    assert judge_more_rejections("x", data, "a", "c").reproduced is None


def test_interval_is_that_of_the_paired_t_test():
    """Four of 20 pairs differ: the normal quantile would find a difference more readily than Student's."""
    data = pd.DataFrame({"a": [True] * 4 + [False] * 16, "b": [False] * 20})
    expected = ttest_rel(data["a"].astype(float), data["b"].astype(float)).confidence_interval()
    assert f"+0.200 ({expected.low:+.3f} to {expected.high:+.3f})" in judge_more_rejections("x", data, "a", "b").details


def test_repeated_tests_section(tmp_path, frame):
    section = build_repeated_tests(Request("smoke", tmp_path))
    table = frame(section, "repeated_tests")
    assert len(table) == 7
    assert ((table["power, low"] <= table["power"]) & (table["power"] <= table["power, high"])).all()
    assert [claim.reproduced for claim in section.claims] == [None] * 6


def test_claims_about_10x10_also_report_the_calibrated_test():
    """The plain test always rejects, the calibrated one never does: only the former decides."""
    data = pd.DataFrame({name: [False, True] * 50 for name in (FOLD_T, FIVE_T, FIVE_F)})
    data[ALL_FOLDS_T], data[CALIBRATED] = True, False
    for claim in judge_repeated_tests({"equal": data, "different": data})[-2:]:
        assert claim.reproduced is True
        assert f"calibrated: 0.000 ({CALIBRATED}) - 0.500 ({FOLD_T}): -0.500" in claim.details
