"""All mistakes of a study at once, each with its place."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from difflib import get_close_matches
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from fairtrial._registry import did_you_mean
from fairtrial.errors import InputError, Problem, SpecError
from fairtrial.study.declare import declared_forms as forms
from fairtrial.study.declare.declaration import Declaration, Learner, Limits, Tuning, Verdict
from fairtrial.study.declare.gathering import Mistake as Mistake, MistakesError
from fairtrial.study.declare.toml_places import Path, Place, place_of
from fairtrial.study.declare.toml_text import toml_of

P = TypeVar("P", bound=BaseModel)

_OPEN_SECTIONS = ("data", "learners", "conditions", "resampling")
_FORMS = {
    "data": forms.data_form,
    "learners": forms.learners_form,
    "conditions": forms.conditions_form,
    "resampling": forms.resampling_form,
}
_PARTS: dict[tuple[str, ...], type[BaseModel]] = {
    (): Declaration,
    ("verdict",): Verdict,
    ("limits",): Limits,
    ("learners", "*"): Learner,
    ("learners", "*", "tune"): Tuning,
}


def place_name(path: Path) -> str:
    """A path as people write it.

    >>> place_name(("data", "sets", 2)), place_name(("learners", "forest"))
    ('data.sets[2]', 'learners.forest')
    """
    told = ""
    for part in path:
        told += f"[{part}]" if isinstance(part, int) else f".{part}" if told else part
    return told


def spec_error(mistakes: Iterable[Mistake], places: Mapping[Path, Place] | None = None, source: str = "") -> SpecError:
    """The error that tells all of them, with lines where the places are known."""
    problems = []
    for each in dict.fromkeys(mistakes):
        place = place_of(places or {}, each.path)
        problems.append(Problem(place_name(each.path), place[0] if place else None, each.message))
    return SpecError.of(problems, source)


def declared(mapping: Any, known: Iterable[Mistake] = ()) -> tuple[Declaration, list[Mistake]]:
    """The declaration of plain values, without the parts that are wrong, and what is wrong with them.

    Mistakes that are `known` before are among them.

    >>> found, mistakes = declared({"data": ["iris"], "learners": ["c45"], "resampling": {"folds": "five"}, "sede": 1})
    >>> for each in mistakes:
    ...     print(place_name(each.path), "-", each.message)
    resampling.folds - folds must be a whole number of at least 2, got 'five'
    sede - a study has no section or key 'sede': did you mean 'seed'?
    """
    if not isinstance(mapping, Mapping):
        return Declaration(), [Mistake((), f"a study must be a table of sections, got {mapping!r}")]
    mistakes = [*known, *_misplaced(mapping), *_absent(mapping)]
    rest = _in_long_form(mapping)
    _without(rest, mistakes)
    while True:
        try:
            return Declaration.model_validate(rest), mistakes
        except ValidationError as error:
            found = [Mistake(*_mistake(each, rest)) for each in error.errors(include_url=False)]
        mistakes += as_written(found, mistakes)
        _without(rest, found)


def as_written(later: Iterable[Mistake], earlier: Iterable[Mistake]) -> list[Mistake]:
    """Later mistakes by their places in what was written, from lists of which those of earlier ones had been taken out.

    >>> as_written([Mistake(("measures", 1), "no measure is called 'acuracy'")], [Mistake(("measures", 0), "got 3")])
    [Mistake(path=('measures', 2), message="no measure is called 'acuracy'")]
    """
    gone = {each.path for each in earlier}
    return [Mistake(_before(each.path, gone), each.message) for each in later]


def _before(path: Path, gone: set[Path]) -> Path:
    for place, part in enumerate(path):
        if isinstance(part, int):
            number = part
            for other in sorted(each[-1] for each in gone if each[:-1] == path[:place] and isinstance(each[-1], int)):
                number += number >= other
            return (*path[:place], number, *path[place + 1 :])
    return path


def declared_part(kind: type[P], value: Mapping[str, Any]) -> P:
    """A part of a declaration that stands within another; the first mistake is told as an InputError."""
    try:
        return kind.model_validate(dict(value))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path, message = _mistake({**first, "loc": ("learners", "within", *first["loc"])}, {"learners": {"within": value}})
        raise MistakesError([Mistake(path[2:], message)]) from None


def _mistake(error: Any, rest: Mapping[str, Any]) -> tuple[Path, str]:
    path: Path = tuple(error["loc"])
    if error["type"] == "value_error":
        return path, str(error["ctx"]["error"])
    if error["type"] == "extra_forbidden":
        return path, _unknown_parameter(path, error["input"], rest) or _unknown_key(path)
    if error["type"] == "missing":
        return path[:-1], f"{path[-1]} is missing: write {path[-1]} = ..."
    told = {"list_type": "a list", "model_type": "a table", "dict_type": "a table"}.get(error["type"], "")
    if told:
        return path, f"{path[-1]} must be {told}, got {error['input']!r}"
    return path, f"{path[-1]}: {error['msg']}, got {error['input']!r}"


def _unknown_key(path: Path) -> str:
    key = str(path[-1])
    above = tuple("*" if number == 1 and path[0] == "learners" else str(each) for number, each in enumerate(path[:-1]))
    known = list(_PARTS.get(above, Learner).model_fields)
    owner = "a learner" if above == ("learners", "*") else "".join(above[-1:])
    if above and key in Declaration.model_fields:
        return f"{owner} has no key {key!r}, a study has: in TOML it stands above the first [table]"
    what = f"{owner} has no key" if above else "a study has no section or key"
    return f"{what} {key!r}: {did_you_mean(key, [each for each in known if each != 'object'])}"


def _unknown_parameter(path: Path, value: Any, rest: Mapping[str, Any]) -> str | None:
    """A parameter of the learner that stands beside `parameters`; also any word that is near no key, of a learner elsewhere."""
    if path[:1] != ("learners",) or len(path) != len(("learners", "name", "key")) or path[2] in Declaration.model_fields:
        return None
    key, known = str(path[2]), _parameters(rest["learners"][path[1]].get("learner"))
    if key not in known and get_close_matches(key, Learner.model_fields):
        return None
    near = get_close_matches(key, [key, *known][known != () and key not in known :], n=1)
    if not near:
        return None
    with suppress(InputError):
        told = toml_of({"parameters": {near[0]: value}}).splitlines()[-1]
        return f"a learner has no key {key!r}: its parameters stand in a table, write parameters = {{ {told} }}"
    return None


def _parameters(learner: Any) -> Collection[str]:
    """The parameters of a learner of the catalogue; of no other, since nothing is imported for a hint."""
    from fairtrial.learners import catalogue

    with suppress(InputError):
        if isinstance(learner, str) and not any(each in learner for each in "./\\:"):
            return catalogue.parameters_of(catalogue.learner_class(learner))
    return ()


def _misplaced(mapping: Mapping[str, Any]) -> Iterator[Mistake]:
    """Keys of the study that slipped into the table before them."""
    for section in _OPEN_SECTIONS:
        table = mapping.get(section)
        for key in ("measures", "seed"):
            if isinstance(table, Mapping) and key in table and not isinstance(table[key], Mapping):
                told = f"{section} holds {key!r}, a key of the study itself: in TOML it stands above the first [table]"
                yield Mistake((section, key), told)


def _absent(mapping: Mapping[str, Any]) -> Iterator[Mistake]:
    """What no study can do without; a section whose name is nearly right is told as that."""
    unknown = [str(each) for each in mapping if each not in Declaration.model_fields]
    for section, what in (("data", "data set"), ("learners", "learner")):
        value = mapping.get(section, {})
        empty = (isinstance(value, (Mapping, list, tuple)) and not value) or value == {"sets": []}
        if empty and not get_close_matches(section, unknown):
            yield Mistake((section,), f"a study must have at least 1 {what}, got none: add [{section}]")


def _in_long_form(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """The sections as their checks will see them, so that the path of a mistake leads to what is there."""
    rest = {str(name): deepcopy(value) for name, value in mapping.items()}
    for section, form in _FORMS.items():
        if section in rest:
            with suppress(InputError):
                rest[section] = form(rest[section])
    return rest


def _without(rest: dict[str, Any], mistakes: Iterable[Mistake]) -> None:
    """Take out what is wrong; later members of a list first, so that the numbers of the others stay right."""
    spoilt = {_spoilt(each.path) for each in mistakes}
    for path in sorted(spoilt, key=lambda path: [(str(type(part)), part) for part in path], reverse=True):
        _remove(rest, path)


def _spoilt(path: Path) -> Path:
    """The smallest part that a mistake spoils: an entry of learners, data or conditions, or else a single key."""
    whole = path[:1] in (("learners",), ("conditions",), ("data",)) and path[:2] != ("data", "sets")
    return path[:2] if whole else path[:3]


def _remove(rest: dict[str, Any], path: Path) -> None:
    table: Any = rest
    for part in path[:-1]:
        table = table.get(part) if isinstance(table, Mapping) else None
    last = path[-1]
    there = (
        last in table if isinstance(table, dict) else isinstance(table, list) and isinstance(last, int) and last < len(table)
    )
    if there and len(table) == 1 and isinstance(table, list):
        _remove(rest, path[:-1])
    elif there:
        del table[last]
    elif len(path) > 1:
        _remove(rest, path[:-1])
