"""Sums of all orders of a row equal those of itertools."""

from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.kernels.significance import add_row, set_next_order


@given(st.lists(st.integers(-3, 3), min_size=2, max_size=5))
@settings(max_examples=25)
def test_orders_are_listed_once_and_ascend(row):
    expected = sorted(set(permutations(row)))
    order = np.array(sorted(row))
    found = [tuple(order)]
    for _ in expected[1:]:
        set_next_order(order)
        found.append(tuple(order))
    assert found == expected


@given(st.lists(st.lists(st.integers(-4, 4), min_size=4, max_size=4), min_size=2, max_size=4))
@settings(max_examples=25)
def test_sums_and_probabilities_equal_the_list_of_all_orders(rows):
    expected = Counter({tuple(sorted(rows[0])): Fraction(1)})
    sums, chances = np.array([sorted(rows[0])]), np.ones(1)
    for row in rows[1:]:
        orders = set(permutations(row))
        added = Counter()
        for known, chance in expected.items():
            for order in orders:
                added[tuple(sorted(a + b for a, b in zip(known, order, strict=True)))] += chance / len(orders)
        expected = added
        # Sums of one table have equal totals, so the codes of sorted sums order them like tuples.
        sums, chances, codes = add_row(sums, chances, np.array(sorted(row)), len(orders), len(expected))
        listed = list(map(tuple, sums.tolist()))
        assert [listed[i] for i in np.argsort(codes)] == sorted(expected)
        assert chances.tolist() == pytest.approx([float(expected[each]) for each in listed])


def test_more_sums_than_the_hash_table_has_at_first():
    """Powers of 5 give different sums for almost all of the 6! orders."""
    row = np.array([0, 1, 5, 25, 125, 625])
    sums, chances, codes = add_row(row[None] * 2, np.ones(1), row, 720, 720)
    assert len(sums) == len(set(codes.tolist())) == 720
    again, chances, codes = add_row(sums, chances, row, 720, 720 * 720)
    assert len(again) == len({tuple(each) for each in again.tolist()}) > 2048
    assert chances.sum() == pytest.approx(1)
    np.testing.assert_array_equal(again[np.argsort(codes)], np.unique(again, axis=0))


def test_nothing_is_returned_beyond_the_limit():
    row = np.array([-2, 0, 2])
    found = add_row(row[None], np.ones(1), row, 6, 10)[0]
    assert len(found) > 1
    assert not len(add_row(row[None], np.ones(1), row, 6, len(found) - 1)[0])
