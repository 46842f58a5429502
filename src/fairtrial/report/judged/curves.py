"""Curves of the models: what each could do at every threshold and for every cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtrial.report import curves as drawings
from fairtrial.report.cost_winners import cost_winners, shares_won, with_winners
from fairtrial.report.curve_frames import thinned
from fairtrial.report.judged.naming import MOST_PARTS, datasets_of, largest, models_of
from fairtrial.report.roc_band import roc_band, with_band
from fairtrial.report.section import Figure, Section, Table
from fairtrial.report.sections.curve_words import AREA, COST, HULL, WON, area_of, curve_sentences, won_note
from fairtrial.report.sections.naming import keys_of
from fairtrial.study.predictions.judged_curves import MOST_POINTS

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study.predictions.judgement import Judgement

    Frames = dict[str, pd.DataFrame]

_MOST_BANDS, _MOST_PANELS = 3, 3


def section(judgement: Judgement) -> Section | None:
    """A part for each data set and class, those with the most rows; None where there are no curves."""
    if "roc" not in judgement.curves:
        return None
    chosen, left = _chosen(judgement)
    names = [" ".join(each) if len(datasets_of(judgement)) > 1 else each[1] for each in chosen]
    parts = [_part(judgement, *each, key) for each, key in zip(chosen, keys_of(names), strict=True)]
    notes = [f"Shown are the data sets and classes with the most rows; {left} more are left out."] if left else []
    if any((own.groupby(["dataset", "model", "class"]).size() >= MOST_POINTS).any() for own in judgement.curves.values()):
        notes.append(f"Curves are drawn from {MOST_POINTS:,} of their points; areas under ROC are those of all rows.")
    absent = [name for name in models_of(judgement) if name not in set(judgement.curves["roc"]["model"])]
    if absent:
        notes.append(f"No curve for {', '.join(absent)}: no scores.")
    return Section("curves", "Curves", notes=tuple(notes), parts=tuple(part for part in parts if part is not None))


def _chosen(judgement: Judgement) -> tuple[list[tuple[str, str]], int]:
    """Data sets and classes that are shown, and how many others there are."""
    every = [
        (str(name), str(label)) for name, label in judgement.curves["roc"][["dataset", "class"]].drop_duplicates().to_numpy()
    ]
    rows = judgement.classes.groupby(["dataset", "class"])["support"].max()
    sets = [name for name in largest(judgement) if any(each[0] == name for each in every)]
    for_each = max(1, MOST_PARTS // max(1, len(sets)))
    found = []
    for name in sets:
        own = sorted((each for each in every if each[0] == name), key=lambda each: -float(rows.get(each, 0)))[:for_each]
        found += [each for each in every if each in own]
    return found, len(every) - len(found)


def _frames(judgement: Judgement, kind: str, dataset: str, label: str) -> Frames:
    """Curves that are defined, by model."""
    points = judgement.curves.get(kind)
    if points is None:
        return {}
    own = points[(points["dataset"] == dataset) & (points["class"] == label)]
    found = {str(name): part.drop(columns=["dataset", "model", "class"]) for name, part in own.groupby("model", sort=False)}
    return {
        name: part.reset_index(drop=True)
        for name, part in found.items()
        if part.drop(columns="threshold", errors="ignore").notna().all(axis=None)
    }


def _part(judgement: Judgement, dataset: str, label: str, key: str) -> Section | None:
    frames = {
        kind: _frames(judgement, kind, dataset, label) for kind in ("roc", "roc_hull", "precision_recall", "cost", "tpr_fpr")
    }
    if not frames["roc"]:
        return None
    table = _table(judgement, frames, dataset, label, key)
    where = f"{dataset}, class {label}" if len(datasets_of(judgement)) > 1 else f"class {label}"
    figures = [
        _roc(judgement, frames, table.frame, (dataset, label), where, key),
        _precision_recall(frames, where, key),
        _cost(frames, where, key),
    ]
    if judgement.curves["roc"].loc[judgement.curves["roc"]["dataset"] == dataset, "class"].nunique() == 1:
        figures.append(_ks(frames, [str(name) for name in table.frame.index[:_MOST_PANELS]], where, key))
    title = where[0].upper() + where[1:]
    return Section(f"curves-{key}", title, curve_sentences(table, "model"), tuple(figures), (table,))


def _table(judgement: Judgement, frames: dict[str, Frames], dataset: str, label: str, key: str) -> Table:
    """Areas by model, the largest area under ROC first; that area is the one of all rows."""
    import pandas as pd

    classes = judgement.classes
    own = classes[(classes["dataset"] == dataset) & (classes["class"] == label)].set_index("model")["auc"]
    won: Any = shares_won(cost_winners(frames["cost"])) if frames["cost"] else {}
    lines = [
        {
            "model": model,
            AREA: float(own[model]),
            HULL: area_of(frames["roc_hull"].get(model), "fpr", "tpr"),
            COST: area_of(frames["cost"].get(model), "probability_cost", "expected_cost"),
            WON: float(won.get(model, 0.0)),
        }
        for model in frames["roc"]
    ]
    frame = pd.DataFrame(lines).set_index("model").sort_values(AREA, ascending=False, kind="stable")
    return Table(
        f"curves-areas-{key}",
        f"What the curves enclose: class {label}",
        frame,
        dict.fromkeys(frame.columns, "{:.4f}"),
        won_note("model"),
    )


def _roc(
    judgement: Judgement, frames: dict[str, Frames], areas: pd.DataFrame, place: tuple[str, str], where: str, key: str
) -> Figure:
    curves = frames["roc"]
    banded = list(curves) if len(curves) <= _MOST_BANDS else [str(areas.index[0])]
    thin = thinned(curves, ["fpr", "tpr"])
    chart = drawings.draw_roc(thin, thinned(frames["roc_hull"], ["fpr", "tpr"]) or None)
    counts = {name: _counts(judgement, *place, name) for name in banded}
    if all(min(each) > 0 for each in counts.values()):
        bands = {name: roc_band(curves[name], *counts[name], level=judgement.level) for name in banded}
        chart = with_band(chart, thinned(bands, ["fpr", "low", "high"]), thin, level=judgement.level)
    alt = f"ROC curves of {where}, a line for each model; the largest area is that of {areas.index[0]}."
    return Figure(f"curves-roc-{key}", f"ROC curves: {where}", chart, alt)


def _counts(judgement: Judgement, dataset: str, label: str, model: str) -> tuple[int, int]:
    """Rows of the class and of the rest; none where rows have weights, for bands need counts."""
    if judgement.roles.get("weight") is not None:
        return 0, 0
    classes = judgement.classes
    own = classes[(classes["dataset"] == dataset) & (classes["model"] == model)]
    positives = float(own.loc[own["class"] == label, "support"].sum())
    return int(positives), int(own["support"].sum() - positives)


def _precision_recall(frames: dict[str, Frames], where: str, key: str) -> Figure:
    chart = drawings.draw_precision_recall(thinned(frames["precision_recall"], ["recall", "precision"]))
    alt = f"Precision over recall of {where}, a line for each model."
    return Figure(f"curves-precision-recall-{key}", f"Precision and recall: {where}", chart, alt)


def _cost(frames: dict[str, Frames], where: str, key: str) -> Figure:
    curves = frames["cost"]
    thin = thinned(curves, ["probability_cost", "expected_cost"])
    chart = with_winners(drawings.draw_cost(thin), cost_winners(curves), curves)
    alt = f"Cost curves of {where}, a line for each model; lower is better. A strip on top tells who wins where."
    return Figure(f"curves-cost-{key}", f"Cost curves, and who wins where: {where}", chart, alt)


def _ks(frames: dict[str, Frames], models: list[str], where: str, key: str) -> Figure:
    curves = {name: frames["tpr_fpr"][name] for name in models}
    chart = drawings.draw_tpr_fpr(thinned(curves, ["position", "tpr", "fpr"], peak="difference"))
    few = "" if len(models) == len(frames["tpr_fpr"]) else ", the models with the largest areas"
    alt = f"True and false positive rate of {where} over the thresholds, a panel for each model."
    return Figure(f"curves-ks-{key}", f"Kolmogorov-Smirnov chart: {where}{few}", chart, alt)
