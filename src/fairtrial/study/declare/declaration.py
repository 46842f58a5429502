"""What a study declares, in plain values only: complete, checked for form, the same for TOML and Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from fairtrial.errors import InputError
from fairtrial.study.declare import declared_forms as forms, declared_values as values

MEASURES = ("accuracy", "kappa", "auc", "brier")
PREPARATIONS = ("standard", "none")
FAILURES = ("exclude", "worst-rank", "trivial")
_STUDY_FOLDS, _TUNING_FOLDS = 10, 5


def _text(name: str) -> BeforeValidator:
    return BeforeValidator(values.text(name))


class Part(BaseModel):
    """A table of the declaration."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def plain(self) -> dict[str, Any]:
        """Plain values; what is not declared and has no default is left out."""
        return self.model_dump(exclude_none=True)


class OpenPart(Part):
    """A table whose further keys are parameters of what it names; they are checked when it is made."""

    model_config = ConfigDict(extra="allow", frozen=True)

    @property
    def parameters(self) -> dict[str, Any]:
        """The further keys."""
        return dict(self.model_extra or {})


class DataSet(OpenPart):
    """A data set with a name: of the catalogue or a path (`set`), a file (`file`), or an object of Python."""

    set: Annotated[str, _text("set")] | None = None
    file: Annotated[str, _text("file")] | None = None
    object: Annotated[str, _text("object")] | None = None

    @model_validator(mode="after")
    def _one_source(self) -> DataSet:
        if sum(each is not None for each in (self.set, self.file, self.object)) != 1:
            raise InputError('a data set must have either file = "a path" or set = "a name of the catalogue"')
        return self


class Data(Part):
    """Data sets by names of the catalogue, files and globs; and named ones."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, Annotated[DataSet, BeforeValidator(forms.data_set_form)]]

    sets: list[Annotated[str, _text("a data set")]] = Field(default_factory=list)

    @property
    def named(self) -> dict[str, DataSet]:
        """The data sets with a name of their own."""
        return dict(self.__pydantic_extra__)


class Resampling(OpenPart):
    """A scheme with its parameters, and how often it is repeated."""

    scheme: Annotated[str, _text("scheme")] = "stratified"
    folds: Annotated[int, BeforeValidator(values.whole("folds", 2))] | None = None
    repeats: Annotated[int, BeforeValidator(values.whole("repeats", 1))] = 1

    def completed(self, folds: int) -> Resampling:
        """With the number of folds where the scheme has one and none is declared."""
        missing = self.scheme in forms.FOLDED and self.folds is None
        return self.model_copy(update={"folds": folds}) if missing else self


StudyResampling = Annotated[
    Resampling, BeforeValidator(forms.resampling_form), AfterValidator(lambda found: found.completed(_STUDY_FOLDS))
]
InnerResampling = Annotated[
    Resampling, BeforeValidator(forms.resampling_form), AfterValidator(lambda found: found.completed(_TUNING_FOLDS))
]


class Tuning(Part):
    """How parameters are chosen: a grid, an inner resampling, a measure."""

    grid: Annotated[dict[str, Any], BeforeValidator(values.mapping("grid"))]
    resampling: InnerResampling = Field(default_factory=lambda: Resampling(folds=_TUNING_FOLDS))
    measure: Annotated[str, _text("measure")] = "accuracy"


class Learner(Part):
    """A learner: a name of the catalogue or an import path, its parameters, its preparation, a sampler, tuning."""

    learner: Annotated[str, _text("learner")] | None = None
    parameters: Annotated[dict[str, Any], BeforeValidator(values.mapping("parameters"))] | None = None
    preparation: Annotated[str, BeforeValidator(values.choice("preparation", PREPARATIONS))] | None = None
    sampler: Annotated[dict[str, Any], BeforeValidator(forms.sampler_form)] | None = None
    tune: Annotated[Tuning, BeforeValidator(values.mapping("tune"))] | None = None
    object: Annotated[str, _text("object")] | None = None


class Condition(OpenPart):
    """A condition: its name, its levels, further parameters."""

    condition: Annotated[str, _text("condition")] | None = None
    level: Annotated[list[float], BeforeValidator(forms.levels_form)] | None = None
    object: Annotated[str, _text("object")] | None = None


class Verdict(Part):
    """How the study is judged."""

    measure: Annotated[str, _text("measure")] | None = None
    control: Annotated[str, _text("control")] | None = None
    alpha: Annotated[float, BeforeValidator(values.number("alpha", "between 0 and 1", lambda x: 0 < x < 1))] = 0.05
    rope: Annotated[float, BeforeValidator(values.number("rope", "from 0 on", lambda x: 0 <= x < float("inf")))] | None = None
    failures: Annotated[str, BeforeValidator(values.choice("failures", FAILURES))] = "exclude"


class Limits(Part):
    """What one trial may take."""

    time: Annotated[int | float | str, BeforeValidator(values.seconds)] = 3600
    memory: Annotated[int | str, BeforeValidator(values.memory_bytes)] = values.NO_LIMIT


_Measure = Annotated[str, _text("a measure")]
_LearnerTable = Annotated[Learner, BeforeValidator(values.mapping("a learner"))]
_ConditionTable = Annotated[Condition, BeforeValidator(values.mapping("a condition"))]


class Declaration(Part):
    """A study in plain values.

    >>> found = Declaration.of({"data": ["iris"], "learners": ["c45"], "conditions": {"class-noise": [0, 0.1]}})
    >>> found.plain()["conditions"], found.plain()["resampling"]
    ({'class-noise': {'condition': 'class-noise', 'level': [0.0, 0.1]}}, {'scheme': 'stratified', 'folds': 10, 'repeats': 1})
    """

    name: Annotated[str, BeforeValidator(values.file_name("name"))] = "study"
    seed: Annotated[int, BeforeValidator(values.whole("seed", 0))] = 0
    measures: Annotated[list[_Measure], BeforeValidator(values.names("measures"))] = Field(
        default_factory=lambda: list(MEASURES)
    )
    data: Annotated[Data, BeforeValidator(forms.data_form)] = Field(default_factory=lambda: Data.model_validate({}))
    learners: Annotated[dict[str, _LearnerTable], BeforeValidator(forms.learners_form)] = Field(default_factory=dict)
    conditions: Annotated[dict[str, _ConditionTable], BeforeValidator(forms.conditions_form)] = Field(default_factory=dict)
    resampling: StudyResampling = Field(default_factory=lambda: Resampling(folds=_STUDY_FOLDS))
    verdict: Annotated[Verdict, BeforeValidator(values.mapping("verdict"))] = Field(default_factory=Verdict)
    limits: Annotated[Limits, BeforeValidator(values.mapping("limits"))] = Field(default_factory=Limits)

    @model_validator(mode="after")
    def _complete(self) -> Declaration:
        """What is not declared but follows: clean data, and a verdict on the first measure."""
        if not self.conditions:
            object.__setattr__(self, "conditions", {"clean": Condition(condition="clean")})
        if self.verdict.measure is None:
            object.__setattr__(self, "verdict", self.verdict.model_copy(update={"measure": self.measures[0]}))
        return self

    @classmethod
    def of(cls, mapping: Mapping[str, Any]) -> Declaration:
        """Of plain values as a TOML file has them; a SpecError tells all mistakes of form."""
        from fairtrial.study.declare.mistakes import declared, spec_error

        found, mistakes = declared(mapping)
        if mistakes:
            raise spec_error(mistakes)
        return found

    def brief(self) -> dict[str, Any]:
        """The same in fewer words, for people: names that repeat and levels that stand alone are shortened.

        >>> Declaration.of({"data": ["iris"], "learners": ["c45"], "conditions": {"class-noise": [0, 0.1]}}).brief()["learners"]
        {'c45': {}}
        """
        plain = self.plain()
        learners = {name: _unnamed("learner", name, each) for name, each in plain["learners"].items()}
        conditions = {name: _unnamed("condition", name, each) for name, each in plain["conditions"].items()}
        conditions = {name: each["level"] if list(each) == ["level"] else each for name, each in conditions.items()}
        return plain | {"learners": learners, "conditions": conditions}


def _unnamed(key: str, name: str, table: dict[str, Any]) -> dict[str, Any]:
    return {each: value for each, value in table.items() if not (each == key and value == name)}
