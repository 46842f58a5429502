"""Curves: what each learner could do at every threshold and for every cost, by data set."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.report import curves as drawings
from fairtrial.report.cost_winners import cost_winners, shares_won, with_winners
from fairtrial.report.curve_frames import classes_tested, curve_frames, positive_class, thinned
from fairtrial.report.places import keys_of, main_condition
from fairtrial.report.roc_band import roc_band, with_band
from fairtrial.report.section import Figure, Section, Table
from fairtrial.report.sections.curve_words import AREA, COST, HULL, KS, OFF, WON, area_of, curve_sentences, won_note

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results
    from fairtrial.study.archive import ConditionFacts, DataFacts

    Frames = dict[str, pd.DataFrame]

_MOST_DATA_SETS, _MOST_WHOLE, _MOST_BANDS, _MOST_PANELS = 6, 2, 3, 3


def section(results: Results) -> Section | None:
    """A part for each of up to six data sets, those with the most rows; None where no learner gives scores."""
    facts, whole = _largest(results, _MOST_DATA_SETS), _largest(results, _MOST_WHOLE)
    keys = keys_of(each.name for each in results.archive.datasets)
    parts = [part for each in facts if (part := _part(results, each, keys[each.name], each in whole)) is not None]
    if not parts:
        return None
    left = len(results.archive.datasets) - len(facts)
    notes = ["A curve is that of the test rows of all folds of the first repeat, as if one model had scored them all."]
    if len(parts) > _MOST_WHOLE:
        notes.append(
            "The data sets with the most rows have all kinds of curves, the others ROC and cost curves; draw(results, 'ks', "
            "dataset=...) and its like give the rest, and the tables have their numbers."
        )
    if left:
        told = ", ".join(f"'{each.name}'" for each in results.archive.datasets if each not in facts)
        notes.append(f"Shown are the data sets with the most rows. draw(results, 'roc', dataset=...) gives the others: {told}.")
    return Section("curves", "Curves", notes=tuple(notes), parts=tuple(parts))


def _largest(results: Results, count: int) -> list[DataFacts]:
    """The data sets with the most rows, in the order of the study."""
    every = list(results.archive.datasets)
    largest = sorted(every, key=lambda each: -len(each.codes))[:count]
    return [each for each in every if each in largest]


def _part(results: Results, facts: DataFacts, key: str, whole: bool) -> Section | None:
    condition, label = main_condition(results), positive_class(results, facts)
    frames = {kind: _frames(results, kind, facts, condition, label) for kind in _KINDS}
    if not frames["roc"]:
        return None
    table = _table(frames, f"curves-areas-{key}", facts.name)
    chosen = [str(name) for name in table.frame.index]
    counts = classes_tested(results, facts, condition, label)
    figures = [_roc(frames, table.frame, counts, facts.name, key), _cost(frames, table.frame, facts.name, key)]
    if whole:
        figures.insert(1, _precision_recall(frames, facts.name, key))
        figures.append(_ks(frames, chosen[:_MOST_PANELS], table.frame, facts.name, key))
    if whole and frames["calibration"]:
        figures.append(_calibration(frames, table.frame, facts.name, key))
    notes = _notes(results, frames)
    words = curve_sentences(table, "learner", _about(facts, label))
    return Section(f"curves-{key}", facts.name, words, tuple(figures), (table,), notes)


def _about(facts: DataFacts, label: object) -> str:
    rest = "" if int((facts.counts > 0).sum()) <= 2 else " against the rest"
    return f"{facts.name}, class {label}{rest}"


_KINDS = ("roc", "roc-hull", "precision-recall", "cost", "tpr-fpr", "calibration")


def _frames(results: Results, kind: str, facts: DataFacts, condition: ConditionFacts, label: object) -> Frames:
    """Curves that are defined, by learner; none where no learner has what it takes."""
    try:
        with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
            found = curve_frames(
                results,
                kind,
                dataset=facts.name,
                condition=condition.name,
                level=condition.level,
                positive={facts.name: label},
            )
    except InputError:
        return {}
    return {
        name: frame for name, frame in found.items() if frame.drop(columns="threshold", errors="ignore").notna().all(axis=None)
    }


def _table(frames: dict[str, Frames], key: str, name: str) -> Table:
    """Areas by learner, the largest area under ROC first."""
    import pandas as pd

    won = shares_won(cost_winners(frames["cost"]))
    lines = [
        {
            "learner": learner,
            AREA: area_of(frame, "fpr", "tpr"),
            HULL: area_of(frames["roc-hull"][learner], "fpr", "tpr"),
            KS: float((frame["tpr"] - frame["fpr"]).abs().max()),
            COST: area_of(frames["cost"][learner], "probability_cost", "expected_cost"),
            WON: float(won.get(learner, 0.0)),
            OFF: _off(frames["calibration"].get(learner)),
        }
        for learner, frame in frames["roc"].items()
    ]
    frame = pd.DataFrame(lines).set_index("learner").sort_values(AREA, ascending=False, kind="stable")
    frame = frame if frames["calibration"] else frame.drop(columns=OFF)
    formats = dict.fromkeys(frame.columns, "{:.3f}")
    return Table(key, f"What the curves of {name} enclose", frame, formats, won_note("learner"))


def _off(curve: pd.DataFrame | None) -> float:
    """How far forecasts lie from what came true, on average over cases; NaN without probabilities."""
    if curve is None:
        return float("nan")
    return float(np.average((curve["mean_forecast"] - curve["share"]).abs(), weights=curve["weight"]))


def _notes(results: Results, frames: dict[str, Frames]) -> tuple[str, ...]:
    notes = []
    absent = [each.name for each in results.archive.learners if each.name not in frames["roc"]]
    if absent:
        notes.append(f"No curve for {', '.join(absent)}: trials failed or have not run, or the learner gives no scores.")
    plain = [name for name in frames["roc"] if name not in frames["calibration"]]
    if plain and frames["calibration"]:
        notes.append(f"No calibration for {', '.join(plain)}: no probabilities.")
    return tuple(notes)


def _roc(frames: dict[str, Frames], areas: pd.DataFrame, counts: tuple[int, int], name: str, key: str) -> Figure:
    curves = frames["roc"]
    best = str(areas.index[0])
    banded = list(curves) if len(curves) <= _MOST_BANDS else [best]
    thin = thinned(curves, ["fpr", "tpr"])
    chart = drawings.draw_roc(thin, thinned(frames["roc-hull"], ["fpr", "tpr"]), title="ROC curve")
    if min(counts) > 0:
        bands = thinned({each: roc_band(curves[each], *counts) for each in banded}, ["fpr", "low", "high"])
        chart = with_band(chart, bands, thin)
    alt = f"ROC curves on {name}. {_told(areas, AREA, 'area under ROC', highest=True)}"
    return Figure(f"curves-roc-{key}", f"ROC curves of {name}", chart, alt)


def _precision_recall(frames: dict[str, Frames], name: str, key: str) -> Figure:
    curves = frames["precision-recall"]
    chart = drawings.draw_precision_recall(thinned(curves, ["recall", "precision"]))
    reached = {each: float(frame.loc[frame["recall"] >= 0.8, "precision"].max()) for each, frame in curves.items()}
    best = max(reached, key=lambda each: reached[each])
    alt = f"Precision over recall on {name}. From a recall of 0.8 on none is more precise than {best}, {reached[best]:.3f}."
    return Figure(f"curves-precision-recall-{key}", f"Precision and recall of {name}", chart, alt)


def _cost(frames: dict[str, Frames], areas: pd.DataFrame, name: str, key: str) -> Figure:
    curves = frames["cost"]
    chart = with_winners(
        drawings.draw_cost(thinned(curves, ["probability_cost", "expected_cost"])), cost_winners(curves), curves
    )
    alt = f"Cost curves on {name}. {_told(areas, COST, 'area under the cost curve', highest=False)}"
    return Figure(f"curves-cost-{key}", f"Cost curves of {name}, and who wins where", chart, alt)


def _ks(frames: dict[str, Frames], chosen: list[str], areas: pd.DataFrame, name: str, key: str) -> Figure:
    curves = {each: frames["tpr-fpr"][each] for each in chosen}
    chart = drawings.draw_tpr_fpr(thinned(curves, ["position", "tpr", "fpr"], most=80, peak="difference"))
    told = _told(areas.loc[chosen], KS, "widest gap (KS)", highest=True)
    few = "" if len(chosen) == len(areas) else f" (the {len(chosen)} largest areas)"
    return Figure(
        f"curves-ks-{key}",
        f"Kolmogorov-Smirnov chart of {name}{few}",
        chart,
        f"True and false positive rates on {name}. {told}",
    )


def _calibration(frames: dict[str, Frames], areas: pd.DataFrame, name: str, key: str) -> Figure:
    curves = frames["calibration"]
    best = str(areas[OFF].idxmin())
    away = f"{areas[OFF].min():.3f} away on average over its cases"
    alt = f"Calibration on {name}. None lies nearer to the diagonal than {best}, {away}."
    rounded = {each: own.round(4) for each, own in curves.items()}
    return Figure(f"curves-calibration-{key}", f"Calibration of {name}", drawings.draw_calibration(rounded), alt)


def _told(frame: pd.DataFrame, column: str, words: str, *, highest: bool) -> str:
    """Who is ahead, with the number, and who comes last."""
    values: Any = frame[column]
    first, last = (values.idxmax(), values.idxmin()) if highest else (values.idxmin(), values.idxmax())
    side = ("highest", "lowest") if highest else ("lowest", "highest")
    if values[first] == values[last]:
        who = str(first) if len(frame) == 1 else "All learners"
        return f"{who}: {words} {values[first]:.3f}."
    return f"{first} has the {side[0]} {words}, {values[first]:.3f}; {last} the {side[1]}, {values[last]:.3f}."
