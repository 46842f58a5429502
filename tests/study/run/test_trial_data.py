"""Rows are picked as pandas would pick them, and nobody can reach the data through what is handed out."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.data import Dataset
from fairtrial.study.run.trial_data import TrialData, _to_matrix

NUMBERS = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "age": [5.0, np.nan, 7.0, 8.0]})
MIXED = NUMBERS.assign(hue=pd.Categorical(["red", "blue", None, "red"], categories=["red", "blue", "green"]))


def test_numbers_are_one_matrix_with_gaps():
    data = TrialData.from_dataset(Dataset.from_table(NUMBERS, ["a", "b", "a", "b"]))
    assert data.frame is None
    assert not data.finite
    np.testing.assert_array_equal(data.take_rows(np.array([3, 1, 1])), NUMBERS.to_numpy()[[3, 1, 1]])


def test_nominal_columns_stay_a_frame_whose_rows_count_from_0():
    data = TrialData.from_dataset(Dataset.from_table(MIXED, ["a", "b", "a", "b"]))
    assert data.matrix is None
    assert not data.finite
    rows = np.array([2, 0, 0])
    pd.testing.assert_frame_equal(data.take_rows(rows), MIXED.iloc[rows].reset_index(drop=True))


@pytest.mark.parametrize("table", [NUMBERS, MIXED])
def test_what_is_handed_out_is_a_copy(table):
    dataset = Dataset.from_table(table, ["a", "b", "a", "b"])
    before, data = dataset.content_hash, TrialData.from_dataset(dataset)
    for _ in range(2):
        picked = data.take_rows(np.arange(4))
        assert np.asarray(picked, dtype=object)[0, 0] == 1.0
        if isinstance(picked, np.ndarray):
            picked[:] = -1.0
        else:
            picked.iloc[:, 0] = -1.0
            picked["hue"].array[0] = "green"
    again = Dataset.from_table(dataset.X, dataset.y)
    assert again.content_hash == before
    assert data.take_rows(np.arange(4)).shape == table.shape
    assert np.asarray(data.take_rows(np.array([0])), dtype=object)[0, -1] == np.asarray(table, dtype=object)[0, -1]


def test_classes_declare_those_without_rows():
    dataset = Dataset.from_table(NUMBERS, ["b", "a", "b", "a"], classes=["c", "b", "a"])
    data = TrialData.from_dataset(dataset)
    assert data.codes.tolist() == [1, 2, 1, 2]
    column = data.to_categorical(data.codes)
    assert list(column) == ["b", "a", "b", "a"]
    assert list(column.categories) == ["c", "b", "a"]


@pytest.mark.parametrize(
    ("labels", "kind"), [(["x", "long name"], "U"), ([3, 1], "i"), ([True, False], "b"), ([1.5, 2.0], "O"), (["a", "b\0"], "O")]
)
def test_labels_are_the_real_ones(labels, kind):
    given = np.array([labels[0], labels[1], labels[0], labels[1]], dtype=object)
    data = TrialData.from_dataset(Dataset.from_table(NUMBERS, given, classes=labels))
    assert data.labels.dtype.kind == kind
    assert data.labels.tolist() == labels
    assert data.labels[data.codes].tolist() == [labels[0], labels[1], labels[0], labels[1]]


def test_a_named_table_has_the_columns_of_the_data_set():
    data = TrialData.from_dataset(Dataset.from_table(NUMBERS, ["a", "b", "a", "b"]))
    assert list(data.to_frame(data.take_rows(np.array([0]))).columns) == ["size", "age"]
    frame = pd.DataFrame({"z": [1]})
    assert data.to_frame(frame) is frame


@pytest.mark.parametrize("table", [np.asfortranarray(np.eye(3)), pd.DataFrame(np.eye(3)).astype({0: int})])
def test_a_matrix_lies_row_after_row(table):
    matrix = _to_matrix(table)
    assert matrix.flags.c_contiguous
    assert matrix.dtype == np.float64
    np.testing.assert_array_equal(matrix, np.eye(3))


@pytest.mark.parametrize("table", [MIXED, np.array([["a"]]), pd.DataFrame({"flag": [True]})])
def test_nominal_columns_make_no_matrix(table):
    assert _to_matrix(table) is None
