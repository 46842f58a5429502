"""Figures of how learners err together, of splits, of the fold audit and of times, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairtrial._registry import did_you_mean
from fairtrial.errors import FairtrialError, InputError
from fairtrial.measures import projection as project
from fairtrial.report.audit import draw_audit
from fairtrial.report.confusion_tables import confusion_tables
from fairtrial.report.curves import draw_projection
from fairtrial.report.draw import figure
from fairtrial.report.fold_counts import splits_of
from fairtrial.report.places import main_condition
from fairtrial.report.splits import draw_splits
from fairtrial.report.times import draw_times
from fairtrial.resampling.splits import Split, Splits

if TYPE_CHECKING:
    from fairtrial.study import Results
    from fairtrial.study.archive import DataFacts

_MOST_ROWS, _MOST_SPLITS = 300, 60


@figure("projection")
def projection(
    results: Results,
    dataset: str | None = None,
    distance: Literal["L2", "L1"] = "L2",
    method: Literal["tree", "mds"] = "tree",
) -> Any:
    """Learners as points around Ideal, by their confusion tables on all data sets or on one, without noise."""
    names = None if dataset is None else [_facts(results, dataset).name]
    found = confusion_tables(results, main_condition(results), names)
    if not found.tables:
        raise InputError("a projection needs a data set on which all learners have run, got none: run the missing trials")
    points = project(found.tables, distance=distance, method=method, normalise=len(found.datasets) > 1)
    told = found.datasets[0] if len(found.datasets) == 1 else f"{len(found.datasets)} data sets"
    return draw_projection(points, title=f"Learners by how they err: {told}")


@figure("splits")
def splits(results: Results, dataset: str | None = None, repeat: int = 0) -> Any:
    """Which rows train and which test; of many rows every second, third ... is drawn."""
    facts = _facts(results, dataset)
    whole = splits_of(results, facts)
    parts = [part for part in whole.parts if part.repeat == repeat][:_MOST_SPLITS]
    if not parts:
        known = sorted({part.repeat for part in whole.parts})
        raise InputError(f"repeat must be one of {known}, got {repeat!r}")
    order = np.argsort(facts.codes, kind="stable")
    step = -(-len(order) // _MOST_ROWS)
    shown = order[::step]
    place = np.full(len(order), -1)
    place[shown] = np.arange(len(shown))
    drawn = [Split(_there(place[part.train]), _there(place[part.test]), part.repeat, part.fold) for part in parts]
    labels = [str(facts.classes[code]) if code >= 0 else "(no class)" for code in facts.codes[shown]]
    every = "" if step == 1 else f", 1 in {step} rows"
    title = f"Which rows test: {facts.name}{every}, sorted by class"
    return draw_splits(Splits(len(shown), tuple(drawn), whole.scheme), labels, title=title)


def _there(places: Any) -> Any:
    return places[places >= 0]


@figure("audit")
def audit(
    results: Results, dataset: str | None = None, data: Any = None, n_permutations: int = 199, random_state: int = 0
) -> Any:
    """The fold audit. It needs the attributes: pass the data set as `data`, unless the catalogue has the same by its name."""
    from fairtrial.resampling.audit import audit as examine

    facts = _facts(results, dataset)
    table = _from_catalogue(facts) if data is None else data
    found = examine(splits_of(results, facts), table, n_permutations=n_permutations, random_state=random_state)
    return draw_audit(found, title=f"Fold audit: {facts.name}")


def _from_catalogue(facts: DataFacts) -> Any:
    from fairtrial.data import load

    remedy = "pass it as data=, a data set or a pair (X, y)"
    try:
        found = load(facts.name)
    except FairtrialError:
        raise InputError(f"the audit needs the attributes of {facts.name!r}, which results do not hold: {remedy}") from None
    if found.content_hash != facts.content_hash:
        raise InputError(f"the data set {facts.name!r} of the catalogue must be the one of the study, but differs: {remedy}")
    return found


@figure("times", "time")
def times(results: Results, dataset: str | None = None) -> Any:
    """Seconds to fit and to predict, and memory, by learner."""
    frame = results.times()
    if dataset is not None:
        frame = frame[frame["dataset"] == _facts(results, dataset).name]
    if frame.empty or not (frame[["fit_time", "predict_time", "memory"]] > 0).any(axis=None):
        raise InputError("times need trials that ran here, got none: predictions from elsewhere carry no times")
    names = [each.name for each in results.archive.datasets] if dataset is None else [dataset]
    return draw_times(frame, title=f"Time and memory: {names[0] if len(names) == 1 else f'{len(names)} data sets'}")


def _facts(results: Results, dataset: str | None) -> DataFacts:
    known = {each.name: each for each in results.archive.datasets}
    if dataset is None and len(known) > 1:
        raise InputError(f"dataset must be given for a study of several, got None: choose one of {', '.join(known)}")
    if dataset is not None and dataset not in known:
        raise InputError(f"dataset must be of the study, got {dataset!r}: {did_you_mean(dataset, known)}")
    return next(iter(known.values())) if dataset is None else known[dataset]
