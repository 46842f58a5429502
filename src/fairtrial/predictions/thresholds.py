"""Choose the decision threshold of a model for costs, recall, precision or an alert budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_FLOOR, Context
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial._findings import Finding
from fairtrial._json import format_document
from fairtrial._narrative import name_argument, name_place, render, render_all
from fairtrial._text import (
    format_count,
    format_html_block,
    format_html_table,
    format_interval,
    format_number,
    format_percentage,
    format_table,
    wrap_item,
    wrap_lines,
)
from fairtrial.errors import InputError
from fairtrial.measures import Measure, get_measure
from fairtrial.measures.intervals import Interval
from fairtrial.measures.measure import LabelMeasure
from fairtrial.predictions.alerts import RATES, AlertCells, Goal, ScoredCases
from fairtrial.predictions.judgement import IMPORTANT_NOTES, build_settings, find_inverted, open_models
from fairtrial.predictions.read import PredictionFile, Source
from fairtrial.predictions.statistics import MANY_ROWS, InMemoryModel, JudgeSettings, PositiveClasses, ignore_warnings
from fairtrial.predictions.validate import USUAL_THRESHOLD
from fairtrial.significance import adjust
from fairtrial.significance.costs import PER_CASES, check_costs, compute_row_costs
from fairtrial.significance.outcome import Outcome

if TYPE_CHECKING:
    import pandas as pd

TABLE_MEASURES = ("recall", "precision", "specificity", "f_score")
"""Default measures of the threshold table."""

ALTERNATIVES = {"nobody": 0.0, "everybody": 1.0}
"""The alternatives to a threshold, and the proportion of cases that each predicts to be positive."""

_MIN_CLUSTERS = 20
_PAIR_COLUMNS = (
    *("dataset", "first", "second", "measure", "first_cost", "second_cost", "difference", "low", "high", "test", "p_value"),
    *("p_adjusted", "significant", "rows"),
)
_MAX_PAIRS, _MAX_MODELS = 2, 3


@dataclass(frozen=True)
class ThresholdChoice:
    """The chosen threshold of one model, with the estimated results at this threshold.

    Attributes
    ----------
    dataset, model : str
        Names of the data set and the model.
    rows, positives : int
        Number of cases and of positive cases.
    threshold, low, high : float
        The threshold, and confidence limits for the best threshold in the population. Infinity is above all scores, so no case
        is predicted positive. Minus infinity is below all scores, so every case is predicted positive.
    estimates : mapping of str to Interval
        Cost per 1,000 cases (for costs only), recall, precision and alert rate on new cases. The values are estimated by
        cross-fitting or, for an alert budget, on the rows that were used to choose the threshold.
    current : float or None
        The current threshold, or None if there is none.
    current_estimates : mapping of str to Interval
        The same quantities at the current threshold.
    saving : Interval or None
        Proportion of the current cost that is saved, or None if there are no costs or no current threshold.
    next_lower : float
        The next lower score, or minus infinity. All thresholds above this score, up to the chosen one, yield the same
        predicted labels.
    alternatives : mapping of str to Interval
        Only for costs: the cost per 1,000 cases if "nobody" or "everybody" is predicted positive.
    differences : mapping of str to Outcome
        Only for costs: for each alternative, a test of the difference in cost, threshold minus alternative. Empty if there are
        too few cases.
    current_differences : mapping of str to Outcome
        The same tests for the current threshold. Empty if there is no current threshold.
    folds : int
        Number of folds for cross-fitting, or 0 if the results are not cross-fitted.
    """

    dataset: str
    model: str
    rows: int
    positives: int
    threshold: float
    low: float
    high: float
    estimates: Mapping[str, Interval]
    current: float | None = None
    current_estimates: Mapping[str, Interval] = ()  # type: ignore[assignment]
    saving: Interval | None = None
    next_lower: float = float("-inf")
    alternatives: Mapping[str, Interval] = field(default_factory=dict)
    differences: Mapping[str, Outcome] = field(default_factory=dict)
    current_differences: Mapping[str, Outcome] = field(default_factory=dict)
    folds: int = 0

    @property
    def label(self) -> str:
        """The threshold as text. The printed number yields the same predicted labels as the exact threshold."""
        return format_threshold(self.threshold, self.next_lower)

    @property
    def rival(self) -> str | None:
        """The alternative, "nobody" or "everybody", with the larger p-value.

        The p-value counts as 1 if the alternative does not cost more. The value is None if nothing was tested.
        """
        p_values = {name: 1.0 if outcome.statistic >= 0 else outcome.p_value for name, outcome in self.differences.items()}
        return max(p_values, key=lambda name: (p_values[name], self.differences[name].statistic)) if p_values else None

    def is_useful(self, alpha: float) -> bool | None:
        """Return whether the threshold costs significantly less than both alternatives. Return None if this was not tested."""
        return None if self.rival is None else _is_cheaper(self.differences, alpha)

    def is_current_useful(self, alpha: float) -> bool:
        """Return whether the current threshold costs significantly less than both alternatives."""
        return bool(self.current_differences) and _is_cheaper(self.current_differences, alpha)

    def to_dict(self) -> dict[str, Any]:
        """Return all values as a dictionary."""
        line: dict[str, Any] = {"dataset": self.dataset, "model": self.model, "rows": self.rows, "positives": self.positives}
        line |= {"threshold": self.threshold, "threshold_low": self.low, "threshold_high": self.high}
        line |= _flatten(self.estimates, "")
        if self.current is not None:
            line |= {"current": self.current, **_flatten(self.current_estimates, "current_")}
        line |= {} if self.saving is None else _flatten({"saving": self.saving}, "")
        line |= _flatten({f"cost_{name}": cost for name, cost in self.alternatives.items()}, "")
        return line | {f"p_{name}": outcome.p_value for name, outcome in self.differences.items()}


def _is_cheaper(differences: Mapping[str, Outcome], alpha: float) -> bool:
    return all(outcome.statistic < 0 and outcome.p_value <= alpha for outcome in differences.values())


def _flatten(intervals: Mapping[str, Interval], prefix: str) -> dict[str, float]:
    return {
        f"{prefix}{name}{suffix}": value
        for name, interval in intervals.items()
        for suffix, value in (("", interval.estimate), ("_low", interval.low), ("_high", interval.high))
    }


@dataclass(frozen=True, repr=False)
class ThresholdResult:
    """The result of `choose_threshold`.

    Attributes
    ----------
    source : str
        Name of the file.
    goal : Goal
        The goal for which the threshold was chosen.
    choices : tuple of ThresholdChoice
        The choice for each model. For costs, the models are sorted by data set and cost. For other goals, the models are in the
        order of the file. A model that does not reach the required precision is left out.
    table : DataFrame
        Threshold table: one row per model, threshold and measure, with the numbers of true and false positives and negatives.
    pairs : DataFrame
        Only for costs. One row per pair of models: difference in cost per 1,000 cases (first minus second) on common rows.
        Intervals are simultaneous over all pairs (Bonferroni), and p-values are adjusted over all pairs (Holm).
    curves : DataFrame
        Only for costs: the cost per 1,000 cases at many thresholds, with pointwise confidence limits.
    positives : PositiveClasses
        Positive class of each data set.
    level, alpha : float
        Confidence level and significance level.
    notes : tuple of Finding
        Notes on the data, and reasons why estimates are undefined.
    read_as : str
        Description of the roles of the columns that were used.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y_true = np.arange(400) % 4 == 0
    >>> probability = 1 / (1 + np.exp(1 - 2 * y_true - rng.normal(size=400)))
    >>> result = choose_threshold({"y_true": y_true.astype(int), "probability": probability}, costs=(1, 5))
    >>> low, high = result.interval
    >>> low < result.threshold < high
    True
    """

    source: str
    goal: Goal
    choices: tuple[ThresholdChoice, ...]
    table: pd.DataFrame
    pairs: pd.DataFrame
    curves: pd.DataFrame
    positives: PositiveClasses
    level: float = 0.95
    alpha: float = 0.05
    notes: tuple[Finding, ...] = ()
    read_as: str = ""

    @property
    def threshold(self) -> float:
        """The threshold of the first model. A case is predicted positive if its score is at least this threshold."""
        return self.choices[0].threshold

    @property
    def interval(self) -> tuple[float, float]:
        """The confidence limits for the best threshold of the first model."""
        return self.choices[0].low, self.choices[0].high

    def frame(self) -> pd.DataFrame:
        """Return a table with one row per model.

        Returns
        -------
        DataFrame
            Threshold, cross-fitted estimates at this threshold, estimates at the current threshold, and saving. Columns whose
            names end in _low or _high contain confidence limits.
        """
        import pandas as pd

        return pd.DataFrame([choice.to_dict() for choice in self.choices])

    def to_json(self) -> str:
        """Return the result as a JSON document that conforms to `result.schema.json`.

        Returns
        -------
        str
        """
        pairs: list[Any] = self.pairs.rename(columns={"first": "candidate", "second": "baseline"}).to_dict("records")
        goal: dict[str, Any] = {"kind": self.goal.kind, "value": self.goal.value}
        if self.goal.kind == "costs":
            goal = {"kind": "costs", "false_positive": self.goal.costs[0], "false_negative": self.goal.costs[1]}
        return format_document(
            "threshold",
            source=self.source,
            answer=". ".join(self.list_texts()) + ".",
            goal=goal,
            level=self.level,
            alpha=self.alpha,
            notes=list(render_all(self.notes, "model")),
            scores=self.frame().to_dict("records"),
            table=self.table.to_dict("records"),
            comparisons=pairs,
        )

    def list_texts(self) -> list[str]:
        """Describe the choice, its intervals and, for costs, alternatives and comparisons.

        For goals other than costs, models are not ranked. Instead, the choices of the first few models are described.

        Returns
        -------
        list of str
        """
        first = self.choices[0]
        findings = [self.describe_choice(first), *self._describe_limits(first)]
        if self.goal.kind != "costs" and len(self.choices) > 1:
            findings = [self.describe_choice(choice) for choice in self.choices[:_MAX_MODELS]]
            findings.append(Finding.of("threshold_unranked"))
        if first.alternatives:
            costs = {name: interval.estimate for name, interval in first.alternatives.items()}
            findings.append(Finding.of("threshold_alternatives", **costs))
        pairs = self.pairs[(self.pairs["dataset"] == first.dataset) & (self.pairs["first"] == first.model)]
        is_adjusted = len(self.pairs) > 1
        most_rows = {choice.model: choice.rows for choice in self.choices if choice.dataset == first.dataset}
        for line in pairs.head(_MAX_PAIRS).to_dict("records"):
            has_all_rows = all(most_rows[line[side]] == line["rows"] for side in ("first", "second"))
            kind = "threshold_pair" if line["significant"] else "threshold_pair_open"
            findings.append(
                Finding.of(
                    kind,
                    first=line["first"],
                    second=line["second"],
                    difference=line["difference"],
                    interval=(line["low"], line["high"], self.level),
                    p=line["p_adjusted"],
                    alpha=self.alpha,
                    where="" if has_all_rows else f" on {format_count(line['rows'], 'common row')}",
                    simultaneous="simultaneous " if is_adjusted else "",
                    adjusted="adjusted " if is_adjusted else "",
                )
            )
        return [render(finding, "model") for finding in findings]

    def describe_choice(self, choice: ThresholdChoice) -> Finding:
        """Describe the chosen threshold of a model and, for costs, its saving.

        Parameters
        ----------
        choice : ThresholdChoice
            One of `choices`.

        Returns
        -------
        Finding
        """
        where = f" on {choice.dataset}" if len({other.dataset for other in self.choices}) > 1 else ""
        model = f"{choice.model}{where}"
        threshold = f"a threshold {'' if np.isinf(choice.threshold) else 'of '}{choice.label}"
        values: dict[str, Any] = {"model": model, "threshold": threshold, "value": self.goal.value}
        values |= {name: interval.estimate for name, interval in choice.estimates.items()}
        values["alerts"] = PER_CASES * choice.estimates["alert_rate"].estimate
        if self.goal.kind != "costs":
            return Finding.of(f"threshold_{self.goal.kind}", **values)
        values |= {"fp": self.goal.costs[0], "fn": self.goal.costs[1]}
        if choice.alternatives and np.isinf(choice.threshold):
            return Finding.of("threshold_nobody", **values, nobody=choice.alternatives["nobody"].estimate)
        if choice.is_useful(self.alpha) is False and not choice.is_current_useful(self.alpha):
            assert choice.rival is not None
            outcome = choice.differences[choice.rival]
            assert outcome.effect is not None
            interval = (outcome.effect.low, outcome.effect.high, self.level)
            values |= {"rival": choice.rival, "difference": outcome.statistic, "interval": interval}
            return Finding.of("threshold_useless", **values, p=outcome.p_value, alpha=self.alpha)
        if choice.saving is None:
            return Finding.of("threshold_costs", **values)
        if choice.saving.estimate > 0 and choice.saving.low > 0:
            saving = round(choice.saving.estimate, 2)
            return Finding.of("threshold_costs_less", **values, saving=saving, current=choice.current)
        current_cost = choice.current_estimates["cost"].estimate
        return Finding.of("threshold_no_gain", **values, current=choice.current, current_cost=current_cost)

    def _describe_limits(self, choice: ThresholdChoice) -> list[Finding]:
        """Describe the confidence limits for the threshold, the goal and the saving, as far as they are defined."""
        parts = [] if np.isnan(choice.low) else [f"threshold {format_threshold_limits(choice.low, choice.high)}"]
        name = {"costs": "cost", "alerts": "alert_rate"}.get(self.goal.kind, self.goal.kind)
        limits = _format_limits(name, choice.estimates[name])
        parts += [f"{_HEADERS[name]} {limits}"] if limits else []
        parts += [] if choice.saving is None or np.isnan(choice.saving.low) else [format_saving(choice.saving)]
        subject = f" for {choice.model}" if len(self.choices) > 1 else ""
        finding = Finding.of("threshold_limits", level=self.level, subject=subject, parts="; ".join(parts))
        return [finding] if parts else []

    def format_lines(self, thresholds: Sequence[float] = ()) -> list[str]:
        """Format the answer for the console.

        Parameters
        ----------
        thresholds : sequence of float
            Thresholds for which the threshold table of each model is printed. Default: none.

        Returns
        -------
        list of str
            Lines of at most 80 columns, unless names are long.
        """
        lines = [line for text in self.list_texts() for line in wrap_lines(text)]
        lines += ["", *self._format_models()]
        if len(thresholds):
            lines += self._format_table(thresholds)
        foot = render(self._describe_method())
        read_as = "; ".join(filter(None, [self.read_as and f"read as: {self.read_as}", self.positives.summary]))
        foot_lines = [*wrap_lines(foot, 76, indent="  "), *wrap_lines(read_as, 76, indent="  ")]
        return [*lines, "", *foot_lines, *self._format_notes()]

    def _describe_method(self) -> Finding:
        """Describe how the results were estimated, including the numbers of folds and rows over all models."""
        fewest, most = (choose(choice.rows for choice in self.choices) for choose in (min, max))
        rows = format_count(most, "row") if fewest == most else f"{fewest:,} to {format_count(most, 'row')}"
        if self.goal.kind == "alerts":
            return Finding.of("threshold_method_alerts", rows=rows)
        folds = [choice.folds for choice in self.choices if choice.folds]
        if not folds:
            return Finding.of("threshold_method_none", rows=rows)
        counts = sorted({min(folds), max(folds)})
        return Finding.of("threshold_method", folds="- to ".join(map(str, counts)), rows=rows)

    def _format_notes(self) -> list[str]:
        return [line for note in self.notes for line in wrap_item(render(note, "model"), "!")]

    def _format_models(self) -> list[str]:
        """Format the results of each model with their confidence limits, followed by the costs of the alternatives."""
        several = len({choice.dataset for choice in self.choices}) > 1
        names = list(self.choices[0].estimates)
        rows = [[*(["data set"] if several else []), "model", "threshold", *(_HEADERS[name] for name in names)]]
        for choice in self.choices:
            lead = [choice.dataset] if several else []
            rows.append([*lead, choice.model, choice.label, *_format_estimates(choice.estimates)])
            limits = [_format_limits(name, interval) for name, interval in choice.estimates.items()]
            rows.append([*("" for _ in lead), f"{format_percentage(self.level)} CI", _format_range(choice), *limits])
            if len(self.choices) == 1 and choice.current is not None:
                estimates, label = choice.current_estimates, format_threshold(choice.current)
                rows.append(["current", label, *_format_estimates(estimates)])
                rows.append(["", "", *(_format_limits(name, interval) for name, interval in estimates.items())])
        if not several:
            for name, cost in self.choices[0].alternatives.items():
                rows.append([_ALTERNATIVE_NAMES[name], "", format_number(cost.estimate), *("" for _ in names[1:])])
        return format_table(rows, left=2 if several else 1)

    def _format_table(self, thresholds: Sequence[float]) -> list[str]:
        """Format the threshold table of each model at the requested thresholds."""
        lines: list[str] = []
        table = self.table[self.table["threshold"].isin([float(value) for value in thresholds])]
        several = self.table["dataset"].nunique() > 1
        labels = {(choice.dataset, choice.model, choice.threshold): choice.label for choice in self.choices}
        keys = ["dataset", "model", "threshold", "tp", "fp", "fn", "tn"]
        for _, part in table.groupby(keys, sort=False):
            dataset, model, threshold, *counts = (part[key].iloc[0] for key in keys)
            where = f" on {dataset}" if several else ""
            label = labels.get((dataset, model, threshold)) or format_threshold(threshold)
            texts = [f"{name} {format_number(count)}" for name, count in zip(("TP", "FP", "FN", "TN"), counts, strict=True)]
            lines += ["", f"  {model}{where} at {label}: {', '.join(texts)}"]
            rows = [["measure", "estimate", f"{format_percentage(self.level)} CI"]]
            for line in part.to_dict("records"):
                limits = format_interval(line["low"], line["high"], None) if np.isfinite(line["low"]) else line["note"]
                name = _OWN_NAMES.get(line["measure"]) or get_measure(line["measure"]).display_name
                rows.append([name, format_number(line["estimate"]), limits])
            lines += format_table(rows)
        return lines

    def __str__(self) -> str:
        return "\n".join(self.format_lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return format_html_block(str(self)) + format_html_table(self.frame())


_OWN_NAMES = {"alert_rate": "alert rate", "cost": "cost per 1,000 cases"}
_HEADERS = {"cost": "cost", "recall": "recall", "precision": "precision", "alert_rate": "alerts"}
_ALTERNATIVE_NAMES = {"nobody": "no alerts", "everybody": "alert all"}


def _format_estimates(estimates: Mapping[str, Interval]) -> list[str]:
    scales = {"alert_rate": PER_CASES}
    return [format_number(scales.get(name, 1) * interval.estimate) for name, interval in estimates.items()]


def _format_limits(name: str, interval: Interval) -> str:
    """Format limits for the console. Limits for recall and precision have two digits, to keep lines short."""
    if np.isnan(interval.low):
        return ""
    scale = PER_CASES if name == "alert_rate" else 1
    return format_interval(
        scale * interval.low, scale * interval.high, None, "{:.3g}" if name in ("cost", "alert_rate") else "{:.2g}"
    )


def _format_range(choice: ThresholdChoice) -> str:
    """Format the limits of the threshold for the console, with two digits if the rounded limits differ."""
    if np.isnan(choice.low):
        return ""
    if np.isinf(choice.low):
        return "any" if choice.high == float("inf") else f"up to {choice.high:.2g}"
    limits = [f"{limit:.2g}" if abs(limit) < 100 else format_threshold(limit) for limit in (choice.low, choice.high)]
    if limits[0] == limits[1]:
        return format_threshold_limits(choice.low, choice.high)
    return " to ".join(limits).replace("above all scores", "above all")


def format_threshold(threshold: float, next_lower: float | None = None) -> str:
    """Format a threshold.

    If the next lower score is given, the rounded threshold lies above that score but not above the exact threshold. It then
    yields the same predicted labels as the exact threshold. Otherwise, the threshold is rounded to 3 digits.

    >>> format_threshold(0.18347), format_threshold(float("inf"))
    ('0.183', 'above all scores')
    >>> format_threshold(0.18356, 0.18012), format_threshold(0.18356, 0.1835), format_threshold(0.1135, 0.1134)
    ('0.183', '0.18356', '0.1135')
    """
    if np.isinf(threshold):
        return "above all scores" if threshold > 0 else "below all scores"
    if next_lower is None:
        return format_number(threshold)
    for digits in range(max(3, len(f"{abs(threshold):.0f}")), 17):
        nearest = Context(prec=digits).create_decimal(repr(float(threshold)))
        below = Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(repr(float(threshold)))
        for rounded in (nearest, below):
            if next_lower < float(rounded) <= threshold:
                return f"{rounded.normalize():{'f' if abs(threshold) >= 1e-4 or threshold == 0 else 'e'}}"
    return repr(float(threshold))


def format_threshold_limits(low: float, high: float) -> str:
    """Format the confidence limits for a threshold."""
    return "undefined" if np.isnan(low) else f"{format_threshold(low)} to {format_threshold(high)}"


def format_saving(saving: Interval) -> str:
    """Format the confidence limits for a saving, in percent."""
    return f"saving {' to '.join(format_percentage(round(limit, 2) + 0.0) for limit in (saving.low, saving.high))}"


def choose_threshold(
    source: Source | PredictionFile,
    *,
    costs: tuple[float, float] | None = None,
    recall: float | None = None,
    precision: float | None = None,
    alerts: float | None = None,
    current: float | None = None,
    thresholds: Sequence[float] | None = None,
    measures: Any = None,
    level: float = 0.95,
    alpha: float = 0.05,
    resamples: int = 2000,
    seed: int = 0,
    positive: object = None,
    **roles: Any,
) -> ThresholdResult:
    """Choose the decision threshold of each model for costs, recall, precision or alerts.

    Pass exactly one goal: `costs`, `recall`, `precision` or `alerts`. A case is predicted positive if its score is at least the
    threshold. The threshold is always a score in the file, or infinity if no case should be predicted positive.

    Parameters
    ----------
    source : path, list of paths, dataframe or PredictionFile
        Predictions with scores for a positive class, as for `judge`. All rows are read into memory.
    costs : (float, float), optional
        Costs of a false positive and a false negative. The threshold with the lowest cost is chosen. If several thresholds have
        the same cost, the highest is chosen.
    recall : float, optional
        Minimum recall. The highest threshold that reaches this recall is chosen.
    precision : float, optional
        Minimum precision. The lowest threshold that reaches this precision is chosen.
    alerts : float, optional
        Maximum number of alerts (positive predictions) per 1,000 cases. The lowest threshold within this budget is chosen.
    current : float, optional
        Current threshold, for comparison. Default: 0.5 for predicted probabilities, none for other scores.
    thresholds : list of float, optional
        Thresholds in the threshold table. Default: nine thresholds, the chosen one and the current one.
    measures : str, Measure or list of these, optional
        Measures of predicted labels for the threshold table. Default: recall, precision, specificity and F1 score.
    level : float, default 0.95
        Confidence level of intervals.
    alpha : float, default 0.05
        Significance level of the tests that compare costs.
    resamples, seed : int
        Number of bootstrap resamples for the threshold table (default 2000), and seed of folds and resamples (default 0).
    positive : label, optional
        The positive class, as in `judge`.
    **roles : str, list or mapping, optional
        Columns (y_true, model, scores, dataset, row, weight, cluster) and the option `drop_missing`, as in `judge`.

    Returns
    -------
    ThresholdResult

    Raises
    ------
    InputError
        If there is not exactly one goal, a cost or a threshold is invalid, a model has no scores for a positive class, or no
        model reaches the precision at any threshold.

    Notes
    -----
    The cost of a threshold is underestimated on the rows that were used to choose it. Therefore, the estimates come from
    cross-fitting: each fold is predicted at the threshold chosen on the other folds. There are 10 folds, or fewer if a class
    has fewer cases. Clusters are not divided between folds. A threshold for an alert budget does not depend on the true labels.
    Therefore, its results are estimated on the rows that were used to choose it.

    Examples
    --------
    >>> y_true = [1, 1, 1, 0, 1, 0, 0, 1, 0, 0] * 10
    >>> score = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.1] * 10
    >>> choose_threshold({"y_true": y_true, "probability": score}, costs=(1, 10)).threshold
    0.25
    >>> choose_threshold({"y_true": y_true, "probability": score}, recall=0.8).threshold
    0.5
    """
    import pandas as pd

    goal = _check_goal(costs, recall, precision, alerts)
    settings = build_settings(level, resamples, seed, alpha)
    if roles.pop("subgroup", None) is not None:
        raise InputError(
            "subgroup is not an option of choose_threshold, because one threshold is chosen for all rows: remove it, and "
            "pass the chosen threshold to judge with threshold= and subgroup="
        )
    with open_models(source, positive, False, roles) as (file, notes):
        models = [model for model in file.models if isinstance(model, InMemoryModel)]
        cases = [_read_cases(model) for model in models]
        label_measures = _select_label_measures(measures)
        find_inverted(models, file.roles, get_measure("auc"), positive, settings)
        problems = _list_problems(cases, goal)
        choices, tables = [], []
        for scored in cases:
            compared = _check_current(scored, current)
            chosen = goal.choose(scored.tally.pos, scored.tally.neg)
            is_reached = chosen >= 0 or goal.kind != "precision"
            if is_reached:
                choices.append(_choose(scored, goal, chosen, compared, settings, problems))
            marks = _list_thresholds(scored, thresholds, (choices[-1].threshold if is_reached else None, compared))
            tables.append(build_threshold_table(scored, marks, label_measures, goal, settings))
        all_notes = [*problems, *notes.merge(with_datasets=False), *file.roles.reasons]
        selected = tuple(dict.fromkeys(note for note in all_notes if note.kind in IMPORTANT_NOTES or note in problems))
        if goal.kind == "costs":
            choices.sort(key=lambda choice: (choice.dataset, np.nan_to_num(choice.estimates["cost"].estimate, nan=np.inf)))
            rank = {(choice.dataset, choice.model): number for number, choice in enumerate(choices)}
            models.sort(key=lambda model: rank[model.dataset, model.name])
        pairs = _compare_costs(models if goal.kind == "costs" else [], goal, settings)
        table = pd.concat(tables, ignore_index=True)
        curves = pd.concat([_build_curve(scored, goal, level) for scored in cases], ignore_index=True)
        positives = PositiveClasses.from_models(models, file.roles, positive is not None)
        results = tuple(choices), table, pairs, curves, positives
        return ThresholdResult(file.source, goal, *results, level, alpha, selected, replace(file.roles, subgroups=()).summary)


def _list_problems(cases: Sequence[ScoredCases], goal: Goal) -> list[Finding]:
    """List problems with the goal and the clusters. If no model reaches the precision, an error is raised."""
    problems = []
    if goal.kind == "alerts" and goal.value < 1:
        problems.append(Finding.of("threshold_small_budget", value=goal.value, budget=PER_CASES * goal.value))
    if goal.kind == "precision":
        unreached = {}
        for scored in cases:
            tp, fp = np.cumsum(scored.tally.pos), np.cumsum(scored.tally.neg)
            if goal.choose(scored.tally.pos, scored.tally.neg) < 0:
                best = int(np.argmax(tp / (tp + fp)))
                unreached[scored.dataset, scored.model] = float((tp / (tp + fp))[best]), float(scored.values[best])
        if len(unreached) == len(cases):
            (_, model), (highest, threshold) = max(unreached.items(), key=lambda item: item[1][0])
            raise InputError(
                f"precision must be reachable, got {goal.value:g}, but the highest precision of {model!r} is "
                f"{format_number(highest)} (threshold {format_number(threshold)}): pass a lower precision"
            )
        for (_, model), (highest, threshold) in unreached.items():
            values = {"model": model, "value": goal.value, "highest": highest, "threshold": threshold}
            problems.append(Finding.of("threshold_unreached", **values))
    clusters = min((int(scored.clusters.max()) + 1 for scored in cases if scored.clusters is not None), default=_MIN_CLUSTERS)
    if clusters < _MIN_CLUSTERS:
        problems.append(Finding.of("threshold_few_clusters", clusters=clusters, needed=_MIN_CLUSTERS))
    return problems


def _check_goal(costs: Any, recall: float | None, precision: float | None, alerts: float | None) -> Goal:
    """Check that exactly one goal is given and that its value is valid."""
    goals = {"costs": costs, "recall": recall, "precision": precision, "alerts": alerts}
    named = [name for name, value in goals.items() if value is not None]
    if len(named) != 1:
        got = " and ".join(named) if named else "none"
        goal_names = name_place("--cost-fp and --cost-fn, --recall, --precision, --alerts", "costs, recall, precision, alerts")
        raise InputError(f"exactly one goal must be given, got {got}: pass one of {goal_names}")
    if costs is not None:
        return Goal("costs", costs=check_costs(costs))
    name, value = named[0], goals[named[0]]
    _check.check_number(name, value)
    highest = PER_CASES if name == "alerts" else 1
    if not 0 < value <= highest:
        unit = " per 1,000 cases" if name == "alerts" else ""
        remedy = f"pass e.g. {50 if name == 'alerts' else 0.9}"
        if name != "alerts" and 1 < value <= 100:
            remedy = f"pass {value / 100:g} for {value:g} %"
        subject = name_place(f"--{name}", name)
        raise InputError(f"{subject} must be greater than 0 and at most {highest:,}{unit}, got {value:g}: {remedy}")
    return Goal(name, float(value))  # type: ignore[arg-type]


def _read_cases(model: InMemoryModel) -> ScoredCases:
    if model.scores is None:
        raise InputError(
            f"a threshold needs scores, got none from {model.name!r}: name their column ({name_argument('scores', 'COLUMN')})"
        )
    if model.positive is None:
        raise InputError(
            f"a threshold needs a positive class, got {len(model.classes)} classes in {model.dataset!r}: "
            f"pass {name_argument('positive', 'LABEL')}"
        )
    cases = ScoredCases.from_model(model)
    if cases.is_positive.all() or not cases.is_positive.any():
        raise InputError(f"a threshold needs positive and negative cases, got only one class in {model.dataset!r}")
    return cases


def _select_label_measures(requested: Any) -> list[LabelMeasure]:
    """Look up the measures of the threshold table and check that they are measures of predicted labels."""
    names = TABLE_MEASURES if requested is None else [requested] if isinstance(requested, (str, Measure)) else list(requested)
    measures = [get_measure(name) for name in names]
    if not measures:
        raise InputError("measures must name at least one measure, got none")
    for measure in measures:
        if measure.name == "net_benefit":
            raise InputError(
                "a threshold table has no column for net_benefit, whose costs depend on the threshold: compute it with "
                "fairtrial.measures.decision_curve(y_true, y_score, thresholds), or choose a measure of predicted "
                "labels, e.g. recall"
            )
        if not isinstance(measure, LabelMeasure):
            raise InputError(
                f"measures of a threshold table must be measures of predicted labels, got {measure.name}: choose e.g. recall"
            )
    return measures  # type: ignore[return-value]


def _check_threshold(name: str, value: float, cases: ScoredCases) -> float:
    """Check that a threshold lies within the range of the scores, or between 0 and 1 for probabilities."""
    _check.check_number(name, value)
    low, high = (0.0, 1.0) if cases.kind == "probability" else (float(cases.values[-1]), float(cases.values[0]))
    if not low <= value <= high:
        limits = format_interval(low, high, None)
        is_percentage = cases.kind == "probability" and 1 < value <= 100
        remedy = f"pass {value / 100:g} for {value:g} %" if is_percentage else "pass a threshold in this range"
        raise InputError(
            f"{name} must lie within the range of the scores of {cases.model!r}, {limits}, got {value:g}: {remedy}"
        )
    return float(value)


def _check_current(cases: ScoredCases, current: float | None) -> float | None:
    if current is None:
        return USUAL_THRESHOLD if cases.kind == "probability" else None
    return _check_threshold(name_place("--current", "current"), current, cases)


def _list_thresholds(cases: ScoredCases, thresholds: Sequence[float] | None, defaults: Sequence[float | None]) -> list[float]:
    """List the thresholds of the table, highest first: the requested ones, or nine thresholds and the defaults."""
    if thresholds is not None:
        values = [thresholds] if isinstance(thresholds, (int, float)) else list(thresholds)
        if not values:
            raise InputError("thresholds must contain at least one number, got none")
        return sorted({_check_threshold(name_place("--at", "thresholds"), value, cases) for value in values}, reverse=True)
    if cases.kind == "probability":
        marks = np.round(np.arange(0.1, 0.95, 0.1), 1)
    else:
        marks = np.quantile(cases.values[cases.index], np.arange(0.1, 0.95, 0.1), method="inverted_cdf")
    extra = [value for value in defaults if value is not None and np.isfinite(value)]
    return sorted({float(value) for value in (*marks, *extra)}, reverse=True)


def _choose(
    cases: ScoredCases, goal: Goal, chosen: int, current: float | None, settings: JudgeSettings, problems: list[Finding]
) -> ThresholdChoice:
    """Estimate cost, recall, precision and alert rate of a model at the threshold with the index `chosen`."""
    if chosen < 0:
        problems.append(Finding.of("threshold_no_alerts", model=cases.model))
    alert = cases.cross_fit(goal, settings.seed)
    if alert is None:
        problems.append(Finding.of("threshold_few_cases", model=cases.model))
    low, high = cases.find_threshold_limits(goal, chosen, alert, settings.level)
    on_same_rows = (cases.index <= chosen).astype(np.float64)
    estimates = _estimate_chosen(cases, goal, alert, on_same_rows, settings.level)
    at_current: dict[str, Interval] = {}
    saving = None
    if current is not None:
        at_current = _estimate(next(cases.count_at([current])), goal, settings.level)
        if goal.kind == "costs":
            saving = _estimate_saving(cases, goal, alert, on_same_rows, current, settings.level)
    return ThresholdChoice(
        cases.dataset,
        cases.model,
        len(cases.index),
        int(cases.is_positive.sum()),
        cases.get_threshold(chosen),
        low,
        high,
        estimates,
        current,
        at_current,
        saving,
        float(cases.values[chosen + 1]) if chosen + 1 < len(cases.values) else float("-inf"),
        *_compare_alternatives(cases, goal, alert, on_same_rows, current, settings.level),
        folds=0 if goal.kind == "alerts" or alert is None else cases.folds,
    )


def _compare_alternatives(
    cases: ScoredCases, goal: Goal, alert: FloatArray | None, on_same_rows: FloatArray, current: float | None, level: float
) -> tuple[dict[str, Interval], dict[str, Outcome], dict[str, Outcome]]:
    """Estimate the costs of the alternatives, and test two thresholds against them.

    The alternatives predict no case or every case to be positive. The thresholds are the chosen and the current one.
    """
    if goal.kind != "costs":
        return {}, {}, {}
    alerts = {name: np.full(len(cases.index), flag) for name, flag in ALTERNATIVES.items()}
    costs = {name: cases.count_alerts(rows).compute_cost(goal.costs, level) for name, rows in alerts.items()}
    if alert is None or cases.make_units(goal.costs).count < 2:
        return costs, {}, {}
    both = (cases, cases)
    differences = {
        name: _combine(*(_test_costs(both, (chosen, rows), goal, level) for chosen in (alert, on_same_rows)))
        for name, rows in alerts.items()
    }
    if current is None:
        return costs, differences, {}
    at_current = (cases.index <= cases.find_index(current)).astype(np.float64)
    return costs, differences, {name: _test_costs(both, (at_current, rows), goal, level) for name, rows in alerts.items()}


def _estimate_chosen(
    cases: ScoredCases, goal: Goal, alert: FloatArray | None, on_same_rows: FloatArray, level: float
) -> dict[str, Interval]:
    """Estimate results at the chosen threshold by cross-fitting, and extend their intervals.

    The cross-fitted interval alone is too narrow, because it ignores that the threshold is estimated. Therefore, each interval
    is extended to include the interval computed on the rows that were used to choose the threshold.
    """
    if alert is None:
        return _estimate(None, goal, level)
    crossed, same = (_estimate(cases.count_alerts(predicted), goal, level) for predicted in (alert, on_same_rows))
    return {
        name: replace(interval, low=_take(min, interval.low, same[name].low), high=_take(max, interval.high, same[name].high))
        for name, interval in crossed.items()
    }


def _take(choose: Any, first: float, second: float) -> float:
    """Take the smaller or larger of two limits. If either limit is NaN, return the first."""
    return first if np.isnan(first) or np.isnan(second) else float(choose(first, second))


def _estimate(cells: AlertCells | None, goal: Goal, level: float) -> dict[str, Interval]:
    """Estimate cost, recall, precision and alert rate. The estimates are undefined if `cells` is None."""
    names = [*(["cost"] if goal.kind == "costs" else []), *RATES]
    if cells is None:
        nan = float("nan")
        return {name: Interval(name, nan, nan, nan, level, "", "cross-fitting needs two cases of each class") for name in names}
    return {
        name: cells.compute_cost(goal.costs, level) if name == "cost" else cells.compute_rate(name, level) for name in names
    }


def _estimate_saving(
    cases: ScoredCases, goal: Goal, alert: FloatArray | None, on_same_rows: FloatArray, current: float, level: float
) -> Interval:
    """Estimate the proportion of the current cost that is saved.

    The estimate comes from cross-fitting, and the limits are Fieller limits. The interval is extended to include the interval
    computed on the rows that were used to choose the threshold.
    """
    nan = float("nan")
    units = cases.make_units(goal.costs)
    current_alerts = (cases.index <= cases.find_index(current)).astype(np.float64)
    at_current = compute_row_costs(cases.is_positive, current_alerts, goal.costs)
    total = float(units.sum_units(at_current).sum())
    if alert is None or total == 0:
        reason = "cross-fitting needs two cases of each class" if alert is None else "the current cost is zero"
        return Interval("saving", nan, nan, nan, level, "", f"undefined because {reason}")
    crossed, same = (compute_row_costs(cases.is_positive, predicted, goal.costs) for predicted in (alert, on_same_rows))
    ratios = [units.compute_ratio_limits(values, at_current, level) for values in (crossed, same)]
    low, high = _take(min, ratios[0][0], ratios[1][0]), _take(max, ratios[0][1], ratios[1][1])
    note = "no confidence limits, because the current cost is not significantly above zero" if np.isnan(low) else ""
    return Interval("saving", 1 - float(units.sum_units(crossed).sum()) / total, 1 - high, 1 - low, level, "fieller", note)


def build_threshold_table(
    cases: ScoredCases, thresholds: Sequence[float], measures: Sequence[LabelMeasure], goal: Goal, settings: JudgeSettings
) -> pd.DataFrame:
    """Build the threshold table: measures, alert rate and cost at each threshold, with intervals."""
    import pandas as pd

    lines = []
    with ignore_warnings():
        for threshold, cells in zip(thresholds, cases.count_at(thresholds), strict=True):
            counts = dict(zip(("tp", "fp", "fn", "tn"), cells.totals.tolist(), strict=True))
            intervals = [cells.compute_measure(measure, settings) for measure in measures]
            intervals.append(cells.compute_rate("alert_rate", settings.level))
            if goal.kind == "costs":
                intervals.append(cells.compute_cost(goal.costs, settings.level))
            head = {"dataset": cases.dataset, "model": cases.model, "threshold": threshold, **counts}
            for interval in intervals:
                values = {name: getattr(interval, name) for name in ("measure", "estimate", "low", "high", "method", "note")}
                lines.append({**head, **values})
    return pd.DataFrame(lines)


def _build_curve(cases: ScoredCases, goal: Goal, level: float) -> pd.DataFrame:
    """Compute the cost at many thresholds. The table is empty if the goal is not costs."""
    import pandas as pd

    count = 0 if goal.kind != "costs" else 61 if cases.is_plain or len(cases.index) <= MANY_ROWS else 21
    low, high = float(cases.values[-1]), float(cases.values[0])
    if cases.kind == "probability":
        marks = np.linspace(low, high, count)
    else:
        marks = np.quantile(cases.values[cases.index], np.linspace(0, 1, count), method="inverted_cdf")
    marks = np.unique(marks)
    lines = [
        {
            "dataset": cases.dataset,
            "model": cases.model,
            "threshold": float(threshold),
            "cost": interval.estimate,
            "low": interval.low,
            "high": interval.high,
        }
        for threshold, cells in zip(marks, cases.count_at(marks.tolist()), strict=True)
        for interval in [cells.compute_cost(goal.costs, level)]
    ]
    return pd.DataFrame(lines, columns=["dataset", "model", "threshold", "cost", "low", "high"])


def _test_costs(both: Sequence[ScoredCases], alerts: Sequence[FloatArray | None], goal: Goal, level: float) -> Outcome:
    """Test the difference in cost between two models on the same rows, given the alerts of each model."""
    first, second = (
        compute_row_costs(cases.is_positive, np.asarray(alert, dtype=np.float64), goal.costs)
        for cases, alert in zip(both, alerts, strict=True)
    )
    return both[0].make_units(goal.costs).compare(first, second, level)


def _combine(outcome: Outcome, other: Outcome) -> Outcome:
    """Combine the tests at cross-fitted thresholds and at thresholds chosen on all rows.

    The larger p-value is used, or 1 if the differences have opposite signs. The interval includes both intervals.
    """
    effect, second = outcome.effect, other.effect
    assert effect is not None
    assert second is not None
    p_value = 1.0 if outcome.statistic * other.statistic < 0 else _take(max, outcome.p_value, other.p_value)
    wider = replace(effect, low=_take(min, effect.low, second.low), high=_take(max, effect.high, second.high))
    return replace(outcome, p_value=p_value, effect=wider)


def _compare_costs(models: Sequence[InMemoryModel], goal: Goal, settings: JudgeSettings) -> pd.DataFrame:
    """For each data set, compare the costs of all pairs of models on their common rows.

    Each model is used at its own cross-fitted threshold. A second test uses the thresholds chosen on all rows. The larger
    p-value of the two tests is reported, or 1 if their differences have opposite signs. The interval includes the intervals of
    both tests. P-values are adjusted over all pairs (Holm), and intervals are simultaneous (Bonferroni).
    """
    import pandas as pd

    lines = []
    compared = [(first, second) for first, second in combinations(models, 2) if first.dataset == second.dataset]
    level = 1 - (1 - settings.level) / max(1, len(compared))
    for first, second in compared:
        pair = first.pair_with(second)
        if not pair.rows or len(np.unique(pair.first.y_true == pair.first.positive)) < 2:
            continue
        both = [ScoredCases.from_model(model) for model in (pair.first, pair.second)]
        crossed = [cases.cross_fit(goal, settings.seed) for cases in both]
        same = [(cases.index <= goal.choose(cases.tally.pos, cases.tally.neg)).astype(np.float64) for cases in both]
        if crossed[0] is None or crossed[1] is None:
            continue
        outcome = _combine(*(_test_costs(both, alerts, goal, level) for alerts in (crossed, same)))
        effect = outcome.effect
        assert effect is not None
        lines.append(
            {
                "dataset": first.dataset,
                "first": first.name,
                "second": second.name,
                "measure": "cost",
                "first_cost": outcome.details.get("first", float("nan")),
                "second_cost": outcome.details.get("second", float("nan")),
                "difference": effect.estimate,
                "low": effect.low,
                "high": effect.high,
                "test": outcome.test,
                "p_value": outcome.p_value,
                "rows": pair.rows,
            }
        )
    pairs = pd.DataFrame(lines, columns=list(_PAIR_COLUMNS))
    defined = pairs["p_value"].notna().to_numpy(dtype=bool)
    adjusted = np.full(len(pairs), np.nan)
    if defined.any():
        adjusted[defined] = adjust(pairs["p_value"].to_numpy(dtype=np.float64)[defined], "holm")
    return pairs.assign(p_adjusted=adjusted, significant=adjusted <= settings.alpha)
