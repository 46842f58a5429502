"""All mistakes of a study at once, each with its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import deepcopy
from difflib import get_close_matches
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from fairtrial._registry import suggest_name
from fairtrial.errors import FairtrialError, InputError, Problem, SpecError
from fairtrial.study.spec import models as forms
from fairtrial.study.spec.models import LearnerSpec, LimitsSpec, StudySpec, TuningSpec, VerdictSpec
from fairtrial.study.spec.toml import KeyPath, TextPosition, find_position, format_toml

T = TypeVar("T")


class SpecProblem(NamedTuple):
    """A mistake by its path: `("learners", "forest", "sampler")`."""

    path: KeyPath
    message: str


class ProblemsError(InputError):
    """Several mistakes at once, by their paths within what was being made."""

    def __init__(self, problems: Iterable[SpecProblem]) -> None:
        self.problems = list(problems)
        super().__init__("; ".join(problem.message for problem in self.problems))


def to_problems(error: Exception, *key_path: str | int) -> list[SpecProblem]:
    """What an error tells, as mistakes at a place or below it."""
    problems = error.problems if isinstance(error, ProblemsError) else [SpecProblem((), str(error))]
    return [SpecProblem((*key_path, *problem.path), problem.message) for problem in problems]


class ProblemCollector:
    """Goes on where something is wrong, and tells everything in the end.

    >>> gathering = ProblemCollector()
    >>> with gathering.at("sampler"):
    ...     raise InputError("no sampler is called 'smoote'")
    >>> gathering.problems
    [Mistake(path=('sampler',), message="no sampler is called 'smoote'")]
    """

    def __init__(self) -> None:
        self.problems: list[SpecProblem] = []

    @contextmanager
    def collect(self, *key_path: str | int) -> Iterator[None]:
        """What goes wrong within belongs to this place, and does not stop the rest."""
        try:
            yield
        except FairtrialError as error:
            self.problems += to_problems(error, *key_path)

    def raise_if_any(self) -> None:
        """Raise all that was gathered, if anything was."""
        if self.problems:
            raise ProblemsError(self.problems)


def build_collecting(make: Callable[[dict[str, Any]], T], options: Mapping[str, Any], *, needed: tuple[str, ...] = ()) -> T:
    """What `make` makes of options. One that it refuses is left out and the rest tried again, so that all are told.

    Without one that is `needed` nothing can be tried. What is told of others for want of one that was left out does not count.

    >>> def half(options):
    ...     for name, value in options.items():
    ...         if value % 2:
    ...             raise InputError(f"{name} must be even, got {value}")
    >>> build_collecting(half, {"a": 1, "b": 2, "c": 3})
    Traceback (most recent call last):
    fairtrial.study.spec.problems.MistakesError: a must be even, got 1; c must be even, got 3
    """
    rest, problems = dict(options), list[SpecProblem]()
    while True:
        try:
            result = make(rest)
        except (FairtrialError, OSError, TypeError, ValueError) as error:
            if _is_consequence(str(error), problems):
                raise ProblemsError(problems) from None
            key = _find_option(str(error), rest)
            if key is None or isinstance(error, ProblemsError):
                raise ProblemsError([*problems, *to_problems(error)]) from None
            problems.append(SpecProblem((key,), str(error)))
            if key in needed:
                raise ProblemsError(problems) from None
            del rest[key]
            continue
        if problems:
            raise ProblemsError(problems)
        return result


def _find_option(message: str, options: Mapping[str, Any]) -> str | None:
    """The option that a message is about."""
    for key in options:
        phrases = (f"parameter {key!r}", f"option {key!r}", f"no {key} is called")
        if message.startswith(f"{key} ") or any(phrase in message for phrase in phrases):
            return key
    return None


def _is_consequence(message: str, problems: list[SpecProblem]) -> bool:
    """Whether a message is about what was left out before."""
    return any(re.search(rf"\b{re.escape(str(problem.path[0]))}\b", message) for problem in problems)


P = TypeVar("P", bound=BaseModel)


_OPEN_SECTIONS = ("data", "learners", "conditions", "resampling")


_EXPANDERS = {
    "data": forms.expand_data,
    "learners": forms.expand_learners,
    "conditions": forms.expand_conditions,
    "resampling": forms.expand_resampling,
}


_TABLES: dict[tuple[str, ...], type[BaseModel]] = {
    (): StudySpec,
    ("verdict",): VerdictSpec,
    ("limits",): LimitsSpec,
    ("learners", "*"): LearnerSpec,
    ("learners", "*", "tune"): TuningSpec,
}


def format_key_path(path: KeyPath) -> str:
    """A path as people write it.

    >>> format_key_path(("data", "sets", 2)), format_key_path(("learners", "forest"))
    ('data.sets[2]', 'learners.forest')
    """
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def build_spec_error(
    spec_problems: Iterable[SpecProblem], positions: Mapping[KeyPath, TextPosition] | None = None, source: str = ""
) -> SpecError:
    """The error that tells all of them, with lines where the places are known."""
    problems = []
    for problem in dict.fromkeys(spec_problems):
        position = find_position(positions or {}, problem.path)
        problems.append(Problem(format_key_path(problem.path), position[0] if position else None, problem.message))
    return SpecError.from_problems(problems, source)


def validate_spec(mapping: Any, known_problems: Iterable[SpecProblem] = ()) -> tuple[StudySpec, list[SpecProblem]]:
    """The declaration of plain values, without the parts that are wrong, and what is wrong with them.

    Mistakes that are `known` before are among them.

    >>> found, mistakes = validate_spec({"data": ["iris"], "learners": ["c45"], "resampling": {"folds": "five"}, "sede": 1})
    >>> for each in mistakes:
    ...     print(format_key_path(each.move_path), "-", each.wait_for_message)
    resampling.folds - folds must be a whole number of at least 2, got 'five'
    sede - a study has no section or key 'sede': did you mean 'seed'?
    """
    if not isinstance(mapping, Mapping):
        return StudySpec(), [SpecProblem((), f"a study must be a table of sections, got {mapping!r}")]
    problems = [*known_problems, *_find_misplaced_keys(mapping), *_find_missing_sections(mapping)]
    rest = _expand_sections(mapping)
    _remove_problems(rest, problems)
    while True:
        try:
            return StudySpec.model_validate(rest), problems
        except ValidationError as error:
            new_problems = [SpecProblem(*_describe_error(detail, rest)) for detail in error.errors(include_url=False)]
        problems += restore_indices(new_problems, problems)
        _remove_problems(rest, new_problems)


def restore_indices(later: Iterable[SpecProblem], earlier: Iterable[SpecProblem]) -> list[SpecProblem]:
    """Later mistakes by their places in what was written, from lists of which those of earlier ones had been taken out.

    >>> restore_indices([SpecProblem(("measures", 1), "no measure is called 'acuracy'")], [SpecProblem(("measures", 0), "got 3")])
    [Mistake(path=('measures', 2), message="no measure is called 'acuracy'")]
    """
    removed_paths = {problem.path for problem in earlier}
    return [SpecProblem(_restore_index(problem.path, removed_paths), problem.message) for problem in later]


def _restore_index(path: KeyPath, removed_paths: set[KeyPath]) -> KeyPath:
    for depth, part in enumerate(path):
        if isinstance(part, int):
            number = part
            for removed_index in sorted(
                removed_path[-1]
                for removed_path in removed_paths
                if removed_path[:-1] == path[:depth] and isinstance(removed_path[-1], int)
            ):
                number += number >= removed_index
            return (*path[:depth], number, *path[depth + 1 :])
    return path


def validate_table(kind: type[P], value: Mapping[str, Any]) -> P:
    """A part of a declaration that stands within another; the first mistake is told as an InputError."""
    try:
        return kind.model_validate(dict(value))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path, message = _describe_error(
            {**first, "loc": ("learners", "within", *first["loc"])}, {"learners": {"within": value}}
        )
        raise ProblemsError([SpecProblem(path[2:], message)]) from None


def _describe_error(error: Any, rest: Mapping[str, Any]) -> tuple[KeyPath, str]:
    path: KeyPath = tuple(error["loc"])
    if error["type"] == "value_error":
        return path, str(error["ctx"]["error"])
    if error["type"] == "extra_forbidden":
        return path, _describe_unknown_parameter(path, error["input"], rest) or _describe_unknown_key(path)
    if error["type"] == "missing":
        return path[:-1], f"{path[-1]} is missing: write {path[-1]} = ..."
    expected = {"list_type": "a list", "model_type": "a table", "dict_type": "a table"}.get(error["type"], "")
    if expected:
        return path, f"{path[-1]} must be {expected}, got {error['input']!r}"
    return path, f"{path[-1]}: {error['msg']}, got {error['input']!r}"


def _describe_unknown_key(path: KeyPath) -> str:
    key = str(path[-1])
    above = tuple("*" if number == 1 and path[0] == "learners" else str(part) for number, part in enumerate(path[:-1]))
    known_keys = list(_TABLES.get(above, LearnerSpec).model_fields)
    owner = "a learner" if above == ("learners", "*") else "".join(above[-1:])
    if above and key in StudySpec.model_fields:
        return f"{owner} has no key {key!r}, a study has: in TOML it stands above the first [table]"
    subject = f"{owner} has no key" if above else "a study has no section or key"
    return f"{subject} {key!r}: {suggest_name(key, [name for name in known_keys if name != 'object'])}"


def _describe_unknown_parameter(path: KeyPath, value: Any, rest: Mapping[str, Any]) -> str | None:
    """A parameter of the learner that stands beside `parameters`; also any word that is near no key, of a learner elsewhere."""
    if path[:1] != ("learners",) or len(path) != len(("learners", "name", "key")) or path[2] in StudySpec.model_fields:
        return None
    key, parameters = str(path[2]), _list_parameters(rest["learners"][path[1]].get("learner"))
    if key not in parameters and get_close_matches(key, LearnerSpec.model_fields):
        return None
    near = get_close_matches(key, [key, *parameters][parameters != () and key not in parameters :], n=1)
    if not near:
        return None
    with suppress(InputError):
        line = format_toml({"parameters": {near[0]: value}}).splitlines()[-1]
        return f"a learner has no key {key!r}: its parameters stand in a table, write parameters = {{ {line} }}"
    return None


def _list_parameters(learner: Any) -> Collection[str]:
    """The parameters of a learner of the catalogue; of no other, since nothing is imported for a hint."""
    from fairtrial.learners import catalogue

    with suppress(InputError):
        if isinstance(learner, str) and not any(character in learner for character in "./\\:"):
            return catalogue.get_parameters(catalogue.learner_class(learner))
    return ()


def _find_misplaced_keys(mapping: Mapping[str, Any]) -> Iterator[SpecProblem]:
    """Keys of the study that slipped into the table before them."""
    for section in _OPEN_SECTIONS:
        table = mapping.get(section)
        for key in ("measures", "seed"):
            if isinstance(table, Mapping) and key in table and not isinstance(table[key], Mapping):
                message = f"{section} holds {key!r}, a key of the study itself: in TOML it stands above the first [table]"
                yield SpecProblem((section, key), message)


def _find_missing_sections(mapping: Mapping[str, Any]) -> Iterator[SpecProblem]:
    """What no study can do without; a section whose name is nearly right is told as that."""
    unknown = [str(key) for key in mapping if key not in StudySpec.model_fields]
    for section, noun in (("data", "data set"), ("learners", "learner")):
        value = mapping.get(section, {})
        empty = (isinstance(value, (Mapping, list, tuple)) and not value) or value == {"sets": []}
        if empty and not get_close_matches(section, unknown):
            yield SpecProblem((section,), f"a study must have at least 1 {noun}, got none: add [{section}]")


def _expand_sections(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """The sections as their checks will see them, so that the path of a mistake leads to what is there."""
    rest = {str(name): deepcopy(value) for name, value in mapping.items()}
    for section, expand in _EXPANDERS.items():
        if section in rest:
            with suppress(InputError):
                rest[section] = expand(rest[section])
    return rest


def _remove_problems(rest: dict[str, Any], problems: Iterable[SpecProblem]) -> None:
    """Take out what is wrong; later members of a list first, so that the numbers of the others stay right."""
    affected = {_find_affected_path(problem.path) for problem in problems}
    for path in sorted(affected, key=lambda path: [(str(type(part)), part) for part in path], reverse=True):
        _remove_key(rest, path)


def _find_affected_path(path: KeyPath) -> KeyPath:
    """The smallest part that a mistake spoils: an entry of learners, data or conditions, or else a single key."""
    whole = path[:1] in (("learners",), ("conditions",), ("data",)) and path[:2] != ("data", "sets")
    return path[:2] if whole else path[:3]


def _remove_key(rest: dict[str, Any], path: KeyPath) -> None:
    table: Any = rest
    for part in path[:-1]:
        table = table.get(part) if isinstance(table, Mapping) else None
    last = path[-1]
    exists = (
        last in table if isinstance(table, dict) else isinstance(table, list) and isinstance(last, int) and last < len(table)
    )
    if exists and len(table) == 1 and isinstance(table, list):
        _remove_key(rest, path[:-1])
    elif exists:
        del table[last]
    elif len(path) > 1:
        _remove_key(rest, path[:-1])
