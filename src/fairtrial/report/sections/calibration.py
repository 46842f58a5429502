"""Calibration: whether predicted probabilities agree with observed frequencies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtrial._text import capitalize, join_names, make_p_format
from fairtrial.measures import get_measure
from fairtrial.measures.intervals import compute_wilson_limits
from fairtrial.report.figures import curves
from fairtrial.report.figures.probabilities import draw_corp
from fairtrial.report.judgement import drop_single_dataset, list_datasets, list_models, select_largest_datasets
from fairtrial.report.section import Figure, ReportTable, Section, Sentence, build_sentence, format_number, section
from fairtrial.report.selection import make_unique_keys
from fairtrial.significance.names import get_display_name

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.predictions.judgement import Judgement
    from fairtrial.report.source import ReportSource

CALIBRATION_KEY = "calibration-models"
_CALIBRATION_MEASURES = (
    *("calibration_intercept", "calibration_slope", "oe_ratio", "brier_miscalibration", "brier_discrimination"),
)
MOST_LIKELY = "most probable"
DISTANCE, BIAS = "mean distance", "mean predicted minus observed"
_PREDICTED, _OBSERVED = "mean predicted", "observed frequency"
_LIMITS = ("low", "high")
_CALIBRATION_NAMES = {"mean_predicted": _PREDICTED, "observed_frequency": _OBSERVED, "weight": "rows"}


@section("calibration", title="Calibration", order=90, serves=("judgement",))
def build_judgement_section(source: ReportSource) -> Section | None:
    """Report measures of calibration, CORP curves and ten bins of probabilities. Return None if no model has probabilities."""
    judgement = source.get_judgement()
    if not len(judgement.calibration):
        return None
    several = len(list_datasets(judgement)) > 1
    frame = build_calibration_frame(judgement)
    bins = drop_single_dataset(judgement.calibration.rename(columns=_CALIBRATION_NAMES), several)
    formats = dict.fromkeys([_PREDICTED, _OBSERVED, DISTANCE, BIAS, *_LIMITS], "{:.4f}") | {"rows": "{:,.6g}"}
    note = (
        "Mean distance: mean absolute difference between predicted probability and observed frequency over the bins, weighted "
        "by rows. Low and high: limits of mean predicted minus observed, from the Wilson limits of the observed frequency."
    )
    tables = (
        *_build_measure_tables(judgement, several),
        ReportTable(CALIBRATION_KEY, "Calibration of each model", frame, formats, note),
        ReportTable(
            "calibration-bins", "Bins of predicted probabilities", bins, formats, _explain_bin_limits(judgement), None, True
        ),
    )
    return Section(
        "calibration",
        "Calibration",
        (*(Sentence(text) for text in judgement.calibration_summary), *_describe_calibration(judgement, frame)),
        (*_draw_corp_figures(judgement), *_draw_calibration_figures(judgement)),
        tables,
        _note_missing_probabilities(judgement),
    )


def _build_measure_tables(judgement: Judgement, several: bool) -> tuple[ReportTable, ...]:
    """Build the table of intercept, slope, O:E ratio and components of the Brier score, with limits."""
    import pandas as pd

    columns = ["dataset", "model", "measure", "estimate", *_LIMITS]
    names = [*_CALIBRATION_MEASURES, "brier"]
    lines = judgement.scores[judgement.scores["measure"].isin(names)][[*columns, "note"]]
    lines = lines[lines["model"].isin(set(judgement.calibration["model"]))]
    lines = lines.assign(measure=[get_measure(str(name)).display_name for name in lines["measure"]])
    tests = judgement.calibration_tests
    uncertainty = tests.rename(columns={"uncertainty": "estimate"}).assign(measure="uncertainty (UNC)")[columns]
    if lines.empty or uncertainty.empty:
        return ()
    order = [*(get_measure(name).display_name for name in names), "uncertainty (UNC)"]
    frame = pd.concat([lines.assign(note=lines["note"].fillna("")), uncertainty.assign(note="")], ignore_index=True)
    position = frame["measure"].map({name: number for number, name in enumerate(order)})
    frame = frame.assign(position=position).sort_values(["dataset", "position"], kind="stable").drop(columns="position")
    frame = frame if (frame["note"] != "").any() else frame.drop(columns="note")
    formats = dict.fromkeys(["estimate", *_LIMITS], "{:.4f}")
    note = (
        "Intercept 0, slope 1 and O:E ratio 1 mean perfect calibration. A slope below 1 means that the probabilities are too "
        "extreme. Brier score = MCB - DSC + UNC; MCB and DSC are too large in small samples, so their lower limits are "
        "cross-fitted."
    )
    frame = drop_single_dataset(frame.reset_index(drop=True), several)
    measures = ReportTable("calibration-measures", "Measures of calibration", frame, formats, note)
    return measures, _build_test_table(judgement, several)


def _build_test_table(judgement: Judgement, several: bool) -> ReportTable:
    """Build the table of the tests of calibration."""
    tests = judgement.calibration_tests
    names = {"p_value": "p", "p_adjusted": "adjusted p"}
    notes = ["note"] if tests["note"].fillna("").any() else []
    frame = tests[["dataset", "model", "test", "statistic", *names, *notes]].rename(columns=names)
    frame["test"] = [get_display_name(name) if isinstance(name, str) else "none" for name in frame["test"]]
    formats = dict.fromkeys(names.values(), make_p_format(judgement.alpha)) | {"statistic": "{:.3f}"}
    note = "A small p-value means that the probabilities are not calibrated. P-values are adjusted by Holm's method."
    return ReportTable("calibration-tests", "Tests of calibration", drop_single_dataset(frame, several), formats, note)


def _draw_corp_figures(judgement: Judgement) -> tuple[Figure, ...]:
    several, chosen = len(list_datasets(judgement)) > 1, select_largest_datasets(judgement)
    figures = []
    for name, key in zip(chosen, make_unique_keys(chosen), strict=True):
        curve = judgement.corp[judgement.corp["dataset"] == name]
        if not len(curve):
            continue
        frames = {str(model): part.reset_index(drop=True) for model, part in curve.groupby("model", sort=False)}
        label, where = str(curve["class"].iloc[0]), f" on {name}" if several else ""
        title = f"CORP calibration curve{where}: " + (f"{label} class" if label == MOST_LIKELY else f"class {label}")
        alt = f"Recalibrated against predicted probability{where}, one line per model, with bands for a calibrated model."
        chart = draw_corp(frames, title=title, level=judgement.level)
        figures.append(Figure(f"calibration-corp-{key}", title, chart, alt, curve.reset_index(drop=True)))
    return tuple(figures)


def _explain_bin_limits(judgement: Judgement) -> str:
    """Explain the confidence limits of a bin."""
    if not judgement.roles.get("weight"):
        return "Low and high: confidence limits of the observed frequency."
    return (
        "Low and high: confidence limits of the observed frequency, for the effective number of rows: the squared sum of the "
        "weights of a bin divided by the sum of their squares."
    )


def build_calibration_frame(judgement: Judgement) -> pd.DataFrame:
    """Build a row for each data set and model. The best calibrated model on a data set comes first."""
    import pandas as pd

    lines = []
    for (dataset, model), bins in judgement.calibration.groupby(["dataset", "model"], sort=False):
        weight = bins["weight"].to_numpy(dtype=np.float64)
        deviation = (bins["mean_predicted"] - bins["observed_frequency"]).to_numpy(dtype=np.float64)
        means = {name: float(np.average(bins[name], weights=weight)) for name in ("mean_predicted", "observed_frequency")}
        line = {"dataset": dataset, "model": model, "class": bins["class"].iloc[0], _PREDICTED: means["mean_predicted"]}
        distance = float(np.average(np.abs(deviation), weights=weight))
        bias = float(np.average(deviation, weights=weight))
        limits = dict(
            zip(
                _LIMITS,
                _compute_bias_limits(judgement, means["mean_predicted"], means["observed_frequency"], float(weight.sum())),
                strict=True,
            )
        )
        lines.append(line | {_OBSERVED: means["observed_frequency"], DISTANCE: distance, BIAS: bias} | limits)
    frame = pd.DataFrame(lines)
    dataset_order = {name: number for number, name in enumerate(list_datasets(judgement))}
    frame = frame.assign(position=frame["dataset"].map(dataset_order)).sort_values(["position", DISTANCE], kind="stable")
    return drop_single_dataset(frame.drop(columns="position"), len(dataset_order) > 1)


def _compute_bias_limits(judgement: Judgement, probability: float, proportion: float, rows: float) -> tuple[float, float]:
    """Compute Wilson limits of the mean predicted probability minus the observed frequency. They are NaN for weighted rows."""
    if judgement.roles.get("weight"):
        return float("nan"), float("nan")
    low, high = compute_wilson_limits(proportion * rows, rows, judgement.level)
    return probability - high, probability - low


def _describe_calibration(judgement: Judgement, frame: pd.DataFrame) -> tuple[Sentence, ...]:
    if "data set" not in frame:
        return _describe_dataset_calibration(frame, "")
    return tuple(
        sentence
        for name in select_largest_datasets(judgement)
        for sentence in _describe_dataset_calibration(frame[frame["data set"] == name], name)
    )


def _describe_dataset_calibration(model_rows: pd.DataFrame, dataset: str) -> tuple[Sentence, ...]:
    if not len(model_rows):
        return ()
    first, last = int(model_rows.index[0]), int(model_rows.index[-1])
    where, parts = ("on {dataset}, ", {"dataset": dataset}) if dataset else ("", {})
    numbers = {"least": format_number(model_rows, CALIBRATION_KEY, first, DISTANCE)}
    parts["first"] = str(model_rows.loc[first, "model"])
    if len(model_rows) == 1 or model_rows[DISTANCE].iloc[0] == model_rows[DISTANCE].iloc[-1]:
        name = (
            str(model_rows.loc[first, "model"])
            if len(model_rows) == 1
            else join_names([str(model) for model in model_rows["model"]])
        )
        template = f"{where}the probabilities of {{first}} have a mean distance of {{least}} from observed frequencies."
        sentence = build_sentence(capitalize(template), **(parts | {"first": name}), **numbers)
        return (sentence,)
    numbers["most"] = format_number(model_rows, CALIBRATION_KEY, last, DISTANCE)
    template = f"{where}{{first}} has the smallest mean distance from observed frequencies ({{least}})"
    template += ", {last} the largest ({most})."
    sentence = build_sentence(capitalize(template), last=str(model_rows.loc[last, "model"]), **parts, **numbers)
    return (sentence,)


def _note_missing_probabilities(judgement: Judgement) -> tuple[str, ...]:
    with_probabilities = set(judgement.calibration["model"])
    absent = [name for name in list_models(judgement) if name not in with_probabilities]
    return (f"No calibration for {join_names(absent)}: no predicted probabilities.",) if absent else ()


def _draw_calibration_figures(judgement: Judgement) -> tuple[Figure, ...]:
    several, chosen = len(list_datasets(judgement)) > 1, select_largest_datasets(judgement)
    figures = []
    for name, key in zip(chosen, make_unique_keys(chosen), strict=True):
        bins = judgement.calibration[judgement.calibration["dataset"] == name]
        if not len(bins):
            continue
        frames = {str(model): part.reset_index(drop=True) for model, part in bins.groupby("model", sort=False)}
        where = f" on {name}" if several else ""
        label = str(bins["class"].iloc[0])
        title = f"Calibration{where}: " + (f"{label} class" if label == MOST_LIKELY else f"class {label}")
        alt = f"Observed frequency against predicted probability{where}, one line per model. The diagonal means perfect "
        alt += "calibration."
        figures.append(
            Figure(f"calibration-{key}", title, curves.draw_calibration(frames, title=title), alt, bins.reset_index(drop=True))
        )
    return tuple(figures)
