"""The claims about Figures 4 to 6 are reproduced at a reduced scale, and judged by intervals."""

import numpy as np
import pytest
from scipy import stats

from fairtrial.reproduce.ranking_errors import MEASURES, index_measure
from fairtrial.reproduce.ranking_synthetic.claims import build_claims, judge_equality, judge_order
from fairtrial.reproduce.ranking_synthetic.simulation import NOISES, ErrorCurve, simulate_curves

NO_ERRORS = "at 0 % all errors are expected to be 0"


@pytest.fixture(scope="module")
def curves():
    return simulate_curves(NOISES, step=5, pairs=3000, seed=5, jobs=2, progress=False)


@pytest.fixture(scope="module")
def claims(curves):
    return build_claims(*curves)


def test_all_claims_are_reproduced_except_that_of_no_errors_without_noise(claims):
    assert len(claims) == 15
    assert [claim.text for claim in claims if claim.reproduced is False and NO_ERRORS not in claim.text] == []
    inconclusive = [claim.text for claim in claims if claim.reproduced is None]
    assert all("around 50 %" in text for text in inconclusive)  # within 2 points: 3,000 pairs are too few to show it


def test_without_noise_sauc_errs(curves, claims):
    claim = next(claim for claim in claims if NO_ERRORS in claim.text)
    assert claim.reproduced is False
    assert 0.003 < curves[0].rates[0, index_measure("sauc")] < 0.02


def test_the_orderings_of_each_figure(curves):
    """The same orders as the paper's, measure by four standard errors of a paired difference."""
    labels, scores, proportion = curves
    pairs = [(labels, "h_measure", "auch"), (labels, "ks", "auch"), (labels, "auch", "auc"), (labels, "auc", "sauc")]
    pairs += [(scores, "ks", "sauc"), (scores, "h_measure", "ks"), (scores, "auch", "h_measure"), (scores, "auc", "auch")]
    pairs += [(proportion, measure, "sauc") for measure in MEASURES if measure != "sauc"]
    for curve, lower, higher in pairs:
        difference = curve.estimate_difference(lower, higher, max_level=70 if curve is labels else 100)
        assert difference.value + 2 * (difference.high - difference.value) < 0, (curve.noise.name, lower, higher, difference)


def test_auc_and_taks_judge_every_pair_alike(curves):
    for curve in curves:
        np.testing.assert_array_equal(curve.rates[:, index_measure("auc")], curve.rates[:, index_measure("taks")])


def make_curve(first, second, pairs=100):
    """A curve of one level on which two measures err at these rates, independently."""
    rates = np.zeros((1, 6))
    rates[0, :2] = first, second
    return ErrorCurve(NOISES[0], np.array([1.0]), pairs, rates, np.array([np.diag(rates[0] * (1 - rates[0]))]))


@pytest.mark.parametrize(("first", "second", "reproduced"), [(0.1, 0.5, True), (0.5, 0.1, False), (0.30, 0.33, None)])
def test_an_order_is_reproduced_contradicted_or_inconclusive(first, second, reproduced):
    claim = judge_order(make_curve(first, second), "text", ["h_measure"], ["auc"])
    assert claim.reproduced is reproduced
    assert f"H-measure {100 * first:.2f} %" in claim.details


@pytest.mark.parametrize(("second", "pairs", "reproduced"), [(0.13, 10_000, True), (0.18, 10_000, False), (0.13, 100, None)])
def test_equality_is_judged_by_intervals(second, pairs, reproduced):
    assert judge_equality(make_curve(0.1, second, pairs), "text", ["h_measure", "auc"], 0.05).reproduced is reproduced


def test_few_pairs_are_inconclusive_where_many_are_needed():
    few = build_claims(*simulate_curves(NOISES, step=50, pairs=20, seed=1, jobs=1, progress=False))
    judged = [claim for claim in few if any(word in claim.text for word in ("around 50", "identical", "similarly", "low up"))]
    assert len(judged) == 5
    assert all(claim.reproduced is None for claim in judged)


def test_vague_words_say_how_they_are_judged(claims):
    words = ("slightly", "remarkably", "virtually", "almost", "similarly", "around 50", "dramatic")
    vague = [claim.text for claim in claims if any(word in claim.text for word in words)]
    assert len(vague) == 8
    assert all("(judged as: " in text for text in vague)


def test_limits_are_shown(curves, claims):
    """Clopper and Pearson's, six of them together, by quantiles of the beta distribution."""
    rates, pairs = curves[0].rates[-1], curves[0].pairs
    low = min(stats.beta.ppf(0.025 / 6, rate * pairs, pairs - rate * pairs + 1) for rate in rates)
    high = max(stats.beta.isf(0.025 / 6, rate * pairs + 1, pairs - rate * pairs) for rate in rates)
    half = next(claim for claim in claims if "around 50" in claim.text)
    assert half.details.endswith(f"confidence limits from {100 * low:.2f} to {100 * high:.2f} %")
    assert (
        "points, confidence limits up to " in judge_equality(make_curve(0.1, 0.13), "text", ["h_measure", "auc"], 0.05).details
    )


def test_smoke_runs_decide_only_what_one_error_contradicts(curves, claims):
    smoke = build_claims(*curves, is_smoke=True)
    assert [claim.text for claim in smoke] == [claim.text for claim in claims]
    assert [claim.reproduced for claim in smoke] == [False] + [None] * 14
