"""A study: declared in a TOML file or in Python, checked, planned and run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from glob import has_magic
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtrial.errors import InputError
from fairtrial.study.declare.declared_values import counted

if TYPE_CHECKING:
    from fairtrial.study.declare.declaration import Declaration
    from fairtrial.study.declare.reading_toml import Reading
    from fairtrial.study.declare.resolved import Resolved
    from fairtrial.study.records import Status


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
        from fairtrial.study.declare.lifting import lifted
        from fairtrial.study.declare.reading_toml import Reading

        given = {
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
        plain, objects, mistakes = lifted({section: value for section, value in given.items() if value is not None})
        self._begin(Reading(plain, objects=objects, mistakes=mistakes), allow_local_code)

    def _begin(self, reading: Reading, allow_local_code: bool) -> None:
        self._reading = reading
        self.allow_local_code = allow_local_code
        self.declaration: Declaration = reading.declaration(allow_local_code)

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, allow_local_code: bool = False) -> Study:
        """The study of a TOML file. Paths of data are relative to the folder of the file."""
        from fairtrial.study.declare.reading_toml import read_toml

        study = cls.__new__(cls)
        study._begin(read_toml(Path(path)), allow_local_code)
        return study

    @property
    def name(self) -> str:
        """What the study is called."""
        return self.declaration.name

    @property
    def folder(self) -> Path | None:
        """Where paths of data begin: the folder of the file, or None for the current one."""
        return self._reading.folder

    def toml(self) -> str:
        """The study as a TOML file. What only lives in Python cannot be written, and is named."""
        from fairtrial.study.declare.lifting import check_tellable
        from fairtrial.study.declare.toml_text import toml_of

        check_tellable(self.declaration)
        return toml_of(self.declaration.brief())

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the TOML file; paths of data are turned so that they lead to the same files from there."""
        from fairtrial.study.declare.lifting import check_tellable, moved
        from fairtrial.study.declare.toml_text import toml_of

        check_tellable(self.declaration)
        target = Path(path)
        brief = moved(self.declaration.brief(), self.folder or Path(), target.parent)
        try:
            target.write_text(toml_of(brief), encoding="utf-8")
        except OSError as error:
            raise InputError(f"{target} cannot be written: {error.strerror or error}") from None
        return target

    def resolve(self) -> Resolved:
        """Load the data, make learners, conditions and splitter, check all names; a SpecError tells every mistake."""
        return self._reading.resolve(self.declaration, self.allow_local_code)

    def plan(self) -> Any:
        """All trials of the study, and what each of them is known by."""
        from fairtrial.study.plan.plan import plan

        return plan(self.resolve())

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
        from fairtrial.study.engine.coordinator import run
        from fairtrial.study.results.results import open_results

        path = Path(store) if store is not None else Path(f"{self.name}.fairtrial")
        done = run(self, path, jobs=jobs, engine=engine, limits=limits, retry=tuple(retry), progress=progress, shard=shard)
        if done.interrupted:
            raise KeyboardInterrupt(str(done))
        return open_results(path)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Study) and self._placed() == other._placed()

    def _placed(self) -> dict[str, Any]:
        """The declaration in plain values, with the files of data wherever they are."""
        from fairtrial.study.declare.lifting import placed

        return placed(self.declaration.plain(), self.folder or Path())

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"<Study {self}>"

    def __str__(self) -> str:
        told = self.declaration.plain()
        scheme: Mapping[str, Any] = told["resampling"]
        folds = f", {scheme['folds']} folds" if "folds" in scheme else ""
        repeats = f" x {scheme['repeats']}" if scheme["repeats"] > 1 else ""
        return (
            f"{self.name}: {_told_data(told['data'])}, {counted(len(told['learners']), 'learner')}, "
            f"conditions {', '.join(told['conditions'])}; {scheme['scheme']}{folds}{repeats}; "
            f"{', '.join(told['measures'])}; seed {told['seed']}"
        )

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


def _told_data(data: Mapping[str, Any]) -> str:
    """How many data sets there are; globs, whose files are counted when they are read, apart."""
    globs = sum(has_magic(each) for each in data["sets"])
    sets = len(data["sets"]) - globs + len(data) - 1
    told = [counted(sets, "data set")] if sets or not globs else []
    return " and ".join([*told, *([f"the files of {counted(globs, 'glob')}"] if globs else [])])
