"""Cells: errors counted with a tolerance, kept and found again, and what joins computed beside them."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from fairtrial.data import Dataset
from fairtrial.reproduce.ranking import cells
from fairtrial.reproduce.ranking.cells import CHOSEN, OTHERS, Outcome, errors_of, outcome
from fairtrial.reproduce.ranking.coded import coded


@pytest.fixture(scope="module")
def data():
    X, y = load_breast_cancer(return_X_y=True)
    return coded("tumours", Dataset.from_table(X[:150, :4], y[:150]))


def test_rounding_does_not_decide():
    first, second = (0.1 + 0.2) / 10, 0.3 / 10
    assert first != second
    assert errors_of(np.array([[[first], [second]]])).tolist() == [[0.5]]
    assert errors_of(np.array([[[second], [first + 1e-9]]])).tolist() == [[1.0]]


def test_losses_are_better_when_lower_and_undefined_ones_are_no_ties():
    means = np.array([[[0.2, 0.2, np.nan, 0.5, np.inf], [0.1, 0.1, 0.5, np.nan, np.inf]]])
    np.testing.assert_array_equal(errors_of(means, [1, -1, 1, 1, 1]), [[0.0, 1.0, np.nan, np.nan, np.nan]])


def test_rates_are_of_the_repeats_in_which_a_measure_is_defined():
    nan = np.nan
    errors = np.array([[1.0, nan, nan], [0.0, 1.0, nan], [0.5, 0.5, nan], [0.0, nan, nan]])
    found = Outcome("a", 1, errors, np.zeros(3), np.zeros(3))
    np.testing.assert_array_equal(found.rates, [0.375, 0.75, nan])
    assert found.defined == (4, 2, 0)


def test_undefined_errors_are_kept_as_such(data, tmp_path, monkeypatch):
    means = np.full((3, 2, 6), 0.5)
    means[1, 0, 2] = np.nan
    monkeypatch.setattr(cells, "_means", lambda *_: means)
    first = outcome(data, 1, CHOSEN, 3, 1, tmp_path)
    monkeypatch.setattr(cells, "_means", None)  # whoever computes now fails
    again = outcome(data, 1, CHOSEN, 3, 1, tmp_path)
    np.testing.assert_array_equal(again.errors, first.errors)
    assert np.isnan(again.errors).sum() == 1
    assert np.isnan(again.errors[1, 2])


def test_a_finished_cell_is_found_again(data, tmp_path, monkeypatch):
    first = outcome(data, 1, CHOSEN, 7, 3, tmp_path / "cells")
    monkeypatch.setattr(cells, "_means", None)  # whoever computes now fails
    again = outcome(data, 1, CHOSEN, 7, 3, tmp_path / "cells")
    np.testing.assert_array_equal(first.errors, again.errors)
    np.testing.assert_array_equal(first.values, again.values)
    for other in ((2, CHOSEN, 7, 3), (1, OTHERS[0], 7, 3), (1, CHOSEN, 8, 3), (1, CHOSEN, 7, 4)):
        with pytest.raises(TypeError):
            outcome(data, *other, tmp_path / "cells")


def test_a_damaged_file_is_computed_anew(data, tmp_path):
    first = outcome(data, 3, CHOSEN, 5, 1, tmp_path)
    (path,) = tmp_path.iterdir()
    path.write_bytes(b"half a file")
    np.testing.assert_array_equal(outcome(data, 3, CHOSEN, 5, 1, tmp_path).errors, first.errors)
    path.write_bytes(path.read_bytes()[:100])
    np.testing.assert_array_equal(outcome(data, 3, CHOSEN, 5, 1, tmp_path).errors, first.errors)


def test_what_joins_comes_behind_and_changes_nothing(data, tmp_path):
    class Loss:
        direction = -1

        def __call__(self, truths, scores, ends):
            assert truths.shape == (5, 150)
            assert scores.shape == (5, 2, 150)
            assert ends == list(range(15, 151, 15))
            return np.tile([0.5, 0.4], (5, 1))

    plain, more = outcome(data, 2, CHOSEN, 5, 1, tmp_path), outcome(data, 2, CHOSEN, 5, 1, tmp_path, [Loss()])
    np.testing.assert_array_equal(more.errors[:, :6], plain.errors)
    assert more.errors[:, 6].tolist() == [1.0] * 5
    assert more.values[6] == 0.5


def test_repeats_beyond_a_chunk_go_on(data, tmp_path):
    many, few = (outcome(data, 4, CHOSEN, size, 1, tmp_path) for size in (70, 50))
    np.testing.assert_array_equal(many.errors[:50], few.errors)
    assert len(many.errors) == 70
    np.testing.assert_allclose(many.rates, many.errors.mean(axis=0))


def test_readings_differ(data, tmp_path):
    found = [outcome(data, 1, reading, 20, 1, tmp_path).values for reading in (CHOSEN, *OTHERS)]
    assert all((first != second).any() for i, first in enumerate(found[:3]) for second in found[i + 1 : 3])
    severity = found[4]
    np.testing.assert_array_equal(severity[1:], found[0][1:])  # only H changes
    assert severity[0] != found[0][0]


def test_a_file_without_deviations_serves_where_they_are_not_wanted(data, tmp_path, monkeypatch):
    noisy, clean = (outcome(data, experiment, CHOSEN, 5, 1, tmp_path) for experiment in (1, 0))
    for path in tmp_path.iterdir():
        with np.load(path) as kept:
            older = {name: kept[name] for name in ("doubled", "values")}
        np.savez_compressed(path, **older)
    again = outcome(data, 0, CHOSEN, 5, 1, tmp_path)
    np.testing.assert_array_equal(again.deviations, clean.deviations)
    assert np.isfinite(clean.deviations).all()
    monkeypatch.setattr(cells, "_means", None)  # whoever computes now fails
    found = outcome(data, 1, CHOSEN, 5, 1, tmp_path)
    np.testing.assert_array_equal(found.errors, noisy.errors)
    assert np.isnan(found.deviations).all()


def test_deviations_are_over_repeats(data, tmp_path):
    class Values:
        direction = 1

        def __call__(self, truths, scores, ends):
            return np.array([[1.0, 0.0], [2.0, 0.0], [np.nan, 0.0], [6.0, 0.0]])

    found = outcome(data, 0, CHOSEN, 4, 1, tmp_path, [Values()])
    assert found.deviations[6] == pytest.approx(np.std([1, 2, 6], ddof=1))
