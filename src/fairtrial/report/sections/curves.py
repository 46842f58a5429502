"""Curves: ROC, precision-recall, cost, Kolmogorov-Smirnov and calibration curves of learners and models."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray
from fairtrial._text import capitalize, join_names
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.predictions.tables import MAX_CURVE_POINTS
from fairtrial.report.cache import select_best_learners
from fairtrial.report.figures import curves as drawings
from fairtrial.report.figures.curves import compute_roc_band, with_band
from fairtrial.report.figures.study_curves import collect_curve_frames, find_cost_winners, with_winners
from fairtrial.report.judgement import MAX_PARTS, list_datasets, list_models, select_largest_datasets
from fairtrial.report.section import Figure, ReportTable, Section, Sentence, build_sentence, format_number, section
from fairtrial.report.selection import (
    ROUNDING,
    Selection,
    count_tested_classes,
    get_main_condition,
    make_unique_keys,
    map_unique_keys,
)
from fairtrial.study.results.selection import format_condition

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.predictions.judgement import Judgement
    from fairtrial.report.source import ReportSource
    from fairtrial.study import Results
    from fairtrial.study.archive import DataFacts

    Frames = dict[str, pd.DataFrame]

AREA, HULL, KS, COST, WON = "AUC", "AUC of hull", "KS", "area under cost curve", "fraction with lowest cost"
OFF = "calibration error"
_MOST_DATA_SETS, _MOST_LEARNERS, _MOST_BANDS, _MOST_PANELS = 6, 12, 3, 3
_LEAD_HEIGHT = 280
_KINDS = ("roc", "roc-hull", "precision-recall", "cost")


@section("curves", title="Curves", order=100, serves=("study",), question="threshold")
def build_section(source: ReportSource) -> Section | None:
    """Draw the curves of the six largest data sets. Return None if no learner has scores."""
    results = source.get_results()
    tables, subjects, figures, notes = {}, {}, [], _build_selection_notes(results)
    for facts, key, when in list_largest_datasets(results):
        selection = _select_curves(results, facts)
        frames = {kind: _collect_defined_curves(results, kind, selection) for kind in _KINDS}
        if not frames["roc"]:
            continue
        name = _describe_curve_subject(results, facts, selection.positive)
        subjects[facts.name] = name
        tables[facts.name] = table = _build_learner_areas(frames, f"curves-areas-{key}", name, when)
        counts = count_tested_classes(results, facts, get_main_condition(results), selection.positive)
        figures.append(_draw_roc_figure(frames, table.frame, counts, name, key, when))
        figures.append(_draw_precision_recall_figure(frames, name, key, when))
        figures.append(_draw_cost_figure(frames, table.frame, name, key, when))
        absent = [learner for learner in select_best_learners(results, _MOST_LEARNERS) if learner not in frames["roc"]]
        if absent:
            reason = "trials failed or have not run, or the learner has no scores"
            notes.append(f"No curve for {join_names(absent)} on {facts.name}: {reason}.")
    if not tables:
        return None
    _, summaries = _summarize_areas(tables, "learner", "data set")
    sentences = tuple(_describe_study_curves(table, subjects[name]) for name, table in tables.items())
    ordered = [figure for figure in figures if figure.lead] + [figure for figure in figures if not figure.lead]
    return Section("curves", "Curves", sentences, tuple(ordered), (*summaries, *tables.values()), tuple(notes))


@section("calibration", title="Calibration", order=90, serves=("study",), question="probabilities")
def build_calibration_section(source: ReportSource) -> Section | None:
    """Draw the calibration curves of the largest data sets. Return None if no learner predicts probabilities."""
    import pandas as pd

    results = source.get_results()
    lines, figures, notes = [], [], _build_selection_notes(results)
    for facts, key, when in list_largest_datasets(results):
        selection = _select_curves(results, facts)
        curves = _collect_defined_curves(results, "calibration", selection)
        if not curves:
            continue
        errors = {learner: _compute_calibration_offset(curve) for learner, curve in curves.items()}
        lines += [{"data set": facts.name, "learner": learner, OFF: error} for learner, error in errors.items()]
        name = _describe_curve_subject(results, facts, selection.positive)
        best = min(errors, key=lambda learner: errors[learner])
        alt = f"Calibration curves of {name}. {best} has the lowest calibration error, {errors[best]:.3f}."
        chart = drawings.draw_calibration({learner: curve.round(4) for learner, curve in curves.items()})
        chart.vconcat[0].height, chart.vconcat[1].height = 240, 50
        figures.append(Figure(f"calibration-{key}", f"Calibration of {name}", chart, alt, when=when, lead=True))
        chart, title = drawings.draw_calibration_errors(errors), f"Calibration error: {name}"
        figures.append(Figure(f"calibration-error-{key}", title, chart, alt, when=when, lead=True))
        without = [name for name in select_best_learners(results, _MOST_LEARNERS) if name not in curves]
        if without:
            notes.append(f"No calibration for {join_names(without)} on {facts.name}: no predicted probabilities.")
    if not lines:
        return None
    frame = pd.DataFrame(lines)
    note = "Mean distance between the predicted probability and the observed frequency of a bin, weighted by its rows."
    table = ReportTable("calibration-errors", "Calibration errors", frame, {OFF: "{:.3f}"}, note, None, True)
    sentences = tuple(_describe_calibration(table, name) for name in dict.fromkeys(frame["data set"]))
    return Section("calibration", "Calibration", sentences, tuple(figures), (table,), tuple(notes))


def _describe_calibration(table: ReportTable, dataset: str) -> Sentence:
    """Describe the learners with the lowest and the highest calibration error on a data set."""
    frame: Any = table.frame
    lines = frame[frame["data set"] == dataset]
    low, high = lines[OFF].idxmin(), lines[OFF].idxmax()
    parts = {"dataset": dataset, "best": frame.loc[low, "learner"], "low": format_number(frame, table.key, low, OFF)}
    if len(lines) == 1:
        sentence = build_sentence("On {dataset}, {best} has a calibration error of {low}.", **parts)
    else:
        parts |= {"worst": frame.loc[high, "learner"], "high": format_number(frame, table.key, high, OFF)}
        template = "On {dataset}, {best} has the lowest calibration error ({low}), {worst} the highest ({high})."
        if parts["low"].text == parts["high"].text:
            template = "On {dataset}, all learners have a calibration error of {low}."
            parts = {name: parts[name] for name in ("dataset", "low")}
        sentence = build_sentence(template, **parts)
    return replace(sentence, when={"dataset": dataset} if frame["data set"].nunique() > 1 else {})


def _describe_leaders(names: Iterable[str]) -> str:
    """Describe which learners have the best value most often.

    Return an empty string if the same learner always has the best value, or if no learner has it more than once.
    """
    counts = Counter(map(str, names))
    most = max(counts.values()) if len(counts) > 1 else 1
    leaders = [name for name, count in counts.items() if count == most]
    return f"; {join_names(leaders)} {'has' if len(leaders) == 1 else 'have'} it most often" if most > 1 else ""


def list_largest_datasets(results: Results) -> list[tuple[DataFacts, str, dict[str, str]]]:
    """List the largest data sets with their keys and the selections for which they are shown."""
    keys = map_unique_keys(facts.name for facts in results.archive.datasets)
    several = len(results.archive.datasets) > 1
    largest = _select_largest(results, _MOST_DATA_SETS)
    return [(facts, keys[facts.name], {"dataset": facts.name} if several else {}) for facts in largest]


def _build_selection_notes(results: Results) -> list[str]:
    """Explain which rows, data sets and learners are shown."""
    notes = [
        "Each curve pools the test rows of all folds of the first repeat. This assumes that scores have the same scale in all "
        "folds."
    ]
    drawn = {facts.name for facts, *_ in list_largest_datasets(results)}
    others = [f"'{facts.name}'" for facts in results.archive.datasets if facts.name not in drawn]
    if others:
        draw_others = f"To show others, call draw(results, 'roc', dataset=NAME) with {join_names(others, None, 'or')}"
        notes.append(f"Only the largest data sets are shown. {draw_others}.")
    if len(results.archive.learners) > _MOST_LEARNERS:
        notes.append(f"Only the {_MOST_LEARNERS} learners with the best mean ranks are shown.")
    return notes


def _select_largest(results: Results, count: int) -> list[DataFacts]:
    """Select the data sets with the most rows, in the order of the study."""
    datasets = list(results.archive.datasets)
    largest = sorted(datasets, key=lambda dataset: -len(dataset.codes))[:count]
    return [dataset for dataset in datasets if dataset in largest]


def _select_curves(results: Results, facts: DataFacts) -> Selection:
    """Select the main condition, the best learners and the positive class of a data set."""
    condition = get_main_condition(results)
    learners = select_best_learners(results, _MOST_LEARNERS)
    selection = Selection(facts.name, condition.name, condition.level, learners)
    return replace(selection, positive=selection.find_positive(results, facts))


def _describe_curve_subject(results: Results, facts: DataFacts, label: object) -> str:
    """Name the data set, the class and, if the study has several conditions, the condition of the curves."""
    rest = "" if int((facts.counts > 0).sum()) <= 2 else " against the other classes"
    condition = f", {format_condition(get_main_condition(results))}" if len(results.archive.conditions) > 1 else ""
    return f"{facts.name}, class {label}{rest}{condition}"


def collect_study_curves(
    results: Results, facts: DataFacts, kinds: Sequence[str], learners: Iterable[str]
) -> dict[str, Frames]:
    """Collect the defined curves of the given kinds and learners on a data set."""
    selection, names = _select_curves(results, facts), set(learners)
    curves = {kind: _collect_defined_curves(results, kind, selection) for kind in kinds}
    return {kind: {name: curve for name, curve in frames.items() if name in names} for kind, frames in curves.items()}


def _collect_defined_curves(results: Results, kind: str, selection: Selection) -> Frames:
    """Collect the defined curve of each learner. The result is empty if no learner has the necessary scores."""
    try:
        with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
            curves = collect_curve_frames(results, kind, selection)
    except InputError:
        return {}
    return {
        name: frame for name, frame in curves.items() if frame.drop(columns="threshold", errors="ignore").notna().all(axis=None)
    }


def _build_learner_areas(frames: dict[str, Frames], key: str, name: str, when: dict[str, str]) -> ReportTable:
    """Build a table of the areas under the curves of each learner, sorted by decreasing AUC."""
    import pandas as pd

    won = compute_winning_fractions(find_cost_winners(frames["cost"]))
    lines = [
        {
            "learner": learner,
            AREA: compute_area(frame, "fpr", "tpr"),
            HULL: compute_area(frames["roc-hull"][learner], "fpr", "tpr"),
            KS: float((frame["tpr"] - frame["fpr"]).abs().max()),
            COST: compute_area(frames["cost"][learner], "probability_cost", "expected_cost"),
            WON: float(won.get(learner, 0.0)),
        }
        for learner, frame in frames["roc"].items()
    ]
    frame = pd.DataFrame(lines).set_index("learner").sort_values(AREA, ascending=False, kind="stable")
    title, formats = f"Areas under the curves: {name}", dict.fromkeys(frame.columns, "{:.3f}")
    return ReportTable(key, title, frame, formats, _format_cost_note("learner"), when=when)


def _describe_study_curves(table: ReportTable, subject: str) -> Sentence:
    """Describe which learner has the lowest expected cost on a data set. If there is only one learner, describe its AUC."""
    return replace(build_curve_sentences(table, "learner", f"{subject}, pooled test rows")[-1], when=table.when)


def _compute_calibration_offset(curve: pd.DataFrame) -> float:
    """Compute the mean distance between predicted probability and observed frequency."""
    return float(np.average((curve["mean_predicted"] - curve["observed_frequency"]).abs(), weights=curve["weight"]))


def _summarize_areas(
    tables: dict[str, ReportTable], noun: str, label: str
) -> tuple[tuple[Sentence, ...], tuple[ReportTable, ...]]:
    """Describe the highest AUC, and tabulate the range of AUCs for each data set or class.

    If there is only one data set or class, build no table.
    """
    import pandas as pd

    if len(tables) == 1:
        return build_curve_sentences(next(iter(tables.values())), noun), ()
    frames = {name: table.frame for name, table in tables.items()}
    tied = {name: [str(best) for best in frame.index[frame[AREA] == frame[AREA].iloc[0]]] for name, frame in frames.items()}
    lines = [(name, join_names(tied[name]), frame[AREA].iloc[0], frame[AREA].iloc[-1]) for name, frame in frames.items()]
    best, highest, lowest = f"best {noun}", "highest AUC", "lowest AUC"
    summary: Any = pd.DataFrame(lines, columns=[label, best, highest, lowest]).set_index(label)
    table = ReportTable("curves-best", f"AUC by {label}", summary, {highest: "{:.3f}", lowest: "{:.3f}"})
    low, high = summary[highest].idxmin(), summary[highest].idxmax()
    sentence = build_sentence(
        "The highest AUC ranges from {low} ({first}) to {high} ({last}){leaders}.",
        leaders=_describe_leaders(name for names in tied.values() for name in names),
        low=format_number(summary, table.key, low, highest),
        first=low,
        high=format_number(summary, table.key, high, highest),
        last=high,
    )
    return (sentence,), (table,)


def _draw_roc_figure(
    frames: dict[str, Frames], areas: pd.DataFrame, counts: tuple[int, int], name: str, key: str, when: dict[str, str]
) -> Figure:
    curves = frames["roc"]
    best = str(areas.index[0])
    banded = list(curves) if len(curves) <= _MOST_BANDS else [best]
    reduced = reduce_curve_points(curves, ["fpr", "tpr"], most=120)
    chart = drawings.draw_roc(reduced, title="ROC curve")
    if min(counts) > 0:
        bands = reduce_curve_points(
            {learner: compute_roc_band(curves[learner], *counts) for learner in banded}, ["fpr", "low", "high"], most=120
        )
        chart = with_band(chart, bands, reduced)
    alt = f"ROC curves of {name}. {_format_extremes(areas, AREA, 'AUC', highest=True)}"
    chart.height = _LEAD_HEIGHT
    return Figure(f"curves-roc-{key}", f"ROC curves of {name}", chart, alt, lead=True, when=when)


def _draw_precision_recall_figure(frames: dict[str, Frames], name: str, key: str, when: dict[str, str]) -> Figure:
    curves = frames["precision-recall"]
    chart = drawings.draw_precision_recall(reduce_curve_points(curves, ["recall", "precision"], most=120))
    best_precision = {learner: float(frame.loc[frame["recall"] >= 0.8, "precision"].max()) for learner, frame in curves.items()}
    highest = max(best_precision.values())
    best = [learner for learner, value in best_precision.items() if f"{value:.3f}" == f"{highest:.3f}"]
    has = "has" if len(best) == 1 else "have"
    extremes = f"{join_names(best)} {has} the highest precision at a recall of 0.8 or more, {highest:.3f}."
    alt, title = f"Precision against recall on {name}. {extremes}", f"Precision-recall curves of {name}"
    chart.height = _LEAD_HEIGHT
    return Figure(f"curves-precision-recall-{key}", title, chart, alt, lead=True, when=when)


def _draw_cost_figure(frames: dict[str, Frames], areas: pd.DataFrame, name: str, key: str, when: dict[str, str]) -> Figure:
    curves = frames["cost"]
    chart = with_winners(
        drawings.draw_cost(reduce_curve_points(curves, ["probability_cost", "expected_cost"])),
        find_cost_winners(curves),
        curves,
    )
    alt = f"Cost curves of {name}. {_format_extremes(areas, COST, 'area under the cost curve', highest=False)}"
    return Figure(f"curves-cost-{key}", f"Cost curves of {name}", chart, alt, when=when)


def _format_extremes(frame: pd.DataFrame, column: str, quantity: str, *, highest: bool) -> str:
    """Describe the best and the worst value of a column. Learners or models with the same rounded value are tied."""
    texts = {str(name): f"{value:.3f}" for name, value in frame[column].items()}
    values: Any = frame[column]
    first, last = (values.idxmax(), values.idxmin()) if highest else (values.idxmin(), values.idxmax())
    side = ("highest", "lowest") if highest else ("lowest", "highest")
    best, worst = ([name for name, text in texts.items() if text == texts[str(end)]] for end in (first, last))
    if best == worst:
        subject = str(first) if len(frame) == 1 else join_names(best)
        return f"{subject}: {quantity} {texts[str(first)]}."
    has = "has" if len(best) == 1 else "have"
    return (
        f"{join_names(best)} {has} the {side[0]} {quantity} ({texts[str(first)]}), {join_names(worst)} the {side[1]} "
        f"({texts[str(last)]})."
    )


@section("curves", title="Curves", order=100, serves=("judgement",), question="threshold")
def build_judgement_section(source: ReportSource) -> Section | None:
    """Build a subsection for each of the largest data sets and classes. Return None if there are no curves."""
    judgement = source.get_judgement()
    if "roc" not in judgement.curves:
        return None
    chosen, n_omitted = _choose_dataset_classes(judgement)
    names = [" ".join(dataset_class) if len(list_datasets(judgement)) > 1 else dataset_class[1] for dataset_class in chosen]
    parts: list[Section] = []
    areas: dict[str, ReportTable] = {}
    for (dataset, label), key in zip(chosen, make_unique_keys(names), strict=True):
        part = _build_class_section(judgement, dataset, label, key)
        if part is not None:
            parts.append(replace(part, when=_choose_selectors(chosen, dataset, label)))
            areas[f"class {label}" if len(list_datasets(judgement)) == 1 else part.title] = part.tables[0]
    notes = [f"Only the largest data sets and classes are shown ({n_omitted} left out)."] if n_omitted else []
    if any(
        (points.groupby(["dataset", "model", "class"]).size() >= MAX_CURVE_POINTS).any() for points in judgement.curves.values()
    ):
        notes.append(f"Curves are drawn from {MAX_CURVE_POINTS:,} points; the AUC uses all rows.")
    absent = [name for name in list_models(judgement) if name not in set(judgement.curves["roc"]["model"])]
    if absent:
        notes.append(f"No curve for {join_names(absent)}: no scores.")
    sentences, tables = _summarize_areas(areas, "model", "class") if areas else ((), ())
    if len(parts) == 1:
        parts = [replace(parts[0], sentences=())]
    return Section("curves", "Curves", sentences, tables=tables, notes=tuple(notes), subsections=tuple(parts))


def _choose_selectors(chosen: list[tuple[str, str]], dataset: str, label: str) -> dict[str, str]:
    """Choose the selections that distinguish a data set and a class from the others on the page."""
    datasets = {name for name, _ in chosen}
    return ({"dataset": dataset} if len(datasets) > 1 else {}) | ({"class": label} if len(datasets) < len(chosen) else {})


def _choose_dataset_classes(judgement: Judgement) -> tuple[list[tuple[str, str]], int]:
    """Choose the pairs of data set and class to show, and count the remaining pairs."""
    all_pairs = [
        (str(name), str(label)) for name, label in judgement.curves["roc"][["dataset", "class"]].drop_duplicates().to_numpy()
    ]
    rows = judgement.classes.groupby(["dataset", "class"])["support"].max()
    datasets = [name for name in select_largest_datasets(judgement) if any(pair[0] == name for pair in all_pairs)]
    per_dataset = max(1, MAX_PARTS // max(1, len(datasets)))
    chosen = []
    for name in datasets:
        largest_pairs = sorted((pair for pair in all_pairs if pair[0] == name), key=lambda pair: -float(rows.get(pair, 0)))[
            :per_dataset
        ]
        chosen += [pair for pair in all_pairs if pair in largest_pairs]
    return chosen, len(all_pairs) - len(chosen)


def select_defined_curves(judgement: Judgement, kind: str, dataset: str, label: str) -> Frames:
    """Select the defined curve of each model for a data set and class."""
    points = judgement.curves.get(kind)
    if points is None:
        return {}
    class_points = points[(points["dataset"] == dataset) & (points["class"] == label)]
    by_model = {
        str(name): part.drop(columns=["dataset", "model", "class"]) for name, part in class_points.groupby("model", sort=False)
    }
    return {
        name: part.reset_index(drop=True)
        for name, part in by_model.items()
        if part.drop(columns="threshold", errors="ignore").notna().all(axis=None)
    }


def _build_class_section(judgement: Judgement, dataset: str, label: str, key: str) -> Section | None:
    frames = {
        kind: select_defined_curves(judgement, kind, dataset, label)
        for kind in ("roc", "roc_hull", "precision_recall", "cost", "tpr_fpr")
    }
    if not frames["roc"]:
        return None
    table = _build_model_areas(judgement, frames, dataset, label, key)
    where = f"{dataset}, class {label}" if len(list_datasets(judgement)) > 1 else f"class {label}"
    figures = [
        _draw_model_roc_figure(judgement, frames, table.frame, (dataset, label), where, key),
        _draw_model_precision_recall_figure(frames, where, key),
        _draw_model_cost_figure(frames, where, key),
    ]
    if judgement.curves["roc"].loc[judgement.curves["roc"]["dataset"] == dataset, "class"].nunique() == 1:
        figures.append(_draw_model_ks_figure(frames, [str(name) for name in table.frame.index[:_MOST_PANELS]], where, key))
    title = where if len(list_datasets(judgement)) > 1 else capitalize(where)
    return Section(f"curves-{key}", title, build_curve_sentences(table, "model"), tuple(figures), (table,))


def _build_model_areas(judgement: Judgement, frames: dict[str, Frames], dataset: str, label: str, key: str) -> ReportTable:
    """Build a table of the areas under the curves of each model, sorted by decreasing AUC. The AUC uses all rows."""
    import pandas as pd

    classes = judgement.classes
    aucs = classes[(classes["dataset"] == dataset) & (classes["class"] == label)].set_index("model")["auc"]
    won: Any = compute_winning_fractions(find_cost_winners(frames["cost"])) if frames["cost"] else {}
    lines = [
        {
            "model": model,
            AREA: float(aucs[model]),
            HULL: compute_area(frames["roc_hull"].get(model), "fpr", "tpr"),
            COST: compute_area(frames["cost"].get(model), "probability_cost", "expected_cost"),
            WON: float(won.get(model, 0.0)),
        }
        for model in frames["roc"]
    ]
    frame = pd.DataFrame(lines).set_index("model").sort_values(AREA, ascending=False, kind="stable")
    return ReportTable(
        f"curves-areas-{key}",
        f"Areas under the curves: class {label}",
        frame,
        dict.fromkeys(frame.columns, "{:.4f}"),
        _format_cost_note("model"),
    )


def _draw_model_roc_figure(
    judgement: Judgement, frames: dict[str, Frames], areas: pd.DataFrame, dataset_class: tuple[str, str], where: str, key: str
) -> Figure:
    curves = frames["roc"]
    banded = list(curves) if len(curves) <= _MOST_BANDS else [str(areas.index[0])]
    thin = reduce_curve_points(curves, ["fpr", "tpr"])
    chart = drawings.draw_roc(thin, reduce_curve_points(frames["roc_hull"], ["fpr", "tpr"]) or None)
    counts = {name: _count_class_rows(judgement, *dataset_class, name) for name in banded}
    if all(min(class_counts) > 0 for class_counts in counts.values()):
        bands = {name: compute_roc_band(curves[name], *counts[name], level=judgement.level) for name in banded}
        chart = with_band(chart, reduce_curve_points(bands, ["fpr", "low", "high"]), thin, level=judgement.level)
    alt = f"ROC curves of {where}, one line per model. {_format_extremes(areas, AREA, 'AUC', highest=True)}"
    return Figure(f"curves-roc-{key}", f"ROC curves: {where}", chart, alt)


def _count_class_rows(judgement: Judgement, dataset: str, label: str, model: str) -> tuple[int, int]:
    """Count the effective rows of the class and of the other classes, rounded down."""
    classes = judgement.classes
    is_line = (classes["dataset"] == dataset) & (classes["model"] == model) & (classes["class"] == label)
    rows, other_rows = classes.loc[is_line, ["effective_rows", "effective_other_rows"]].iloc[0]
    return int(rows + ROUNDING), int(other_rows + ROUNDING)


def _draw_model_precision_recall_figure(frames: dict[str, Frames], where: str, key: str) -> Figure:
    chart = drawings.draw_precision_recall(reduce_curve_points(frames["precision_recall"], ["recall", "precision"]))
    alt = f"Precision against recall for {where}, one line per model."
    return Figure(f"curves-precision-recall-{key}", f"Precision-recall curves: {where}", chart, alt)


def _draw_model_cost_figure(frames: dict[str, Frames], where: str, key: str) -> Figure:
    curves = frames["cost"]
    thin = reduce_curve_points(curves, ["probability_cost", "expected_cost"])
    chart = with_winners(drawings.draw_cost(thin), find_cost_winners(curves), curves, "model")
    alt = f"Cost curves of {where}, one line per model. The strip at the top shows the model with the lowest cost."
    return Figure(f"curves-cost-{key}", f"Cost curves: {where}", chart, alt)


def _draw_model_ks_figure(frames: dict[str, Frames], models: list[str], where: str, key: str) -> Figure:
    curves = {name: frames["tpr_fpr"][name] for name in models}
    chart = drawings.draw_tpr_fpr(reduce_curve_points(curves, ["position", "tpr", "fpr"], most=80, peak="difference"))
    few = "" if len(models) == len(frames["tpr_fpr"]) else " (only the models with the highest AUC)"
    alt = f"True and false positive rates at each threshold for {where}, one panel per model."
    return Figure(f"curves-ks-{key}", f"Kolmogorov-Smirnov chart: {where}{few}", chart, alt)


def compute_area(frame: pd.DataFrame | None, x: str, y: str) -> float:
    """Compute the area under a curve by the trapezoidal rule. Return NaN if there is no curve."""
    if frame is None:
        return float("nan")
    along, height = frame[x].to_numpy(np.float64), frame[y].to_numpy(np.float64)
    return float(np.sum(np.diff(along) * (height[1:] + height[:-1]) / 2))


def _format_cost_note(noun: str) -> str:
    """Explain the column `WON` of the table of areas."""
    fraction = "fraction of the range of probability costs"
    return f"{capitalize(WON)}: {fraction} over which only this {noun} has the lowest expected cost."


def build_curve_sentences(table: ReportTable, noun: str, about: str = "") -> tuple[Sentence, ...]:
    """Describe the highest and lowest AUC and the lowest cost.

    `table` must have the columns `AREA` and `WON` and be sorted by `AREA`. `noun` is "learner" or "model". `about` names the
    data set and the class if the heading does not name them.
    """
    frame, areas = table.frame, table.frame[AREA]
    parts: dict[str, Any] = {"area": format_number(frame, table.key, frame.index[0], AREA)}
    prefix = ""
    if about:
        prefix, parts["about"] = "{about}: ", about
    ahead, behind = (join_names([str(name) for name in frame.index[areas == areas.iloc[index]]]) for index in (0, -1))
    if len(frame) == 1:
        return (build_sentence(f"{prefix}{{ahead}} has an AUC of {{area}}.", ahead=ahead, **parts),)
    if areas.iloc[0] == areas.iloc[-1]:
        template = f"{prefix}all {noun}s with a curve have the same AUC ({{area}})."
        return (build_sentence(template if about else "A" + template[1:], **parts), _describe_cost_winner(table, noun, about))
    has = "has" if (areas == areas.iloc[0]).sum() == 1 else "have"
    parts |= {"ahead": ahead, "behind": behind, "least": format_number(frame, table.key, frame.index[-1], AREA)}
    template = f"{prefix}{{ahead}} {has} the highest AUC ({{area}}) and {{behind}} the lowest ({{least}})."
    return (build_sentence(template, **parts), _describe_cost_winner(table, noun, about))


def _describe_cost_winner(table: ReportTable, noun: str, about: str) -> Sentence:
    """Describe which learner or model has the lowest expected cost over the largest range of costs."""
    won = table.frame[WON]
    prefix, parts = ("{about}: ", {"about": about}) if about else ("", {})
    if not (won > 0).any():
        return build_sentence(
            f"{prefix}{'no' if about else 'No'} single {noun} has the lowest expected cost anywhere.", **parts
        )
    leader = str(won.idxmax())
    others = [str(name) for name in won.index[won > 0] if name != leader]
    start = f"{prefix}{{leader}} has the lowest expected cost over"
    if not others and round(float(won[leader]), 3) == 1:
        return build_sentence(f"{start} the whole cost range.", leader=leader, **parts)
    end = (
        f", more than any other {noun}; elsewhere, the lowest cost is that of {{others}}."
        if others
        else f"; no other {noun} has the lowest cost anywhere."
    )
    return build_sentence(
        f"{start} a fraction of {{fraction}} of the cost range{end}",
        leader=leader,
        fraction=format_number(table.frame, table.key, leader, WON),
        **parts,
        **({"others": join_names(others, conjunction="or")} if others else {}),
    )


def compute_winning_fractions(winners: pd.DataFrame) -> pd.Series[float]:
    """Compute the fraction of the probability-cost range over which each learner alone has the lowest cost."""
    won_ranges = winners[winners["winner"] == "learner"]
    return (won_ranges["end"] - won_ranges["start"]).groupby(won_ranges["learner"], sort=False).sum()


def reduce_curve_points(frames: Frames, columns: Sequence[str], *, most: int = 160, peak: str = "") -> dict[str, pd.DataFrame]:
    """Reduce curves to about `most` points: the first point in each cell of a grid, the last point, and the peak.

    `columns` are the columns that are drawn. The row in which the column `peak` is farthest from 0 is always kept.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"x": [0.0, 0.0004, 0.0005, 0.5, 1.0]})
    >>> reduce_curve_points({"tree": frame}, ["x"])["tree"]["x"].tolist()
    [0.0, 0.5, 1.0]
    """
    reduced = {}
    for name, frame in frames.items():
        visible = _find_visible_points(frame[list(columns)].to_numpy(np.float64), most)
        visible[-1] = True
        if peak:
            visible[int(np.argmax(np.abs(frame[peak].to_numpy(np.float64))))] = True
        reduced[name] = frame[visible].round(dict.fromkeys(columns, 4)).reset_index(drop=True)
    return reduced


def _find_visible_points(points: FloatArray, most: int) -> npt.NDArray[np.bool_]:
    """Find the first point in each cell of a grid. The grid is made coarser until at most `most` points remain."""
    span = np.ptp(points, axis=0)
    positions = (points - points[0]) / np.where(span > 0, span, 1)
    grid = 400.0
    while True:
        visible = np.append(True, (np.diff(np.round(positions * grid), axis=0) != 0).any(axis=1))
        if visible.sum() <= most or grid < 10:
            return visible
        grid *= 0.8
