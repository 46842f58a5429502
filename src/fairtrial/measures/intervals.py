"""Confidence intervals of measures and of differences between models."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial.errors import FallbackWarning, InputError
from fairtrial.kernels.delong import auc_variance
from fairtrial.measures import closed_intervals as closed
from fairtrial.measures.measure import LabelMeasure, Measure, get_measure
from fairtrial.measures.ranking import auc as auc_measure, gini as gini_measure
from fairtrial.measures.resampling import Compute, Resamples, bca_limits, distances, percentile_limits
from fairtrial.measures.rows import Drawn, LabelRows, ScoreRows

if TYPE_CHECKING:
    import pandas as pd

# With fewer cases than this in a class, or an AUC beyond this, DeLong's interval covers too seldom (docs/calibration.md).
_FEW = 20
_HIGH = 0.95
METHODS = ("auto", "bca", "percentile", "wilson", "clopper-pearson", "delong", "newcombe")


@dataclass(frozen=True, repr=False)
class Interval:
    """An estimate with its limits, and how they were found.

    >>> print(interval("accuracy", [1, 0, 1, 0], [1, 0, 1, 1]))
    accuracy 0.75, 95 % interval 0.3006 to 0.9544 (wilson)
    """

    measure: str
    estimate: float
    low: float
    high: float
    level: float
    method: str
    note: str = ""

    def frame(self) -> pd.DataFrame:
        """One line."""
        import pandas as pd

        return pd.DataFrame([vars(self)])

    def __str__(self) -> str:
        limits = f"{100 * self.level:g} % interval {self.low:.4g} to {self.high:.4g}"
        told = f"{self.measure} {self.estimate:.4g}, {limits} ({self.method})"
        return told + (f"; {self.note}" if self.note else "")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.frame().to_html(index=False)


def interval(
    measure: str | Measure | Callable[..., float],
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    method: str = "auto",
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    stratified: bool = False,
    positive: object = None,
    labels: Any = None,
    sample_weight: npt.ArrayLike | None = None,
    average: Any = "auto",
    **params: Any,
) -> Interval:
    """Confidence interval of any measure.

    `y_score` is what the measure needs: labels, scores, probabilities or numbers. `method`:

    - "auto": Wilson for proportions; for a two-class AUC DeLong, or Newcombe with fewer than 20 cases in a class or an AUC
      beyond 0.95; BCa for all others and wherever rows have weights;
    - "percentile", "bca": bootstrap, rows being drawn at random, or within each class with `stratified=True`;
    - "wilson", "clopper-pearson": proportions without weights (accuracy, recall, precision ...);
    - "delong" (on the logit scale), "newcombe": two-class AUC without weights.

    A method that breaks down (DeLong at AUC 0 or 1, BCa without spread) is replaced, with a FallbackWarning and a note in the
    result. `measure` may also be any function of (y_true, y_score): it is then called once per resample.

    >>> y, s = [0] * 6 + [1] * 4, [0.1, 0.2, 0.3, 0.35, 0.6, 0.7, 0.4, 0.65, 0.8, 0.9]
    >>> found = interval("auc", y, s)
    >>> round(found.low, 3), round(found.high, 3), found.method
    (0.492, 0.978, 'newcombe')
    """
    plan = Plan(str(method).replace("_", "-"), level, resamples, seed, stratified)
    if not isinstance(measure, (str, Measure)) and not callable(measure):
        raise InputError(f"measure must be a measure, its name or a function, got {measure!r}")
    if not isinstance(measure, (str, Measure)):
        return _interval_of_function(measure, y_true, y_score, plan, sample_weight, params)
    chosen = get_measure(measure)
    if average is None:
        raise InputError("average must give one number for an interval, got None: choose 'macro', 'weighted' or positive=")
    options = {"positive": positive, "labels": labels, "sample_weight": sample_weight}
    rows = chosen.rows(y_true, y_score, **options)
    one = Bound(chosen, rows, {"average": average, **params})
    return intervals_of([one], plan)[0]


@dataclass(frozen=True)
class Plan:
    """How intervals are to be found."""

    method: str
    level: float
    resamples: int
    seed: int
    stratified: bool

    def __post_init__(self) -> None:
        _check.one_of("method", self.method, METHODS)
        if isinstance(self.level, (int, float)) and 1 < self.level < 100:
            raise InputError(f"level must lie between 0 and 1, got {self.level!r}: did you mean {self.level / 100:g}?")
        _check.between("level", self.level, 0, 1)
        _check.whole_number("resamples", self.resamples, 2)
        _check.whole_number("seed", self.seed, 0)

    def draws(self, rows: Any) -> Resamples:
        """The resamples of these rows."""
        strata = rows.true if self.stratified else None
        if strata is not None and strata.dtype.kind == "f":
            raise InputError("stratified must be False for measures of numbers: there are no classes to stratify by")
        return Resamples(len(rows.true), self.resamples, self.seed, strata)


@dataclass(frozen=True)
class Bound:
    """A measure with the rows and the options it is to be computed on."""

    measure: Measure
    rows: Any
    params: dict[str, Any]

    def __post_init__(self) -> None:
        own = {name: value for name, value in self.params.items() if name != "average"}
        self.measure.check(self.params["average"], own)

    def estimate(self) -> float:
        """The value; NaN without a warning."""
        return float(self.measure.values(self.rows, **self.params)[0])

    def drawn(self, drawn: Drawn) -> FloatArray:
        """The values of resamples."""
        values = self.measure.values(self.rows, drawn, **self.params)
        if values.shape != (len(drawn),):
            raise InputError(
                f"the formula of {self.measure.name} must give a value for each line of a batch, got shape {values.shape} "
                f"for {len(drawn)} lines: let it work on the last axes of its arrays"
            )
        return values

    @property
    def plain_auc(self) -> bool:
        """A two-class AUC without weights."""
        return (
            self.measure is auc_measure
            and isinstance(self.rows, ScoreRows)
            and self.rows.weights is None
            and self.rows.classes.positive is not None
            and self.params["average"] in ("auto", "binary")
        )

    @property
    def plain_proportion(self) -> bool:
        """A proportion of rows without weights."""
        if not (self.measure.facts.proportion and isinstance(self.rows, LabelRows) and self.rows.weights is None):
            return False
        if not self.measure.facts.per_class:
            return True
        if self.params["average"] == "micro":
            # Only then is each row one trial: micro specificity counts every row once for each other class.
            return self.parts()[1] == len(self.rows.true)
        return self.rows.classes.positive is not None and self.params["average"] in ("auto", "binary")

    def parts(self) -> tuple[float, float]:
        """Numerator and denominator of a proportion."""
        assert isinstance(self.measure, LabelMeasure)
        return self.measure.parts(self.rows, **self.params)

    @property
    def few(self) -> bool:
        """Whether a class is so rare that DeLong's interval of the AUC is too short."""
        positives = int(self.rows.binary.is_positive.sum())
        return min(positives, len(self.rows.true) - positives) < _FEW


def intervals_of(bound: list[Bound], plan: Plan) -> list[Interval]:
    """Intervals of several measures on the same rows; all bootstraps share their draws."""
    found: dict[int, Interval] = {}
    to_draw: list[int] = []
    for i, one in enumerate(bound):
        closed_form = _closed(one, plan)
        if closed_form is None:
            to_draw.append(i)
        else:
            found[i] = closed_form
    if to_draw:
        drawn = _bootstrap([bound[i] for i in to_draw], plan)
        found.update(zip(to_draw, drawn, strict=True))
    return [found[i] for i in range(len(bound))]


def _closed(one: Bound, plan: Plan) -> Interval | None:
    name = one.measure.name
    if plan.method in ("wilson", "clopper-pearson") or (plan.method == "auto" and one.plain_proportion):
        if not one.plain_proportion:
            raise InputError(f"method {plan.method!r} must have a proportion of unweighted rows, got {name}: use 'bca'")
        return _proportion(one, plan)
    if plan.method == "auto" and one.measure is gini_measure:
        return _gini(one, plan)
    if plan.method in ("delong", "newcombe") or (plan.method == "auto" and one.plain_auc):
        if not one.plain_auc:
            raise InputError(f"method {plan.method!r} must have a two-class AUC of unweighted rows, got {name}: use 'bca'")
        return _auc(one, plan)
    return None


def _proportion(one: Bound, plan: Plan) -> Interval:
    successes, trials = one.parts()
    if trials == 0:
        return _undefined(one, plan)
    method = "clopper-pearson" if plan.method == "clopper-pearson" else "wilson"
    limits = (closed.clopper_pearson if method == "clopper-pearson" else closed.wilson)(successes, trials, plan.level)
    return Interval(one.measure.name, successes / trials, *limits, plan.level, method)


def _auc(one: Bound, plan: Plan) -> Interval:
    tally = one.rows.binary.tally
    estimate, variance = auc_variance(tally.pos, tally.neg)
    if np.isnan(estimate):
        return _undefined(one, plan)
    exists = 0 < estimate < 1 and variance > 0
    easy = not one.few and 1 - _HIGH <= estimate <= _HIGH
    if exists and (plan.method == "delong" or (plan.method == "auto" and easy)):
        return Interval("auc", estimate, *closed.delong(estimate, variance, plan.level), plan.level, "delong")
    note = ""
    if plan.method != "newcombe" and not exists:
        note = "DeLong's variance does not exist here, so Newcombe's score interval is given"
        say_fallback(f"auc {estimate:.4g}: {note}")
    return Interval("auc", estimate, *closed.newcombe(estimate, tally, plan.level), plan.level, "newcombe", note)


def _gini(one: Bound, plan: Plan) -> Interval | None:
    """As a linear function of the AUC, so that the two agree."""
    ranked = replace(one, measure=auc_measure)
    if not ranked.plain_auc:
        return None
    found = _auc(ranked, plan)
    return replace(found, measure="gini", **{name: 2 * getattr(found, name) - 1 for name in ("estimate", "low", "high")})


def _undefined(one: Bound, plan: Plan) -> Interval:
    nan = float("nan")
    one.measure.warn_undefined(np.asarray(nan))
    return Interval(one.measure.name, nan, nan, nan, plan.level, "none", f"undefined: {one.measure.facts.undefined}")


def say_fallback(message: str) -> None:
    """Warn that another method was used than asked for."""
    warnings.warn(message, FallbackWarning, stacklevel=5)


def _bootstrap(bound: list[Bound], plan: Plan) -> list[Interval]:
    def compute(drawn: Drawn) -> FloatArray:
        return np.column_stack([one.drawn(drawn) for one in bound])

    estimates = [one.estimate() for one in bound]
    for one, estimate in zip(bound, estimates, strict=True):
        if np.isnan(estimate):
            one.measure.warn_undefined(np.asarray(estimate))
    return intervals_from_draws(compute, estimates, [one.measure.name for one in bound], plan, plan.draws(bound[0].rows))


def intervals_from_draws(
    compute: Compute, estimates: list[float], names: list[str], plan: Plan, draws: Resamples
) -> list[Interval]:
    """Bootstrap intervals of the columns that `compute` gives."""
    values = draws.values(compute)
    left_out = None if plan.method == "percentile" else draws.left_out(compute)
    return [
        _limits(name, estimate, values[:, i], None if left_out is None else left_out[:, i], plan)
        for i, (name, estimate) in enumerate(zip(names, estimates, strict=True))
    ]


def _limits(name: str, estimate: float, values: FloatArray, left_out: FloatArray | None, plan: Plan) -> Interval:
    defined = values[~np.isnan(values)]
    notes = []
    if len(defined) < len(values):
        notes.append(f"undefined in {len(values) - len(defined)} of {len(values)} resamples, which are left out")
    if np.isnan(estimate) or not len(defined):
        return Interval(name, estimate, float("nan"), float("nan"), plan.level, "none", "; ".join(["undefined", *notes]))
    if not distances(defined, estimate).any():
        notes.append("all resamples agree, so the limits say nothing about cases not seen")
        if plan.method == "bca":
            say_fallback(f"{name}: {notes[-1]}")
        return Interval(name, estimate, estimate, estimate, plan.level, "percentile", "; ".join(notes))
    limits = None if left_out is None else bca_limits(defined, estimate, left_out, plan.level)
    if left_out is not None and limits is None:
        notes.append("BCa does not exist here, so percentile limits are given")
        if plan.method == "bca":
            say_fallback(f"{name}: {notes[-1]}")
    method = "percentile" if limits is None else "bca"
    low, high = percentile_limits(defined, plan.level) if limits is None else limits
    return Interval(name, estimate, low, high, plan.level, method, "; ".join(notes))


def _interval_of_function(
    function: Callable[..., float],
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    plan: Plan,
    sample_weight: npt.ArrayLike | None,
    params: dict[str, Any],
) -> Interval:
    if plan.method not in ("auto", "bca", "percentile"):
        raise InputError(f"method must be 'auto', 'bca' or 'percentile' for a function, got {plan.method!r}")
    if sample_weight is not None:
        raise InputError("sample_weight must be None for a function: make it a measure to give rows weights")
    truth, given = _check.column("y_true", y_true), np.asarray(y_score)
    _check.same_length(y_true=truth, y_score=given)

    def value(pick: Any) -> float:
        found = function(truth[pick], given[pick], **params)
        if np.ndim(found) != 0 or found is None:
            raise InputError(f"the function must give one number, got {found!r}")
        return float(found)

    def compute(drawn: Drawn) -> FloatArray:
        picks = [np.repeat(np.arange(len(truth)), counts.astype(np.intp)) for counts in drawn]
        return np.array([[value(pick)] for pick in picks])

    strata = _check.encode(None, None, y_true=truth)[1][0] if plan.stratified else None
    draws = Resamples(len(truth), plan.resamples, plan.seed, strata)
    name = getattr(function, "__name__", "function")
    return intervals_from_draws(compute, [value(slice(None))], [name], plan, draws)[0]
