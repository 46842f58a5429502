"""Interval estimates, and claims that are judged by them."""

import numpy as np
import pytest
from scipy.stats import norm, t, ttest_1samp

from fairtrial.reproduce.claim import (
    VERDICTS,
    Claim,
    IntervalEstimate,
    build_claim,
    combine_estimates,
    combine_verdicts,
    count_verdicts,
    estimate_mean,
    judge_datasets,
    judge_direction,
    judge_equivalence,
    judge_variants,
    mark_inconclusive,
)

NAN = float("nan")


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_interval_of_a_mean_is_that_of_the_t_test(level):
    values = np.random.default_rng(1).normal(1, 2, 12)
    expected = ttest_1samp(values, 0).confidence_interval(level)
    estimate = estimate_mean(values, level)
    assert (estimate.low, estimate.high) == pytest.approx((expected.low, expected.high))
    assert estimate.value == pytest.approx(values.mean())


@pytest.mark.parametrize("values", [[], [3.0]])
def test_fewer_than_two_values_are_inconclusive(values):
    estimate = estimate_mean(values)
    assert estimate.sign == 0
    assert estimate.is_positive is None
    assert estimate.is_within(100) is None


@pytest.mark.parametrize(
    ("low", "high", "sign"), [(0.1, 0.3, 1), (-0.3, -0.1, -1), (-0.1, 0.3, 0), (0.0, 0.3, 0), (np.nan, np.nan, 0)]
)
def test_sign_is_the_side_of_zero(low, high, sign):
    assert IntervalEstimate(0.2, low, high).sign == sign


def test_subtract_shifts_the_whole_interval():
    assert IntervalEstimate(1.0, 0.5, 1.5).subtract(0.4).is_positive is True
    assert IntervalEstimate(1.0, 0.5, 1.5).subtract(0.6).is_positive is None
    assert IntervalEstimate(1.0, 0.5, 1.5).subtract(2).is_positive is False


def test_being_close_to_zero_requires_a_narrow_interval():
    assert IntervalEstimate(0, -0.009, 0.009).is_within(0.01) is True
    assert IntervalEstimate(0, -0.02, 0.02).is_within(0.01) is None
    assert IntervalEstimate(0.03, 0.02, 0.04).is_within(0.01) is False


def test_widened_interval_has_the_joint_level():
    values = np.random.default_rng(2).normal(1, 2, 7)
    wide, expected = estimate_mean(values).widen(10), estimate_mean(values, 0.995)
    assert (wide.low, wide.high) == pytest.approx((expected.low, expected.high))
    assert (-wide).low == -wide.high


def estimate_normal(value, error, degrees_of_freedom=np.inf):
    half = t.isf(0.025, degrees_of_freedom) * error
    return IntervalEstimate(value, value - half, value + half, degrees_of_freedom)


def test_narrow_is_the_90_percent_interval():
    values = np.random.default_rng(2).normal(1, 2, 7)
    narrow, expected = estimate_mean(values).narrow(), estimate_mean(values, 0.9)
    assert (narrow.low, narrow.high) == pytest.approx((expected.low, expected.high))


def test_claims_that_are_true_by_chance_only_are_rarely_decided():
    rng = np.random.default_rng(3)
    verdicts = [judge_direction(estimate_mean(values) for values in rng.normal(size=(10, 6))) for _ in range(400)]
    assert verdicts.count("reproduced") == 0
    assert verdicts.count("contradicted") <= 0.05 * 400  # 2.5 % expected
    assert verdicts.count("direction reproduced") <= 0.02 * 400  # 0.1 % expected


@pytest.mark.parametrize(("mean", "verdict"), [(0.0, "reproduced"), (0.0, "contradicted")])
def test_the_combined_test_has_a_one_sided_error_of_about_2_5_percent(mean, verdict):
    rng = np.random.default_rng(4)
    verdicts = [judge_datasets(estimate_mean(values) for values in rng.normal(mean, 1, size=(5, 30))) for _ in range(2000)]
    assert 0.015 < verdicts.count(verdict) / 2000 < 0.036  # standard error 0.35 %


def test_the_combined_test_has_more_power_than_the_conjunction():
    rng = np.random.default_rng(5)
    samples = [[estimate_mean(values) for values in rng.normal(0.4, 1, size=(6, 20))] for _ in range(300)]
    combined = sum(judge_datasets(estimates) == "reproduced" for estimates in samples) / 300
    conjunction = sum(judge_direction(estimates) == "reproduced" for estimates in samples) / 300
    assert combined > 0.9
    assert conjunction < 0.1


def test_the_combined_estimate_is_the_mean_with_added_variances():
    errors = np.array([0.1, 0.2, 0.4])
    combined = combine_estimates(estimate_normal(value, error) for value, error in zip([1.0, 2.0, 6.0], errors, strict=True))
    half = norm.isf(0.025) * np.sqrt((errors**2).sum()) / 3
    assert (combined.value, combined.low, combined.high) == pytest.approx((3, 3 - half, 3 + half))
    few = combine_estimates([estimate_normal(0, 0.3, 4), estimate_normal(0, 0.3, 4)])  # Welch: 4 + 4 degrees of freedom
    assert few.degrees_of_freedom == pytest.approx(8)


@pytest.mark.parametrize(("true_value", "proportion"), [(0.0, 1.0), (0.5, 0.05), (1.0, 0.0)])
def test_equivalence_is_shown_wrongly_in_at_most_5_percent(true_value, proportion):
    rng = np.random.default_rng(6)
    verdicts = [judge_equivalence([estimate_normal(value, 0.1)], 0.5) for value in rng.normal(true_value, 0.1, 1000)]
    assert verdicts.count("reproduced") / 1000 == pytest.approx(proportion, abs=0.025)


def test_a_data_set_with_the_opposite_sign_prevents_only_the_combined_verdict():
    estimates = [estimate_normal(1.0, 0.1)] * 4
    assert judge_datasets(estimates) == "reproduced"
    assert judge_datasets([*estimates, estimate_normal(-0.1, 0.1)]) == "reproduced"
    assert judge_datasets([*estimates, estimate_normal(-1.0, 0.1)]) == "inconclusive"
    assert judge_datasets([*estimates, *[estimate_normal(-2.0, 0.1)] * 4]) == "contradicted"
    assert judge_direction([*estimates, estimate_normal(-1.0, 0.1)]) == "contradicted"


@pytest.mark.parametrize("judge", [judge_direction, judge_datasets, lambda estimates: judge_equivalence(estimates, 1)])
def test_missing_estimates_are_not_testable_and_unknown_intervals_inconclusive(judge):
    known = IntervalEstimate(1.0, 0.5, 1.5)
    assert judge([]) == judge([known, IntervalEstimate(NAN, NAN, NAN)]) == "not testable"
    assert judge([known, IntervalEstimate(1.0, NAN, NAN)]) == "inconclusive"


def test_an_interval_contradicts_only_if_it_is_below_zero_at_the_joint_level():
    assert judge_direction([IntervalEstimate(1, 0.5, 1.5), IntervalEstimate(-1, -1.99, -0.01)]) == "inconclusive"


def test_a_claim_is_as_well_supported_as_its_weakest_part():
    order = ["reproduced", "direction reproduced", "inconclusive", "not testable", "contradicted"]
    for i, weaker in enumerate(order):
        assert combine_verdicts(iter([*order[: i + 1], weaker])) == weaker


@pytest.mark.parametrize("main", VERDICTS)
@pytest.mark.parametrize("other", VERDICTS)
def test_only_an_opposite_variant_changes_a_verdict(main, other):
    supporting = ("reproduced", "direction reproduced")
    opposite = (main in supporting and other == "contradicted") or (main == "contradicted" and other in supporting)
    assert judge_variants(main, {"variant": other}) == ("inconclusive" if opposite else main)


def test_sensitivity_names_the_variants_that_differ():
    verdicts = {"": "reproduced", "votes": "contradicted", "any class": "reproduced"}
    claim = build_claim("a", verdicts.get, "1", variants=["votes", "any class"])
    assert claim.verdict == "inconclusive"
    assert claim.sensitivity == "main run: reproduced; votes: contradicted"
    assert build_claim("a", verdicts.get, "1", variants=["any class"]).sensitivity == "all variants agree"
    assert build_claim("a", verdicts.get, "1").sensitivity == ""


def test_format_of_undefined_estimates():
    assert IntervalEstimate(NAN, NAN, NAN).format() == "undefined"
    assert IntervalEstimate(0.5, NAN, NAN).format("{:.2f}") == "0.50 (interval unknown)"
    assert IntervalEstimate(0.5, 0.25, 0.75).format("{:.2f}") == "0.50 (0.25 to 0.75)"


def test_an_unknown_verdict_or_kind_is_refused():
    with pytest.raises(ValueError, match="perhaps"):
        Claim("a", "perhaps", "1")
    with pytest.raises(ValueError, match="guess"):
        Claim("a", "reproduced", "1", "guess")


def test_counts_list_only_verdicts_that_occur():
    claims = [Claim("a", verdict, "1") for verdict in ("contradicted", "reproduced", "contradicted")]
    assert count_verdicts(claims) == "1 reproduced, 2 contradicted"
    assert count_verdicts([]) == ""


def test_claims_marked_as_inconclusive_keep_their_numbers():
    claims = [Claim("a", "reproduced", "1"), Claim("b", "contradicted", "2"), Claim("c", "inconclusive", "3")]
    marked = mark_inconclusive([*claims, Claim("d", "not testable", "4")], "too few rows")
    assert [claim.verdict for claim in marked] == ["inconclusive"] * 3 + ["not testable"]
    assert [claim.text for claim in marked] == ["a", "b", "c", "d"]
    assert [claim.details for claim in marked] == ["1; too few rows", "2; too few rows", "3", "4"]
