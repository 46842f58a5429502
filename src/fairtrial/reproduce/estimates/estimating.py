"""All estimates of one learner's error from one sample, each with the interval that it comes with."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fairtrial._check import FloatArray, IntArray
from fairtrial.reproduce.estimates.predicting import Mask, said_of_all, wrong
from fairtrial.reproduce.estimates.problems import Plan

LEVEL = 0.95
REPEATS = 5
METHODS = (
    "resubstitution",
    "hold-out 2/3",
    "hold-out 9/10",
    "subsampling",
    "subsampling, not stratified",
    "5-fold",
    "10-fold",
    f"10-fold, {REPEATS} times",
    "leave-one-out",
    "bootstrap E0",
    ".632",
    ".632+",
)
_BOOTSTRAP = {"e0": "bootstrap E0", "632-e0": ".632", "632+": ".632+"}


class Estimated(NamedTuple):
    """An estimate of the error and its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Parts:
    """Training parts of a scheme (how often each row is in them) and which rows each is tested on."""

    weights: FloatArray
    tested: Mask

    @classmethod
    def of(cls, splitter: Any, X: FloatArray, y: IntArray) -> Parts:
        """From a splitter of `fairtrial.resampling`."""
        from fairtrial.errors import SuspectInputWarning

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SuspectInputWarning)  # so few rows that a class misses a fold are meant here
            splits = list(splitter.freeze(X, y))
        weights = np.array([np.bincount(each.train, minlength=len(y)) for each in splits], dtype=np.float64)
        tested = np.zeros(weights.shape, dtype=bool)
        for line, each in zip(tested, splits, strict=True):
            line[each.test] = True
        return cls(weights, tested)


def schemes(plan: Plan, y: IntArray, rng: np.random.Generator) -> dict[str, Any]:
    """The splitters. Folds are stratified, unless no class has ten rows; subsampling is tried both ways."""
    from fairtrial.resampling import Bootstrap, Holdout, KFold, LeaveOneOut, RandomSubsampling, Repeated, StratifiedKFold

    seeds = iter(rng.integers(2**31, size=7).tolist())
    ten = StratifiedKFold(10) if np.bincount(y).max() >= 10 else KFold(10)
    return {
        "hold-out 2/3": Holdout(1 / 3, random_state=next(seeds)),
        "hold-out 9/10": Holdout(0.1, random_state=next(seeds)),
        "subsampling": RandomSubsampling(plan.subsamples, test_size=1 / 3, random_state=next(seeds)),
        "subsampling, not stratified": RandomSubsampling(
            plan.subsamples, test_size=1 / 3, stratify=False, random_state=next(seeds)
        ),
        "5-fold": StratifiedKFold(5, random_state=next(seeds)),
        f"10-fold, {REPEATS} times": Repeated(ten, REPEATS, random_state=next(seeds)),
        "leave-one-out": LeaveOneOut(),
        "bootstrap": Bootstrap(plan.bootstrap_samples, random_state=next(seeds)),
    }


def estimates(learner: str, X: FloatArray, y: IntArray, k: int, plan: Plan, rng: np.random.Generator) -> dict[str, Estimated]:
    """Each method's estimate from this sample."""
    from fairtrial.resampling.out_of_bag import NoInformation

    found = {}
    said = said_of_all(learner, X, y, k, X)
    apparent = (said != y).astype(np.float64)
    found["resubstitution"] = _binomial(float(apparent.mean()), len(y))
    for name, splitter in schemes(plan, y, rng).items():
        parts = Parts.of(splitter, X, y)
        losses = wrong(learner, X, y, k, parts.weights, parts.tested)
        if name == "bootstrap":
            found |= _bootstrap(losses, parts, apparent, NoInformation.from_labels(y, said))
        elif name.startswith("subsampling"):
            found[name] = _resampled(losses, parts)
        else:
            # Folds are pooled; a row that is tested several times still is one row.
            rows = min(int(parts.tested.sum()), len(y))
            found[name] = _binomial(float(losses.sum() / parts.tested.sum()), rows)
            if name.startswith("10-fold"):
                found["10-fold"] = _binomial(float(losses[:10].sum() / len(y)), len(y))
    return {name: found[name] for name in METHODS}


def _binomial(error: float, rows: int) -> Estimated:
    """With the interval of as many independent rows (Wilson)."""
    from fairtrial.measures.intervals import compute_wilson_limits

    return Estimated(error, *compute_wilson_limits(error * rows, rows, LEVEL))


def _resampled(losses: FloatArray, parts: Parts) -> Estimated:
    """With Nadeau and Bengio's interval (2003), which allows for the overlap of the training parts."""
    from fairtrial.study.results.stacking import compute_half_width

    tested, trained = parts.tested.sum(axis=1), parts.weights.sum(axis=1)
    errors = losses.sum(axis=1) / tested
    half = compute_half_width(errors, float((tested / (tested + trained)).mean()), 1 - LEVEL)
    value = float(errors.mean())
    return Estimated(value, max(value - half, 0.0), min(value + half, 1.0))


def _bootstrap(losses: FloatArray, parts: Parts, apparent: FloatArray, gamma: Any) -> dict[str, Estimated]:
    """E0, .632 as the chapter prints it (with E0), and .632+, with their own intervals."""
    from fairtrial.errors import SuspectInputWarning
    from fairtrial.resampling import out_of_bag_estimates

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuspectInputWarning)  # with few samples some row may be in all of them
        found = out_of_bag_estimates(losses, parts.weights, apparent, gamma, level=LEVEL)
    return {name: Estimated(found[own].value, found[own].low, found[own].high) for own, name in _BOOTSTRAP.items()}
