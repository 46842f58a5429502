"""Twonorm and ringnorm against Breiman's figures and R's mlbench 2.1.3.

r_mlbench.csv: set.seed(7); for (f in c("twonorm", "ringnorm")) { z <- get(paste0("mlbench.", f))(12, d = 3); bayesclass(z) },
both after another, some rows of each.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from fairtrial.data.simulate import Ringnorm, Twonorm
from fairtrial.errors import InputError


def test_errors_that_breiman_states():
    """Bias, Variance and Arcing Classifiers, 1996: 2.3 % and 1.3 %, the latter a little above the exact value."""
    assert round(100 * Twonorm().bayes_error, 1) == 2.3
    assert 100 * Ringnorm().bayes_error == pytest.approx(1.3, abs=0.1)


def test_errors_that_mlbench_counts():
    """set.seed(9); z <- mlbench.twonorm(400000); mean(bayesclass(z) != z$classes), then ringnorm: 0.022895, 0.0149525."""
    assert Twonorm().bayes_error == pytest.approx(0.022895, abs=4 * np.sqrt(0.0229 / 400_000))
    assert Ringnorm(shift=1).bayes_error == pytest.approx(0.0149525, abs=4 * np.sqrt(0.015 / 400_000))


@pytest.mark.parametrize("attributes", [1, 5, 20, 100])
def test_twonorms_error_does_not_depend_on_the_number_of_attributes(attributes):
    assert Twonorm(attributes=attributes).bayes_error == pytest.approx(norm.cdf(-2))


@pytest.mark.parametrize("shift", [0.0, 1.0, 2.0, 5.0])
def test_ringnorm_in_one_dimension_by_integration(shift):
    x = np.linspace(-40, 40, 800_001)
    expected = np.trapezoid(np.minimum(norm.pdf(x, 0, 2), norm.pdf(x, shift, 1)), x) / 2
    assert Ringnorm(attributes=1, shift=shift).bayes_error == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("name", ["twonorm", "ringnorm"])
def test_the_bayes_classifier_agrees_with_mlbench(name):
    rows = pd.read_csv(Path(__file__).with_name("r_mlbench.csv")).query("population == @name")
    population = Twonorm(attributes=3) if name == "twonorm" else Ringnorm(attributes=3, shift=1)
    assert population.bayes_labels(rows[["x1", "x2", "x3"]]).tolist() == rows["bayes"].astype(str).tolist()


def test_moments_of_a_large_sample():
    X, y = Ringnorm(attributes=4).sample(100_000, rng=1)
    wide, narrow = (X[(y == label).to_numpy()].to_numpy() for label in ("1", "2"))
    np.testing.assert_allclose(wide.mean(axis=0), 0, atol=0.04)
    np.testing.assert_allclose(np.cov(wide.T), 4 * np.eye(4), atol=0.12)
    np.testing.assert_allclose(narrow.mean(axis=0), 1, atol=0.02)
    np.testing.assert_allclose(np.cov(narrow.T), np.eye(4), atol=0.03)
    assert (y == "1").mean() == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("wrong", [{"attributes": 0}, {"attributes": 2.5}, {"shift": "far"}])
def test_wrong_parameters_are_named(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        Ringnorm(**wrong)
