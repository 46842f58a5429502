"""Class by class: how often each is found, and how often it is rightly named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtrial.report.judged.naming import datasets_of, largest, without_lone_set
from fairtrial.report.judged.pairs import order_of
from fairtrial.report.section import Section, Table
from fairtrial.report.sentence import Sentence, say, shown

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study.predictions.judgement import Judgement

KEY = "classes-all"
_NAMES = {"support": "rows", "predicted": "predicted rows", "f_score": "F score", "auc": "AUC"} | {
    f"{share}_{end}": f"{share}, {end}" for share in ("precision", "recall") for end in ("low", "high")
}


def section(judgement: Judgement) -> Section:
    """Precision and recall of each class with Wilson's limits, F score, and the area under ROC against the rest."""
    frame = all_frame(judgement)
    formats = {name: "{:.4f}" for name in frame.columns if name not in ("data set", "model", "class", "rows", "predicted rows")}
    formats |= dict.fromkeys(("rows", "predicted rows"), "{:,.6g}")
    weighted = judgement.roles.get("weight") is not None
    note = "Limits of precision and recall are Wilson's." if not weighted else "Rows are sums of weights, which have no limits."
    table = Table(KEY, "Every class of every model", frame, formats, note, None, True)
    return Section("classes", "Class by class", _words(judgement, frame), (), (table,))


def all_frame(judgement: Judgement) -> pd.DataFrame:
    """The frame of that table; its lines are those of `judgement.classes`."""
    return without_lone_set(judgement.classes.rename(columns=_NAMES), len(datasets_of(judgement)) > 1)


def _words(judgement: Judgement, frame: pd.DataFrame) -> tuple[Sentence, ...]:
    if not frame["recall"].notna().any():
        return (say("No model has labels, so that precision and recall do not exist."),)
    raw, told = judgement.classes.reset_index(drop=True), []
    for dataset in largest(judgement):
        best = order_of(judgement, dataset)[0]
        own = raw[(raw["dataset"] == dataset) & (raw["model"] == best) & np.isfinite(raw["recall"].to_numpy(dtype=np.float64))]
        if len(own) > 1:
            told.append(_least_found(frame, own, dataset if raw["dataset"].nunique() > 1 else ""))
    return tuple(told)


def _least_found(frame: pd.DataFrame, own: pd.DataFrame, dataset: str) -> Sentence:
    """The class that the best model finds least often, and the one that it finds most often."""
    low, high = (int(own.index[int(place)]) for place in (own["recall"].argmin(), own["recall"].argmax()))
    where = "On {dataset}, " if dataset else ""
    parts = {"dataset": dataset} if dataset else {}
    parts["model"] = str(own["model"].iloc[0])
    least = shown(frame, KEY, low, "recall")
    if own["recall"][low] == own["recall"][high]:
        return say(where + "{model} finds all classes equally often: recall {least}.", least=least, **parts)
    parts |= {"low": str(own.loc[low, "class"]), "high": str(own.loc[high, "class"])}
    most = shown(frame, KEY, high, "recall")
    told = "{model} finds the class {low} least often, with a recall of {least}, and {high} most often, with {most}."
    return say(where + told, least=least, most=most, **parts)
