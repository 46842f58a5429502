"""The folds: what splits and classes alone tell of them. Shift of attributes needs the data: `fairtrial audit`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtrial.report.fold_counts import counted, draw_shares, findings_of, fold_lines, repeated_ids
from fairtrial.report.section import Figure, Section, Table
from fairtrial.report.sections.naming import listed
from fairtrial.report.sentence import Sentence, say, shown

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

_SUMMARY, _FINDINGS, _LINES = "folds-summary", "folds-findings", "folds-splits"
_MOST_LINES = 300
_FORMATS = {"share in test": "{:.3f}", "share in all": "{:.3f}", "lowest share": "{:.3f}", "highest share": "{:.3f}"}


def section(results: Results) -> Section | None:
    """Sizes, class shares, rows never tested and leaks of all splits; None where nothing was split."""
    import pandas as pd

    summaries, findings, lines = [], [], []
    for facts in results.archive.datasets:
        layout, counts = counted(results, facts)
        own = _from_zero(fold_lines(facts.name, layout, counts))
        twins, leaked = repeated_ids(facts, layout)
        found = findings_of(layout, counts)
        summaries.append(_summary(own, counts, twins, leaked, sum(each.level == "fault" for each in found)))
        findings += [(facts.name, each.level, each.text) for each in found]
        lines.append(own)
    if not lines:
        return None
    summary = pd.DataFrame(summaries).set_index("data set")
    whole = pd.concat(lines, ignore_index=True)
    notes = ["Whether attributes of test and training parts differ needs the data itself: draw(results, 'audit', data=...)."]
    tables = [
        Table(_SUMMARY, "Folds by data set", summary, _FORMATS, "Shares are those of the rarest class in the test parts.")
    ]
    if findings:
        told = pd.DataFrame(findings, columns=["data set", "level", "finding"])
        tables.append(
            Table(
                _FINDINGS,
                "What the counts show",
                told,
                note="A fault makes estimates wrong; a caution may be meant so.",
                long=True,
            )
        )
    if len(whole) <= _MOST_LINES:
        tables.append(Table(_LINES, "Split by split", whole, _FORMATS, "Repeats and folds are counted from 0.", long=True))
    else:
        notes.append("There are too many splits to list one by one here.")
    return Section("folds", "The folds", _sentences(summary), _figures(whole, summary), tuple(tables), tuple(notes))


def _from_zero(lines: pd.DataFrame) -> pd.DataFrame:
    """Repeats and folds counted from 0, as in the other tables of results."""
    return lines.assign(repeat=lines["repeat"] - 1, fold=lines["fold"] - 1)


def _summary(lines: pd.DataFrame, counts: Any, twins: int, leaked: int, faults: int) -> dict[str, Any]:
    return {
        "data set": lines["data set"].iloc[0],
        "splits": len(lines),
        "smallest test": int(lines["test rows"].min()),
        "largest test": int(lines["test rows"].max()),
        "smallest training": int(lines["training rows"].min()),
        "rarest class": lines["rarest class"].iloc[0],
        "share in all": float(lines["share in all"].iloc[0]),
        "lowest share": float(lines["share in test"].min()),
        "highest share": float(lines["share in test"].max()),
        "never tested": int(counts.never.max()),
        "in train and test": int(counts.both.sum()),
        "rows with a repeated id": twins,
        "of them across the cut": leaked,
        "faults": faults,
    }


def _sentences(summary: pd.DataFrame) -> tuple[Sentence, ...]:
    found = []
    bad = summary[summary["faults"] > 0]
    if bad.empty:
        found.append(
            say("No fault was found: no row is in both parts of a split, and no class is absent from a training part.")
        )
    else:
        found.append(
            say(
                "Splits of {names} have faults: estimates from them are wrong. The table says which.",
                names=listed(list(map(str, bad.index))),
            )
        )
    for column, words in (
        ("in train and test", "{name}: {number} test rows over all splits are in the training part of their own split."),
        (
            "of them across the cut",
            "{name}: {number} test rows over all splits have a row of the same id in the training part.",
        ),
    ):
        found += [
            say(words, name=str(name), number=shown(summary, _SUMMARY, name, column, "{:,}"))
            for name in summary.index[summary[column] > 0]
        ]
    spread = summary["highest share"] - summary["lowest share"]
    if (spread > 0).any():
        worst = spread.idxmax()
        parts = {
            name: shown(summary, _SUMMARY, worst, column)
            for name, column in (("low", "lowest share"), ("high", "highest share"), ("all", "share in all"))
        }
        words = "The share of the rarest class varies most on {name}: from {low} to {high} in test parts, {all} in all rows."
        found.append(say(words, name=str(worst), **parts))
    else:
        found.append(say("Every test part of a data set has the same share of its rarest class."))
    return tuple(found)


def _figures(lines: pd.DataFrame, summary: pd.DataFrame) -> tuple[Figure, ...]:
    if not lines["share in test"].notna().any() or (lines["test rows"].max() <= 1):
        return ()
    spread = summary["highest share"] - summary["lowest share"]
    worst: Any = spread.idxmax()
    limits = f"from {summary.loc[worst, 'lowest share']:.3f} to {summary.loc[worst, 'highest share']:.3f}"
    told = f"It varies most on {worst}: {limits}." if spread.max() > 0 else "It is the same in all test parts of a data set."
    alt = f"The share of the rarest class in each test part, by data set. {told}"
    return (Figure("folds-shares", "The rarest class in each fold", draw_shares(lines), alt, lines),)
