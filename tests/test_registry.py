"""Names: registered once, found with suggestions, extended by entry points."""

import pytest

from fairtrial import _registry
from fairtrial._registry import Registry, suggest_name
from fairtrial.errors import InputError, UnknownNameError


@pytest.fixture
def shapes():
    registry = Registry("shape", group="fairtrial.no_such_group")
    registry.add("square", 4, aliases=["quad"])
    registry.add("triangle", 3)
    return registry


def test_names_and_aliases_find_the_same_item(shapes):
    assert shapes["square"] == shapes["quad"] == 4


def test_iteration_gives_names_in_order_without_aliases(shapes):
    assert list(shapes) == ["square", "triangle"]
    assert shapes.values() == [4, 3]
    assert len(shapes) == 2


def test_membership_knows_aliases(shapes):
    assert "quad" in shapes
    assert "circle" not in shapes


def test_an_unknown_name_gets_the_nearest_or_the_list(shapes):
    with pytest.raises(UnknownNameError, match=r"shape.*'squar'.*'square'"):
        shapes["squar"]
    with pytest.raises(UnknownNameError, match=r"shape.*'zzz'.*quad, square, triangle"):
        shapes["zzz"]


@pytest.mark.parametrize(("name", "aliases"), [("square", []), ("quad", []), ("new", ["triangle"]), ("new", ["quad"])])
def test_a_name_that_is_taken_is_refused_and_nothing_is_changed(shapes, name, aliases):
    with pytest.raises(InputError, match=r"shape.*'\w+'"):
        shapes.add(name, 9, aliases=aliases)
    assert shapes.values() == [4, 3]


def test_entry_points_are_loaded_once_at_the_first_lookup(monkeypatch):
    registry = Registry("shape", group="some.group")
    loaded = []

    class Point:
        def load(self):
            loaded.append("point")
            registry.add("pentagon", 5)

    monkeypatch.setattr(_registry, "entry_points", lambda group: [Point()] if group == "some.group" else [])
    assert loaded == []
    assert registry["pentagon"] == 5
    assert "pentagon" in registry
    assert loaded == ["point"]


@pytest.mark.parametrize(
    ("name", "known", "remedy"),
    [
        ("acuracy", ["accuracy", "auc"], "did you mean 'accuracy'?"),
        ("x", ["b", "a"], "known: a, b"),
        (12, [1, 123], "did you mean 123?"),
    ],
)
def test_the_remedy_names_what_exists(name, known, remedy):
    assert suggest_name(name, known) == remedy
