"""Calibration: whether predicted probabilities agree with observed frequencies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._findings import Finding
from fairtrial._narrative import render
from fairtrial._text import (
    capitalize,
    format_interval,
    format_number as format_value,
    format_percentage,
    join_names,
    make_p_format,
)
from fairtrial.measures import get_measure
from fairtrial.measures.intervals import compute_wilson_limits
from fairtrial.report.figures import curves
from fairtrial.report.figures.probabilities import draw_corp
from fairtrial.report.judgement import (
    MAX_ROWS,
    drop_single_dataset,
    list_datasets,
    list_models,
    rank_judged_models,
    select_largest_datasets,
)
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
_MAX_LEAD, _MAX_LISTED = 6, 3
_STATES = {
    "ranking_reversed": "the ranking of {names} is reversed",
    "overconfident": "{names} {verb} overconfident{bias}",
    "underconfident": "{names} {verb} underconfident{bias}",
    "probabilities_too_low": "the probabilities{of_class} of {names} are too low",
    "probabilities_too_high": "the probabilities{of_class} of {names} are too high",
    "miscalibrated": "{names} {verb} miscalibrated",
    "calibrated": "{names} {verb} not significantly miscalibrated",
    "calibration_few_rows": "there are too few rows to judge the calibration of {names}",
    "calibration_untested": "calibration of {names} cannot be tested",
}
_SHORT_STATES = {
    "ranking_reversed": "ranking reversed",
    "overconfident": "overconfident",
    "underconfident": "underconfident",
    "probabilities_too_low": "probabilities too low",
    "probabilities_too_high": "probabilities too high",
    "miscalibrated": "miscalibrated",
    "calibration_few_rows": "too few rows to judge",
    "calibration_untested": "not tested",
}
_CALIBRATION_NAMES = {"mean_predicted": _PREDICTED, "observed_frequency": _OBSERVED, "weight": "rows"}


@section("calibration", title="Calibration", order=90, serves=("judgement",), question="probabilities")
def build_judgement_section(source: ReportSource) -> Section | None:
    """Report measures of calibration, CORP curves and bins of probabilities. Return None if no model predicts probabilities."""
    judgement = source.get_judgement()
    if not len(judgement.calibration):
        return None
    several = len(list_datasets(judgement)) > 1
    frame = build_calibration_frame(judgement)
    bins = drop_single_dataset(judgement.calibration.rename(columns=_CALIBRATION_NAMES), several)
    formats = dict.fromkeys([_PREDICTED, _OBSERVED, DISTANCE, BIAS, *_LIMITS], "{:.4f}") | {"rows": "{:,.6g}"}
    note = (
        "Mean distance: mean absolute difference between predicted probability and observed frequency over the bins, weighted "
        "by rows. Low and high: confidence limits of the mean of predicted minus observed, from the Wilson limits "
        "of the observed frequency."
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
        (
            *_summarize_calibration(judgement),
            *(Sentence(text) for text in judgement.calibration_summary if len(judgement.calibration_findings) > 1),
            *_describe_calibration(judgement, frame),
        ),
        (*_draw_corp_figures(judgement), *_draw_calibration_figures(judgement)),
        tables,
        (*_note_missing_probabilities(judgement), *_explain_corp(judgement)),
    )


def _summarize_calibration(judgement: Judgement) -> tuple[Sentence, ...]:
    """Summarize the tests of all models in one sentence. For several data sets, count the significant tests of each model."""
    findings = judgement.calibration_findings
    if len(findings) == 1 or not findings:
        return tuple(map(Sentence, judgement.calibration_summary))
    if len(list_datasets(judgement)) > 1:
        return _count_miscalibrated(judgement)
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        kind = finding.kind if finding.kind in _STATES else "calibrated"
        groups.setdefault((kind, _name_bias(finding)), []).append(finding)
    order = sorted(groups, key=lambda key: list(_STATES).index(key[0]))
    parts = [_describe_state(kind, groups[kind, bias]) for kind, bias in order]
    conditions = dict.fromkeys(str(finding.values.get("condition", "")) for finding in findings)
    text = "; ".join(parts) + next((condition for condition in conditions if condition), "")
    starts_with_name = _STATES[order[0][0]].startswith("{names}")
    return (Sentence(f"{text if starts_with_name else capitalize(text)}."),)


def _describe_state(kind: str, findings: list[Finding]) -> str:
    """Describe models with the same calibration result, with their slopes and, if they are biased, their O:E ratios."""
    names = [str(finding["model"]) for finding in findings]
    text = _STATES[kind].format(
        names=join_names(names),
        verb="is" if len(names) == 1 else "are",
        bias=_name_bias(findings[0]),
        of_class=findings[0].values.get("of_class", ""),
    )
    parts = []
    for key, label in (("slope", "slope"), ("ratio", "O:E ratio")):
        values = [float(finding[key]) for finding in findings if key in finding.values]
        # Two intervals would make the sentence too long. The sentences about the models contain them.
        interval = findings[0].values.get("interval") if not _name_bias(findings[0]) else None
        parts += [_list_values(label, values, interval)] if len(values) == len(findings) else []
    return f"{text} ({', '.join(parts)})" if parts else text


def _name_bias(finding: Finding) -> str:
    """Describe the bias of an overconfident or underconfident model.

    Return an empty string if there is no bias.
    """
    if finding.kind not in ("overconfident", "underconfident") or "ratio" not in finding.values:
        return ""
    return f", with probabilities too {'low' if finding['ratio'] > 1 else 'high'} on average"


def _list_values(label: str, values: list[float], interval: Any) -> str:
    """List the slopes or O:E ratios of models. A single value is followed by its interval."""
    if len(values) == 1:
        limits = f", {format_interval(*interval)}" if interval else ""
        return f"{label} {format_value(values[0])}{limits}"
    listed = join_names([format_value(value) for value in values])
    if len(values) > _MAX_LISTED:
        listed = f"{format_value(min(values))} to {format_value(max(values))}"
    return f"{label}s {listed}"


def _count_miscalibrated(judgement: Judgement) -> tuple[Sentence, ...]:
    """Count the data sets on which each model is significantly miscalibrated."""
    tests = judgement.calibration_tests
    tested = tests[tests["p_adjusted"].notna()]
    if tested.empty:
        return tuple(map(Sentence, judgement.calibration_summary[:1]))
    parts = []
    for model, lines in tested.groupby("model", sort=False):
        count = int((lines["p_adjusted"] <= judgement.alpha).sum())
        parts += [f"{model} on {count:,} of {len(lines):,} data sets"] if count else []
    if not parts:
        n_datasets = tested["dataset"].nunique()
        return (Sentence(render(Finding.of("never_miscalibrated", n_datasets=n_datasets), "model")),)
    return (Sentence(render(Finding.of("miscalibrated_counts", counts=join_names(parts)), "model")),)


def _explain_corp(judgement: Judgement) -> tuple[str, ...]:
    """Explain the band of the calibration curves."""
    if not len(judgement.corp):
        return ()
    return (render(Finding.of("corp_band", level=judgement.level)),)


def _build_measure_tables(judgement: Judgement, several: bool) -> tuple[ReportTable, ...]:
    """Build the tables of calibration measures (with limits) and calibration tests."""
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
        "extreme. Brier score = MCB - DSC + UNC; MCB and DSC are too large in small samples, so their lower confidence "
        "limits are cross-fitted."
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
    if tests["at_minimum"].any():
        frame = frame.assign(**{"p is an upper bound": ["yes" if flag else "" for flag in tests["at_minimum"]]})
    note = (
        "A small p-value indicates miscalibration. P-values are adjusted by Holm's method. The smallest "
        "p-value that the number of resamples allows is an upper bound."
    )
    return ReportTable("calibration-tests", "Tests of calibration", drop_single_dataset(frame, several), formats, note)


def _draw_corp_figures(judgement: Judgement) -> tuple[Figure, ...]:
    """Draw the CORP curves of the models as small multiples, best model first. The first few figures stay visible."""
    several, chosen = len(list_datasets(judgement)) > 1, select_largest_datasets(judgement)
    states = _name_states(judgement)
    figures = []
    for dataset, dataset_key in zip(chosen, make_unique_keys(chosen), strict=True):
        curves = judgement.corp[judgement.corp["dataset"] == dataset]
        ranked = [name for name in rank_judged_models(judgement, dataset) if name in set(curves["model"])]
        for number, (model, key) in enumerate(zip(ranked[:MAX_ROWS], make_unique_keys(ranked[:MAX_ROWS]), strict=True)):
            curve = curves[curves["model"] == model].reset_index(drop=True)
            label = str(curve["class"].iloc[0])
            about = f"the {label} class" if label == MOST_LIKELY else f"class {label}"
            state, value = states.get((dataset, model), (about, ""))
            title = f"{model} on {dataset}" if several else model
            band = f"shaded: pointwise {format_percentage(judgement.level)} band for a calibrated model"
            lines = (state, f"{value}; {band}" if value else capitalize(band))
            chart = draw_corp({model: curve}, title=title, subtitle=lines, level=judgement.level, height=200)
            alt = f"Calibration curve of {title} for {about}: {', '.join(filter(None, (state, value)))}."
            is_lead = number < (_MAX_LEAD // 2 if several else _MAX_LEAD)
            if several and not is_lead:
                continue
            when = {"dataset": dataset} if several else {}
            name = f"calibration-corp-{dataset_key}-{key}" if several else f"calibration-corp-{key}"
            figures.append(Figure(name, title, chart, alt, curve, is_lead, "small", when))
    return tuple(figures)


def _name_states(judgement: Judgement) -> dict[tuple[str, str], tuple[str, str]]:
    """Return the calibration result of each model on each data set, and its slope or O:E ratio."""
    states = {}
    for (dataset, model), finding in zip(
        judgement.calibration_tests[["dataset", "model"]].itertuples(index=False), judgement.calibration_findings, strict=True
    ):
        names = {"slope": "slope", "ratio": "O:E ratio"}
        value = next((f"{text} {format_value(finding[key])}" for key, text in names.items() if key in finding.values), "")
        states[str(dataset), str(model)] = _SHORT_STATES.get(finding.kind, "no significant miscalibration"), value
    return states


def _explain_bin_limits(judgement: Judgement) -> str:
    """Explain the confidence limits of a bin."""
    if not judgement.roles.get("weight"):
        return "Low and high: confidence limits of the observed frequency."
    return (
        "Low and high: confidence limits of the observed frequency, for the effective number of rows: the squared sum of the "
        "weights of a bin divided by the sum of their squares."
    )


def build_calibration_frame(judgement: Judgement) -> pd.DataFrame:
    """Build a frame with one row per data set and model. On each data set, the best-calibrated model comes first."""
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
    """Compute confidence limits for the mean predicted probability minus the observed frequency.

    The limits follow from the Wilson limits of the observed frequency. They are NaN if rows have weights.
    """
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
        template = f"{where}the probabilities of {{first}} have a mean distance of {{least}} from the observed frequencies."
        sentence = build_sentence(capitalize(template), **(parts | {"first": name}), **numbers)
        return (sentence,)
    numbers["most"] = format_number(model_rows, CALIBRATION_KEY, last, DISTANCE)
    template = f"{where}the predicted probabilities of {{first}} are closest to the observed frequencies "
    template += "(mean distance {least}); those of {last} are farthest ({most})."
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
        title = f"Calibration in ten bins{where}: " + (f"{label} class" if label == MOST_LIKELY else f"class {label}")
        alt = f"Observed frequency against predicted probability{where}, one line per model. The diagonal means perfect "
        alt += "calibration."
        chart, when = curves.draw_calibration(frames, title=title), {"dataset": name} if several else {}
        figures.append(Figure(f"calibration-bins-{key}", title, chart, alt, bins.reset_index(drop=True), when=when))
    return tuple(figures)
