"""Mistakes add up, and each keeps its place."""

import pytest

from fairtrial.errors import InputError
from fairtrial.study.spec.problems import ProblemCollector, ProblemsError, SpecProblem, to_problems
from fairtrial.study.spec.resolve import build_collecting


def test_everything_is_told_in_the_end_with_its_place():
    outer = ProblemCollector()
    with outer.collect("parameters"):
        inner = ProblemCollector()
        with inner.collect("k"):
            raise InputError("k is wrong")
        with inner.collect("l"):
            raise InputError("l is wrong")
        inner.raise_if_any()
    with outer.collect("sampler"):
        raise InputError("no sampler")
    with pytest.raises(ProblemsError, match="k is wrong; l is wrong; no sampler") as caught:
        outer.raise_if_any()
    assert caught.value.problems == [
        SpecProblem(("parameters", "k"), "k is wrong"),
        SpecProblem(("parameters", "l"), "l is wrong"),
        SpecProblem(("sampler",), "no sampler"),
    ]


def test_nothing_is_raised_where_nothing_is_wrong():
    gathering = ProblemCollector()
    with gathering.collect("k"):
        pass
    gathering.raise_if_any()
    assert gathering.problems == []


def test_an_error_of_the_program_is_not_swallowed():
    gathering = ProblemCollector()
    with pytest.raises(ZeroDivisionError), gathering.collect("k"):
        1 / 0  # noqa: B018


def test_a_plain_error_is_a_mistake_at_the_place():
    assert to_problems(InputError("x"), "learners", "c45") == [SpecProblem(("learners", "c45"), "x")]


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

    assert build_collecting(make, {"size": 1}) == 1
    for options, paths in (
        ({"size": 0, "colour": 1}, [("size",), ("colour",)]),  # that size is needed follows
        ({"size": 2, "colour": 1}, [("colour",), ()]),
        ({"size": 2}, [()]),
    ):
        with pytest.raises(ProblemsError) as caught:
            build_collecting(make, options)
        assert [each.path for each in caught.value.problems] == paths
    with pytest.raises(ProblemsError) as caught:
        build_collecting(make, {"size": 0, "colour": 1}, needed=("size",))
    assert [each.path for each in caught.value.problems] == [("size",)]
