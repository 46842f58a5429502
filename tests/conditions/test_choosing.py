import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st

from fairtrial.conditions.shift import (
    check_size,
    compute_inclusion_probabilities,
    divide_by_proportion,
    find_largest_total,
    resolve_size,
    sample_systematically,
    select_rows,
    take_rows,
)
from fairtrial.errors import InputError


def shares(seed, k):
    return np.random.default_rng(seed).dirichlet(np.ones(k))


@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(0, 500))
@settings(max_examples=100, deadline=None)
def test_apportioned_counts_sum_and_round(seed, k, n):
    wanted = shares(seed, k)
    counts = divide_by_proportion(wanted, n)
    assert counts.sum() == n
    assert (np.abs(counts - wanted * n) < 1 + 1e-6).all()


def test_apportioned_as_hamilton_did():
    """Hamilton's method, the textbook's Alabama paradox: shares 6/14, 6/14, 2/14 of 10 and of 11 seats."""
    votes = np.array([6, 6, 2]) / 14
    assert divide_by_proportion(votes, 10).tolist() == [4, 4, 2]
    assert divide_by_proportion(votes, 11).tolist() == [5, 5, 1]


@given(st.integers(0, 10_000), st.integers(1, 5))
@settings(max_examples=100, deadline=None)
def test_the_largest_total_can_be_had_and_one_more_cannot(seed, k):
    rng = np.random.default_rng(seed)
    wanted, available = shares(seed, k), rng.integers(1, 60, size=k)
    total = find_largest_total(wanted, available)
    assert (divide_by_proportion(wanted, total) <= available).all()
    assert ((total + 1) * wanted > available - 1e-6).any()


@given(st.integers(0, 10_000), st.integers(1, 30))
@settings(max_examples=100, deadline=None)
def test_inclusion_sums_to_the_size_and_keeps_proportions(seed, n):
    rng = np.random.default_rng(seed)
    weights = rng.exponential(size=n) ** 3 * (rng.random(n) < 0.8)
    size = int(rng.integers(0, int((weights > 0).sum()) + 1))
    chances = compute_inclusion_probabilities(weights, size)
    assert chances.sum() == pytest.approx(size)
    assert ((chances >= 0) & (chances <= 1 + 1e-12)).all()
    open_ = (chances < 1 - 1e-9) & (weights > 0)
    if size and open_.any():
        ratio = chances[open_] / weights[open_]
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)


@given(st.integers(0, 10_000), st.integers(1, 30))
@settings(max_examples=100, deadline=None)
def test_systematic_sampling_keeps_the_sum_of_the_chances(seed, n):
    rng = np.random.default_rng(seed)
    chances = rng.random(n)
    rows = sample_systematically(chances, rng)
    assert len(set(rows.tolist())) == len(rows)
    assert abs(len(rows) - chances.sum()) < 1
    whole = compute_inclusion_probabilities(chances, n // 2)
    assert len(sample_systematically(whole, rng)) == n // 2


def test_systematic_sampling_gives_each_row_its_chance():
    chances, rng = np.array([0.1, 0.9, 0.5, 1.0, 0.0, 0.5]), np.random.default_rng(1)
    kept = np.zeros(6)
    for _ in range(4000):
        kept[sample_systematically(chances, rng)] += 1
    np.testing.assert_allclose(kept / 4000, chances, atol=0.035)
    assert kept[3] == 4000
    assert kept[4] == 0


def test_more_rows_than_have_a_weight_are_refused():
    with pytest.raises(InputError, match=r"size.*2 rows"):
        compute_inclusion_probabilities(np.array([1.0, 0.0, 2.0]), 3)


def test_sizes():
    assert resolve_size(None, 10, 7) == 7
    assert resolve_size(4, 10, 7) == 4
    assert resolve_size(0.25, 10, 7) == 2
    for wrong in (0, -1, 0.0, 1.5, "all", True, np.nan):
        with pytest.raises(InputError, match="size"):
            check_size(wrong)
    check_size(None)
    check_size(np.int64(3))


def test_rows_are_taken_from_every_kind_of_table():
    rows = np.array([2, 0, 2])
    assert take_rows([1, 2, 3], rows) == [3, 1, 3]
    assert take_rows(("a", "b", "c"), rows) == ("c", "a", "c")
    assert take_rows(np.array([[1], [2], [3]]), rows).tolist() == [[3], [1], [3]]
    assert take_rows(pd.Series(["a", "b", "c"], index=[5, 6, 7]), rows).index.tolist() == [7, 5, 7]
    assert take_rows(pl.DataFrame({"a": [1, 2, 3]}), rows)["a"].to_list() == [3, 1, 3]


@pytest.mark.parametrize("form", ["coo", "csr", "csc", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("kind", ["matrix", "array"])
def test_rows_are_taken_from_every_sparse_form(form, kind):
    values = getattr(scipy.sparse, f"{form}_{kind}")(np.diag([1.0, 2.0, 3.0]))
    found = take_rows(values, np.array([2, 0, 2]))
    assert type(found) is type(values)
    assert found.toarray().tolist() == [[0, 0, 3], [1, 0, 0], [0, 0, 3]]


def test_the_mask_marks_who_is_not_there_exactly_once():
    changed = select_rows(np.arange(4)[:, None], list("abcd"), np.array([0, 2, 2]))
    assert changed.mask.tolist() == [False, True, True, True]
    assert changed.level == 0.75
    assert changed.y == ["a", "c", "c"]
    with pytest.raises(InputError, match="4 rows, got 0"):
        select_rows(np.arange(4)[:, None], None, np.array([], dtype=np.intp))
