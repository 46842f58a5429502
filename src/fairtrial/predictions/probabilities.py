"""Assessment of a model's probabilities by a CORP curve, a decision curve and a calibration test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._findings import Finding
from fairtrial._text import format_interval, format_number, format_p_value
from fairtrial.measures.calibration import build_uncertainty, compute_corp_curve
from fairtrial.measures.intervals import Interval
from fairtrial.measures.net_benefit import DEFAULT_THRESHOLD, DEFAULT_THRESHOLDS, compute_sample_curve
from fairtrial.measures.rows import OutcomeSample
from fairtrial.significance.adjust import adjust
from fairtrial.significance.calibration import run_calibration_test
from fairtrial.significance.outcome import Outcome

if TYPE_CHECKING:
    import pandas as pd

# Above this number of rows, the band of the CORP curve is simulated with fewer resamples.
_MANY_ROWS, _FEW_RESAMPLES, _RESAMPLES = 50_000, 200, 500

# If the calibration test is not significant, calibration is judged only if the interval for the calibration slope is at most
# this wide. If there is no slope, it is judged only if there are at least this many rows.
_MAX_SLOPE_WIDTH, _FEW_ROWS = 1.5, 50


@dataclass(frozen=True, eq=False)
class ProbabilityAssessment:
    """Assessment of the probabilities of one model.

    Attributes
    ----------
    corp : DataFrame
        The CORP curve with its consistency band, as in `corp_curve`.
    decisions : DataFrame
        The decision curve with confidence limits, as in `decision_curve`.
    differences : DataFrame
        Differences in net benefit between the model and treating all rows, as in `decision_differences`.
    uncertainty : Interval
        The uncertainty component of the Brier score.
    test : Outcome
        Calibration test. If calibration cannot be tested, e.g. because rows have weights, the p-value is NaN and `caveats`
        gives the reason.
    """

    corp: pd.DataFrame
    decisions: pd.DataFrame
    differences: pd.DataFrame
    uncertainty: Interval
    test: Outcome

    @classmethod
    def from_sample(cls, sample: OutcomeSample, level: float, seed: int) -> ProbabilityAssessment:
        """Assess the probabilities of a sample, given its outcomes."""
        resamples = _RESAMPLES if len(sample.values) <= _MANY_ROWS else _FEW_RESAMPLES
        decisions, differences = compute_sample_curve(sample, DEFAULT_THRESHOLDS, level)
        return cls(
            compute_corp_curve(sample, level, resamples, seed),
            decisions,
            differences,
            build_uncertainty(sample, level),
            run_calibration_test(sample, seed=seed),
        )


def adjust_tests(tests: pd.DataFrame) -> pd.DataFrame:
    """Adjust the p-values of calibration tests over all models and data sets (Holm)."""
    p_values = tests["p_value"].to_numpy(dtype=np.float64)
    adjusted = np.full(len(p_values), np.nan)
    is_defined = ~np.isnan(p_values)
    if is_defined.any():
        adjusted[is_defined] = adjust(p_values[is_defined], "holm")
    return tests.assign(p_adjusted=adjusted)


def find_miscalibration(
    tests: pd.DataFrame, scores: pd.DataFrame, level: float, alpha: float, if_independent: bool
) -> tuple[Finding, ...]:
    """Describe whether and how the probabilities of each model are miscalibrated."""
    several = tests["dataset"].nunique() > 1
    findings = []
    for line in tests.to_dict("records"):
        own = scores[(scores["dataset"] == line["dataset"]) & (scores["model"] == line["model"])].set_index("measure")
        where = f" on {line['dataset']}" if several else ""
        findings.append(_describe_model(line, where, own.to_dict("index"), level, alpha, if_independent, len(tests) > 1))
    return tuple(findings)


def _describe_model(
    line: Mapping[Any, Any],
    where: str,
    scores: Mapping[Any, Mapping[Any, Any]],
    level: float,
    alpha: float,
    if_independent: bool,
    adjusted: bool,
) -> Finding:
    """Describe a model's calibration by its calibration slope or O:E ratio, or explain why it cannot be tested."""
    p, model, label = float(line["p_adjusted"]), str(line["model"]), str(line["class"])
    if np.isnan(p):
        note = str(line["note"])
        return Finding.of("calibration_untested", model=model, where=where, reason=note[:1].lower() + note[1:])
    condition = " if the rows are independent" if if_independent else ""
    p_text = ("adjusted " if adjusted else "") + format_p_value(p, alpha, at_most=bool(line["at_minimum"]))
    common: dict[str, Any] = {"model": model, "where": where, "p": p, "condition": condition, "p_text": p_text}
    measures = {
        name: (scores[name]["estimate"], (scores[name]["low"], scores[name]["high"], level))
        for name in ("calibration_slope", "oe_ratio")
        if name in scores and np.isfinite(scores[name]["low"])
    }
    slope, ratio = measures.get("calibration_slope"), measures.get("oe_ratio")
    note = "" if slope is None else scores["calibration_slope"]["note"]
    with_slope = {} if slope is None else {"slope": slope[0], "interval": slope[1], "note": f"; {note}" if note else ""}
    bias = {} if ratio is None or ratio[1][0] <= 1 <= ratio[1][1] else {"ratio": ratio[0], "ratio_interval": ratio[1]}
    rows = max((values["rows"] for values in scores.values()), default=0)
    if p > alpha and (slope[1][1] - slope[1][0] > _MAX_SLOPE_WIDTH if slope is not None else rows < _FEW_ROWS):
        detail = "" if slope is None else f" (calibration slope {format_number(slope[0])}, {format_interval(*slope[1])})"
        return Finding.of("calibration_few_rows", model=model, where=where, detail=detail)
    if slope is not None and (p > alpha or not slope[1][0] <= 1 <= slope[1][1]):
        bias_text = f"; O:E ratio {format_number(ratio[0])}, {format_interval(*ratio[1])}" if bias and ratio else ""
        return _describe_slope(common | with_slope | bias | {"bias": bias_text}, p > alpha, label)
    if p > alpha:
        return Finding.of("calibrated", **common)
    if ratio is not None and bias:
        kind = "probabilities_too_low" if ratio[0] > 1 else "probabilities_too_high"
        of_class = " of the predicted class" if label == "most probable" else ""
        return Finding.of(kind, **common, ratio=ratio[0], interval=ratio[1], of_class=of_class)
    reason = f": {line['note']}" if line["note"] else ""
    return Finding.of("miscalibrated", **common, reason=reason.removesuffix("."))


def _describe_slope(values: dict[str, Any], is_calibrated: bool, label: str) -> Finding:
    """Describe the calibration of a model by its calibration slope."""
    low, high = values["interval"][:2]
    if is_calibrated and low <= 1 <= high:
        return Finding.of("calibrated_slope", **values)
    if is_calibrated:
        # The interval of the slope alone would contradict the joint test of intercept and slope.
        return Finding.of("calibrated_jointly", **{name: value for name, value in values.items() if name != "interval"})
    if high < 0:
        remedy = "order of the class probabilities" if label == "most probable" else "positive class"
        return Finding.of("ranking_reversed", **values, remedy=remedy)
    return Finding.of("overconfident" if values["slope"] < 1 else "underconfident", **values)


def describe_net_benefit(scores: pd.DataFrame, decisions: pd.DataFrame) -> dict[str, Any]:
    """Describe the threshold for the net benefit.

    Also state whether treating all rows or treating no row is better than every model.
    """
    lines = decisions[np.isclose(decisions["threshold"].to_numpy(dtype=np.float64), DEFAULT_THRESHOLD)]
    more = " Decision curves on the report page show other thresholds." if len(lines) else ""
    comparison = ""
    if len(lines) and lines["dataset"].nunique() == 1:
        treat_all = float(lines["treat_all"].iloc[0])
        if max(treat_all, 0.0) > scores.loc[scores["measure"] == "net_benefit", "estimate"].max():
            strategy = "treating no row has a net benefit of 0"
            strategy = f"treating all rows has {treat_all:.3g}" if treat_all > 0 else strategy
            comparison = f"; {strategy}, more than every model"
    return {"threshold": DEFAULT_THRESHOLD, "comparison": comparison, "more": more}


def find_useful_thresholds(decisions: pd.DataFrame, differences: pd.DataFrame, names: Sequence[str]) -> tuple[Finding, ...]:
    """Find the thresholds at which each model is useful.

    At these thresholds, the model is significantly better than both treating all rows and treating no row. `decisions` and
    `differences` must come from a single data set.
    """
    findings = []
    for name in names:
        curve = decisions[decisions["model"] == name]
        against_all = differences[(differences["first"] == name) & (differences["second"] == "treat all")]
        is_useful = (curve["low"].to_numpy() > 0) & (against_all["low"].to_numpy() > 0)
        if np.isnan(curve["low"]).all():
            continue
        thresholds = curve["threshold"].to_numpy()[is_useful]
        if len(thresholds):
            low, high = float(thresholds.min()), float(thresholds.max())
            complete = round((high - low) * 100) + 1 == len(thresholds)
            kind = "useful_thresholds" if complete else "useful_thresholds_within"
            findings.append(Finding.of(kind, model=name, low=low, high=high))
        else:
            findings.append(Finding.of("no_useful_threshold", model=name, models=(name,), where=""))
    return tuple(findings)
