"""ROC curves, cost curves, and the projection of confusion matrices onto a plane."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairtrial._text import format_count, join_names
from fairtrial.reproduce.claim import NOT_TESTABLE, Claim, IntervalEstimate, judge_direction, judge_fact
from fairtrial.reproduce.experiment import ResultTable
from fairtrial.reproduce.tutorial.inputs import (
    EIGHT_LEARNERS,
    PooledPredictions,
    TutorialInputs,
    count_folds,
    pool_predictions,
    require_printed_folds,
)
from fairtrial.reproduce.tutorial.printed import PageSection, PrintedResult, build_example, judge_agreement, judge_printed

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

Norm = Literal["L2", "L1"]
_NORMS: tuple[Norm, ...] = ("L2", "L1")
# Anneal as printed, one row per true class. On the slide, row e of AdaBoost lacks one of its zeros.
ADABOOST = [[0, 0, 8, 0, 0, 0], [0, 0, 99, 0, 0, 0], [0, 0, 684, 0, 0, 0], [0] * 6, [0, 0, 0, 0, 67, 0], [0, 0, 40, 0, 0, 0]]
NAIVE_BAYES = [
    [7, 0, 1, 0, 0, 0],
    [0, 99, 0, 0, 0, 0],
    [3, 38, 564, 0, 0, 79],
    [0] * 6,
    [0, 0, 0, 0, 67, 0],
    [0, 0, 2, 0, 0, 38],
]
_PRINTED_RANGE = (97.4, 99.3)  # accuracies of the other learners on Anneal
_CLOUDS = ("NB", "C4.5", "Boost")
# Accuracy, F1 score of the positive class and AUC as printed, with their decimal places.
_POSITIVE = {"Breast Cancer": "recurrence-events", "Labour": "good", "Liver": "1"}
_PRINTED = {
    "NB": {"Breast Cancer": "71.7 .48 .7", "Labour": "89.5 .92 .97", "Liver": "55.4 .6 .64", "mean": "72.2 .67 .77"},
    "SVM": {"Breast Cancer": "69.6 .39 .59", "Labour": "89.5 .92 .87", "Liver": "58.3 .014 .5", "mean": "72.46 .44 .65"},
    "Boost": {"Breast Cancer": "70.3 .46 .7", "Labour": "87.7 .91 .87", "Liver": "66.1 .534 .68", "mean": "74.7 .64 .75"},
}


def build_sections(inputs: TutorialInputs) -> Iterator[PageSection]:
    """Draw curves and projections, and compute distances of the printed matrices."""
    results = inputs.eight_learners
    if results is not None:
        yield from build_cost_curves(results)
    yield _build_printed_anneal()
    if results is not None:
        present = [facts.name for facts in results.archive.datasets]
        binary = [name for name in _POSITIVE if name in present]
        if binary:
            scores = {(name, learner): compute_scores(results, name, learner) for name in binary for learner in _PRINTED}
            section = build_three_domains(scores, count_folds(results))
            yield replace(section, claims=require_printed_folds(section.claims, results))
            yield build_projection(results, binary)
        if "Anneal" in present:
            yield build_projection(results, ["Anneal"], inputs.request.seed)
            if binary:
                yield build_projection(results, [*binary, "Anneal"])
        yield from build_clouds(results)


def build_cost_curves(results: Results) -> Iterator[PageSection]:
    """Draw ROC and cost curves of three learners on Breast Cancer, if this data set was run."""
    from fairtrial.measures import auc, cost_curve, roc_curve
    from fairtrial.report.figures.curves import draw_cost, draw_roc
    from fairtrial.report.figures.study_curves import find_cost_winners, with_winners

    positive = _POSITIVE["Breast Cancer"]
    pooled = {name: pool_predictions(results, "Breast Cancer", name) for name in ("NB", "C4.5", "Boost")}
    scored = {name: (rows.y_true == positive, rows.get_scores(positive)) for name, rows in pooled.items() if rows is not None}
    if not scored:
        return
    curves = {name: cost_curve(*scores) for name, scores in scored.items()}
    rocs = {name: roc_curve(*scores) for name, scores in scored.items()}
    winners = find_cost_winners(curves)
    claim = judge_cost_winners(winners)
    values = {
        "n_folds": count_folds(results),
        "aucs": {name: float(auc(*scores)) for name, scores in scored.items()},
        "n_pairs": len(list(combinations(rocs, 2))),
        "crossing": [f"{a} and {b}" for a, b in combinations(rocs, 2) if do_curves_cross(rocs[a], rocs[b])],
        "ranges": claim.details,
    }
    figures = {
        "ROC curves on Breast Cancer": draw_roc(rocs),
        "Cost curves on Breast Cancer; the strip on top names the winner": with_winners(draw_cost(curves), winners, curves),
    }
    table = ResultTable("cost_winners", "Cost curves: the best learner by probability cost", winners, digits=3)
    yield PageSection("cost_curves", values, (table,), require_printed_folds([claim], results), figures)


def judge_cost_winners(winners: pd.DataFrame) -> Claim:
    """Judge whether the best learner depends on the probability cost."""
    ranges = [
        f"{row['learner'] or row['winner']} from {row['start']:.2f} to {row['end']:.2f}" for row in winners.to_dict("records")
    ]
    return Claim(
        "Cost curves show for which class probabilities a classifier is preferable: different classifiers win in different "
        "ranges",
        judge_fact(winners.loc[winners["winner"] == "learner", "learner"].nunique() > 1),
        "; ".join(ranges),
    )


def do_curves_cross(first: pd.DataFrame, second: pd.DataFrame) -> bool:
    """Return whether each of two ROC curves lies above the other in some range.

    >>> import pandas as pd
    >>> early, late = ({"fpr": [0, x, 1], "tpr": [0, y, 1]} for x, y in ((0.1, 0.5), (0.5, 0.9)))
    >>> do_curves_cross(pd.DataFrame(early), pd.DataFrame(late))
    True
    """
    corners = np.unique(np.concatenate([first["fpr"], second["fpr"]]))
    width = np.diff(corners)
    # close to both ends of each interval, because a curve can be vertical at a corner
    positions = np.concatenate([corners[:-1] + 1e-6 * width, corners[1:] - 1e-6 * width])
    gap = np.interp(positions, first["fpr"], first["tpr"]) - np.interp(positions, second["fpr"], second["tpr"])
    return bool((gap > 1e-5).any() and (gap < -1e-5).any())


def _build_printed_anneal() -> PageSection:
    """Compute the distances of two printed confusion matrices from the ideal matrix."""
    from fairtrial.measures import projection

    matrices = {"AdaBoost": np.asarray(ADABOOST), "NB": np.asarray(NAIVE_BAYES)}
    distances = {norm: projection(matrices, distance=norm).distance_to_ideal for norm in _NORMS}
    n_errors = {name: int(matrix.sum() - np.trace(matrix)) for name, matrix in matrices.items()}
    on_largest_class = int(matrices["NB"][2].sum() - matrices["NB"][2, 2])
    accuracies = {name: 100 * float(np.trace(matrix) / matrix.sum()) for name, matrix in matrices.items()}
    results = [
        *(
            PrintedResult(f"{name}: distance to Ideal, {norm}", float(to_ideal[name]))
            for norm, to_ideal in distances.items()
            for name in matrices
        ),
        PrintedResult("AdaBoost: accuracy (%)", accuracies["AdaBoost"], 83.6, 1),
        PrintedResult("NB: accuracy (%)", accuracies["NB"], 86.3, 1),
    ]
    ratios = {norm: float(to_ideal["NB"] / to_ideal["AdaBoost"]) for norm, to_ideal in distances.items()}
    claims = (
        Claim(
            "By L2, both are at about the same distance from Ideal (judged as: they differ by less than 5 %)",
            judge_fact(abs(1 - ratios["L2"]) < 0.05),
            f"distance of naive Bayes relative to AdaBoost {ratios['L2']:.3f}",
            "printed",
        ),
        Claim(
            "By L1, naive Bayes is clearly closer to Ideal (judged as: by more than 10 %)",
            judge_fact(ratios["L1"] < 0.9),
            f"distance of naive Bayes relative to AdaBoost {ratios['L1']:.3f}",
            "printed",
        ),
        Claim(
            "Naive Bayes makes fewer errors, more than half of them on the largest class",
            judge_fact(n_errors["NB"] < n_errors["AdaBoost"] and 2 * on_largest_class > n_errors["NB"]),
            f"{n_errors['NB']} and {n_errors['AdaBoost']} errors; {on_largest_class} of the {n_errors['NB']} on class 3",
            "printed",
        ),
        judge_printed(
            "On Anneal, AdaBoost has an accuracy of 83.6 % and naive Bayes of 86.3 %",
            results[-2:],
            "ours are computed from the printed matrices",
        ),
    )
    title = "Distances of the printed Anneal matrices in the projection"
    values = {"ratios": ratios, "n_errors": n_errors, "on_largest_class": on_largest_class}
    return build_example("anneal_printed", title, results, claims=claims, values=values)


def compute_scores(results: Results, dataset: str, learner: str) -> tuple[float, float, float]:
    """Compute accuracy in percent, F1 score and AUC; NaN if the learner was not run."""
    from fairtrial.measures import accuracy, auc, f_score

    rows = pool_predictions(results, dataset, learner)
    if rows is None:
        return (float("nan"),) * 3
    positive: dict[str, Any] = {"labels": rows.classes, "positive": _POSITIVE[dataset]}
    return (
        100 * accuracy(rows.y_true, rows.y_pred),
        float(f_score(rows.y_true, rows.y_pred, **positive)),
        float(auc(rows.y_true, rows.get_scores(_POSITIVE[dataset]), **positive)),
    )


def build_three_domains(scores: Mapping[tuple[str, str], tuple[float, float, float]], n_folds: int) -> PageSection:
    """Compare accuracy, F1 score and AUC on three data sets with the printed numbers."""
    lines: list[PrintedResult] = []
    for learner, printed in _PRINTED.items():
        ours = {name: scores[name, learner] for name in _POSITIVE if (name, learner) in scores}
        for name, numbers in ours.items():
            lines += _compare_scores(f"{learner} on {name}:", numbers, printed[name])
        if len(ours) == len(_POSITIVE):
            lines += _compare_scores(f"{learner}: mean", np.mean(list(ours.values()), axis=0), printed["mean"])
    is_liver = [" on Liver" in line.quantity or ": mean " in line.quantity for line in lines]
    same = [line for line, other in zip(lines, is_liver, strict=True) if not other]
    others = [line for line, other in zip(lines, is_liver, strict=True) if other]
    claims = [
        judge_agreement(
            "The numbers of three learners on Breast Cancer and Labour agree to the printed digits",
            sum(bool(line.agrees) for line in same),
            len(same),
            remark="differing: " + "; ".join(line.quantity for line in same if not line.agrees) if same else "",
        ),
        judge_agreement(
            "The numbers of three learners on Liver, and the means over the three domains, agree to the printed digits",
            sum(bool(line.agrees) for line in others),
            len(others),
            remark="not comparable, because the rows of our file of Liver are in a different order",
            is_comparable=False,
        ),
    ]
    return build_example(
        "three_domains",
        "Three learners on Breast Cancer, Labour and Liver",
        lines,
        claims=claims,
        values={
            "n_folds": n_folds,
            "positive": _POSITIVE,
            "n_agreeing": sum(bool(line.agrees) for line in lines),
            "n_lines": len(lines),
        },
    )


def _compare_scores(prefix: str, numbers: Iterable[float], printed: str) -> list[PrintedResult]:
    """Compare three numbers with the printed ones.

    Printed F1 scores and AUCs have at least two decimal places (.7 means .70).
    """
    measures = (("accuracy (%)", 1), ("F1 score", 2), ("AUC", 2))
    return [
        PrintedResult(f"{prefix} {measure}", float(number), float(text), max(len(text.split(".")[1]), least_digits))
        for (measure, least_digits), number, text in zip(measures, numbers, printed.split(), strict=True)
    ]


def build_projection(results: Results, names: list[str], seed: int = 1) -> PageSection:
    """Project the confusion matrices of the eight learners onto a plane.

    Anneal alone is projected by both norms. If Anneal is projected with other domains, all domains have the same weight.
    """
    from fairtrial.measures import projection
    from fairtrial.report.figures.projection import compute_confusion_tables, draw_projection
    from fairtrial.report.selection import get_main_condition

    key = "projection_anneal" if names == ["Anneal"] else "projection_mixed" if "Anneal" in names else "projection_binary"
    learners = [learner.name for learner in results.archive.learners if learner.name in EIGHT_LEARNERS]
    matrices = compute_confusion_tables(results, get_main_condition(results), names, learners).tables
    norms = _NORMS if key == "projection_anneal" else _NORMS[:1]
    is_mixed = key == "projection_mixed"
    projections = {norm: projection(matrices, distance=norm, normalise=is_mixed) for norm in norms}
    claims: list[Claim] = []
    if key == "projection_anneal":
        pooled = {name: rows for name in matrices if (rows := pool_predictions(results, "Anneal", name)) is not None}
        claims = [*judge_anneal_matrices(matrices), judge_accuracies(matrices)]
        if {"NB", "Boost"} < set(pooled):
            claims.append(judge_farthest(estimate_isolation(pooled, ("NB", "Boost"), seed)))
    elif key == "projection_binary":
        claims = _judge_binary_domains(projections["L2"], names)
    title = "/".join(names)
    values = {
        "domains": title,
        "norms": {
            norm: {
                "nearest": plane.distance_to_ideal.idxmin(),
                "farthest": plane.distance_to_ideal.idxmax(),
                "most_isolated": _compute_isolation(plane).idxmax(),
                "stress": plane.stress,
            }
            for norm, plane in projections.items()
        },
    }
    figures = {
        f"Projection, {title}, {norm}": draw_projection(*merge_crowded_points(plane), title=f"{title} ({norm})")
        for norm, plane in projections.items()
    }
    digits = 3 if is_mixed else 2
    table = ResultTable(key, f"The projection of eight learners: {title}", _tabulate_distances(projections), digits=digits)
    return PageSection(key, values, (table,), require_printed_folds(claims, results), figures)


def _tabulate_distances(projections: Mapping[Norm, Any]) -> pd.DataFrame:
    import pandas as pd

    columns = {f"to Ideal, {norm}": plane.distance_to_ideal for norm, plane in projections.items()}
    columns |= {f"to the nearest learner, {norm}": _compute_isolation(plane) for norm, plane in projections.items()}
    return pd.DataFrame(columns).rename_axis("learner").reset_index()


def _compute_isolation(plane: Any) -> pd.Series[float]:
    """Compute the distance of each learner to its nearest neighbour."""
    between: pd.DataFrame = plane.distances.drop(index="Ideal", columns="Ideal")
    return between.where(~np.eye(len(between), dtype=bool)).min(axis=1)


def judge_anneal_matrices(matrices: Mapping[str, Any]) -> list[Claim]:
    """Judge whether the matrices of naive Bayes and AdaBoost on Anneal equal the printed ones."""
    printed = {"NB": NAIVE_BAYES, "Boost": ADABOOST}
    n_moved = {
        name: int(np.abs(matrices[name][0] - np.asarray(cells)).sum()) // 2
        for name, cells in printed.items()
        if name in matrices
    }
    return [
        Claim(
            "The confusion matrices of naive Bayes and AdaBoost on Anneal agree in every cell",
            judge_fact(True if n_moved and not any(n_moved.values()) else None),
            ", ".join(f"{name}: {format_count(rows, 'row')} in other cells" for name, rows in n_moved.items()),
            "printed",
        )
    ]


def judge_accuracies(matrices: Mapping[str, Any]) -> Claim:
    """Judge whether the accuracies of other learners on Anneal lie in the printed range."""
    accuracies = {
        name: 100 * float(np.trace(tables[0]) / tables[0].sum())
        for name, tables in matrices.items()
        if name not in ("NB", "Boost")
    }
    low, high = _PRINTED_RANGE
    outside = [
        name
        for name, accuracy in accuracies.items()
        if name not in ("Bagg", "RanF") and not low - 0.05 <= accuracy <= high + 0.05
    ]
    remark = " (Bagg and RanF are not WEKA's)" if {"Bagg", "RanF"} & set(accuracies) else ""
    return Claim(
        f"On Anneal, the other learners have accuracies of {low:g} to {high:g} %",
        judge_fact(None if outside or not accuracies else True),
        ", ".join(f"{name} {accuracy:.1f}" for name, accuracy in accuracies.items()) + remark,
        "printed",
    )


def estimate_isolation(
    pooled: Mapping[str, PooledPredictions], farthest: tuple[str, ...], seed: int, n_resamples: int = 1000
) -> dict[Norm, IntervalEstimate]:
    """Estimate how much farther some learners are from the ideal than all others.

    The estimate is the smallest distance of the named learners minus the largest distance of the others. The intervals are
    bootstrap intervals over test rows.
    """
    codes = {name: np.array([rows.classes.index(label) for label in rows.y_pred]) for name, rows in pooled.items()}
    first = next(iter(pooled.values()))
    k, n = len(first.classes), len(first.y_true)
    rng = np.random.default_rng([seed, 13])
    weights = np.vstack([np.ones(n), rng.multinomial(n, np.full(n, 1 / n), size=n_resamples)])
    distances: dict[Norm, dict[str, Any]] = {norm: {} for norm in _NORMS}
    for name, predicted in codes.items():
        is_wrong = predicted != first.true_codes
        cells = np.eye(k * k)[(first.true_codes * k + predicted)[is_wrong]]
        off_diagonal = weights[:, is_wrong] @ cells
        by_class = off_diagonal.reshape(-1, k, k).sum(axis=2)
        distances["L2"][name] = np.sqrt((off_diagonal**2).sum(axis=1) + (by_class**2).sum(axis=1))
        distances["L1"][name] = 2 * off_diagonal.sum(axis=1)
    estimates: dict[Norm, IntervalEstimate] = {}
    for norm, by_learner in distances.items():
        others = [values for name, values in by_learner.items() if name not in farthest]
        gaps = np.min([by_learner[name] for name in farthest], axis=0) - np.max(others, axis=0)
        low, high = np.quantile(gaps[1:], [0.025, 0.975])
        estimates[norm] = IntervalEstimate(float(gaps[0]), float(low), float(high))
    return estimates


def judge_farthest(gaps: Mapping[Norm, IntervalEstimate]) -> Claim:
    """Judge whether naive Bayes and AdaBoost are farthest from the ideal classifier."""
    return Claim(
        "On Anneal, naive Bayes and AdaBoost differ from all others: by both norms, they are farthest from Ideal",
        judge_direction(gaps.values()),
        "distance to Ideal beyond the farthest other learner: "
        + "; ".join(f"{norm} {gap.format('{:+.0f}')}" for norm, gap in gaps.items()),
    )


def _judge_binary_domains(plane: Any, names: list[str]) -> list[Claim]:
    """Report the most isolated learners.

    The claim concerns a visual impression, so it is not testable.
    """
    if len(names) < len(_POSITIVE):
        return []
    isolated = _compute_isolation(plane).nlargest(2)
    details = (
        f"a visual judgement; the most isolated learners are {join_names(isolated.index)}, with distances of "
        f"{isolated.iloc[0]:.0f} and {isolated.iloc[1]:.0f} from the nearest learner"
    )
    return [Claim("The projection of the three binary domains shows which learners behave abnormally", NOT_TESTABLE, details)]


def build_clouds(results: Results) -> Iterator[PageSection]:
    """Project learners as clouds of one point per fold or threshold, if they were run.

    The slides propose clouds as future work. The tables of all folds are scaled to the same class totals.
    """
    import pandas as pd

    from fairtrial.measures import projection
    from fairtrial.study.results.stacking import compute_half_width

    positive = _POSITIVE["Breast Cancer"]
    pooled = {name: pool_predictions(results, "Breast Cancer", name) for name in EIGHT_LEARNERS}
    predictions = {name: rows for name, rows in pooled.items() if rows is not None}
    if not predictions:
        return
    n_folds = count_folds(results)
    totals = next(iter(predictions.values())).y_true == positive
    by_fold = {
        (name, fold): _scale_table(rows.y_true[chosen] == positive, rows.y_pred[chosen] == positive, totals)
        for name, rows in predictions.items()
        for fold, chosen in enumerate(rows.fold_indices)
    }
    by_threshold = {
        (name, f"{threshold:.1f}"): _scale_table(rows.y_true == positive, rows.get_scores(positive) >= threshold, totals)
        for name, rows in predictions.items()
        if name in _CLOUDS
        for threshold in np.linspace(0.1, 0.9, 9)
    }
    distances = projection({f"{name}/{fold}": table for (name, fold), table in by_fold.items()}).distance_to_ideal
    lines = []
    for name in predictions:
        values = np.array([distances[f"{name}/{fold}"] for fold in range(n_folds)])
        half = compute_half_width(values, 1 / n_folds, 0.05)
        mean = float(values.mean())
        lines.append((name, mean, mean - half, mean + half, float(values.min()), float(values.max())))
    columns = ["learner", "mean distance to Ideal", "low", "high", "smallest", "largest"]
    frame = pd.DataFrame(lines, columns=columns).sort_values("mean distance to Ideal", ignore_index=True)
    drawn_tables = {key: table for key, table in by_fold.items() if key[0] in _CLOUDS}
    figures = {
        f"Projection of {n_folds} folds on Breast Cancer": _draw_clouds(drawn_tables, "One point per fold"),
        "Projection of nine thresholds on Breast Cancer": _draw_clouds(
            by_threshold, "Thresholds 0.1 to 0.9 of the probability"
        ),
    }
    table = ResultTable("projection_clouds", "The projection of folds and thresholds", frame, digits=1)
    best, last = frame.iloc[0], frame.iloc[-1]
    values_on_page = {
        "n_folds": n_folds,
        "nearest": best["learner"],
        "farthest": last["learner"],
        "overlap": bool(best["high"] >= last["low"]),
    }
    yield PageSection("projection_clouds", values_on_page, (table,), (), figures)


def _scale_table(y_true: Any, y_pred: Any, all_true: Any) -> Any:
    """Count a confusion table and scale its rows to the class totals of all test rows."""
    table = np.array([[np.sum((y_true == row) & (y_pred == column)) for column in (True, False)] for row in (True, False)])
    totals = np.array([np.sum(all_true), np.sum(~all_true)])
    wrong = totals * np.array([table[0, 1], table[1, 0]]) / table.sum(axis=1)
    return np.array([[totals[0] - wrong[0], wrong[0]], [wrong[1], totals[1] - wrong[1]]])


def _draw_clouds(tables: Mapping[tuple[str, Any], Any], subtitle: str) -> Any:
    """Draw one point per table, whose coordinates are the numbers of errors on both classes.

    For two classes, this projection is exact.
    """
    import altair as alt

    from fairtrial.report.figures.base import build_chart, build_title, encode_colour, encode_shape, style_chart

    names = list(dict.fromkeys(name for name, _ in tables))
    records = [
        {"learner": name, "label": str(label), "x": float(table[0, 1]), "y": float(table[1, 0])}
        for (name, label), table in tables.items()
    ]
    x = alt.X("x:Q", title="Positives predicted as negative (0 is ideal)")
    y = alt.Y("y:Q", title="Negatives predicted as positive (0 is ideal)")
    points = build_chart(records).mark_point(filled=True, size=70, opacity=0.8)
    chart = points.encode(x, y, encode_colour(names), encode_shape(names), tooltip=["learner:N", "label:N", "x:Q", "y:Q"])
    return style_chart(
        chart.properties(width=420, height=320, title=build_title("Breast Cancer: clouds of learners", subtitle))
    )


def merge_crowded_points(plane: Any) -> tuple[pd.DataFrame, list[tuple[str, str]]]:
    """Return the points and edges of the figure.

    If at least three learners are close to Ideal, they are merged with it.
    """
    radius = np.hypot(plane.points["x"], plane.points["y"])
    near = [str(name) for name in radius.index[radius < radius.max() / 5] if name != "Ideal"]
    merged = {"Ideal", *near} if len(near) > 2 else set()
    names = {str(name): f"Ideal and {len(near)} others" if name in merged else str(name) for name in radius.index}
    points = plane.points[["x", "y"]].drop(index=near if merged else []).rename(index=names)
    edges = {(names[child], names[parent]) for child, parent in plane.parents.items() if parent in names and child in names}
    return points.rename_axis("learner").reset_index(), [edge for edge in sorted(edges) if edge[0] != edge[1]]
