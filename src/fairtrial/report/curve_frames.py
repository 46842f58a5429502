"""Curves of a study as frames by learner, thin enough to be drawn, and the class that they are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray
from fairtrial.report.drawing import Frames
from fairtrial.report.places import lines_of
from fairtrial.study.archive import ConditionFacts, DataFacts

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results


def positive_class(results: Results, facts: DataFacts) -> Any:
    """The class that curves are about: the declared one; of two the second in sorted order; of more the rarest that occurs."""
    declared = results.archive.declaration.get("data")
    own = declared.get(facts.name) if isinstance(declared, Mapping) else None
    named = own.get("positive") if isinstance(own, Mapping) else None
    if named is not None and named in facts.classes:
        return named
    counts = facts.counts
    occurring = [place for place in range(len(facts.classes)) if counts[place]]
    if len(occurring) > 2:
        return facts.classes[min(occurring, key=lambda place: counts[place])]
    names = [facts.classes[place] for place in (occurring if len(occurring) > 1 else range(len(facts.classes)))]
    return _sorted(names)[min(1, len(names) - 1)]


def _sorted(names: list[Any]) -> list[Any]:
    try:
        return sorted(names)
    except TypeError:
        return names


def curve_frames(
    results: Results,
    kind: str,
    *,
    dataset: str | None = None,
    condition: str | None = None,
    level: float | None = None,
    learner: str | Sequence[str] | None = None,
    positive: object = None,
    repeat: int | None = None,
) -> dict[str, pd.DataFrame]:
    """The curves of `results.curves` as a frame for each learner; with several classes the rarest stands against the rest."""
    facts = [each for each in results.archive.datasets if dataset in (None, each.name)]
    if positive is None and len(facts) == 1:
        positive = {facts[0].name: positive_class(results, facts[0])}
    frame = results.curves(
        kind, dataset=dataset, condition=condition, level=level, learner=learner, positive=positive, repeat=repeat
    )
    return {
        str(name): own.drop(columns="learner").reset_index(drop=True)
        for name, own in frame.groupby("learner", sort=False, observed=True)
    }


def thinned(frames: Frames, columns: Sequence[str], *, most: int = 160, peak: str = "") -> dict[str, pd.DataFrame]:
    """Frames with only the first of the points in a row that fall on one place of a grid, the last of all, and the peak.

    The grid is as fine as about `most` points allow, so that a page of many figures stays small. `columns` are those that are
    drawn; `peak` names one of which the row farthest from 0 must stay.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"x": [0.0, 0.0004, 0.0005, 0.5, 1.0]})
    >>> thinned({"tree": frame}, ["x"])["tree"]["x"].tolist()
    [0.0, 0.5, 1.0]
    """
    found = {}
    for name, frame in frames.items():
        kept = _visible(frame[list(columns)].to_numpy(np.float64), most)
        kept[-1] = True
        if peak:
            kept[int(np.argmax(np.abs(frame[peak].to_numpy(np.float64))))] = True
        found[name] = frame[kept].round(dict.fromkeys(columns, 4)).reset_index(drop=True)
    return found


def _visible(points: FloatArray, most: int) -> npt.NDArray[np.bool_]:
    """The first points on each place of the finest grid that keeps no more than `most` of them."""
    span = np.ptp(points, axis=0)
    shares = (points - points[0]) / np.where(span > 0, span, 1)
    grid = 400.0
    while True:
        kept = np.append(True, (np.diff(np.round(shares * grid), axis=0) != 0).any(axis=1))
        if kept.sum() <= most or grid < 10:
            return kept
        grid *= 0.8


def classes_tested(results: Results, facts: DataFacts, condition: ConditionFacts, positive: object) -> tuple[int, int]:
    """How many rows of the class and of the rest were tested in the first repeat, under this condition."""
    trials = results.trials()
    own = trials[(trials["dataset"] == facts.name) & (trials["status"] == "ok") & lines_of(trials, condition)]
    first = own[own["repeat"] == own["repeat"].min()].drop_duplicates("fold")
    label = list(facts.classes).index(positive)
    truth = [one.truth for one in results.archive.predictions(first["trial"].tolist())]
    found = int(sum((each == label).sum() for each in truth))
    return found, int(sum(map(len, truth))) - found
