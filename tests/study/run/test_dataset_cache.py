"""Data sets stay by their contents, as many as there is room for."""

import numpy as np

from fairtrial.data import Dataset
from fairtrial.study.run.pool import DatasetCache


def small(number, rows=4):
    return Dataset.from_table(np.full((rows, 1), float(number)), ["a", "b"] * (rows // 2), name=f"set {number}")


def test_a_set_is_found_by_its_contents():
    cache, one, two = DatasetCache(), small(1), small(2)
    cache.add(one)
    assert cache.find(one.content_hash) is one
    assert cache.find(two.content_hash) is None


def test_the_same_contents_are_held_once():
    cache, first, second = DatasetCache(), small(1), small(1)
    cache.add(first)
    cache.add(second)
    assert cache.find(first.content_hash) is first
    assert len(list(cache)) == 1


def test_the_set_that_was_not_used_for_longest_goes_first():
    cache = DatasetCache(max_datasets=2)
    one, two, three = small(1), small(2), small(3)
    cache.add(one)
    cache.add(two)
    cache.find(one.content_hash)
    cache.add(three)
    assert list(cache) == [one.content_hash, three.content_hash]


def test_large_sets_push_out_others_but_never_themselves():
    cache = DatasetCache(max_bytes=8 * 5)
    cache.add(small(1))
    cache.add(small(2, rows=20))
    assert list(cache) == [small(2, rows=20).content_hash]
    cache.add(small(3))
    assert list(cache) == [small(3).content_hash]
