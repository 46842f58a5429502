"""Waveform against the book, and against moments of R's mlbench 2.1.3.

Class means and variances are those of 300,000 rows: set.seed(8); w <- mlbench.waveform(300000). R's classes 1, 2, 3 are ours 3, 2, 1.
"""

import numpy as np
import pytest
from scipy.integrate import quad

from fairtrial.data.simulate import Waveform
from fairtrial.errors import InputError

R_MEANS = {
    "3": "0.001 0.500 1.001 1.502 2.005 2.500 3.001 2.505 1.997 2.006 1.995 2.001 2.003 2.498 2.996 2.500 1.999 1.500 0.998 0.501 0.002",
    "2": "-0.005 0.502 1.000 1.500 1.999 3.001 3.998 4.001 4.001 3.994 4.000 3.000 2.004 1.500 1.000 0.504 -0.004 -0.004 0 0.002 -0.003",
    "1": "-0.003 0.006 0.001 -0.004 0.003 0.500 0.993 1.502 1.999 2.998 3.999 4.003 3.997 3.997 4.003 3.001 2.003 1.500 1 0.501 0",
}
R_VARIANCES = {
    "3": "1.002 1.089 1.323 1.751 2.342 3.092 3.997 3.108 2.342 1.335 0.995 1.330 2.334 3.104 4.006 3.088 2.330 1.753 1.336 1.081 0.999",
    "2": "0.997 1.078 1.335 1.754 2.336 2.332 2.347 1.335 1.007 1.335 2.330 2.319 2.343 1.755 1.325 1.080 0.999 1.008 1.008 1.002 1.004",
    "1": "1.004 0.999 1.008 0.999 1.006 1.092 1.340 1.756 2.325 2.334 2.331 1.334 1.010 1.334 2.349 2.352 2.340 1.749 1.330 1.080 1.006",
}


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
    np.testing.assert_allclose(own.mean(), np.array(R_MEANS[label].split(), dtype=float), atol=0.045)
    np.testing.assert_allclose(own.var(), np.array(R_VARIANCES[label].split(), dtype=float), atol=0.11)


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
    with pytest.raises(InputError, match=r"attributes must be one of \[21, 40\]"):
        Waveform(attributes=30)
