"""Mistakes add up, and each keeps its place."""

import pytest

from fairtrial.errors import InputError
from fairtrial.study.declare.gathering import Gathering, Mistake, MistakesError, made_of, mistakes_of


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


def test_all_options_are_tried():
    def make(options):
        if options.get("size", 1) < 1:
            raise InputError(f"size must be at least 1, got {options['size']}")
        if "colour" in options:
            raise TypeError("it has no option 'colour'")
        if "size" not in options:
            raise InputError("it needs the parameter 'size'")
        if options["size"] > 1:
            raise OSError("the file is gone")
        return options["size"]

    assert made_of(make, {"size": 1}) == 1
    for options, paths in (
        ({"size": 0, "colour": 1}, [("size",), ("colour",)]),  # that size is needed follows
        ({"size": 2, "colour": 1}, [("colour",), ()]),
        ({"size": 2}, [()]),
    ):
        with pytest.raises(MistakesError) as caught:
            made_of(make, options)
        assert [each.path for each in caught.value.mistakes] == paths
    with pytest.raises(MistakesError) as caught:
        made_of(make, {"size": 0, "colour": 1}, needed=("size",))
    assert [each.path for each in caught.value.mistakes] == [("size",)]
