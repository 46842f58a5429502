"""Cells: errors counted with a tolerance, saved and reused, with further measures, and estimated over repeats."""

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer

from fairtrial.data import Dataset
from fairtrial.reproduce.ranking_real import cells
from fairtrial.reproduce.ranking_real.cells import (
    ALTERNATIVES,
    CHOSEN,
    CellResult,
    compute_cell,
    compute_errors,
    estimate_over_cells,
    estimate_over_repeats,
)
from fairtrial.reproduce.ranking_real.datasets import encode_dataset


@pytest.fixture(scope="module")
def data():
    X, y = load_breast_cancer(return_X_y=True)
    return encode_dataset("tumours", Dataset.from_table(X[:150, :4], y[:150]))


def test_rounding_does_not_decide():
    first, second = (0.1 + 0.2) / 10, 0.3 / 10
    assert first != second
    assert compute_errors(np.array([[[first], [second]]])).tolist() == [[0.5]]
    assert compute_errors(np.array([[[second], [first + 1e-9]]])).tolist() == [[1.0]]


def test_losses_are_better_when_lower_and_undefined_ones_are_no_ties():
    means = np.array([[[0.2, 0.2, np.nan, 0.5, np.inf], [0.1, 0.1, 0.5, np.nan, np.inf]]])
    np.testing.assert_array_equal(compute_errors(means, [1, -1, 1, 1, 1]), [[0.0, 1.0, np.nan, np.nan, np.nan]])


def test_rates_are_of_the_repeats_in_which_a_measure_is_defined():
    nan = np.nan
    errors = np.array([[1.0, nan, nan], [0.0, 1.0, nan], [0.5, 0.5, nan], [0.0, nan, nan]])
    result = CellResult("a", 1, errors, np.zeros(3), np.zeros(3))
    np.testing.assert_array_equal(result.rates, [0.375, 0.75, nan])
    assert result.n_defined == (4, 2, 0)


def test_undefined_errors_are_kept_as_such(data, tmp_path, monkeypatch):
    means = np.full((3, 2, 6), 0.5)
    means[1, 0, 2] = np.nan
    monkeypatch.setattr(cells, "_compute_means", lambda *_: means)
    first = compute_cell(data, 1, CHOSEN, 3, 1, tmp_path)
    monkeypatch.setattr(cells, "_compute_means", None)  # computing again would fail
    again = compute_cell(data, 1, CHOSEN, 3, 1, tmp_path)
    np.testing.assert_array_equal(again.errors, first.errors)
    assert np.isnan(again.errors).sum() == 1
    assert np.isnan(again.errors[1, 2])


def test_a_finished_cell_is_reused(data, tmp_path, monkeypatch):
    first = compute_cell(data, 1, CHOSEN, 7, 3, tmp_path / "cells")
    monkeypatch.setattr(cells, "_compute_means", None)  # computing again would fail
    again = compute_cell(data, 1, CHOSEN, 7, 3, tmp_path / "cells")
    np.testing.assert_array_equal(first.errors, again.errors)
    np.testing.assert_array_equal(first.values, again.values)
    for other in ((2, CHOSEN, 7, 3), (1, ALTERNATIVES[0], 7, 3), (1, CHOSEN, 8, 3), (1, CHOSEN, 7, 4)):
        with pytest.raises(TypeError):
            compute_cell(data, *other, tmp_path / "cells")


def test_a_corrupted_file_is_computed_again(data, tmp_path):
    first = compute_cell(data, 3, CHOSEN, 5, 1, tmp_path)
    (path,) = tmp_path.iterdir()
    path.write_bytes(b"half a file")
    np.testing.assert_array_equal(compute_cell(data, 3, CHOSEN, 5, 1, tmp_path).errors, first.errors)
    path.write_bytes(path.read_bytes()[:100])
    np.testing.assert_array_equal(compute_cell(data, 3, CHOSEN, 5, 1, tmp_path).errors, first.errors)


def test_further_measures_come_last_and_change_nothing(data, tmp_path):
    class Loss:
        direction = -1

        def __call__(self, y_true, scores, ends):
            assert y_true.shape == (5, 150)
            assert scores.shape == (5, 2, 150)
            assert ends == list(range(15, 151, 15))
            return np.tile([0.5, 0.4], (5, 1))

    plain, more = compute_cell(data, 2, CHOSEN, 5, 1, tmp_path), compute_cell(data, 2, CHOSEN, 5, 1, tmp_path, [Loss()])
    np.testing.assert_array_equal(more.errors[:, :6], plain.errors)
    assert more.errors[:, 6].tolist() == [1.0] * 5
    assert more.values[6] == 0.5


def test_more_repeats_continue_the_fewer(data, tmp_path):
    many, few = (compute_cell(data, 4, CHOSEN, size, 1, tmp_path) for size in (70, 50))
    np.testing.assert_array_equal(many.errors[:50], few.errors)
    assert len(many.errors) == 70
    np.testing.assert_allclose(many.rates, many.errors.mean(axis=0))


def test_interpretations_differ(data, tmp_path):
    result = [compute_cell(data, 1, interpretation, 20, 1, tmp_path).values for interpretation in (CHOSEN, *ALTERNATIVES)]
    assert all((first != second).any() for i, first in enumerate(result[:3]) for second in result[i + 1 : 3])
    severity = result[4]
    np.testing.assert_array_equal(severity[1:], result[0][1:])  # only H changes
    assert severity[0] != result[0][0]


def test_a_file_without_deviations_is_used_if_they_are_not_needed(data, tmp_path, monkeypatch):
    noisy, clean = (compute_cell(data, experiment, CHOSEN, 5, 1, tmp_path) for experiment in (1, 0))
    for path in tmp_path.iterdir():
        with np.load(path) as saved:
            older = {name: saved[name] for name in ("doubled", "values")}
        np.savez_compressed(path, **older)
    again = compute_cell(data, 0, CHOSEN, 5, 1, tmp_path)
    np.testing.assert_array_equal(again.deviations, clean.deviations)
    assert np.isfinite(clean.deviations).all()
    monkeypatch.setattr(cells, "_compute_means", None)  # computing again would fail
    result = compute_cell(data, 1, CHOSEN, 5, 1, tmp_path)
    np.testing.assert_array_equal(result.errors, noisy.errors)
    assert np.isnan(result.deviations).all()


def test_deviations_are_over_repeats(data, tmp_path):
    class Values:
        direction = 1

        def __call__(self, y_true, scores, ends):
            return np.array([[1.0, 0.0], [2.0, 0.0], [np.nan, 0.0], [6.0, 0.0]])

    result = compute_cell(data, 0, CHOSEN, 4, 1, tmp_path, [Values()])
    assert result.deviations[6] == pytest.approx(np.std([1, 2, 6], ddof=1))


def test_means_over_repeats_are_students():
    values = [0.0, 0.5, 1.0, 1.0, 0.0]
    low, high = stats.t.interval(0.95, 4, 50, 100 * stats.sem(values))
    assert (estimate_over_repeats(values).low, estimate_over_repeats(values).high) == pytest.approx((low, high))
    assert estimate_over_repeats([1.0] * 4).is_positive is None


def test_means_over_cells_leave_out_what_is_undefined():
    """By hand: two cells of 3 and 2 defined repeats, variances 1/3 and 1/8, degrees of degrees_of_freedom after Welch."""
    nan = math.nan
    first, second = np.array([0.0, 1.0, nan, 1.0]), np.array([0.5, nan, nan, 0.0])
    parts = np.array([(1 / 3) / 3, (1 / 8) / 2])
    degrees_of_freedom = parts.sum() ** 2 / (parts[0] ** 2 / 2 + parts[1] ** 2)
    half = stats.t.ppf(0.975, degrees_of_freedom) * math.sqrt(parts.sum()) / 2
    mean = (2 / 3 + 1 / 4) / 2
    estimate = estimate_over_cells([first, second])
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx(
        (100 * mean, 100 * (mean - half), 100 * (mean + half))
    )
    assert math.isnan(estimate_over_cells([first, np.full(4, nan)]).value)
    whole = np.array([[0.0, 1.0, 1.0, 1.0], [0.5, 0.0, 0.0, 1.0]])
    assert estimate_over_cells(list(whole)) == estimate_over_repeats(whole.mean(axis=0))


def test_one_defined_repeat_has_no_interval():
    estimate = estimate_over_cells([np.array([1.0, math.nan]), np.array([0.0, 1.0])])
    assert estimate.value == 75.0
    assert math.isnan(estimate.low)
