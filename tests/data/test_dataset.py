"""Tests of `fairtrial.data.dataset`."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.data import Dataset, declared, describe
from fairtrial.data.declared import LEFT_OUT, Attribute, read_rows
from fairtrial.data.lines import LineBlock
from fairtrial.errors import InputError, SuspectInputWarning
from tests.data.written import tables

# --- Dataset ---


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


VISITS = pd.DataFrame({"patient": [7, 9, 7], "day": ["2026-01-03", "2026-01-01", "2026-01-02"], "dose": [1.0, 2.0, 3.0]})


def test_groups_and_time_are_not_attributes():
    data = Dataset.from_table(VISITS, ["u", "v", "u"]).with_roles(groups="patient", time="day")
    assert list(data.X) == ["dose"]
    assert (data.groups.name, data.groups.tolist()) == ("patient", [7, 9, 7])
    assert (data.time.name, np.diff(data.time).tolist()) == ("day", [-2 * 86400.0, 86400.0])
    assert list(data.frame()) == ["patient", "day", "dose", "class"]
    assert data.take([2, 0]).groups.tolist() == [7, 7]
    assert data.take([2, 0]).time.tolist() == data.time[[2, 0]].tolist()
    assert [line[:2] for line in describe(data).columns] == [("dose", "numeric"), ("patient", "groups"), ("day", "time")]
    copied = pickle.loads(pickle.dumps(data))
    assert copied == data
    assert copied.groups.equals(data.groups)


def test_groups_and_time_given_as_arrays():
    time = pd.to_datetime(VISITS["day"])
    data = made(groups=np.array(["p", "q", "p"]), time=time)
    assert (data.groups.tolist(), data.groups.name) == (["p", "q", "p"], "groups")
    assert data.time.tolist() == ((time - pd.Timestamp(0)).dt.total_seconds()).tolist()
    assert (made().groups, made().time) == (None, None)


def test_the_content_hash_covers_groups_and_time_only_if_they_are_declared():
    plain, grouped, timed = made(), made(groups=["p", "q", "p"]), made(time=[1, 2, 3])
    others = [made(groups=["p", "q", "q"]), made(time=[1, 2, 4]), made(groups=["p", "q", "p"], time=[1, 2, 3])]
    assert len({data.content_hash for data in (plain, grouped, timed, *others)}) == 6
    assert grouped == made(groups=["p", "q", "p"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": ["p", None, "q"]}, "groups must not contain missing values, got one at row 1"),
        ({"groups": ["p"]}, "groups must have a value for each of the 3 rows, got 1 values"),
        ({"time": [1.0, np.inf, 2.0]}, "time must not contain missing or infinite values, got one at row 1"),
        ({"time": ["2026-01-01", "January", "2026-01-02"]}, "time must contain numbers or dates in ISO 8601"),
        ({"groups": pd.Series(["p", "q", "p"], name="a")}, "columns must have different names, got 'a' twice"),
    ],
)
def test_invalid_groups_and_time(options, message):
    with pytest.raises(InputError, match=message):
        made(**options)


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"groups": "patiant"}, "groups must name a column of data, got 'patiant': did you mean 'patient'"),
        ({"time": "class"}, "time must differ from the class column, got 'class': name the class with target"),
        ({"groups": "day", "time": "day"}, "groups and time must be different columns, got 'day' for both"),
    ],
)
def test_invalid_roles(roles, message):
    with pytest.raises(InputError, match=message):
        Dataset.from_table(VISITS, ["u", "v", "u"]).with_roles(**roles)


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


# --- Describing ---
# A data set in words.


def test_columns_classes_and_notes():
    table = pd.DataFrame({"size": [1.5, None, 3.0], "hue": list("abc"), "code": list("xyz"), "gap": [None] * 3})
    table["gap"] = table["gap"].astype(float)
    found = describe(Dataset.from_table(table, ["<b>", "no", "no"], target="kind", name="three", source="here", notes=["bad"]))
    assert found.frame().set_index("column").loc["size"].tolist() == ["numeric", "1.5 to 3", 1]
    assert found.frame().set_index("column").loc["hue", "values"] == "a, b, c"
    text = str(found)
    assert "<b>  1 (33.3%)" in text
    assert "source: here" in text
    assert "note: bad" in text
    assert "&lt;b&gt;" in found._repr_html_()
    assert "<b>" not in found._repr_html_()


def test_many_values_are_cut():
    found = describe(Dataset.from_table(pd.DataFrame({"a": list("abcdefgh")}), [0, 1] * 4))
    assert found.frame()["values"].tolist() == ["a, b, c, d, e, f ... (8 values)"]


# --- Rows ---


KIND = {"n": Attribute("n", "numeric"), "c": Attribute("c", "nominal", ("red", "blue")), "s": Attribute("s", "string")}


def read(kinds, lines, whole="", plain=False):
    attributes = [KIND[kind] for kind in kinds]
    blocks = [LineBlock(1 + 2 * i, lines[2 * i : 2 * i + 2]) for i in range((len(lines) + 1) // 2)]
    return read_rows(
        blocks, attributes, "f", lambda line: line.split(";") if line else [], missing=["?"], complete_column=whole, plain=plain
    )


@given(st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(), min_size=1))
def test_numbers_are_pythons_own(values):
    texts = ["?" if value is None else f" {value!r} " for value in values]
    try:
        expected = [np.nan if value is None else float(value) for value in values]
    except OverflowError:
        return
    assert np.array_equal(read("n", texts)["n"], expected, equal_nan=True)


@pytest.mark.parametrize(
    "text",
    ["nan", "NaN", "inf", "-Infinity", "1e999", "1_000", "0x10", "\u0663", "1,5", "1 2", "", " ", "'", "''", "1d", "--1"],
)
@pytest.mark.parametrize("others", [["1"], ["?"], ["'2'"]])
def test_texts_that_are_not_numbers_are_refused_with_their_line(text, others):
    with pytest.raises(InputError, match="f, line 4: "):
        read("n", [*others, "1", "?", text or "\t"])


def test_quoted_numbers_are_numbers():
    assert read("n", ["'1.5'", '"2"', "?"])["n"][:2].tolist() == [1.5, 2.0]


def test_values_are_understood_in_all_spellings():
    found = read("c", ["red", " blue", "'red'", '"blue" ', "?", " ? "])["c"]
    assert found.codes.tolist() == [0, 1, 0, 1, -1, -1]
    assert found.categories.tolist() == ["red", "blue"]


def test_a_value_that_is_not_declared_is_refused():
    with pytest.raises(InputError, match=r"f, line 3: .*'c'.*'bleu'.*'blue'"):
        read("c", ["red", "blue", "bleu"])


def test_a_missing_class_is_refused():
    for kind in "nc":
        with pytest.raises(InputError, match=f"f, line 2: .*'{kind}'"):
            read(kind, ["1" if kind == "n" else "red", "?"], whole=kind)


def test_strings_become_sorted_categories():
    found = read("s", ["pear", "apple", "?", "'pear'", "'two words'"])["s"]
    assert found.categories.tolist() == ["apple", "pear", "two words"]
    assert found.tolist()[:2] == ["pear", "apple"]
    assert found.codes.tolist() == [1, 0, -1, 1, 2]
    assert read("s", ["?"])["s"].codes.tolist() == [-1]
    with pytest.raises(InputError, match="'two words'"):
        read("s", ["two words"])
    assert read("s", ["two words"], plain=True)["s"].tolist() == ["two words"]


def test_what_sparse_rows_leave_out():
    assert read("c", [LEFT_OUT])["c"].tolist() == ["red"]
    with pytest.raises(InputError, match="'s'"):
        read("s", [LEFT_OUT])


def test_rows_of_another_length_are_refused_wherever_a_block_ends(monkeypatch):
    for cells in (1, 2**22):
        monkeypatch.setattr(declared, "_CELLS_AT_ONCE", cells)
        with pytest.raises(InputError, match=r"f, line 4: .*2 values.*got 3"):
            read("nc", ["1;red", "", "2;blue", "1;2;red", "7"])


def test_the_first_value_outside_its_range_warns_wherever_a_block_ends():
    lines = ["1;0", "?;0", "3;1.5", "11;-9", "-1;0"]
    attributes = [Attribute("a", "numeric", range=(0, 10)), Attribute("b", "numeric", range=(-1, 1))]
    blocks = [LineBlock(1, lines[:2]), LineBlock(3, lines[2:])]
    with pytest.warns(SuspectInputWarning, match=r"f, line 3: 'b' is 1\.5.*\[-1, 1\].*4 such values") as caught:
        found = read_rows(blocks, attributes, "f", lambda line: line.split(";"), missing=["?"], complete_column="", plain=True)
    assert len(caught) == 1
    assert found["a"][2:].tolist() == [3, 11, -1]


def test_no_rows_are_refused():
    with pytest.raises(InputError, match="got 0"):
        read("n", ["", ""])
