"""Columns of score files: separators, missing cells, and errors that name the position of a bad cell."""

import math

import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.significance.reading import read_columns_file, read_columns_frame


def test_semicolons_and_decimal_commas(tmp_path):
    file = tmp_path / "s.csv"
    file.write_text("set;tree;bayes\niris;0,9;0,8\nwine;0,7;\n", encoding="utf-8-sig")
    columns = read_columns_file(file)
    assert columns.names == ["set", "tree", "bayes"]
    assert columns.read_numbers(1).tolist() == [0.9, 0.7]
    assert math.isnan(columns.read_numbers(2)[1])


def test_tabs_by_name(tmp_path):
    file = tmp_path / "s.tsv"
    file.write_text("set\ta,b\tc\niris\t1\t2\n")
    assert read_columns_file(file).names == ["set", "a,b", "c"]


def test_empty_columns_at_the_edge_are_dropped(tmp_path):
    file = tmp_path / "s.csv"
    file.write_text("set,a,b,\niris,1,2,\nwine,3,4,\n")
    assert read_columns_file(file).names == ["set", "a", "b"]


@pytest.mark.parametrize("cell", ["", "NA", " nan ", "?", "-", "N/A", "null"])
def test_missing_cells(cell):
    assert math.isnan(read_columns_frame(pd.DataFrame({"a": ["1", cell]})).read_numbers(0)[1])


@pytest.mark.parametrize("cell", ["high", "1_0", "85 %", "inf", True, "0,5"])
def test_bad_cells_are_named_with_their_position(cell):
    frame = pd.DataFrame({"a": [1, cell]}, index=["iris", "wine"], dtype=object)
    with pytest.raises(InputError, match="row wine, column 'a'"):
        read_columns_frame(frame).read_numbers(0)


def test_a_line_that_is_too_short(tmp_path):
    file = tmp_path / "s.csv"
    file.write_text("set,a,b\niris,1,2\n\nwine,3\n")
    with pytest.raises(InputError, match="line 4"):
        read_columns_file(file)


def test_known_index_names_become_columns():
    frame = pd.DataFrame({"a": [1.0, 2], "b": [2.0, 1]}, index=pd.Index(["iris", "wine"], name="dataset"))
    assert read_columns_frame(frame).names == ["dataset", "a", "b"]
    many = frame.assign(fold=[1, 2]).set_index("fold", append=True)
    assert read_columns_frame(many).names == ["dataset", "fold", "a", "b"]


def test_nullable_numbers():
    frame = pd.DataFrame({"a": pd.array([0.5, None], dtype="Float64")})
    np.testing.assert_array_equal(read_columns_frame(frame).read_numbers(0), [0.5, np.nan])


def test_broken_files(tmp_path):
    broken = tmp_path / "s.parquet"
    broken.write_bytes(b"no parquet")
    with pytest.raises(InputError, match=r"s\.parquet"):
        read_columns_file(broken)
    latin = tmp_path / "s.csv"
    latin.write_bytes("set,a\né,1\n".encode("latin-1"))
    assert read_columns_file(latin).columns[0] == ["é"]  # Latin-1 is detected
