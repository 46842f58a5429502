"""The studies of this experiment, run over the data sets that are there; stores are kept, so that a run resumes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fairtrial.reproduce.ela.sets import declared
from fairtrial.reproduce.reproduction import Request

if TYPE_CHECKING:
    from fairtrial.data import Dataset
    from fairtrial.study import Results


def run_study(
    request: Request, file: str, data: Mapping[str, Dataset], *, name: str = "", repeats: int = 1, **changed: Any
) -> Results:
    """The results of a study file over these data sets; `changed` replaces sections, `repeats` the rounds of folds.

    At smoke scale there are two folds.
    """
    from fairtrial import Study

    sections = {key: value for key, value in declared(file).items() if key not in ("name", "seed", "data")} | changed
    folds = request.pick(smoke=2, quick=sections["resampling"]["folds"], full=sections["resampling"]["folds"])
    sections["resampling"] = {**sections["resampling"], "folds": folds, "repeats": repeats}
    study = Study(data=dict(data), seed=request.seed, name=name or file, **sections)
    found: Results = study.run(request.out / f"{study.name}.fairtrial", jobs=request.jobs, progress=request.progress)
    return found


def failures(*results: Results) -> dict[str, str]:
    """What went wrong, by learner and data set: how many trials failed, and the first message."""
    told: dict[str, str] = {}
    for each in results:
        lost = each.failures()
        for (learner, dataset), own in lost.groupby(["learner", "dataset"], sort=False, observed=True):
            first = own.iloc[0]
            told[f"{learner} on {dataset}"] = f"{len(own)} trials failed ({first['status']}: {first['message']})"
    return told
