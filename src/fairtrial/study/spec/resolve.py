"""Resolve a study: load the data, build the learners, conditions and schemes, and check all names before the study runs."""

from __future__ import annotations

import glob
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from fairtrial._registry import suggest_name
from fairtrial._text import format_count
from fairtrial.conditions import Clean, Condition, from_declaration
from fairtrial.data import Dataset, GivenFolds, load, read, read_folds
from fairtrial.data.reading import detect_format
from fairtrial.errors import FairtrialError, InputError, UnknownNameError
from fairtrial.resampling import Splits
from fairtrial.study.records import ResourceLimits
from fairtrial.study.spec.learners import NamedLearner, resolve_learners
from fairtrial.study.spec.local_code import CodePolicy
from fairtrial.study.spec.models import ConditionSpec, DataSetSpec, DataSpec, StudyResamplingSpec, StudySpec, is_path
from fairtrial.study.spec.objects import Objects
from fairtrial.study.spec.problems import KeyPath, ProblemsError, SpecProblem, to_problems
from fairtrial.study.spec.schemes import RIGHT_TARGET, Scheme, build_scheme, build_scheme_from_splitter, check_roles
from fairtrial.study.spec.tuning import Tuned, check_measure

_FOLD_OPTIONS = ("scheme", "target", "encoding")

_MAX_FOLDERS = 2_000
"""Maximum number of folders that a glob pattern may search."""

_WITHOUT_LEVEL = 1.0
"""Level stored for a condition that has no levels."""

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class NamedData:
    """A data set with its name in the study and its given splits, if any.

    `guessed_target` is True if the last column is used as the class, because neither the study nor the file names the class
    column.
    """

    name: str
    dataset: Dataset
    given_splits: Splits | None = None
    guessed_target: bool = False


class _GuessedTarget(NamedTuple):
    """A data set whose class is the last column, because neither the study nor the file names a class column."""

    dataset: Dataset


@dataclass(frozen=True)
class NamedCondition:
    """A condition with its name in the study. Level 0 means clean data. A condition without levels has level 1."""

    name: str
    level: float
    condition: Condition


@dataclass(frozen=True, eq=False)
class NamedScheme:
    """A resampling scheme with its name in the study."""

    name: str
    scheme: Scheme


CLEAN = NamedCondition("clean", 0.0, Clean())


@dataclass(frozen=True)
class VerdictPlan:
    """Options of the verdict: measure, control, significance level, region of practical equivalence, and failure policy."""

    measure: str
    control: str | None = None
    alpha: float = 0.05
    rope: float | None = None
    failures: str = "exclude"


@dataclass(frozen=True, eq=False)
class ResolvedStudy:
    """A study whose data are loaded and whose learners are built. `declaration` is the specification in plain values."""

    name: str
    seed: int
    declaration: Mapping[str, Any]
    data: tuple[NamedData, ...]
    conditions: tuple[NamedCondition, ...]
    learners: tuple[NamedLearner, ...]
    schemes: tuple[NamedScheme, ...]
    measures: tuple[str, ...]
    verdict: VerdictPlan
    limits: ResourceLimits


def resolve_spec(
    declaration: StudySpec, folder: Path | None = None, *, objects: Objects | None = None, allow_local_code: bool = False
) -> tuple[ResolvedStudy | None, list[SpecProblem]]:
    """Load the data, build the learners, conditions and schemes, and check measures.

    If there are problems, the returned study is None. Data paths are relative to `folder` (default: the current folder).
    `objects` contains the data sets, learners, conditions and splitters that were given as Python objects, keyed by location,
    such as `("learners", "forest")`.

    >>> values = {"data": ["iris"], "learners": ["c45", "svc"], "conditions": {"class-noise": [0, 0.1]}}
    >>> study, problems = resolve_spec(StudySpec.from_mapping(values))
    >>> [learner.name for learner in study.learners]
    ['c45', 'svc']
    >>> [(condition.name, condition.level) for condition in study.conditions], problems
    ([('clean', 0.0), ('class-noise', 0.1)], [])
    """
    folder, objects = folder or Path(), objects or {}
    data, problems = resolve_data(declaration.data, folder, objects)
    code = CodePolicy(allow_local_code, folder)
    learners, more = resolve_learners(declaration.learners, code, objects)
    conditions, still_more = resolve_conditions(declaration.conditions, objects)
    problems += [*more, *still_more]
    schemes, wrong = _resolve_schemes(declaration, objects, code)
    problems += [*wrong, *_find_unsplittable(schemes, data), *_find_untunable(learners, data)]
    problems += [*_check_measures(declaration), *_check_control(declaration)]
    if problems or not schemes:
        return None, problems
    resolved = ResolvedStudy(
        name=declaration.name,
        seed=declaration.seed,
        declaration=declaration.to_dict(),
        data=tuple(entry for _, entry in data),
        conditions=tuple(conditions),
        learners=tuple(learners),
        schemes=tuple(schemes),
        measures=tuple(declaration.measures),
        verdict=VerdictPlan(**declaration.verdict.model_dump()),
        limits=declaration.limits.to_resource_limits(),
    )
    return resolved, problems


def resolve_data(spec: DataSpec, folder: Path, objects: Objects) -> tuple[list[tuple[KeyPath, NamedData]], list[SpecProblem]]:
    """Load all data sets. Return the data sets with their locations, and all problems."""
    resolved: list[tuple[KeyPath, NamedData]] = []
    problems: list[SpecProblem] = []
    for key_path, name, make in _iter_data_factories(spec, folder, objects):
        try:
            entries = [_name_data(data, name) for data in make()]
            for entry in entries:
                _check_new_data(entry, [previous for _, previous in resolved])
                resolved.append((key_path, entry))
        except (FairtrialError, OSError, TypeError, ValueError) as error:
            problems += to_problems(error, *key_path)
    return resolved, problems


def _iter_data_factories(spec: DataSpec, folder: Path, objects: Objects) -> Iterator[tuple[KeyPath, str | None, Any]]:
    for number, text in enumerate(spec.sets):
        yield ("data", "sets", number), None, lambda text=text: _load_data(text, folder, {})
    for name, entry in spec.named_sets.items():
        yield ("data", name), name, lambda name=name, entry=entry: _load_entry(name, entry, folder, objects)


def _load_entry(name: str, entry: DataSetSpec, folder: Path, objects: Objects) -> list[Any]:
    if entry.object is not None:
        if ("data", name) not in objects:
            raise InputError(f"{name} was a Python object, which is not stored: write it to a file and use that")
        return [objects["data", name]]
    if entry.file is not None:
        path = _expand_path(entry.file, folder)
        return [build_collecting(lambda options: _load_file(path, options), entry.parameters)]
    loaded = build_collecting(lambda options: _load_data(str(entry.set), folder, options), entry.parameters)
    if len(loaded) != 1:
        raise InputError(f"{name} must be one data set, got {len(loaded)} files of {entry.set!r}: list them under sets")
    return loaded


def _load_data(text: str, folder: Path, options: Mapping[str, Any]) -> list[Any]:
    if not is_path(text, folder):
        return [_load_by_name(text, folder, options)]
    if not glob.has_magic(text) or _expand_path(text, folder).exists():
        return [_load_file(_expand_path(text, folder), options)]
    _check_pattern(text, folder)
    files = sorted(glob.glob(os.path.expanduser(text), root_dir=folder, recursive=True))
    if not files:
        raise InputError(f"no file matches {text!r} in {folder}")
    return [_load_file(folder / file, options) for file in files]


def _check_pattern(text: str, folder: Path) -> None:
    """Refuse a pattern that searches too many folders, such as `/**/*.csv`."""
    parts = Path(os.path.expanduser(text)).parts
    first = next(number for number, part in enumerate(parts) if glob.has_magic(part))
    depth = math.inf if "**" in parts else len(parts) - first
    levels = [folder.joinpath(*parts[:first])]
    visited = 0
    while levels and depth > 1:
        depth, below = depth - 1, []
        for searched in levels:
            visited += 1
            if visited > _MAX_FOLDERS:
                raise InputError(
                    f"{text!r} must search at most {_MAX_FOLDERS:,} folders, got more: name the folder of the files"
                )
            with suppress(OSError), os.scandir(searched) as entries:
                below += [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
        levels = below


def _load_by_name(text: str, folder: Path, options: Mapping[str, Any]) -> Any:
    roles = {role: options[role] for role in ("groups", "time") if role in options}
    unknown = [option for option in options if option not in roles]
    if unknown:
        raise InputError(
            f"{text} is a data set from the catalogue, which does not accept the option {unknown[0]!r}: remove the option"
        )
    try:
        return load(text).with_roles(**roles)
    except UnknownNameError:
        if (folder / text).exists():
            return _load_file(folder / text, options)
        raise


def _load_file(path: Path, options: Mapping[str, Any]) -> Any:
    """Load a table from a file, or folds from an archive or folder."""
    if not (path.is_dir() or path.suffix.lower() == ".zip"):
        if "name" in options:
            raise InputError(f"a data set has no option 'name', got {options['name']!r}: rename its table [data.NAME]")
        try:
            dataset = read(path, **options)
        except TypeError as error:
            raise InputError(f"{path.name} cannot be read with these options: {error}") from None
        declares_class = "target" in options or detect_format(path, options.get("format")) in ("keel", "arff")
        return dataset if declares_class or dataset.target.lower() in ("class", "target") else _GuessedTarget(dataset)
    for option in options:
        if option not in _FOLD_OPTIONS:
            raise InputError(f"folds have no option {option!r}: {suggest_name(option, _FOLD_OPTIONS)}")
    return read_folds(path, **options)


def _expand_path(text: str, folder: Path) -> Path:
    return folder / os.path.expanduser(text)


def _name_data(data: Any, name: str | None) -> NamedData:
    guessed_target = isinstance(data, _GuessedTarget)
    dataset = data.dataset if guessed_target or isinstance(data, GivenFolds) else data
    given_splits = Splits.from_pairs(data.splits, len(dataset)) if isinstance(data, GivenFolds) else None
    return NamedData(name or dataset.name, dataset, given_splits, guessed_target)


def _check_new_data(entry: NamedData, others: list[NamedData]) -> None:
    rows = entry.dataset.y.value_counts()
    present, target = int((rows > 0).sum()), entry.dataset.target
    if present < 2:
        raise InputError(f"{entry.name} must have at least 2 classes with rows, got {present}: check target")
    if rows.max() == 1:
        reason = f"{target!r} has a different value in each of {format_count(present, 'row')}"
        raise InputError(f"{entry.name} must have a class with more than 1 row, got none: {reason}; {RIGHT_TARGET}")
    for existing in others:
        if existing.name == entry.name:
            raise InputError(f"two data sets are called {entry.name!r}: rename one, with [data.NAME] and file = ...")
        if existing.dataset == entry.dataset:
            raise InputError(f"{entry.name} and {existing.name} have the same content: remove one")


def resolve_conditions(specs: Mapping[str, ConditionSpec], objects: Objects) -> tuple[list[NamedCondition], list[SpecProblem]]:
    """Build all conditions in order. The clean condition occurs at most once. Return the conditions and all problems."""
    conditions: list[NamedCondition] = []
    problems: list[SpecProblem] = []
    for name, entry in specs.items():
        first = len(conditions)
        for key_path, make in _iter_condition_factories(name, entry, objects):
            try:
                condition = _name_condition(name, make())
                _check_new_condition(condition, conditions, conditions[first:])
            except FairtrialError as error:
                is_from_options = isinstance(error, ProblemsError)
                new_problems = [
                    SpecProblem(_locate_problem(key_path, problem, is_from_options), problem.message)
                    for problem in to_problems(error)
                ]
                problems += [problem for problem in new_problems if problem not in problems]
                continue
            if condition is not CLEAN or CLEAN not in conditions:
                conditions.append(condition)
    return conditions, problems


def _iter_condition_factories(name: str, entry: ConditionSpec, objects: Objects) -> Iterator[tuple[KeyPath, Any]]:
    key_path: KeyPath = ("conditions", name)
    if key_path in objects:
        for number, condition in enumerate(objects["conditions", name]):
            yield (*key_path, number), lambda condition=condition: condition
    elif entry.level is None:
        yield key_path, lambda: _build_condition(name, entry, {})
    else:
        for number, level in enumerate(entry.level):
            yield (*key_path, "level", number), lambda level=level: _build_condition(name, entry, {"level": level})


def _locate_problem(key_path: KeyPath, problem: SpecProblem, is_from_options: bool) -> KeyPath:
    """Return the location of a problem: a parameter, a level, or the whole condition."""
    if problem.path and problem.path != ("level",):
        return (*key_path[:2], *problem.path)
    return (*key_path[:2], "condition") if is_from_options and not problem.path else key_path


def _build_condition(name: str, entry: ConditionSpec, level: dict[str, float]) -> Condition:
    if entry.object is not None:
        raise InputError(f"{name} was a Python object, which is not stored: declare it by name and parameters")
    if entry.condition == "class-noise" and "transition" in entry.parameters and not level:
        level = {"level": None}  # type: ignore[dict-item]  # the matrix determines the level
    return build_collecting(lambda options: from_declaration(str(entry.condition), **options), entry.parameters | level)


def _name_condition(name: str, condition: Condition) -> NamedCondition:
    level = getattr(condition, "level", None)
    if condition.is_clean:
        return CLEAN
    if name == CLEAN.name:
        raise InputError(f"clean is the name of unchanged data, got {condition}: rename the condition")
    return NamedCondition(name, _WITHOUT_LEVEL if level is None else float(level), condition)


def _check_new_condition(condition: NamedCondition, others: list[NamedCondition], same_name: list[NamedCondition]) -> None:
    if condition is CLEAN:
        return
    for existing in others:
        if existing.condition.content_hash == condition.condition.content_hash:
            raise InputError(f"{_format_condition(condition)} and {_format_condition(existing)} are the same: remove one")
    if any(existing.level == condition.level for existing in same_name):
        raise InputError(
            f"conditions of the same name must differ in level, got {_format_condition(condition)} twice: rename one"
        )


def _format_condition(condition: NamedCondition) -> str:
    return f"{condition.name} {condition.level:g}"


def _resolve_schemes(declaration: StudySpec, objects: Objects, code: CodePolicy) -> tuple[list[NamedScheme], list[SpecProblem]]:
    schemes: list[NamedScheme] = []
    problems: list[SpecProblem] = []
    for number, spec in enumerate(declaration.resampling):
        key_path: KeyPath = ("resampling", number) if len(declaration.resampling) > 1 else ("resampling",)
        try:
            scheme = NamedScheme(spec.display_name, _build_scheme(spec, objects.get(key_path), code))
            same = [other.name for other in schemes if _get_scheme_key(other) == _get_scheme_key(scheme)]
            if same:
                raise InputError(f"the schemes {same[0]!r} and {scheme.name!r} are the same: remove one")
            schemes.append(scheme)
        except FairtrialError as error:
            problems += to_problems(error, *key_path)
    return schemes, problems


def _build_scheme(spec: StudyResamplingSpec, splitter: Any, code: CodePolicy) -> Scheme:
    if splitter is not None:
        return build_scheme_from_splitter(splitter)
    options = {key: value for key, value in spec.to_dict().items() if key != "name"}
    return build_collecting(lambda options: build_scheme(options, code.load_class), options, needed=("scheme", "splitter"))


def _get_scheme_key(named: NamedScheme) -> tuple[str, int]:
    return named.scheme.text, named.scheme.repeats


def _find_unsplittable(schemes: list[NamedScheme], data: list[tuple[KeyPath, NamedData]]) -> Iterator[SpecProblem]:
    for named, (key_path, entry) in product(schemes, data):
        try:
            named.scheme.check(entry.name, entry.dataset, entry.given_splits)
        except FairtrialError as error:
            yield SpecProblem(key_path, str(error))


def _find_untunable(learners: list[NamedLearner], data: list[tuple[KeyPath, NamedData]]) -> Iterator[SpecProblem]:
    """Find data sets that lack the groups or times that the inner splits of a tuned learner need."""
    tuned = [learner for learner in learners if isinstance(learner.estimator, Tuned)]
    for learner, (key_path, entry) in product(tuned, data):
        try:
            check_roles(f"the tuning of {learner.name}", learner.estimator.resampling, entry.name, entry.dataset)
        except FairtrialError as error:
            yield SpecProblem(key_path, str(error))


def _check_measures(declaration: StudySpec) -> Iterator[SpecProblem]:
    seen: dict[str, str] = {}
    entries: list[tuple[KeyPath, str]] = [(("measures", i), name) for i, name in enumerate(declaration.measures)]
    if declaration.verdict.measure not in declaration.measures:
        entries.append((("verdict", "measure"), str(declaration.verdict.measure)))
    for key_path, name in entries:
        try:
            measure = check_measure(name)
        except FairtrialError as error:
            yield SpecProblem(key_path, str(error))
            continue
        if measure in seen and key_path[0] == "measures":
            yield SpecProblem(key_path, f"{name} and {seen[measure]} are the same measure: remove one")
        seen.setdefault(measure, name)


def _check_control(declaration: StudySpec) -> Iterator[SpecProblem]:
    control = declaration.verdict.control
    if control is not None and control not in declaration.learners:
        hint = suggest_name(control, declaration.learners)
        yield SpecProblem(("verdict", "control"), f"control must be a learner of the study, got {control!r}: {hint}")


def build_collecting(make: Callable[[dict[str, Any]], T], options: Mapping[str, Any], *, needed: tuple[str, ...] = ()) -> T:
    """Call `make` with options, and collect all problems.

    If `make` refuses an option, the option is dropped and `make` is called again, unless the option is in `needed`. A later
    error that mentions a dropped option is not reported, but ends the collection.

    >>> def half(options):
    ...     for name, value in options.items():
    ...         if value % 2:
    ...             raise InputError(f"{name} must be even, got {value}")
    >>> build_collecting(half, {"a": 1, "b": 2, "c": 3})
    Traceback (most recent call last):
    fairtrial.study.spec.problems.ProblemsError: a must be even, got 1; c must be even, got 3
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
    """Find the option that an error message mentions."""
    for key in options:
        phrases = (f"parameter {key!r}", f"option {key!r}", f"no {key} is called")
        if message.startswith(f"{key} ") or any(phrase in message for phrase in phrases):
            return key
    return None


def _is_consequence(message: str, problems: list[SpecProblem]) -> bool:
    """Return whether a message mentions a previously dropped option."""
    return any(re.search(rf"\b{re.escape(str(problem.path[0]))}\b", message) for problem in problems)
