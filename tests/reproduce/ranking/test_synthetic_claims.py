"""What the paper states of Figures 4 to 6 holds at a reduced scale, and a claim is judged by its interval."""

import numpy as np
import pytest
from scipy import stats

from fairtrial.reproduce.ranking.curves import NOISES, Curve, curves
from fairtrial.reproduce.ranking.measure_words import MEASURES, place
from fairtrial.reproduce.ranking.synthetic_claims import alike, ordered, synthetic_claims

NOT_SO = "at 0 % all errors are expected to be 0"


@pytest.fixture(scope="module")
def found():
    return curves(NOISES, step=5, pairs=3000, seed=5, jobs=2, progress=False)


@pytest.fixture(scope="module")
def claims(found):
    return synthetic_claims(*found)


def test_all_statements_hold_but_that_of_no_errors_without_noise(claims):
    assert len(claims) == 15
    assert [claim.text for claim in claims if claim.holds is False and NOT_SO not in claim.text] == []
    open_ones = [claim.text for claim in claims if claim.holds is None]
    assert all("around 50 %" in text for text in open_ones)  # within 2 points: 3,000 pairs are too few to show it


def test_without_noise_sauc_errs(found, claims):
    claim = next(claim for claim in claims if NOT_SO in claim.text)
    assert claim.holds is False
    assert 0.003 < found[0].rates[0, place("sauc")] < 0.02


def test_the_orderings_of_each_figure(found):
    """The same orders as the paper's, each by four standard errors of a paired difference."""
    labels, scores, proportion = found
    pairs = [(labels, "h_measure", "auch"), (labels, "ks", "auch"), (labels, "auch", "auc"), (labels, "auc", "sauc")]
    pairs += [(scores, "ks", "sauc"), (scores, "h_measure", "ks"), (scores, "auch", "h_measure"), (scores, "auc", "auch")]
    pairs += [(proportion, each, "sauc") for each in MEASURES if each != "sauc"]
    for curve, lower, higher in pairs:
        gap = curve.gap(lower, higher, most=70 if curve is labels else 100)
        assert gap.value + 2 * (gap.high - gap.value) < 0, (curve.noise.name, lower, higher, gap)


def test_auc_and_taks_judge_every_pair_alike(found):
    for curve in found:
        np.testing.assert_array_equal(curve.rates[:, place("auc")], curve.rates[:, place("taks")])


def made(first, second, pairs=100):
    """A curve of one level on which two measures err at these rates, independently."""
    rates = np.zeros((1, 6))
    rates[0, :2] = first, second
    return Curve(NOISES[0], np.array([1.0]), pairs, rates, np.array([np.diag(rates[0] * (1 - rates[0]))]))


@pytest.mark.parametrize(("first", "second", "holds"), [(0.1, 0.5, True), (0.5, 0.1, False), (0.30, 0.33, None)])
def test_an_order_holds_or_not_or_is_open(first, second, holds):
    claim = ordered(made(first, second), "text", ["h_measure"], ["auc"])
    assert claim.holds is holds
    assert f"H-measure {100 * first:.2f} %" in claim.evidence


@pytest.mark.parametrize(("second", "pairs", "holds"), [(0.13, 10_000, True), (0.18, 10_000, False), (0.13, 100, None)])
def test_alike_is_judged_by_intervals(second, pairs, holds):
    assert alike(made(0.1, second, pairs), "text", ["h_measure", "auc"], 0.05).holds is holds


def test_few_pairs_leave_open_what_only_many_can_show():
    few = synthetic_claims(*curves(NOISES, step=50, pairs=20, seed=1, jobs=1, progress=False))
    judged = [claim for claim in few if any(word in claim.text for word in ("around 50", "identical", "similarly", "low up"))]
    assert len(judged) == 5
    assert all(claim.holds is None for claim in judged)


def test_vague_words_say_how_they_are_judged(claims):
    words = ("slightly", "remarkably", "virtually", "almost", "similarly", "around 50", "dramatic")
    vague = [claim.text for claim in claims if any(word in claim.text for word in words)]
    assert len(vague) == 8
    assert all("(judged as: " in text for text in vague)


def test_limits_are_shown(found, claims):
    """Clopper and Pearson's, six of them together, by quantiles of the beta distribution."""
    rates, pairs = found[0].rates[-1], found[0].pairs
    low = min(stats.beta.ppf(0.025 / 6, rate * pairs, pairs - rate * pairs + 1) for rate in rates)
    high = max(stats.beta.isf(0.025 / 6, rate * pairs + 1, pairs - rate * pairs) for rate in rates)
    half = next(claim for claim in claims if "around 50" in claim.text)
    assert half.evidence.endswith(f"limits from {100 * low:.2f} to {100 * high:.2f} %")
    assert "points, limits to " in alike(made(0.1, 0.13), "text", ["h_measure", "auc"], 0.05).evidence


def test_coarse_samples_leave_open_all_but_what_one_error_refutes(found, claims):
    coarse = synthetic_claims(*found, coarse=True)
    assert [claim.text for claim in coarse] == [claim.text for claim in claims]
    assert [claim.holds for claim in coarse] == [False] + [None] * 14
