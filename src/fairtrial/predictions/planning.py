"""Plan the size of a test set from a pilot, for a decision at a margin or an interval of a given width."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fairtrial import _check
from fairtrial._findings import Finding
from fairtrial._narrative import name_argument
from fairtrial._registry import suggest_name
from fairtrial._text import format_count
from fairtrial.errors import InputError
from fairtrial.measures import Measure
from fairtrial.measures.auc_inference import MIN_DECIDABLE_CASES, compute_t_quantile
from fairtrial.measures.intervals import compute_normal_quantile
from fairtrial.predictions.gate import gate
from fairtrial.predictions.judgement import build_settings, select_measures
from fairtrial.predictions.margins import MIN_BOOTSTRAP_CASES
from fairtrial.predictions.pairs import Decision, compare_models
from fairtrial.predictions.read import PredictionFile, Source, read_predictions
from fairtrial.predictions.statistics import InMemoryModel, InMemoryModels, InMemoryPair, JudgeSettings, ignore_warnings
from fairtrial.significance.margins import check_margin, decide_margin
from fairtrial.significance.sample_size import (
    RATES,
    SampleSize,
    check_true_difference,
    describe_margin_answer,
    describe_size,
    plan_interval,
    round_up_size,
    solve_margin,
)

# Bootstrap resamples of the pilot and of each simulated sample. The 2,000 resamples that `gate` uses
# would yield the same limits on average.
_PILOT_RESAMPLES, _RESAMPLES = 2000, 400
# For limits in closed form and for bootstrap limits: the largest number of simulated samples, and the largest number of rows in
# all samples together.
_RUNS, _MAX_ROWS = {"closed": 400, "bootstrap": 200}, {"closed": 20_000_000, "bootstrap": 1_000_000}
_MIN_RUNS = 100
# After every 50 samples, a simulation stops if its power differs from the target by more than three standard errors. The number
# of rows is corrected until the power differs by at most 1.5 standard errors.
_FIRST_RUNS, _FAR, _CLOSE, _MAX_ROUNDS = 50, 3.0, 1.5, 10
_METHODS = {
    "auc_test": "normal approximation with DeLong's standard error of the pilot",
    "mcnemar": "normal approximation with the discordant rows of the pilot",
    "clusters": "normal approximation with the standard error of the pilot's clusters",
    "bootstrap": "normal approximation with the bootstrap standard error of the pilot",
    "width": "width of the pilot's interval, assumed to be inversely proportional to the square root of the number of rows",
}


def plan_test(
    source: Source | PredictionFile,
    *,
    margin: float | None = None,
    width: float | None = None,
    candidate: str | None = None,
    baseline: str | None = None,
    measure: str | Measure | None = None,
    difference: float = 0.0,
    power: float = 0.8,
    equivalent: bool = False,
    alpha: float = 0.05,
    seed: int = 0,
    positive: object = None,
    **roles: Any,
) -> SampleSize:
    """Compute from a pilot how many rows a decision at a margin or a precise interval needs.

    If a margin is given, the number of rows is computed from the variance of the difference in the pilot and checked by
    simulation. In the simulation, rows or whole clusters of the pilot are drawn with replacement, and a decision is made for
    each sample as in `gate`. The number of rows is corrected if the simulated power misses the target by more than 1.5 Monte
    Carlo standard errors.

    Parameters
    ----------
    source : path, list of paths, dataframe or PredictionFile
        Predictions of the pilot, as for `judge`.
    margin : float, optional
        The largest loss that does not matter. Either `margin` or `width` must be given.
    width : float, optional
        Width (upper minus lower limit) of the confidence interval for the measure of one model.
    candidate, baseline : str, optional
        Names of the new and the old model. If the pilot has two models, one name is enough. With two models and a
        `difference` of 0, no name is needed. For an interval, only `candidate` is used.
    measure : str or Measure, optional
        Measure. With `width`, "calibration_slope" is also allowed. Default: AUC if all models have scores for a positive class,
        else accuracy.
    difference : float, default 0
        Assumed true difference, candidate minus baseline. The difference observed in the pilot is not used.
    power : float, default 0.8
        The desired power.
    equivalent : bool, default False
        Plan for equivalence instead of non-inferiority.
    alpha : float, default 0.05
        Significance level. The confidence level is 1 - alpha.
    seed : int, default 0
        Seed of the simulation.
    positive : label, optional
        The positive class, as in `judge`.
    **roles : str, list or mapping, optional
        Columns (y_true, prediction, model, scores, row, cluster) and the option `drop_missing`, as in `judge`.

    Returns
    -------
    SampleSize

    Raises
    ------
    InputError
        If a model or measure is unknown, the margin is not positive, a class has fewer than 5 cases, or the models do not
        differ on any row.

    Examples
    --------
    >>> y_true = [0, 1] * 150
    >>> pilot = {"y_true": y_true, "old": [1, 0] * 15 + y_true[30:], "new": y_true[:270] + [1, 0] * 15}
    >>> size = plan_test(pilot, candidate="new", baseline="old", measure="accuracy", margin=0.05)
    >>> size.n, size.n_exact == size.n
    (628, False)
    """
    if (margin is None) == (width is None):
        arguments = f"{name_argument('margin', '0.01')} or {name_argument('width', '0.05')}"
        raise InputError(f"either margin or width must be given: pass {arguments}")
    _check.check_between("alpha", alpha, 0, 1)
    _check.check_between("power", power, 0, 1)
    _check.check_whole_number("seed", seed, 0)
    settings = build_settings(1 - alpha, _RESAMPLES, seed, alpha)
    if isinstance(source, PredictionFile) and roles:
        raise InputError(f"columns must be named when the file is read, got {', '.join(roles)} with predictions already read")
    file = source if isinstance(source, PredictionFile) else read_predictions(source, positive=positive, **roles)
    if width is not None:
        return _plan_width(file, candidate, measure, width, positive, settings)
    assert margin is not None
    check_margin(margin)
    if candidate is None and baseline is None and len(file.models) == 2 and difference == 0:
        candidate, baseline = file.models  # equally good models need about the same number of rows in both directions
    comparison = gate(
        file, candidate=candidate, baseline=baseline, measure=measure, margin=margin, alpha=alpha, positive=positive
    ).comparisons[0]
    models = {model.name: model for model in InMemoryModels(file, positive).models}
    pair = models[comparison.candidate].pair_with(models[comparison.baseline])
    chosen = select_measures([pair.first, pair.second], comparison.measure)[0]
    gain = difference if chosen.facts.direction == "max" else -difference
    check_true_difference(gain, margin, equivalent)
    _check_classes(pair.first)
    pilot = _Pilot(pair, chosen, settings, comparison.test)
    n_exact = solve_margin(margin, pilot.compute_variance(gain), gain, power, alpha, equivalent)
    round_up_size(n_exact * pair.distinct_rows / pair.units)
    simulation = pilot.simulate(n_exact, margin, difference, power, equivalent)
    units = simulation.units
    rows = math.ceil(units * pair.distinct_rows / pair.units)
    positives = _count_positives(pair.first, rows)
    clusters = units if pilot.is_clustered else None
    described = describe_size(rows, "row", positives, clusters, about=True)
    reached = power if math.isnan(simulation.power) else simulation.power
    is_minimum = units == pilot.fewest_units
    is_corrected = not is_minimum and units != math.ceil(n_exact)
    caveats = [Finding.of("size_minimum", needed=pilot.fewest_cases)] if is_minimum else []
    caveats += [simulation.describe(pilot.runs_kind), Finding.of("size_from_pilot", rows=pair.distinct_rows)]
    return SampleSize(
        rows,
        "row",
        n_exact * pair.distinct_rows / pair.units,
        _METHODS[pilot.kind] + (", corrected by simulation" if is_corrected else ""),
        describe_margin_answer(described, chosen.display_name, margin, power, difference, equivalent, "model"),
        positives,
        None if positives is None else rows - positives,
        clusters,
        power=reached,
        power_error=simulation.error,
        target=power,
        alpha=alpha,
        caveats=tuple(caveats),
    )


def _plan_width(
    file: PredictionFile,
    name: str | None,
    measure: str | Measure | None,
    width: float,
    positive: object,
    settings: JudgeSettings,
) -> SampleSize:
    """Compute how many rows a confidence interval of a given width needs.

    If no formula applies, e.g. because rows are clustered, the width is assumed to be inversely proportional to the square root
    of the number of rows.
    """
    _check.check_positive("width", width)
    if len(file.datasets) > 1:
        raise InputError(f"plan_test uses one data set, got {len(file.datasets)} in {file.source}: select one")
    models = {model.name: model for model in InMemoryModels(file, positive).models}
    if name is None and len(models) > 1:
        raise InputError(f"candidate must name a model: pass {name_argument('candidate', 'MODEL')}, one of {', '.join(models)}")
    if name is not None and name not in models:
        raise InputError(f"candidate must be a model of {file.source}, got {name!r}: {suggest_name(name, models)}")
    model = next(iter(models.values())) if name is None else models[name]
    _check_classes(model)
    pilot_caveat = Finding.of("size_from_pilot", rows=model.distinct_rows)
    if measure == "calibration_slope":
        size = plan_interval("calibration_slope", width, level=settings.level, linear_predictor=_compute_logits(model))
        return replace(size, caveats=(*size.caveats, pilot_caveat))
    chosen = select_measures([model], measure)[0]
    missing = model.find_missing_input(chosen)
    if missing:
        raise InputError(f"measure {chosen.name} needs {missing}, got none from {model.name!r}: choose another measure")
    is_rate = chosen.name in RATES and (model.positive is not None or not chosen.facts.per_class)
    if is_rate and model.clusters is None and not model.is_weighted:
        prevalence = None if model.positive is None else float((model.y_true == model.positive).mean())
        size = plan_interval(
            chosen.name, width, expected=model.compute_value(chosen), level=settings.level, prevalence=prevalence
        )
        return replace(size, caveats=(*size.caveats, pilot_caveat))
    with ignore_warnings():
        interval = model.compute_intervals([chosen], settings)[0]
    if not interval.high > interval.low:
        raise InputError(f"the pilot must give an interval of {chosen.name}, got none: pass more rows")
    n_exact = model.distinct_rows * ((interval.high - interval.low) / width) ** 2
    rows = round_up_size(n_exact)
    positives = _count_positives(model, rows)
    clusters = None
    if model.clusters is not None:
        clusters = math.ceil(n_exact * len(np.unique(model.clusters)) / model.distinct_rows)
    described = describe_size(rows, "row", positives, clusters)
    values = {"measure": chosen.display_name, "width": width, "level": settings.level, "expected": interval.estimate}
    return SampleSize(
        rows,
        "row",
        n_exact,
        _METHODS["width"],
        Finding.of("size_for_interval", **values, **described),
        positives,
        None if positives is None else rows - positives,
        clusters,
        width=width,
        alpha=1 - settings.level,
        caveats=(pilot_caveat,),
    )


def _compute_logits(model: InMemoryModel) -> Any:
    from scipy.special import logit

    if model.kind != "probability" or model.positive is None or model.y_score is None:
        raise InputError(f"measure calibration_slope needs probabilities of a positive class, got none from {model.name!r}")
    probabilities = model.y_score
    is_certain = (probabilities <= 0) | (probabilities >= 1)
    if is_certain.any():
        raise InputError(
            "probabilities must be above 0 and below 1 for the calibration slope, got 0 or 1 in "
            f"{format_count(int(is_certain.sum()), 'row')} of {model.name!r}: clip them, e.g. to 0.001 and 0.999"
        )
    return logit(probabilities)


def _check_classes(model: InMemoryModel) -> None:
    """Check that the pilot contains enough cases of each class."""
    for label, count in zip(model.classes, model.count_classes().tolist(), strict=True):
        if count < MIN_DECIDABLE_CASES:
            raise InputError(
                f"the pilot must have at least {MIN_DECIDABLE_CASES} cases of each class, got {count:.0f} of {label}: add rows"
            )


def _count_positives(model: InMemoryModel, rows: int) -> int | None:
    """Estimate how many of `rows` rows are positive, given the proportion in the pilot."""
    if model.positive is None or len(model.classes) > 2:
        return None
    return math.ceil(rows * float((model.y_true == model.positive).mean()))


class _Simulation:
    """Simulated power for a number of units. Units are rows, or clusters if rows are clustered."""

    def __init__(self, units: int, passed: int, runs: int) -> None:
        self.units, self.runs = units, runs
        self.power = passed / runs if runs else math.nan
        # This keeps the standard error above zero if the power is 0 or 1.
        share = (passed + 0.5) / (runs + 1) if runs else 0.0
        self.error = math.sqrt(share * (1 - share) / runs) if runs else 0.0

    def is_close(self, power: float) -> bool:
        """Return whether the simulated power differs from the target by at most 1.5 standard errors."""
        return abs(self.power - power) <= _CLOSE * self.error

    def describe(self, kind: str) -> Finding:
        """Describe the simulated power, or state that there were too many rows for a simulation."""
        if not self.runs:
            return Finding.of("size_not_simulated", limit=_MAX_ROWS[kind])
        return Finding.of("size_simulated", power=self.power, error=self.error, runs=self.runs)


def _correct_units(results: Sequence[_Simulation], power: float, z: float) -> float:
    """Correct the number of units, given the simulated power for the numbers tried so far.

    If one of these numbers is too small and another is too large, the probit of the power is interpolated between them. The
    probit is assumed to be linear in the square root of the number.
    """
    from scipy.special import ndtri

    def compute_probit(result: _Simulation) -> float:
        return float(ndtri(min(max(result.power, 0.5 / result.runs), 1 - 0.5 / result.runs)))

    target, last = float(ndtri(power)), results[-1]
    below = max((result for result in results if result.power < power), key=lambda result: result.units, default=None)
    above = min((result for result in results if result.power >= power), key=lambda result: result.units, default=None)
    if below is None or above is None or below.units >= above.units:
        factor = ((z + target) / max(0.1, z + compute_probit(last))) ** 2
        return last.units * min(2.0, max(0.5, factor))
    low, high = compute_probit(below), compute_probit(above)
    weight = min(0.9, max(0.1, (target - low) / (high - low)))
    return float((math.sqrt(below.units) * (1 - weight) + math.sqrt(above.units) * weight) ** 2)


class _Pilot:
    """The predictions of two models in a pilot, and the procedure that compares the models."""

    def __init__(self, pair: InMemoryPair, measure: Measure, settings: JudgeSettings, test: str) -> None:
        self.pair, self.measure, self.settings = pair, measure, settings
        self.is_clustered = pair.units < pair.distinct_rows
        self.kind = test if test in ("auc_test", "mcnemar") else "bootstrap"
        if self.kind == "mcnemar" and pair.units < pair.rows:  # clusters, or several predictions of each row
            self.kind = "clusters"
        self.runs_kind = "bootstrap" if self.kind == "bootstrap" else "closed"
        self.scale = 2.0 if measure.name == "gini" else 1.0
        self.fewest_cases = MIN_BOOTSTRAP_CASES if self.kind == "bootstrap" else MIN_DECIDABLE_CASES
        # With this many units, each class almost certainly has enough cases for `gate`.
        enough = self.fewest_cases + 2 * math.sqrt(self.fewest_cases)
        self.fewest_units = math.ceil(pair.units * enough / pair.effective_units[1])

    def _compare(self, pair: InMemoryPair) -> Decision:
        return compare_models(pair.first, pair.second, pair, self.measure, self.settings)

    def compute_variance(self, gain: float) -> float:
        """Compute the variance of the difference, multiplied by the number of rows or clusters."""
        units = self.pair.units
        if self.kind == "mcnemar":
            outcome = self._compare(self.pair).outcome
            assert outcome is not None
            rows = self._count_rated_rows()
            discordant = (outcome.details["only first right"] + outcome.details["only second right"]) / rows
            self._check_varies(discordant)
            return max(discordant - gain**2, 1e-12) * self.pair.rows / rows
        error = math.nan
        if self.kind == "auc_test":
            contrast = self.pair.contrast_ranks()
            assert contrast is not None
            error = contrast.error * self.scale
        elif self.kind == "clusters":
            effect = self.pair.compare_clustered_accuracies(self.settings.level).effect
            if effect is not None:
                error = (effect.high - effect.low) / 2 / compute_t_quantile(self.settings.level, units - 1)
        else:
            with ignore_warnings():
                resampled = self.pair.resample_difference(self.measure, replace(self.settings, resamples=_PILOT_RESAMPLES))
            error = math.nan if resampled is None else resampled.details["standard error"]
        self._check_varies(error)
        return error**2 * units

    def _count_rated_rows(self) -> int:
        """Count the rows in the denominator of the measure.

        For a rate such as recall, these are the rows of one class. For other measures, they are all rows.
        """
        is_positive = self.pair.first.y_true == self.pair.first.positive
        if self.measure.name in ("recall", "fnr"):
            return int(is_positive.sum())
        return int((~is_positive).sum()) if self.measure.name in ("specificity", "fpr") else self.pair.rows

    def _check_varies(self, spread: float) -> None:
        if math.isnan(spread):
            raise InputError(
                f"the pilot must give an interval of the difference in {self.measure.name}, got none: pass more rows"
            )
        if not spread > 0:
            raise InputError(
                "the models must differ on some rows of the pilot, got no such row: pass more rows or other models"
            )

    def simulate(self, units: float, margin: float, difference: float, power: float, equivalent: bool) -> _Simulation:
        """Simulate the power, and correct the number of units until the power is close to the target."""
        # In the simulated population, the difference equals that of the pilot. The shift turns it into the assumed difference.
        shift = difference - (self.pair.first.compute_value(self.measure) - self.pair.second.compute_value(self.measure))
        results: list[_Simulation] = []
        for _ in range(_MAX_ROUNDS):
            size = max(math.ceil(units), self.fewest_units)
            result = self._simulate_once(size, margin, shift, power, equivalent)
            results.append(result)
            is_minimum = size == self.fewest_units and result.power > power
            if not result.runs or is_minimum or result.is_close(power):
                break
            units = _correct_units(results, power, compute_normal_quantile(self.settings.level))
        return result

    def _simulate_once(self, units: int, margin: float, shift: float, power: float, equivalent: bool) -> _Simulation:
        """Simulate the power for a number of units. Stop early if the power is far from the target."""
        rows = units * self.pair.rows / self.pair.units
        runs = min(_RUNS[self.runs_kind], int(_MAX_ROWS[self.runs_kind] / rows))
        if runs < _MIN_RUNS:
            return _Simulation(units, 0, 0)
        generator = np.random.default_rng([self.settings.seed, units])
        draw, passed = self._prepare_draws(), 0
        options: dict[str, Any] = {
            "level": self.settings.level,
            "better": self.measure.facts.direction,
            "equivalent": equivalent,
        }
        for run in range(1, runs + 1):
            estimate, low, high = (value + shift for value in self._compute_limits(draw(generator, units)))
            passed += math.isfinite(low + high) and decide_margin(estimate, low, high, margin, **options).passed
            result = _Simulation(units, passed, run)
            if run % _FIRST_RUNS == 0 and abs(result.power - power) > _FAR * result.error:
                break
        return result

    def _compute_limits(self, pair: InMemoryPair) -> tuple[float, float, float]:
        """Compute the difference and the limits by which `gate` decides. They are NaN if `gate` cannot decide.

        The permutation test is omitted, because it changes bootstrap limits only if they contradict its p-value.
        """
        nan = math.nan
        if self.kind == "auc_test":
            contrast = pair.contrast_ranks()
            if contrast is None or not contrast.is_decidable:
                return nan, nan, nan
            low, high = contrast.compute_limits(self.settings.level)
            return self.scale * contrast.estimate, self.scale * low, self.scale * high
        if self.kind == "bootstrap":
            with ignore_warnings():
                outcome = pair.resample_difference(self.measure, self.settings)
            effect = None if outcome is None else outcome.effect
        else:
            decision = self._compare(pair)
            effect = None if decision.obstacle is not None else decision.effect
        return (nan, nan, nan) if effect is None else (effect.estimate, effect.low, effect.high)

    def _prepare_draws(self) -> Callable[[np.random.Generator, int], InMemoryPair]:
        """Return a function that draws rows, or whole clusters, with replacement."""
        first, second = self.pair.first, self.pair.second
        codes = np.arange(first.rows) if first.clusters is None else np.unique(first.clusters, return_inverse=True)[1]
        order = np.argsort(codes, kind="stable")
        counts = np.bincount(codes)
        starts = np.cumsum(counts) - counts

        def draw(generator: np.random.Generator, units: int) -> InMemoryPair:
            drawn = generator.integers(len(counts), size=units)
            sizes = counts[drawn]
            ends = np.cumsum(sizes)
            positions = order[np.repeat(starts[drawn] - (ends - sizes), sizes) + np.arange(ends[-1])]
            numbers = np.repeat(np.arange(units), sizes)
            clusters = None if first.clusters is None else numbers
            # Copies of a row are distinct rows. All predictions of a row that are drawn together belong to the same copy.
            row_numbers = numbers * (int(first.row_indices.max()) + 1) + first.row_indices[positions]
            models = (
                replace(model.select_rows(positions), row_indices=row_numbers, clusters=clusters) for model in (first, second)
            )
            return InMemoryPair(*models)

        return draw
