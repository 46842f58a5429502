"""The studies: the same sets and learners under four resamplings, several runs of each."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fairtrial.errors import UndefinedMeasureWarning
from fairtrial.reproduce.dobscv.sets import NEGATIVE, POSITIVE, Sets, declared
from fairtrial.reproduce.reproduction import Request
from fairtrial.reproduce.writing import file_name

if TYPE_CHECKING:
    import pandas as pd

GIVEN, SCV, LITERAL, SHUFFLED = "SCV (KEEL's folds)", "SCV", "DOB-SCV literal", "DOB-SCV shuffled"
SCHEMES: Mapping[str, Mapping[str, Any]] = {
    GIVEN: {"scheme": "given"},
    SCV: {"scheme": "stratified", "folds": 5},
    LITERAL: {"scheme": "dob-scv", "folds": 5, "assign": "literal"},
    SHUFFLED: {"scheme": "dob-scv", "folds": 5, "assign": "shuffled"},
}
COLUMNS = ["scheme", "run", "dataset", "learner", "fold", "value", "status"]


def scores(request: Request, sets: Sets, runs: int) -> pd.DataFrame:
    """A line for each scheme, run, set, learner and fold: `value` is (1 + TPR - FPR) / 2 of the fold's predictions.

    A run of a scheme that draws is another draw of folds and of new cases; KEEL's folds are fixed, so that their runs differ
    in the new cases alone.
    """
    import pandas as pd

    parts = []
    for scheme in schemes_of(request, bool(sets.folds)):
        resampling = SCHEMES[scheme]
        if scheme != GIVEN:
            found = _run(request, sets.data, scheme, {**resampling, "repeats": runs}, request.seed)
            parts.append(found.rename(columns={"repeat": "run"}).assign(scheme=scheme))
        else:
            for run in range(runs):
                found = _run(request, sets.folds, scheme, resampling, request.seed + run)
                parts.append(found.rename(columns={"repeat": "run"}).assign(scheme=scheme, run=run))
    plain = {"dataset": "object", "learner": "object", "status": "object"}  # categories of one study are none of another
    return pd.concat([part.astype(plain) for part in parts], ignore_index=True)[COLUMNS]


def schemes_of(request: Request, folds: bool) -> list[str]:
    """The schemes to run: KEEL's folds where there are some; at smoke scale two suffice."""
    if request.scale == "smoke":
        return [GIVEN if folds else SCV, LITERAL]
    return [scheme for scheme in SCHEMES if folds or scheme != GIVEN]


def _run(request: Request, data: Mapping[str, Any], scheme: str, resampling: Mapping[str, Any], seed: int) -> pd.DataFrame:
    from fairtrial import Study

    told = declared()
    name = f"{file_name(scheme)}-{seed}"
    study = Study(
        data=dict(data),
        learners=told["learners"],
        resampling=dict(resampling),
        measures=told["measures"],
        limits=told["limits"],
        seed=seed,
        name=name,
    )
    results = study.run(request.out / f"{name}.fairtrial", jobs=request.jobs, progress=request.progress)
    with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
        found, other = (results.scores("recall", positive=each) for each in (POSITIVE, NEGATIVE))
    return found.assign(value=(found["value"] + other["value"]) / 2)  # type: ignore[no-any-return]


def failures(found: pd.DataFrame) -> dict[str, int]:
    """Trials without a value, counted by learner and data set."""
    lost = found[found["value"].isna()]
    counted = lost.groupby(["learner", "dataset"]).size()
    named = counted.reset_index(name="count").itertuples(index=False, name=None)
    return {f"{learner} on {dataset}": int(count) for learner, dataset, count in named}
