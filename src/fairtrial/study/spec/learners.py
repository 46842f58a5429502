"""Build the learners of a study from names, import paths and parameters, and check the parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from fairtrial._registry import suggest_name
from fairtrial.errors import FairtrialError, InputError
from fairtrial.learners import Prepared, catalogue, facts_of, get_sampler, sampler_classes
from fairtrial.resampling import Repeated, Splitter
from fairtrial.study.identity import compute_learner_identity
from fairtrial.study.spec.local_code import CodePolicy
from fairtrial.study.spec.models import LearnerSpec, ResamplingSpec, TuningSpec, validate_table
from fairtrial.study.spec.objects import NO_VALUE, Objects
from fairtrial.study.spec.problems import ProblemCollector, ProblemsError, SpecProblem, to_problems
from fairtrial.study.spec.schemes import GIVEN, build_scheme
from fairtrial.study.spec.tuning import Tuned, check_measure

_SKLEARN_MESSAGE = re.compile(r"The '(.+?)' parameter of \S+ must be (.+)\. Got (.+) instead\.", re.DOTALL)

_NESTED = ("learner", "transformer", "sampler")


@dataclass(frozen=True, eq=False)
class NamedLearner:
    """A learner with the preparation that it needs, and its name in the study."""

    name: str
    estimator: Any


def resolve_learners(
    specs: Mapping[str, LearnerSpec], code: CodePolicy, objects: Objects
) -> tuple[list[NamedLearner], list[SpecProblem]]:
    """Build all learners, in the order of the study, and collect problems."""
    learners: dict[str, NamedLearner] = {}
    problems: list[SpecProblem] = []
    for name, entry in specs.items():
        try:
            learner = _prepare_given(objects["learners", name]) if ("learners", name) in objects else build_learner(entry, code)
            identity = compute_learner_identity(learner, name).hash
            if identity in learners:
                raise InputError(f"{name} and {learners[identity].name} are the same learner: remove one")
            learners[identity] = NamedLearner(name, learner)
        except FairtrialError as error:
            problems += to_problems(error, "learners", name)
    return list(learners.values()), problems


def _prepare_given(learner: Any) -> Any:
    prepared = ensure_prepared(learner)
    problems = list(find_parameter_problems(learner))
    if problems:
        raise ProblemsError(problems)
    return prepared


def build_learner(entry: LearnerSpec, code: CodePolicy, *, top_level: bool = True) -> Any:
    """Build a learner from its specification. The preparation that it needs is added only if it is at `top_level`."""
    if entry.learner is None:
        raise InputError("it was a Python object, which is not stored: declare it by name and parameters")
    collector = ProblemCollector()
    sampler = learner = None
    with collector.collect("sampler"):
        sampler = None if entry.sampler is None else build_sampler(entry.sampler)
    with collector.collect():
        learner = _build_named(entry.learner, entry.parameters or {}, code)
        learner = _prepare_learner(learner, sampler, entry.preparation, top_level)
    with collector.collect("tune"):
        if entry.tune is not None and learner is not None:
            learner = _build_tuned(learner, entry.tune, code)
    collector.raise_if_any()
    return learner


def _prepare_learner(learner: Any, sampler: Any, preparation: str | None, top_level: bool) -> Any:
    """Wrap a learner with a sampler or a declared preparation, and any top-level learner that needs preparation."""
    if sampler is not None or preparation == "none" or (preparation is not None and not top_level):
        return Prepared(learner, sampler=sampler, preparation=preparation or "standard")
    return ensure_prepared(learner) if top_level else learner


def ensure_prepared(learner: Any) -> Any:
    """Wrap a learner with the preparation it needs. Learners that accept typed columns with missing values need none."""
    if isinstance(learner, type) or not (hasattr(learner, "fit") and hasattr(learner, "predict")):
        raise InputError(f"a learner must be an estimator with fit and predict, got {learner!r}")
    facts = facts_of(learner)
    alone = facts.prepares or (facts.nominal and facts.missing and facts.scale is None and not facts.numbered)
    return learner if alone else Prepared(learner)


def build_sampler(spec: Mapping[str, Any]) -> Any:
    """Build a sampler from its specification, such as `{"sampler": "smote", "k_neighbors": 3}`."""
    parameters = dict(spec)
    name = parameters.pop("sampler")
    if name in sampler_classes():
        accepted = catalogue.get_parameters(sampler_classes()[name])
        _check_parameters(name, parameters, accepted)
        _check_values(sampler_classes()[name], parameters)
    return get_sampler(name, **parameters)


def _build_named(name: str, parameters: Mapping[str, Any], code: CodePolicy) -> Any:
    """Build a learner from its name in the catalogue, or from an import path, which is checked before the import."""
    is_path = not catalogue.is_registered(name) and any(character in name for character in "./\\:")
    try:
        kind = code.load_class(name, "fit", "predict") if is_path else catalogue.learner_class(name)
    except FairtrialError as error:
        raise ProblemsError(to_problems(error, "learner")) from None
    return _build_instance(kind, name, parameters, code)


def _build_instance(kind: type[Any], name: str, parameters: Mapping[str, Any], code: CodePolicy) -> Any:
    collector = ProblemCollector()
    values: dict[str, Any] = {}
    with collector.collect("parameters"):
        _check_parameters(name, parameters, catalogue.get_parameters(kind))
    with collector.collect("parameters"):
        values = _build_parameters(parameters, code)
        _check_values(kind, values)
    collector.raise_if_any()
    try:
        return kind(**values)
    except Exception as error:
        message = f"{name} cannot be created with these parameters: {error}"
        raise ProblemsError([SpecProblem(("parameters",), message)]) from None


def _check_parameters(name: str, parameters: Mapping[str, Any], accepted: Mapping[str, Any]) -> None:
    """Refuse unknown parameters, unless the class accepts any parameter."""
    unknown = [parameter for parameter in parameters if accepted and parameter not in accepted]
    if unknown:
        raise ProblemsError(
            SpecProblem((parameter,), f"{name} has no parameter {parameter!r}: {suggest_name(parameter, accepted)}")
            for parameter in unknown
        )


def _check_values(kind: type[Any], parameters: Mapping[str, Any]) -> None:
    """Refuse values that the class would refuse at fit time. Classes without rules for parameters are not checked."""
    refusals = {name: explain_refusal(kind, name, value) for name, value in parameters.items()}
    if any(refusals.values()):
        raise ProblemsError(SpecProblem((name,), message) for name, message in refusals.items() if message)


def _build_parameters(table: Mapping[str, Any], code: CodePolicy) -> dict[str, Any]:
    collector = ProblemCollector()
    values = {}
    for name, value in table.items():
        with collector.collect(name):
            values[name] = _build_parameter(value, code)
    collector.raise_if_any()
    return values


def _build_parameter(value: Any, code: CodePolicy) -> Any:
    """Build a parameter. Tables that name a learner, transformer or sampler become objects."""
    if isinstance(value, (list, tuple)):
        items = [_build_parameter(item, code) for item in value]
        step = len(value) == 2 and isinstance(value[0], str) and items[1] is not value[1]
        return tuple(items) if step else items  # in scikit-learn, a step is a tuple of a name and an estimator
    if not isinstance(value, Mapping):
        return value
    return None if value == NO_VALUE else _build_nested(value, code)


def _build_nested(value: Mapping[str, Any], code: CodePolicy) -> Any:
    kind = next((key for key in _NESTED if key in value), None)
    if kind == "learner":
        return build_learner(validate_table(LearnerSpec, value), code, top_level=False)
    if kind == "sampler":
        return build_sampler(value)
    if kind == "transformer":
        transformer_class = code.load_class(value[kind], "fit", "transform")
        return _build_instance(transformer_class, value[kind], value.get("parameters", {}), code)
    return _build_parameters(value, code)


def _build_tuned(learner: Any, tune: TuningSpec, code: CodePolicy) -> Tuned:
    collector = ProblemCollector()
    tuned = Tuned(learner, {}, measure=tune.measure)
    with collector.collect("grid"):
        tuned.grid = _build_parameters(tune.grid, code)
        tuned.check_grid()
        _check_grid_values(tuned)
    with collector.collect("resampling"):
        tuned.resampling = _build_inner_splitter(tune.resampling, code)
    with collector.collect("measure"):
        tuned.measure = check_measure(tune.measure)
    collector.raise_if_any()
    return tuned


def _check_grid_values(tuned: Tuned) -> None:
    """Check that the learner or its sampler accepts each value of the grid."""
    parameters = tuned.learner.get_params(deep=True)
    collector = ProblemCollector()
    for name, values in tuned.grid.items():
        above, _, parameter = tuned.get_parameter_path(name).rpartition("__")
        kind = type(parameters.get(above, tuned.learner))
        for number, value in enumerate(values):
            with collector.collect(name, number):
                if message := explain_refusal(kind, parameter, value):
                    raise InputError(message)
    collector.raise_if_any()


def _build_inner_splitter(spec: ResamplingSpec, code: CodePolicy) -> Any:
    if spec.scheme == GIVEN:
        raise InputError("tune needs a scheme that splits the training set, got 'given': choose another scheme")
    scheme = build_scheme(spec.to_dict(), code.load_class)
    if scheme.repeats == 1:
        return scheme.splitter
    return Repeated(cast(Splitter, scheme.splitter), scheme.repeats)


def find_parameter_problems(estimator: Any) -> Iterator[SpecProblem]:
    """Find the parameters that the estimator or a component would refuse at fit time.

    >>> from sklearn.ensemble import RandomForestClassifier
    >>> [problem.message for problem in find_parameter_problems(RandomForestClassifier("many"))]
    ["n_estimators must be an int in the range [1, inf), got 'many'"]
    """
    try:
        parameters = estimator.get_params(deep=True)
    except Exception:  # this estimator checks its parameters at fit time
        return
    for name, value in parameters.items():
        above, _, parameter = name.rpartition("__")
        message = explain_refusal(type(parameters.get(above, estimator)), parameter, value)
        if message:
            yield SpecProblem((name,), message)


def explain_refusal(kind: type[Any], name: str, value: Any) -> str | None:
    """Explain why a class refuses the value of a parameter. Return None if it accepts the value or has no rules."""
    rules = getattr(kind, "_parameter_constraints", None)
    if not isinstance(rules, dict) or name not in rules:
        return None
    try:
        from sklearn.utils._param_validation import InvalidParameterError, validate_parameter_constraints
    except ImportError:
        return None
    try:
        validate_parameter_constraints({name: rules[name]}, {name: value}, kind.__name__)
    except InvalidParameterError as error:
        matched = _SKLEARN_MESSAGE.fullmatch(str(error))
        return f"{matched[1]} must be {matched[2]}, got {matched[3]}" if matched else str(error)
    except Exception:  # another version of scikit-learn may have other kinds of rules
        return None
    return None
