"""Tables in memory as data sets."""

import datetime
from collections import Counter
from decimal import Decimal
from itertools import chain

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from scipy import sparse
from sklearn import datasets
from sklearn.utils import Bunch

from fairtrial.data.dataset import Dataset, convert_classes, convert_columns
from fairtrial.data.folds import compute_row_keys, count_copies, match_rows
from fairtrial.data.frames import read_bunch, read_frame
from fairtrial.errors import InputError, SuspectInputWarning

# --- Frames ---
# Tables in memory as data sets.


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
        ({"target": "hue"}, "'hue'.*1 missing value.*row 2"),
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


# --- Bunches ---
# scikit-learn's bunches.


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits"])
@pytest.mark.parametrize("as_frame", [False, True])
def test_the_sets_of_scikit_learn(name, as_frame):
    bunch = getattr(datasets, f"load_{name}")(as_frame=as_frame)
    data = read_bunch(bunch, name=name)
    np.testing.assert_equal(data.X.to_numpy(), np.asarray(bunch.data))
    assert data.X.columns.tolist() == list(bunch.feature_names)
    assert data.y.tolist() == np.asarray(bunch.target_names)[np.asarray(bunch.target)].tolist()
    assert data.classes == tuple(np.asarray(bunch.target_names).tolist())


def test_a_bunch_as_fetch_openml_gives_it_names_its_target_column():
    target = pd.Series(pd.Categorical(["no", "yes", "no"], ["yes", "no", "never"]), name="outcome")
    bunch = Bunch(data=pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "x"]}), target=target, target_names=["outcome"])
    data = read_bunch(bunch)
    assert (data.target, data.classes, data.nominal) == ("outcome", ("yes", "no", "never"), ("b",))


def test_numbers_without_names_stay_numbers():
    data = read_bunch({"data": np.eye(3), "target": np.array([5, 7, 5])})
    assert data.classes == (5, 7)
    assert data.X.columns.tolist() == ["x0", "x1", "x2"]
    assert read_bunch({"data": np.eye(3), "target": np.array([5, 7, 5])}, drop=["x1"], nominal=["x0"]).nominal == ("x0",)


def test_faults_bunches():
    with pytest.raises(InputError, match=r"bunch.*got dict"):
        read_bunch({"data": [[1]]})
    with pytest.raises(InputError, match=r"bunch.*\(2, 2\)"):
        read_bunch({"data": np.eye(2), "target": np.eye(2)})


def test_a_bunch_of_measurements_warns():
    with pytest.warns(SuspectInputWarning, match="'class'.*214"):
        read_bunch(datasets.load_diabetes())


# --- Typing ---


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


# --- Matching ---


def parts(keys, folds, n_folds):
    """Test and training keys of folds that are right."""
    keys, folds = np.array(keys), np.array(folds)
    return [keys[folds == f] for f in range(n_folds)], [keys[folds != f] for f in range(n_folds)]


@st.composite
def right_folds(draw):
    n_folds = draw(st.integers(2, 5))
    keys = draw(st.lists(st.integers(0, 5), min_size=2 * n_folds, max_size=25))
    return (*parts(keys, [i % n_folds for i in range(len(keys))], n_folds), keys)


@given(right_folds())
def test_folds_that_are_right_are_recovered_with_all_duplicates(case):
    test_keys, train_keys, keys = case
    assert {key: int(count) for key, count in enumerate(count_copies(test_keys, train_keys)) if count} == dict(Counter(keys))
    places, kept = match_rows(test_keys, train_keys)
    tests, trains = places[: len(test_keys)], places[len(test_keys) :]
    assert sorted(chain(*tests)) == list(range(len(keys)))
    assert len(kept) == len(keys)
    for test, train in zip(tests, trains, strict=True):
        assert sorted(test + train) == list(range(len(keys)))


@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, 4), min_size=1), st.lists(st.integers(0, 4), min_size=1)), min_size=2, max_size=4
    )
)
def test_every_part_keeps_its_rows_whatever_the_folds(folds):
    test_keys, train_keys = ([np.array(pair[side]) for pair in folds] for side in (0, 1))
    joined = np.concatenate([*test_keys, *train_keys])
    places, kept = match_rows(test_keys, train_keys)
    for place, keys in zip(places, [*test_keys, *train_keys], strict=True):
        assert joined[np.array(kept)[place]].tolist() == keys.tolist()
        assert len(set(place)) == len(place)
    assert set().union(*places) == set(range(len(kept)))


def test_a_leak_differs_from_a_row_that_is_never_tested():
    tests, trains = parts([0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 2, 2], 3)
    tests[0] = np.array([0, 2])  # 2 is tested twice and trains its own fold, 1 is never tested
    places, kept = match_rows(tests, trains)
    assert len(kept) == 6
    assert places[:3] == [[0, 1], [1, 2], [3, 4]]
    assert set(places[0]) & set(places[3]) == {1}
    assert places[4] == [0, 5, 3, 4]


def test_equal_rows_share_a_key_and_missing_values_are_equal():
    frame = pd.DataFrame({"a": [0.0, -0.0, np.nan, np.nan], "b": pd.Categorical(["x", "x", None, None])})
    assert compute_row_keys(frame).tolist() == [0, 0, 1, 1]
