"""What the paper states of Figures 4 to 6 holds at a reduced scale, and a claim is judged by its interval."""

import numpy as np
import pytest

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
    assert [claim.text for claim in claims if not claim.holds and NOT_SO not in claim.text] == []


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
        assert gap.value + 2 * (gap.high - gap.value) < 0, (curve.noise.name, lower, higher, str(gap))


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


def test_alike_is_judged_by_the_limit():
    assert alike(made(0.1, 0.13), "text", ["h_measure", "auc"], 0.05).holds is True
    assert alike(made(0.1, 0.18), "text", ["h_measure", "auc"], 0.05).holds is False
