"""What becomes of failed trials in a verdict: declared in the study, applied before the test, and told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, one_of
from fairtrial.errors import InputError
from fairtrial.measures.measure import Measure
from fairtrial.significance.scores import counted
from fairtrial.study.archive import Archive, DataFacts
from fairtrial.study.evidence import Predictions
from fairtrial.study.records import FAILURES
from fairtrial.study.results.class_order import ClassOrder
from fairtrial.study.results.scoring import Asked, score

if TYPE_CHECKING:
    import pandas as pd

POLICIES = ("exclude", "worst-rank", "trivial")
_QUESTION = "What becomes of failed trials?"
_BEHIND = 1e-3
_SPLIT = ["dataset", "repeat", "fold"]
Step = tuple[str, str, str]


def failed(frame: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Which lines are failures."""
    return np.asarray(frame["status"].isin(FAILURES), dtype=bool)


def apply_policy(
    policy: str, archive: Archive, scores: pd.DataFrame, trials: pd.DataFrame, one: Asked, orders: Sequence[ClassOrder]
) -> tuple[pd.DataFrame, list[Step]]:
    """Scores of one condition with the policy applied, and the step that says so; none where nothing failed.

    `trials` are the lines of `archive.trials()` that belong to `scores`, in the same order.
    """
    one_of("failures", policy, POLICIES)
    bad = failed(scores)
    if not bad.any():
        return scores, []
    told = f"{int(bad.sum()):,} of {counted(len(scores), 'trial')} failed ({_by_learner(scores[bad])})"
    if policy == "exclude":
        left, words = _excluded(scores, bad)
    elif policy == "worst-rank":
        left, words = _worst(scores, bad, one.measure)
    else:
        left, words = _trivial(archive, scores, trials, bad, one, orders)
    return left, [(_QUESTION, policy, f"{told}: {words}.")]


def _by_learner(lines: pd.DataFrame) -> str:
    counts = Counter(zip(lines["learner"], lines["status"], strict=True))
    return ", ".join(f"{learner}: {count:,} {status}" for (learner, status), count in counts.items())


def _excluded(scores: pd.DataFrame, bad: Any) -> tuple[pd.DataFrame, str]:
    """Learners that never succeeded go first: data sets are left out for the sake of those that did."""
    able = set(scores.loc[(scores["status"] == "ok").to_numpy(), "learner"])
    hopeless = [name for name in dict.fromkeys(scores.loc[bad, "learner"]) if name not in able]
    if not able:
        raise InputError(
            "failures must not be 'exclude' where every learner failed on every data set, for nothing is left: see what "
            "failures() says, mend it and run the trials again"
        )
    told = [f"{', '.join(hopeless)} succeeded nowhere and {_is(hopeless)} left out"] if hopeless else []
    others = scores["learner"].isin(hopeless).to_numpy()
    gone = list(dict.fromkeys(scores.loc[bad & ~others, "dataset"]))
    left = scores[~others & ~scores["dataset"].isin(gone).to_numpy()]
    if left.empty:
        raise InputError(
            "failures must not be 'exclude' where learners failed on every data set, for nothing is left: choose 'worst-rank' "
            "or 'trivial', leave a learner out, or run the failed trials again"
        )
    if gone:
        sets = "the data set" if len(gone) == 1 else f"the {len(gone):,} data sets"
        who = "another" if hopeless else "a learner"
        told.append(f"{sets} on which {who} failed {_is(gone)} left out ({', '.join(gone)})")
    return left, "; ".join(told)


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _worst(scores: pd.DataFrame, bad: Any, measure: Measure) -> tuple[pd.DataFrame, str]:
    """One failure costs the whole data set: the mean of the folds that went well would hide it."""
    words = "each counts as the worst score that there is, so that no difference is larger"
    if scores["dataset"].nunique() > 1:
        cell = scores["dataset"].astype(str) + "\0" + scores["learner"].astype(str)
        bad = cell.isin(cell[bad]).to_numpy()
        words = f"a learner that failed on a data set gets the worst rank there, whatever it did on other splits; {words}"
    values = scores["value"].to_numpy(dtype=np.float64)
    worst = _beyond(values[~bad & np.isfinite(values)], measure)
    return scores.assign(value=np.where(bad, worst, values)), words


def _beyond(good: FloatArray, measure: Measure) -> float:
    """The worst end of the measure's range, else a value as far behind all others as these lie apart.

    A value just behind the others would be the smallest difference of a signed rank test, and speak for who failed.
    """
    low, high = measure.facts.range
    end, sign = (low, 1.0) if measure.facts.direction == "max" else (high, -1.0)
    if not len(good):
        return float("nan")
    lowest, highest = float((sign * good).min()), float((sign * good).max())
    if np.isfinite(end) and sign * end < lowest:
        return float(end)
    return sign * (lowest - max(highest - lowest, _BEHIND * max(abs(lowest), 1.0)))


def _trivial(
    archive: Archive, scores: pd.DataFrame, trials: pd.DataFrame, bad: Any, one: Asked, orders: Sequence[ClassOrder]
) -> tuple[pd.DataFrame, str]:
    values = scores["value"].to_numpy(dtype=np.float64).copy()
    seen = _seen(trials)
    for facts, order in zip(archive.datasets, orders, strict=True):
        mine = np.flatnonzero(bad & (scores["dataset"] == facts.name).to_numpy())
        splits = scores.iloc[mine][["repeat", "fold"]].to_numpy().tolist()
        told = [trivial_predictions(archive, facts, order, repeat, fold, seen) for repeat, fold in splits]
        values[mine] = score(told, order, [one])[0][0]
    words = (
        "each counts as the score of the trivial classifier, which names the most frequent class of the training part and "
        "gives the shares of the classes there as scores"
    )
    return scores.assign(value=values), words


def _seen(trials: pd.DataFrame) -> dict[tuple[str, int, int], int]:
    """A trial of each split that did not fail: the condition may have changed the test rows, and all learners had the same."""
    good = trials[trials["status"] == "ok"].drop_duplicates(_SPLIT)
    keys = zip(*(good[name].tolist() for name in _SPLIT), strict=True)
    return dict(zip(keys, good["trial"].tolist(), strict=True))


def trivial_predictions(
    archive: Archive,
    facts: DataFacts,
    order: ClassOrder,
    repeat: int,
    fold: int,
    seen: dict[tuple[str, int, int], int] | None = None,
) -> Predictions:
    """What the trivial classifier says of a test part: the most frequent class of the data set's training rows."""
    train, test = archive.split(facts.name, repeat, fold)
    rows, truth = test, facts.codes[test]
    number = (seen or {}).get((facts.name, repeat, fold))
    if number is not None:
        other = next(iter(archive.predictions([number])))
        rows, truth = other.rows, other.truth
    known = facts.codes[train]
    counts = np.bincount(known[known >= 0], minlength=len(facts.classes))
    places = list(order.order)
    likely = places[int(counts[places].argmax())]
    shares = np.tile(counts / counts.sum(), (len(rows), 1))
    return Predictions(rows, truth, np.full(len(rows), likely, dtype=np.intp), shares, "probability")
