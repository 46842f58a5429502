"""Checks of the data sets: imbalance, tiny classes, few rows, and corrupted files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fairtrial.data.faults import find_fault_by_hash
from fairtrial.report.cache import has_only_predictions
from fairtrial.report.check import CheckAnswer, check, list_unique, report_not_applicable, report_passed, report_raised
from fairtrial.report.names import format_measure_name
from fairtrial.significance.methodology import (
    MAJORITY_SENSITIVE,
    MAX_IMBALANCE_RATIO,
    MIN_CLASS_ROWS,
    MIN_ROWS,
    check_class_counts,
)

if TYPE_CHECKING:
    from fairtrial.report.source import ReportSource
    from fairtrial.study import Results
    from fairtrial.study.archive import DataFacts


@check(
    "FT002",
    title="Accuracy on imbalanced data",
    looks_for=f"accuracy or error rate as the deciding measure on data sets whose largest class has at least "
    f"{MAX_IMBALANCE_RATIO:g} times as many rows as the smallest class",
    why="On imbalanced data, a classifier that always predicts the largest class has a high accuracy. Performance on the "
    "smallest class hardly affects accuracy, although this class often matters most.",
    remedy="use balanced accuracy, MCC, AUC or the H-measure as the deciding measure",
    cite="Japkowicz & Shah 2011; He & Garcia 2009",
    texts={
        "other measure": "the deciding measure is {measure}, not accuracy.",
        "passed": "the classes of every data set are balanced enough for {measure}.",
        "raised": (
            "the deciding measure is {measure}, but {datasets} {datasets:is} imbalanced. On {worst}, always predicting the "
            "largest class gives an accuracy of {proportion:.3f}."
        ),
    },
    serves=("study", "judgement"),
    affects_answer=True,
)
def check_imbalance(source: ReportSource) -> CheckAnswer:
    """Check whether accuracy or error rate is the main measure on imbalanced data sets."""
    import pandas as pd

    measure = format_measure_name(source.measure)
    if source.measure not in MAJORITY_SENSITIVE:
        return report_passed("other measure", measure=measure)
    findings = {
        finding["dataset"]: finding
        for name, counts in source.class_counts.items()
        for finding in check_class_counts(name, counts, source.measure, measure)
        if finding.kind == "FT002"
    }
    if not findings:
        return report_passed(measure=measure)
    counts = {name: [count for count in source.class_counts[name].values() if count] for name in findings}
    rows = [
        (name, sum(counts[name]), min(counts[name]), finding["ratio"], finding["proportion"])
        for name, finding in findings.items()
    ]
    columns = ["data set", "rows", "rows of the smallest class", "imbalance ratio", "proportion of the largest"]
    frame = pd.DataFrame(rows, columns=columns)
    worst = int(frame["imbalance ratio"].argmax())
    return report_raised(
        details=frame,
        formats={"imbalance ratio": "{:.1f}", "proportion of the largest": "{:.3f}"},
        measure=measure,
        datasets=list_unique(frame["data set"]),
        worst=frame["data set"].iloc[worst],
        proportion=float(frame["proportion of the largest"].iloc[worst]),
    )


@check(
    "FT003",
    title="Tiny classes",
    looks_for=f"classes with fewer rows than there are folds, or with fewer than {MIN_CLASS_ROWS} rows",
    why="Some test sets then contain no rows of the class, so the measures for this class are undefined there. A rate based on "
    "only a few rows changes considerably with each row.",
    remedy="add rows or exclude the class; in a study, you can also use fewer folds or pool the test rows",
    cite="Forman & Scholz 2010",
    texts={
        "passed": "every class has enough rows.",
        "raised": "class {label!r} has only {rows:count row}.",
        "raised many": "some classes in {datasets} are tiny: class {label!r} in {worst} has only {rows:count row}.",
    },
    serves=("study", "judgement"),
)
def check_tiny_classes(source: ReportSource) -> CheckAnswer:
    """Check for classes with too few rows, e.g. with fewer rows than folds."""
    import pandas as pd

    results = source.get_results() if source.kind == "study" else None
    rows = []
    for name, counts in source.class_counts.items():
        folds = 0 if results is None else _count_folds(results, name)
        is_partition = folds < sum(counts.values())  # with leave-one-out, every class has fewer rows than folds
        limit = max(MIN_CLASS_ROWS, folds if is_partition else 0)
        rows += [(name, label, count, folds) for label, count in counts.items() if 0 < count < limit]
    if not rows:
        return report_passed()
    frame = pd.DataFrame(rows, columns=["data set", "class", "rows", "folds"])
    frame = frame if results is not None else frame.drop(columns="folds")
    least = int(frame["rows"].argmin())
    return report_raised(
        "raised" if len(source.class_counts) == 1 else "raised many",
        details=frame,
        datasets=list_unique(frame["data set"]),
        label=frame["class"].iloc[least],
        worst=frame["data set"].iloc[least],
        rows=int(frame["rows"].iloc[least]),
    )


def _count_folds(results: Results, dataset: str) -> int:
    """Count the folds of the repeat with the most folds."""
    trials = results.scored_trials()
    fold_keys = trials.loc[trials["dataset"] == dataset, ["repeat", "fold"]].drop_duplicates()
    return int(fold_keys.groupby("repeat").size().max()) if len(fold_keys) else 0


@check(
    "FT023",
    title="Few rows",
    looks_for=f"data sets with fewer than {MIN_ROWS} rows",
    why="Intervals are wide and tests have little power, so a difference may be missed.",
    remedy="add rows",
    cite="Japkowicz & Shah 2011",
    texts={
        "passed": f"every data set has at least {MIN_ROWS} rows.",
        "raised": "the data set has only {rows:count row}.",
        "raised many": "{datasets} {datasets:has} few rows; the smallest is {worst} ({rows}).",
    },
    serves=("judgement",),
    affects_answer=True,
)
def check_few_rows(source: ReportSource) -> CheckAnswer:
    """Check for data sets with few rows."""
    import pandas as pd

    rows = [(name, sum(counts.values())) for name, counts in source.class_counts.items()]
    few = [row for row in rows if row[1] < MIN_ROWS]
    if not few:
        return report_passed()
    frame = pd.DataFrame(few, columns=["data set", "rows"])
    least = int(frame["rows"].argmin())
    return report_raised(
        "raised" if len(rows) == 1 else "raised many",
        details=frame,
        datasets=list_unique(frame["data set"]),
        worst=frame["data set"].iloc[least],
        rows=int(frame["rows"].iloc[least]),
    )


@check(
    "FT005",
    title="Known corrupted data files",
    looks_for="data sets that match published files known to be corrupted",
    why="Some published files have lost their decimal points or contain wrong class labels. Results on such files do not "
    "apply to the original data.",
    remedy="use the source named in the table",
    cite="Sambasivan et al. 2021",
    texts={
        "not applicable": "the attributes and sources of the data sets are unknown.",
        "passed": "no data set matches a file that is known to be corrupted.",
        "raised": "{datasets} {datasets:is} known to be corrupted.",
    },
    affects_answer=True,
)
def check_corrupted_data(source: ReportSource) -> CheckAnswer:
    """Check for published files that are known to be corrupted."""
    import pandas as pd

    results = source.get_results()
    datasets = results.archive.datasets
    if has_only_predictions(results) or all(not dataset.facts for dataset in datasets):
        return report_not_applicable()
    corruptions = [(dataset.name, corrupted) for dataset in datasets if (corrupted := find_corruption(dataset)) is not None]
    if not corruptions:
        return report_passed()
    rows = [(name, corrupted["name"], corrupted["problem"], corrupted["remedy"]) for name, corrupted in corruptions]
    frame = pd.DataFrame(rows, columns=["data set", "KEEL file", "problem", "remedy"])
    return report_raised(details=frame, datasets=list_unique(frame["data set"]))


def find_corruption(dataset: DataFacts) -> Mapping[str, str] | None:
    """Return the name, problem and remedy of the corrupted file that a data set matches. Return None if there is no match.

    Older results files do not record whether a data set is corrupted. In that case, the content hash identifies the file.
    """
    corrupted: Mapping[str, str] | None = dataset.facts.get("corrupted")
    fault = find_fault_by_hash(dataset.content_hash) if corrupted is None else None
    return fault.facts if fault is not None else corrupted
