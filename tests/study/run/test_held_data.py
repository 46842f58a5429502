"""Data sets stay by their contents, as many as there is room for."""

import numpy as np
import pytest

from fairtrial.data import Dataset
from fairtrial.study.run import supervisor


@pytest.fixture(autouse=True)
def empty(monkeypatch):
    monkeypatch.setattr(supervisor, "cached_datasets", {})
    monkeypatch.setattr(supervisor, "_sizes", {})


def small(number, rows=4):
    return Dataset.from_table(np.full((rows, 1), float(number)), ["a", "b"] * (rows // 2), name=f"set {number}")


def test_a_set_is_found_by_its_contents():
    one, two = small(1), small(2)
    supervisor.cache_dataset(one)
    assert supervisor.find_dataset(one.content_hash) is one
    assert supervisor.find_dataset(two.content_hash) is None


def test_the_same_contents_are_held_once():
    first, second = small(1), small(1)
    supervisor.cache_dataset(first)
    supervisor.cache_dataset(second)
    assert supervisor.find_dataset(first.content_hash) is first
    assert len(supervisor.cached_datasets) == 1


def test_the_set_that_was_not_used_for_longest_goes_first(monkeypatch):
    monkeypatch.setattr(supervisor, "MAX_DATASETS", 2)
    one, two, three = small(1), small(2), small(3)
    supervisor.cache_dataset(one)
    supervisor.cache_dataset(two)
    supervisor.find_dataset(one.content_hash)
    supervisor.cache_dataset(three)
    assert list(supervisor.cached_datasets) == [one.content_hash, three.content_hash]


def test_large_sets_push_out_others_but_never_themselves(monkeypatch):
    monkeypatch.setattr(supervisor, "MAX_BYTES", 8 * 5)
    supervisor.cache_dataset(small(1))
    supervisor.cache_dataset(small(2, rows=20))
    assert list(supervisor.cached_datasets) == [small(2, rows=20).content_hash]
    supervisor.cache_dataset(small(3))
    assert list(supervisor.cached_datasets) == [small(3).content_hash]
