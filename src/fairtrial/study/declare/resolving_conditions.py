"""From names and levels to conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fairtrial.conditions import Clean, Condition, from_declaration
from fairtrial.errors import FairtrialError, InputError
from fairtrial.study.declare import declaration
from fairtrial.study.declare.gathering import Mistake, made_of, mistakes_of
from fairtrial.study.declare.resolved import NamedCondition

CLEAN = NamedCondition("clean", 0.0, Clean())
_WITHOUT_LEVEL = 1.0

Place = tuple[str | int, ...]


def resolve_conditions(
    declared: Mapping[str, declaration.Condition], objects: Mapping[tuple[str, ...], Any]
) -> tuple[list[NamedCondition], list[Mistake]]:
    """All conditions in their order, clean once, and what is wrong."""
    found: list[NamedCondition] = []
    mistakes: list[Mistake] = []
    for name, entry in declared.items():
        levels = len(found)
        for place, make in _makers(name, entry, objects):
            try:
                made = _named(name, make())
                _check_new(made, found, found[levels:])
            except FairtrialError as error:
                wrong = [Mistake(_place(place, each), each.message) for each in mistakes_of(error)]
                mistakes += [each for each in wrong if each not in mistakes]
                continue
            if made is not CLEAN or CLEAN not in found:
                found.append(made)
    return found, mistakes


def _makers(name: str, entry: declaration.Condition, objects: Mapping[tuple[str, ...], Any]) -> Iterator[tuple[Place, Any]]:
    place: Place = ("conditions", name)
    if place in objects:
        for number, condition in enumerate(objects["conditions", name]):
            yield (*place, number), lambda condition=condition: condition
    elif entry.level is None:
        yield place, lambda: _declared(name, entry, {})
    else:
        for number, level in enumerate(entry.level):
            yield (*place, "level", number), lambda level=level: _declared(name, entry, {"level": level})


def _place(place: Place, mistake: Mistake) -> Place:
    """The parameter that is wrong; what is wrong with the condition itself is wrong at every level."""
    if mistake.path and mistake.path != ("level",):
        return (*place[:2], *mistake.path)
    own = ("no condition is called", "needs the parameter")
    return (*place[:2], "condition") if any(each in mistake.message for each in own) else place


def _declared(name: str, entry: declaration.Condition, level: dict[str, float]) -> Condition:
    if entry.object is not None:
        raise InputError(f"{name} was an object of Python, which no file can hold: declare it by its name and parameters")
    if entry.condition == "class-noise" and "transition" in entry.parameters and not level:
        level = {"level": None}  # type: ignore[dict-item]  # the matrix tells how much changes
    return made_of(lambda options: from_declaration(str(entry.condition), **options), entry.parameters | level)


def _named(name: str, made: Condition) -> NamedCondition:
    level = getattr(made, "level", None)
    if isinstance(made, Clean) or level == 0:
        return CLEAN
    if name == CLEAN.name:
        raise InputError(f"clean is what data without a change are called, got {made}: give it another name")
    return NamedCondition(name, _WITHOUT_LEVEL if level is None else float(level), made)


def _check_new(made: NamedCondition, others: list[NamedCondition], same_name: list[NamedCondition]) -> None:
    if made is CLEAN:
        return
    for other in others:
        if other.condition.content_hash == made.condition.content_hash:
            raise InputError(f"{_told(made)} and {_told(other)} are the same: leave one out")
    if any(other.level == made.level for other in same_name):
        raise InputError(f"conditions of one name must differ in level, got {_told(made)} twice: give one another name")


def _told(each: NamedCondition) -> str:
    return f"{each.name} {each.level:g}"
