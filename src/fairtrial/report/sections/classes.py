"""Results by class: confusion matrices, and precision, recall, F1 score and AUC of each class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtrial.report.figures.confusion import MAX_CLASSES, draw_confusion
from fairtrial.report.judgement import (
    MAX_PARTS,
    drop_single_dataset,
    list_datasets,
    rank_judged_models,
    select_largest_datasets,
)
from fairtrial.report.section import Figure, ReportTable, Section, Sentence, build_sentence, format_number, section
from fairtrial.report.selection import make_unique_keys

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.predictions.judgement import Judgement
    from fairtrial.report.source import ReportSource

CLASSES_KEY, CONFUSION_KEY = "classes-all", "confusion-all"
_CLASS_NAMES = {"support": "rows", "predicted": "predicted rows", "f_score": "F1 score", "auc": "AUC"} | {
    f"{rate}_{end}": f"{rate}, {end}" for rate in ("precision", "recall") for end in ("low", "high")
}


@section("classes", title="Results by class", order=70, serves=("judgement",))
def build_judgement_section(source: ReportSource) -> Section:
    """Report confusion matrices, and the precision, recall, F1 score and AUC of each class, with Wilson limits of rates."""
    judgement = source.get_judgement()
    frame = build_class_frame(judgement)
    formats = {name: "{:.3g}" for name in frame.columns if name not in ("data set", "model", "class", "rows", "predicted rows")}
    formats |= dict.fromkeys(("rows", "predicted rows"), "{:,.6g}")
    weighted = judgement.roles.get("weight") is not None
    note = (
        "Low and high are Wilson limits."
        if not weighted
        else "Rows are sums of weights; limits are unavailable for weighted rows."
    )
    table = ReportTable(CLASSES_KEY, "Every class of every model", frame, formats, note, None, True)
    tables = (table, *_build_confusion_table(judgement))
    figures, hidden = _draw_confusion_figures(judgement)
    notes = (f"Number of confusion matrices that are only in the table: {hidden}.",) if hidden else ()
    notes = (*judgement.label_rules, *notes)
    return Section("classes", "Results by class", _describe_classes(judgement, frame), figures, tables, notes)


def _build_confusion_table(judgement: Judgement) -> tuple[ReportTable, ...]:
    """Build the table that lists all cells of all confusion matrices."""
    if not len(judgement.confusion):
        return ()
    names = {"true": "true class", "predicted": "predicted class", "count": "rows"}
    frame = drop_single_dataset(judgement.confusion.rename(columns=names), len(list_datasets(judgement)) > 1)
    formats = {"rows": "{:,.6g}"} | dict.fromkeys(("rate", "low", "high"), "{:.3g}")
    note = "Rate within the true class. Low and high are Wilson limits"
    is_dependent = judgement.roles.get("weight") is not None or judgement.roles.get("cluster") is not None
    note += " for the effective number of rows." if is_dependent else "."
    return (ReportTable(CONFUSION_KEY, "Confusion matrices", frame, formats, note, None, True),)


def _draw_confusion_figures(judgement: Judgement) -> tuple[tuple[Figure, ...], str]:
    """Draw the confusion matrices of the best models on the largest data sets, and count the remaining matrices."""
    confusion, several = judgement.confusion, len(list_datasets(judgement)) > 1
    matrices = {
        (str(dataset), str(model)): cells for (dataset, model), cells in confusion.groupby(["dataset", "model"], sort=False)
    }
    drawn = [
        (dataset, model)
        for dataset in select_largest_datasets(judgement)
        for model in rank_judged_models(judgement, dataset)[:MAX_PARTS]
        if (dataset, model) in matrices and matrices[dataset, model]["predicted"].nunique() <= MAX_CLASSES
    ]
    figures = []
    for (dataset, model), key in zip(drawn, make_unique_keys([f"{dataset}-{model}" for dataset, model in drawn]), strict=True):
        cells = matrices[dataset, model].reset_index(drop=True)
        title = f"Confusion matrix of {model}" + (f" on {dataset}" if several else "")
        alt = f"{title}: number of rows and rate within the true class, for each true and predicted class."
        figures.append(Figure(f"confusion-{key}", title, draw_confusion(cells, title=title), alt, cells))
    hidden = len(matrices) - len(drawn)
    return tuple(figures), str(hidden) if hidden else ""


def build_class_frame(judgement: Judgement) -> pd.DataFrame:
    """Build the frame of the table. Its rows are those of `judgement.classes`."""
    frame = judgement.classes.drop(columns=["effective_rows", "effective_other_rows"]).rename(columns=_CLASS_NAMES)
    return drop_single_dataset(frame, len(list_datasets(judgement)) > 1)


def _describe_classes(judgement: Judgement, frame: pd.DataFrame) -> tuple[Sentence, ...]:
    if not frame["recall"].notna().any():
        return (build_sentence("No model has predicted labels, so precision and recall are undefined."),)
    raw, sentences = judgement.classes.reset_index(drop=True), []
    for dataset in select_largest_datasets(judgement):
        best = rank_judged_models(judgement, dataset)[0]
        best_rows = raw[
            (raw["dataset"] == dataset) & (raw["model"] == best) & np.isfinite(raw["recall"].to_numpy(dtype=np.float64))
        ]
        if len(best_rows) > 1:
            sentences.append(_describe_recall_range(frame, best_rows, dataset if raw["dataset"].nunique() > 1 else ""))
    return tuple(sentences)


def _describe_recall_range(frame: pd.DataFrame, best_rows: pd.DataFrame, dataset: str) -> Sentence:
    """Describe the classes for which the best model has its lowest and highest recall."""
    low, high = (
        int(best_rows.index[int(position)]) for position in (best_rows["recall"].argmin(), best_rows["recall"].argmax())
    )
    where = "On {dataset}, " if dataset else ""
    parts = {"dataset": dataset} if dataset else {}
    parts["model"] = str(best_rows["model"].iloc[0])
    least = format_number(frame, CLASSES_KEY, low, "recall")
    if best_rows["recall"][low] == best_rows["recall"][high]:
        return build_sentence(where + "{model} has the same recall for all classes ({least}).", least=least, **parts)
    parts |= {"low": str(best_rows.loc[low, "class"]), "high": str(best_rows.loc[high, "class"])}
    most = format_number(frame, CLASSES_KEY, high, "recall")
    template = "{model} has its lowest recall for class {low} ({least}) and its highest for class {high} ({most})."
    return build_sentence(where + template, least=least, most=most, **parts)
