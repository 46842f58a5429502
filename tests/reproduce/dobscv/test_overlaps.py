"""Top sets that are shared, beside chance."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import hypergeom

from fairtrial.reproduce.dobscv.overlaps import by_chance, overlap_words, shared_of


def tops(*starts, sets=66):
    """A frame of five learners, each with its 5 largest differences from a given place on."""
    frame = pd.DataFrame(0.001, index=[f"set {place}" for place in range(sets)], columns=range(len(starts)))
    for learner, start in enumerate(starts):
        frame.iloc[start : start + 5, learner] = [0.5, -0.4, 0.3, -0.2, 0.1][:sets]
    return frame


def test_chance_is_hypergeometric():
    two = by_chance(66, 5, 2)
    assert list(two.values()) == pytest.approx(hypergeom(66, 5, 5).pmf(np.arange(6)))
    five = by_chance(66, 5, 5)
    assert sum(five.values()) == pytest.approx(1)
    assert sum(total * p for total, p in five.items()) == pytest.approx(10 * 25 / 66)
    assert five[0] == pytest.approx(np.prod([hypergeom(66, 5 * taken, 5).pmf(0) for taken in range(1, 5)]))


def test_chance_is_that_of_lots():
    rng = np.random.default_rng(2)
    draws = np.argsort(rng.random((20_000, 3, 12)), axis=2) < 4  # places of a random order: four sets for each of three
    totals = sum((draws[:, one] & draws[:, other]).sum(axis=1) for one, other in ((0, 1), (0, 2), (1, 2)))
    expected = by_chance(12, 4, 3)
    seen = np.bincount(totals, minlength=max(expected) + 1) / len(totals)
    assert seen[list(expected)] == pytest.approx(list(expected.values()), abs=0.012)


def test_with_few_sets_all_are_shared_by_chance():
    told = overlap_words(tops(0, 0, 0, sets=3))
    assert told[0] is None
    assert "share 3.0 of their 3 on average; independent ones would share 3.0" in told[1]
    assert "probability of 1.0000" in told[1]


@pytest.mark.parametrize(
    ("starts", "holds"),
    [((0, 10, 20, 30, 40), True), ((0, 4, 20, 30, 40), None), ((0, 2, 20, 30, 40), None), ((0, 0, 0, 30, 40), False)],
)
def test_only_more_than_chance_contradicts(starts, holds):
    assert overlap_words(tops(*starts))[0] is holds


def test_nothing_shared_is_no_evidence_where_chance_gives_it_often():
    assert overlap_words(tops(0, 10))[0] is None
    assert shared_of(tops(0, 10), 5) == [0]
    assert overlap_words(tops(0, 10).head(0))[0] is None
