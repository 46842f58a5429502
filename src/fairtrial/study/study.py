"""A study: declared in a TOML file or in Python, checked, planned and run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from glob import has_magic
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtrial.errors import InputError
from fairtrial.study.spec.models import format_count

if TYPE_CHECKING:
    from fairtrial.study.records import Status
    from fairtrial.study.spec.models import StudySpec
    from fairtrial.study.spec.resolve import ResolvedStudy
    from fairtrial.study.spec.toml import SpecSource


class Study:
    """Data sets, learners, conditions, resampling, measures and a verdict: what is to be tried and how it is judged.

    Each argument takes what the section of the same name takes in TOML: names, paths, tables. It also takes objects: data sets
    (`Dataset`, `GivenFolds`), estimators by name, conditions, a splitter. Mistakes of form are told at once, all in one
    SpecError; names are looked up by `resolve`. Studies are equal when they declare the same, on the same files.

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
        from fairtrial.study.spec.objects import from_python
        from fairtrial.study.spec.toml import SpecSource

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
        plain, objects, problems = from_python({section: value for section, value in sections.items() if value is not None})
        self._init_source(SpecSource(plain, objects=objects, problems=problems), allow_local_code)

    def _init_source(self, source: SpecSource, allow_local_code: bool) -> None:
        self._source = source
        self.allow_local_code = allow_local_code
        self.declaration: StudySpec = source.read_spec(allow_local_code)

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, allow_local_code: bool = False) -> Study:
        """The study of a TOML file. Paths of data are relative to the folder of the file."""
        from fairtrial.study.spec.toml import read_toml

        study = cls.__new__(cls)
        study._init_source(read_toml(Path(path)), allow_local_code)
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
        """The study as a TOML file. What only lives in Python cannot be written, and is named."""
        from fairtrial.study.spec.objects import ensure_serializable
        from fairtrial.study.spec.toml import format_toml

        ensure_serializable(self.declaration)
        return format_toml(self.declaration.to_short_form())

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the TOML file; paths of data are turned so that they lead to the same files from there."""
        from fairtrial.study.spec.objects import ensure_serializable, make_paths_relative
        from fairtrial.study.spec.toml import format_toml

        ensure_serializable(self.declaration)
        target = Path(path)
        short_form = make_paths_relative(self.declaration.to_short_form(), self.folder or Path(), target.parent)
        try:
            target.write_text(format_toml(short_form), encoding="utf-8")
        except OSError as error:
            raise InputError(f"{target} cannot be written: {error.strerror or error}") from None
        return target

    def resolve(self) -> ResolvedStudy:
        """Load the data, make learners, conditions and splitter, check all names; a SpecError tells every mistake."""
        return self._source.resolve(self.declaration, self.allow_local_code)

    def plan(self) -> Any:
        """All trials of the study, and what each of them is known by."""
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
    ) -> Any:
        """Run what the store does not hold yet, and give the results. The store is `NAME.fairtrial` unless it is given.

        Ctrl-C stops it cleanly and then raises KeyboardInterrupt, as anywhere in Python: what follows in a script does not run
        on half of the evidence, and the same call goes on.
        """
        from fairtrial.study.results.results import open_results
        from fairtrial.study.run.coordinator import run

        path = Path(store) if store is not None else Path(f"{self.name}.fairtrial")
        done = run(self, path, jobs=jobs, engine=engine, limits=limits, retry=tuple(retry), progress=progress, shard=shard)
        if done.interrupted:
            raise KeyboardInterrupt(str(done))
        return open_results(path)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Study) and self._to_absolute() == other._to_absolute()

    def _to_absolute(self) -> dict[str, Any]:
        """The declaration in plain values, with the files of data wherever they are."""
        from fairtrial.study.spec.objects import make_paths_absolute

        return make_paths_absolute(self.declaration.to_dict(), self.folder or Path())

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
    """How many data sets there are; globs, whose files are counted when they are read, apart."""
    globs = sum(has_magic(pattern) for pattern in data["sets"])
    sets = len(data["sets"]) - globs + len(data) - 1
    parts = [format_count(sets, "data set")] if sets or not globs else []
    return " and ".join([*parts, *([f"the files of {format_count(globs, 'glob')}"] if globs else [])])
