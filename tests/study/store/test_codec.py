"""Values come back as they were, with their types, and nothing is unpickled."""

import datetime
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from fairtrial.errors import InputError, StoreError
from fairtrial.study.store import codec as values

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(plain)
def test_plain_values_come_back(value):
    text = values.to_json(value)
    text.encode()
    assert values.from_json(text) == value


def test_what_is_nearly_plain_is_made_plain():
    odd = {"a": np.float64(0.5), "b": np.arange(2), "c": {"z", "y"}, "d": (1, 2), "e": values.from_json, "f": math.nan}
    back = values.from_json(values.to_json(odd))
    assert (back["a"], back["b"], back["c"], back["d"]) == (0.5, [0, 1], ["y", "z"], [1, 2])
    assert back["e"].startswith("<function from_json")
    assert math.isnan(back["f"])


def test_damaged_text_is_refused():
    for text in ("{", "", None):
        with pytest.raises(StoreError, match="not JSON"):
            values.from_json(text)


@pytest.mark.parametrize("labels", [("a", "b"), (0, 1), (False, True), (0.5, 1.5), ("0", "1"), (2**70, -1), ("\ud800", "é")])
def test_labels_keep_their_type(labels):
    back = values.from_json(values.encode_labels(labels))
    assert back == list(labels)
    assert [type(each) for each in back] == [type(each) for each in labels]


def test_labels_of_numpy_become_those_of_python_and_others_are_refused():
    assert values.from_json(values.encode_labels(np.array([3, 1]))) == [3, 1]
    with pytest.raises(InputError, match="class labels must be"):
        values.encode_labels([datetime.date(2020, 1, 1)])


@pytest.mark.parametrize(
    "ids",
    [
        np.arange(5),
        np.arange(5, dtype=np.int32),
        np.arange(1, 6),
        np.array([7, 3], dtype=">i4"),
        np.array([2**63, 1], dtype=np.uint64),
        np.array([0.5, -0.0]),
        np.array(["a", "", "ccc", "é"]),
        np.array(["a", 1, 2.5, True, None], dtype=object),
        np.array(["2020-01-01", "2021-05-05"], dtype="datetime64[D]"),
        np.array([], dtype=np.int64),
        np.array([[1, 2], [3, 4]])[:, 0],
    ],
    ids=str,
)
def test_row_ids_keep_their_type(ids):
    back = values.unpack_ids(*values.pack_ids(ids), len(ids))
    assert back.dtype == ids.dtype
    assert back.tolist() == ids.tolist()


def test_row_ids_of_unknown_type_are_refused():
    with pytest.raises(StoreError, match="'nonsense'"):
        values.unpack_ids("nonsense", b"", 3)
    with pytest.raises(StoreError, match="corrupted"):
        values.unpack_ids("<i8", b"not compressed", 3)


@given(st.integers(1, 12).flatmap(lambda n: st.tuples(st.just(n), *[st.lists(st.integers(0, n - 1), max_size=15)] * 2)))
def test_positions_come_back_in_order_and_as_often_as_they_were(drawn):
    n, train, test = drawn
    for pair in ((train, test), (sorted(set(range(n)) - set(test)), test)):
        first, second = (np.array(each, dtype=np.intp) for each in pair)
        packed_test, packed_train = values.pack_rows(first, second, n)
        found, back = values.unpack_split(packed_test, packed_train, n)
        assert (found.tolist(), back.tolist()) == (first.tolist(), second.tolist())
        assert (packed_train is None) == (pair[0] == sorted(set(range(n)) - set(test)))


def test_seeds_of_any_size():
    assert [values.to_storable_seed(each) for each in (5, 2**63 - 1, 2**63, -(2**63))] == [5, 2**63 - 1, str(2**63), -(2**63)]


def test_a_checksum_tells_a_changed_bit_and_a_moved_column():
    blobs = [b"abc", None, b"d", None]
    kept = values.compute_checksum(blobs, 2)
    values.refuse_corrupted_trial(3, blobs, 2, kept)
    with pytest.raises(StoreError, match="trial 3 are corrupted"):
        values.refuse_corrupted_trial(3, blobs, 1, kept)
    with pytest.raises(StoreError, match="trial 3 are corrupted"):
        values.refuse_corrupted_trial(3, [b"abb", None, b"d", None], 2, kept)
