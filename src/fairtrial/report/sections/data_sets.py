"""Results by data set: facts about each data set, its best learner, and the means of all learners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._text import capitalize, join_names
from fairtrial.data.faults import format_fault
from fairtrial.errors import InputError
from fairtrial.measures import get_measure
from fairtrial.report.cache import compute_verdict
from fairtrial.report.figures.comparison import draw_dataset_scores
from fairtrial.report.means import average_by_dataset, compute_scores
from fairtrial.report.names import format_condition_phrase, format_measure_name, get_verdict_measure_name
from fairtrial.report.section import Figure, ReportTable, Section, Sentence, build_sentence, format_number, section
from fairtrial.report.sections.verdict import MAX_ALTERNATIVES, MAX_DRAWN, MAX_TRIALS
from fairtrial.report.selection import get_main_condition, map_unique_keys
from fairtrial.study.archive import ConditionFacts, DataFacts
from fairtrial.study.results.selection import format_condition, mask_condition

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.report.source import ReportSource
    from fairtrial.study import Results

_MAX_DATASETS = 25
_COUNTS = ("numeric", "nominal", "missing")
_FORMATS = {"mean": "{:.4f}", "low": "{:.4f}", "high": "{:.4f}", "ahead by": "{:.4f}", "imbalance ratio": "{:.2f}"}
_BEST_NOTE = (
    "Mean over splits with 95 % intervals, corrected for the overlap of training sets (Nadeau-Bengio). Ahead by: difference "
    "from the next best mean. These differences are not tested."
)


@section("data-sets", title="Results by data set", order=130, serves=("study",), question="where")
def build_section(source: ReportSource) -> Section | None:
    """Report the scores on each data set. Return None if there is only one data set or learner."""
    results = source.get_results()
    if len(results.archive.datasets) < 2 or len(results.archive.learners) < 2:
        return None
    main, verdict_measure = get_main_condition(results), get_verdict_measure_name(results)
    names = sorted(dict.fromkeys(results.measures), key=lambda name: name != verdict_measure)
    means = average_by_dataset(results, compute_scores(results, names)[0])
    main_means = means[mask_condition(means, main)]
    best = build_best_frame(main_means)
    if best.empty:
        return None
    names = [name for name in names if (main_means["measure"] == name).any()]
    parts = [
        part for name in names for condition in _list_conditions(results) if (part := _read_scores(results, name, condition))
    ]
    parts.sort(key=lambda part: part.condition is not main)
    tables = [_build_learner_table(part) for part in parts] + [_build_wide_table(part) for part in parts]
    title = f"Best learner on each data set, {format_condition_phrase(main)}"
    tables.append(ReportTable("data-sets-best", title, best, _FORMATS, _BEST_NOTE, None, True))
    figures = [figure for part in parts if (figure := _draw_scores(part)) is not None]
    sentences = tuple(_describe_winner(part) for part in parts)
    return Section("data-sets", "Results by data set", sentences, tuple(figures), tuple(tables))


@dataclass(frozen=True, eq=False)
class DatasetScores:
    """The scores of all learners on all data sets for one measure and condition, and the best learner overall."""

    measure: str
    condition: ConditionFacts
    key: str
    scores: pd.DataFrame
    learners: pd.DataFrame
    winner: str
    when: Mapping[str, str]

    @property
    def name(self) -> str:
        """The display name of the measure."""
        return format_measure_name(self.measure)


def _list_conditions(results: Results) -> list[ConditionFacts]:
    """List the conditions to show: all conditions or, if there would be too many figures, only the main condition."""
    conditions, measures = list(results.archive.conditions), set(results.measures)
    return conditions if len(conditions) * len(measures) <= MAX_ALTERNATIVES else [get_main_condition(results)]


def _read_scores(results: Results, measure: str, condition: ConditionFacts) -> DatasetScores | None:
    """Read the scores of a measure under a condition. Return None if no score is finite."""
    conditions, main = _list_conditions(results), get_main_condition(results)
    try:
        scores = results.wide(measure, condition.name, condition.level).rename_axis(index="data set")
    except InputError:
        return None
    if not np.isfinite(scores.to_numpy(dtype=np.float64)).any():
        return None
    learners = build_learner_frame(scores, get_measure(measure).facts.direction)
    is_tested = len(results.trials()) <= MAX_TRIALS or (condition is main and measure == get_verdict_measure_name(results))
    verdict = compute_verdict(results, measure, condition)[0] if is_tested else None
    winner = str(learners["best on"].idxmax()) if verdict is None else str(verdict.order[0])
    key = map_unique_keys(results.measures)[measure]
    key += "" if condition is main else f"-{map_unique_keys(map(format_condition, conditions))[format_condition(condition)]}"
    when = {"measure": format_measure_name(measure)}
    when |= {"condition": format_condition(condition)} if len(conditions) > 1 else {}
    return DatasetScores(measure, condition, key, scores, learners, winner, when)


@section("data-facts", title="Data sets", order=25, serves=("study",), question="how")
def build_facts_section(source: ReportSource) -> Section:
    """Report facts about each data set: rows, attributes, classes and imbalance."""
    facts = build_facts_frame(source.get_results().archive.datasets)
    table = ReportTable("data-sets-facts", "Data sets", facts, _FORMATS, _format_facts_note(facts), None, True)
    return Section("data-facts", "Data sets", _build_dataset_sentences(facts), (), (table,))


def build_learner_frame(scores: pd.DataFrame, better: str) -> pd.DataFrame:
    """Count the data sets on which each learner is best or worst.

    Also find the data set on which each learner is farthest behind the best learner.

    >>> import pandas as pd
    >>> scores = pd.DataFrame({"tree": [0.9, 0.8], "bayes": [0.7, 0.9]}, index=["iris", "wine"])
    >>> build_learner_frame(scores, "max")["on data set"].tolist()
    ['wine', 'iris']
    """
    import pandas as pd

    values = scores.to_numpy(dtype=np.float64)
    values = np.where(np.isfinite(values), values if better == "max" else -values, np.nan)
    lines = []
    for column, name in enumerate(scores.columns):
        defined = np.isfinite(values[:, column])
        rows = np.round(values[defined], 12)
        if not len(rows):
            lines.append((str(name), 0, 0, 0, np.nan, ""))
            continue
        behind = np.nanmax(rows, axis=1) - rows[:, column]
        farthest = int(behind.argmax())
        counts = len(rows), int((behind == 0).sum()), int((rows[:, column] == np.nanmin(rows, axis=1)).sum())
        lines.append((str(name), *counts, round(float(behind[farthest]), 12), str(scores.index[defined][farthest])))
    columns = ["learner", "data sets", "best on", "worst on", "farthest behind", "on data set"]
    return pd.DataFrame(lines, columns=columns).set_index("learner")


def _build_learner_table(part: DatasetScores) -> ReportTable:
    note = "Best and worst include ties. Farthest behind: the largest difference from the best learner on a data set."
    title, formats = f"Number of data sets on which each learner has the best {part.name}", {"farthest behind": "{:.4f}"}
    return ReportTable(f"data-sets-learners-{part.key}", title, part.learners, formats, note, when=part.when)


def _describe_winner(part: DatasetScores) -> Sentence:
    """Describe on how many data sets the winner is best, and on which data set it is farthest behind."""
    frame, winner, table = part.learners, part.winner, f"data-sets-learners-{part.key}"
    parts: dict[str, Any] = {"winner": winner, "measure": part.name}
    parts |= {"where": capitalize(format_condition_phrase(part.condition))}
    parts |= {"sets": format_number(frame, table, winner, "data sets", "{:d}")}
    if bool((frame["best on"] == frame["data sets"])[winner]):
        sentence = build_sentence("{where}, {winner} has the best {measure} on all {sets} data sets.", **parts)
        return replace(sentence, when=part.when)
    parts |= {
        "best": format_number(frame, table, winner, "best on", "{:d}"),
        "behind": format_number(frame, table, winner, "farthest behind", "{:.3g}"),
        "dataset": frame.loc[winner, "on data set"],
    }
    template = (
        "{where}, {winner} has the best {measure} on {best} of {sets} data sets; it is farthest behind on {dataset} ({behind})."
    )
    return replace(build_sentence(template, **parts), when=part.when)


def _draw_scores(part: DatasetScores) -> Figure | None:
    """Draw the scores on each data set. Data sets on which the winner is farthest behind come first."""
    scores, name, winner = part.scores, part.name, part.winner
    values = scores.to_numpy(dtype=np.float64)
    finite = scores.loc[np.isfinite(values).any(axis=1)]
    if finite.empty:
        return None
    better = get_measure(part.measure).facts.direction
    gains = finite.astype(np.float64).where(np.isfinite(finite.to_numpy(dtype=np.float64)))
    gains = gains if better == "max" else -gains
    behind = (gains.max(axis=1) - gains[winner]).sort_values(ascending=False, kind="stable") if winner in gains else gains[:0]
    order = [str(dataset) for dataset in (behind.index if len(behind) else gains.index)]
    names = order[:_MAX_DATASETS]
    drawn = finite.rename(index=str).loc[names]
    if len(drawn.columns) > MAX_DRAWN:
        drawn = drawn[list(gains.mean().sort_values(ascending=False).index[:MAX_DRAWN])]
    subtitle = f"Sorted by the difference between {winner} and the best learner"
    subtitle += "" if len(names) == len(order) else f"; {len(names)} of {len(order)} data sets"
    title = f"{capitalize(name)} on each data set, {format_condition_phrase(part.condition)}"
    chart = draw_dataset_scores(drawn, axis_title=capitalize(name), title=title, subtitle=subtitle)
    alt = f"{title}; one point per learner. {winner} is farthest behind on {names[0]}."
    return Figure(f"data-sets-scores-{part.key}", title, chart, alt, drawn.reset_index(), size="wide", when=part.when)


def build_facts_frame(datasets: Sequence[DataFacts]) -> pd.DataFrame:
    """Build a frame of facts about each data set.

    The facts include the numbers of rows, attributes, missing values and classes, and the imbalance ratio.
    """
    import pandas as pd

    frame = pd.DataFrame(
        [_collect_facts(dataset) for dataset in datasets],
        index=pd.Index([dataset.name for dataset in datasets], name="data set"),
    )
    unknown = [name for name in ("attributes", *_COUNTS) if frame[name].isna().all()]
    return frame.drop(columns=unknown + [name for name in ("source", "notes") if not any(frame[name])])


def _collect_facts(dataset: DataFacts) -> dict[str, Any]:
    attribute_counts = {name: dataset.facts.get(name) for name in _COUNTS}
    counts = dataset.counts[dataset.counts > 0]
    attributes = (
        None
        if attribute_counts["numeric"] is None or attribute_counts["nominal"] is None
        else attribute_counts["numeric"] + attribute_counts["nominal"]
    )
    notes = dataset.facts.get("notes") or ""
    notes = [notes] if isinstance(notes, str) else [str(note) for note in notes]
    if (corrupted := dataset.facts.get("corrupted")) is not None:
        notes.append(f"{format_fault(corrupted)}.")
    return {
        "rows": len(dataset.codes),
        "attributes": attributes,
        **attribute_counts,
        "classes": len(counts),
        "smallest class": int(counts.min()) if len(counts) else 0,
        "imbalance ratio": float(counts.max() / counts.min()) if len(counts) else float("nan"),
        "source": str(dataset.facts.get("source") or ""),
        "notes": " ".join(notes),
    }


def _format_facts_note(facts: pd.DataFrame) -> str:
    note = "Imbalance ratio: size of the largest class divided by that of the smallest."
    return note if "attributes" in facts else f"{note} Attributes are unknown because only predictions are available."


def build_best_frame(means: pd.DataFrame) -> pd.DataFrame:
    """Find the best mean of each measure on each data set.

    The frame also contains the interval of this mean, and its difference from the next best mean.
    """
    import pandas as pd

    lines = []
    for (measure, dataset), dataset_means in means.groupby(["measure", "dataset"], sort=False, observed=True):
        defined = dataset_means[dataset_means["mean"].notna()]
        if defined.empty:
            continue
        sign = 1.0 if get_measure(str(measure)).facts.direction == "max" else -1.0
        gains = np.round(sign * defined["mean"].to_numpy(dtype=np.float64), 12)
        first = gains == gains.max()
        line = defined[first].iloc[0]
        behind = gains[~first]
        lines.append(
            {
                "data set": str(dataset),
                "measure": format_measure_name(str(measure)),
                "best": ", ".join(str(name) for name in defined.loc[first, "learner"]),
                **{name: float(line[name]) for name in ("mean", "low", "high")},
                "ahead by": float(gains.max() - behind.max()) if len(behind) and np.isfinite(behind.max()) else float("nan"),
            }
        )
    return pd.DataFrame(lines, columns=["data set", "measure", "best", "mean", "low", "high", "ahead by"])


def _build_wide_table(part: DatasetScores) -> ReportTable:
    formats = dict.fromkeys((str(column) for column in part.scores.columns), "{:.4f}")
    title = f"{capitalize(part.name)} on each data set, {format_condition_phrase(part.condition)}"
    direction = get_measure(part.measure).facts.direction
    return ReportTable(f"data-sets-{part.key}", title, part.scores, formats, "", direction, True, part.when)


def _build_dataset_sentences(facts: pd.DataFrame) -> tuple[Sentence, ...]:
    if len(facts) == 1:
        name = facts.index[0]
        return (
            build_sentence(
                "{name} has {rows} rows and {classes} classes.",
                name=name,
                **_format_fact_numbers(facts, name, "rows", "classes"),
            ),
        )
    least, most = facts["rows"].idxmin(), facts["rows"].idxmax()
    if least == most:
        sentences = [build_sentence("All data sets have {rows} rows.", **_format_fact_numbers(facts, least, "rows"))]
    else:
        few, many = (_format_fact_numbers(facts, name, "rows")["rows"] for name in (least, most))
        template = "The data sets have between {few} ({least}) and {many} rows ({most})."
        sentences = [build_sentence(template, least=least, most=most, few=few, many=many)]
    return (*sentences, *_describe_imbalance(facts))


def _describe_imbalance(facts: pd.DataFrame) -> tuple[Sentence, ...]:
    """Name the data sets with the highest imbalance ratio."""
    ratios = facts["imbalance ratio"].dropna()
    if ratios.empty:
        return ()
    if ratios.max() == 1:
        return (build_sentence("All data sets are balanced: their classes have the same number of rows."),)
    worst = ratios.index[ratios == ratios.max()]
    ratio = format_number(facts, "data-sets-facts", worst[0], "imbalance ratio", _choose_ratio_format(ratios.max()))
    template = "The classes of {names} are the most imbalanced (ratio {ratio})."
    return (build_sentence(template, names=join_names(worst), ratio=ratio),)


def _choose_ratio_format(ratio: float) -> str:
    """Choose a format that avoids rounding an imbalance ratio above 1 to 1."""
    return next(
        (number_format for number_format in ("{:.2f}", "{:.3f}", "{:.4f}") if float(number_format.format(ratio)) != 1), "{:.6g}"
    )


def _format_fact_numbers(facts: pd.DataFrame, line: Any, *columns: str) -> dict[str, Any]:
    return {column: format_number(facts, "data-sets-facts", line, column, "{:,}") for column in columns}
