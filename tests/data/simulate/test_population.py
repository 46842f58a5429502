"""What every population promises, for all of them."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.data.simulate import BestError, Flu, GaussianMixture, Population, Ringnorm, Twonorm, Waveform
from fairtrial.errors import InputError

POPULATIONS = [
    Twonorm(),
    Ringnorm(),
    Ringnorm(attributes=3, shift=1),
    Waveform(),
    Waveform(attributes=40),
    GaussianMixture(means=[[0, 0], [1, 2], [3, 1]], covariances=[1, 2, [[2, 1], [1, 2]]], priors=[0.2, 0.3, 0.5]),
    GaussianMixture(means=[0, 4, 2], component_classes=["a", "a", "b"]),
    Flu(),
    Flu("P+DW", missing=("Infant", "Adult"), definition="MC", coding="numbers"),
    Flu("DP", coding="groups"),
]
everyone = pytest.mark.parametrize("population", POPULATIONS, ids=repr)


@everyone
def test_samples_are_typed_frames_of_declared_classes(population):
    X, y = population.sample(50, rng=3)
    assert isinstance(X, pd.DataFrame)
    assert X.shape[0] == len(y) == 50
    assert all(str(kind) in {"float64", "category"} for kind in X.dtypes)
    assert tuple(y.cat.categories) == population.classes
    assert not X.isna().to_numpy().any()


@everyone
def test_a_seed_repeats_the_sample_and_another_does_not(population):
    first, again, other = (population.dataset(40, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert population.name in first.name


@everyone
def test_the_bayes_rule_errs_as_often_as_stated(population):
    """Counted on a large sample, against the stated error: within four standard errors."""
    X, y = population.sample(40_000, rng=11)
    counted = float((population.bayes_labels(X).to_numpy() != y.to_numpy()).mean())
    stated = population.best_error()
    assert isinstance(stated, BestError)
    assert abs(counted - stated.value) < 4 * np.sqrt(counted * (1 - counted) / len(y)) + stated.accuracy
    assert population.bayes_error == stated.value


@everyone
def test_bayes_probabilities_are_calibrated(population):
    """Among rows with like probability, that share has the class (in ten groups, within 4.5 standard errors)."""
    X, y = population.sample(20_000, rng=12)
    probabilities = population.bayes_probabilities(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    last = probabilities[:, -1]
    hit = (y == population.classes[-1]).to_numpy()
    for group in np.array_split(np.argsort(last, kind="stable"), 10):
        expected = last[group].mean()
        spread = np.sqrt((last[group] * (1 - last[group])).sum()) / len(group)
        assert abs(hit[group].mean() - expected) <= 4.5 * spread + 1e-3


@everyone
def test_equal_parameters_make_equal_populations(population):
    assert isinstance(population, Population)
    assert hash(population) == hash(
        population.__class__(**{name: getattr(population, name) for name in population.__match_args__})
    )


@pytest.mark.parametrize("n", [0, -1, 2.5, True])
def test_a_sample_has_a_whole_number_of_rows(n):
    with pytest.raises(InputError, match="n "):
        Twonorm().sample(n)


def test_the_bayes_rule_takes_arrays_and_refuses_other_widths():
    assert Twonorm(attributes=2).bayes_labels([[1, 1], [-1, -1]]).tolist() == ["1", "2"]
    with pytest.raises(InputError, match="20 columns"):
        Twonorm().bayes_probabilities(np.zeros((3, 4)))


def test_a_best_error_tells_its_accuracy():
    assert str(BestError(0.25, 0.0005, "Monte Carlo, 9 rows")) == "Bayes error 0.25000 +- 0.0005 (Monte Carlo, 9 rows)"
    assert str(BestError(0.25, 0.0, "closed form")) == "Bayes error 0.25000 (closed form)"
