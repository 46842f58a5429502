"""Data sets stay by their contents, as many as there is room for."""

import numpy as np
import pytest

from fairtrial.data import Dataset
from fairtrial.study.guard import held_data


@pytest.fixture(autouse=True)
def empty(monkeypatch):
    monkeypatch.setattr(held_data, "held", {})
    monkeypatch.setattr(held_data, "_sizes", {})


def small(number, rows=4):
    return Dataset.of(np.full((rows, 1), float(number)), ["a", "b"] * (rows // 2), name=f"set {number}")


def test_a_set_is_found_by_its_contents():
    one, two = small(1), small(2)
    held_data.hold(one)
    assert held_data.find(one.content_hash) is one
    assert held_data.find(two.content_hash) is None


def test_the_same_contents_are_held_once():
    first, second = small(1), small(1)
    held_data.hold(first)
    held_data.hold(second)
    assert held_data.find(first.content_hash) is first
    assert len(held_data.held) == 1


def test_the_set_that_was_not_used_for_longest_goes_first(monkeypatch):
    monkeypatch.setattr(held_data, "MOST_SETS", 2)
    one, two, three = small(1), small(2), small(3)
    held_data.hold(one)
    held_data.hold(two)
    held_data.find(one.content_hash)
    held_data.hold(three)
    assert list(held_data.held) == [one.content_hash, three.content_hash]


def test_large_sets_push_out_others_but_never_themselves(monkeypatch):
    monkeypatch.setattr(held_data, "MOST_BYTES", 8 * 5)
    held_data.hold(small(1))
    held_data.hold(small(2, rows=20))
    assert list(held_data.held) == [small(2, rows=20).content_hash]
    held_data.hold(small(3))
    assert list(held_data.held) == [small(3).content_hash]
