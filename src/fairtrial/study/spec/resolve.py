"""From what a study declares to what it needs: everything is made and checked before anything runs."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtrial._registry import suggest_name
from fairtrial.conditions import Clean, Condition, from_declaration
from fairtrial.errors import FairtrialError, InputError
from fairtrial.study.records import ResourceLimits
from fairtrial.study.spec import models
from fairtrial.study.spec.models import DataSetSpec, DataSpec, format_count
from fairtrial.study.spec.problems import SpecProblem, build_collecting, to_problems
from fairtrial.study.spec.schemes import RIGHT_TARGET

if TYPE_CHECKING:
    import numpy as np

    from fairtrial.data import Dataset
    from fairtrial.resampling import Splits
    from fairtrial.study.spec.models import StudySpec
    from fairtrial.study.spec.schemes import Scheme


@dataclass(frozen=True, eq=False)
class NamedData:
    """A data set as the study calls it, with the splits that it brings along, if any."""

    name: str
    dataset: Dataset
    given_splits: Splits | None = None


@dataclass(frozen=True)
class NamedCondition:
    """A condition as the study calls it; that of level 0 is clean. A condition without a level has level 1."""

    name: str
    level: float
    condition: Condition


@dataclass(frozen=True, eq=False)
class NamedLearner:
    """A learner as the study calls it, with all that it needs before it."""

    name: str
    estimator: Any


@dataclass(frozen=True)
class VerdictPlan:
    """How the study is to be judged."""

    measure: str
    control: str | None = None
    alpha: float = 0.05
    rope: float | None = None
    failures: str = "exclude"


@dataclass(frozen=True, eq=False)
class ResolvedStudy:
    """All that a study needs to be planned and run."""

    name: str
    seed: int
    declaration: StudySpec
    data: tuple[NamedData, ...]
    conditions: tuple[NamedCondition, ...]
    learners: tuple[NamedLearner, ...]
    resampling: Scheme
    measures: tuple[str, ...]
    verdict: VerdictPlan
    limits: ResourceLimits

    @property
    def repeats(self) -> int:
        """How often the data are split."""
        return self.resampling.repeats

    @property
    def scheme(self) -> str:
        """One text for all that decides the splits but the seed, the data and the number of repeats."""
        return self.resampling.text

    def draw_splits(self, entry: NamedData, repeat: int, rng: np.random.Generator) -> Splits:
        """The splits of a data set in one repeat."""
        return self.resampling.draw_splits(entry.dataset, entry.given_splits, repeat, rng)


_FOLD_OPTIONS = ("scheme", "target", "encoding")


def resolve_data(
    spec: DataSpec, folder: Path, objects: Mapping[tuple[str, ...], Any]
) -> tuple[list[tuple[tuple[str | int, ...], NamedData]], list[SpecProblem]]:
    """Each data set with its place, and what is wrong."""
    resolved: list[tuple[tuple[str | int, ...], NamedData]] = []
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


def is_path(text: str, folder: Path) -> bool:
    """Whether a text names a file or a folder rather than a set of the catalogue or of OpenML.

    >>> is_path("iris", Path()), is_path("openml:61", Path()), is_path("heart.csv", Path()), is_path("files/*.dat", Path())
    (False, False, True, True)
    """
    from fairtrial.data.reading import SUFFIXES

    if text.startswith("openml:"):
        return False
    if glob.has_magic(text) or text.lower().endswith((*SUFFIXES, ".gz", ".zip")) or text.startswith((".", "~", os.sep)):
        return True
    return ("/" in text or os.sep in text) and (folder / text).exists()


def _iter_data_factories(
    spec: DataSpec, folder: Path, objects: Mapping[tuple[str, ...], Any]
) -> Iterator[tuple[tuple[str | int, ...], str | None, Any]]:
    for number, text in enumerate(spec.sets):
        yield ("data", "sets", number), None, lambda text=text: _load_data(text, folder, {})
    for name, entry in spec.named_sets.items():
        yield ("data", name), name, lambda name=name, entry=entry: _load_entry(name, entry, folder, objects)


def _load_entry(name: str, entry: DataSetSpec, folder: Path, objects: Mapping[tuple[str, ...], Any]) -> list[Any]:
    if entry.object is not None:
        if ("data", name) not in objects:
            raise InputError(f"{name} was an object of Python, which no file can hold: write it to a file and name that")
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
    files = sorted(glob.glob(os.path.expanduser(text), root_dir=folder, recursive=True))
    if not files:
        raise InputError(f"no file fits {text!r} in {folder}")
    return [_load_file(folder / file, options) for file in files]


def _load_by_name(text: str, folder: Path, options: Mapping[str, Any]) -> Any:
    from fairtrial.data import load
    from fairtrial.errors import UnknownNameError

    if options:
        raise InputError(f"{text} is a set of the catalogue and has no option {next(iter(options))!r}: options are for files")
    try:
        return load(text)
    except UnknownNameError:
        if (folder / text).exists():
            return _load_file(folder / text, options)
        raise


def _load_file(path: Path, options: Mapping[str, Any]) -> Any:
    """A table, or folds in an archive or a folder."""
    from fairtrial.data import read, read_folds

    if not (path.is_dir() or path.suffix.lower() == ".zip"):
        if "name" in options:
            raise InputError(f"a data set has no option 'name', got {options['name']!r}: its name is that of its table")
        try:
            return read(path, **options)
        except TypeError as error:
            raise InputError(f"{path.name} cannot be read with these options: {error}") from None
    for option in options:
        if option not in _FOLD_OPTIONS:
            raise InputError(f"folds have no option {option!r}: {suggest_name(option, _FOLD_OPTIONS)}")
    return read_folds(path, **options)


def _expand_path(text: str, folder: Path) -> Path:
    return folder / os.path.expanduser(text)


def _name_data(data: Any, name: str | None) -> NamedData:
    from fairtrial.data import GivenFolds
    from fairtrial.resampling import Splits

    dataset = data.dataset if isinstance(data, GivenFolds) else data
    given_splits = Splits.from_pairs(data.splits, len(dataset)) if isinstance(data, GivenFolds) else None
    return NamedData(name or dataset.name, dataset, given_splits)


def _check_new_data(entry: NamedData, others: list[NamedData]) -> None:
    rows = entry.dataset.y.value_counts()
    present, target = int((rows > 0).sum()), entry.dataset.target
    if present < 2:
        raise InputError(f"{entry.name} must have at least 2 classes with rows, got {present}: is the target right?")
    if rows.max() == 1:
        reason = f"{target!r} has a value of its own in each of {format_count(present, 'row')}"
        raise InputError(f"{entry.name} must have a class with more than 1 row, got none: {reason}; {RIGHT_TARGET}")
    for existing in others:
        if existing.name == entry.name:
            raise InputError(f"two data sets are called {entry.name!r}: give one a name, [data.another] with file = ...")
        if existing.dataset == entry.dataset:
            raise InputError(f"{entry.name} and {existing.name} have the same contents: leave one out")


CLEAN = NamedCondition("clean", 0.0, Clean())


_WITHOUT_LEVEL = 1.0


KeyPath = tuple[str | int, ...]


def resolve_conditions(
    specs: Mapping[str, models.ConditionSpec], objects: Mapping[tuple[str, ...], Any]
) -> tuple[list[NamedCondition], list[SpecProblem]]:
    """All conditions in their order, clean once, and what is wrong."""
    conditions: list[NamedCondition] = []
    problems: list[SpecProblem] = []
    for name, entry in specs.items():
        first = len(conditions)
        for key_path, make in _iter_condition_factories(name, entry, objects):
            try:
                condition = _name_condition(name, make())
                _check_new_condition(condition, conditions, conditions[first:])
            except FairtrialError as error:
                new_problems = [
                    SpecProblem(_locate_problem(key_path, problem), problem.message) for problem in to_problems(error)
                ]
                problems += [problem for problem in new_problems if problem not in problems]
                continue
            if condition is not CLEAN or CLEAN not in conditions:
                conditions.append(condition)
    return conditions, problems


def _iter_condition_factories(
    name: str, entry: models.ConditionSpec, objects: Mapping[tuple[str, ...], Any]
) -> Iterator[tuple[KeyPath, Any]]:
    key_path: KeyPath = ("conditions", name)
    if key_path in objects:
        for number, condition in enumerate(objects["conditions", name]):
            yield (*key_path, number), lambda condition=condition: condition
    elif entry.level is None:
        yield key_path, lambda: _build_condition(name, entry, {})
    else:
        for number, level in enumerate(entry.level):
            yield (*key_path, "level", number), lambda level=level: _build_condition(name, entry, {"level": level})


def _locate_problem(key_path: KeyPath, problem: SpecProblem) -> KeyPath:
    """The parameter that is wrong; what is wrong with the condition itself is wrong at every level."""
    if problem.path and problem.path != ("level",):
        return (*key_path[:2], *problem.path)
    phrases = ("no condition is called", "needs the parameter")
    return (*key_path[:2], "condition") if any(phrase in problem.message for phrase in phrases) else key_path


def _build_condition(name: str, entry: models.ConditionSpec, level: dict[str, float]) -> Condition:
    if entry.object is not None:
        raise InputError(f"{name} was an object of Python, which no file can hold: declare it by its name and parameters")
    if entry.condition == "class-noise" and "transition" in entry.parameters and not level:
        level = {"level": None}  # type: ignore[dict-item]  # the matrix tells how much changes
    return build_collecting(lambda options: from_declaration(str(entry.condition), **options), entry.parameters | level)


def _name_condition(name: str, condition: Condition) -> NamedCondition:
    level = getattr(condition, "level", None)
    if isinstance(condition, Clean) or level == 0:
        return CLEAN
    if name == CLEAN.name:
        raise InputError(f"clean is what data without a change are called, got {condition}: give it another name")
    return NamedCondition(name, _WITHOUT_LEVEL if level is None else float(level), condition)


def _check_new_condition(condition: NamedCondition, others: list[NamedCondition], same_name: list[NamedCondition]) -> None:
    if condition is CLEAN:
        return
    for existing in others:
        if existing.condition.content_hash == condition.condition.content_hash:
            raise InputError(f"{_format_condition(condition)} and {_format_condition(existing)} are the same: leave one out")
    if any(existing.level == condition.level for existing in same_name):
        raise InputError(
            f"conditions of one name must differ in level, got {_format_condition(condition)} twice: give one another name"
        )


def _format_condition(condition: NamedCondition) -> str:
    return f"{condition.name} {condition.level:g}"


Objects = Mapping[tuple[str, ...], Any]


def resolve(
    declaration: StudySpec, folder: Path | None = None, *, objects: Objects | None = None, allow_local_code: bool = False
) -> ResolvedStudy:
    """Load the data, make learners, conditions and the splitter, check measures; a SpecError tells all mistakes.

    Data paths are relative to `folder`, by default the current one. `objects` are data sets, learners, conditions and the
    splitter that came as objects of Python, by their place: `("learners", "forest")`.

    >>> from fairtrial.study.spec.models import StudySpec
    >>> found = resolve(StudySpec.of({"data": ["iris"], "learners": ["c45", "svc"], "conditions": {"class-noise": [0, 0.1]}}))
    >>> [each.name for each in found.learners], [(each.name, each.level) for each in found.conditions]
    (['c45', 'svc'], [('clean', 0.0), ('class-noise', 0.1)])
    """
    from fairtrial.study.spec.problems import build_spec_error

    resolved, problems = resolve_all(declaration, folder, objects=objects, allow_local_code=allow_local_code)
    if problems or resolved is None:
        raise build_spec_error(problems)
    return resolved


def resolve_all(
    declaration: StudySpec, folder: Path | None = None, *, objects: Objects | None = None, allow_local_code: bool = False
) -> tuple[ResolvedStudy | None, list[SpecProblem]]:
    """The same, with the mistakes beside it."""

    from fairtrial.study.spec.learners import CodePolicy, resolve_learners

    folder, objects = folder or Path(), objects or {}
    data, problems = resolve_data(declaration.data, folder, objects)
    learners, more = resolve_learners(declaration.learners, CodePolicy(allow_local_code, folder), objects)
    conditions, still_more = resolve_conditions(declaration.conditions, objects)
    problems += [*more, *still_more]
    scheme, wrong = _resolve_scheme(declaration, objects)
    problems += [*wrong, *_find_unsplittable(scheme, data), *_check_measures(declaration), *_check_control(declaration)]
    if problems or scheme is None:
        return None, problems
    resolved = ResolvedStudy(
        name=declaration.name,
        seed=declaration.seed,
        declaration=declaration,
        data=tuple(entry for _, entry in data),
        conditions=tuple(conditions),
        learners=tuple(learners),
        resampling=scheme,
        measures=tuple(declaration.measures),
        verdict=VerdictPlan(**declaration.verdict.model_dump()),
        limits=resolve_limits(declaration),
    )
    return resolved, problems


def resolve_limits(declaration: StudySpec) -> ResourceLimits:
    """The limits of each trial."""
    from fairtrial.study.spec.models import NO_LIMIT

    time, memory = declaration.limits.time, declaration.limits.memory
    return ResourceLimits(None if time == NO_LIMIT else float(time), None if memory == NO_LIMIT else int(memory))


def _resolve_scheme(declaration: StudySpec, objects: Objects) -> tuple[Scheme | None, list[SpecProblem]]:
    from fairtrial.study.spec.problems import build_collecting, to_problems
    from fairtrial.study.spec.schemes import build_scheme, build_scheme_from_splitter

    try:
        if ("resampling",) in objects:
            return build_scheme_from_splitter(objects["resampling",]), []
        return build_collecting(build_scheme, declaration.resampling.to_dict(), needed=("scheme",)), []
    except FairtrialError as error:
        return None, to_problems(error, "resampling")


def _find_unsplittable(scheme: Scheme | None, data: list[tuple[tuple[str | int, ...], NamedData]]) -> Iterator[SpecProblem]:
    from fairtrial.study.spec.problems import SpecProblem

    for key_path, entry in data if scheme is not None else []:
        try:
            scheme.check(entry.name, entry.dataset, entry.given_splits)  # type: ignore[union-attr]
        except FairtrialError as error:
            yield SpecProblem(key_path, str(error))


def _check_measures(declaration: StudySpec) -> Iterator[SpecProblem]:
    from fairtrial.study.spec.learners import check_measure
    from fairtrial.study.spec.problems import SpecProblem

    seen: dict[str, str] = {}
    entries: list[tuple[tuple[str | int, ...], str]] = [(("measures", i), name) for i, name in enumerate(declaration.measures)]
    if declaration.verdict.measure not in declaration.measures:
        entries.append((("verdict", "measure"), str(declaration.verdict.measure)))
    for key_path, name in entries:
        try:
            measure = check_measure(name)
        except FairtrialError as error:
            yield SpecProblem(key_path, str(error))
            continue
        if measure in seen and key_path[0] == "measures":
            yield SpecProblem(key_path, f"{name} and {seen[measure]} are the same measure: leave one out")
        seen.setdefault(measure, name)


def _check_control(declaration: StudySpec) -> Iterator[SpecProblem]:
    from fairtrial.study.spec.problems import SpecProblem

    control = declaration.verdict.control
    if control is not None and control not in declaration.learners:
        hint = suggest_name(control, declaration.learners)
        yield SpecProblem(("verdict", "control"), f"control must be one of the learners of the study, got {control!r}: {hint}")
