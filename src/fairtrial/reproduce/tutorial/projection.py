"""The projection: learners as points of a plane by how they err, on one domain and on several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairtrial.reproduce.reproduction import Claim, Reproduction, Table
from fairtrial.reproduce.tutorial.examples import Result, example, frame_of, joined, printed_claim
from fairtrial.reproduce.tutorial.tested import as_printed, folds_told, pooled_rows

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

Norm = Literal["L2", "L1"]
_NORMS: tuple[Norm, ...] = ("L2", "L1")
# Anneal as printed, rows by truth; the slide's row e of AdaBoost lost one of its zeros.
ADABOOST = [[0, 0, 8, 0, 0, 0], [0, 0, 99, 0, 0, 0], [0, 0, 684, 0, 0, 0], [0] * 6, [0, 0, 0, 0, 67, 0], [0, 0, 40, 0, 0, 0]]
NAIVE_BAYES = [
    [7, 0, 1, 0, 0, 0],
    [0, 99, 0, 0, 0, 0],
    [3, 38, 564, 0, 0, 79],
    [0] * 6,
    [0, 0, 0, 0, 67, 0],
    [0, 0, 2, 0, 0, 38],
]
# Accuracy, F and AUC as printed, with the decimals that they are printed with. F is of the class that is named.
_POSITIVE = {"Breast Cancer": "recurrence-events", "Labour": "good", "Liver": "1"}
_PRINTED = {
    "NB": {"Breast Cancer": "71.7 .48 .7", "Labour": "89.5 .92 .97", "Liver": "55.4 .6 .64", "mean": "72.2 .67 .77"},
    "SVM": {"Breast Cancer": "69.6 .39 .59", "Labour": "89.5 .92 .87", "Liver": "58.3 .014 .5", "mean": "72.46 .44 .65"},
    "Boost": {"Breast Cancer": "70.3 .46 .7", "Labour": "87.7 .91 .87", "Liver": "66.1 .534 .68", "mean": "74.7 .64 .75"},
}
_WHAT = ("accuracy (%)", "F", "AUC")


def anneal_as_printed() -> Reproduction:
    """Distances of the two printed tables to Ideal, by both norms."""
    from fairtrial.measures import projection

    tables = {"AdaBoost": ADABOOST, "NB": NAIVE_BAYES}
    to_ideal = {norm: projection(tables, distance=norm).distance_to_ideal for norm in _NORMS}
    cells = {name: np.asarray(table) for name, table in tables.items()}
    wrong = {name: int(table.sum() - np.trace(table)) for name, table in cells.items()}
    third = int(cells["NB"][2].sum() - cells["NB"][2, 2])
    results = [
        *(Result(f"{name}: distance to Ideal, {norm}", float(own[name])) for norm, own in to_ideal.items() for name in tables),
        *(
            Result(f"{name}: accuracy (%)", 100 * float(np.trace(cells[name]) / cells[name].sum()), printed, 1)
            for name, printed in (("AdaBoost", 83.6), ("NB", 86.3))
        ),
    ]
    ratio = {norm: float(own["NB"] / own["AdaBoost"]) for norm, own in to_ideal.items()}
    answer = (
        f"By L2 naive Bayes lies at {100 * ratio['L2']:.0f} % of AdaBoost's distance, by L1 at {100 * ratio['L1']:.0f} %: it "
        f"makes fewer errors ({wrong['NB']} against {wrong['AdaBoost']}), but {third} of them are on the one large class, and "
        "squares punish that. Accuracy tells none of this."
    )
    part = example(
        "anneal_printed",
        "The projection's distances on the printed Anneal tables",
        results,
        answer,
        asked="Do naive Bayes and AdaBoost err in the same way on Anneal?",
    )
    claims = (
        Claim(
            "By L2 the two are at about the same distance to Ideal (less than 5 % apart)",
            abs(1 - ratio["L2"]) < 0.05,
            f"naive Bayes to AdaBoost {ratio['L2']:.3f}",
        ),
        Claim(
            "By L1 naive Bayes is clearly closer (by more than 10 %)",
            ratio["L1"] < 0.9,
            f"naive Bayes to AdaBoost {ratio['L1']:.3f}",
        ),
        Claim(
            "Naive Bayes makes fewer errors, more than half of them on the largest class",
            wrong["NB"] < wrong["AdaBoost"] and 2 * third > wrong["NB"],
            f"{wrong['NB']} against {wrong['AdaBoost']}; {third} of the {wrong['NB']} on class 3",
        ),
        printed_claim(
            "On Anneal the accuracy of AdaBoost is 83.6, of naive Bayes 86.3", results[-2:], "ours from the printed tables"
        ),
    )
    return joined([part, Reproduction((), (), claims)])


def projections(results: Results) -> Reproduction:
    """Our learners on the domains that were run: each domain's accuracy, F and AUC, then the pictures."""
    present = [each.name for each in results.archive.datasets]
    parts = [_listing(results, present)]
    binary = [name for name in _POSITIVE if name in present]
    if binary:
        parts.append(_pictured(results, binary, ("L2",), "projection_binary", "/".join(binary)))
    if "Anneal" in present:
        parts.append(_pictured(results, ["Anneal"], _NORMS, "projection_anneal", "Anneal"))
    return joined(parts)


def _listing(results: Results, present: list[str]) -> Reproduction:
    lines: list[Result] = []
    for learner, printed in _PRINTED.items():
        own = {name: _scored(results, name, learner) for name in _POSITIVE if name in present}
        for name, values in own.items():
            lines += _as_printed(f"{learner} on {name}: ", values, printed[name])
        if len(own) == len(_POSITIVE):
            lines += _as_printed(f"{learner}: mean ", np.mean(list(own.values()), axis=0), printed["mean"])
    if not lines:
        return Reproduction((), ())
    agreeing = sum(bool(each.agrees) for each in lines)
    note = (
        "*Asked:* what do lists of measures tell? F is that of "
        f"{', '.join(f'{label} ({name})' for name, label in _POSITIVE.items())}. *Answer:* over {folds_told(results)}, "
        f"{agreeing} of {len(lines)} figures agree to the printed digits. Liver comes from KEEL, whose rows stand in another "
        "order than WEKA's file, so that its folds are others; there WEKA 3.6.14 gives 53.9, 58.3 and 67.0 % for naive Bayes, "
        "SMO and AdaBoost. That the machine says one class nearly always on Liver shows in F alone."
    )
    table = Table("three_domains", "Three learners on Breast Cancer, Labour and Liver", frame_of(lines), note)
    return Reproduction((), (table,))


def _as_printed(whose: str, values: Iterable[float], printed: str) -> list[Result]:
    """The three figures beside those of the slide; a .7 among figures of two decimals stands for .70."""
    return [
        Result(whose + what, float(value), float(text), max(len(text.split(".")[1]), fewest))
        for what, value, text, fewest in zip(_WHAT, values, printed.split(), (1, 2, 2), strict=True)
    ]


def _scored(results: Results, dataset: str, learner: str) -> tuple[float, float, float]:
    from fairtrial.measures import accuracy, auc, f_score

    own = pooled_rows(results, dataset, learner)
    if own is None:
        return (float("nan"),) * 3
    positive: dict[str, Any] = {"labels": own.classes, "positive": _POSITIVE[dataset]}
    return (
        100 * accuracy(own.truth, own.predicted),
        float(f_score(own.truth, own.predicted, **positive)),
        float(auc(own.truth, own.score(_POSITIVE[dataset]), **positive)),
    )


def _pictured(results: Results, names: list[str], norms: tuple[Norm, ...], key: str, title: str) -> Reproduction:
    from fairtrial.measures import projection
    from fairtrial.report.figures.curves import draw_projection
    from fairtrial.report.figures.projection import compute_confusion_tables
    from fairtrial.report.selection import get_main_condition

    tables = compute_confusion_tables(results, get_main_condition(results), names).tables
    found = {norm: projection(tables, distance=norm) for norm in norms}
    frame = _distances(found)
    words = "; ".join(
        f"by {norm} nearest to Ideal is {own.distance_to_ideal.idxmin()}, farthest {own.distance_to_ideal.idxmax()}, and most "
        f"by itself is {_loneliest(own.distances)}"
        for norm, own in found.items()
    )
    note = (
        f"*Asked:* which learners err alike on {title}? *Answer:* {words}. Distances to Ideal and along the tree are exact in "
        "the picture, others may be distorted; learners that crowd about Ideal are drawn at its place (stress "
        f"{', '.join(f'{own.stress:.3f} by {norm}' for norm, own in found.items())})."
    )
    charts = {
        f"Projection, {title}, {norm}": draw_projection(*_gathered(own), title=f"{title} ({norm})")
        for norm, own in found.items()
    }
    claims = (*_claims(found, names), *_same_tables(tables, names))
    if not as_printed(results):
        claims = tuple(replace(each, holds=None, evidence=f"{each.evidence}; over {folds_told(results)}") for each in claims)
    return Reproduction((), (Table(key, f"The projection of eight learners: {title}", frame, note, digits=2),), claims, charts)


def _same_tables(tables: Mapping[str, Any], names: list[str]) -> list[Claim]:
    """Whether our confusion tables of Anneal are the printed ones, cell by cell."""
    if names != ["Anneal"]:
        return []
    printed = {"NB": NAIVE_BAYES, "Boost": ADABOOST}
    apart = {
        name: int(np.abs(tables[name][0] - np.asarray(cells)).sum()) // 2 for name, cells in printed.items() if name in tables
    }
    told = ", ".join(f"{name}: {rows} rows elsewhere" for name, rows in apart.items())
    text = "The confusion tables of naive Bayes and AdaBoost on Anneal, cell by cell"
    return [Claim(text, None if any(apart.values()) else True, told)] if apart else []


def _gathered(own: Any) -> tuple[pd.DataFrame, list[tuple[str, str]]]:
    """Points and edges for the picture; three or more learners that crowd about Ideal share its point: names would collide."""
    far = np.hypot(own.points["x"], own.points["y"])
    near = [str(name) for name in far.index[far < far.max() / 5] if name != "Ideal"]
    together = f"Ideal and {len(near)} others"
    joint = {"Ideal", *near} if len(near) > 2 else set()
    names = {str(name): together if name in joint else str(name) for name in far.index}
    shown = own.points[["x", "y"]].drop(index=near if joint else []).rename(index=names)
    edges = {(names[child], names[parent]) for child, parent in own.parents.items() if parent in names and child in names}
    return shown.rename_axis("learner").reset_index(), [each for each in sorted(edges) if each[0] != each[1]]


def _distances(found: Mapping[Norm, Any]) -> pd.DataFrame:
    import pandas as pd

    frame = pd.DataFrame({f"to Ideal, {norm}": own.distance_to_ideal for norm, own in found.items()})
    for norm, own in found.items():
        frame[f"to its nearest learner, {norm}"] = _to_nearest(own.distances)
    return frame.rename_axis("learner").reset_index()


def _to_nearest(distances: pd.DataFrame) -> pd.Series[float]:
    between = distances.drop(index="Ideal", columns="Ideal")
    apart = between.where(~np.eye(len(between), dtype=bool))
    return apart.min(axis=1)


def _loneliest(distances: pd.DataFrame) -> str:
    return str(_to_nearest(distances).idxmax())


def _claims(found: Mapping[Norm, Any], names: list[str]) -> tuple[Claim, ...]:
    if names == ["Anneal"]:
        far = {norm: own.distance_to_ideal for norm, own in found.items()}
        worst = {norm: set(own.nlargest(2).index) for norm, own in far.items()}
        return (
            Claim(
                "On Anneal naive Bayes and AdaBoost stand apart from all others: by both norms they are farthest from Ideal",
                all(each == {"NB", "Boost"} for each in worst.values()),
                "; ".join(f"{norm}: farthest are {', '.join(sorted(each))}" for norm, each in worst.items()),
            ),
        )
    if len(names) < len(_POSITIVE):
        return ()
    own = found["L2"]
    lonely = _to_nearest(own.distances).nlargest(2)
    return (
        Claim(
            "The projection of the three binary domains shows which learners behave abnormally",
            None,
            f"a matter of looking; most by themselves are {' and '.join(lonely.index)}, {lonely.iloc[0]:.0f} and "
            f"{lonely.iloc[1]:.0f} from their nearest learner",
        ),
    )
