"""Tables in memory as data sets."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fairtrial.data.dataset import Dataset
from fairtrial.data.frames import read_frame
from fairtrial.errors import InputError, SuspectInputWarning

COLUMNS = {"size": [1.5, None, 3.0], "zone": [7, 8, 7], "hue": ["red", "blue", None], "kind": ["a", "b", "a"]}
WANTED = Dataset.from_table(
    pd.DataFrame({"size": [1.5, np.nan, 3.0], "zone": [7.0, 8.0, 7.0], "hue": ["red", "blue", None]}),
    ["a", "b", "a"],
    target="kind",
)


class OnlyTheInterchangeProtocol:
    def __init__(self, frame):
        self.frame = frame

    def __dataframe__(self, *args, **kwargs):
        return self.frame.__dataframe__(*args, **kwargs)


class OnlyAnArrowStream:
    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS, index=["x", "y", "z"]),
        pd.DataFrame(COLUMNS).convert_dtypes(),
        pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
        pa.table(COLUMNS),
        pl.DataFrame(COLUMNS),
        pl.LazyFrame(COLUMNS),
        pl.DataFrame(COLUMNS).with_columns(pl.col("hue").cast(pl.Categorical)),
        OnlyAnArrowStream(pa.table(COLUMNS)),
        OnlyTheInterchangeProtocol(pa.table(COLUMNS)),
    ],
    ids=["pandas", "index", "nullable", "arrow types", "arrow", "polars", "lazy", "categorical", "stream", "interchange"],
)
def test_every_kind_of_frame_gives_the_same_data_set(frame):
    data = read_frame(frame)
    pd.testing.assert_frame_equal(data.X, WANTED.X, check_categorical=False)
    assert data.y.tolist() == WANTED.y.tolist()
    assert data.target == "kind"


def test_types_of_arrow_that_pandas_would_leave_as_objects():
    table = pa.table(
        {
            "price": pa.array([Decimal("1.25"), None], pa.decimal128(6, 2)),
            "day": pa.array([datetime.date(1970, 1, 2), None], pa.date32()),
            "wait": pa.array([datetime.timedelta(seconds=2), None], pa.duration("s")),
            "code": pa.array([5, 6]).dictionary_encode(),
            "kind": [True, False],
        }
    )
    data = read_frame(table)
    np.testing.assert_equal(data.X["price"].to_numpy(), [1.25, np.nan])
    np.testing.assert_equal(data.X["day"].to_numpy(), [86400, np.nan])
    np.testing.assert_equal(data.X["wait"].to_numpy(), [2, np.nan])
    assert data.X["code"].tolist() == [5, 6]
    assert data.nominal == ("code",)
    assert data.classes == (False, True)
    with pytest.raises(InputError, match=r"'a'.*got list"):
        read_frame(OnlyAnArrowStream(pa.table({"a": [[1], [2]], "b": [1, 2]})))


def test_declared_types():
    table = pd.DataFrame({"a": ["1", "2.5", None], "b": [1, 2, 3], "c": [0, 1, 0]})
    data = read_frame(table, numeric=["a"], nominal=["b"], target="c", drop=())
    np.testing.assert_equal(data.X["a"].to_numpy(), [1, 2.5, np.nan])
    assert data.X["b"].cat.categories.tolist() == [1, 2, 3]
    assert data.classes == (0, 1)
    assert read_frame(table, nominal=["c"]).classes == ("0", "1")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "kin"}, "target.*'kin'.*'kind'"),
        ({"nominal": ["sizes"]}, "nominal.*'sizes'.*'size'"),
        ({"numeric": "hue"}, "'hue'.*'red' at row 0"),
        ({"numeric": ["zone"], "nominal": ["zone"]}, "nominal or numeric.*'zone'"),
        ({"drop": ["size", "zone", "hue"]}, "2 columns.*got 1"),
        ({"target": "hue"}, "'hue'.*1 such row.*row 2"),
    ],
)
def test_faults(options, message):
    with pytest.raises(InputError, match=message):
        read_frame(pd.DataFrame(COLUMNS), **options)


def test_objects_that_are_not_frames_and_duplicate_names_are_refused():
    with pytest.raises(InputError, match="got list"):
        read_frame([[1, 2]])
    with pytest.raises(InputError, match="'a'"):
        read_frame(pd.DataFrame([[1, 2]], columns=["a", "a"]))


@pytest.mark.parametrize("values", [np.arange(25) / 3, [0.5, 1.5, 1.0], pd.Categorical([0.5, 1.0, 0.5])])
def test_a_class_of_fractions_warns(values):
    table = pd.DataFrame({"a": range(len(values)), "b": values})
    with pytest.warns(SuspectInputWarning, match="'b'.*target="):
        read_frame(table)
    read_frame(table, nominal=["b"])


@pytest.mark.parametrize("values", [np.arange(120), np.arange(120.0)])
def test_a_class_of_many_numbers_warns(values):
    table = pd.DataFrame({"a": range(len(values)), "b": values})
    with pytest.warns(SuspectInputWarning, match="'b'.*120.*target="):
        read_frame(table)


@pytest.mark.parametrize("values", [[1.0, -1.0, 1.0], list(range(30)), [f"{i}.5" for i in range(120)]])
def test_classes_that_are_whole_numbers_or_texts_are_read_without_a_warning(values):
    read_frame(pd.DataFrame({"a": range(len(values)), "b": values}))


@pytest.mark.parametrize("source", [[[1, 2]], (np.eye(2), [0, 1]), np.eye(2), pd.Series([1, 2]), pl.Series([1, 2])])
def test_objects_that_are_not_frames_are_refused_with_a_remedy(source):
    with pytest.raises(InputError, match=r"got \w+: .*Dataset\.from_table\(X, y\)"):
        read_frame(source)
