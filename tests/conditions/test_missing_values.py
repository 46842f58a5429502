import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

from fairtrial.conditions import MissingValues
from fairtrial.conditions.missing_values import compute_rank_fractions
from fairtrial.errors import InputError

N = 2000
RNG = np.random.default_rng(3)
X = pd.DataFrame({"u": RNG.normal(size=N), "v": RNG.normal(size=N), "w": pd.Categorical(RNG.choice(list("pq"), N))})


def rates(mask, column):
    """The share lost in each fifth of a column, from the smallest values to the largest."""
    fifth = (column.rank(method="first").to_numpy() - 1) * 5 // N
    return np.array([mask[fifth == i].mean() for i in range(5)])


def test_completely_at_random():
    changed = MissingValues(0.2).apply(X, rng=1)
    assert changed.mask.sum(axis=0).tolist() == [400, 400, 400]
    assert changed.level == 0.2
    assert chisquare(rates(changed.mask[:, 0], X["u"]) * 400).pvalue > 0.01
    assert chisquare(rates(changed.mask[:, 0], X["v"]) * 400).pvalue > 0.01


def test_at_random_by_another_column():
    changed = MissingValues(0.2, "mar", by="v").apply(X, rng=2)
    assert changed.mask.sum(axis=0).tolist() == [400, 0, 400]
    found = rates(changed.mask[:, 0], X["v"])
    assert (np.diff(found) > 0).all()
    assert chisquare(rates(changed.mask[:, 0], X["u"]) * 400).pvalue > 0.01
    low = rates(MissingValues(0.2, "mar", by=1, tail="low").apply(X, rng=2).mask[:, 0], X["v"])
    assert (np.diff(low) < 0).all()


def test_not_at_random_by_the_value_itself():
    changed = MissingValues(0.2, "mnar").apply(X, rng=3)
    assert (np.diff(rates(changed.mask[:, 0], X["u"])) > 0).all()
    assert changed.mask[X["w"] == "q", 2].mean() > changed.mask[X["w"] == "p", 2].mean()
    top = MissingValues(0.2, "mnar", odds=float("inf")).apply(X, rng=3)
    assert set(np.flatnonzero(top.mask[:, 0])) == set(np.argsort(X["u"].to_numpy())[-400:])
    even = MissingValues(0.2, "mnar", odds=1).apply(X, rng=3)
    assert chisquare(rates(even.mask[:, 0], X["u"]) * 400).pvalue > 0.01


def test_odds_are_those_of_the_first_draw():
    rows = [[0.0], [1.0]]
    hits = sum(MissingValues(0.5, "mnar", odds=4).apply(rows, rng=seed).mask[1, 0] for seed in range(600))
    assert chisquare([hits, 600 - hits], [480, 120]).pvalue > 0.01


def test_the_table_as_a_whole():
    changed = MissingValues(0.1, spread="table").apply(X, rng=4)
    assert changed.mask.sum() == 600
    assert len(set(changed.mask.sum(axis=0))) > 1


def test_types():
    small = pd.DataFrame(
        {
            "i": [1, 2],
            "f": [1.0, 2.0],
            "c": pd.Categorical(["a", "b"]),
            "o": np.array(["a", "b"], object),
            "n": pd.array([1, 2], "Int64"),
        }
    )
    changed = MissingValues(1.0).apply(small).X
    assert changed.dtypes.astype(str).tolist() == ["float64", "float64", "category", str(small["o"].dtype), "Int64"]
    assert changed.isna().all(axis=None)
    assert list(changed["c"].cat.categories) == ["a", "b"]
    assert MissingValues(0.5).apply(np.array([[1], [2]]), rng=1).X.dtype == np.float64
    assert MissingValues(0.5).apply([[1, "a"], [2, "b"]], rng=1).X.count([None, None]) <= 1


def test_what_is_missing_already_is_not_counted():
    holed = X.copy()
    holed.loc[:999, "u"] = np.nan
    changed = MissingValues(0.5, columns=["u"]).apply(holed, rng=1)
    assert changed.mask.sum() == 500
    assert not changed.mask[:1000].any()
    assert changed.X["u"].isna().sum() == 1500
    by_holed = MissingValues(0.5, "mar", by="u").apply(holed, rng=1)
    assert by_holed.mask.sum(axis=0).tolist() == [0, 1000, 1000]
    nothing = MissingValues(0.5).apply(np.full((3, 1), np.nan))
    assert nothing.level == 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"mechanism": "mcra"}, "mechanism.*'mcra'.*'mcar'"),
        ({"mechanism": "mar"}, "by .*None"),
        ({"by": "u"}, "by .*'u'.*'mcar'"),
        ({"odds": 0.5}, r"odds.*0\.5"),
        ({"odds": float("nan")}, "odds.*nan"),
        ({"tail": "up"}, "tail.*'up'"),
        ({"spread": "row"}, "spread.*'row'"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        MissingValues(0.1, **parameters)


def test_the_column_by_loses_no_values():
    with pytest.raises(InputError, match=r"columns.*'u'"):
        MissingValues(0.1, "mar", by="u", columns=["u", "v"]).apply(X)
    with pytest.raises(InputError, match=r"X .*'u'"):
        MissingValues(0.1, "mar", by="u").apply(X[["u"]])
    with pytest.raises(InputError, match=r"by .*'z'"):
        MissingValues(0.1, "mar", by="z").apply(X)


def test_rank_fractions():
    assert compute_rank_fractions(np.array([5.0])).tolist() == [0.5]
    assert compute_rank_fractions(np.array([2.0, 1.0, 3.0])).tolist() == [0.5, 0.0, 1.0]


def test_no_columns_at_all_are_an_error():
    with pytest.raises(InputError, match="columns"):
        MissingValues(0.5, columns=[]).apply([[1.0, 2.0], [3.0, 4.0]])
