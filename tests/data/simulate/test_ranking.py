"""Berrar (2014), section 4.1: 100 uniform scores, positive from 0.5 on; 10 replaced; 10 further ones replaced."""

import numpy as np
import pytest

from fairtrial.data.simulate import RankedPairs, RankingPairs
from fairtrial.errors import InputError
from fairtrial.measures import batch


@pytest.fixture(scope="module")
def pairs() -> RankedPairs:
    return RankingPairs().sample(5000, rng=1)


def test_exactly_ten_scores_tell_the_models_apart(pairs):
    assert len(pairs) == 5000
    assert pairs.labels.shape == pairs.better.shape == pairs.worse.shape == (5000, 100)
    assert ((pairs.better != pairs.worse).sum(axis=1) == 10).all()


def test_expected_accuracies_of_the_paper(pairs):
    """95 % and 90 %: half of the replaced scores fall on the wrong side."""
    for scores, expected in ((pairs.better, 0.95), (pairs.worse, 0.90)):
        assert ((scores >= 0.5) == pairs.labels).mean() == pytest.approx(expected, abs=0.001)


def test_never_more_than_ten_wrong_by_the_better_and_twenty_by_the_worse(pairs):
    assert ((pairs.better >= 0.5) != pairs.labels).sum(axis=1).max() <= 10
    assert ((pairs.worse >= 0.5) != pairs.labels).sum(axis=1).max() <= 20


def test_a_score_that_was_not_replaced_agrees_with_its_class(pairs):
    untouched = pairs.better == pairs.worse
    wrong = ((pairs.better >= 0.5) != pairs.labels) & untouched
    assert (wrong.sum(axis=1) <= 10).all()


def test_scores_are_uniform(pairs):
    for scores in (pairs.better, pairs.worse):
        assert scores.mean() == pytest.approx(0.5, abs=0.002)
        assert scores.var() == pytest.approx(1 / 12, abs=0.001)


def test_the_expected_auc_of_both_models_in_closed_form():
    """Of the pairs positive/negative, r = share replaced; either kept: 1; one kept: 3/4; both replaced: 1/2 (to order 1/n)."""
    pairs = RankingPairs(cases=400, replaced=40).sample(1000, rng=2)
    for scores, r in ((pairs.better, 0.1), (pairs.worse, 0.2)):
        expected = (1 - r) ** 2 + 2 * r * (1 - r) * 0.75 + r**2 * 0.5
        assert batch(pairs.labels, scores, ["auc"])["auc"].mean() == pytest.approx(expected, abs=0.003)


def test_without_noise_the_better_model_wins_nearly_always(pairs):
    better, worse = (
        batch(pairs.labels[:500], scores[:500], ["auc"])["auc"].to_numpy() for scores in (pairs.better, pairs.worse)
    )
    error = np.where(worse > better, 1.0, np.where(worse == better, 0.5, 0.0)).mean()
    assert error < 0.05


def test_a_seed_repeats_it():
    first, again = (RankingPairs().sample(3, rng=7) for _ in range(2))
    assert (first.worse == again.worse).all()


@pytest.mark.parametrize("wrong", [{"cases": 0}, {"replaced": -1}, {"cases": 10, "replaced": 6}])
def test_wrong_parameters_are_named(wrong):
    with pytest.raises(InputError, match=r"cases|replaced"):
        RankingPairs(**wrong)
