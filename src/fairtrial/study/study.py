"""The class `Study`: a study that is declared in TOML or Python, and then planned and run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from glob import has_magic
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtrial._files import write_atomically
from fairtrial._text import format_count

if TYPE_CHECKING:
    from fairtrial.study.plan.plan import StudyPlan
    from fairtrial.study.records import Status
    from fairtrial.study.results.results import Results
    from fairtrial.study.spec.models import StudySpec
    from fairtrial.study.spec.resolve import ResolvedStudy
    from fairtrial.study.spec.toml import SpecSource


class Study:
    """An experiment that compares learners on data sets under declared conditions.

    Most arguments correspond to a section of a study file (TOML) and accept the same names, paths and tables. They also accept
    Python objects, such as data sets, estimators, conditions and splitters. Two studies are equal if their declarations and the
    absolute paths of their data files are equal.

    Parameters
    ----------
    data : list, mapping or a single data set
        Data sets: names in the catalogue, paths, glob patterns, pairs `(X, y)`, data frames, scikit-learn `Bunch` objects,
        `Dataset` objects or `GivenFolds` objects. The class column of a data frame is the column "target" or "class".
        If there is no such column, the last column is used, and a warning names it. If several objects are given without names,
        they are called `data-1`, `data-2` and so on, by their position in the list. Pass `{"name": (X, y)}` to choose names.
    learners : list or mapping
        Learners: a list of registered names, or a mapping of names to estimators, registered names or tables.
    conditions : list or mapping, optional
        Conditions: a list of names or `Condition` objects, or a mapping of names to levels, parameters or `Condition` objects.
        Default: clean data only.
    resampling : str, mapping, splitter or list of them, optional
        Resampling scheme with its number of folds and repeats. If a list is passed, the study runs all of its schemes. Default:
        stratified 10-fold cross-validation.
    measures : list of str, optional
        Names of the measures. Default: accuracy, kappa, auc and brier.
    verdict : mapping, optional
        Options for the statistical comparison: `measure`, `control`, `alpha`, `rope` (region of practical equivalence) and
        `failures` (policy for failed trials).
    limits : mapping, optional
        Time and memory limits for each trial, such as `{"time": "10 min", "memory": "2 GB"}`.
    seed : int, default 0
        Seed for all random numbers in the study.
    name : str, default "study"
        Name of the study and, by default, of its results file.
    allow_local_code : bool, default False
        Allow learners from local Python files that are not installed.

    Raises
    ------
    SpecError
        If the declaration is malformed. The error lists all problems. Unknown names in a well-formed declaration are reported
        later, by `resolve`.

    Examples
    --------
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
        from fairtrial.study.spec.toml import SpecSource  # imported here because it imports pydantic

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
        """Read a study file (TOML). Data paths are relative to the folder of the study file.

        Parameters
        ----------
        path : path
            Study file.
        allow_local_code : bool, default False
            Allow learners from local Python files that are not installed.

        Returns
        -------
        Study
        """
        from fairtrial.study.spec.toml import SpecSource  # imported here because it imports pydantic

        study = cls.__new__(cls)
        study._init_source(SpecSource.from_file(Path(path)), allow_local_code)
        return study

    @property
    def name(self) -> str:
        """Name of the study."""
        return self.declaration.name

    @property
    def folder(self) -> Path | None:
        """Folder to which the paths of data files are relative, or None for the current folder."""
        return self._source.folder

    def to_toml(self) -> str:
        """Format the study as TOML.

        If an object cannot be written as TOML, the error message names it.
        """
        return self._source.to_toml(self.declaration)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the study to a file (TOML). Data paths are made relative to the folder of this file."""
        target = Path(path)
        text = self._source.to_toml(self.declaration, target.parent)
        with write_atomically(target) as temporary:
            temporary.write_text(text, encoding="utf-8")
        return target

    def resolve(self) -> ResolvedStudy:
        """Load the data, and build the learners, conditions and splitters.

        Raises
        ------
        SpecError
            If names are unknown or parameters are invalid. The error lists all problems.
        """
        return self._source.resolve(self.declaration, self.allow_local_code)

    def plan(self) -> StudyPlan:
        """List all trials of the study with their keys, without running them."""
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
        rerun: Iterable[str] = (),
        progress: Any = None,
        shard: tuple[int, int] | None = None,
    ) -> Results:
        """Run all trials that are not yet in the results file, and return the results.

        Parameters
        ----------
        store : path, optional
            Results file. Default: `NAME.fairtrial` in the current folder.
        jobs : int, optional
            Number of trials to run in parallel. Default: the number of cores.
        engine : str or Executor, default "local"
            "local", "dask" (workers on this machine), "dask://HOST:PORT", or an executor.
        limits : ResourceLimits, optional
            Limits for each trial. Default: the limits of the study.
        retry : list of {"error", "timeout", "memory", "crash"}
            Failed trials with these statuses are run again.
        rerun : list of str
            Learners whose stored trials are deleted and run again.
        progress : bool or Progress, optional
            True shows a progress bar, and False shows nothing. Default: a bar in a terminal or notebook, otherwise plain lines.
        shard : tuple of int, optional
            `(i, n)` runs only the i-th of n parts of the study. Merge the results files of all parts with
            `fairtrial.study.merge`.

        Returns
        -------
        Results

        Raises
        ------
        KeyboardInterrupt
            If the run is interrupted by Ctrl-C. Finished trials are stored. Repeat the call to resume the run.
        """
        from fairtrial.study.results.results import open_results
        from fairtrial.study.results.stored import LARGE_STUDY, store_scores
        from fairtrial.study.run.coordinator import run_study

        path = Path(store) if store is not None else Path(f"{self.name}.fairtrial")
        done = run_study(
            self,
            path,
            jobs=jobs,
            engine=engine,
            limits=limits,
            retry=tuple(retry),
            rerun=tuple(rerun),
            progress=progress,
            shard=shard,
        )
        if done.interrupted:
            raise KeyboardInterrupt(str(done))
        if done.planned >= LARGE_STUDY and shard is None:
            store_scores(path, self.name)
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
        declared = sections["resampling"]
        schemes = " and ".join(map(_format_scheme, declared if isinstance(declared, list) else [declared]))
        return (
            f"{self.name}: {_format_data_count(sections['data'])}, {format_count(len(sections['learners']), 'learner')}, "
            f"conditions {', '.join(sections['conditions'])}; {schemes}; "
            f"{', '.join(sections['measures'])}; seed {sections['seed']}"
        )

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


def _format_scheme(scheme: Mapping[str, Any]) -> str:
    folds = f", {scheme['folds']} folds" if "folds" in scheme else ""
    repeats = f" x {scheme['repeats']}" if scheme["repeats"] > 1 else ""
    return f"{scheme.get('splitter', scheme['scheme'])}{folds}{repeats}"


def _format_data_count(data: Mapping[str, Any]) -> str:
    """Format the number of data sets, and the number of glob patterns.

    Glob patterns are counted separately because their files are not yet known.
    """
    globs = sum(has_magic(pattern) for pattern in data["sets"])
    sets = len(data["sets"]) - globs + len(data) - 1
    parts = [format_count(sets, "data set")] if sets or not globs else []
    return " and ".join([*parts, *([f"the files of {format_count(globs, 'glob')}"] if globs else [])])
