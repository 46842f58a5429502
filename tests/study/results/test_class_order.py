"""The classes as measures see them."""

import numpy as np
import pytest

from fairtrial._check import encode_labels
from fairtrial.errors import InputError
from fairtrial.study.results.stacking import ClassOrder
from tests.study.archives import data_facts


@pytest.mark.parametrize("declared", [("positive", "negative"), ("b", "a", "c"), (3, 1, 2), (True, False)])
def test_the_order_is_that_of_the_measures_on_the_labels_themselves(declared):
    codes = np.arange(12) % len(declared)
    classes, _ = encode_labels(None, None, y=np.array([declared[code] for code in codes]))
    order = ClassOrder.from_facts(data_facts("x", codes, declared))
    assert order.names == classes.names.tolist()
    assert order.positive == classes.positive


def test_a_declared_class_without_rows_is_left_out_and_comes_back_on_demand():
    order = ClassOrder.from_facts(data_facts("glass", [0, 2, 2, 0], ("a", "b", "c")))
    assert (order.names, order.positive, order.positions.tolist()) == (["a", "c"], 1, [0, -1, 1])
    assert (order.include_all_classes().names, order.include_all_classes().positive) == (["a", "b", "c"], 2)


def test_a_data_set_of_one_class_keeps_what_it_declares():
    assert ClassOrder.from_facts(data_facts("x", [0, 0], ("a", "b"))).names == ["a", "b"]


def test_classes_that_cannot_be_sorted_keep_their_order():
    assert ClassOrder.from_facts(data_facts("x", [0, 1], ("a", 1))).names == ["a", 1]


def test_a_positive_class_counts_where_a_data_set_has_it():
    sets = [data_facts("one", [0, 1], ("no", "yes")), data_facts("two", [0, 1], ("bad", "good"))]
    first, second = ClassOrder.from_datasets(sets, "no")
    assert first.names[first.positive] == "no"
    assert second.names[second.positive] == "good"
    first, second = ClassOrder.from_datasets(sets, {"two": "bad"}, {"one": "no", "two": "good"})
    assert (first.names[first.positive], second.names[second.positive]) == ("no", "bad")


@pytest.mark.parametrize(
    ("positive", "words"),
    [
        ("yess", "positive must be a class of one of the data sets, got 'yess': did you mean 'yes'"),
        ({"onne": "yes"}, "positive must name data sets of the study, got 'onne': did you mean 'one'"),
        ({"one": "nno"}, "positive must be a class of the data set 'one', got 'nno': did you mean 'no'"),
    ],
)
def test_a_positive_class_that_is_nowhere_is_refused(positive, words):
    with pytest.raises(InputError, match=words):
        ClassOrder.from_datasets([data_facts("one", [0, 1], ("no", "yes"))], positive)


def test_predictions_are_placed_and_abstentions_stay():
    order = ClassOrder.from_facts(data_facts("rare", [0, 1, 1], ("sick", "healthy")))
    assert order.to_positions(np.array([0, 1, -1, 0])).tolist() == [1, 0, -1, 1]
