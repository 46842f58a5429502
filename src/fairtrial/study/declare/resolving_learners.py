"""From names, import paths and parameters to learners."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from fairtrial._registry import did_you_mean
from fairtrial.errors import FairtrialError, InputError
from fairtrial.learners import Prepared, catalogue, facts_of, get_sampler, sampler_classes
from fairtrial.measures import get_measure
from fairtrial.study.declare import declaration
from fairtrial.study.declare.gathering import Gathering, Mistake, MistakesError, mistakes_of
from fairtrial.study.declare.live_objects import NO_VALUE
from fairtrial.study.declare.local_code import imported_class
from fairtrial.study.declare.mistakes import declared_part
from fairtrial.study.declare.parameter_rules import parameter_mistakes, refusal
from fairtrial.study.declare.resolved import NamedLearner
from fairtrial.study.declare.schemes import GIVEN, scheme_of
from fairtrial.study.declare.tuning import Tuned, check_grid, parameter_path

_JUDGED = ("labels", "scores", "probabilities")
_NESTED = ("learner", "transformer", "sampler")


@dataclass(frozen=True)
class Code:
    """Which code a study may use: installed packages only, or also that of its own folder."""

    allow_local: bool = False
    folder: Path | None = None

    def class_of(self, path: str, *methods: str) -> type[Any]:
        """The class of an import path."""
        return imported_class(path, methods=methods, allow_local_code=self.allow_local, folder=self.folder)


def resolve_learners(
    declared: Mapping[str, declaration.Learner], code: Code, objects: Mapping[tuple[str, ...], Any]
) -> tuple[list[NamedLearner], list[Mistake]]:
    """All learners in their order, and what is wrong."""
    found: dict[str, NamedLearner] = {}
    mistakes: list[Mistake] = []
    for name, entry in declared.items():
        try:
            made = _given(objects["learners", name]) if ("learners", name) in objects else made_learner(entry, code)
            identity = _identity(name, made)
            if identity in found:
                raise InputError(f"{name} and {found[identity].name} are the same learner: leave one out")
            found[identity] = NamedLearner(name, made)
        except FairtrialError as error:
            mistakes += mistakes_of(error, "learners", name)
    return list(found.values()), mistakes


def _given(learner: Any) -> Any:
    made = ready(learner)
    wrong = list(parameter_mistakes(learner))
    if wrong:
        raise MistakesError(wrong)
    return made


def made_learner(entry: declaration.Learner, code: Code, *, whole: bool = True) -> Any:
    """The learner of a declaration; `whole` learners get their preparation, those within others do not."""
    if entry.learner is None:
        raise InputError("it was an object of Python, which no file can hold: declare it by its name and parameters")
    gathering = Gathering()
    sampler = learner = None
    with gathering.at("sampler"):
        sampler = None if entry.sampler is None else made_sampler(entry.sampler)
    with gathering.at():
        learner = _made(entry.learner, entry.parameters or {}, code)
        learner = _prepared(learner, sampler, entry.preparation, whole)
    with gathering.at("tune"):
        if entry.tune is not None and learner is not None:
            learner = _tuned(learner, entry.tune, code)
    gathering.tell()
    return learner


def _prepared(learner: Any, sampler: Any, preparation: str | None, whole: bool) -> Any:
    """With a sampler, or with a preparation that was declared, it is prepared in any case; else if it is whole and needs it."""
    if sampler is not None or preparation == "none" or (preparation is not None and not whole):
        return Prepared(learner, sampler=sampler, preparation=preparation or "standard")
    return ready(learner) if whole else learner


def ready(learner: Any) -> Any:
    """The learner with what it cannot do itself; one that takes typed columns with gaps as they are stays alone."""
    if isinstance(learner, type) or not (hasattr(learner, "fit") and hasattr(learner, "predict")):
        raise InputError(f"a learner must be an estimator with fit and predict, got {learner!r}")
    facts = facts_of(learner)
    alone = facts.prepares or (facts.nominal and facts.missing and facts.scale is None and not facts.numbered)
    return learner if alone else Prepared(learner)


def made_sampler(declared: Mapping[str, Any]) -> Any:
    """The sampler of a declaration such as `{"sampler": "smote", "k_neighbors": 3}`."""
    parameters = dict(declared)
    name = parameters.pop("sampler")
    if name in sampler_classes():
        known = catalogue.parameters_of(sampler_classes()[name])
        _check_parameters(name, parameters, known)
        _check_values(sampler_classes()[name], parameters)
    return get_sampler(name, **parameters)


def check_measure(name: str) -> str:
    """The measure by its own name; it must be one of predictions."""
    found = get_measure(name)
    if found.facts.needs not in _JUDGED:
        what = "numbers, not of classes" if found.facts.needs == "values" else "several results, which the study gives later"
        raise InputError(f"{name} is a measure of {what}: take one of predictions, such as accuracy")
    return str(found.name)


def _made(name: str, parameters: Mapping[str, Any], code: Code) -> Any:
    """By a name of the catalogue, else by an import path, which is checked before anything is imported."""
    listed = name.lower() in catalogue._ALIASES or name in catalogue.registry
    path = not listed and any(each in name for each in "./\\:")
    try:
        kind = code.class_of(name, "fit", "predict") if path else catalogue.learner_class(name)
    except FairtrialError as error:
        raise MistakesError(mistakes_of(error, "learner")) from None
    return _instance(kind, name, parameters, code)


def _instance(kind: type[Any], name: str, parameters: Mapping[str, Any], code: Code) -> Any:
    gathering = Gathering()
    made: dict[str, Any] = {}
    with gathering.at("parameters"):
        _check_parameters(name, parameters, catalogue.parameters_of(kind))
    with gathering.at("parameters"):
        made = _values(parameters, code)
        _check_values(kind, made)
    gathering.tell()
    try:
        return kind(**made)
    except Exception as error:
        told = f"{name} cannot be made of these parameters: {error}"
        raise MistakesError([Mistake(("parameters",), told)]) from None


def _check_parameters(name: str, parameters: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Whether they are known; a class that takes any knows all."""
    unknown = [each for each in parameters if known and each not in known]
    if unknown:
        raise MistakesError(
            Mistake((each,), f"{name} has no parameter {each!r}: {did_you_mean(each, known)}") for each in unknown
        )


def _check_values(kind: type[Any], parameters: Mapping[str, Any]) -> None:
    """Whether the class would take them when it is fitted, as far as it says so beforehand."""
    wrong = {name: refusal(kind, name, value) for name, value in parameters.items()}
    if any(wrong.values()):
        raise MistakesError(Mistake((name,), told) for name, told in wrong.items() if told)


def _values(table: Mapping[str, Any], code: Code) -> dict[str, Any]:
    gathering = Gathering()
    made = {}
    for name, value in table.items():
        with gathering.at(name):
            made[name] = _value(value, code)
    gathering.tell()
    return made


def _value(value: Any, code: Code) -> Any:
    """A parameter; tables that name a learner, a transformer or a sampler become one."""
    if isinstance(value, (list, tuple)):
        made = [_value(each, code) for each in value]
        step = len(value) == 2 and isinstance(value[0], str) and made[1] is not value[1]
        return tuple(made) if step else made  # scikit-learn's pairs of a name and an estimator are tuples
    if not isinstance(value, Mapping):
        return value
    return None if value == NO_VALUE else _nested(value, code)


def _nested(value: Mapping[str, Any], code: Code) -> Any:
    kind = next((each for each in _NESTED if each in value), None)
    if kind == "learner":
        return made_learner(declared_part(declaration.Learner, value), code, whole=False)
    if kind == "sampler":
        return made_sampler(value)
    if kind == "transformer":
        found = code.class_of(value[kind], "fit", "transform")
        return _instance(found, value[kind], value.get("parameters", {}), code)
    return _values(value, code)


def _tuned(learner: Any, tune: declaration.Tuning, code: Code) -> Tuned:
    gathering = Gathering()
    made = Tuned(learner, {}, measure=tune.measure)
    with gathering.at("grid"):
        made.grid = _values(tune.grid, code)
        check_grid(learner, made.grid)
        _check_grid_values(learner, made.grid)
    with gathering.at("resampling"):
        made.resampling = _inner_splitter(tune.resampling)
    with gathering.at("measure"):
        made.measure = check_measure(tune.measure)
    gathering.tell()
    return made


def _check_grid_values(learner: Any, grid: Mapping[str, Any]) -> None:
    """Whether the learner, or the sampler, would take each value."""
    known = learner.get_params(deep=True)
    gathering = Gathering()
    for name, values in grid.items():
        above, _, own = parameter_path(learner, name).rpartition("__")
        kind = type(known.get(above, learner))
        for number, value in enumerate(values):
            with gathering.at(name, number):
                if told := refusal(kind, own, value):
                    raise InputError(told)
    gathering.tell()


def _inner_splitter(declared: declaration.Resampling) -> Any:
    if declared.scheme == GIVEN:
        raise InputError("tune needs a scheme that splits training rows, got 'given'")
    scheme = scheme_of(declared.plain())
    if scheme.repeats == 1:
        return scheme.splitter
    from fairtrial.resampling import Repeated, Splitter

    return Repeated(cast(Splitter, scheme.splitter), scheme.repeats)


def _identity(name: str, learner: Any) -> str:
    from fairtrial.study.plan.identity import learner_identity

    return learner_identity(learner, name).hash
