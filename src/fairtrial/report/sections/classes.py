"""Class by class: how often each is found, and how often it is rightly named."""

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
_CLASS_NAMES = {"support": "rows", "predicted": "predicted rows", "f_score": "F score", "auc": "AUC"} | {
    f"{rate}_{end}": f"{rate}, {end}" for rate in ("precision", "recall") for end in ("low", "high")
}


@section("classes", title="Class by class", order=70, serves=("judgement",))
def build_judgement_section(source: ReportSource) -> Section:
    """Precision and recall of each class with Wilson's limits, F score, and the area under ROC against the rest."""
    judgement = source.get_judgement()
    frame = build_class_frame(judgement)
    formats = {name: "{:.4f}" for name in frame.columns if name not in ("data set", "model", "class", "rows", "predicted rows")}
    formats |= dict.fromkeys(("rows", "predicted rows"), "{:,.6g}")
    weighted = judgement.roles.get("weight") is not None
    note = "Limits of precision and recall are Wilson's." if not weighted else "Rows are sums of weights, which have no limits."
    table = ReportTable(CLASSES_KEY, "Every class of every model", frame, formats, note, None, True)
    return Section("classes", "Class by class", _describe_classes(judgement, frame), (), (table,))


def build_class_frame(judgement: Judgement) -> pd.DataFrame:
    """The frame of that table; its lines are those of `judgement.classes`."""
    return drop_single_dataset(judgement.classes.rename(columns=_CLASS_NAMES), len(list_datasets(judgement)) > 1)


def _describe_classes(judgement: Judgement, frame: pd.DataFrame) -> tuple[Sentence, ...]:
    if not frame["recall"].notna().any():
        return (build_sentence("No model has labels, so that precision and recall do not exist."),)
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
    """The class that the best model finds least often, and the one that it finds most often."""
    low, high = (
        int(best_rows.index[int(position)]) for position in (best_rows["recall"].argmin(), best_rows["recall"].argmax())
    )
    where = "On {dataset}, " if dataset else ""
    parts = {"dataset": dataset} if dataset else {}
    parts["model"] = str(best_rows["model"].iloc[0])
    least = format_number(frame, CLASSES_KEY, low, "recall")
    if best_rows["recall"][low] == best_rows["recall"][high]:
        return build_sentence(where + "{model} finds all classes equally often: recall {least}.", least=least, **parts)
    parts |= {"low": str(best_rows.loc[low, "class"]), "high": str(best_rows.loc[high, "class"])}
    most = format_number(frame, CLASSES_KEY, high, "recall")
    template = "{model} finds the class {low} least often, with a recall of {least}, and {high} most often, with {most}."
    return build_sentence(where + template, least=least, most=most, **parts)
