import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from fairtrial.data.dataset import convert_classes, convert_columns
from fairtrial.errors import InputError


def kinds(X, nominal=None):
    return ["number" if kind == np.float64 else kind.categories.tolist() for kind in convert_columns(X, nominal).dtypes]


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"a": [1, 2], "b": ["y", None]}),
        pl.DataFrame({"a": [1, 2], "b": ["y", None]}),
        pa.table({"a": [1, 2], "b": ["y", None]}),
        np.array([[1, "y"], [2, None]], dtype=object),
        [[1, "y"], [2, None]],
    ],
    ids=["pandas", "polars", "arrow", "array", "lists"],
)
def test_any_table_has_the_same_types(X):
    assert kinds(X) == ["number", ["y"]]


def test_kinds_of_columns():
    frame = pd.DataFrame(
        {
            "small": np.array([1, 2], dtype=np.int8),
            "nullable": pd.array([1, None], dtype="Int64"),
            "flag": [True, False],
            "level": pd.Categorical(["low", "high"], categories=["low", "mid", "high"]),
            "mixed": [1, "a"],
            "when": pd.to_datetime(["2001-04-03T12:12:12", None]),
            "zone": pd.to_datetime(["2001-04-03T14:12:12+02:00", None]),
            "span": pd.to_timedelta([90, None], unit="s"),
        }
    )
    typed = convert_columns(frame)
    assert kinds(frame) == ["number", "number", [False, True], ["low", "mid", "high"], [1, "a"], "number", "number", "number"]
    assert typed.iloc[0, 5:].tolist() == [986299932.0, 986299932.0, 90.0]
    assert typed.iloc[1, [1, 5, 6, 7]].isna().all()


def test_dates_far_away_and_parts_of_seconds():
    days = pa.table({"day": pa.array([datetime.date(9999, 12, 31), datetime.date(1000, 1, 1)])}).cast(
        pa.schema([("day", pa.timestamp("ms"))])
    )
    assert convert_columns(days)["day"].tolist() == [253402214400, -30610224000]  # date -u -d ... +%s
    parts = [
        datetime.datetime(2001, 4, 3, 12, 12, 12, 123457, tzinfo=datetime.UTC),
        datetime.datetime(1969, 12, 31, 23, 59, 59, 1, tzinfo=datetime.UTC),
    ]
    for unit in ("us", "ns"):
        column = pa.table({"when": pa.array(parts, pa.timestamp(unit))})
        assert convert_columns(column)["when"].tolist() == [each.timestamp() for each in parts]
    assert convert_columns(pa.table({"when": pa.array([5], pa.timestamp("ns"))}))["when"].tolist() == [5e-9]


def test_columns_are_made_nominal_by_name_or_place():
    frame = pd.DataFrame({"a": [2.0, np.nan], "b": [1, 0]})
    assert kinds(frame, ["a"]) == [[2.0], "number"]
    assert kinds(frame, [1]) == kinds(frame, [-1]) == ["number", [0, 1]]
    for wrong in (["c"], [2]):
        with pytest.raises(InputError, match="nominal"):
            convert_columns(frame, wrong)


def test_sparse_matrices_are_filled():
    assert convert_columns(sparse.csr_array(np.eye(2))).to_numpy().tolist() == [[1, 0], [0, 1]]


def test_nothing_is_shared():
    array = np.array([[1.0], [2.0]])
    frame = pd.DataFrame({"a": [1.0], "b": pd.Categorical(["x"], categories=["x", "y"])})
    from_array, from_frame = convert_columns(array), convert_columns(frame)
    array[0, 0] = 9
    frame.iloc[0, 0] = 9
    frame.loc[0, "b"] = "y"
    assert from_array.iloc[0, 0] == 1
    assert from_frame.iloc[0].tolist() == [1, "x"]


@pytest.mark.parametrize(
    ("X", "value"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "'a' twice"),
        (pd.DataFrame([[1, 2]], columns=["1", 1]), "'1' twice"),
        ([1, 2], "X "),
        ([[1, 2], [3]], "X "),
        (np.array([[1 + 2j]]), r"\(1\+2j\)"),
        (pd.DataFrame({"a": [[1], [2]]}), r"'a'.*got \[1\]"),
    ],
)
def test_invalid_tables_are_refused(X, value):
    with pytest.raises(InputError, match=value):
        convert_columns(X)


@pytest.mark.parametrize(
    ("y", "classes", "expected"),
    [
        (["b", "a"], None, ["a", "b"]),
        ([2, 1, 2], None, [1, 2]),
        ([True, False], None, [False, True]),
        (["b", "a"], ["b", "c", "a"], ["b", "c", "a"]),
        (pd.Series(["b"], dtype=pd.CategoricalDtype(["c", "b"])), None, ["c", "b"]),
        (pl.Series(["b", "a"]), None, ["a", "b"]),
        (np.array([["b"], ["a"]]), None, ["a", "b"]),
    ],
)
def test_classes_keep_the_declared_order(y, classes, expected):
    found = convert_classes(y, classes)
    assert found.cat.categories.tolist() == expected
    assert found.tolist() == np.asarray(y).ravel().tolist()


def test_the_class_has_a_name():
    assert convert_classes(["a"]).name == "class"
    assert convert_classes(pd.Series(["a"], name=0)).name == "0"
    assert convert_classes(pd.Series(["a"], name="k"), target="t").name == "t"


@pytest.mark.parametrize(
    ("y", "classes", "value"),
    [
        (["a", None], None, "y .*row 1"),
        ([1.0, np.nan], None, "y .*row 1"),
        (["a", "z"], ["a", "b"], "y .*'z'"),
        (["a"], ["a", "a"], r"classes.*\['a', 'a'\]"),
        (["a"], ["a", None], r"classes.*\['a', None\]"),
        ([], None, "y "),
        (np.array([{}, {}], dtype=object), None, "y .*{}"),
    ],
)
def test_wrong_classes_are_refused(y, classes, value):
    with pytest.raises(InputError, match=value):
        convert_classes(y, classes)
