"""From what a study declares to what it needs: everything is made and checked before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtrial._registry import did_you_mean
from fairtrial.errors import FairtrialError
from fairtrial.study.declare.resolved import (
    NamedCondition as NamedCondition,
    NamedData as NamedData,
    NamedLearner as NamedLearner,
    Resolved as Resolved,
    VerdictPlan as VerdictPlan,
)
from fairtrial.study.records import Limits

if TYPE_CHECKING:
    from fairtrial.study.declare.declaration import Declaration
    from fairtrial.study.declare.mistakes import Mistake
    from fairtrial.study.declare.schemes import Scheme

Objects = Mapping[tuple[str, ...], Any]


def resolve(
    declaration: Declaration, folder: Path | None = None, *, objects: Objects | None = None, allow_local_code: bool = False
) -> Resolved:
    """Load the data, make learners, conditions and the splitter, check measures; a SpecError tells all mistakes.

    Data paths are relative to `folder`, by default the current one. `objects` are data sets, learners, conditions and the
    splitter that came as objects of Python, by their place: `("learners", "forest")`.

    >>> from fairtrial.study.declare.declaration import Declaration
    >>> found = resolve(Declaration.of({"data": ["iris"], "learners": ["c45", "svc"], "conditions": {"class-noise": [0, 0.1]}}))
    >>> [each.name for each in found.learners], [(each.name, each.level) for each in found.conditions]
    (['c45', 'svc'], [('clean', 0.0), ('class-noise', 0.1)])
    """
    from fairtrial.study.declare.mistakes import spec_error

    found, mistakes = resolve_all(declaration, folder, objects=objects, allow_local_code=allow_local_code)
    if mistakes or found is None:
        raise spec_error(mistakes)
    return found


def resolve_all(
    declaration: Declaration, folder: Path | None = None, *, objects: Objects | None = None, allow_local_code: bool = False
) -> tuple[Resolved | None, list[Mistake]]:
    """The same, with the mistakes beside it."""
    from fairtrial.study.declare.resolving_conditions import resolve_conditions
    from fairtrial.study.declare.resolving_data import resolve_data
    from fairtrial.study.declare.resolving_learners import Code, resolve_learners

    folder, objects = folder or Path(), objects or {}
    data, mistakes = resolve_data(declaration.data, folder, objects)
    learners, more = resolve_learners(declaration.learners, Code(allow_local_code, folder), objects)
    conditions, still_more = resolve_conditions(declaration.conditions, objects)
    mistakes += [*more, *still_more]
    scheme, wrong = _scheme(declaration, objects)
    mistakes += [*wrong, *_unsplittable(scheme, data), *_measures(declaration), *_verdict(declaration)]
    if mistakes or scheme is None:
        return None, mistakes
    made = Resolved(
        name=declaration.name,
        seed=declaration.seed,
        declaration=declaration,
        data=tuple(each for _, each in data),
        conditions=tuple(conditions),
        learners=tuple(learners),
        resampling=scheme,
        measures=tuple(declaration.measures),
        verdict=VerdictPlan(**declaration.verdict.model_dump()),
        limits=limits_of(declaration),
    )
    return made, mistakes


def limits_of(declaration: Declaration) -> Limits:
    """The limits of each trial."""
    from fairtrial.study.declare.declared_values import NO_LIMIT

    time, memory = declaration.limits.time, declaration.limits.memory
    return Limits(None if time == NO_LIMIT else float(time), None if memory == NO_LIMIT else int(memory))


def _scheme(declaration: Declaration, objects: Objects) -> tuple[Scheme | None, list[Mistake]]:
    from fairtrial.study.declare.gathering import made_of, mistakes_of
    from fairtrial.study.declare.schemes import scheme_of, scheme_of_splitter

    try:
        if ("resampling",) in objects:
            return scheme_of_splitter(objects["resampling",]), []
        return made_of(scheme_of, declaration.resampling.plain(), needed=("scheme",)), []
    except FairtrialError as error:
        return None, mistakes_of(error, "resampling")


def _unsplittable(scheme: Scheme | None, data: list[tuple[tuple[str | int, ...], NamedData]]) -> Iterator[Mistake]:
    from fairtrial.study.declare.mistakes import Mistake

    for place, each in data if scheme is not None else []:
        try:
            scheme.check(each.name, each.dataset, each.given)  # type: ignore[union-attr]
        except FairtrialError as error:
            yield Mistake(place, str(error))


def _measures(declaration: Declaration) -> Iterator[Mistake]:
    from fairtrial.study.declare.mistakes import Mistake
    from fairtrial.study.declare.resolving_learners import check_measure

    seen: dict[str, str] = {}
    places: list[tuple[tuple[str | int, ...], str]] = [(("measures", i), name) for i, name in enumerate(declaration.measures)]
    if declaration.verdict.measure not in declaration.measures:
        places.append((("verdict", "measure"), str(declaration.verdict.measure)))
    for place, name in places:
        try:
            found = check_measure(name)
        except FairtrialError as error:
            yield Mistake(place, str(error))
            continue
        if found in seen and place[0] == "measures":
            yield Mistake(place, f"{name} and {seen[found]} are the same measure: leave one out")
        seen.setdefault(found, name)


def _verdict(declaration: Declaration) -> Iterator[Mistake]:
    from fairtrial.study.declare.mistakes import Mistake

    control = declaration.verdict.control
    if control is not None and control not in declaration.learners:
        hint = did_you_mean(control, declaration.learners)
        yield Mistake(("verdict", "control"), f"control must be one of the learners of the study, got {control!r}: {hint}")
