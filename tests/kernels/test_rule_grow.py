"""The kernels are compared with tests/reference/rules.py, which tries each condition by masks."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from fairtrial.kernels.rule_grow import find_best_length, find_covered_rows, grow_rule
from tests.reference import rules as reference


@st.composite
def tables(draw):
    """Columns with few values and gaps, some nominal; some rows, and which rows are positive."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    d, n, width = draw(st.integers(1, 4)), draw(st.integers(1, 25)), draw(st.integers(1, 8))
    values = rng.integers(width, size=(d, n)).astype(float)
    values[rng.random((d, n)) < draw(st.sampled_from([0, 0.2, 1]))] = np.nan
    sizes = np.where(rng.random(d) < 0.4, width, 0).astype(np.intp)
    rows = rng.permutation(n)[: draw(st.integers(0, n))].astype(np.intp)
    return values, sizes, rows, rng.random(n) < draw(st.sampled_from([0, 0.3, 0.7, 1])), rng.random(d) < 0.2


def grown(values, sizes, rows, positive, used, least):
    orders = np.argsort(values, axis=1, kind="stable").astype(np.intp)
    known = (~np.isnan(values)).sum(axis=1).astype(np.intp)
    return grow_rule(values, orders, known, sizes, rows, positive, used, least)


@given(tables(), st.sampled_from([0.0, 1.0, 2.0, 5.0]))
def test_a_rule_grows_as_the_reference(table, least):
    found = list(zip(*(part.tolist() for part in grown(*table, least)), strict=True))
    assert found == reference.grow(*table, least)


@given(tables(), st.booleans())
def test_a_rule_is_cut_back_as_the_reference(table, whole):
    values, sizes, rows, positive, used = table
    everything = np.arange(values.shape[1])
    conditions = grown(values, sizes, everything, positive, used, 0.0)
    condition_list = list(zip(*(part.tolist() for part in conditions), strict=True))
    assert find_best_length(values, rows, positive, *conditions, whole) == reference.kept_length(
        values, rows, positive, condition_list, whole
    )


@given(tables())
def test_rows_are_covered_where_all_conditions_hold(table):
    values, sizes, rows, positive, used = table
    conditions = grown(values, sizes, rows, positive, used, 0.0)
    condition_list = zip(*(part.tolist() for part in conditions), strict=True)
    expected = np.all([np.ones(values.shape[1], bool), *(reference.mask(values, each) for each in condition_list)], axis=0)
    np.testing.assert_array_equal(find_covered_rows(values, rows, *conditions), expected[rows])


def test_the_gain_of_a_first_condition():
    """Of 4 positives among 8 the first 3 stand alone: 3 (log2(4/4) - log2(5/9)) beats 4 (log2(5/6) - log2(5/9))."""
    values = np.array([[1.0, 2, 3, 4, 5, 6, 7, 8]])
    positive = np.array([1, 1, 1, 0, 1, 0, 0, 0], dtype=bool)
    columns, kinds, cuts = grown(values, np.zeros(1, np.intp), np.arange(8), positive, np.zeros(1, bool), 2.0)
    assert (columns.tolist(), kinds.tolist(), cuts.tolist()) == ([0], [0], [3.0])
    assert 3 * np.log2(9 / 5) > 4 * np.log2(9 / 6)


@pytest.mark.parametrize(("whole", "length"), [(False, 1), (True, 0)])
def test_both_measures_of_pruning(whole, length):
    """Covered: 1 of 1 (2/3) against 5 of 8 (6/10). All: 4 of 8 right against 6/10."""
    values = np.array([[1.0, 2, 2, 2, 2, 2, 2, 2]])
    positive = np.array([1, 1, 1, 1, 1, 0, 0, 0], dtype=bool)
    condition = np.zeros(1, np.intp), np.zeros(1, np.intp), np.ones(1)
    assert find_best_length(values, np.arange(8), positive, *condition, whole) == length
