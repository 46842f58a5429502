"""Intervals and tests of AUCs with few cases, and intervals of clustered rows; simulations state their error."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.special import ndtr, ndtri

from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import calibration_curve, difference, differences, evaluate, interval
from fairtrial.measures.auc_inference import compute_hanley_mcneil_variance
from fairtrial.significance import auc_test, bootstrap_difference, cochran_q, delong, mcnemar, permutation_test
from fairtrial.significance.counts import compute_clustered_error

RUNS = 1000


def draw_scores(rng, positives, negatives, auc, shape):
    """Draw scores of positives such that negatives from N(0, 1) give this AUC."""
    if shape == "bimodal":
        is_high = rng.random(positives) < (auc - 0.5) / (ndtr(3 / np.sqrt(1.25)) - 0.5)
        high = np.where(is_high, 3.0, 0.0) + 0.5 * rng.normal(size=positives)
    else:
        spread = {"equal": 1.0, "threefold": 3.0}[shape]
        high = np.sqrt(1 + spread**2) * ndtri(auc) + spread * rng.normal(size=positives)
    return np.concatenate([high, rng.normal(size=negatives)])


@pytest.mark.parametrize(
    ("positives", "negatives", "shape", "auc"),
    [(5, 50, "threefold", 0.95), (10, 300, "bimodal", 0.95), (19, 300, "bimodal", 0.85), (30, 300, "threefold", 0.85)],
)
def test_the_default_interval_covers_with_few_cases(positives, negatives, shape, auc):
    rng = np.random.default_rng(positives)
    y = np.repeat([1, 0], [positives, negatives])
    covered = 0
    for _ in range(RUNS):
        found = interval("auc", y, draw_scores(rng, positives, negatives, auc, shape))
        covered += found.low <= auc <= found.high
    assert covered / RUNS >= 0.93 - 3 * np.sqrt(0.05 * 0.95 / RUNS)


@pytest.mark.parametrize("shapes", [("equal", "equal"), ("equal", "threefold")])
@pytest.mark.parametrize(("positives", "auc"), [(5, 0.85), (10, 0.95), (19, 0.95)])
def test_the_type_i_error_of_auc_test_is_controlled(positives, auc, shapes):
    rng = np.random.default_rng(positives)
    y = np.repeat([1, 0], [positives, 300])
    rejected = sum(
        auc_test(y, *(draw_scores(rng, positives, 300, auc, shape) for shape in shapes)).p_value <= 0.05 for _ in range(RUNS)
    )
    assert rejected / RUNS <= 0.06 + 3 * np.sqrt(0.05 * 0.95 / RUNS)


@given(st.integers(5, 40), st.integers(5, 60), st.integers(0, 10_000), st.sampled_from([0, 1, 6]))
@settings(max_examples=60, deadline=None)
def test_mirrored_scores_give_the_mirrored_interval(positives, negatives, seed, digits):
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], [positives, negatives])
    scores = np.round(y * rng.normal(1, 1) + rng.normal(size=len(y)), digits)
    found, mirrored = interval("auc", y, scores), interval("auc", y, -scores)
    assert [1 - mirrored.high, 1 - mirrored.low] == pytest.approx([found.low, found.high], abs=1e-12)
    assert 0 <= found.low <= found.estimate <= found.high <= 1


def test_there_is_no_jump_between_19_and_20_positives():
    quantiles = ndtri((np.arange(400) + 0.5) / 400)
    widths = []
    for positives in range(15, 26):
        high = 1.2 + ndtri((np.arange(positives) + 0.5) / positives)
        found = interval("auc", np.repeat([1, 0], [positives, 400]), np.concatenate([high, quantiles]))
        widths.append(found.high - found.low)
    assert np.abs(np.diff(np.log(widths))).max() < 0.05
    assert (np.diff(widths) < 0).all()


def test_the_variance_of_hanley_and_mcneil_is_at_least_the_published_one():
    # Hanley & McNeil 1982: 58 normal and 51 abnormal images, AUC 0.893, standard error 0.032.
    error = compute_hanley_mcneil_variance(0.893, 51, 58) ** 0.5
    assert 0.0315 < error < 0.034


def test_few_cases_have_an_undefined_p_value_and_a_reason():
    y = np.repeat([1, 0], [4, 50])
    outcome = auc_test(y, np.arange(54.0), -np.arange(54.0))
    assert np.isnan(outcome.p_value)
    assert outcome.caveats[-1].kind == "few_cases"


@given(st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_p_is_at_most_alpha_if_and_only_if_the_interval_excludes_zero(seed):
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], [rng.integers(5, 40), 60])
    first, second = (y * rng.uniform(0, 3) + rng.normal(size=len(y)) for _ in range(2))
    outcome = auc_test(y, first, second)
    assert (outcome.effect.low > 0 or outcome.effect.high < 0) == (outcome.p_value <= 0.05)
    found = difference("auc", y, first, second)
    assert (found.low, found.high) == pytest.approx((outcome.effect.low, outcome.effect.high))


# --- Clusters ---


def test_the_standard_error_of_a_clustered_mean():
    error, clusters = compute_clustered_error(np.arange(20.0), np.arange(20) % 4)  # inspect_ai prints 0.645
    assert (round(error, 4), clusters) == (0.6455, 4)


def draw_clusters(rng, clusters, size):
    cluster = np.repeat(np.arange(clusters), size)
    shared = 0.8 + 1.2 * rng.normal(size=clusters)
    y = np.arange(len(cluster)) % 2
    models = []
    for _ in range(2):
        logits = (shared + 0.7 * rng.normal(size=clusters))[cluster]
        models.append(np.where(rng.random(len(cluster)) < 1 / (1 + np.exp(-logits)), y, 1 - y))
    return y, *models, cluster


@pytest.mark.parametrize(("clusters", "size"), [(50, 10), (100, 5)])
def test_clustered_accuracies_hold_their_error_rates(clusters, size):
    rng = np.random.default_rng(clusters)
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    truth = (weights / (1 + np.exp(-(0.8 + np.hypot(1.2, 0.7) * nodes)))).sum() / weights.sum()
    covered = rejected = ignored = 0
    for _ in range(RUNS):
        y, first, second, cluster = draw_clusters(rng, clusters, size)
        found = interval("accuracy", y, first, cluster=cluster)
        covered += found.low <= truth <= found.high
        rejected += mcnemar(y, first, second, cluster=cluster).p_value <= 0.05
        ignored += mcnemar(y, first, second).p_value <= 0.05
    error = 3 * np.sqrt(0.05 * 0.95 / RUNS)
    assert covered / RUNS >= 0.93 - error
    assert rejected / RUNS <= 0.065 + error
    assert ignored > 1.5 * rejected, "without clusters the test rejects too often"


@pytest.mark.parametrize("measure", ["accuracy", "recall", "mcc", "f_score"])
def test_clusters_of_one_row_give_the_usual_estimate_and_wider_limits_otherwise(measure):
    y, first, _, cluster = draw_clusters(np.random.default_rng(3), 40, 10)
    plain, clustered = interval(measure, y, first), interval(measure, y, first, cluster=cluster)
    assert clustered.estimate == plain.estimate
    assert clustered.high - clustered.low > plain.high - plain.low


def test_every_function_of_rows_takes_clusters():
    y, first, second, cluster = draw_clusters(np.random.default_rng(4), 30, 4)
    scores = first + np.random.default_rng(0).random(len(y))
    assert evaluate(y, first, cluster=cluster, measures=["accuracy"])["accuracy"] == interval(
        "accuracy", y, first, cluster=cluster
    )
    assert difference("f_score", y, first, second, cluster=cluster).method == "bca"
    wider = bootstrap_difference("f_score", y, first, second, cluster=cluster).effect
    assert wider != bootstrap_difference("f_score", y, first, second).effect
    singles = np.arange(len(y))
    assert delong(y, scores, scores[::-1], cluster=singles).p_value == pytest.approx(delong(y, scores, scores[::-1]).p_value)
    assert delong(y, scores, scores[::-1], cluster=cluster).p_value != delong(y, scores, scores[::-1]).p_value
    # With two classifiers Hotelling's test is the squared t test.
    two, t_test = cochran_q(y, {"a": first, "b": second}, cluster=cluster), mcnemar(y, first, second, cluster=cluster)
    assert (two.statistic, two.p_value) == pytest.approx((t_test.statistic**2, t_test.p_value))
    plain, clustered = (calibration_curve(y, np.clip(scores / 2, 0, 1), cluster=codes, bins=2) for codes in (None, cluster))
    assert np.array_equal(plain["observed_frequency"], clustered["observed_frequency"])
    assert not np.allclose(plain["low"], clustered["low"])


def test_clustered_differences_and_bootstraps_have_the_clustered_error():
    y, first, second, cluster = draw_clusters(np.random.default_rng(5), 60, 8)
    d = (first == y).astype(float) - (second == y)
    sums = np.bincount(cluster, d - d.mean())
    error = np.sqrt(60 / 59 * (sums**2).sum()) / len(d)
    models = {"a": first, "b": second, "c": first}
    found = differences("accuracy", y, models, cluster=cluster, resamples=4000)
    effect = bootstrap_difference("accuracy", y, first, second, cluster=cluster, resamples=4000).effect
    for limits in (found.intervals[0], effect):
        assert limits.estimate == pytest.approx(d.mean())
        assert (limits.high - limits.low) / (2 * 1.96) == pytest.approx(error, rel=0.1)
    assert (found.intervals[1].low, found.intervals[1].high) == (0, 0)


def test_copies_of_rows_in_a_cluster_change_no_test():
    """Five copies of each row, declared as clusters, have the statistics of the rows."""
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, 60)
    first, second = (y + rng.normal(size=60) for _ in range(2))
    copies, cluster = np.repeat(np.arange(60), 5), np.repeat(np.arange(60), 5)
    once = delong(y, first, second)
    again = delong(y[copies], first[copies], second[copies], cluster=cluster)
    assert (again.statistic, again.p_value) == pytest.approx((once.statistic, once.p_value), rel=0.02)
    assert delong(y[copies], first[copies], second[copies]).p_value < once.p_value / 2
    labels = [(scores > 0.5).astype(int) for scores in (first, second)]
    swapped, swapped_again = (
        permutation_test(y[rows], *(label[rows] for label in labels), cluster=codes, resamples=20_000).p_value
        for rows, codes in ((slice(None), None), (copies, cluster))
    )
    assert swapped_again == pytest.approx(swapped, abs=0.02)


@pytest.mark.parametrize(("positives", "negatives"), [(6, 30), (40, 25)])
def test_copies_of_rows_in_a_cluster_change_neither_auc_limits_nor_test(positives, negatives):
    rng = np.random.default_rng(positives)
    y = np.repeat([1, 0], [positives, negatives])
    first, second = y + rng.normal(size=(2, len(y)))
    copies = {"cluster": np.tile(np.arange(len(y)), 5)}
    once, copied = interval("auc", y, first), interval("auc", np.tile(y, 5), np.tile(first, 5), **copies)
    assert [copied.low, copied.high] == pytest.approx([once.low, once.high])
    tests = auc_test(y, first, second), auc_test(np.tile(y, 5), np.tile(first, 5), np.tile(second, 5), **copies)
    assert tests[1].p_value == pytest.approx(tests[0].p_value)


@pytest.mark.parametrize("clusters", [5, 10])
def test_the_type_i_error_of_auc_test_is_controlled_with_few_clusters(clusters):
    """Equal AUCs; half of the variance lies between clusters. The error rate has a standard error of 1 %."""
    rng, runs = np.random.default_rng(clusters), 400
    cluster = np.repeat(np.arange(clusters), 30)
    y = np.arange(len(cluster)) % 2
    rejected = 0
    for _ in range(runs):
        scores = 1.3 * y + rng.normal(size=(2, clusters))[:, cluster] + rng.normal(size=(2, len(cluster)))
        rejected += auc_test(y, *scores, cluster=cluster).p_value <= 0.05
    assert rejected / runs <= 0.065 + 0.03


def test_one_cluster_has_no_limits():
    with pytest.warns(UndefinedMeasureWarning):
        found = interval("accuracy", [0, 1, 1], [0, 1, 0], cluster=["a", "a", "a"])
    assert np.isnan([found.low, found.high]).all()
    assert found.estimate == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"cluster": ["a", "b"]}, "cluster"),
        ({"cluster": ["a", None, "b"]}, "cluster"),
        ({"cluster": [1, 2, 3], "stratified": True}, "stratified"),
    ],
)
def test_invalid_clusters_are_refused(options, match):
    with pytest.raises(InputError, match=match):
        interval("accuracy", [0, 1, 1], [0, 1, 0], **options)


# --- Permutation tests ---


def test_swapping_clusters_is_enumerated_exactly():
    rng = np.random.default_rng(0)
    y, first, second, cluster = draw_clusters(rng, 8, 5)
    d = (first == y).astype(float) - (second == y)
    sums = np.bincount(cluster, d)
    signs = np.array([[1 - 2 * (code >> i & 1) for i in range(8)] for code in range(256)])
    expected = np.mean(np.abs(signs @ sums) >= abs(sums.sum()) - 1e-12)
    assert permutation_test(y, first, second, cluster=cluster).p_value == pytest.approx(expected)


def test_sequential_stopping_estimates_the_same_p_value():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 60)
    first, second = (1 / (1 + np.exp(-y - rng.normal(size=60))) for _ in range(2))
    full = permutation_test(y, first, second, "brier", 20_000)
    stopped = permutation_test(y, first, second, "brier", 20_000, stop_after=400)
    assert stopped.resamples < full.resamples
    assert stopped.p_value == pytest.approx(full.p_value, rel=4 / np.sqrt(400))


@pytest.mark.parametrize("rows", [8, 20])
def test_the_type_i_error_of_a_brier_score_is_controlled(rows):
    rng = np.random.default_rng(rows)
    y, rejected = np.arange(rows) % 2, 0
    for run in range(RUNS):
        shared = y + rng.normal(size=rows)
        first, second = (1 / (1 + np.exp(-shared - rng.normal(size=rows))) for _ in range(2))
        rejected += permutation_test(y, first, second, "brier", 499, run, stop_after=60).p_value <= 0.05
    assert rejected / RUNS <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / RUNS)
