"""Worked examples of accuracy, precision, recall, kappa, RMSE and information score."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fairtrial.reproduce.claim import Claim, judge_fact
from fairtrial.reproduce.tutorial.inputs import TutorialInputs
from fairtrial.reproduce.tutorial.printed import PageSection, PrintedResult, build_example, judge_printed

# The tutorial's confusion matrices, with one row per true class (positive first) and one column per predicted class.
WEAK_ON_POSITIVES = [[200, 300], [100, 400]]
STRONG_ON_POSITIVES = [[400, 100], [300, 200]]
NO_NEGATIVE_FOUND = [[200, 300], [100, 0]]
THREE_CLASSES = [[60, 50, 10], [10, 100, 40], [30, 10, 90]]
PROBABILITIES, Y_TRUE = [0.95, 0.6, 0.8, 0.75, 0.9], [1, 0, 1, 0, 1]
PRINTED_INFORMATION = [0.66, 0.0, 0.42, 0.32, 0.59]


def build_sections(_: TutorialInputs) -> Iterator[PageSection]:
    """Compute all examples, which need no data sets."""
    yield _build_accuracy()
    yield _build_precision_recall()
    yield _build_rare_class()
    yield _build_kappa()
    yield _build_rmse()
    yield _build_information_score()


def _compute_percentages(cells: list[list[int]]) -> dict[str, float]:
    from fairtrial.measures import Confusion, accuracy, precision, recall, specificity

    confusion = Confusion(np.asarray(cells, dtype=np.float64), ("positive", "negative"), 0)
    measures: dict[str, Any] = {
        "accuracy": accuracy,
        "precision": precision,
        "recall": recall,
        "true negative rate": specificity,
    }
    return {name: 100 * float(np.asarray(measure.of(confusion)).item()) for name, measure in measures.items()}


def _compare_left_right(
    left: dict[str, float], right: dict[str, float], printed: dict[str, tuple[float, int] | None]
) -> list[PrintedResult]:
    """List the measures of both classifiers.

    `printed` contains the printed number, which is the same for both classifiers, and its number of decimal places.
    """
    return [
        PrintedResult(f"{name}, {side} (%)", values[name], *(number or (None,)))
        for name, number in printed.items()
        for side, values in (("left", left), ("right", right))
    ]


def _build_accuracy() -> PageSection:
    left, right = _compute_percentages(WEAK_ON_POSITIVES), _compute_percentages(STRONG_ON_POSITIVES)
    results = _compare_left_right(left, right, {"accuracy": (60, 0), "recall": None, "true negative rate": None})
    claim = judge_printed("Both classifiers of the accuracy example have an accuracy of 60 %", results)
    return build_example(
        "accuracy_example", "Limits of accuracy", results, claims=[claim], values={"left": left, "right": right}
    )


def _build_precision_recall() -> PageSection:
    left, right = _compute_percentages(WEAK_ON_POSITIVES), _compute_percentages(NO_NEGATIVE_FOUND)
    printed = {"precision": (66.7, 1), "recall": (40.0, 0), "true negative rate": None, "accuracy": None}
    results = _compare_left_right(left, right, printed)
    claims = [
        judge_printed("Both classifiers of the second example have precision 66.7 % and recall 40 %", results),
        Claim(
            "Accuracy detects the difference (judged as: more than 5 points)",
            judge_fact(abs(left["accuracy"] - right["accuracy"]) > 5),
            f"accuracy {left['accuracy']:.1f} % and {right['accuracy']:.1f} %",
            "printed",
        ),
    ]
    title = "Limits of precision and recall"
    return build_example("precision_recall_example", title, results, claims=claims, values={"left": left, "right": right})


def _build_rare_class() -> PageSection:
    """Predict the negative class for 100 cases, of which 95 are negative."""
    from fairtrial.measures import accuracy, auc, h_measure

    y_true, scores = np.repeat([1, 0], [5, 95]), np.zeros(100)
    percentage, area = 100 * accuracy(y_true, np.zeros(100, dtype=int)), auc(y_true, scores)
    results = [
        PrintedResult("accuracy of always predicting negative (%)", percentage, 95, 0),
        PrintedResult("AUC of a constant score", area),
        PrintedResult("H-measure of a constant score", h_measure(y_true, scores)),
    ]
    claim = judge_printed("With 95 % negatives the default classifier has an accuracy of 95 %", results)
    values = {"accuracy": percentage, "auc": area}
    return build_example("rare_class_example", "A rare class", results, claims=[claim], values=values)


def _build_kappa() -> PageSection:
    from fairtrial.measures import Confusion, accuracy, kappa

    confusion = Confusion(np.asarray(THREE_CLASSES, dtype=np.float64))
    measures: list[Any] = [accuracy, kappa]
    observed, corrected = (float(np.asarray(measure.of(confusion)).item()) for measure in measures)
    chance = (observed - corrected) / (1 - corrected)
    results = [
        PrintedResult("accuracy (%)", 100 * observed, 62.5, 1),
        PrintedResult("chance agreement", chance, 0.33875, 5),
        PrintedResult("kappa (%)", 100 * corrected, 43.29, 2),
    ]
    claim = judge_printed("Kappa of the example is 43.29 %", results[-1:])
    values = {"accuracy": 100 * observed, "chance": 100 * chance, "kappa": 100 * corrected}
    return build_example("kappa", "Cohen's kappa", results, digits=5, claims=[claim], values=values)


def _build_rmse() -> PageSection:
    from fairtrial.measures import brier, rmse

    root, mean = rmse(Y_TRUE, PROBABILITIES), brier(Y_TRUE, PROBABILITIES)
    results = [
        PrintedResult("RMSE", root, 0.4416, 4),
        PrintedResult("sum of squares", len(Y_TRUE) * mean, 0.975, 3),
        PrintedResult("Brier score (mean of squares)", mean),
    ]
    claim = judge_printed("RMSE of the five cases is 0.4416", results[:1])
    return build_example(
        "rmse", "RMSE of probabilities", results, digits=4, claims=[claim], values={"rmse": root, "brier": mean}
    )


def _build_information_score() -> PageSection:
    """Compute the score of each case, and the mean score with and without signs."""
    from fairtrial.measures import information_score

    # The five cases are also the training data: 3 of 5 are positive.
    prior: dict[str, Any] = {"prior": [0.4, 0.6], "labels": [0, 1]}
    scores = [information_score([y], [p], **prior) for y, p in zip(Y_TRUE, PROBABILITIES, strict=True)]
    mean = information_score(Y_TRUE, PROBABILITIES, **prior)
    unsigned = float(np.mean(np.abs(scores)))
    results = [
        PrintedResult(f"case {number}: probability {p:g}, true class {y}", score, printed, 2, _explain_score(score, printed))
        for number, (score, printed, p, y) in enumerate(zip(scores, PRINTED_INFORMATION, PROBABILITIES, Y_TRUE, strict=True), 1)
    ]
    results += [
        PrintedResult("mean", mean, 0.40, 2, "as Kononenko and Bratko define it"),
        PrintedResult("mean without signs", unsigned, 0.40, 2, "as the tutorial computes it"),
    ]
    remark = f"error in the slides: {unsigned:.3f} is the mean without signs"
    claim = judge_printed("The mean information score of the five cases is 0.40", results[-2:-1], remark)
    values = {"mean": mean, "unsigned": unsigned, "misleading": PROBABILITIES[3], "cost": -scores[3]}
    title = "Kononenko and Bratko's information score"
    return build_example("information_score", title, results, digits=3, claims=[claim], values=values)


def _explain_score(score: float, printed: float) -> str:
    if score < 0:
        return "error in the slides: the score of a misleading probability is negative"
    return "" if abs(score - printed) <= 0.005 else f"{score:.5f}, rounded up"
