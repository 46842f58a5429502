"""The folds: what splits and classes alone tell of them. Shift of attributes needs the data: `fairtrial audit`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtrial.report.figures.folds import (
    build_fold_lines,
    count_fold_coverage,
    count_repeated_ids,
    draw_rarest_class,
    select_fold_findings,
)
from fairtrial.report.names import join_names
from fairtrial.report.section import Figure, ReportTable, Section, Sentence, build_sentence, format_number

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

_SUMMARY, _FINDINGS, _LINES = "folds-summary", "folds-findings", "folds-splits"
_MOST_LINES = 300
_FORMATS = {"share in test": "{:.3f}", "share in all": "{:.3f}", "lowest share": "{:.3f}", "highest share": "{:.3f}"}


def build_section(results: Results) -> Section | None:
    """Sizes, class shares, rows never tested and leaks of all splits; None where nothing was split."""
    import pandas as pd

    summaries, findings, lines = [], [], []
    for facts in results.archive.datasets:
        layout, counts = count_fold_coverage(results, facts)
        dataset_lines = _count_from_zero(build_fold_lines(facts.name, layout, counts))
        repeated, leaked = count_repeated_ids(facts, layout)
        dataset_findings = select_fold_findings(layout, counts)
        summaries.append(
            _summarize_folds(
                dataset_lines, counts, repeated, leaked, sum(finding.level == "fault" for finding in dataset_findings)
            )
        )
        findings += [(facts.name, finding.level, finding.text) for finding in dataset_findings]
        lines.append(dataset_lines)
    if not lines:
        return None
    summary = pd.DataFrame(summaries).set_index("data set")
    all_lines = pd.concat(lines, ignore_index=True)
    notes = ["Whether attributes of test and training parts differ needs the data itself: draw(results, 'audit', data=...)."]
    tables = [
        ReportTable(_SUMMARY, "Folds by data set", summary, _FORMATS, "Shares are those of the rarest class in the test parts.")
    ]
    if findings:
        findings_frame = pd.DataFrame(findings, columns=["data set", "level", "finding"])
        tables.append(
            ReportTable(
                _FINDINGS,
                "What the counts show",
                findings_frame,
                note="A fault makes estimates wrong; a caution may be meant so.",
                long=True,
            )
        )
    if len(all_lines) <= _MOST_LINES:
        tables.append(
            ReportTable(_LINES, "Split by split", all_lines, _FORMATS, "Repeats and folds are counted from 0.", long=True)
        )
    else:
        notes.append("There are too many splits to list one by one here.")
    return Section(
        "folds",
        "The folds",
        _build_fold_sentences(summary),
        _draw_fold_figures(all_lines, summary),
        tuple(tables),
        tuple(notes),
    )


def _count_from_zero(lines: pd.DataFrame) -> pd.DataFrame:
    """Repeats and folds counted from 0, as in the other tables of results."""
    return lines.assign(repeat=lines["repeat"] - 1, fold=lines["fold"] - 1)


def _summarize_folds(lines: pd.DataFrame, counts: Any, repeated: int, leaked: int, faults: int) -> dict[str, Any]:
    return {
        "data set": lines["data set"].iloc[0],
        "splits": len(lines),
        "smallest test": int(lines["test rows"].min()),
        "largest test": int(lines["test rows"].max()),
        "smallest training": int(lines["training rows"].min()),
        "rarest class": lines["rarest class"].iloc[0],
        "share in all": float(lines["share in all"].iloc[0]),
        "lowest proportion": float(lines["share in test"].min()),
        "highest proportion": float(lines["share in test"].max()),
        "never tested": int(counts.never.max()),
        "in train and test": int(counts.both.sum()),
        "rows with a repeated id": repeated,
        "of them in both training and test": leaked,
        "faults": faults,
    }


def _build_fold_sentences(summary: pd.DataFrame) -> tuple[Sentence, ...]:
    sentences = []
    bad = summary[summary["faults"] > 0]
    if bad.empty:
        sentences.append(
            build_sentence(
                "No fault was found: no row is in both parts of a split, and no class is absent from a training part."
            )
        )
    else:
        sentences.append(
            build_sentence(
                "Splits of {names} have faults: estimates from them are wrong. The table says which.",
                names=join_names(list(map(str, bad.index))),
            )
        )
    for column, template in (
        ("in train and test", "{name}: {number} test rows over all splits are in the training part of their own split."),
        (
            "of them across the cut",
            "{name}: {number} test rows over all splits have a row of the same id in the training part.",
        ),
    ):
        sentences += [
            build_sentence(template, name=str(name), number=format_number(summary, _SUMMARY, name, column, "{:,}"))
            for name in summary.index[summary[column] > 0]
        ]
    spread = summary["highest share"] - summary["lowest share"]
    if (spread > 0).any():
        worst = spread.idxmax()
        parts = {
            name: format_number(summary, _SUMMARY, worst, column)
            for name, column in (("low", "lowest share"), ("high", "highest share"), ("all", "share in all"))
        }
        template = "The share of the rarest class varies most on {name}: from {low} to {high} in test parts, {all} in all rows."
        sentences.append(build_sentence(template, name=str(worst), **parts))
    else:
        sentences.append(build_sentence("Every test part of a data set has the same share of its rarest class."))
    return tuple(sentences)


def _draw_fold_figures(lines: pd.DataFrame, summary: pd.DataFrame) -> tuple[Figure, ...]:
    if not lines["share in test"].notna().any() or (lines["test rows"].max() <= 1):
        return ()
    spread = summary["highest share"] - summary["lowest share"]
    worst: Any = spread.idxmax()
    limits = f"from {summary.loc[worst, 'lowest share']:.3f} to {summary.loc[worst, 'highest share']:.3f}"
    spread_text = (
        f"It varies most on {worst}: {limits}." if spread.max() > 0 else "It is the same in all test parts of a data set."
    )
    alt = f"The share of the rarest class in each test part, by data set. {spread_text}"
    return (Figure("folds-shares", "The rarest class in each fold", draw_rarest_class(lines), alt, lines),)
