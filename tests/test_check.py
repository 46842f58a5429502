"""Each check: what passes, and an error that names the argument, the rule and the value."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from fairtrial import _check
from fairtrial.errors import InputError


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: _check.check_one_of("mode", "fats", ["fast", "slow"]),
            "mode.*'fats'",
        ),
        (lambda: _check.check_at_least("n", 1, 2), r"^n\b.*1"),
        (lambda: _check.check_at_least("n", math.nan, 2), r"^n\b.*nan"),
        (lambda: _check.check_whole_number("n", 2.0, 1), r"^n\b.*2.0"),
        (lambda: _check.check_whole_number("n", True, 1), r"^n\b.*True"),
        (lambda: _check.check_whole_number("n", 0, 1), r"^n\b.*0"),
        (lambda: _check.check_between("x", 1, 0, 1), r"^x\b.*1"),
        (lambda: _check.check_between("x", math.nan, 0, 1), r"^x\b.*nan"),
        (lambda: _check.check_proportion("x", 0), r"^x\b.*0"),
        (lambda: _check.check_column("y", [[1, 2], [3, 4]]), r"^y\b"),
        (lambda: _check.check_column("y", None), r"^y\b.*None"),
        (lambda: _check.check_column("y", np.ma.array([1, 2], mask=[0, 1])), r"^y\b.*1"),
        (lambda: _check.check_column("y", []), r"^y\b.*0"),
        (lambda: _check.check_same_length(a=np.ones(2), b=np.ones(3)), "a.*2.*b.*3"),
        (lambda: _check.check_numbers("s", ["1", "2"]), r"^s\b.*'1'"),
        (lambda: _check.check_numbers("s", [1, "two"]), r"^s\b.*'two'"),
        (lambda: _check.check_numbers("s", np.array(["2026-01-01"], dtype="M8[D]")), r"^s\b"),
        (lambda: _check.check_numbers("s", [1 + 2j]), r"^s\b"),
        (lambda: _check.check_numbers("s", [object()]), r"^s\b"),
        (lambda: _check.check_numbers("s", [[1], [2, 3]]), r"^s\b"),
        (lambda: _check.check_between("level", "0.95", 0, 1), "level.*'0.95'"),
        (lambda: _check.check_proportion("x", None), r"^x\b.*None"),
        (
            lambda: _check.check_finite("s", np.array([1, np.inf])),
            r"^s\b.*inf.*1",
        ),
        (lambda: _check.check_finite("s", np.array([[1, 2], [np.nan] * 2])), r"^s\b.*nan.*\(1, 0\).*2"),
        (
            lambda: _check.check_probabilities("p", np.array([0.5, 1.5])),
            r"^p\b.*1.5.*1",
        ),
        (lambda: _check.check_probabilities("p", np.array([[0.5, 0.4]])), r"^p\b.*0.9.*0"),
        (lambda: _check.check_weights([1, -1], 2), "sample_weight.*-1.0.*1"),
        (lambda: _check.check_weights([0, 0], 2), "sample_weight"),
        (lambda: _check.check_weights([1], 2), "sample_weight.*1"),
    ],
)
def test_the_message_has_the_name_and_the_value(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_what_keeps_the_rules_passes():
    _check.check_one_of("mode", None, [None, "fast"])
    _check.check_between("x", 0.5, 0, 1)
    _check.check_proportion("x", 1)
    _check.check_same_length(a=np.ones(2), b=None, c=np.ones(2))
    assert _check.check_whole_number("n", np.int64(3), 1) == 3
    assert _check.check_column("y", [[1], [2]]).tolist() == [1, 2]
    assert _check.check_numbers("s", np.array([1, 2.5], dtype=object)).tolist() == [1, 2.5]
    assert _check.check_weights(None, 5) is None
    assert _check.check_weights([0, 2], 2).tolist() == [0, 2]
    assert _check.check_probabilities("p", np.array([[0.25, 0.75]])).tolist() == [[0.25, 0.75]]


def test_rows_may_miss_the_sum_of_one_by_rounding_only():
    thirds = np.full((1, 3), 1 / 3, dtype=np.float32).astype(float)
    assert _check.check_probabilities("p", thirds) is thirds


LABELS = st.one_of(
    st.lists(st.integers(-3, 3), min_size=1, max_size=20).map(np.array),
    st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=20).map(np.array),
    st.lists(st.integers(0, 200), min_size=1, max_size=20).map(lambda values: np.array(values, dtype=np.uint8)),
    st.lists(st.sampled_from(["a", "b", "cc"]), min_size=1, max_size=20).map(np.array),
    st.lists(st.sampled_from(["a", "b", "cc"]), min_size=1, max_size=20).map(lambda values: np.array(values, dtype=object)),
    st.lists(st.sampled_from([0.0, 1.0, -2.0]), min_size=1, max_size=20).map(np.array),
    st.lists(st.booleans(), min_size=1, max_size=20).map(np.array),
)


@given(values=LABELS)
def test_codes_point_at_the_sorted_classes(values):
    classes, (codes,) = _check.encode_labels(None, None, y=values)
    names = classes.names.tolist()
    assert names == sorted(set(names))
    assert [names[code] for code in codes] == values.tolist()
    extra = set(names) - set(values.tolist())
    assert not extra or len(names) == 2


@given(values=LABELS)
def test_given_labels_fix_the_codes(values):
    labels = sorted(set(values.tolist()), reverse=True)
    classes, (codes,) = _check.encode_labels(labels, None, y=values)
    assert classes.names.tolist() == labels
    assert [labels[code] for code in codes] == values.tolist()


@pytest.mark.parametrize("values", [[1, "a"], (1, "a"), [[1], ["a"]], ["1", 1], [True, "a"], [b"a", "a"], [1.5, "a"]])
def test_lists_of_mixed_labels_are_refused_as_arrays_of_objects_are(values):
    for column in (values, np.array(values, dtype=object)):
        with pytest.raises(InputError, match="labels"):
            _check.encode_labels(None, None, y=_check.check_column("y", column))


def test_text_that_is_missing_in_a_list_is_missing():
    for gone in (None, math.nan, pd.NA):
        with pytest.raises(InputError, match=r"^y\b.*\b1\b"):
            _check.encode_labels(None, None, y=_check.check_column("y", ["a", gone]))


def test_classes_may_be_given_in_mixed_types():
    classes, (codes,) = _check.encode_labels([1, "a"], None, y=np.array([1, 1]))
    assert (classes.names.tolist(), codes.tolist()) == ([1, "a"], [0, 0])


def test_columns_share_their_classes():
    classes, (true, predicted) = _check.encode_labels(None, None, y_true=np.array([3, 5]), y_pred=np.array([7, 3]))
    assert classes.names.tolist() == [3, 5, 7]
    assert (true.tolist(), predicted.tolist()) == ([0, 1], [2, 0])


@pytest.mark.parametrize(
    ("values", "names", "codes"),
    [([0, 0], [0, 1], [0, 0]), ([1, 1], [0, 1], [1, 1]), ([-1], [-1, 1], [0]), ([1.0], [0, 1], [1]), ([5, 5], [5], [0, 0])],
)
def test_a_lone_zero_or_one_belongs_to_the_usual_pair(values, names, codes):
    classes, (found,) = _check.encode_labels(None, None, y=np.array(values))
    assert classes.names.tolist() == names
    assert found.tolist() == codes


@pytest.mark.parametrize(
    ("values", "positive", "place"),
    [
        (["a", "b"], None, 1),
        (["a", "b"], "a", 0),
        (["a", "b", "c"], None, None),
        (["a", "b", "c"], "c", 2),
        (["a"], None, None),
    ],
)
def test_the_positive_class_is_the_named_one_or_the_second_of_two(values, positive, place):
    classes, _ = _check.encode_labels(None, positive, y=np.array(values))
    assert classes.positive == place


@pytest.mark.parametrize(
    ("labels", "positive", "columns", "message"),
    [
        (None, "c", {"y": ["a", "b"]}, "positive.*'c'"),
        (["a", "a"], None, {"y": ["a"]}, r"labels.*\['a', 'a'\]"),
        (
            ["red", "blue"],
            None,
            {"y": ["red", "bleu"]},
            r"^y\b.*'bleu'.*'blue'",
        ),
        (None, None, {"y_true": ["a"], "y_pred": [1]}, "y_true.*text.*y_pred.*numbers"),
        (None, None, {"y": np.array(["a", 1], dtype=object)}, "labels"),
        (None, None, {"y": np.array(["a", None], dtype=object)}, r"^y\b.*\b1\b"),
        (None, None, {"y_pred": [0.2, 1.0]}, "y_pred.*0.2"),
        ("01", None, {"y": [0, 1]}, "labels.*'01'"),
        (None, None, {"y": [1.0, math.nan]}, r"^y\b.*\b1\b"),
        (None, None, {"y": np.array([1, pd.NA], dtype=object)}, r"^y\b.*\b1\b"),
    ],
)
def test_labels_that_break_a_rule_are_refused(labels, positive, columns, message):
    with pytest.raises(InputError, match=message):
        _check.encode_labels(labels, positive, **{name: np.asarray(values) for name, values in columns.items()})


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["a", "b", "a"]),
        pd.Series(["a", "b", "a"], dtype="category"),
        pd.Series(["a", "b", "a"], dtype="string"),
        pd.Series(["a", "b", "a"], dtype=object),
    ],
    ids=["default", "category", "string", "object"],
)
def test_columns_of_pandas_are_labels(column):
    classes, (codes,) = _check.encode_labels(None, None, y=_check.check_column("y", column))
    assert classes.names.tolist() == ["a", "b"]
    assert codes.tolist() == [0, 1, 0]


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "int8", "float32"])
def test_number_columns_of_pandas_go_with_plain_numbers(dtype):
    column = _check.check_column("y_true", pd.Series([1, 0, 1], dtype=dtype))
    _, (true, predicted) = _check.encode_labels(None, None, y_true=column, y_pred=np.array([1, 1, 0]))
    assert (true.tolist(), predicted.tolist()) == ([1, 0, 1], [1, 1, 0])


def test_a_rounding_error_beyond_0_to_1_is_no_mistake():
    told = np.array([[1.0000000000000002, -2e-16], [0.5, 0.5]])
    assert _check.check_probabilities("p", told).tolist() == [[1.0, 0.0], [0.5, 0.5]]
    assert told[0, 0] > 1  # what came in stays
    with pytest.raises(InputError, match=r"between 0 and 1, got 1\.00001"):
        _check.check_probabilities("p", np.array([0.5, 1.00001]))
