"""Results by data set: facts about each data set, its best learner, and the means of all learners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._text import capitalize, join_names
from fairtrial.data.faults import format_fault
from fairtrial.measures import get_measure
from fairtrial.report.means import average_by_dataset, compute_scores
from fairtrial.report.names import format_condition_phrase, format_measure_name
from fairtrial.report.section import ReportTable, Section, Sentence, build_sentence, format_number, section
from fairtrial.report.selection import get_main_condition, make_unique_keys
from fairtrial.study.archive import DataFacts
from fairtrial.study.results.selection import mask_condition

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.report.source import ReportSource
    from fairtrial.study import Results

_COUNTS = ("numeric", "nominal", "missing")
_FORMATS = {"mean": "{:.4f}", "low": "{:.4f}", "high": "{:.4f}", "ahead by": "{:.4f}", "imbalance ratio": "{:.2f}"}
_BEST_NOTE = (
    "Mean over splits with 95 % intervals, corrected for the overlap of training sets (Nadeau-Bengio). Ahead by: difference "
    "from the next best mean. These differences are not tested."
)


@section("data-sets", title="Results by data set", order=130, serves=("study",))
def build_section(source: ReportSource) -> Section:
    """Report facts about each data set, its best learner under each declared measure, and the means of all learners."""
    results = source.get_results()
    main = get_main_condition(results)
    facts = build_facts_frame(results.archive.datasets)
    names = list(dict.fromkeys(results.measures))
    means = average_by_dataset(results, compute_scores(results, names)[0])
    main_means = means[mask_condition(means, main)]
    best = build_best_frame(main_means)
    tables = [ReportTable("data-sets-facts", "Data sets", facts, _FORMATS, _format_facts_note(facts), None, True)]
    if len(best):
        title = f"Best learner on each data set, {format_condition_phrase(main)}"
        tables.append(ReportTable("data-sets-best", title, best, _FORMATS, _BEST_NOTE, None, True))
    if len(results.archive.learners) > 1:
        tables += [
            _build_wide_table(results, name, key)
            for name, key in zip(names, make_unique_keys(names), strict=True)
            if (main_means["measure"] == name).any()
        ]
    return Section("data-sets", "Results by data set", _build_dataset_sentences(facts), (), tuple(tables))


def build_facts_frame(datasets: Sequence[DataFacts]) -> pd.DataFrame:
    """Build a row for each data set: rows, attributes, missing values, classes, imbalance ratio, notes."""
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
    """Find the best mean on each data set and measure, with its interval and its lead over the second-best mean."""
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


def _build_wide_table(results: Results, measure: str, key: str) -> ReportTable:
    main = get_main_condition(results)
    frame = results.wide(measure, main.name, main.level).rename_axis(index="data set")
    title = f"{capitalize(format_measure_name(measure))} on each data set, {format_condition_phrase(main)}"
    formats = dict.fromkeys((str(name) for name in frame.columns), "{:.4f}")
    return ReportTable(f"data-sets-{key}", title, frame, formats, "", get_measure(measure).facts.direction, True)


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
    """Choose a format with enough digits to show that classes of different sizes are not balanced."""
    return next(
        (number_format for number_format in ("{:.2f}", "{:.3f}", "{:.4f}") if float(number_format.format(ratio)) != 1), "{:.6g}"
    )


def _format_fact_numbers(facts: pd.DataFrame, line: Any, *columns: str) -> dict[str, Any]:
    return {column: format_number(facts, "data-sets-facts", line, column, "{:,}") for column in columns}
