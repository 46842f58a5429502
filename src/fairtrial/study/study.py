"""A study: declared in a TOML file or in Python, checked, planned and run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from glob import has_magic
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtrial._text import format_count
from fairtrial.errors import InputError

if TYPE_CHECKING:
    from fairtrial.study.plan.plan import StudyPlan
    from fairtrial.study.records import Status
    from fairtrial.study.results.results import Results
    from fairtrial.study.spec.models import StudySpec
    from fairtrial.study.spec.resolve import ResolvedStudy
    from fairtrial.study.spec.toml import SpecSource


class Study:
    """Data sets, learners, conditions, resampling, measures and a verdict: what is to be tried and how it is judged.

    Each argument takes what the section of the same name takes in TOML: names, paths, tables. It also takes objects: data sets
    (`Dataset`, `GivenFolds`), estimators by name, conditions, a splitter. Problems of form are reported at once, all in one
    SpecError; names are looked up by `resolve`. Studies are equal if they specify the same, on the same files.

    >>> study = Study(data=["iris", "wine"], learners=["c45", "gaussian-nb"], conditions={"class-noise": [0, 0.1]}, seed=1)
    >>> print(study)
    study: 2 data sets, 2 learners, conditions class-noise; stratified, 10 folds; accuracy, kappa, auc, brier; seed 1
    """

    def __init__(
        self,
        data: Any = None,
        learners: Any = None,
        conditions: Any = None,
        resampling: Any = None,
        measures: Any = None,
        verdict: Any = None,
        limits: Any = None,
        *,
        seed: int = 0,
        name: str = "study",
        allow_local_code: bool = False,
    ) -> None:
        from fairtrial.study.spec.toml import SpecSource  # it imports pydantic

        sections = {
            "name": name,
            "seed": seed,
            "measures": measures,
            "data": {} if data is None else data,
            "learners": {} if learners is None else learners,
            "conditions": conditions,
            "resampling": resampling,
            "verdict": verdict,
            "limits": limits,
        }
        given_sections = {section: value for section, value in sections.items() if value is not None}
        self._init_source(SpecSource.from_python(given_sections), allow_local_code)

    def _init_source(self, source: SpecSource, allow_local_code: bool) -> None:
        self._source = source
        self.allow_local_code = allow_local_code
        self.declaration: StudySpec = source.read_spec(allow_local_code)

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, allow_local_code: bool = False) -> Study:
        """The study of a TOML file. Paths of data are relative to the folder of the file."""
        from fairtrial.study.spec.toml import SpecSource  # it imports pydantic

        study = cls.__new__(cls)
        study._init_source(SpecSource.from_file(Path(path)), allow_local_code)
        return study

    @property
    def name(self) -> str:
        """What the study is called."""
        return self.declaration.name

    @property
    def folder(self) -> Path | None:
        """Where paths of data begin: the folder of the file, or None for the current one."""
        return self._source.folder

    def to_toml(self) -> str:
        """The study as a TOML file. Objects that only live in Python cannot be written, and are named."""
        return self._source.to_toml(self.declaration)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the TOML file; paths of data are converted to lead to the same files from there."""
        target = Path(path)
        text = self._source.to_toml(self.declaration, target.parent)
        try:
            target.write_text(text, encoding="utf-8")
        except OSError as error:
            raise InputError(f"{target} cannot be written: {error.strerror or error}") from None
        return target

    def resolve(self) -> ResolvedStudy:
        """Load the data, build learners, conditions and splitter, check all names; a SpecError reports every problem."""
        return self._source.resolve(self.declaration, self.allow_local_code)

    def plan(self) -> StudyPlan:
        """All trials of the study with their keys."""
        from fairtrial.study.plan.plan import plan_study

        return plan_study(self.resolve())

    def run(
        self,
        store: str | os.PathLike[str] | None = None,
        *,
        jobs: int | None = None,
        engine: Any = "local",
        limits: Any = None,
        retry: Iterable[Status] = (),
        progress: Any = None,
        shard: tuple[int, int] | None = None,
    ) -> Results:
        """Run what the store does not hold yet, and give the results. The store is `NAME.fairtrial` unless it is given.

        Ctrl-C stops it cleanly and then raises KeyboardInterrupt, as anywhere in Python: what follows in a script does not run
        on half of the evidence, and the same call goes on.
        """
        from fairtrial.study.results.results import open_results
        from fairtrial.study.run.coordinator import run_study

        path = Path(store) if store is not None else Path(f"{self.name}.fairtrial")
        done = run_study(
            self, path, jobs=jobs, engine=engine, limits=limits, retry=tuple(retry), progress=progress, shard=shard
        )
        if done.interrupted:
            raise KeyboardInterrupt(str(done))
        return open_results(path)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Study):
            return False
        return self._source.to_absolute(self.declaration) == other._source.to_absolute(other.declaration)

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"<Study {self}>"

    def __str__(self) -> str:
        sections = self.declaration.to_dict()
        scheme: Mapping[str, Any] = sections["resampling"]
        folds = f", {scheme['folds']} folds" if "folds" in scheme else ""
        repeats = f" x {scheme['repeats']}" if scheme["repeats"] > 1 else ""
        return (
            f"{self.name}: {_format_data_count(sections['data'])}, {format_count(len(sections['learners']), 'learner')}, "
            f"conditions {', '.join(sections['conditions'])}; {scheme['scheme']}{folds}{repeats}; "
            f"{', '.join(sections['measures'])}; seed {sections['seed']}"
        )

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


def _format_data_count(data: Mapping[str, Any]) -> str:
    """The number of data sets; globs are counted separately, because their files are not read yet."""
    globs = sum(has_magic(pattern) for pattern in data["sets"])
    sets = len(data["sets"]) - globs + len(data) - 1
    parts = [format_count(sets, "data set")] if sets or not globs else []
    return " and ".join([*parts, *([f"the files of {format_count(globs, 'glob')}"] if globs else [])])
