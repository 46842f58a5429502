"""Waveform against the book, and against moments of R's mlbench 2.1.3.

r_waveform.csv has class means and variances of 300,000 rows: set.seed(8); w <- mlbench.waveform(300000). R's classes 1, 2, 3
are ours 3, 2, 1.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad

from fairtrial.data.simulate import Waveform
from fairtrial.errors import InputError


def test_the_error_is_about_what_the_book_states():
    """Breiman, Friedman, Olshen & Stone 1984: 14 %; exactly a little less."""
    assert Waveform().bayes_error == pytest.approx(0.14, abs=0.01)
    assert Waveform(attributes=40).bayes_error == Waveform().bayes_error


def test_the_error_equals_what_the_largest_posterior_leaves():
    X, _ = Waveform().sample(100_000, rng=3)
    left = 1 - Waveform().bayes_probabilities(X).max(axis=1)
    assert Waveform().bayes_error == pytest.approx(left.mean(), abs=4 * left.std() / np.sqrt(len(left)))


@pytest.mark.parametrize("label", ["1", "2", "3"])
def test_moments_equal_those_of_mlbench(label):
    X, y = Waveform().sample(150_000, rng=4)
    own = X[(y == label).to_numpy()]
    printed = pd.read_csv(Path(__file__).with_name("r_waveform.csv"), dtype={"class": str}).set_index(["class", "what"])
    np.testing.assert_allclose(own.mean(), printed.loc[(label, "mean")], atol=0.045)
    np.testing.assert_allclose(own.var(), printed.loc[(label, "variance")], atol=0.11)


def test_the_density_of_a_class_by_integration_over_the_mixing_share():
    waves = [np.maximum(6 - np.abs(np.arange(1, 22) - peak), 0) for peak in (11, 15, 7)]
    X, _ = Waveform().sample(5, rng=6)
    for row, probabilities in zip(X.to_numpy(), Waveform().bayes_probabilities(X), strict=True):

        def density(pair, row=row):
            def at(u):
                return np.exp(-((row - u * waves[pair[0]] - (1 - u) * waves[pair[1]]) ** 2).sum() / 2 + 10)

            return quad(at, 0, 1, epsabs=0, limit=200)[0]

        expected = np.array([density(pair) for pair in ((0, 1), (0, 2), (1, 2))])
        np.testing.assert_allclose(probabilities, expected / expected.sum(), rtol=1e-6, atol=1e-12)


def test_rows_far_away_have_probabilities_too():
    far = np.full((1, 21), 1e4)
    assert Waveform().bayes_probabilities(far).sum() == pytest.approx(1)


def test_the_last_nineteen_of_forty_attributes_are_noise():
    X, y = Waveform(attributes=40).sample(50_000, rng=5)
    means = X.iloc[:, 21:].groupby(y.to_numpy()).mean().to_numpy()
    np.testing.assert_allclose(means, 0, atol=0.04)
    np.testing.assert_allclose(X.iloc[:, 21:].var(), 1, atol=0.04)


def test_other_numbers_of_attributes_are_refused():
    with pytest.raises(InputError, match="attributes"):
        Waveform(attributes=30)
