"""The specification of a study in plain values: pydantic models with defaults, short forms and error messages."""

from __future__ import annotations

import glob
import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar, cast
from unicodedata import category

import tomli_w
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from fairtrial._registry import format_similar_name, suggest_name
from fairtrial.errors import InputError
from fairtrial.resampling.splitter import FoldSplitter, schemes
from fairtrial.study.records import ResourceLimits
from fairtrial.study.spec.problems import KeyPath, ProblemsError, SpecProblem, build_spec_error, restore_indices

MEASURES = ("accuracy", "kappa", "auc", "brier")
"""The default measures of a study."""

PREPARATIONS = ("standard", "none")

FAILURE_POLICIES = ("exclude", "worst-rank", "trivial")

SEARCHES = ("grid", "random", "halving", "optuna")
"""Search methods for tuning a learner."""

NO_LIMIT = "none"

_DEFAULT_SCHEME = "stratified"

_SPLITTER = "splitter"

_STUDY_FOLDS, _TUNING_FOLDS = 10, 5

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


def require_whole(name: str, minimum: int) -> Validator:
    """Build a validator for whole numbers of at least `minimum`.

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
    """Build a validator for text that is not blank."""

    def check(value: Any) -> str:
        if not isinstance(value, str) or not value.strip():
            raise InputError(f"{name} must be text in quotes, got {value!r}")
        return value

    return check


def require_file_name(name: str) -> Validator:
    """Build a validator for text that can be a file name.

    >>> require_file_name("name")("../up")
    Traceback (most recent call last):
    fairtrial.errors.InputError: name must not contain '/' because it is used as a file name, got '../up'
    """

    def check(value: Any) -> str:
        text = str(require_text(name)(value))
        wrong = next((character for character in text if character in "/\\" or category(character) in ("Cc", "Cs")), None)
        if wrong is not None:
            raise InputError(f"{name} must not contain {wrong!r} because it is used as a file name, got {value!r}")
        if text in (".", ".."):
            raise InputError(f"{name} must not be '.' or '..' because it is used as a file name, got {value!r}")
        if len(text.encode()) > _MAX_NAME_LENGTH:
            rule = f"at most {_MAX_NAME_LENGTH} bytes in UTF-8, got {len(text.encode())}"
            raise InputError(f"{name} must have {rule}: {text[:20]!r}...")
        return text

    return check


def require_names(name: str) -> Validator:
    """Build a validator for non-empty lists. A single name becomes a list. Members are checked separately."""

    def check(value: Any) -> list[Any]:
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, (list, tuple)) or not items:
            raise InputError(f"{name} must be a list of names, got {value!r}")
        return list(items)

    return check


def require_mapping(name: str) -> Validator:
    """Build a validator for tables whose keys are text."""

    def check(value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise InputError(f"{name} must be a table of names and values, got {value!r}")
        for key in value:
            if not isinstance(key, str) or not key.strip():
                raise InputError(f"keys of {name} must be text, got {key!r}")
        return dict(value)

    return check


def require_choice(name: str, options: tuple[str, ...]) -> Validator:
    """Build a validator that accepts one of several options."""

    def check(value: Any) -> str:
        if value not in options:
            remedy = format_similar_name(value, options)
            raise InputError(f"{name} must be one of {', '.join(options)}, got {value!r}{remedy}")
        return str(value)

    return check


def require_number(name: str, rule: str, fits: Callable[[float], bool]) -> Validator:
    """Build a validator for numbers that satisfy a rule."""

    def check(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not fits(value):
            raise InputError(f"{name} must be a number {rule}, got {value!r}")
        return value

    return check


def parse_seconds(value: Any) -> float | str:
    """Convert a time to seconds. Text must contain a unit, or "none" for no limit.

    >>> parse_seconds(600), parse_seconds("10 min"), parse_seconds("1.5 h"), parse_seconds("none")
    (600, 600, 5400, 'none')
    """
    amount = _parse_amount(value, _SECONDS)
    if amount is None or not (amount == NO_LIMIT or 0 < amount < math.inf):
        raise InputError(f"time must be a positive number of seconds, or text such as '10 min', '2 h' or 'none', got {value!r}")
    return cast("float | str", amount)


def parse_memory(value: Any) -> int | str:
    """Convert an amount of memory to bytes. Text must contain a unit, or "none" for no limit.

    >>> parse_memory("2 GB"), parse_memory("512 MiB"), parse_memory(3000000)
    (2000000000, 536870912, 3000000)
    """
    amount = _parse_amount(value, _BYTES)
    if amount is None or not (amount == NO_LIMIT or math.isfinite(amount)):
        raise InputError(f"memory must be a number of bytes, or text such as '500 MB', '2 GB' or 'none', got {value!r}")
    if amount == NO_LIMIT:
        return NO_LIMIT
    if amount < _MIN_MEMORY:
        raise InputError(f"memory must be at least 1 MB (numbers are bytes), got {value!r}: write e.g. '{value} GB'")
    return int(amount)


def _parse_amount(value: Any, units: Mapping[str, int]) -> Any:
    """Parse a number, an amount with a unit, or "none". Return None if this is impossible."""
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


def expand_data(value: Any) -> Any:
    """Expand the data section, such as `"iris"` or `["iris", "files/*.csv"]`, to a table with `sets`.

    >>> expand_data(["iris"])
    {'sets': ['iris']}
    """
    if isinstance(value, str):
        return {"sets": [value]}
    return (
        {"sets": list(value)} if isinstance(value, (list, tuple)) else _check_table("data", value, "a list of names and files")
    )


def expand_data_set(value: Any) -> Any:
    """Expand a data set, such as `"heart.csv"`, to a table with `set`. A table is returned unchanged."""
    return {"set": value} if isinstance(value, str) else _check_table("a data set", value, "a path or a name of the catalogue")


def expand_learners(value: Any) -> Any:
    """Expand the learners, such as `["c45", "svc"]`, to a table keyed by name.

    >>> expand_learners({"c45": {}, "forest": "random-forest"})
    {'c45': {'learner': 'c45'}, 'forest': {'learner': 'random-forest'}}
    """
    entries = _index_by_name("learners", value)
    return {name: _with_name("learner", name, entry) for name, entry in entries.items()}


def expand_conditions(value: Any) -> Any:
    """Expand the conditions to a table keyed by name. The default is clean data.

    >>> expand_conditions({"class-noise": [0, 0.1]})
    {'class-noise': {'condition': 'class-noise', 'level': [0, 0.1]}}
    """
    entries = _index_by_name("conditions", value) or {"clean": {}}
    return {name: _with_name("condition", name, _wrap_levels(entry)) for name, entry in entries.items()}


def expand_resampling(value: Any) -> Any:
    """Expand a resampling scheme, such as `"leave-one-out"`, to a table. `n_splits` is an alias for `folds`.

    >>> expand_resampling({"scheme": "kfold", "n_splits": 3})
    {'scheme': 'kfold', 'folds': 3}
    """
    if isinstance(value, str):
        return {"scheme": value}
    table = _check_table("resampling", value, "the name of a scheme")
    if "splitter" in table:
        if table.get("scheme", _SPLITTER) != _SPLITTER:
            raise InputError("resampling must have scheme or splitter, got both: remove one")
        return {"scheme": _SPLITTER, **table}
    if table.get("scheme") == _SPLITTER:
        raise InputError('resampling must name a class: write splitter = "sklearn.model_selection.GroupShuffleSplit"')
    if _has_folds(table.get("scheme", _DEFAULT_SCHEME)) and "n_splits" in table:
        if "folds" in table:
            raise InputError("resampling must have folds or n_splits, got both: remove one, because they mean the same")
        table = {("folds" if name == "n_splits" else name): option for name, option in table.items()}
    return table


def expand_study_resampling(value: Any) -> Any:
    """Expand a resampling scheme, or each scheme in a list.

    >>> expand_study_resampling(["dob-scv", {"scheme": "kfold", "n_splits": 3}])
    [{'scheme': 'dob-scv'}, {'scheme': 'kfold', 'folds': 3}]
    """
    if not isinstance(value, (list, tuple)):
        return expand_resampling(value)
    return [expand_resampling(scheme) for scheme in value]


def _has_folds(scheme: object) -> bool:
    """Return whether the scheme divides the rows into folds."""
    return isinstance(scheme, str) and scheme in schemes and issubclass(schemes[scheme], FoldSplitter)


def expand_sampler(value: Any) -> Any:
    """Expand a sampler, such as `"smote"`, to a table. A table must contain the name of the sampler."""
    if isinstance(value, str):
        return {"sampler": value}
    table = _check_table("sampler", value, "the name of a sampler")
    if not isinstance(table.get("sampler"), str):
        raise InputError(f'sampler must have a name, got {table}: write sampler = {{ sampler = "smote", k_neighbors = 3 }}')
    return table


def expand_levels(value: Any) -> Any:
    """Expand a single level to a list with one level."""
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
            raise InputError(f"{section} in a list must be names, got {name!r}: write a table, name = {{ ... }}")
        if name in value[:number]:
            raise InputError(f"{section} must have distinct names, got {name!r} twice")
    return {name: {} for name in value}


def _with_name(key: str, name: str, value: Any) -> Any:
    """Set `key` of an entry to the name of the entry, unless the key already has a value."""
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
            raise InputError(f"keys of {subject} must be text, got {name!r}")
    return dict(value)


def _require_text(name: str) -> BeforeValidator:
    return BeforeValidator(require_text(name))


class SpecTable(BaseModel):
    """A table in the specification of a study."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain values. Unset values are left out."""
        return self.model_dump(exclude_none=True)


class OpenSpecTable(SpecTable):
    """A table that may have extra keys.

    The extra keys are the parameters of an object. They are checked when the object is built.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    @property
    def parameters(self) -> dict[str, Any]:
        """The extra keys and their values."""
        return dict(self.model_extra or {})


def is_path(text: str, folder: Path) -> bool:
    """Return whether a string is a path rather than a name in the catalogue or on OpenML.

    >>> is_path("iris", Path()), is_path("openml:61", Path()), is_path("heart.csv", Path()), is_path("files/*.dat", Path())
    (False, False, True, True)
    """
    from fairtrial.data.reading import SUFFIXES

    if text.startswith("openml:"):
        return False
    if glob.has_magic(text) or text.lower().endswith((*SUFFIXES, ".gz", ".zip")) or text.startswith((".", "~", os.sep)):
        return True
    return ("/" in text or os.sep in text) and (folder / text).exists()


class DataSetSpec(OpenSpecTable):
    """A named data set, given as a catalogue name or path (`set`), as a file (`file`), or as a Python object."""

    set: Annotated[str, _require_text("set")] | None = None
    """Name in the catalogue, or a path."""
    file: Annotated[str, _require_text("file")] | None = None
    """Path, relative to the study file. Other keys are passed to `fairtrial.data.read`."""
    object: Annotated[str, _require_text("object")] | None = None

    @model_validator(mode="after")
    def _check_single_source(self) -> DataSetSpec:
        if sum(source is not None for source in (self.set, self.file, self.object)) != 1:
            raise InputError('a data set must have either file = "a path" or set = "a name of the catalogue"')
        return self


class DataSpec(SpecTable):
    """Data sets: names in the catalogue, files and globs, and named data sets."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, Annotated[DataSetSpec, BeforeValidator(expand_data_set)]]

    sets: list[Annotated[str, _require_text("a data set")]] = Field(default_factory=list)
    """Names in the catalogue, OpenML sets, files and glob patterns."""

    @property
    def named_sets(self) -> dict[str, DataSetSpec]:
        """The named data sets."""
        return dict(self.__pydantic_extra__)


class ResamplingSpec(OpenSpecTable):
    """A resampling scheme with its parameters and repeats, or the import path of a splitter (scheme "splitter")."""

    scheme: Annotated[str, _require_text("scheme")] = _DEFAULT_SCHEME
    """Name of the scheme. Other keys of the table are parameters of the scheme."""
    splitter: Annotated[str, _require_text("splitter")] | None = None
    """Import path of a splitter class, instead of a scheme."""
    folds: Annotated[int, BeforeValidator(require_whole("folds", 2))] | None = None
    """Number of folds. Default: 10 in a study, 5 inside a tuned learner."""
    repeats: Annotated[int, BeforeValidator(require_whole("repeats", 1))] = 1
    """Number of repeats, each with new random draws."""

    def with_default_folds(self, folds: int) -> Self:
        """Set the number of folds to a default if the scheme uses folds and their number is not declared."""
        missing = _has_folds(self.scheme) and self.folds is None
        return self.model_copy(update={"folds": folds}) if missing else self


class StudyResamplingSpec(ResamplingSpec):
    """A resampling scheme of a study, with the name that tables show."""

    name: Annotated[str, _require_text("name")] | None = None
    """Name in tables. Default: the name of the scheme."""

    @property
    def display_name(self) -> str:
        """The name of the scheme in tables."""
        return self.name or (self.scheme if self.splitter is None else self.splitter.rpartition(".")[2])


_StudyScheme = Annotated[
    StudyResamplingSpec, BeforeValidator(expand_resampling), AfterValidator(lambda spec: spec.with_default_folds(_STUDY_FOLDS))
]
StudyResampling = Annotated[list[_StudyScheme], BeforeValidator(lambda value: value if isinstance(value, list) else [value])]


InnerResampling = Annotated[
    ResamplingSpec, BeforeValidator(expand_resampling), AfterValidator(lambda spec: spec.with_default_folds(_TUNING_FOLDS))
]


class TuningSpec(SpecTable):
    """Tuning of a learner: the search, the values to try, the inner resampling scheme, and the measure."""

    search: Annotated[str, BeforeValidator(require_choice("search", SEARCHES))] | None = None
    """`"grid"` (default), `"random"`, `"halving"` or `"optuna"`."""
    grid: Annotated[dict[str, Any], BeforeValidator(require_mapping("grid"))] | None = None
    """Older name of `parameters`."""
    parameters: Annotated[dict[str, Any], BeforeValidator(require_mapping("parameters"))] | None = None
    """Values to try: lists or, unless the search is a grid, ranges `{ low, high, log }`."""
    iterations: Annotated[int, BeforeValidator(require_whole("iterations", 1))] | None = None
    """Number of combinations to draw. Not allowed for a grid. Default: 20, but for `"halving"` all combinations or, if
    there are ranges, as many as the number of rows allows."""
    resampling: InnerResampling = Field(default_factory=lambda: ResamplingSpec(folds=_TUNING_FOLDS))
    """Inner scheme. Default: stratified with 5 folds."""
    measure: Annotated[str, _require_text("measure")] = "accuracy"
    """Measure that the search optimizes."""

    @model_validator(mode="after")
    def _check_search(self) -> TuningSpec:
        if self.grid is None and self.parameters is None:
            raise InputError("grid is missing: write grid = { NAME = [VALUES] }, or parameters = { NAME = [VALUES] }")
        if self.grid is not None and self.parameters is not None:
            raise InputError("tune must have grid or parameters, got both: remove one, because they mean the same")
        if self.iterations is not None and self.search in (None, "grid"):
            remedy = 'remove it, or choose search = "random", "halving" or "optuna"'
            raise InputError(f"iterations must be omitted for a grid, which is searched completely: {remedy}")
        return self


class LearnerSpec(SpecTable):
    """A learner: catalogue name or import path, parameters, preparation, sampler and tuning."""

    learner: Annotated[str, _require_text("learner")] | None = None
    """Name in the catalogue, or import path of a class. Default: the name of the entry."""
    parameters: Annotated[dict[str, Any], BeforeValidator(require_mapping("parameters"))] | None = None
    """Parameters of the learner."""
    preparation: Annotated[str, BeforeValidator(require_choice("preparation", PREPARATIONS))] | None = None
    """`"standard"` or `"none"`: preprocessing in each fold. Default: what the learner needs."""
    sampler: Annotated[dict[str, Any], BeforeValidator(expand_sampler)] | None = None
    """Sampler for the training rows, from imbalanced-learn: a name, or a table with the name and parameters."""
    tune: Annotated[TuningSpec, BeforeValidator(require_mapping("tune"))] | None = None
    """Tuning on inner splits of each training set."""
    object: Annotated[str, _require_text("object")] | None = None


class ConditionSpec(OpenSpecTable):
    """A condition: its name, levels and other parameters."""

    condition: Annotated[str, _require_text("condition")] | None = None
    """Name of the condition. Default: the name of the entry."""
    level: Annotated[list[float], BeforeValidator(expand_levels)] | None = None
    """One or several levels. Level 0 is clean data. Other keys are parameters of the condition."""
    object: Annotated[str, _require_text("object")] | None = None


class VerdictSpec(SpecTable):
    """Options of the statistical comparison of learners (the verdict)."""

    measure: Annotated[str, _require_text("measure")] | None = None
    """Measure by which learners are compared. Default: the first of `measures`."""
    control: Annotated[str, _require_text("control")] | None = None
    """Learner with which all others are compared. Default: all pairs are compared."""
    alpha: Annotated[float, BeforeValidator(require_number("alpha", "between 0 and 1", lambda x: 0 < x < 1))] = 0.05
    """Significance level."""
    rope: Annotated[float, BeforeValidator(require_number("rope", "at least 0", lambda x: 0 <= x < float("inf")))] | None = None
    """Differences up to this size count as practically equivalent. If `rope` is set, a Bayesian test is added."""
    failures: Annotated[str, BeforeValidator(require_choice("failures", FAILURE_POLICIES))] = "exclude"
    """How a failed trial is scored: `"exclude"`, `"worst-rank"` or `"trivial"`."""


class LimitsSpec(SpecTable):
    """Resource limits of one trial."""

    time: Annotated[int | float | str, BeforeValidator(parse_seconds)] = 3600
    """Time limit of one trial in seconds, or text such as `"10 min"`. `"none"` means no limit."""
    memory: Annotated[int | str, BeforeValidator(parse_memory)] = NO_LIMIT
    """Memory limit of one trial in bytes, or text such as `"2 GB"`. `"none"` means no limit."""

    def to_resource_limits(self) -> ResourceLimits:
        """Convert this table to the resource limits of a trial."""
        time = None if self.time == NO_LIMIT else float(self.time)
        return ResourceLimits(time, None if self.memory == NO_LIMIT else int(self.memory))


_Measure = Annotated[str, _require_text("a measure")]
_LearnerTable = Annotated[LearnerSpec, BeforeValidator(require_mapping("a learner"))]
_ConditionTable = Annotated[ConditionSpec, BeforeValidator(require_mapping("a condition"))]


class StudySpec(SpecTable):
    """The specification of a study in plain values.

    >>> spec = StudySpec.from_mapping({"data": ["iris"], "learners": ["c45"], "conditions": {"class-noise": [0, 0.1]}})
    >>> spec.to_dict()["conditions"], spec.to_dict()["resampling"]
    ({'class-noise': {'condition': 'class-noise', 'level': [0.0, 0.1]}}, {'scheme': 'stratified', 'folds': 10, 'repeats': 1})
    """

    name: Annotated[str, BeforeValidator(require_file_name("name"))] = "study"
    """Name of the study and of its results file. Default: the name of the study file."""
    seed: Annotated[int, BeforeValidator(require_whole("seed", 0))] = 0
    """Seed for all random choices."""
    measures: Annotated[list[_Measure], BeforeValidator(require_names("measures"))] = Field(
        default_factory=lambda: list(MEASURES)
    )
    """Measures that tables and the report show."""
    data: Annotated[DataSpec, BeforeValidator(expand_data)] = Field(default_factory=lambda: DataSpec.model_validate({}))
    """Data sets: a list, or the table `[data]`. Required."""
    learners: Annotated[dict[str, _LearnerTable], BeforeValidator(expand_learners)] = Field(default_factory=dict)
    """Learners: a list of names, or the table `[learners]`. Required."""
    conditions: Annotated[dict[str, _ConditionTable], BeforeValidator(expand_conditions)] = Field(
        default_factory=dict, validate_default=True
    )
    """Conditions with their levels: the table `[conditions]`. Default: clean data."""
    resampling: StudyResampling = Field(default_factory=lambda: [StudyResamplingSpec(folds=_STUDY_FOLDS)])
    """The table `[resampling]`, or several tables `[[resampling]]`. Default: 10 stratified folds."""
    verdict: Annotated[VerdictSpec, BeforeValidator(require_mapping("verdict"))] = Field(
        default_factory=dict, validate_default=True
    )
    """How learners are compared: the table `[verdict]`."""
    limits: Annotated[LimitsSpec, BeforeValidator(require_mapping("limits"))] = Field(default_factory=LimitsSpec)
    """Resource limits of one trial: the table `[limits]`."""

    @field_validator("verdict", mode="after")
    @classmethod
    def _choose_measure(cls, verdict: VerdictSpec, info: ValidationInfo) -> VerdictSpec:
        """Set the first measure of the study as the default measure of the verdict."""
        if verdict.measure is not None or not info.data.get("measures"):
            return verdict
        return verdict.model_copy(update={"measure": info.data["measures"][0]})

    @field_validator("resampling", mode="after")
    @classmethod
    def _check_scheme_names(cls, schemes: list[StudyResamplingSpec]) -> list[StudyResamplingSpec]:
        if not schemes:
            raise InputError("resampling must have at least 1 scheme, got an empty list: remove it for 10 stratified folds")
        names = [scheme.display_name for scheme in schemes]
        double = next((name for name in names if names.count(name) > 1), None)
        if double is not None:
            raise InputError(f'resampling must have distinct names, got {double!r} twice: write name = "..." in each table')
        return schemes

    def to_dict(self) -> dict[str, Any]:
        """Return the specification as plain values.

        A single resampling scheme becomes a table, and several schemes become a list of tables.
        """
        plain = super().to_dict()
        return plain | ({"resampling": plain["resampling"][0]} if len(self.resampling) == 1 else {})

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> StudySpec:
        """Build the specification from plain values. If they are malformed, a SpecError reports all problems."""
        spec, problems = cls.read_valid_parts(mapping)
        if problems:
            raise build_spec_error(problems)
        return spec

    @classmethod
    def read_valid_parts(cls, mapping: Any, known_problems: Iterable[SpecProblem] = ()) -> tuple[StudySpec, list[SpecProblem]]:
        """Build the specification from the valid parts of a mapping. Return it with all problems, including `known_problems`.

        >>> values = {"data": ["iris"], "learners": ["c45"], "resampling": {"folds": "five"}, "sede": 1}
        >>> for problem in StudySpec.read_valid_parts(values)[1]:
        ...     print(*problem.path, "-", problem.message)
        resampling folds - folds must be a whole number of at least 2, got 'five'
        sede - a study has no section or key 'sede': did you mean 'seed'?
        """
        if not isinstance(mapping, Mapping):
            return cls(), [SpecProblem((), f"a study must be a table of sections, got {mapping!r}")]
        problems = [*known_problems, *_find_misplaced_keys(mapping), *_find_missing_sections(mapping)]
        rest = _expand_sections(mapping)
        _remove_problems(rest, problems)
        while True:
            try:
                return cls.model_validate(rest), problems
            except ValidationError as error:
                new_problems = [SpecProblem(*_describe_error(detail, rest)) for detail in error.errors(include_url=False)]
            problems += restore_indices(new_problems, problems)
            _remove_problems(rest, new_problems)

    def to_short_form(self) -> dict[str, Any]:
        """Return the specification in short form.

        A name that only repeats the key of its table is dropped. A condition that has only levels becomes a list, unless it
        follows a condition that is a table. TOML writers put lists before tables, which would change the order of the
        conditions.

        >>> values = {"data": ["iris"], "learners": ["c45"], "conditions": {"class-noise": [0, 0.1]}}
        >>> short = StudySpec.from_mapping(values).to_short_form()
        >>> short["learners"], short["conditions"]
        (['c45'], {'class-noise': [0.0, 0.1]})
        """
        plain = self.to_dict()
        learners = {name: _drop_repeated_name("learner", name, table) for name, table in plain["learners"].items()}
        conditions: dict[str, Any] = {}
        for name, table in plain["conditions"].items():
            short = _drop_repeated_name("condition", name, table)
            after_table = any(isinstance(entry, dict) for entry in conditions.values())
            conditions[name] = short["level"] if list(short) == ["level"] and not after_table else short
        return plain | {"learners": learners if any(learners.values()) else list(learners), "conditions": conditions}


def _drop_repeated_name(key: str, name: str, table: dict[str, Any]) -> dict[str, Any]:
    return {option: value for option, value in table.items() if not (option == key and value == name)}


T = TypeVar("T", bound=BaseModel)

_OPEN_SECTIONS = ("data", "learners", "conditions", "resampling")

_EXPANDERS = {
    "data": expand_data,
    "learners": expand_learners,
    "conditions": expand_conditions,
    "resampling": expand_study_resampling,
}

_TABLES: dict[tuple[str, ...], type[BaseModel]] = {
    (): StudySpec,
    ("verdict",): VerdictSpec,
    ("limits",): LimitsSpec,
    ("learners", "*"): LearnerSpec,
    ("learners", "*", "tune"): TuningSpec,
}


def validate_table(kind: type[T], value: Mapping[str, Any]) -> T:
    """Validate a nested table. If the table is invalid, raise an error that describes the first problem."""
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
    if path[:1] == ("resampling",) and not isinstance(rest.get("resampling"), list):
        path = ("resampling", *path[2:])  # a single table is validated as a list of one scheme
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
        return f"{owner} has no key {key!r}, which is a key of the study: move it above the first [table]"
    subject = f"{owner} has no key" if above else "a study has no section or key"
    return f"{subject} {key!r}: {suggest_name(key, [name for name in known_keys if name != 'object'])}"


def _describe_unknown_parameter(path: KeyPath, value: Any, rest: Mapping[str, Any]) -> str | None:
    """Describe a learner parameter written outside `parameters`. Return None if the key may be a misspelling of another key."""
    if path[:1] != ("learners",) or len(path) != len(("learners", "name", "key")) or path[2] in StudySpec.model_fields:
        return None
    key, parameters = str(path[2]), _list_parameters(rest["learners"][path[1]].get("learner"))
    if key not in parameters and get_close_matches(key, LearnerSpec.model_fields):
        return None
    near = get_close_matches(key, [key, *parameters][parameters != () and key not in parameters :], n=1)
    if not near:
        return None
    with suppress(TypeError):
        if (written := _format_inline(value)) is not None:
            line = f"{near[0]} = {written}"
            return f"a learner has no key {key!r}: its parameters form a table, write parameters = {{ {line} }}"
    return None


def _format_inline(value: Any) -> str | None:
    """Format a value on one line of TOML. Return None if this is impossible."""
    if isinstance(value, (list, tuple)):
        items = [_format_inline(item) for item in value]
        return None if None in items else f"[{', '.join(map(str, items))}]"
    first, *lines, _ = [line.strip() for line in tomli_w.dumps({"x": [value]}).splitlines()]
    return " ".join(lines).removesuffix(",") if first == "x = [" else None


def _list_parameters(learner: Any) -> Collection[str]:
    """List the parameters of a learner in the catalogue. For import paths, return no parameters."""
    from fairtrial.learners import catalogue

    with suppress(InputError):
        if isinstance(learner, str) and not any(character in learner for character in "./\\:"):
            return catalogue.get_parameters(catalogue.learner_class(learner))
    return ()


def _find_misplaced_keys(mapping: Mapping[str, Any]) -> Iterator[SpecProblem]:
    """Find keys that belong to the top level of the study but are written inside a section."""
    for section in _OPEN_SECTIONS:
        table = mapping.get(section)
        for key in ("measures", "seed"):
            if isinstance(table, Mapping) and key in table and not isinstance(table[key], Mapping):
                message = f"{section} has {key!r}, which is a key of the study: move it above the first [table]"
                yield SpecProblem((section, key), message)


def _find_missing_sections(mapping: Mapping[str, Any]) -> Iterator[SpecProblem]:
    """Find required sections that are missing. Misspelled section names are reported elsewhere, as unknown keys."""
    unknown = [str(key) for key in mapping if key not in StudySpec.model_fields]
    for section, noun in (("data", "data set"), ("learners", "learner")):
        value = mapping.get(section, {})
        empty = (isinstance(value, (Mapping, list, tuple)) and not value) or value == {"sets": []}
        if empty and not get_close_matches(section, unknown):
            yield SpecProblem((section,), f"a study must have at least 1 {noun}, got none: add [{section}]")


def _expand_sections(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """Expand the sections, so the locations of problems refer to the expanded form."""
    rest = {str(name): deepcopy(value) for name, value in mapping.items()}
    for section, expand in _EXPANDERS.items():
        if section in rest:
            with suppress(InputError):
                rest[section] = expand(rest[section])
    return rest


def _remove_problems(rest: dict[str, Any], problems: Iterable[SpecProblem]) -> None:
    """Remove the parts with problems. Later members of a list are removed first, so the remaining indices stay valid."""
    affected = {_find_affected_path(problem.path) for problem in problems}
    for path in sorted(affected, key=lambda path: [(str(type(part)), part) for part in path], reverse=True):
        _remove_key(rest, path)


def _find_affected_path(path: KeyPath) -> KeyPath:
    """Find the smallest part of the study that must be removed because of a problem.

    The part is a whole data set, learner or condition or, in other sections, a single key.
    """
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
