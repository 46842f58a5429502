"""Build the learners of a study from names, import paths and parameters, and check the parameters."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, cast

from fairtrial._registry import suggest_name
from fairtrial.errors import FairtrialError, InputError
from fairtrial.learners import Prepared, catalogue, facts_of, get_sampler, sampler_classes
from fairtrial.resampling import Repeated, Splitter
from fairtrial.study.identity import compute_learner_identity
from fairtrial.study.spec.local_code import CodePolicy
from fairtrial.study.spec.models import (
    LearnerSpec,
    ResamplingSpec,
    TuningSpec,
    require_mapping,
    require_text,
    validate_table,
)
from fairtrial.study.spec.objects import NO_VALUE, Objects
from fairtrial.study.spec.problems import ProblemCollector, ProblemsError, SpecProblem, to_problems
from fairtrial.study.spec.schemes import GIVEN, build_scheme
from fairtrial.study.spec.tuning import ParameterRange, Tuned, check_measure, import_optuna

_SKLEARN_MESSAGE = re.compile(r"The '(.+?)' parameter of \S+ must be (.+)\. Got (.+) instead\.", re.DOTALL)

_RANGE = "{ low = 0.01, high = 100, log = true }"

_NESTED = ("learner", "transformer", "sampler", "selector", "function")
"""Keys that mark a table inside parameters as the specification of an object."""

_MAX_STEP_LENGTH = 3


@dataclass(frozen=True, eq=False)
class NamedLearner:
    """A learner, wrapped with the preparation that it needs, and its name in the study."""

    name: str
    estimator: Any


def resolve_learners(
    specs: Mapping[str, LearnerSpec], code: CodePolicy, objects: Objects
) -> tuple[list[NamedLearner], list[SpecProblem]]:
    """Build all learners in the order of the study. Return the learners and all problems."""
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
    """Build a learner from its specification. If `top_level` is true, add the preparation that the learner needs."""
    if entry.learner is None or entry.object is not None:
        raise InputError("it was a Python object, which is not stored: declare it by name and parameters")
    collector = ProblemCollector()
    sampler = learner = None
    with collector.collect("sampler"):
        sampler = None if entry.sampler is None else build_sampler(entry.sampler, code)
    with collector.collect():
        learner = _build_named(entry.learner, entry.parameters or {}, code)
        learner = _prepare_learner(learner, sampler, entry.preparation, top_level)
    with collector.collect("tune"):
        if entry.tune is not None and learner is not None:
            learner = _build_tuned(learner, entry.tune, code)
    collector.raise_if_any()
    return learner


def _prepare_learner(learner: Any, sampler: Any, preparation: str | None, top_level: bool) -> Any:
    """Wrap a learner if a sampler or a preparation is declared, or if a top-level learner needs preparation."""
    if sampler is not None or preparation == "none" or (preparation is not None and not top_level):
        return Prepared(learner, sampler=sampler, preparation=preparation or "standard")
    return ensure_prepared(learner) if top_level else learner


def ensure_prepared(learner: Any) -> Any:
    """Wrap a learner with the preparation that it needs.

    Learners that prepare the data themselves or need no preparation are not wrapped.
    """
    if isinstance(learner, type) or not (hasattr(learner, "fit") and hasattr(learner, "predict")):
        raise InputError(f"a learner must be an estimator with fit and predict, got {learner!r}")
    facts = facts_of(learner)
    alone = facts.prepares or (facts.nominal and facts.missing and facts.scale is None and not facts.numbered)
    return learner if alone else Prepared(learner)


def build_sampler(spec: Mapping[str, Any], code: CodePolicy) -> Any:
    """Build a sampler from its specification, such as `{"sampler": "smote", "k_neighbors": 3}`."""
    name = str(require_text("sampler")(spec["sampler"]))
    parameters = _read_inline_parameters("sampler", spec)
    if name in sampler_classes():
        with _locating_inline(spec):
            return _build_instance(sampler_classes()[name], name, parameters, code)
    return get_sampler(name, **parameters)


def _build_named(name: str, parameters: Mapping[str, Any], code: CodePolicy) -> Any:
    """Build a learner from its name in the catalogue or from an import path."""
    is_path = not catalogue.is_registered(name) and any(character in name for character in "./\\:")
    try:
        kind = code.load_maker(name, "fit", "predict") if is_path else catalogue.learner_class(name)
    except FairtrialError as error:
        raise ProblemsError(to_problems(error, "learner")) from None
    return _build_instance(kind, name, parameters, code)


def _build_instance(kind: Callable[..., Any], name: str, parameters: Mapping[str, Any], code: CodePolicy) -> Any:
    """Build an instance of a class, or call a factory.

    The arguments of a parameter such as `*steps` are given as a list.
    """
    collector = ProblemCollector()
    values: dict[str, Any] = {}
    with collector.collect("parameters"):
        _check_parameters(name, parameters, catalogue.get_parameters(kind))
    with collector.collect("parameters"):
        code.check_keywords(name, kind, parameters)
        values = _build_parameters(parameters, code)
        _check_values(kind, values)
    collector.raise_if_any()
    starred = [
        parameter for parameter in inspect.signature(kind).parameters.values() if parameter.kind is parameter.VAR_POSITIONAL
    ]
    try:
        arguments = [item for parameter in starred for item in values.pop(parameter.name, ())]
        return kind(*arguments, **values)
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


def _check_values(kind: Callable[..., Any], parameters: Mapping[str, Any]) -> None:
    """Refuse values that the class would refuse at fit time. Classes without rules for parameters are not checked."""
    refusals = {name: explain_refusal(kind, name, value) for name, value in parameters.items()}
    if any(refusals.values()):
        raise ProblemsError(SpecProblem((name,), message) for name, message in refusals.items() if message)


def _build_parameters(table: Mapping[str, Any], code: CodePolicy) -> dict[str, Any]:
    collector = ProblemCollector()
    values = {}
    for name, value in table.items():
        with collector.collect(name):
            if not isinstance(name, str):
                raise InputError(f"keys of parameters must be text, got {name!r}: pass the learner as a Python object")
            code.check_parameter(name, value)
            values[name] = _build_parameter(value, code)
    collector.raise_if_any()
    return values


def _build_parameter(value: Any, code: CodePolicy) -> Any:
    """Build a parameter. Tables that name a learner, transformer, sampler, selector or function become objects."""
    if isinstance(value, (list, tuple)):
        return _build_list(value, code)
    if not isinstance(value, Mapping):
        return value
    return None if value == NO_VALUE else _build_nested(value, code)


def _build_list(values: Sequence[Any], code: CodePolicy) -> Any:
    """Build the members of a list. A step of a pipeline, such as a name with an estimator, becomes a tuple."""
    collector = ProblemCollector()
    items = []
    for number, value in enumerate(values):
        with collector.collect(number):
            items.append(_build_parameter(value, code))
    collector.raise_if_any()
    return tuple(items) if _is_step(items) else items


def _is_step(items: list[Any]) -> bool:
    """Return whether a list is a step: a name with an estimator, an estimator with columns, or all three."""
    if len(items) == _MAX_STEP_LENGTH and isinstance(items[0], str) and items[1] in ("drop", "passthrough"):
        return True
    return 1 < len(items) <= _MAX_STEP_LENGTH and sum(hasattr(item, "fit") for item in items[:2]) == 1


def _build_nested(table: Mapping[str, Any], code: CodePolicy) -> Any:
    """Build the object that a table specifies.

    The table of a learner may contain keys such as `sampler` besides its parameters.
    """
    kind = next((key for key in _NESTED if key in table), None)
    if kind is None:
        return _build_parameters(table, code)
    if kind == "sampler":
        return build_sampler(table, code)
    parameters = _read_inline_parameters(kind, table)
    with _locating_inline(table):
        if kind == "learner":
            usual = {key: value for key, value in table.items() if key in LearnerSpec.model_fields}
            return build_learner(validate_table(LearnerSpec, usual | {"parameters": parameters}), code, top_level=False)
        path = str(require_text(kind)(table[kind]))
        if kind == "function":
            if parameters:
                raise InputError(f"a function has no parameters here, got {next(iter(parameters))!r}: remove it")
            return code.load_function(path)
        maker = code.load_selector(path) if kind == "selector" else code.load_maker(path, "fit", "transform")
        return _build_instance(maker, path, parameters, code)


def _read_inline_parameters(kind: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """Read the parameters in a nested table: the subtable `parameters` and all keys without another meaning."""
    usual = LearnerSpec.model_fields if kind == "learner" else (kind, "parameters")
    inline = {name: value for name, value in table.items() if name not in usual}
    declared = require_mapping("parameters")(table.get("parameters", {}))
    for name in inline:
        if name in declared:
            raise ProblemsError([SpecProblem((name,), f"{name} is also in parameters: remove one of them")])
    return inline | dict(declared)


@contextmanager
def _locating_inline(table: Mapping[str, Any]) -> Iterator[None]:
    """Report a problem with an inline parameter at the parameter's own key instead of under `parameters`."""
    try:
        yield
    except ProblemsError as error:
        inline = [("parameters", name) for name in table]
        problems = [
            SpecProblem(problem.path[1:], problem.message) if problem.path[:2] in inline else problem
            for problem in error.problems
        ]
        raise ProblemsError(problems) from None


def _build_tuned(learner: Any, tune: TuningSpec, code: CodePolicy) -> Tuned:
    collector = ProblemCollector()
    tuned = Tuned(learner, {}, measure=tune.measure, search=tune.search or "grid", iterations=tune.iterations)
    key, values = ("parameters", tune.parameters) if tune.grid is None else ("grid", tune.grid)
    with collector.collect("search"):
        if tuned.search == "optuna":
            import_optuna()
    with collector.collect(key):
        tuned.grid = _build_ranges(_build_parameters(values or {}, code))
        tuned.check_grid()
        _check_grid_values(tuned)
    with collector.collect("resampling"):
        tuned.resampling = _build_inner_splitter(tune.resampling, code)
    with collector.collect("measure"):
        tuned.measure = check_measure(tune.measure)
    collector.raise_if_any()
    return tuned


def _build_ranges(values: Mapping[str, Any]) -> dict[str, Any]:
    """Replace tables such as `{ low = 0.1, high = 10, log = true }` with ranges."""
    collector = ProblemCollector()
    built = dict(values)
    for name, table in values.items():
        with collector.collect(name):
            if isinstance(table, Mapping):
                names = [field.name for field in fields(ParameterRange)]
                unknown = next((key for key in table if key not in names), None)
                if unknown is not None:
                    raise InputError(f"a range has no key {unknown!r}: {suggest_name(unknown, names)}")
                if not {"low", "high"} <= table.keys():
                    raise InputError(f"{name} must be a list of values or a range, got {table}: write {_RANGE}")
                built[name] = ParameterRange(**table)
    collector.raise_if_any()
    return built


def _check_grid_values(tuned: Tuned) -> None:
    """Check that the learner or its sampler accepts each value in the grid and both limits of each range."""
    parameters = tuned.learner.get_params(deep=True)
    collector = ProblemCollector()
    for name, values in tuned.grid.items():
        above, _, parameter = tuned.get_parameter_path(name).rpartition("__")
        kind = type(parameters.get(above, tuned.learner))
        is_range = isinstance(values, ParameterRange)
        locations: Mapping[Any, Any] = {"low": values.low, "high": values.high} if is_range else dict(enumerate(values))
        for location, value in locations.items():
            with collector.collect(name, location):
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
    """Find the parameters that an estimator or one of its components would refuse at fit time.

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


def explain_refusal(kind: Callable[..., Any], name: str, value: Any) -> str | None:
    """Explain why a class refuses a parameter value. Return None if it accepts the value or has no rules."""
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
