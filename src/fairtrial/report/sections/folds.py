"""Folds: sizes, class proportions and leaks, computed without the attributes of the data.

`fairtrial audit` compares attributes as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._frames import read_columns
from fairtrial._text import join_names
from fairtrial.report.figures.folds import build_splits, draw_rarest_class
from fairtrial.report.section import Figure, ReportTable, Section, Sentence, build_sentence, format_number, section
from fairtrial.resampling.layout import AuditFinding, Coverage, SplitLayout, count_coverage, find_coverage_problems

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.report.source import ReportSource
    from fairtrial.study import Results
    from fairtrial.study.archive import DataFacts

_SUMMARY, _FINDINGS, _LINES = "folds-summary", "folds-findings", "folds-splits"
_MOST_LINES = 300
_FORMATS = dict.fromkeys(("proportion in test", "proportion overall", "lowest proportion", "highest proportion"), "{:.3f}")


@section("folds", title="Folds", order=150, serves=("study",), question="how")
def build_section(source: ReportSource) -> Section | None:
    """Report sizes, class proportions, untested rows and leaks of all splits. Return None if there are no data sets."""
    results = source.get_results()
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
    notes = ["To compare the attributes of test and training sets, pass the data: draw(results, 'audit', data=DATA)."]
    tables = [
        ReportTable(
            _SUMMARY, "Folds by data set", summary, _FORMATS, "Proportions are those of the rarest class in the test sets."
        )
    ]
    if findings:
        findings_frame = pd.DataFrame(findings, columns=["data set", "severity", "finding"])
        tables.append(
            ReportTable(
                _FINDINGS,
                "Problems with the folds",
                findings_frame,
                note="A fault makes estimates wrong. A caution reports a property that may be intentional.",
                long=True,
            )
        )
    if len(all_lines) <= _MOST_LINES:
        tables.append(
            ReportTable(_LINES, "Every split", all_lines, _FORMATS, "Repeats and folds are counted from 0.", long=True)
        )
    else:
        notes.append("There are too many splits to list each of them.")
    return Section(
        "folds",
        "Folds",
        _build_fold_sentences(summary),
        _draw_fold_figures(all_lines, summary),
        tuple(tables),
        tuple(notes),
    )


def _count_from_zero(lines: pd.DataFrame) -> pd.DataFrame:
    """Count repeats and folds from 0, as in the other tables of results."""
    return lines.assign(repeat=lines["repeat"] - 1, fold=lines["fold"] - 1)


def _summarize_folds(lines: pd.DataFrame, counts: Coverage, repeated: int, leaked: int, faults: int) -> dict[str, Any]:
    return {
        "data set": lines["data set"].iloc[0],
        "splits": len(lines),
        "smallest test": int(lines["test rows"].min()),
        "largest test": int(lines["test rows"].max()),
        "smallest training": int(lines["training rows"].min()),
        "rarest class": lines["rarest class"].iloc[0],
        "proportion overall": float(lines["proportion overall"].iloc[0]),
        "lowest proportion": float(lines["proportion in test"].min()),
        "highest proportion": float(lines["proportion in test"].max()),
        "never tested": int(counts.never_tested.max()),
        "in train and test": int(counts.in_both.sum()),
        "rows with a repeated id": repeated,
        "repeated id in training and test": leaked,
        "faults": faults,
    }


def _build_fold_sentences(summary: pd.DataFrame) -> tuple[Sentence, ...]:
    sentences = []
    bad = summary[summary["faults"] > 0]
    if bad.empty:
        sentences.append(
            build_sentence(
                "No faults found: training and test sets share no rows, and every training set contains all classes."
            )
        )
    else:
        sentences.append(
            build_sentence(
                "Splits of {names} have faults, which make estimates wrong. The table lists them.",
                names=join_names(list(map(str, bad.index))),
            )
        )
    for column, template in (
        (
            "in train and test",
            "{name}: number of test rows, across all splits, that are also in the training set of their split: {number}.",
        ),
        (
            "repeated id in training and test",
            "{name}: number of test rows, across all splits, with the same id as a row in the training set: {number}.",
        ),
    ):
        sentences += [
            build_sentence(template, name=str(name), number=format_number(summary, _SUMMARY, name, column, "{:,}"))
            for name in summary.index[summary[column] > 0]
        ]
    spread = summary["highest proportion"] - summary["lowest proportion"]
    if (spread > 0).any():
        worst = spread.idxmax()
        parts = {
            name: format_number(summary, _SUMMARY, worst, column)
            for name, column in (("low", "lowest proportion"), ("high", "highest proportion"), ("all", "proportion overall"))
        }
        template = "The proportion of the rarest class varies most on {name}: {low} to {high} in the test sets, {all} overall."
        sentences.append(build_sentence(template, name=str(worst), **parts))
    else:
        sentences.append(build_sentence("The proportion of the rarest class is the same in all test sets of a data set."))
    return tuple(sentences)


def _draw_fold_figures(lines: pd.DataFrame, summary: pd.DataFrame) -> tuple[Figure, ...]:
    if not lines["proportion in test"].notna().any() or (lines["test rows"].max() <= 1):
        return ()
    spread = summary["highest proportion"] - summary["lowest proportion"]
    worst: Any = spread.idxmax()
    limits = f"from {summary.loc[worst, 'lowest proportion']:.3f} to {summary.loc[worst, 'highest proportion']:.3f}"
    spread_text = (
        f"It varies most on {worst}: {limits}." if spread.max() > 0 else "It is the same in all test sets of a data set."
    )
    alt = f"Proportion of the rarest class in each test set, by data set. {spread_text}"
    return (Figure("folds-shares", "Proportion of the rarest class in each fold", draw_rarest_class(lines), alt, lines),)


def count_fold_coverage(results: Results, facts: DataFacts) -> tuple[SplitLayout, Coverage]:
    """Combine the splits of a data set with its classes, and count the rows of each class in each split."""
    splits = build_splits(results, facts)
    unknown = bool((facts.codes < 0).any())
    labels = np.where(facts.codes < 0, len(facts.classes), facts.codes).astype(np.intp)
    classes = (*facts.classes, "(no class)") if unknown else facts.classes
    occurring = np.unique(labels)
    layout = SplitLayout(
        splits,
        read_columns(np.zeros((len(labels), 1))),
        np.searchsorted(occurring, labels),
        tuple(np.array([*classes], dtype=object)[occurring]),
    )
    return layout, count_coverage(layout)


def select_fold_findings(layout: SplitLayout, counts: Coverage) -> list[AuditFinding]:
    """Find problems with the folds. In the findings, folds are numbered from 0.

    If the predictions were made elsewhere, no split has training rows. Classes that are absent from training sets are then not
    reported.
    """
    findings = find_coverage_problems(layout, counts, use_split_numbers=True)
    trained = counts.train.any()
    return [finding for finding in findings if trained or finding.check != "class absent from training"]


def build_fold_lines(name: str, layout: SplitLayout, counts: Coverage) -> pd.DataFrame:
    """Count the rows of each split, and compute the proportion of the rarest class."""
    import pandas as pd

    rarest = int(np.argmin(np.bincount(layout.labels, minlength=len(layout.classes))))
    test = counts.test.sum(axis=1)
    overall_proportion = float((layout.labels == rarest).mean())
    return pd.DataFrame(
        {
            "data set": name,
            "repeat": [split.repeat + 1 for split in layout.splits],
            "fold": [split.fold + 1 for split in layout.splits],
            "training rows": counts.train.sum(axis=1),
            "test rows": test,
            "in both": counts.in_both,
            "rarest class": str(layout.classes[rarest]),
            "proportion in test": np.divide(counts.test[:, rarest], test, out=np.full(len(test), np.nan), where=test > 0),
            "proportion overall": overall_proportion,
        }
    )


def count_repeated_ids(facts: DataFacts, layout: SplitLayout) -> tuple[int, int]:
    """Count the rows with a repeated id, and the test rows that share their id with a training row.

    The second number is a sum over all splits.
    """
    import pandas as pd

    id_codes = pd.factorize(pd.Series(list(facts.row_ids), dtype=object))[0]
    sizes = np.bincount(id_codes[id_codes >= 0], minlength=1)
    duplicated = (id_codes >= 0) & (sizes[np.maximum(id_codes, 0)] > 1)
    if not duplicated.any():
        return 0, 0
    leaked = sum(
        int(np.isin(id_codes[split.test[duplicated[split.test]]], id_codes[split.train]).sum()) for split in layout.splits
    )
    return int(duplicated.sum()), leaked
