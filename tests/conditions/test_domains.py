import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy.stats import chisquare, kstest

from fairtrial.conditions.attribute_noise import Choice, Range, find_domain
from fairtrial.conditions.cells import read_table
from fairtrial.errors import InputError

COUNT = 6000


@given(st.integers(-5, 5), st.integers(1, 5), st.lists(st.integers(-12, 12), min_size=1, max_size=20), st.integers(0, 99))
def test_another_whole_number_is_whole_inside_and_different(low, span, old, seed):
    old = np.array(old, dtype=float)
    new = Range(low, low + span, True).draw_other(old, np.random.default_rng(seed))
    assert ((new >= low) & (new <= low + span) & (new == np.floor(new)) & (new != old)).all()


def test_another_whole_number_is_uniform_over_the_rest():
    new = Range(0, 4, True).draw_other(np.full(COUNT, 2.0), np.random.default_rng(1))
    counts = np.bincount(new.astype(int), minlength=5)
    assert counts[2] == 0
    assert chisquare(counts[[0, 1, 3, 4]]).pvalue > 0.01


def test_another_number_is_uniform_on_the_range():
    new = Range(-1.0, 3.0, False).draw_other(np.zeros(COUNT), np.random.default_rng(2))
    assert kstest(new, "uniform", (-1.0, 4.0)).pvalue > 0.01


def test_another_number_differs_even_where_floats_are_sparse():
    low, high = np.float32(1.0), np.nextafter(np.float32(1.0), np.float32(2.0))
    old = np.array([low, high] * 50, dtype=np.float64)
    new = Range(float(low), float(high), False).draw_other(old, np.random.default_rng(3), np.float32)
    assert (new != old).all()
    assert set(new) == {float(low), float(high)}
    widest = Range(-1.7e308, 1.7e308, False).draw_other(np.zeros(100), np.random.default_rng(4))
    assert np.isfinite(widest).all()


def test_another_value_is_uniform_over_the_rest():
    new = Choice(("a", "b", "c", "d")).draw_other(["b"] * COUNT, np.random.default_rng(5))
    counts = pd.Series(new).value_counts()
    assert set(counts.index) == {"a", "c", "d"}
    assert chisquare(counts).pvalue > 0.01
    foreign = Choice(("a", "b")).draw_other(["z"] * 100, np.random.default_rng(6))
    assert set(foreign) == {"a", "b"}
    assert Choice(("a", "b")).draw_other([], np.random.default_rng(6)) == []


def test_domains_follow_the_data_or_what_is_given():
    X = pd.DataFrame({"n": [1.0, 4.0, np.nan], "f": [0.5, 1.5, 1.0], "c": pd.Categorical(["x", "y", "x"], ["x", "y", "z"])})
    table = read_table(X.assign(one=7.0, none=np.nan))
    assert find_domain(table, 0).__dict__ == {"low": 1.0, "high": 4.0, "whole": True}
    assert find_domain(table, 1).__dict__ == {"low": 0.5, "high": 1.5, "whole": False}
    assert find_domain(table, 2).values == ("x", "y")
    assert find_domain(table, 3) is None
    assert find_domain(table, 4) is None
    assert find_domain(table, 0, (0.5, 9.5)).__dict__ == {"low": 1.0, "high": 9.0, "whole": True}
    assert find_domain(table, 2, ["x", "y", "z"]).values == ("x", "y", "z")
    assert find_domain(table, 3, (0, 10)).high == 10


def test_huge_floats_are_not_counts():
    assert not find_domain(read_table([[1e300], [2e300]]), 0).whole


@pytest.mark.parametrize(
    ("place", "given_range", "message"),
    [
        (0, (3, 1), r"ranges.*\(3, 1\)"),
        (0, (1.2, 1.8), r"ranges.*\(1\.2, 1\.8\)"),
        (0, (1, 2, 3), r"ranges.*\(1, 2, 3\)"),
        (0, (0, np.inf), "ranges.*inf"),
        (0, "ab", "ranges"),
        (1, ["x"], r"ranges.*\['x'\]"),
        (1, "xy", "ranges.*'xy'"),
    ],
)
def test_wrong_ranges(place, given_range, message):
    table = read_table([[1, "x"], [2, "y"]])
    with pytest.raises(InputError, match=message):
        find_domain(table, place, given_range)


def test_within():
    assert Range(0, 5, True).clip(np.array([-3.0, 2.6, 9.0])).tolist() == [0, 3, 5]
    assert Range(0, 5, False).clip(np.array([-3.0, 2.6, 9.0])).tolist() == [0, 2.6, 5]
