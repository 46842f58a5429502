"""What a study declares, in plain values only: complete, checked for form, the same for TOML and Python."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, cast
from unicodedata import category

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from fairtrial._registry import suggest_name
from fairtrial.errors import InputError

NO_LIMIT = "none"


_AMOUNT = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]+)\s*")


_SECONDS = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1),
    **dict.fromkeys(("min", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hour", "hours"), 3600),
    **dict.fromkeys(("d", "day", "days"), 86400),
}


_BYTES = {"b": 1, "bytes": 1}


_BYTES |= {f"{letter}b": 1000**power for power, letter in enumerate("kmgt", 1)}


_BYTES |= {f"{letter}ib": 1024**power for power, letter in enumerate("kmgt", 1)}


_MIN_MEMORY = 1_000_000


_MAX_NAME_LENGTH = 200


Validator = Callable[[Any], Any]


def format_count(number: int, noun: str) -> str:
    """A number with its noun.

    >>> format_count(1, "row"), format_count(2, "row")
    ('1 row', '2 rows')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def require_whole(name: str, minimum: int) -> Validator:
    """A whole number of at least `minimum`.

    >>> require_whole("folds", 2)("five")
    Traceback (most recent call last):
    fairtrial.errors.InputError: folds must be a whole number of at least 2, got 'five'
    """

    def check(value: Any) -> int:
        if isinstance(value, bool) or not hasattr(value, "__index__") or int(value) < minimum:
            raise InputError(f"{name} must be a whole number of at least {minimum}, got {value!r}")
        return int(value)

    return check


def require_text(name: str) -> Validator:
    """Text that is not blank."""

    def check(value: Any) -> str:
        if not isinstance(value, str) or not value.strip():
            raise InputError(f"{name} must be text in quotes, got {value!r}")
        return value

    return check


def require_file_name(name: str) -> Validator:
    """Text that can be the name of a file.

    >>> require_file_name("name")("../up")
    Traceback (most recent call last):
    fairtrial.errors.InputError: name must not hold '/', since a file is called after it, got '../up'
    """

    def check(value: Any) -> str:
        text = str(require_text(name)(value))
        wrong = next((character for character in text if character in "/\\" or category(character) in ("Cc", "Cs")), None)
        if wrong is not None:
            raise InputError(f"{name} must not hold {wrong!r}, since a file is called after it, got {value!r}")
        if text in (".", ".."):
            raise InputError(f"{name} must be other than '.' and '..', since a file is called after it, got {value!r}")
        if len(text.encode()) > _MAX_NAME_LENGTH:
            rule = f"at most {_MAX_NAME_LENGTH} characters (letters such as 'é' count twice or more), got {len(text.encode())}"
            raise InputError(f"{name} must have {rule}: {text[:20]!r}...")
        return text

    return check


def require_names(name: str) -> Validator:
    """A list of some length; a single name is a list of one. Its members are checked one by one."""

    def check(value: Any) -> list[Any]:
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, (list, tuple)) or not items:
            raise InputError(f"{name} must be a list of names, got {value!r}")
        return list(items)

    return check


def require_mapping(name: str) -> Validator:
    """A table whose keys are text."""

    def check(value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise InputError(f"{name} must be a table of names and values, got {value!r}")
        for key in value:
            if not isinstance(key, str) or not key.strip():
                raise InputError(f"{name} must have names that are text, got {key!r}")
        return dict(value)

    return check


def require_choice(name: str, options: tuple[str, ...]) -> Validator:
    """One of some words."""

    def check(value: Any) -> str:
        if value not in options:
            hint = suggest_name(value, options)
            remedy = f": {hint}" if "mean" in hint else ""
            raise InputError(f"{name} must be one of {', '.join(options)}, got {value!r}{remedy}")
        return str(value)

    return check


def require_number(name: str, rule: str, fits: Callable[[float], bool]) -> Validator:
    """A number that fits a rule."""

    def check(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not fits(value):
            raise InputError(f"{name} must be a number {rule}, got {value!r}")
        return value

    return check


def parse_seconds(value: Any) -> float | str:
    """A time in seconds, of a number or of text; "none" is no limit.

    >>> parse_seconds(600), parse_seconds("10 min"), parse_seconds("1.5 h"), parse_seconds("none")
    (600, 600, 5400, 'none')
    """
    amount = _parse_amount(value, _SECONDS)
    if amount is None or not (amount == NO_LIMIT or 0 < amount < math.inf):
        raise InputError(f"time must be seconds above 0, or text such as '10 min', '2 h' or 'none', got {value!r}")
    return cast("float | str", amount)


def parse_memory(value: Any) -> int | str:
    """Memory in bytes, of a number or of text; "none" is no limit.

    >>> parse_memory("2 GB"), parse_memory("512 MiB"), parse_memory(3000000)
    (2000000000, 536870912, 3000000)
    """
    amount = _parse_amount(value, _BYTES)
    if amount is None or not (amount == NO_LIMIT or math.isfinite(amount)):
        raise InputError(f"memory must be bytes, or text such as '500 MB', '2 GB' or 'none', got {value!r}")
    if amount == NO_LIMIT:
        return NO_LIMIT
    if amount < _MIN_MEMORY:
        raise InputError(f"memory must be at least 1 MB, and a number means bytes, got {value!r}: write '{value} GB', say")
    return int(amount)


def _parse_amount(value: Any, units: Mapping[str, int]) -> Any:
    """A number as it is, an amount with a unit in the smallest one, "none"; None where it cannot be read."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    if value is None:
        return NO_LIMIT
    if not isinstance(value, str):
        return None
    if value.strip().lower() == NO_LIMIT:
        return NO_LIMIT
    matched = _AMOUNT.fullmatch(value)
    if matched is None or matched[2].lower() not in units:
        return None
    amount = float(matched[1]) * units[matched[2].lower()]
    return int(amount) if amount.is_integer() else amount


FOLDED = ("stratified", "kfold", "dob-scv", "db-scv", "weka")


"""Schemes with a number of folds."""


def expand_data(value: Any) -> Any:
    """`"iris"`, `["iris", "files/*.csv"]` or a table with `sets` and named data sets.

    >>> expand_data(["iris"])
    {'sets': ['iris']}
    """
    if isinstance(value, str):
        return {"sets": [value]}
    return (
        {"sets": list(value)} if isinstance(value, (list, tuple)) else _check_table("data", value, "a list of names and files")
    )


def expand_data_set(value: Any) -> Any:
    """`"heart.csv"` or a table with `file` or `set`."""
    return {"set": value} if isinstance(value, str) else _check_table("a data set", value, "a path or a name of the catalogue")


def expand_learners(value: Any) -> Any:
    """`["c45", "svc"]`, or a table of names, each with its learner.

    >>> expand_learners({"c45": {}, "forest": "random-forest"})
    {'c45': {'learner': 'c45'}, 'forest': {'learner': 'random-forest'}}
    """
    entries = _index_by_name("learners", value)
    return {name: _with_name("learner", name, entry) for name, entry in entries.items()}


def expand_conditions(value: Any) -> Any:
    """A table of names, each with levels or with a table of parameters.

    >>> expand_conditions({"class-noise": [0, 0.1]})
    {'class-noise': {'condition': 'class-noise', 'level': [0, 0.1]}}
    """
    entries = _index_by_name("conditions", value)
    return {name: _with_name("condition", name, _wrap_levels(entry)) for name, entry in entries.items()}


def expand_resampling(value: Any) -> Any:
    """`"leave-one-out"` or a table with the scheme and its parameters; `n_splits` is another word for folds.

    >>> expand_resampling({"scheme": "kfold", "n_splits": 3})
    {'scheme': 'kfold', 'folds': 3}
    """
    if isinstance(value, str):
        return {"scheme": value}
    table = _check_table("resampling", value, "the name of a scheme")
    if table.get("scheme", FOLDED[0]) in FOLDED and "n_splits" in table:
        if "folds" in table:
            raise InputError("resampling must have folds or n_splits, which mean the same, got both")
        table = {("folds" if name == "n_splits" else name): option for name, option in table.items()}
    return table


def expand_sampler(value: Any) -> Any:
    """`"smote"` or a table with the name of the sampler and its parameters."""
    if isinstance(value, str):
        return {"sampler": value}
    table = _check_table("sampler", value, "the name of a sampler")
    if not isinstance(table.get("sampler"), str):
        raise InputError(f'sampler must name itself, got {table}: write sampler = {{ sampler = "smote", k_neighbors = 3 }}')
    return table


def expand_levels(value: Any) -> Any:
    """A list of numbers; a single one is a list of one."""
    levels = value if isinstance(value, (list, tuple)) else [value]
    if not levels or not all(isinstance(level, (int, float)) and not isinstance(level, bool) for level in levels):
        raise InputError(f"level must be a number or a list of numbers such as [0, 0.1, 0.2], got {value!r}")
    return list(levels)


def _wrap_levels(value: Any) -> Any:
    return {"level": value} if isinstance(value, (list, tuple, int, float)) and not isinstance(value, bool) else value


def _index_by_name(section: str, value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, (list, tuple)):
        return _check_table(section, value, "a list of names")
    for number, name in enumerate(value):
        if not isinstance(name, str):
            raise InputError(f"{section} in a list must be names, got {name!r}: give it a name in a table, name = {{ ... }}")
        if name in value[:number]:
            raise InputError(f"{section} must have different names, got {name!r} twice")
    return {name: {} for name in value}


def _with_name(key: str, name: str, value: Any) -> Any:
    """What names nothing is what it is called."""
    if isinstance(value, str):
        return {key: value}
    if isinstance(value, Mapping) and key not in value and "object" not in value:
        return {key: name, **value}
    return value


def _check_table(subject: str, value: Any, alternative: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"{subject} must be a table or {alternative}, got {value!r}")
    for name in value:
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"{subject} must have names that are text, got {name!r}")
    return dict(value)


MEASURES = ("accuracy", "kappa", "auc", "brier")


PREPARATIONS = ("standard", "none")


FAILURES = ("exclude", "worst-rank", "trivial")


_STUDY_FOLDS, _TUNING_FOLDS = 10, 5


def _require_text(name: str) -> BeforeValidator:
    return BeforeValidator(require_text(name))


class SpecTable(BaseModel):
    """A table of the declaration."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def to_dict(self) -> dict[str, Any]:
        """Plain values; what is not declared and has no default is left out."""
        return self.model_dump(exclude_none=True)


class OpenSpecTable(SpecTable):
    """A table whose further keys are parameters of what it names; they are checked when it is made."""

    model_config = ConfigDict(extra="allow", frozen=True)

    @property
    def parameters(self) -> dict[str, Any]:
        """The further keys."""
        return dict(self.model_extra or {})


class DataSetSpec(OpenSpecTable):
    """A data set with a name: of the catalogue or a path (`set`), a file (`file`), or an object of Python."""

    set: Annotated[str, _require_text("set")] | None = None
    file: Annotated[str, _require_text("file")] | None = None
    object: Annotated[str, _require_text("object")] | None = None

    @model_validator(mode="after")
    def _check_single_source(self) -> DataSetSpec:
        if sum(source is not None for source in (self.set, self.file, self.object)) != 1:
            raise InputError('a data set must have either file = "a path" or set = "a name of the catalogue"')
        return self


class DataSpec(SpecTable):
    """Data sets by names of the catalogue, files and globs; and named ones."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, Annotated[DataSetSpec, BeforeValidator(expand_data_set)]]

    sets: list[Annotated[str, _require_text("a data set")]] = Field(default_factory=list)

    @property
    def named_sets(self) -> dict[str, DataSetSpec]:
        """The data sets with a name of their own."""
        return dict(self.__pydantic_extra__)


class ResamplingSpec(OpenSpecTable):
    """A scheme with its parameters, and how often it is repeated."""

    scheme: Annotated[str, _require_text("scheme")] = "stratified"
    folds: Annotated[int, BeforeValidator(require_whole("folds", 2))] | None = None
    repeats: Annotated[int, BeforeValidator(require_whole("repeats", 1))] = 1

    def with_default_folds(self, folds: int) -> ResamplingSpec:
        """With the number of folds where the scheme has one and none is declared."""
        missing = self.scheme in FOLDED and self.folds is None
        return self.model_copy(update={"folds": folds}) if missing else self


StudyResampling = Annotated[
    ResamplingSpec, BeforeValidator(expand_resampling), AfterValidator(lambda spec: spec.with_default_folds(_STUDY_FOLDS))
]


InnerResampling = Annotated[
    ResamplingSpec, BeforeValidator(expand_resampling), AfterValidator(lambda spec: spec.with_default_folds(_TUNING_FOLDS))
]


class TuningSpec(SpecTable):
    """How parameters are chosen: a grid, an inner resampling, a measure."""

    grid: Annotated[dict[str, Any], BeforeValidator(require_mapping("grid"))]
    resampling: InnerResampling = Field(default_factory=lambda: ResamplingSpec(folds=_TUNING_FOLDS))
    measure: Annotated[str, _require_text("measure")] = "accuracy"


class LearnerSpec(SpecTable):
    """A learner: a name of the catalogue or an import path, its parameters, its preparation, a sampler, tuning."""

    learner: Annotated[str, _require_text("learner")] | None = None
    parameters: Annotated[dict[str, Any], BeforeValidator(require_mapping("parameters"))] | None = None
    preparation: Annotated[str, BeforeValidator(require_choice("preparation", PREPARATIONS))] | None = None
    sampler: Annotated[dict[str, Any], BeforeValidator(expand_sampler)] | None = None
    tune: Annotated[TuningSpec, BeforeValidator(require_mapping("tune"))] | None = None
    object: Annotated[str, _require_text("object")] | None = None


class ConditionSpec(OpenSpecTable):
    """A condition: its name, its levels, further parameters."""

    condition: Annotated[str, _require_text("condition")] | None = None
    level: Annotated[list[float], BeforeValidator(expand_levels)] | None = None
    object: Annotated[str, _require_text("object")] | None = None


class VerdictSpec(SpecTable):
    """How the study is judged."""

    measure: Annotated[str, _require_text("measure")] | None = None
    control: Annotated[str, _require_text("control")] | None = None
    alpha: Annotated[float, BeforeValidator(require_number("alpha", "between 0 and 1", lambda x: 0 < x < 1))] = 0.05
    rope: Annotated[float, BeforeValidator(require_number("rope", "from 0 on", lambda x: 0 <= x < float("inf")))] | None = None
    failures: Annotated[str, BeforeValidator(require_choice("failures", FAILURES))] = "exclude"


class LimitsSpec(SpecTable):
    """What one trial may take."""

    time: Annotated[int | float | str, BeforeValidator(parse_seconds)] = 3600
    memory: Annotated[int | str, BeforeValidator(parse_memory)] = NO_LIMIT


_Measure = Annotated[str, _require_text("a measure")]


_LearnerTable = Annotated[LearnerSpec, BeforeValidator(require_mapping("a learner"))]


_ConditionTable = Annotated[ConditionSpec, BeforeValidator(require_mapping("a condition"))]


class StudySpec(SpecTable):
    """A study in plain values.

    >>> found = StudySpec.of({"data": ["iris"], "learners": ["c45"], "conditions": {"class-noise": [0, 0.1]}})
    >>> found.plain()["conditions"], found.plain()["resampling"]
    ({'class-noise': {'condition': 'class-noise', 'level': [0.0, 0.1]}}, {'scheme': 'stratified', 'folds': 10, 'repeats': 1})
    """

    name: Annotated[str, BeforeValidator(require_file_name("name"))] = "study"
    seed: Annotated[int, BeforeValidator(require_whole("seed", 0))] = 0
    measures: Annotated[list[_Measure], BeforeValidator(require_names("measures"))] = Field(
        default_factory=lambda: list(MEASURES)
    )
    data: Annotated[DataSpec, BeforeValidator(expand_data)] = Field(default_factory=lambda: DataSpec.model_validate({}))
    learners: Annotated[dict[str, _LearnerTable], BeforeValidator(expand_learners)] = Field(default_factory=dict)
    conditions: Annotated[dict[str, _ConditionTable], BeforeValidator(expand_conditions)] = Field(default_factory=dict)
    resampling: StudyResampling = Field(default_factory=lambda: ResamplingSpec(folds=_STUDY_FOLDS))
    verdict: Annotated[VerdictSpec, BeforeValidator(require_mapping("verdict"))] = Field(default_factory=VerdictSpec)
    limits: Annotated[LimitsSpec, BeforeValidator(require_mapping("limits"))] = Field(default_factory=LimitsSpec)

    @model_validator(mode="after")
    def _complete(self) -> StudySpec:
        """What is not declared but follows: clean data, and a verdict on the first measure."""
        if not self.conditions:
            object.__setattr__(self, "conditions", {"clean": ConditionSpec(condition="clean")})
        if self.verdict.measure is None:
            object.__setattr__(self, "verdict", self.verdict.model_copy(update={"measure": self.measures[0]}))
        return self

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> StudySpec:
        """Of plain values as a TOML file has them; a SpecError tells all mistakes of form."""
        from fairtrial.study.spec.problems import build_spec_error, validate_spec

        spec, problems = validate_spec(mapping)
        if problems:
            raise build_spec_error(problems)
        return spec

    def to_short_form(self) -> dict[str, Any]:
        """The same in fewer words, for people: names that repeat and levels that stand alone are shortened.

        >>> StudySpec.of({"data": ["iris"], "learners": ["c45"], "conditions": {"class-noise": [0, 0.1]}}).to_short_form()["learners"]
        {'c45': {}}
        """
        plain = self.to_dict()
        learners = {name: _drop_repeated_name("learner", name, table) for name, table in plain["learners"].items()}
        conditions = {name: _drop_repeated_name("condition", name, table) for name, table in plain["conditions"].items()}
        conditions = {name: table["level"] if list(table) == ["level"] else table for name, table in conditions.items()}
        return plain | {"learners": learners, "conditions": conditions}


def _drop_repeated_name(key: str, name: str, table: dict[str, Any]) -> dict[str, Any]:
    return {option: value for option, value in table.items() if not (option == key and value == name)}
