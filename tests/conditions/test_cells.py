import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

from fairtrial.conditions.cells import (
    compare_values,
    find_column_index,
    find_column_indices,
    get_float_type,
    get_values,
    read_table,
    replace_cells,
    replace_values,
)
from fairtrial.errors import InputError

MIXED = pd.DataFrame(
    {
        "float": [1.5, np.nan, 3.5],
        "int": [1, 2, 3],
        "small": np.array([1, 2, 3], dtype=np.int8),
        "single": np.array([1, 2, 3], dtype=np.float32),
        "nullable": pd.array([1, None, 3], dtype="Int64"),
        "bool": [True, False, True],
        "text": ["x", "y", None],
        "string": pd.array(["x", "y", None], dtype="string"),
        "kind": pd.Categorical(["x", "y", "x"], ["x", "y", "z"]),
        "day": pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03"]),
    },
    index=[3, 1, 2],
)


@pytest.mark.parametrize("place", range(MIXED.shape[1]), ids=MIXED.columns)
def test_a_frame_keeps_the_type_of_each_column(place):
    before = MIXED.copy(deep=True)
    new = replace_cells(MIXED, {place: (np.array([0]), get_values(MIXED, place)[np.array([2])])})
    pd.testing.assert_frame_equal(MIXED, before)
    assert (new.dtypes == MIXED.dtypes).all()
    assert new.index.equals(MIXED.index)
    expected = MIXED.iloc[:, place].tolist()
    expected[0] = expected[2]
    assert str(new.iloc[:, place].tolist()) == str(expected)
    pd.testing.assert_frame_equal(new.drop(columns=new.columns[place]), MIXED.drop(columns=MIXED.columns[place]))


@pytest.mark.parametrize("place", range(MIXED.shape[1]), ids=MIXED.columns)
def test_a_frame_loses_values(place):
    new = replace_cells(MIXED, {place: (np.array([0, 2]), None)})
    name = MIXED.columns[place]
    missing = MIXED.isna().to_numpy()
    missing[[0, 2], place] = True
    assert np.array_equal(new.isna().to_numpy(), missing)
    becomes = {"int": "float64", "small": "float64", "bool": "object"}.get(name, MIXED[name].dtype)
    assert new[name].dtype == becomes


def test_frames_with_a_name_twice():
    X = pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    assert replace_cells(X, {1: (np.array([0]), [9])}).to_numpy().tolist() == [[1, 9], [3, 4]]


@pytest.mark.parametrize("kind", [np.int32, np.uint8, np.float32, np.float64, object])
def test_a_matrix_keeps_its_type(kind):
    X = np.array([[1, 2], [3, 4]], dtype=kind)
    new = replace_cells(X, {0: (np.array([1]), np.array([7.0]))})
    assert new.dtype == X.dtype
    assert new.tolist() == [[1, 2], [7, 4]]
    assert X.tolist() == [[1, 2], [3, 4]]
    lost = replace_cells(X, {0: (np.array([1]), None)})
    assert lost.dtype == (object if kind is object else np.float32 if kind is np.float32 else np.float64)
    assert pd.isna(lost[1, 0])


def test_matrices_of_text_and_booleans():
    X = np.array([["a", "b"], ["c", "d"]])
    assert replace_cells(X, {0: (np.array([0]), ["longer"])}).tolist() == [["longer", "b"], ["c", "d"]]
    assert replace_cells(X, {0: (np.array([0]), None)}).tolist() == [[None, "b"], ["c", "d"]]
    assert replace_cells(np.array([[True], [False]]), {0: (np.array([0]), None)}).tolist() == [[None], [False]]


def test_lists_and_tuples_of_rows():
    X = [[1, 2.5, "a"], (3, 4, "b")]
    new = replace_cells(
        X, {0: (np.array([1]), np.array([8.0])), 1: (np.array([0, 1]), np.array([0.5, 1.5])), 2: (np.array([0]), None)}
    )
    assert new == [[1, 0.5, None], (8, 1.5, "b")]
    assert type(new[1][0]) is int
    assert X == [[1, 2.5, "a"], (3, 4, "b")]


def test_how_tables_are_read():
    table = read_table([[1, "b", True], [None, "a", False], [2.5, "b", True]])
    assert table.nominal.tolist() == [False, True, True]
    assert np.isnan(table.values[1, 0])
    assert table.categories[1] == ("a", "b")
    assert read_table(np.array([[1, "b"], [2, "a"]], dtype=object)).nominal.tolist() == [False, True]
    assert read_table(np.eye(2)).numeric.all()
    assert read_table(np.array([["a"], ["b"]])).nominal.all()


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros(3), r"X .*\(3,\)"),
        ([[1], [2, 3]], "X .*length"),
        ([1, 2], "X .*length"),
        (pl.DataFrame({"a": [1]}), r"got DataFrame: pass X.to_pandas\(\)"),
        (csr_array(np.eye(2)), r"got csr_array: pass X.toarray\(\)"),
        (np.ma.array([[1.0]], mask=[[True]]), "got MaskedArray"),
        ([[1.0, np.inf]], "column '1' at row 0"),
        (np.zeros((2, 0)), "X .*got 0"),
    ],
)
def test_objects_that_are_not_tables_are_refused(X, message):
    with pytest.raises(InputError, match=message):
        read_table(X)


def test_columns_are_named_or_numbered():
    assert find_column_indices(MIXED, None) == list(range(10))
    assert find_column_indices(MIXED, ["kind", 0, -1]) == [8, 0, 9]
    assert find_column_indices([[1, 2, 3]], [2]) == [2]
    assert find_column_index(np.eye(3), 1, "by") == 1
    with pytest.raises(InputError, match=r"columns.*'knd'.*'kind'"):
        find_column_indices(MIXED, ["knd"])
    with pytest.raises(InputError, match=r"columns.*'kind'.*\['kind'\]"):
        find_column_indices(MIXED, "kind")
    with pytest.raises(InputError, match=r"columns.*\['kind', 8\]"):
        find_column_indices(MIXED, ["kind", 8])
    with pytest.raises(InputError, match="got 3"):
        find_column_indices(np.eye(3), [3])
    with pytest.raises(InputError, match="columns"):
        find_column_indices(MIXED, [])


def test_errors_name_the_extension_type_that_a_value_does_not_fit():
    for column, value in [(pd.array([1, 2], dtype="Int8"), 300), (pd.array([True], dtype="boolean"), 2)]:
        with pytest.raises(InputError, match=str(column.dtype)):
            replace_values(column, np.array([0]), [value])


def test_large_integers_stay_distinct():
    X = np.array([[2**60], [2**60 + 1]])
    assert compare_values(X[:, 0], X[::-1, 0], np.array([0, 1])).all()
    assert not compare_values(X[:, 0], X[:, 0], np.array([0, 1])).any()


def test_kinds_of_floats():
    assert get_float_type(np.zeros(1, dtype=np.float32)) == np.float32
    assert get_float_type(pd.array([1.0], dtype="Float32")) == np.float32
    assert get_float_type(np.zeros(1, dtype=int)) == np.float64
    assert replace_values(np.array([1.0, 2.0]), np.array([0]), None).tolist()[1] == 2.0
