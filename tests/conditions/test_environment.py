from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import kstest

from fairtrial.conditions import Changed, Clean, Condition, Sequence
from fairtrial.conditions.environment import Altered, Environment, altered
from fairtrial.conditions.shift import ConceptChange, CovariateShift, PriorShift, SelectionBias
from fairtrial.data.simulate import Flu, Twonorm
from fairtrial.errors import InputError


class Line:
    """Uniform on [0, 1); the class is whether x0 is above one half."""

    def sample(self, n, rng):
        X = rng.random((n, 1))
        return X, (X[:, 0] > 0.5).astype(int)


def test_whatever_samples_is_an_environment():
    assert isinstance(Line(), Environment)
    assert isinstance(Twonorm(), Environment)
    assert isinstance(Flu(), Environment)
    assert isinstance(Altered(Line(), Clean()), Environment)
    assert not isinstance(object(), Environment)


@pytest.mark.parametrize(
    "condition",
    [
        Clean(),
        CovariateShift(keep="x0 > 0.9"),
        CovariateShift(weights="x0"),
        PriorShift(priors={1: 0.05}),
        SelectionBias(chance="x0"),
        ConceptChange(labels={0: 1}, where="x0 < 0.1", level=0.5),
    ],
    ids=str,
)
def test_there_are_always_as_many_rows_as_asked_for(condition):
    for n in (1, 7, 400):
        X, y = Altered(Line(), condition).sample(n, np.random.default_rng(3))
        assert len(X) == len(y) == n


def test_a_change_of_the_population_keeps_the_rule():
    X, y = Altered(Line(), CovariateShift(keep="x0 > 0.4")).sample(2000, np.random.default_rng(1))
    assert X.min() > 0.4
    assert (y == (X[:, 0] > 0.5)).all()
    assert y.mean() == pytest.approx(5 / 6, abs=0.03)


def test_a_change_of_the_classes_reaches_its_share():
    y = Altered(Line(), PriorShift(priors={1: 0.1})).sample(3000, np.random.default_rng(1))[1]
    assert y.mean() == pytest.approx(0.1, abs=0.02)


def test_rows_are_fresh_where_a_condition_would_draw_them_twice():
    """Weight x on the uniform distribution makes the density 2 x."""
    X, y = Altered(Line(), CovariateShift(weights="x0", size=50)).sample(3000, np.random.default_rng(1))
    assert len(np.unique(X)) == 3000
    assert kstest(X[:, 0], lambda x: x**2).pvalue > 0.01
    assert (y == (X[:, 0] > 0.5)).all()


def test_a_weight_counts_in_full_however_large():
    """A tenth of the rows counts a hundredfold: 10 of 10.9 parts."""
    X, _ = Altered(Line(), CovariateShift(weights={"x0 > 0.9": 100})).sample(3000, np.random.default_rng(1))
    assert len(np.unique(X)) == 3000
    assert (X > 0.9).mean() == pytest.approx(10 / 10.9, abs=0.02)


@pytest.mark.parametrize("how", [{"priors": {1: 0.9}}, {"weights": {1: 9}}], ids=str)
def test_a_frequent_class_is_made_of_fresh_rows(how):
    shift = PriorShift(method="draw", **how)
    for change in (shift, Sequence([Clean(), shift])):
        X, y = Altered(Line(), change).sample(2000, np.random.default_rng(1))
        assert len(np.unique(X)) == 2000
        assert y.mean() == pytest.approx(0.9, abs=0.03)
        assert kstest(X[y == 1, 0], "uniform", (0.5, 0.5)).pvalue > 0.01


@dataclass(frozen=True, kw_only=True)
class Twice(Condition):
    def _apply(self, X, y, rng):
        rows = np.repeat(np.arange(len(X)), 2)
        return Changed(X[rows], y[rows], np.ones(len(X), dtype=bool), 1.0, rows)


def test_copies_are_refused():
    with pytest.raises(InputError, match="Twice"):
        Altered(Line(), Twice()).sample(5, np.random.default_rng(1))


def test_conditions_follow_each_other():
    swap = ConceptChange(labels={0: 1, 1: 0})
    X, y = Altered(Line(), swap, CovariateShift(keep="x0 > 0.5")).sample(50, np.random.default_rng(1))
    assert (y == 0).all()
    assert (X > 0.5).all()


def test_a_flu_without_elderly_equals_the_population_without_them():
    kept, _ = Altered(Flu(), CovariateShift(keep="age < 65")).sample(20_000, np.random.default_rng(1))
    own, _ = Flu(missing=["Elderly"]).sample(20_000, np.random.default_rng(2))
    assert kept["age"].mean() == pytest.approx(own["age"].mean(), abs=0.6)


def test_names():
    worlds = altered(Line(), {"high": CovariateShift(keep="x0 > 0.5"), "odd": (Clean(), Clean())}, name="base")
    assert list(worlds) == ["base", "high", "odd"]
    assert len(worlds["odd"].conditions) == 2
    with pytest.raises(InputError, match="name"):
        altered(Line(), {"usual": Clean()})


def test_what_cannot_be_is_said():
    with pytest.raises(InputError, match="environment"):
        Altered(object(), Clean())
    with pytest.raises(InputError, match="conditions"):
        Altered(Line(), "clean")
    with pytest.raises(InputError, match="got 0"):
        Altered(Line(), CovariateShift(keep="x0 > 2")).sample(5, np.random.default_rng(1))


def test_a_rare_group_is_waited_for():
    """One of 3,000 rows, where 1,000 are drawn at first."""
    X, _ = Altered(Line(), CovariateShift(keep="x0 > 0.99967")).sample(5, np.random.default_rng(1))
    assert X.min() > 0.99967
    assert len(X) == 5
