"""Tests of `fairtrial.significance.cost_test`."""

import math

import numpy as np
import pytest
from scipy import stats

from fairtrial.errors import InputError
from fairtrial.significance import cost_test


def make_labels(only_a_fp, only_b_fp, only_a_fn, only_b_fn, negatives=60, positives=40):
    """Labels of two models with these numbers of errors that only one makes."""
    y = np.repeat([0, 1], [negatives, positives])
    a, b = y.copy(), y.copy()
    a[:only_a_fp] = 1
    b[only_a_fp : only_a_fp + only_b_fp] = 1
    a[negatives : negatives + only_a_fn] = 0
    b[negatives + only_a_fn : negatives + only_a_fn + only_b_fn] = 0
    return y, a, b


def test_the_test_is_a_paired_t_test_with_one_more_error_of_each_kind():
    y, a, b = make_labels(12, 3, 1, 6)
    outcome = cost_test(y, a, b, costs=(1, 4))
    d = np.where(y == 0, 1.0, 4.0) * ((a != y).astype(float) - (b != y))
    error = math.sqrt(100 * d.var(ddof=1) + 2 * (1 + 16))
    assert outcome.statistic == pytest.approx(10 * d.sum())  # per 1,000 cases
    assert outcome.p_value == pytest.approx(2 * stats.t.sf(abs(d.sum()) / error, 99))
    half = stats.t.ppf(0.975, 99) * error
    assert (outcome.effect.low, outcome.effect.high) == pytest.approx((10 * (d.sum() - half), 10 * (d.sum() + half)))


def test_with_equal_costs_it_is_the_interval_of_bonett_and_price():
    # Equal costs, errors of one class only: Bonett & Price (2012) add 1 to both discordant counts. With n = 1,000 their limits
    # (denominator n + 2, centre (f12 - f21) / (n + 2)) agree with ours up to the denominator and the centre's shrinkage.
    y, a, b = make_labels(40, 15, 0, 0, negatives=900, positives=100)
    outcome = cost_test(y, a, b)
    p12, p21 = 41 / 1002, 16 / 1002
    half = stats.norm.ppf(0.975) * math.sqrt((p12 + p21 - (p12 - p21) ** 2) / 1002)
    assert outcome.effect.low == pytest.approx(1000 * (p12 - p21 - half), abs=0.4)
    assert outcome.effect.high == pytest.approx(1000 * (p12 - p21 + half), abs=0.4)


def test_hidden_expensive_errors_are_taken_into_account():
    # 20 cheap errors of a against none of b: a sign test gives p = 2e-6 at any cost of the errors that no row shows.
    y, a, b = make_labels(20, 0, 0, 0)
    assert cost_test(y, a, b, costs=(1, 1)).p_value < 0.001
    assert cost_test(y, a, b, costs=(1, 50)).p_value > 0.5


def test_clusters_are_summed_before_the_test():
    y, a, b = make_labels(12, 3, 1, 6)
    tripled = [np.repeat(values, 3) for values in (y, a, b)]
    cluster = np.repeat(np.arange(100), 3)
    clustered = cost_test(*tripled, costs=(1, 4), cluster=cluster)
    single = cost_test(y, a, b, costs=(1, 4))
    assert clustered.statistic == pytest.approx(single.statistic)
    assert cost_test(*tripled, costs=(1, 4)).p_value < clustered.p_value
    labels, first, second = tripled
    d = np.bincount(cluster, np.where(labels == 0, 1.0, 4.0) * ((first != labels).astype(float) - (second != labels)))
    error = math.sqrt(100 * d.var(ddof=1) + 2 * (1 + 16))
    assert clustered.p_value == pytest.approx(2 * stats.t.sf(abs(d.sum()) / error, 39))  # 40 clusters of the smaller class
    one = cost_test(y, a, b, cluster=np.zeros(100))
    assert math.isnan(one.p_value)
    assert "one cluster" in one.effect.note


def test_order_swaps_the_sign_and_constant_weights_do_not_matter():
    y, a, b = make_labels(12, 3, 1, 6)
    forward, backward = cost_test(y, a, b, (1, 4)), cost_test(y, b, a, (1, 4))
    assert backward.statistic == -forward.statistic
    assert backward.p_value == pytest.approx(forward.p_value)
    weighted = cost_test(y, a, b, (1, 4), sample_weight=np.full(100, 3.0))
    assert weighted.statistic == pytest.approx(forward.statistic)
    assert weighted.effect.low == pytest.approx(forward.effect.low, rel=0.02)


@pytest.mark.parametrize("costs", [(0, 1), (1, math.nan), (1, 2, 3), "ab"])
def test_bad_costs_are_refused(costs):
    with pytest.raises(InputError, match="cost"):
        cost_test([0, 1], [0, 1], [1, 0], costs=costs)
