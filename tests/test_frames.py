import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from sklearn.preprocessing import OrdinalEncoder

from fairtrial import compare, data
from fairtrial._frames import as_frame, read_columns, resolve_column_indices
from fairtrial.conditions import AttributeNoise
from fairtrial.errors import InputError
from fairtrial.learners import C45
from fairtrial.resampling import DOBSCV, audit
from fairtrial.significance import friedman, posthoc, quade, read_scores
from tests.data.written import tables

FRAME = pd.DataFrame({"n": [1.5, None], "c": pd.Categorical(["lo", "hi"], categories=["lo", "mid", "hi"]), "t": ["x", None]})


def test_numbers_stay_and_values_become_codes():
    table = read_columns(FRAME)
    assert np.array_equal(table.values, [[1.5, 0, 0], [np.nan, 2, np.nan]], equal_nan=True)
    assert table.categories == (None, ("lo", "mid", "hi"), ("x",))
    assert table.names == ("n", "c", "t")
    assert table.nominal.tolist() == [False, True, True]
    assert table.numeric.tolist() == [True, False, False]
    assert len(table) == 2


@settings(max_examples=40)
@given(tables())
def test_codes_are_those_of_scikit_learn(written):
    frame, declared = written
    typed = frame.assign(**{name: pd.Categorical(frame[name], categories=values) for name, values in declared.items()})
    for name in set(frame.columns) - declared.keys():
        typed[name] = frame[name].astype(float)
    table = read_columns(typed)
    for place, name in enumerate(frame.columns):
        if name in declared:
            encoder = OrdinalEncoder(categories=[declared[name]], handle_unknown="use_encoded_value", unknown_value=np.nan)
            expected = encoder.fit_transform(frame[[name]])[:, 0]
        else:
            expected = typed[name].to_numpy()
        assert np.array_equal(table.values[:, place], expected, equal_nan=True)


def test_columns_can_be_contiguous():
    by_row, by_column = read_columns(FRAME), read_columns(FRAME, order="F")
    assert by_row.values.flags.c_contiguous
    assert by_column.values.flags.f_contiguous
    assert by_column.encode_like(FRAME, order="F").values.flags.f_contiguous
    np.testing.assert_array_equal(by_column.values, by_row.values)
    np.testing.assert_array_equal(by_column.encode_like(FRAME, order="F").values, by_row.values)


def test_another_table_is_read_in_the_same_codes():
    table = read_columns(FRAME)
    other = table.encode_like(pd.DataFrame({"n": [2], "c": ["hi"], "t": ["new"]}))
    assert np.array_equal(other.values, [[2, 2, np.nan]], equal_nan=True)
    with pytest.raises(InputError, match=r"^X\b.*1"):
        table.encode_like(FRAME[["n"]])
    with pytest.raises(InputError, match="'n'"):
        table.encode_like(FRAME.assign(n=["a", "b"]))


def test_values_of_several_types_are_sorted_by_type():
    assert read_columns(pd.DataFrame({"a": [2, "b", 1, "a"]})).categories == ((1, 2, "a", "b"),)
    assert read_columns(pd.DataFrame({"a": [True, False]})).categories == ((False, True),)


@pytest.mark.parametrize(
    "values",
    [
        [True, False, True],
        pd.Series([True, None, False], dtype=object),
        pd.array([True, None, False], dtype="boolean"),
        pd.array(["b", None, "a"], dtype="string"),
        pd.to_datetime(["2021-01-01", None, "2020-01-01"]),
        pd.to_datetime(["2021-01-01", None, "2020-01-01"]).tz_localize("UTC"),
        pd.to_timedelta([2, None, 1], unit="D"),
        pd.period_range("2020-01-01", periods=3, freq="D"),
        pd.Series(list(pd.to_datetime(["2021-01-01", "2020-01-01", "2020-01-01"])), dtype=object),
    ],
    ids=lambda values: str(getattr(values, "dtype", "bool")),
)
def test_values_of_every_type_have_codes_without_a_warning(values):
    """Warnings are errors here; pandas 2 warned of dates. The codes are those of pandas' own sorting."""
    column = pd.Series(values)
    expected = pd.factorize(column, sort=True)[0]
    found = read_columns(pd.DataFrame({"a": column})).values[:, 0]
    assert np.array_equal(found, np.where(expected < 0, np.nan, expected), equal_nan=True)


def test_matrices_have_names_and_lists_keep_their_types():
    assert as_frame(np.ones((1, 2))).columns.tolist() == ["x0", "x1"]
    assert as_frame(pl.DataFrame({"q": [1]})).columns.tolist() == ["q"]
    assert read_columns([[1, "a"], [2, "b"]]).nominal.tolist() == [False, True]
    for wrong in ([1, 2], 5, [[1], [2, 3]]):
        with pytest.raises(InputError, match=r"^X\b"):
            as_frame(wrong)


def test_columns_are_found_by_name_then_by_place():
    frame = pd.DataFrame([[1, 2, 3]], columns=["a", "1", "b"])
    assert resolve_column_indices(frame, None) == set()
    assert resolve_column_indices(frame, ["b", 1, -3, np.int64(0)]) == {0, 1, 2}
    assert resolve_column_indices(pd.DataFrame([[1, 2]], columns=[1, 0]), [0]) == {1}
    for wrong in ("z", 3, -4, 1.5):
        with pytest.raises(InputError, match="nominal"):
            resolve_column_indices(frame, [wrong])
    assert read_columns(frame, ["a"]).categories == ((1,), None, None)


# --- Frames of other libraries ---


RNG = np.random.default_rng(0)
ATTRIBUTES = pd.DataFrame({"u": RNG.normal(size=60), "v": RNG.normal(size=60), "kind": RNG.choice(list("abc"), 60)})
CLASSES = pd.Series(np.where(ATTRIBUTES["u"] + RNG.normal(size=60) > 0, "yes", "no"), name="class")
SKILLS = pd.DataFrame(RNG.normal(size=(8, 3)), columns=["tree", "bayes", "svm"])

FUNCTIONS = {
    "data.read": lambda convert: data.read(convert(ATTRIBUTES.assign(y=CLASSES)), target="y").X.to_dict("list"),
    "Dataset.from_table": lambda convert: data.Dataset.from_table(convert(ATTRIBUTES), CLASSES, name="d").X.to_dict("list"),
    "DOBSCV": lambda convert: [test.tolist() for _, test in DOBSCV(3, random_state=0).split(convert(ATTRIBUTES), CLASSES)],
    "C45": lambda convert: C45().fit(convert(ATTRIBUTES), CLASSES).predict(convert(ATTRIBUTES)).tolist(),
    "AttributeNoise": lambda convert: AttributeNoise(0.2).apply(convert(ATTRIBUTES), CLASSES, 0).X.to_dict("list"),
    "audit": lambda convert: audit(DOBSCV(3, random_state=0), (convert(ATTRIBUTES), CLASSES)).frame().to_dict("list"),
    "friedman": lambda convert: (friedman(convert(SKILLS)).p_value, quade(convert(SKILLS)).p_value),
    "posthoc": lambda convert: posthoc(convert(SKILLS)).frame().to_dict("list"),
    "compare": lambda convert: compare(convert(SKILLS), rows="datasets").frame().to_dict("list"),
    "read_scores": lambda convert: read_scores(convert(SKILLS), rows="folds").tidy.to_dict("list"),
}


@pytest.mark.parametrize("convert", [pl.from_pandas, pa.Table.from_pandas], ids=["polars", "pyarrow"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_public_functions_read_frames_of_all_libraries_alike(name, convert):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert repr(FUNCTIONS[name](convert)) == repr(FUNCTIONS[name](lambda frame: frame))
