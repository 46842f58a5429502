"""Robustness to noise: accuracy and its losses by noise level, for each condition."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._text import capitalize, format_p_value, join_names
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import get_measure
from fairtrial.report.figures.robustness import draw_levels, draw_loss_surface, draw_losses
from fairtrial.report.means import compute_level_means
from fairtrial.report.names import find_best_names, format_measure_name, get_verdict_measure_name
from fairtrial.report.section import Figure, ReportTable, Section, Sentence, build_sentence, format_number, section
from fairtrial.report.sections.scores import draw_condition_means
from fairtrial.report.sections.verdict import MAX_DRAWN, VerdictContext
from fairtrial.report.selection import get_main_condition, list_changed_conditions, map_unique_keys, with_levels
from fairtrial.study.archive import ConditionFacts
from fairtrial.study.results.selection import CLEAN, format_condition

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.report.source import ReportSource
    from fairtrial.significance.verdict import Verdict
    from fairtrial.study import Results

SHIFTS = ("class-proportion", "concept-change", "covariate-shift", "prior-shift", "selection-bias")
"""Conditions that are shifts, not noise."""

_NAMES = {
    "dataset": "data set",
    "clean": "accuracy without noise",
    "noisy": "accuracy with noise",
    "rla": "RLA",
    "rla_low": "RLA low",
    "rla_high": "RLA high",
    "ela": "ELA",
    "ela_low": "ELA low",
    "ela_high": "ELA high",
    "datasets": "data sets",
}
_FORMATS = {"level": "{:g}", **dict.fromkeys([name for key, name in _NAMES.items() if key[-4:] != "sets"], "{:.3f}")}
_MEAN_FORMATS = dict.fromkeys(("mean", "low", "high"), "{:.4f}") | {"change": "{:+.4f}"}
_MEAN_NOTE = "Change: difference from the mean without noise, over the same data sets."
_DIGITS = 3  # means that agree to this many decimal places share the best mean
_MAX_ALTERNATIVES = 24  # with more measures and conditions, there is no slider
_NOTE = (
    "The relative loss of accuracy (RLA) is the proportion of its accuracy that a learner loses. The equalized loss of "
    "accuracy "
    "(ELA) also accounts for the accuracy without noise (Sáez, Luengo & Herrera 2016). For both, smaller is better."
)
_FEWER = (
    "Means are over the data sets on which every learner has a value with and without noise; the column 'data sets' counts "
    "them. "
    "Means in the section 'Scores' are over all data sets of each learner and condition."
)


@section("robustness", title="Robustness to noise", order=110, serves=("study",), question="conditions")
def build_section(source: ReportSource) -> Section | None:
    """Build a subsection for each kind of noise in the training set.

    Return None if there is no noise, or no clean condition for comparison.
    """
    results = source.get_results()
    all_conditions = results.archive.conditions
    noises = list_changed_conditions(results, test_only=False)
    conditions = {
        name: levels for name, levels in noises.items() if not any(_is_shift(condition, all_conditions) for condition in levels)
    }
    if not conditions or get_main_condition(results).name != CLEAN:
        return None
    keys = map_unique_keys(conditions)
    subsections = [
        subsection
        for name, levels in conditions.items()
        if (subsection := _build_condition_section(results, name, levels, keys[name])) is not None
    ]
    if not subsections:
        return None
    families = [
        family
        for name, levels in conditions.items()
        for measure in _list_measures(results)
        if (family := _compute_level_family(results, name, levels, measure, keys[name])) is not None
    ]
    figures, slider = _draw_level_figures(results, families)
    return Section(
        "robustness",
        "Robustness to noise",
        _describe_changes(results, families, slider),
        figures,
        tuple(family.table for family in families),
        (_NOTE,),
        tuple(subsections),
        slider=slider,
    )


@dataclass(frozen=True, eq=False)
class LevelFamily:
    """The means of a measure without noise and at each level of one kind of noise."""

    name: str
    key: str
    measure: str
    conditions: tuple[ConditionFacts, ...]
    means: pd.DataFrame

    @property
    def table(self) -> ReportTable:
        """The table of the means, with the change from the mean without noise."""
        display_name = format_measure_name(self.measure)
        frame = self.means[["learner", "condition", "mean", "low", "high", "change"]]
        return ReportTable(
            self.key,
            f"Mean {display_name} under {self.name}",
            frame,
            _MEAN_FORMATS,
            _MEAN_NOTE,
            None,
            True,
            {"measure": display_name},
        )


def _list_measures(results: Results) -> list[str]:
    """List the measures of the study. The measure of the verdict comes first."""
    main = get_verdict_measure_name(results)
    return sorted(dict.fromkeys(results.measures), key=lambda name: name != main)


def _compute_level_family(
    results: Results, name: str, levels: list[ConditionFacts], measure: str, key: str
) -> LevelFamily | None:
    """Compute the means at each noise level. Return None if the measure or a noise level is undefined."""
    conditions = (get_main_condition(results), *levels)
    try:
        with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
            means = compute_level_means(results, conditions, measure)
    except InputError:
        return None
    means = with_levels(means, levels)
    means = means[np.isfinite(means["mean"].to_numpy(dtype=np.float64))].reset_index(drop=True)
    if means.empty or means["level"].isna().any() or means["condition"].nunique() < 2:
        return None
    names = {(condition.name, float(condition.level)): format_condition(condition) for condition in conditions}
    labels = [names[str(line.condition), float(line.level)] for line in means.itertuples()]
    clean = means[means["condition"].astype(str) == CLEAN].set_index("learner")["mean"]
    means = means.assign(condition=labels, learner=means["learner"].astype(str))
    means["change"] = means["mean"] - means["learner"].map(clean.rename(index=str)).astype(np.float64)
    measure_key = map_unique_keys(results.measures)[measure]
    return LevelFamily(name, f"robustness-means-{key}-{measure_key}", measure, conditions, means)


def _describe_changes(
    results: Results, families: list[LevelFamily], slider: tuple[str, tuple[str, ...]] | None
) -> tuple[Sentence, ...]:
    """Describe for which learner each measure changes most and least.

    The noise level is the selected level or, if there is no slider, the highest level.
    """
    contexts = VerdictContext.list_alternatives(results)
    verdicts = {
        (context.measure, format_condition(context.condition)): context.verdict for context in contexts if context.condition
    }
    sentences = []
    for measure in dict.fromkeys(family.measure for family in families):
        alike = [family for family in families if family.measure == measure]
        when = {"measure": format_measure_name(measure)}
        if slider is None:
            changes = [_describe_change(family, verdicts=verdicts) for family in alike]
            sentences += [replace(sentence, when=when) for sentence in changes]
            continue
        for label in slider[1]:
            family = next((family for family in alike if label in map(format_condition, family.conditions)), None)
            if family is not None:
                level = next(condition for condition in family.conditions if format_condition(condition) == label)
                sentence = _describe_change(family, level, verdicts)
                sentences.append(replace(sentence, when=when | {"condition": label}))
    return tuple(sentences)


def _describe_change(
    family: LevelFamily, level: ConditionFacts | None = None, verdicts: Mapping[tuple[str, str], Verdict | None] | None = None
) -> Sentence:
    """Describe for which learner a measure changes most and least. By default, use the highest noise level."""
    means, table = family.table.frame, family.key
    sign = 1 if get_measure(family.measure).facts.direction == "max" else -1
    condition = format_condition(family.conditions[-1] if level in (None, family.conditions[0]) else level)
    last = means[(means["condition"] == condition) & means["change"].notna()]
    parts: dict[str, Any] = {"condition": condition, "measure": format_measure_name(family.measure)}
    if last.empty:
        return build_sentence("No learner has a value of {measure} with and without noise.", measure=parts["measure"])
    order = (sign * last["change"]).sort_values(kind="stable").index
    parts |= {"most": last.loc[order[0], "learner"], "loss": format_number(means, table, order[0], "change", "{:+.3f}")}
    if len(last) == 1:
        return build_sentence("Under {condition}, the mean {measure} of {most} changes by {loss}.", **parts)
    parts |= {"least": last.loc[order[-1], "learner"], "gain": format_number(means, table, order[-1], "change", "{:+.3f}")}
    clean = means[means["condition"] == format_condition(family.conditions[0])]
    former, first = (
        find_best_names(lines.set_index("learner")["mean"].round(_DIGITS), get_measure(family.measure).facts.direction)
        for lines in (clean, last)
    )
    template = "Under {condition}, {measure} worsens most for {most} ({loss}) and least for {least} ({gain}); "
    parts["best"] = join_names(first)
    if set(former) & set(first):
        parts["verb"] = "keeps" if len(first) == 1 else "have"
        return build_sentence(template + "{best} {verb} the best mean.", **parts)
    parts |= {"former": join_names(former), "has": "has" if len(first) == 1 else "have"}
    parts["detail"] = _describe_rank_difference((verdicts or {}).get((family.measure, condition)), first[0], former[0])
    return build_sentence(template + "{best} {has} the best mean instead of {former}{detail}.", **parts)


def _describe_rank_difference(verdict: Verdict | None, first: str, second: str) -> str:
    """Describe whether two learners differ significantly.

    Return an empty string if their difference was not tested.
    """
    pair = None if verdict is None else verdict.ranking.find_pair(first, second)
    if verdict is None or pair is None or np.isnan(pair.p_adjusted):
        return ""
    relation = "differ" if verdict.ranking.is_significant(pair) else "do not differ"
    adjusted = "adjusted " if len(verdict.ranking.pairs) > 1 else ""
    return f"; {first} and {second} {relation} significantly ({adjusted}{format_p_value(pair.p_adjusted, verdict.alpha)})"


def _draw_level_figures(
    results: Results, families: list[LevelFamily]
) -> tuple[tuple[Figure, ...], tuple[str, tuple[str, ...]] | None]:
    """Draw the means against the noise levels and, if there is a slider, the means at the selected level."""
    labels = list(dict.fromkeys(format_condition(condition) for family in families for condition in family.conditions))
    measures = list(dict.fromkeys(family.measure for family in families))
    has_slider = any(len(family.conditions) > 2 for family in families) and len(labels) * len(measures) <= _MAX_ALTERNATIVES
    if not has_slider:
        return tuple(_draw_levels(results, family, family.key) for family in families), None
    figures: list[Figure] = []
    keys = map_unique_keys(labels)
    for measure in measures:
        alike = [family for family in families if family.measure == measure]
        ends = [float(value) for family in alike for name in ("mean", "low", "high") for value in family.means[name].dropna()]
        for label in labels:
            family = next((family for family in alike if label in map(format_condition, family.conditions)), None)
            if family is None:
                continue
            key, condition = f"{family.key}-{keys[label]}", next(c for c in family.conditions if format_condition(c) == label)
            lines = _draw_levels(results, family, f"{key}-levels", condition)
            means = draw_condition_means(family.means, measure, label, f"{key}-means", domain=(min(ends), max(ends)), step=56)
            figures += [lines, *([] if means is None else [replace(means, size="half", lead=True)])]
    return tuple(figures), ("condition", tuple(labels))


def _draw_levels(results: Results, family: LevelFamily, key: str, marked: ConditionFacts | None = None) -> Figure:
    """Draw the means of one measure against the noise levels, and mark the level of a condition."""
    name = format_measure_name(family.measure)
    title = f"{capitalize(name)} under {family.name}"
    several = len(results.archive.datasets) > 1
    where = (
        f"Means of {family.means['datasets'].max()} data sets" if several else f"Means on {results.archive.datasets[0].name}"
    )
    explanation = f"{where}, 95 % CI" if family.means["low"].notna().any() else where
    level = None if marked is None else float(marked.level)
    best = family.means
    if best["learner"].nunique() > MAX_DRAWN:
        kept = best[best["condition"] == best["condition"].iloc[0]].sort_values("mean", kind="stable")["learner"]
        is_smaller_better = get_measure(family.measure).facts.direction == "min"
        kept = kept.head(MAX_DRAWN) if is_smaller_better else kept.tail(MAX_DRAWN)
        best, explanation = best[best["learner"].isin(kept)], f"{explanation}; the best {MAX_DRAWN} learners without noise"
    chart = draw_levels(best, axis_title=capitalize(name), title=title, explanation=explanation, marked=level)
    alt = f"{title}. {_describe_change(family, marked).text}"
    when = {"measure": name} | ({} if marked is None else {"condition": format_condition(marked)})
    return Figure(key, title, chart, alt, best, lead=True, size="half" if marked else "wide", when=when)


def _is_shift(condition: ConditionFacts, conditions: Iterable[ConditionFacts]) -> bool:
    """Return whether a condition is a shift rather than noise.

    A condition that changes only the test set is a shift. A condition that changes both sets is a shift if its type is in
    `SHIFTS`, or if the study also declares the same condition for the test set alone.
    """
    declared = dict(condition.description)
    if declared.get("part") != "all":
        return declared.get("part") == "test"
    test_description = {**declared, "part": "test"}
    return declared.get("condition") in SHIFTS or any(
        dict(candidate.description) == test_description for candidate in conditions
    )


def _build_condition_section(results: Results, name: str, levels: list[ConditionFacts], key: str) -> Section | None:
    with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
        dataset_losses = results.robustness(name)
        if dataset_losses["ela"].notna().sum() == 0:
            return None
        several = len(results.archive.datasets) > 1
        overall = results.robustness(name, by="all") if several else dataset_losses.drop(columns="dataset")
    dataset_losses, overall = (with_levels(frame, levels) for frame in (dataset_losses, overall))
    overall = overall[overall["ela"].notna()].reset_index(drop=True)
    tables = _build_loss_tables(dataset_losses, overall, key, several)
    figures = _draw_robustness_figures(overall, name, key)
    title = f"{name}: {levels[0].summary}" if len(levels) == 1 and levels[0].summary else name
    return Section(
        f"robustness-{key}",
        title,
        _build_robustness_sentences(tables[0], name),
        figures,
        tables,
        _build_robustness_notes(results, overall, levels),
    )


def _build_loss_tables(dataset_losses: pd.DataFrame, overall: pd.DataFrame, key: str, several: bool) -> tuple[ReportTable, ...]:
    interval_note = (
        "Intervals: 95 % t intervals over data sets."
        if several
        else "Intervals: delta method, corrected for the overlap of splits."
    )
    first = _format_loss_frame(overall.drop(columns="condition"))
    tables = [
        ReportTable(
            f"robustness-losses-{key}",
            "Loss of accuracy" + (" over all data sets" if several else ""),
            first,
            _FORMATS,
            interval_note,
        )
    ]
    if several:
        note = "Intervals: delta method for each data set, corrected for the overlap of splits (Nadeau & Bengio 2003)."
        lines = _format_loss_frame(dataset_losses.drop(columns="condition"))
        tables.append(
            ReportTable(f"robustness-by-data-set-{key}", "Loss of accuracy by data set", lines, _FORMATS, note, long=True)
        )
    return tuple(tables)


def _format_loss_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Put the data set, learner and level first, use display names, and drop an empty level column."""
    front = [name for name in ("dataset", "learner", "level") if name in frame]
    order = [*front, *(name for name in frame.columns if name not in front)]
    plain = frame[order].astype({name: object for name in ("dataset", "learner") if name in frame})
    trimmed = plain if plain["level"].notna().any() else plain.drop(columns="level")
    return trimmed.rename(columns=_NAMES).reset_index(drop=True)


def _build_robustness_sentences(table: ReportTable, name: str) -> tuple[Sentence, ...]:
    frame = table.frame
    last = frame[frame["level"] == frame["level"].max()] if "level" in frame else frame
    indices: list[Any] = [last["RLA"].idxmin(), last["ELA"].idxmin()]
    least, best = (int(index) for index in indices)
    sentences = [_describe_least_loss(table, last, least, name), _compare_intervals(last, least, "RLA")]
    winner = str(frame.loc[best, "learner"])
    numbers = {
        "ela": format_number(frame, table.key, best, "ELA"),
        "accuracy": format_number(frame, table.key, best, _NAMES["noisy"]),
    }
    if len(last) == 1:
        sentences.append(build_sentence("Its ELA is {ela} (accuracy {accuracy}).", **numbers))
    elif best == least:
        sentences.append(build_sentence("It also has the lowest ELA ({ela}, accuracy {accuracy}).", **numbers))
    else:
        sentences.append(
            build_sentence(
                "{winner} has the lowest ELA ({ela}, accuracy {accuracy}).",
                winner=winner,
                **numbers,
            )
        )
    if len(last) > 1:
        sentences.append(_compare_intervals(last, best, "ELA"))
    return tuple(sentence for sentence in sentences if sentence is not None)


def _describe_least_loss(table: ReportTable, last: pd.DataFrame, line: int, name: str) -> Sentence:
    frame = table.frame
    learner = str(frame.loc[line, "learner"])
    parts: dict[str, Any] = {"name": name, "learner": learner, "loss": format_number(frame, table.key, line, "RLA")}
    prefix = "Under {name},"
    if "level" in frame:
        prefix, parts["level"] = "Under {name} at noise level {level},", format_number(frame, table.key, line, "level", "{:g}")
    if parts["loss"].value <= 0:
        return build_sentence(f"{prefix} {{learner}} loses no accuracy (RLA {{loss}}).", **parts)
    if len(last) == 1:
        return build_sentence(f"{prefix} {{learner}} has an RLA of {{loss}}.", **parts)
    alike = last[last["RLA"] == frame.loc[line, "RLA"]]["learner"].astype(str).tolist()
    if len(alike) > 1:
        return build_sentence(f"{prefix} {{alike}} share the lowest RLA ({{loss}}).", alike=join_names(alike), **parts)
    return build_sentence(f"{prefix} {{learner}} has the lowest RLA ({{loss}}).", **parts)


def _compare_intervals(last: pd.DataFrame, line: int, column: str) -> Sentence | None:
    """Describe which intervals lie above the interval of the best learner, and which overlap it."""
    if len(last) < 2:
        return None
    high: Any = last.loc[line, f"{column} high"]
    if np.isnan(high):
        return build_sentence("There are no intervals: they need several data sets, or several splits of one data set.")
    others = last.drop(index=line)
    different = others["learner"][others[f"{column} low"] > high].astype(str).tolist()
    rest = others["learner"][~(others[f"{column} low"] > high)].astype(str).tolist()
    all_others = "that of the other learner" if len(others) == 1 else "those of all others"
    if not rest:
        return build_sentence(f"Its {{column}} interval lies below {all_others}.", column=column)
    if not different:
        return build_sentence(f"Its {{column}} interval overlaps with {all_others}.", column=column)
    below, overlapping = ("that" if len(names) == 1 else "those" for names in (different, rest))
    return build_sentence(
        f"Its {{column}} interval lies below {below} of {{apart}}, but overlaps with {overlapping} of {{rest}}.",
        column=column,
        apart=join_names(different),
        rest=join_names(rest),
    )


def _build_robustness_notes(results: Results, overall: pd.DataFrame, levels: list[ConditionFacts]) -> tuple[str, ...]:
    notes = [
        "Overlapping intervals do not show that learners are equal. The intervals are not adjusted for the number of pairs."
    ]
    lines = overall.groupby("learner", observed=True).size()
    incomplete = [learner.name for learner in results.archive.learners if lines.get(learner.name, 0) < len(levels)]
    if incomplete:
        notes.append(
            f"Some noise levels are missing for {join_names(incomplete)}: trials failed or have not run, or accuracy without "
            f"noise is 0."
        )
    if "datasets" in overall and (overall["datasets"] < len(results.archive.datasets)).any():
        notes.append(_FEWER)
    return tuple(notes)


def _draw_robustness_figures(overall: pd.DataFrame, name: str, key: str) -> tuple[Figure, ...]:
    if overall["level"].isna().any():
        return ()
    figures = []
    losses = draw_losses(overall, title=f"Loss of accuracy under {name}")
    alt = _format_robustness_alt(overall, "ela", f"RLA and ELA under {name}.", highest=False)
    figures.append(Figure(f"robustness-loss-{key}", f"RLA and ELA under {name}", losses, alt, overall))
    surface = draw_loss_surface(overall)
    surface_alt = _format_robustness_alt(
        overall,
        "rla",
        f"Accuracy with noise against accuracy without noise under {name}, on the surfaces of RLA and ELA.",
        highest=False,
    )
    figures.append(Figure(f"robustness-surface-{key}", "Accuracy with and without noise", surface, surface_alt, overall))
    return tuple(figures)


def _format_robustness_alt(frame: pd.DataFrame, column: str, text: str, *, highest: bool) -> str:
    last = frame[(frame["level"] == frame["level"].max()) & frame[column].notna()]
    if last.empty:
        return text
    index = last[column].idxmax() if highest else last[column].idxmin()
    measure_name = {"ela": "ELA", "rla": "RLA"}[column]
    row = last.loc[index]
    side = "highest" if highest else "lowest"
    return f"{text} At noise level {row['level']:g}, {row['learner']} has the {side} {measure_name}, {row[column]:.3f}."
