"""Scores: mean scores of a study, or measures of a judgement, with intervals."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairtrial._findings import Finding
from fairtrial._narrative import render, render_all, render_size
from fairtrial._text import capitalize, format_interval, format_percentage, join_names
from fairtrial.errors import InputError
from fairtrial.measures import get_measure
from fairtrial.predictions.judgement import rank_by_rows
from fairtrial.predictions.statistics import JudgeSettings
from fairtrial.predictions.tables import find_unequal_rows
from fairtrial.report.figures.forest import describe_rows, draw_forest
from fairtrial.report.judgement import (
    LEVEL,
    MAX_ROWS,
    MEASURES_KEY,
    build_measures_frame,
    get_direction,
    get_fact,
    list_datasets,
    list_models,
    list_tested_measures,
    select_largest_datasets,
)
from fairtrial.report.means import average_by_dataset, average_over_datasets, compute_scores, format_means_key
from fairtrial.report.names import format_condition_phrase, format_measure_name, get_verdict_measure_name
from fairtrial.report.section import Figure, Number, ReportTable, Section, Sentence, build_sentence, format_number, section
from fairtrial.report.sections.verdict import MAX_DRAWN, format_means_alt
from fairtrial.report.selection import get_main_condition, make_unique_keys, map_unique_keys
from fairtrial.study.results.selection import format_condition, get_declared_splitters

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.predictions.judgement import Judgement
    from fairtrial.report.source import ReportSource
    from fairtrial.study import Results
    from fairtrial.study.archive import ConditionFacts

_FOUR = "{:.4f}"
_BEHIND = "difference from the best"
_FORMATS = {"level": "{:g}", "mean": _FOUR, "low": _FOUR, "high": _FOUR, _BEHIND: _FOUR}
_MAX_ALTERNATIVES = 24  # with more measures and conditions, only the main condition is drawn
_MAX_COLOURS = 8  # with more models, figures of several data sets show only the first models
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


@section("scores", title="Scores", order=30, serves=("study",), question="size")
def build_section(source: ReportSource) -> Section:
    """Report means with intervals of each declared measure under each condition, overall and for each data set."""
    results = source.get_results()
    scores, findings = compute_scores(results, results.measures)
    dataset_means = average_by_dataset(results, scores)
    means = average_over_datasets(results, dataset_means)
    absent = [name for name in results.measures if not means.loc[means["measure"] == name, "mean"].notna().any()]
    present = [name for name in dict.fromkeys(results.measures) if name not in absent]
    keys = map_unique_keys(results.measures)
    verdict_measure = get_verdict_measure_name(results)
    present.sort(key=lambda name: name != verdict_measure)
    frames = {name: build_measure_means(means, name) for name in present}
    subsections = [_build_measure_section(results, frames[name], name, keys[name]) for name in present]
    tables = (_build_long_table(dataset_means),) if len(dataset_means) else ()
    undefined_tables, notes = _tabulate_undefined(findings)
    return Section(
        "scores",
        "Scores",
        (*_describe_study_sizes(results, frames), *_describe_absent_measures(absent)),
        tuple(figure for name in present for figure in _draw_means_figures(results, frames[name], name, keys[name])),
        undefined_tables,
        notes,
        (*subsections, *_wrap_tables(tables), *_build_generalisation_section(results)),
    )


def build_measure_means(means: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Build a frame of the means of one measure, with their differences from the best mean under the same condition."""
    frame = means[means["measure"] == measure].drop(columns="measure").reset_index(drop=True)
    groups, direction = frame.groupby("condition", sort=False, observed=True)["mean"], get_measure(measure).facts.direction
    if direction not in ("max", "min"):
        return frame
    best = groups.transform("max") if direction == "max" else groups.transform("min")
    with np.errstate(invalid="ignore"):
        return frame.assign(**{_BEHIND: (frame["mean"] - best).abs().to_numpy(dtype=np.float64)})


def _describe_study_sizes(results: Results, frames: Mapping[str, pd.DataFrame]) -> tuple[Sentence, ...]:
    """For each measure and condition in the figures, describe how much the best learner differs from other learners."""
    sentences = []
    for measure, frame in frames.items():
        drawn = _list_drawn_conditions(results, frame)
        for condition in results.archive.conditions:
            name = format_condition(condition)
            sentence = _describe_size(results, frame, measure, condition) if name in drawn else None
            if sentence is not None:
                when = {"measure": format_measure_name(measure)} | ({"condition": name} if len(drawn) > 1 else {})
                sentences.append((condition is get_main_condition(results), replace(sentence, when=when)))
    sentences.sort(key=lambda pair: not pair[0])
    return tuple(sentence for _, sentence in sentences)


def _describe_size(results: Results, frame: pd.DataFrame, measure: str, condition: ConditionFacts) -> Sentence | None:
    """Describe the best mean of a measure under a condition, and its differences from the second-best and worst means."""
    if _BEHIND not in frame:
        return None
    key = format_means_key(results, measure)
    is_smaller_better = get_measure(measure).facts.direction == "min"
    lines = frame[(frame["condition"] == format_condition(condition)) & np.isfinite(frame["mean"].to_numpy(dtype=np.float64))]
    lines = lines.sort_values("mean", ascending=is_smaller_better, kind="stable")
    if lines.empty:
        return None
    best, second, last = lines.index[0], lines.index[min(1, len(lines) - 1)], lines.index[-1]
    parts: dict[str, Any] = {"learner": frame.loc[best, "learner"], "measure": format_measure_name(measure)}
    parts["mean"] = format_number(frame, key, best, "mean", "{:.3f}")
    several = len(results.archive.conditions) > 1
    template = ("{where}, the" if several else "The") + " mean {measure} of {learner} is {mean}"
    if np.isfinite(frame.loc[best, ["low", "high"]].to_numpy(dtype=np.float64)).all():
        template += " ({interval} {low} to {high})"
        parts |= {name: format_number(frame, key, best, name, "{:.3f}") for name in ("low", "high")}
        parts["interval"] = "95 % CI"
    relation = "lower" if is_smaller_better else "higher"
    if len(lines) > 1:
        template += f": {{lead}} {relation} than that of {{second}}"
        parts |= {"second": frame.loc[second, "learner"], "lead": _format_lead(frame, key, second)}
    if len(lines) > 2:
        template += f" and {{distance}} {relation} than that of {{last}}"
        parts |= {"last": frame.loc[last, "learner"], "distance": _format_lead(frame, key, last)}
    if several:
        parts["where"] = capitalize(format_condition_phrase(condition))
    return build_sentence(f"{template}.", **parts)


def _format_lead(frame: pd.DataFrame, key: str, line: Any) -> Number:
    """Format the difference between a mean and the best mean, without a sign."""
    return format_number(frame, key, line, _BEHIND, "{:.3g}")


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


def _build_measure_section(results: Results, frame: pd.DataFrame, measure: str, key: str) -> Section:
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
    return Section(f"scores-{key}", measure_text, (sentence,), (), (table,), when={"measure": measure_text})


def _format_means_note(results: Results, frame: pd.DataFrame) -> str:
    several = len(results.archive.datasets) > 1
    notes = [_STUDENT if several else _SINGLE if frame["low"].isna().all() else _CORRECTED]
    if (frame["data sets"] < len(results.archive.datasets)).any():
        notes.append(_MISSING)
    return " ".join(notes)


def _list_drawn_conditions(results: Results, frame: pd.DataFrame) -> list[str]:
    """List the conditions to draw: all conditions or, if there would be too many figures, only the main condition."""
    conditions = list(dict.fromkeys(frame["condition"]))
    is_many = len(conditions) * len(results.measures) > _MAX_ALTERNATIVES
    return [format_condition(get_main_condition(results))] if is_many else conditions


def _draw_means_figures(results: Results, frame: pd.DataFrame, measure: str, key: str) -> tuple[Figure, ...]:
    """Draw the means of a measure under each condition that `_list_drawn_conditions` lists."""
    conditions = _list_drawn_conditions(results, frame)
    keys = map_unique_keys(conditions)
    figures = [
        draw_condition_means(frame, measure, condition, f"scores-intervals-{key}-{keys[condition]}") for condition in conditions
    ]
    when = {"measure": format_measure_name(measure)}
    return tuple(
        replace(figure, lead=True, when=figure.when if len(conditions) > 1 else when)
        for figure in figures
        if figure is not None
    )


def draw_condition_means(
    frame: pd.DataFrame, measure: str, condition: str, key: str, *, domain: tuple[float, float] | None = None, step: int = 36
) -> Figure | None:
    """Draw the mean of each learner under a condition, best first. Return None if no mean is defined."""
    name, direction, limits = (
        format_measure_name(measure),
        get_measure(measure).facts.direction,
        get_measure(measure).facts.range,
    )
    lines = frame[(frame["condition"] == condition) & np.isfinite(frame["mean"].to_numpy(dtype=np.float64))]
    if lines.empty:
        return None
    lines = lines.sort_values("mean", ascending=direction == "min", kind="stable")
    drawn = lines.assign(label=lines["learner"].astype(str), learner=lines["learner"].astype(str), estimate=lines["mean"])
    drawn = drawn[["label", "learner", "estimate", "low", "high"]].head(MAX_DRAWN).reset_index(drop=True)
    subtitle = "95 % t intervals" if drawn["low"].notna().any() else "No intervals"
    subtitle += "" if len(drawn) == len(lines) else f"; the best {len(drawn)} of {len(lines)} learners"
    title = f"Mean {name}" + ("" if frame["condition"].nunique() == 1 else f", {condition}")
    chart = draw_forest(
        drawn, title=title, subtitle=subtitle, step=max(18, min(step, 220 // len(drawn))), domain=domain, limits=limits
    )
    when = {"measure": name, "condition": condition}
    return Figure(key, title, chart, format_means_alt(drawn, name, direction), drawn, size="wide", when=when)


def _build_long_table(dataset_means: pd.DataFrame) -> ReportTable:
    """Build the tidy table of the means from `average_by_dataset`."""
    frame = dataset_means.rename(columns={"dataset": "data set"}).reset_index(drop=True)
    names = frame.columns[frame.dtypes == "category"]
    frame = frame.astype(dict.fromkeys(names, object))
    frame["measure"] = frame["measure"].map(format_measure_name)
    return ReportTable("scores-all", "All means", frame, _FORMATS, _LONG_NOTE, None, True)


def _wrap_tables(tables: tuple[ReportTable, ...]) -> tuple[Section, ...]:
    return (Section("scores-each", "By data set, condition and learner", (), (), tables),) if tables else ()


def _build_generalisation_section(results: Results) -> tuple[Section, ...]:
    """Show intervals of the generalization error for the schemes nested-cv and conservative-z.

    For other schemes, the tables of the means contain the intervals.
    """
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
        return (Section("scores-generalisation", "Generalization error", (), (), (), tuple(notes)),)
    frame = pd.concat(tables, ignore_index=True).rename(columns={"dataset": "data set", "standard_error": "standard error"})
    frame = frame[["measure", "condition", *(name for name in frame.columns if name not in ("measure", "condition"))]]
    frame = frame if frame["note"].any() else frame.drop(columns="note")
    formats = {"estimate": _FOUR, "low": _FOUR, "high": _FOUR, "standard error": _FOUR}
    sentence = build_sentence(
        "Intervals by {method}. They apply to models trained on rows from the same distribution, not to other data sets.",
        method=str(frame["method"].iloc[0]),
    )
    table = ReportTable("scores-generalisation", "Intervals of the generalization error", frame, formats, _RANGE, None, True)
    return (Section("scores-generalisation", "Generalization error", (sentence,), (), (table,), tuple(notes)),)


@section("measures", title="Measures", order=30, serves=("judgement",), question="size")
def build_judgement_section(source: ReportSource) -> Section:
    """Show the measures of each model, with intervals, as figures and tables.

    A selection menu of the page determines which measure is visible.
    """
    judgement = source.get_judgement()
    several = len(list_datasets(judgement)) > 1
    tables = (_build_main_table(judgement),) if several else _build_wide_tables(judgement)
    frame = build_measures_frame(judgement)
    formats = dict.fromkeys(["estimate", "low", "high"], _FOUR) | {"chance": "{:g}", "rows": "{:,}"}
    note = f"Chance: the expected value under random guessing, if known.{_note_fewer_rows(judgement)}"
    everything = ReportTable(MEASURES_KEY, "All measures with intervals", frame, formats, note, None, True)
    sentences = (*_describe_sizes(judgement), *_describe_measures(judgement))
    return Section("measures", "Measures", sentences, _draw_measure_figures(judgement), (*tables, everything))


def _describe_sizes(judgement: Judgement) -> tuple[Sentence, ...]:
    """Describe the best value of each measure and its differences from the other values.

    A selection menu of the page determines which sentence is visible.
    """
    several = len(list_datasets(judgement)) > 1
    if not several and len(list_models(judgement)) == 1 and _list_shared_scale(judgement):
        return (Sentence(render_size(judgement.findings[0])),)
    describe = _describe_best_by_dataset if several else _describe_best
    return tuple(
        Sentence(describe(judgement, measure), when={"measure": format_measure_name(measure)})
        for measure in list_drawn_measures(judgement)
    )


def _describe_best(judgement: Judgement, measure: str) -> str:
    """Describe the best value of a measure and its tested differences from the other values.

    If the measure was not tested, describe its extreme values.
    """
    if measure == judgement.main:
        return render_size(judgement.findings[0])
    name, has_direction = format_measure_name(measure), get_measure(measure).facts.has_direction
    if has_direction and measure in list_tested_measures(judgement):
        tests = judgement.tests[judgement.tests["measure"] == measure].assign(outcome="")
        settings = JudgeSettings(judgement.level, alpha=judgement.alpha)
        return render_size(rank_by_rows(judgement.scores, tests, {}, get_measure(measure), settings)[0])
    lines = _select_finite_scores(judgement.scores)
    lines = lines[lines["measure"] == measure].sort_values("estimate", kind="stable")
    lines = _order_by_value(lines, measure) if has_direction else lines
    first, last = lines.iloc[0], lines.iloc[-1]
    interval = "" if np.isnan(first["low"]) else f", {format_interval(first['low'], first['high'], judgement.level)}"
    values: dict[str, Any] = {"measure": name, "first": str(first["model"]), "last": str(last["model"]), "interval": interval}
    values |= {"low": float(first["estimate"]), "high": float(last["estimate"])}
    if len(lines) == 1:
        return render(Finding.of("measure_single", **values))
    return render(Finding.of("measure_best" if has_direction else "measure_range", **values))


def _describe_best_by_dataset(judgement: Judgement, measure: str) -> str:
    """Describe the range of the best values over data sets, or of all values if the measure has no direction."""
    lines, has_direction = _select_finite_scores(judgement.scores), get_measure(measure).facts.has_direction
    lines = lines[lines["measure"] == measure]
    if has_direction:
        lines = _order_by_value(lines, measure).drop_duplicates("dataset")
    lines = lines.sort_values("estimate", kind="stable")
    low, high = lines.iloc[0], lines.iloc[-1]
    values: dict[str, Any] = {"measure": format_measure_name(measure)}
    values |= {"low": float(low["estimate"]), "high": float(high["estimate"])}
    values |= {"first": str(low["model"]), "last": str(high["model"])}
    values |= {"where": f"on {low['dataset']}", "there": f"on {high['dataset']}"}
    return render(Finding.of("best_by_dataset", **values, best="best " if has_direction else ""))


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
    """Build one table of measures by model for each direction, so the best values can be marked."""
    if len(list_models(judgement)) == 1:
        return ()
    tables = []
    for direction, word in (("max", "larger"), ("min", "smaller")):
        subset = judgement.scores[[get_direction(name) == direction for name in judgement.scores["measure"]]]
        if len(subset):
            wide = _to_wide(subset, "measure", list_models(judgement)).rename(index=format_measure_name)
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


def _draw_measure_figures(judgement: Judgement) -> tuple[Figure, ...]:
    """Draw the selected measure as a large figure and, for one data set, all measures as small multiples."""
    datasets, measures = list_datasets(judgement), list_drawn_measures(judgement)
    keys = dict(zip(measures, make_unique_keys(measures), strict=True))
    if len(datasets) > 1:
        return tuple(_draw_measure_by_dataset(judgement, name, key) for name, key in keys.items())
    shared = _list_shared_scale(judgement) if len(list_models(judgement)) == 1 else []
    figures = [draw_single_model(judgement, "measures-intervals", len(measures))] if shared else []
    for name, key in keys.items():
        when = {"measure": format_measure_name(name)}
        if not shared:
            figures.append(draw_models(judgement, name, f"measures-intervals-{key}", size="wide", lead=True, when=when))
    small = [name for name in measures if name not in shared][:MAX_ROWS]
    figures += [draw_models(judgement, name, f"measures-small-{keys[name]}", size="small") for name in small]
    return tuple(figure for figure in figures if figure is not None)


def _list_shared_scale(judgement: Judgement) -> list[str]:
    """List the measures that can share an axis: larger is better, and the maximum is 1. The main measure comes first."""
    names = list_drawn_measures(judgement)
    return [name for name in names if get_direction(name) == "max" and get_measure(name).facts.range in ((0, 1), (-1, 1))]


def list_drawn_measures(judgement: Judgement) -> list[str]:
    """List the measures with finite values, the main measure first."""
    names = list(dict.fromkeys(map(str, _select_finite_scores(judgement.scores)["measure"])))
    return sorted(names, key=lambda name: name != judgement.main)


def draw_models(
    judgement: Judgement,
    measure: str,
    key: str,
    *,
    dataset: str | None = None,
    size: Literal["wide", "half", "small"] = "half",
    lead: bool = False,
    when: Mapping[str, str] | None = None,
    shaded: Collection[str] = (),
) -> Figure | None:
    """Draw a measure of each model on a data set, best first. Shaded models are not significantly worse than the best."""
    finite = _select_finite_scores(judgement.scores)
    lines = finite[(finite["measure"] == measure) & (finite["dataset"] == (dataset or list_datasets(judgement)[0]))]
    if lines.empty:
        return None
    lines, facts, name = _order_by_value(lines, measure), get_measure(measure).facts, format_measure_name(measure)
    drawn = lines.head(MAX_ROWS)
    frame = drawn.rename(columns={"model": "label"})[["label", "estimate", "low", "high"]].reset_index(drop=True)
    frame = frame.assign(learner=frame["label"], **({"shaded": frame["label"].isin(list(shaded))} if shaded else {}))
    direction = {"max": "", "none": ""}.get(facts.direction, f"{facts.better} is better")
    notes = [
        f"{format_percentage(judgement.level)} CI" if frame["low"].notna().any() else "no intervals",
        "shaded: not significantly worse than the best" if shaded else direction,
        "" if len(drawn) == len(lines) else f"the {len(drawn)} best of {len(lines)} models",
    ]
    chart = draw_forest(
        frame,
        title=capitalize(name),
        subtitle="; ".join(filter(None, notes)),
        limits=facts.range,
        step=_choose_step(len(frame), size),
        ticks=3 if size == "small" else 5,
    )
    where = f" on {dataset}" if dataset and len(list_datasets(judgement)) > 1 else ""
    alt = f"{capitalize(name)}{where}, best first: {describe_rows(frame)}."
    return Figure(key, capitalize(name) + where, chart, alt, frame, lead, size, when or {})


def _order_by_value(lines: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Sort the values of a measure, best first."""
    facts = get_measure(measure).facts
    values = lines["estimate"].to_numpy(dtype=np.float64)
    distance = np.abs(values - facts.target) if facts.target is not None else values if facts.direction == "min" else -values
    return lines.iloc[np.argsort(distance, kind="stable")]


def _choose_step(rows: int, size: str) -> int:
    return 16 if size == "small" else 34 if rows <= 4 else 26 if rows <= 8 else 21


def draw_single_model(judgement: Judgement, key: str, maximum: int = MAX_ROWS) -> Figure | None:
    """Draw the measures of one model that can share an axis, the main measure first."""
    finite, shared = _select_finite_scores(judgement.scores), _list_shared_scale(judgement)
    lines = finite[finite["measure"].isin(shared[:maximum])]
    if lines.empty:
        return draw_models(judgement, judgement.main, key, size="wide")
    lines = lines.assign(position=[shared.index(str(name)) for name in lines["measure"]]).sort_values("position")
    frame = lines.assign(label=[format_measure_name(str(name)) for name in lines["measure"]])
    frame = frame.rename(columns={"model": "learner"})[["label", "learner", "estimate", "low", "high"]].reset_index(drop=True)
    model = str(frame["learner"].iloc[0])
    subtitle = f"{format_percentage(judgement.level)} CI" if frame["low"].notna().any() else "no intervals"
    title = f"Measures of {model}"
    chart = draw_forest(frame, title=title, subtitle=subtitle, limits=(-1, 1), step=_choose_step(len(frame), "wide"))
    return Figure(key, title, chart, f"{title}: {describe_rows(frame)}.", frame, True, "wide")


def _draw_measure_by_dataset(judgement: Judgement, measure: str, key: str) -> Figure:
    """Draw a measure of each model on the data sets with the most rows."""
    finite, chosen = _select_finite_scores(judgement.scores), select_largest_datasets(judgement)
    lines = finite[(finite["measure"] == measure) & finite["dataset"].isin(chosen)]
    models = list_models(judgement)[:_MAX_COLOURS]
    lines = lines[lines["model"].isin(models)]
    frame = lines.rename(columns={"dataset": "label", "model": "learner"})
    frame = frame[["label", "learner", "estimate", "low", "high"]].reset_index(drop=True)
    name = format_measure_name(measure)
    title = f"{capitalize(name)} on each data set"
    notes = [f"{format_percentage(judgement.level)} CI" if frame["low"].notna().any() else "no intervals"]
    notes += [] if len(chosen) == len(list_datasets(judgement)) else [f"the {len(chosen)} data sets with the most rows"]
    notes += [] if len(models) == len(list_models(judgement)) else [f"the first {len(models)} models; the table has all"]
    chart = draw_forest(frame, title=title, subtitle="; ".join(notes), limits=get_measure(measure).facts.range, step=15)
    best = _order_by_value(lines, measure).drop_duplicates("dataset").set_index("dataset")["model"]
    winners = [f"{best[dataset]} on {dataset}" for dataset in chosen if dataset in best.index]
    alt = f"{title}. Best: {join_names(winners, None)}."
    return Figure(f"measures-intervals-{key}", title, chart, alt, frame, True, "wide", {"measure": name})


def _select_finite_scores(scores: pd.DataFrame) -> pd.DataFrame:
    finite: pd.DataFrame = scores[np.isfinite(scores["estimate"].to_numpy(dtype=np.float64))]
    return finite
