"""Mistakes add up, and each keeps its place."""

import pytest

from fairtrial.errors import InputError
from fairtrial.study.declare.gathering import Gathering, Mistake, MistakesError, mistakes_of


def test_everything_is_told_in_the_end_with_its_place():
    outer = Gathering()
    with outer.at("parameters"):
        inner = Gathering()
        with inner.at("k"):
            raise InputError("k is wrong")
        with inner.at("l"):
            raise InputError("l is wrong")
        inner.tell()
    with outer.at("sampler"):
        raise InputError("no sampler")
    with pytest.raises(MistakesError, match="k is wrong; l is wrong; no sampler") as caught:
        outer.tell()
    assert caught.value.mistakes == [
        Mistake(("parameters", "k"), "k is wrong"),
        Mistake(("parameters", "l"), "l is wrong"),
        Mistake(("sampler",), "no sampler"),
    ]


def test_nothing_is_raised_where_nothing_is_wrong():
    gathering = Gathering()
    with gathering.at("k"):
        pass
    gathering.tell()
    assert gathering.mistakes == []


def test_an_error_of_the_program_is_not_swallowed():
    gathering = Gathering()
    with pytest.raises(ZeroDivisionError), gathering.at("k"):
        1 / 0  # noqa: B018


def test_a_plain_error_is_a_mistake_at_the_place():
    assert mistakes_of(InputError("x"), "learners", "c45") == [Mistake(("learners", "c45"), "x")]
