"""Scores: means of the measures of a study, and measures of judged models, with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from fairtrial._findings import Finding
from fairtrial._narrative import render, render_all
from fairtrial._text import join_names
from fairtrial.errors import InputError
from fairtrial.measures import get_measure
from fairtrial.predictions.tables import find_unequal_rows
from fairtrial.report.figures.curves import draw_intervals
from fairtrial.report.judgement import (
    LEVEL,
    MEASURES_KEY,
    build_measures_frame,
    get_direction,
    get_fact,
    list_datasets,
    list_models,
    select_largest_datasets,
)
from fairtrial.report.means import average_by_dataset, average_over_datasets, compute_scores, format_means_key
from fairtrial.report.names import format_measure_name
from fairtrial.report.section import Figure, ReportTable, Section, Sentence, build_sentence, section
from fairtrial.report.selection import make_unique_keys, map_unique_keys
from fairtrial.study.results.selection import format_condition, get_declared_splitters

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.predictions.judgement import Judgement
    from fairtrial.report.source import ReportSource
    from fairtrial.study import Results

_FOUR = "{:.4f}"
_FORMATS = {"level": "{:g}", "mean": _FOUR, "low": _FOUR, "high": _FOUR}
_MOST_COLOURS = 7  # with more learners, only one condition is drawn, because colours would not be distinguishable
_MAX_COLOURS = 8  # with more models, only the main measure is drawn
_STUDENT = "Mean over data sets with 95 % t intervals, truncated to the measure's range."
_CORRECTED = (
    "Mean over the splits of one data set with 95 % intervals, corrected for the overlap of training sets (Nadeau-Bengio) and "
    "truncated to the measure's range. These intervals do not generalize to other data sets."
)
_SINGLE = "A single split has no interval."
_MISSING = "A mean leaves out data sets on which a trial failed or the measure is undefined: compare such means with caution."
_RANGE = "95 % intervals, truncated to the measure's range."
_LONG_NOTE = (
    "Mean over splits with 95 % intervals for each data set, corrected for the overlap of training sets (Nadeau-Bengio). A "
    "mean "
    "is missing if a trial failed."
)


@section("scores", title="Scores", order=30, serves=("study",))
def build_section(source: ReportSource) -> Section:
    """Report means and intervals of each declared measure under each condition, then for each data set."""
    results = source.get_results()
    scores, findings = compute_scores(results, results.measures)
    dataset_means = average_by_dataset(results, scores)
    means = average_over_datasets(results, dataset_means)
    absent = [name for name in results.measures if not means.loc[means["measure"] == name, "mean"].notna().any()]
    present = [name for name in dict.fromkeys(results.measures) if name not in absent]
    keys = map_unique_keys(results.measures)
    subsections = [_build_measure_section(results, means[means["measure"] == name], name, keys[name]) for name in present]
    tables = (_build_long_table(dataset_means),) if len(dataset_means) else ()
    undefined_tables, notes = _tabulate_undefined(findings)
    return Section(
        "scores",
        "Scores",
        _describe_absent_measures(absent),
        (),
        undefined_tables,
        notes,
        (*subsections, *_wrap_tables(tables), *_build_generalisation_section(results)),
    )


def _tabulate_undefined(findings: Iterable[Finding]) -> tuple[tuple[ReportTable, ...], tuple[str, ...]]:
    """Tabulate measures that have no value in some trials, and render the other findings as text."""
    import pandas as pd

    undefined = [finding for finding in findings if finding.kind == "undefined_scores"]
    others = render_all(finding for finding in findings if finding.kind != "undefined_scores")
    lines = [
        (format_measure_name(finding["measure"]), finding["undefined"], finding["trials"], join_names(finding["causes"]))
        for finding in undefined
    ]
    frame = pd.DataFrame(lines, columns=["measure", "undefined", "trials", "number and cause"])
    title = "Measures that are undefined in some trials"
    return (ReportTable("scores-undefined", title, frame),) * bool(lines), others


def _describe_absent_measures(absent: Iterable[str]) -> tuple[Sentence, ...]:
    return tuple(build_sentence("{measure} has no value in any trial.", measure=format_measure_name(name)) for name in absent)


def _build_measure_section(results: Results, means: pd.DataFrame, measure: str, key: str) -> Section:
    frame = means.drop(columns="measure").reset_index(drop=True)
    measure_text, better = format_measure_name(measure), get_measure(measure).facts.direction
    sentence = build_sentence(
        "{summary}. {size} values are better.",
        summary=get_measure(measure).facts.summary.rstrip("."),
        size="Larger" if better == "max" else "Smaller",
    )
    table = ReportTable(
        format_means_key(results, measure),
        f"Means: {measure_text}",
        frame,
        _FORMATS,
        _format_means_note(results, frame),
        None,
        True,
    )
    return Section(f"scores-{key}", measure_text, (sentence,), _draw_means_figures(frame, measure_text, key), (table,))


def _format_means_note(results: Results, frame: pd.DataFrame) -> str:
    several = len(results.archive.datasets) > 1
    notes = [_STUDENT if several else _SINGLE if frame["low"].isna().all() else _CORRECTED]
    if (frame["data sets"] < len(results.archive.datasets)).any():
        notes.append(_MISSING)
    return " ".join(notes)


def _draw_means_figures(frame: pd.DataFrame, measure_text: str, key: str) -> tuple[Figure, ...]:
    defined = frame[np.isfinite(frame["mean"].to_numpy(dtype=np.float64))]
    if defined["learner"].nunique() > _MOST_COLOURS:
        defined = defined[defined["condition"] == defined["condition"].iloc[0]]
    if defined["low"].isna().all():
        return ()
    several = defined["condition"].nunique() > 1
    lines = defined.rename(columns={"mean": "estimate", "condition" if several else "learner": "measure"})
    drawn_lines = lines[["measure", *(["learner"] if several else []), "estimate", "low", "high"]]
    only = "" if several or frame["condition"].nunique() == 1 else f" under {defined['condition'].iloc[0]}"
    title = f"Mean {measure_text} with 95 % CI{only}"
    line_noun = "condition and learner" if several else f"learner{only}"
    alt = f"Mean {measure_text} of each {line_noun} with intervals. The table below has the same numbers."
    heading, chart = f"Means and intervals{only}: {measure_text}", draw_intervals(drawn_lines, title=title)
    return (Figure(f"scores-intervals-{key}", heading, chart, alt, defined),)


def _build_long_table(dataset_means: pd.DataFrame) -> ReportTable:
    """Build the tidy table of the means from `average_by_dataset`."""
    frame = dataset_means.rename(columns={"dataset": "data set"}).reset_index(drop=True)
    names = frame.columns[frame.dtypes == "category"]
    frame = frame.astype(dict.fromkeys(names, object))
    return ReportTable("scores-all", "All means", frame, _FORMATS, _LONG_NOTE, None, True)


def _wrap_tables(tables: tuple[ReportTable, ...]) -> tuple[Section, ...]:
    return (Section("scores-each", "By data set, condition and learner", (), (), tables),) if tables else ()


def _build_generalisation_section(results: Results) -> tuple[Section, ...]:
    """Show the intervals that the schemes nested-cv and conservative-z serve. Other schemes have them in the means."""
    import pandas as pd

    if not get_declared_splitters(results.archive):
        return ()
    tables, notes = [], []
    for measure in results.measures:
        for condition in results.archive.conditions:
            try:
                lines = results.generalisation(measure, condition=condition.name, level=condition.level)
            except InputError as error:
                notes.append(render(Finding.of("measure_unavailable", measure=measure, error=str(error))))
                break
            tables.append(lines.assign(measure=format_measure_name(measure), condition=format_condition(condition)))
    if not tables:
        return (Section("scores-generalisation", "Generalisation error", (), (), (), tuple(notes)),)
    frame = pd.concat(tables, ignore_index=True).rename(columns={"dataset": "data set", "standard_error": "standard error"})
    frame = frame[["measure", "condition", *(name for name in frame.columns if name not in ("measure", "condition"))]]
    frame = frame if frame["note"].any() else frame.drop(columns="note")
    formats = {"estimate": _FOUR, "low": _FOUR, "high": _FOUR, "standard error": _FOUR}
    sentence = build_sentence(
        "Intervals by {method}. They apply to models trained on rows of the same distribution, not to other data sets.",
        method=str(frame["method"].iloc[0]),
    )
    table = ReportTable("scores-generalisation", "Intervals of the generalisation error", frame, formats, _RANGE, None, True)
    return (Section("scores-generalisation", "Generalisation error", (sentence,), (), (table,), tuple(notes)),)


@section("measures", title="Measures", order=30, serves=("judgement",))
def build_judgement_section(source: ReportSource) -> Section:
    """Show the measures of each model, with intervals, as figures and tables."""
    judgement = source.get_judgement()
    several = len(list_datasets(judgement)) > 1
    tables = (_build_main_table(judgement),) if several else _build_wide_tables(judgement)
    figures = _draw_main_by_dataset(judgement) if several else _draw_dataset_figures(judgement)
    frame = build_measures_frame(judgement)
    formats = dict.fromkeys(["estimate", "low", "high"], _FOUR) | {"chance": "{:g}", "rows": "{:,}"}
    note = f"Chance: the value of random guessing, if it is known.{_note_fewer_rows(judgement)}"
    everything = ReportTable(MEASURES_KEY, "All measures with intervals", frame, formats, note, None, True)
    return Section("measures", "Measures", _describe_measures(judgement), figures, (*tables, everything))


def _note_fewer_rows(judgement: Judgement) -> str:
    """Note which models are scored on fewer rows than others."""
    parts = []
    for name, rows in find_unequal_rows(judgement.scores).items():
        fewer = [model for model, count in rows.items() if count < max(rows.values())]
        parts.append(join_names(fewer) + (f" on {name}" if len(list_datasets(judgement)) > 1 else ""))
    return f" Scored on fewer rows than other models: {'; '.join(parts)} (see the column 'rows')." if parts else ""


def _describe_measures(judgement: Judgement) -> tuple[Sentence, ...]:
    main = get_measure(judgement.main)
    main_sentence = build_sentence(
        "The main measure is {measure}. {summary}. {size} values are better.",
        measure=format_measure_name(main.name),
        summary=main.facts.summary.rstrip("."),
        size="Larger" if main.facts.direction == "max" else "Smaller",
    )
    if not judgement.scores["low"].notna().any():
        return (main_sentence, build_sentence("No measure has an interval; the table gives the reasons."))
    limits = build_sentence(
        "Intervals have a confidence level of {level} %; the table names the method.", level=get_fact(judgement, LEVEL)
    )
    absent = [build_sentence("If a model has no value, the table gives the reason.")] * bool(
        judgement.scores["estimate"].isna().any()
    )
    return (main_sentence, limits, *absent, *_describe_infinite(judgement))


def _describe_infinite(judgement: Judgement) -> Iterator[Sentence]:
    """Describe infinite values, which no figure can show."""
    infinite = judgement.scores[np.isinf(judgement.scores["estimate"].to_numpy(dtype=np.float64))]
    for name, subset in infinite.groupby("measure", sort=False):
        models = join_names(list(dict.fromkeys(map(str, subset["model"]))))
        why = " because a true class has a predicted probability of zero" if name == "log_loss" else ""
        yield build_sentence(
            "{measure} of {models} is infinite{why}.", measure=format_measure_name(str(name)), models=models, why=why
        )


def _build_wide_tables(judgement: Judgement) -> tuple[ReportTable, ...]:
    """Build tables of measures by model, one for each direction, so the best values can be marked."""
    if len(list_models(judgement)) == 1:
        return ()
    tables = []
    for direction, word in (("max", "larger"), ("min", "smaller")):
        subset = judgement.scores[[get_direction(name) == direction for name in judgement.scores["measure"]]]
        if len(subset):
            wide = _to_wide(subset, "measure", list_models(judgement))
            formats = dict.fromkeys(wide.columns, _FOUR)
            title = f"Measures for which {word} values are better"
            tables.append(ReportTable(f"measures-{word}", title, wide, formats, _note_fewer_rows(judgement).strip(), direction))
    return tuple(tables)


def _build_main_table(judgement: Judgement) -> ReportTable:
    """Build the table of the main measure by data set and model."""
    main_scores = judgement.scores[judgement.scores["measure"] == judgement.main]
    wide = _to_wide(main_scores, "dataset", list_models(judgement)).rename_axis(index="data set")
    title, long = f"{format_measure_name(judgement.main)} by data set", len(wide) > 12
    formats, note = dict.fromkeys(wide.columns, _FOUR), _note_fewer_rows(judgement).strip()
    return ReportTable("measures-main", title, wide, formats, note, get_direction(judgement.main), long)


def _to_wide(lines: pd.DataFrame, index: str, models: list[str]) -> pd.DataFrame:
    wide = lines.set_index([index, "model"])["estimate"].unstack("model")
    order = list(dict.fromkeys(lines[index]))
    return wide.reindex(index=order, columns=models).rename_axis(columns=None)


def _draw_dataset_figures(judgement: Judgement) -> tuple[Figure, ...]:
    """Draw one figure of all measures that share a scale on which larger is better, and one figure for each other measure."""
    finite = _select_finite_scores(judgement.scores)
    names = list(dict.fromkeys(finite["measure"]))
    if len(list_models(judgement)) > _MAX_COLOURS:
        names = [name for name in names if name == judgement.main]
    shared_scale = [
        name for name in names if get_direction(name) == "max" and get_measure(name).facts.range in ((0, 1), (-1, 1))
    ]
    panels = [shared_scale, *([name] for name in names if name not in shared_scale)]
    return tuple(_draw_forest(finite, panel, list_models(judgement)) for panel in panels if panel)


def _draw_forest(lines: pd.DataFrame, names: list[str], models: list[str]) -> Figure:
    subset = lines[lines["measure"].isin(names)]
    is_single = len(names) == 1
    measure_text = format_measure_name(names[0]) if is_single else "measures for which larger values are better"
    frame = subset.assign(measure=subset["model"] if is_single else [format_measure_name(name) for name in subset["measure"]])
    frame = frame.rename(columns={"model": "learner"})[["measure", "learner", "estimate", "low", "high"]]
    drawn = frame.drop(columns="learner") if is_single or len(models) == 1 else frame
    key = f"measures-intervals-{make_unique_keys(names)[0]}" if is_single else "measures-intervals"
    title = f"Intervals: {measure_text}"
    alt = f"Estimates and intervals of {measure_text} for each model. The tables below have the same numbers."
    return Figure(key, title, draw_intervals(drawn.reset_index(drop=True), title=title), alt, frame)


def _draw_main_by_dataset(judgement: Judgement) -> tuple[Figure, ...]:
    """Draw the main measure on the data sets with the most rows."""
    finite, chosen = _select_finite_scores(judgement.scores), select_largest_datasets(judgement)
    finite = finite[(finite["measure"] == judgement.main) & finite["dataset"].isin(chosen)]
    if finite.empty or len(list_models(judgement)) > _MAX_COLOURS:
        return ()
    frame = finite.drop(columns="measure").rename(columns={"dataset": "measure", "model": "learner"})
    frame = frame[["measure", "learner", "estimate", "low", "high"]].reset_index(drop=True)
    measure_text = format_measure_name(judgement.main)
    few = "" if len(chosen) == len(list_datasets(judgement)) else ", the data sets with the most rows"
    title = f"Intervals: {measure_text} on each data set{few}"
    alt = f"Estimates and intervals of {measure_text} for each data set and model. The tables below have the same numbers."
    return (Figure("measures-intervals", title, draw_intervals(frame, title=title), alt, frame),)


def _select_finite_scores(scores: pd.DataFrame) -> pd.DataFrame:
    finite: pd.DataFrame = scores[np.isfinite(scores["estimate"].to_numpy(dtype=np.float64))]
    return finite
