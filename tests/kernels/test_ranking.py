"""Each sweep over tallies equals a reference that compares pairs of cases or at every threshold."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.kernels import ranking as kernels
from tests.reference import ranking as reference
from tests.reference.cases import tallies

# name: how the kernel is called, and its reference
SWEEPS = {
    "auc": (lambda _, p, n, out: kernels.compute_auc(p, n, out), reference.auc),
    "sauc": (kernels.compute_sauc, reference.sauc),
    "kappa_curve_area": (lambda _, p, n, out: kernels.compute_kappa_area(p, n, out), reference.kappa_curve_area),
    "ks": (lambda _, p, n, out: kernels.compute_ks(p, n, False, out), lambda *rows: reference.ks(*rows, signed=False)),
    "signed ks": (lambda _, p, n, out: kernels.compute_ks(p, n, True, out), lambda *rows: reference.ks(*rows, signed=True)),
    "taks": (lambda _, p, n, out: kernels.compute_taks(p, n, True, out), reference.taks),
    "abc": (lambda _, p, n, out: kernels.compute_taks(p, n, False, out), reference.abc),
    "average_precision": (lambda _, p, n, out: kernels.compute_average_precision(p, n, out), reference.average_precision),
}


def sweep(kernel, values, pos, neg):
    out = np.full(len(pos), 99.0)
    kernel(values, pos, neg, out)
    return out


def by_twin(function, values, pos, neg):
    return [function(*reference.rows_of(*line)) for line in zip(values, pos, neg, strict=True)]


@pytest.mark.parametrize("name", SWEEPS)
@given(tally=tallies())
@settings(max_examples=60, deadline=None)
def test_sweep_equals_the_reference(name, tally):
    kernel, function = SWEEPS[name]
    np.testing.assert_allclose(sweep(kernel, *tally), by_twin(function, *tally), rtol=1e-9, atol=1e-12)


@given(tally=tallies(), max_fpr=st.sampled_from([0.01, 0.1, 1 / 3, 0.5, 0.9, 1.0]))
@settings(max_examples=80, deadline=None)
def test_partial_auc_equals_the_reference(tally, max_fpr):
    found = sweep(lambda _, p, n, out: kernels.compute_partial_auc(p, n, max_fpr, out), *tally)
    np.testing.assert_allclose(found, by_twin(lambda *rows: reference.partial_auc(*rows, max_fpr=max_fpr), *tally), atol=1e-9)


@given(tally=tallies(), fraction=st.sampled_from([0.05, 0.1, 0.5, 2 / 3, 1.0]))
@settings(max_examples=80, deadline=None)
def test_lift_equals_the_reference(tally, fraction):
    found = sweep(lambda _, p, n, out: kernels.compute_lift(p, n, fraction, out), *tally)
    np.testing.assert_allclose(found, by_twin(lambda *rows: reference.lift(*rows, fraction=fraction), *tally), rtol=1e-9)


@given(tally=tallies(), cost=st.sampled_from([0.01, 0.3, 0.5, 0.99]))
@settings(max_examples=80, deadline=None)
def test_least_loss_equals_the_reference(tally, cost):
    found = sweep(lambda _, p, n, out: kernels.compute_min_loss(p, n, np.full(len(p), cost), out), *tally)
    np.testing.assert_allclose(found, by_twin(lambda *rows: reference.least_loss(*rows, cost=cost), *tally), atol=1e-12)


@given(tally=tallies())
@settings(max_examples=40, deadline=None)
def test_sauc_takes_one_row_of_values_for_all_tallies(tally):
    values, pos, neg = tally
    shared = values[:1]
    repeated = np.repeat(shared, len(pos), axis=0)
    np.testing.assert_array_equal(
        sweep(kernels.compute_sauc, shared, pos, neg), sweep(kernels.compute_sauc, repeated, pos, neg)
    )


@pytest.mark.parametrize("name", SWEEPS)
@given(tally=tallies(max_lines=1), padding=st.integers(1, 3))
@settings(max_examples=20, deadline=None)
def test_padding_changes_nothing(name, tally, padding):
    kernel, _ = SWEEPS[name]
    padded = [np.pad(each, ((0, 0), (0, padding))) for each in tally]
    np.testing.assert_array_equal(sweep(kernel, *padded), sweep(kernel, *tally))


@pytest.mark.parametrize("name", SWEEPS)
def test_one_class_alone_gives_nan(name):
    kernel, _ = SWEEPS[name]
    counts, none = np.array([[1.0, 2.0]]), np.zeros((1, 2))
    values = np.array([[0.8, 0.2]])
    assert np.isnan(sweep(kernel, values, counts, none)).all()
    assert np.isnan(sweep(kernel, values, none, counts)).all()


def test_counts_may_be_whole_numbers_of_any_type():
    out = np.empty(1)
    kernels.compute_auc(np.array([[1, 0, 1]]), np.array([[0, 2, 0]]), out)
    assert out[0] == 0.5


def test_totals_add_up_one_row():
    assert kernels.sum_counts(np.array([1, 2, 3], dtype=np.uint8)) == 6.0
