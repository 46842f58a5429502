import threading
from math import sqrt

import pytest

from fairtrial.study.identity import has_visible_state, is_importable_by_name, read_slots


class Base:
    __slots__ = ("__own", "a")

    def __init__(self, own):
        self.__own = own


class Open(Base):
    __slots__ = ("a",)


class Plain:
    def method(self):
        return sqrt


@pytest.mark.parametrize(
    ("value", "whole"),
    [(Plain(), True), (Base(1), True), (Open(1), True), (object(), False), (threading.Lock(), False), (iter([]), False)],
    ids=lambda each: type(each).__name__,
)
def test_whether_python_sees_all_that_an_object_holds(value, whole):
    assert has_visible_state(value) is whole


def test_slots_of_each_class_in_line_are_found_and_empty_ones_are_not():
    made = Open(7)
    Base.a.__set__(made, 1)
    made.a = 2
    assert read_slots(made) == {"Base._Base__own": 7, "Base.a": 1, "Open.a": 2}
    assert read_slots(Base(None)) == {"Base._Base__own": None}
    assert read_slots(Plain()) == {}


def test_what_a_module_knows_under_its_name():
    renamed = lambda: None  # noqa: E731
    renamed.__module__, renamed.__qualname__ = "math", "sqrt"
    assert [is_importable_by_name(each) for each in (sqrt, Plain, Plain.method, [].append, 3, renamed)] == [
        *[True] * 3,
        *[False] * 3,
    ]
