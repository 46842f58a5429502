import numpy as np
import pytest
from hypothesis import given, strategies as st

from fairtrial.data import declared
from fairtrial.data.declared import LEFT_OUT, Attribute, read_rows
from fairtrial.data.lines import LineBlock
from fairtrial.errors import InputError, SuspectInputWarning

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
