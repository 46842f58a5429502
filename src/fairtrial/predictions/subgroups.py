"""Subgroups of a judgement: the measures of each subgroup, and its gap (difference from the rest of the rows)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._findings import Finding
from fairtrial._narrative import render
from fairtrial._text import format_count, format_difference, format_interval, format_number, format_p_value
from fairtrial.errors import InputError
from fairtrial.measures import Measure, get_measure
from fairtrial.measures.subgroup_gaps import Gap, compute_gaps
from fairtrial.predictions.columns import MAX_SUBGROUPS
from fairtrial.predictions.statistics import MANY_ROWS, JudgeSettings, ModelStatistics, ignore_warnings
from fairtrial.predictions.tables import build_score_rows
from fairtrial.predictions.validate import Notes

if TYPE_CHECKING:
    import pandas as pd

SUBGROUP_COLUMNS = (
    *("dataset", "column", "subgroup", "model", "measure", "rows", "proportion", "estimate", "low", "high", "method", "note"),
)

GAP_COLUMNS = (
    *("dataset", "column", "subgroup", "model", "measure", "rows", "estimate", "rest", "difference", "low", "high"),
    *("p_value", "p_adjusted", "significant", "obstacle", "note"),
)

# A subgroup is too small to judge if it has fewer rows than the first number, or a class with fewer rows than the second.
MIN_SUBGROUP_ROWS, MIN_SUBGROUP_CLASS_ROWS = 20, 5

# The answer names at most this many gaps in measures other than the main one.
_MAX_NAMED_GAPS = 3

# Gaps with equal values in these columns belong to the same family.
_FAMILY = ["dataset", "column", "model", "measure"]
_ROUNDING = 1e-9

_NEEDS_MEMORY = "needs rows in memory"

_RATES = ("selection_rate", "recall", "fpr", "precision")


def list_subgroups(models: Sequence[ModelStatistics], columns: Sequence[str], notes: Notes) -> dict[tuple[str, str], list[str]]:
    """List the subgroups of each data set and column.

    A note is added if a column has only one value or too many values. Columns with too many values are left out.
    """
    subgroups = {}
    for dataset in dict.fromkeys(model.dataset for model in models):
        for column in columns:
            counts = [model.count_subgroups(column) for model in models if model.dataset == dataset]
            names = sorted({subgroup for model_counts in counts for subgroup in model_counts})
            if len(names) > MAX_SUBGROUPS:
                notes.add("many_subgroups", column=column, subgroups=len(names), limit=MAX_SUBGROUPS)
            else:
                if len(names) == 1:
                    notes.add("single_subgroup", column=column, subgroup=names[0])
                subgroups[dataset, column] = names
    return subgroups


def build_subgroups(
    models: Sequence[ModelStatistics],
    subgroups: dict[tuple[str, str], list[str]],
    main: Measure,
    settings: JudgeSettings,
) -> pd.DataFrame:
    """Build a table with one row per data set, subgroup column, subgroup, model and measure. Small subgroups have a note."""
    import pandas as pd

    lines: list[dict[str, Any]] = []
    for (dataset, column), names in subgroups.items():
        chosen = [(model, model.count_subgroups(column)) for model in models if model.dataset == dataset]
        # Every subgroup of a model has the same inputs, so the first one shows which measures can be computed.
        examples = [model.select_subgroup(column, next(iter(counts))) for model, counts in chosen if counts]
        measures = _select_measures(examples, [main])
        for subgroup in names:
            for model, counts in chosen:
                if subgroup in counts:
                    lines += _build_subgroup_rows(model, column, subgroup, measures, settings)
    return pd.DataFrame(lines, columns=list(SUBGROUP_COLUMNS))


def _select_measures(models: Sequence[ModelStatistics], first: Sequence[Measure]) -> list[Measure]:
    """Select the given measures, accuracy and, if there is a positive class, rates.

    Omit measures that cannot be computed.
    """
    is_binary = all(model.positive is not None for model in models)
    names = ["accuracy", *(_RATES if is_binary else ())]
    chosen = [*first, *(measure for measure in map(get_measure, names) if measure not in first)]
    return [measure for measure in chosen if not all(model.find_missing_input(measure) for model in models)]


def _build_subgroup_rows(
    model: ModelStatistics, column: str, subgroup: str, measures: Sequence[Measure], settings: JudgeSettings
) -> list[dict[str, Any]]:
    part = model.select_subgroup(column, subgroup)
    common = {"column": column, "subgroup": subgroup, "proportion": float(part.rows / model.rows)}
    try:
        lines = build_score_rows(part, measures, settings)
    except InputError as error:  # e.g. all weights are zero
        return [{"dataset": model.dataset, "model": model.name, **common, "rows": part.rows, "note": str(error)}]
    small = _describe_small_subgroup(part)
    return [{**line, **common, "note": "; ".join(filter(None, (small, line["note"])))} for line in lines]


def _describe_small_subgroup(model: ModelStatistics) -> str:
    """Explain why a subgroup is too small. The string is empty if the subgroup is large enough."""
    fewest = int(model.count_classes().min())
    if model.rows < MIN_SUBGROUP_ROWS:
        return render(Finding.of("small_subgroup", rows=model.rows))
    return render(Finding.of("small_class", rows=fewest)) if fewest < MIN_SUBGROUP_CLASS_ROWS else ""


def build_gaps(
    models: Sequence[ModelStatistics],
    subgroups: dict[tuple[str, str], list[str]],
    measures: Sequence[Measure],
    settings: JudgeSettings,
) -> pd.DataFrame:
    """Build the table of gaps, with one row per data set, subgroup column, measure, model and subgroup.

    Limits and p-values are adjusted over all subgroups, columns, models and data sets. The first measure is the main measure.
    For the other measures, limits and p-values are also adjusted for the number of these measures (Bonferroni).
    """
    import pandas as pd

    chosen = {key: names for key, names in subgroups.items() if len(names) > 1}
    families = sum(model.dataset == dataset for dataset, _ in chosen for model in models)
    by_dataset = {dataset: [model for model in models if model.dataset == dataset] for dataset, _ in chosen}
    selected = {dataset: _select_measures(dataset_models, measures) for dataset, dataset_models in by_dataset.items()}
    n_others = len({measure.name for chosen_measures in selected.values() for measure in chosen_measures} - {measures[0].name})
    lines: list[dict[str, Any]] = []
    for (dataset, column), names in chosen.items():
        for measure in selected[dataset]:
            n_families = families * (1 if measure is measures[0] else n_others)
            for model in by_dataset[dataset]:
                common = {"dataset": dataset, "column": column, "model": model.name, "measure": measure.name}
                lines += [common | line for line in _build_gap_rows(model, measure, column, names, n_families, settings)]
    return pd.DataFrame(lines, columns=list(GAP_COLUMNS))


def _build_gap_rows(
    model: ModelStatistics, measure: Measure, column: str, subgroups: Sequence[str], families: int, settings: JudgeSettings
) -> list[dict[str, Any]]:
    counts = model.count_subgroups(column)
    reason = settings.explain_unavailable(model, measure)
    with ignore_warnings():
        values = None if reason else model.estimate_subgroups(measure, column, subgroups)
    if values is None:
        note = reason or _NEEDS_MEMORY
        common = {"significant": False, "obstacle": "not_in_memory" if note == _NEEDS_MEMORY else "missing_input", "note": note}
        return [{"subgroup": name, "rows": counts.get(name, 0), **common} for name in subgroups]
    lines = []
    for name, gap in zip(subgroups, compute_gaps(values, settings.level, families, settings.seed), strict=True):
        line = {"subgroup": name, "rows": counts.get(name, 0), "estimate": gap.value, "rest": gap.rest}
        line |= {"difference": gap.difference, "low": gap.low, "high": gap.high}
        line |= {"p_value": gap.p_value, "p_adjusted": gap.p_adjusted, "significant": gap.p_adjusted <= settings.alpha}
        finding = _find_missing_limits(gap, measure, values.obstacle)
        explanation = {"obstacle": finding.kind, "note": render(finding)} if finding else {"obstacle": "", "note": ""}
        lines.append(line | explanation)
    return lines


def _find_missing_limits(gap: Gap, measure: Measure, obstacle: str) -> Finding | None:
    """Find out why a gap has no value or no limits. Return None if it has both."""
    if np.isfinite(gap.low):
        return None
    for subject, value, cases in (("subgroup", gap.value, gap.cases), ("rest", gap.rest, gap.rest_cases)):
        if np.isnan(value):
            return Finding.of("gap_undefined", subject=subject, measure=measure.display_name, reason=measure.facts.undefined)
        if cases < gap.needed:
            counted = format_count(1, "case") if cases == 1 else f"{format_number(cases)} cases"
            return Finding.of("gap_few_cases", subject=subject, cases=counted, measure=measure.display_name, needed=gap.needed)
    return Finding.of(obstacle or "gap_without_limits", measure=measure.display_name, limit=MANY_ROWS)


def find_gaps(gaps: pd.DataFrame, measure: str, level: float, alpha: float, if_independent: bool = False) -> Finding | None:
    """Find out which subgroups differ significantly from the rest in a measure. Return None if the measure has no gaps."""
    lines = gaps[gaps["measure"] == measure]
    if not len(lines):
        return None
    name, tested = get_measure(measure).display_name, _list_tested(lines)
    scope = {"condition": "if the rows are independent, " if if_independent else "", "measure": name}
    if not tested:
        return Finding.of("gaps_undecided", measure=name, reason=_explain_untested(lines, get_measure(measure)))
    significant = [line for line in tested if line["p_adjusted"] <= alpha]
    untested = lines[lines["p_adjusted"].isna() & lines["difference"].notna()]
    noun = "tested gap" if len(untested) else "gap"
    if significant:
        gap = _describe_gap(significant[0], gaps, level, alpha)
        verb = "is" if len(significant) == 1 else "are"
        counts = f"; {len(significant):,} of {format_count(len(tested), noun)} {verb} significant" if len(tested) > 1 else ""
        return Finding.of("gaps_significant", gap=gap, counts=counts, **scope)
    largest = max(tested, key=lambda line: abs(line["difference"]))
    noun = noun if (untested["difference"].abs() > abs(largest["difference"])).any() else "gap"
    return Finding.of("gaps_none", gap=_describe_gap(largest, gaps, None, alpha), tested=noun, **scope)


def find_other_gaps(gaps: pd.DataFrame, main: str, alpha: float, if_independent: bool = False) -> Finding | None:
    """Find the worst significant gaps in measures other than the main measure. Return None if no gap is significant."""
    others = gaps[gaps["measure"] != main]
    lines = [line for line in _list_tested(others) if line["p_adjusted"] <= alpha]
    if not lines:
        return None
    named = []
    for line in lines[:_MAX_NAMED_GAPS]:
        owner = _name_owner(line, gaps)
        subject = f"{get_measure(line['measure']).display_name}{f' of {owner}' if owner else ''} for {_name_subgroup(line)}"
        difference = format_difference(line["difference"])
        named.append(f"{subject}, {difference} ({format_p_value(line['p_adjusted'], alpha)})")
    hidden = len(lines) - _MAX_NAMED_GAPS
    return Finding.of(
        "gaps_in_other_measures",
        condition="if the rows are independent, " if if_independent else "",
        gaps="; ".join(named),
        more=f"; {format_count(hidden, 'more gap')}" if hidden > 0 else "",
        measures=others["measure"].nunique(),
    )


def select_distinct_gaps(gaps: pd.DataFrame) -> pd.DataFrame:
    """Remove each gap that merely repeats another gap with the opposite sign.

    If a column has only two subgroups, their gaps differ only in sign. Therefore, only the gap of the first subgroup is kept.
    """
    has_mirror = _has_mirror(gaps) | (gaps.groupby(["dataset", "column"])["subgroup"].transform("nunique") == 2)
    mirrors = gaps[has_mirror]
    return gaps.drop(mirrors.index[mirrors.duplicated(_FAMILY)])


def _has_mirror(gaps: pd.DataFrame) -> pd.Series[bool]:
    """For each gap, return whether another gap is its exact opposite.

    This is the case if only two subgroups have a value. Other subgroups may have no value, e.g. because recall is undefined if
    there are no positives.
    """
    families = gaps.groupby(_FAMILY)
    is_opposite = families["difference"].transform("sum").abs() < _ROUNDING
    return gaps["estimate"].notna() & (families["estimate"].transform("count") == 2) & is_opposite


def _list_tested(gaps: pd.DataFrame) -> list[dict[Any, Any]]:
    """List the tested gaps. If two gaps differ only in sign, only the first of them is listed.

    Gaps of subgroups that are worse than the rest come first. Within each group, gaps are sorted by adjusted p-value.
    """
    tested: dict[tuple[str, ...], dict[Any, Any]] = {}
    lines = gaps.assign(has_mirror=_has_mirror(gaps))[gaps["p_adjusted"].notna()].to_dict("records")
    for line in sorted(lines, key=_rate_gap):
        names = (*_FAMILY, *(() if line["has_mirror"] else ("subgroup",)))
        tested.setdefault(tuple(str(line[name]) for name in names), line)
    return list(tested.values())


def _rate_gap(line: dict[Any, Any]) -> tuple[bool, float]:
    """Return a sort key: subgroups that are worse than the rest first, then by p-value."""
    facts = get_measure(line["measure"]).facts
    is_worse = facts.has_direction and (line["difference"] < 0) == (facts.direction == "max")
    return not is_worse, line["p_adjusted"]


def _explain_untested(gaps: pd.DataFrame, measure: Measure) -> str:
    """Return the most frequent reason why no gap in a measure can be tested."""
    known = gaps[gaps["rows"] > 0]
    obstacle = str(known["obstacle"].value_counts(sort=True).index[0])
    line = known[known["obstacle"] == obstacle].iloc[0]
    if obstacle == "gap_undefined":
        undefined = known[known["estimate"].isna()]
        scope = f" for {undefined['column'].iloc[0]} = {undefined['subgroup'].iloc[0]}" if len(undefined) else ""
        return f"{measure.display_name} is undefined{scope}, because {measure.facts.undefined}"
    if obstacle in ("missing_input", "not_in_memory"):
        return f"{measure.display_name} {line['note']}" + (", but the file is streamed" if obstacle == "not_in_memory" else "")
    text = render(Finding.of(f"untested_{obstacle}", measure=measure.display_name, limit=MANY_ROWS))
    return text[:1].lower() + text[1:]


def _name_owner(line: dict[Any, Any], gaps: pd.DataFrame) -> str:
    """Name the model of a gap if there are several models, and the data set if there are several data sets."""
    return " on ".join(str(line[name]) for name in ("model", "dataset") if gaps[name].nunique() > 1)


def _name_subgroup(line: dict[Any, Any]) -> str:
    return f"{line['column']} = {line['subgroup']}"


def _describe_gap(line: dict[Any, Any], gaps: pd.DataFrame, level: float | None, alpha: float) -> str:
    """Describe a gap: subgroup, model, difference, limits if a confidence level is given, and adjusted p-value."""
    limits = [] if level is None else [format_interval(line["low"], line["high"], level)]
    difference = format_difference(line["difference"])
    owner, subject = _name_owner(line, gaps), _name_subgroup(line)
    values = [difference, *limits, f"adjusted {format_p_value(line['p_adjusted'], alpha)}"]
    if level is not None:
        return f"{subject} ({', '.join(filter(None, (owner, *values)))})"
    return ", ".join([f"{owner} for {subject}" if owner else subject, *values])
