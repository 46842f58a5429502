"""Worked examples of measures: what accuracy, precision and recall hide, kappa, RMSE and the information score."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairtrial.reproduce.reproduction import Claim, Reproduction
from fairtrial.reproduce.tutorial.examples import Result, example, joined, printed_claim

# The tutorial's tables by truth (rows, positive first) and prediction.
WEAK_ON_POSITIVES = [[200, 300], [100, 400]]
STRONG_ON_POSITIVES = [[400, 100], [300, 200]]
NO_NEGATIVE_FOUND = [[200, 300], [100, 0]]
THREE_CLASSES = [[60, 50, 10], [10, 100, 40], [30, 10, 90]]
FORECASTS, TRUTHS = [0.95, 0.6, 0.8, 0.75, 0.9], [1, 0, 1, 0, 1]
PRINTED_SCORES = [0.66, 0.0, 0.42, 0.32, 0.59]


def measures() -> Reproduction:
    """All of them."""
    return joined([_accuracy(), _precision_and_recall(), _rare_class(), _kappa(), _rmse(), _information()])


def _read(cells: list[list[int]]) -> dict[str, float]:
    """Accuracy, precision, recall and the share of negatives that are found, of a table whose first class is positive."""
    from fairtrial.measures import Confusion, accuracy, precision, recall, specificity

    table = Confusion(np.asarray(cells, dtype=np.float64), ("positive", "negative"), 0)
    named: dict[str, Any] = {"accuracy": accuracy, "precision": precision, "recall": recall, "specificity": specificity}
    return {name: 100 * float(np.asarray(each.of(table)).item()) for name, each in named.items()}


def _accuracy() -> Reproduction:
    left, right = _read(WEAK_ON_POSITIVES), _read(STRONG_ON_POSITIVES)
    results = [
        Result("accuracy, left (%)", left["accuracy"], 60, 0),
        Result("accuracy, right (%)", right["accuracy"], 60, 0),
        Result("positives found, left (%)", left["recall"]),
        Result("positives found, right (%)", right["recall"]),
        Result("negatives found, left (%)", left["specificity"]),
        Result("negatives found, right (%)", right["specificity"]),
    ]
    answer = (
        f"Not necessarily. Both are right in {left['accuracy']:.0f} % of the cases, yet one finds {left['recall']:.0f} % of "
        f"the positives and {left['specificity']:.0f} % of the negatives, the other {right['recall']:.0f} % and "
        f"{right['specificity']:.0f} %."
    )
    found = example(
        "accuracy_example", "What accuracy hides", results, answer, asked="Do two classifiers of equal accuracy behave alike?"
    )
    claim = printed_claim("Both classifiers of the accuracy example obtain 60 %", results)
    return joined([found, Reproduction((), (), (claim,))])


def _precision_and_recall() -> Reproduction:
    left, right = _read(WEAK_ON_POSITIVES), _read(NO_NEGATIVE_FOUND)
    results = [
        Result("precision, left (%)", left["precision"], 66.7, 1),
        Result("precision, right (%)", right["precision"], 66.7, 1),
        Result("recall, left (%)", left["recall"], 40, 0),
        Result("recall, right (%)", right["recall"], 40, 0),
        Result("negatives found, left (%)", left["specificity"]),
        Result("negatives found, right (%)", right["specificity"]),
        Result("accuracy, left (%)", left["accuracy"]),
        Result("accuracy, right (%)", right["accuracy"]),
    ]
    answer = (
        f"No: neither of the two looks at negatives that are found, {left['specificity']:.0f} % on the left and "
        f"{right['specificity']:.0f} % on the right. Accuracy does: {left['accuracy']:.1f} % and {right['accuracy']:.1f} %."
    )
    caught = f"accuracy {left['accuracy']:.1f} % and {right['accuracy']:.1f} %"
    found = example(
        "precision_recall_example",
        "What precision and recall hide",
        results,
        answer,
        asked="Do equal precision and recall mean equal behaviour?",
    )
    claims = (
        printed_claim("Both classifiers of the second example have precision 66.7 % and recall 40 %", results),
        Claim(
            "Accuracy has no problem catching the difference (more than 5 points)",
            abs(left["accuracy"] - right["accuracy"]) > 5,
            caught,
        ),
    )
    return joined([found, Reproduction((), (), claims)])


def _rare_class() -> Reproduction:
    """Calling everything negative where 95 of 100 are."""
    from fairtrial.measures import accuracy, auc, h_measure

    truth, scores = np.repeat([1, 0], [5, 95]), np.zeros(100)
    results = [
        Result("accuracy of calling all negative (%)", 100 * accuracy(truth, np.zeros(100, dtype=int)), 95, 0),
        Result("AUC of the same score for all", auc(truth, scores)),
        Result("H-measure of the same score for all", h_measure(truth, scores)),
    ]
    answer = f"Yes: accuracy calls it {results[0].ours:.0f} % right, the AUC {results[1].ours:.1f}, which is chance."
    found = example(
        "rare_class_example",
        "A rare class",
        results,
        answer,
        asked="Is 95 % accuracy compatible with having learnt nothing?",
    )
    claim = printed_claim("With 95 % negatives the default classifier has an accuracy of 95 %", results)
    return joined([found, Reproduction((), (), (claim,))])


def _kappa() -> Reproduction:
    from fairtrial.measures import Confusion, accuracy, kappa

    table = Confusion(np.asarray(THREE_CLASSES, dtype=np.float64))
    named: list[Any] = [accuracy, kappa]
    observed, found = (float(np.asarray(each.of(table)).item()) for each in named)
    chance = (observed - found) / (1 - found)
    results = [
        Result("accuracy (%)", 100 * observed, 62.5, 1),
        Result("agreement by chance", chance, 0.33875, 5),
        Result("kappa (%)", 100 * found, 43.29, 2),
    ]
    answer = (
        f"{100 * found:.2f} % of what chance leaves to be gained: {100 * observed:.1f} % of the cases are right, "
        f"{100 * chance:.1f} % would be by chance."
    )
    part = example(
        "kappa", "Cohen's kappa", results, answer, asked="How much of the agreement is more than coincidence?", digits=5
    )
    return joined([part, Reproduction((), (), (printed_claim("Kappa of the example is 43.29 %", results[-1:]),))])


def _rmse() -> Reproduction:
    from fairtrial.measures import brier, rmse

    results = [
        Result("RMSE", rmse(TRUTHS, FORECASTS), 0.4416, 4),
        Result("sum of squares", len(TRUTHS) * brier(TRUTHS, FORECASTS), 0.975, 3),
        Result("Brier score, its mean", brier(TRUTHS, FORECASTS)),
    ]
    answer = f"{results[0].ours:.4f}, the root of the Brier score {results[2].ours:.3f}."
    part = example(
        "rmse", "RMSE of probabilities", results, answer, asked="How far are five forecasts from what happened?", digits=4
    )
    return joined([part, Reproduction((), (), (printed_claim("RMSE of the five cases is 0.4416", results[:1]),))])


def _remark(own: float, printed: float) -> str:
    if own < 0:
        return "a slip: the forecast misleads, so that what it says is taken off"
    return "" if abs(own - printed) <= 0.005 else f"{own:.5f}, rounded up"


def _information() -> Reproduction:
    """Each case by itself, then the mean in both readings."""
    from fairtrial.measures import information_score

    # The five cases are the training data, too: 3 of 5 are positive.
    prior: dict[str, Any] = {"prior": [0.4, 0.6], "labels": [0, 1]}
    cases = [information_score([y], [p], **prior) for y, p in zip(TRUTHS, FORECASTS, strict=True)]
    results = [
        Result(
            f"case {number}: forecast {p:g}, truth {y}",
            own,
            printed,
            2,
            _remark(own, printed),
        )
        for number, (own, printed, p, y) in enumerate(zip(cases, PRINTED_SCORES, FORECASTS, TRUTHS, strict=True), 1)
    ]
    mean = information_score(TRUTHS, FORECASTS, **prior)
    unsigned = float(np.mean(np.abs(cases)))
    results += [
        Result("mean", mean, 0.40, 2, "as Kononenko and Bratko define it"),
        Result("mean without signs", unsigned, 0.40, 2, "the tutorial's reading"),
    ]
    answer = (
        f"{mean:.3f} bits a case. The fourth forecast gives {FORECASTS[3]:g} to the class that did not come, which is more "
        f"than its share: it costs {-cases[3]:.2f} bits. The tutorial adds them instead, which makes {unsigned:.2f}."
    )
    part = example(
        "information_score",
        "Kononenko and Bratko's information score",
        results,
        answer,
        asked="How many bits do the five forecasts tell beyond the class shares?",
        digits=3,
    )
    slip = f"a slip: {unsigned:.3f} is the mean without signs"
    claim = printed_claim("The mean information score of the five cases is 0.40", results[-2:-1], slip)
    return joined([part, Reproduction((), (), (claim,))])
