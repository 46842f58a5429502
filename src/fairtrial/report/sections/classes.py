"""Results by class: precision, recall, F1 score and AUC of each class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtrial.report.judgement import drop_single_dataset, list_datasets, rank_judged_models, select_largest_datasets
from fairtrial.report.section import ReportTable, Section, Sentence, build_sentence, format_number, section

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.predictions.judgement import Judgement
    from fairtrial.report.source import ReportSource

CLASSES_KEY = "classes-all"
_CLASS_NAMES = {"support": "rows", "predicted": "predicted rows", "f_score": "F1 score", "auc": "AUC"} | {
    f"{rate}_{end}": f"{rate}, {end}" for rate in ("precision", "recall") for end in ("low", "high")
}


@section("classes", title="Results by class", order=70, serves=("judgement",))
def build_judgement_section(source: ReportSource) -> Section:
    """Report, for each class, precision and recall with Wilson limits, the F1 score, and the AUC against the other classes."""
    judgement = source.get_judgement()
    frame = build_class_frame(judgement)
    formats = {name: "{:.4f}" for name in frame.columns if name not in ("data set", "model", "class", "rows", "predicted rows")}
    formats |= dict.fromkeys(("rows", "predicted rows"), "{:,.6g}")
    weighted = judgement.roles.get("weight") is not None
    note = (
        "Low and high are Wilson limits."
        if not weighted
        else "Rows are sums of weights; limits are unavailable for weighted rows."
    )
    table = ReportTable(CLASSES_KEY, "Every class of every model", frame, formats, note, None, True)
    return Section("classes", "Results by class", _describe_classes(judgement, frame), (), (table,))


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
