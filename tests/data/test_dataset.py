import copy
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.data import Dataset
from fairtrial.errors import InputError
from tests.data.written import tables

TABLE = pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": pd.Categorical(["x", None, "x"], categories=["z", "x"])})


def made(**more):
    return Dataset.from_table(TABLE, ["u", "v", "u"], **more)


def test_it_never_changes():
    source = TABLE.copy()
    labels = np.array(["u", "v", "u"], dtype=object)
    data = Dataset.from_table(source, labels)
    before = data.content_hash
    source.iloc[0, 0] = 9
    source.loc[0, "b"] = "z"
    labels[0] = "v"
    X, y = data.X, data.y
    X.iloc[0, 0] = 7
    X.loc[0, "b"] = "z"
    y.iloc[0] = "v"
    data.ranges["a"] = (0, 1)
    with pytest.raises(ValueError, match="read-only"):
        data.row_ids[0] = 5
    with pytest.raises(AttributeError):
        data.name = "other"
    assert (data.X.iloc[0].tolist(), data.y[0], data.ranges) == ([1.0, "x"], "u", {})
    assert Dataset.from_table(data.X, data.y).content_hash == before


def test_the_summary_counts():
    summary = made(classes=["v", "u", "w"]).summary()
    assert (summary.rows, summary.attributes, summary.numeric, summary.nominal, summary.missing) == (3, 2, 1, 1, 2)
    assert summary.classes == {"v": 1, "u": 2, "w": 0}
    assert summary.imbalance_ratio == 2.0
    assert summary.frame().iloc[0].to_dict()["classes"] == 2
    assert str(summary) == (
        "data: 3 rows, 1 numeric and 1 nominal attributes, 2 missing values; classes: v 1, u 2, w 0; imbalance ratio 2.00"
    )
    assert made(name="<b>")._repr_html_().startswith("<p>&lt;b&gt;: 3 rows")
    assert repr(made()) == "<Dataset data: 3 rows, 2 attributes, 2 classes>"


def test_names_of_sets_do_not_count_but_everything_else_does():
    data = made()
    assert data == made(name="other", source="f", row_ids=[5, 6, 7], notes=["n"], ranges={"a": (0, 1)})
    assert hash(data) == hash(made(name="other"))
    others = [
        Dataset.from_table(TABLE, ["u", "v", "v"]),
        Dataset.from_table(TABLE, ["u", "v", "u"], classes=["v", "u"]),
        Dataset.from_table(TABLE, ["u", "v", "u"], target="k"),
        Dataset.from_table(TABLE.rename(columns={"a": "q"}), ["u", "v", "u"]),
        Dataset.from_table(TABLE[["b", "a"]], ["u", "v", "u"]),
        Dataset.from_table(TABLE.assign(a=[1.0, np.nan, 3.5]), ["u", "v", "u"]),
        Dataset.from_table(TABLE.assign(b=TABLE["b"].cat.set_categories(["x", "z"])), ["u", "v", "u"]),
        Dataset.from_table(TABLE, ["u", "v", "u"], nominal=["a"]),
        data.take([0, 1]),
        data.take([1, 0, 2]),
    ]
    assert len({each.content_hash for each in [data, *others]}) == len(others) + 1
    assert data != "data"


def test_zeros_and_missing_values_have_one_form():
    odd = np.array([0x7FF8000000000123], dtype=np.uint64).view(np.float64)[0]
    assert Dataset.from_table([[-0.0], [odd]], ["a", "b"]) == Dataset.from_table([[0.0], [np.nan]], ["a", "b"])


@pytest.mark.parametrize(
    ("one", "other"), [(["a", "b"], np.array(["a", "b"])), ([1, 2], np.array([1, 2])), ([1.5, 2.5], np.array([1.5, 2.5]))]
)
def test_labels_of_numpy_are_labels_of_python(one, other):
    scalars = list(other)
    assert type(scalars[0]) is not type(one[0])
    plain, numpys = ([values[0], values[1], values[0]] for values in (one, scalars))
    made = [
        Dataset.from_table(
            pd.DataFrame({"a": pd.Categorical.from_codes([0, 1, 0], pd.Index(values, dtype=object))}), labels, classes=values
        )
        for values, labels in ((one, plain), (scalars, numpys))
    ]
    assert made[0].content_hash == made[1].content_hash


def test_it_travels_to_other_processes():
    data = made(row_ids=[3, 1, 2], ranges={"a": (0, 9)})
    copy = pickle.loads(pickle.dumps(data))
    assert (copy, copy.ranges, copy.row_ids.tolist()) == (data, data.ranges, [3, 1, 2])


def test_rows_are_taken():
    data = made(row_ids=["r1", "r2", "r3"], ranges={"a": (0, 9)})
    part = data.take(np.array([True, False, True]))
    assert part == data.take([0, 2])
    assert part.row_ids.tolist() == ["r1", "r3"]
    assert (part.classes, part.ranges, len(part)) == (("u", "v"), {"a": (0, 9)}, 2)
    assert data.take([0, 0]).row_ids.tolist() == ["r1", "r1"]
    assert np.isnan(data.take([]).summary().imbalance_ratio)


@pytest.mark.parametrize("rows", [[3], [-1], [0.5], [[0]], [True, False], ["a"]])
def test_rows_that_are_not_there_are_refused(rows):
    with pytest.raises(InputError, match="rows"):
        made().take(rows)


def test_wrong_parts_are_refused():
    with pytest.raises(InputError, match="got 3 and 2"):
        Dataset.from_table(TABLE, ["u", "v"])
    with pytest.raises(InputError, match=r"target.*'a'"):
        made(target="a")
    for ids in ([1, 1, 2], [1, 2], [[1, 2, 3]]):
        with pytest.raises(InputError, match=r"row_ids.*3 rows"):
            made(row_ids=ids)
    with pytest.raises(InputError, match="1 row"):
        Dataset.from_table(TABLE.iloc[:0], [])


@settings(max_examples=40)
@given(tables(), st.data())
def test_all_rows_in_any_order_come_back(written, data):
    frame, _ = written
    made = Dataset.from_table(frame.iloc[:, :-1], frame.iloc[:, -1])
    order = data.draw(st.permutations(range(len(frame))))
    assert made.take(order).take(np.argsort(order)) == made
    assert made.frame().columns.tolist() == frame.columns.tolist()
    assert sum(made.summary().classes.values()) == len(frame)


@pytest.mark.parametrize("made", [Dataset, lambda X, y: Dataset("t", X, y), lambda X, y: Dataset(X=X, y=y)])
def test_the_constructor_points_to_the_way_to_make_one(made):
    with pytest.raises(InputError, match=r"Dataset\.from_table\(X, y\)"):
        made([[1.0], [2.0]], ["a", "b"])


def test_data_sets_can_be_packed_and_copied():
    data = Dataset.from_table([[1.0], [2.0]], ["a", "b"])
    assert pickle.loads(pickle.dumps(data)) == copy.deepcopy(data) == copy.copy(data) == replace(data, name="other") == data
