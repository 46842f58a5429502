"""The summary that WEKA prints of C4.5 on Labour, line by line from our learner and our measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtrial.reproduce.reproduction import Claim, Reproduction, Table
from fairtrial.reproduce.tutorial.examples import Result, frame_of
from fairtrial.reproduce.tutorial.tested import Tested, as_printed, folds_told, pooled_rows

if TYPE_CHECKING:
    from fairtrial.study import Results

_SMALLEST = 5e-324  # what WEKA takes for a probability of 0: the smallest number above it
_BY_CLASS = {
    "bad": (0.7, 0.243, 0.609, 0.7, 0.651, 0.695),
    "good": (0.757, 0.3, 0.824, 0.757, 0.789, 0.695),
}


def weka_summary(results: Results) -> Reproduction:
    """Every figure of the summary; nothing where the study lacks C4.5 on Labour."""
    own = pooled_rows(results, "Labour", "C4.5")
    if own is None:
        return Reproduction((), ())
    lines = [*_counts(own), *_bits(own), *_distances(own), *_of_classes(own)]
    judged = [each for each in lines if each.agrees is not None]
    agreeing = sum(bool(each.agrees) for each in judged)
    impossible = int(np.sum(_of_truth(own) == 0))
    note = (
        f"*Asked:* does our C4.5 on WEKA's folds give what WEKA prints? Run were {folds_told(results)}. *Answer:* {agreeing} "
        f"of {len(judged)} figures agree to the printed digits. Three deserve a word. For the 'class complexity' of the scheme "
        f"WEKA puts 2^-1074 for 0: in {impossible} cases the tree calls impossible what then happened"
        + (", so that the true cost is infinite. " if impossible else ". ")
        + "The relative information score divides the total by one entropy, not by the number of cases, and may be above "
        "100 %. And the prior of each fold counts every class once more than it occurs in training."
    )
    table = Table("weka_summary", "WEKA's summary of C4.5 on Labour", frame_of(lines), note)
    told = f"{agreeing} of {len(judged)} figures agree"
    holds = True if agreeing == len(judged) and as_printed(results) else None
    claim = Claim("WEKA's summary of C4.5 on Labour, to the printed digits", holds, f"{told}, over {folds_told(results)}")
    words = (
        f"**WEKA's summary of Labour.** Over {folds_told(results)}, {agreeing} of its {len(judged)} figures come out to the "
        "printed digits."
    )
    return Reproduction((words,), (table,), (claim,))


def _counts(own: Tested) -> list[Result]:
    from fairtrial.measures import accuracy, kappa

    right = int(own.right.sum())
    labels = own.classes
    cells = {(a, b): int(np.sum((own.truth == a) & (own.predicted == b))) for a in labels for b in labels}
    printed = {("bad", "bad"): 14, ("bad", "good"): 6, ("good", "bad"): 9, ("good", "good"): 28}
    return [
        Result("correctly classified", right, 42, 0),
        Result("correctly classified (%)", 100 * accuracy(own.truth, own.predicted), 73.6842, 4),
        Result("incorrectly classified (%)", 100 - 100 * accuracy(own.truth, own.predicted), 26.3158, 4),
        Result("kappa", kappa(own.truth, own.predicted), 0.4415, 4),
        *(Result(f"cases of {a} called {b}", count, printed.get((a, b)), 0) for (a, b), count in cells.items()),
    ]


def _bits(own: Tested) -> list[Result]:
    from fairtrial.measures import information_score

    n = len(own.truth)
    total = information_score(own.truth, own.probabilities, labels=own.classes, kind="total", prior=own.priors)
    last = own.priors[-1]
    relative = 100 * total / -float(np.sum(last * np.log2(last)))
    order = -float(np.sum(np.log2(own.priors[np.arange(n), _codes(own)])))
    scheme = -float(np.sum(np.log2(np.maximum(_of_truth(own), _SMALLEST))))
    return [
        Result("relative information score (%)", relative, 1769.6451, 4),
        Result("information score (bits)", total, 16.5588, 4),
        Result("information score a case (bits)", total / n, 0.2905, 4),
        Result("class complexity, order 0 (bits)", order, 53.3249, 4),
        Result("class complexity, order 0, a case (bits)", order / n, 0.9355, 4),
        Result("class complexity, scheme (bits)", scheme, 3267.2456, 4),
        Result("class complexity, scheme, a case (bits)", scheme / n, 57.3201, 4),
        Result("complexity improvement (bits)", order - scheme, -3213.9207, 4),
        Result("complexity improvement a case (bits)", (order - scheme) / n, -56.3846, 4),
    ]


def _distances(own: Tested) -> list[Result]:
    from fairtrial.measures import mae, rmse

    absolute, root = (float(each(own.truth, own.probabilities, labels=own.classes)) for each in (mae, rmse))
    plain, plain_root = (float(each(own.truth, own.priors, labels=own.classes)) for each in (mae, rmse))
    return [
        Result("mean absolute error", absolute, 0.3192, 4),
        Result("root mean squared error", root, 0.4669, 4),
        Result("relative absolute error (%)", 100 * absolute / plain, 69.7715, 4, "relative to always telling the prior"),
        Result("root relative squared error (%)", 100 * root / plain_root, 97.7888, 4),
    ]


def _of_classes(own: Tested) -> list[Result]:
    from fairtrial.measures import auc, f_score, fpr, precision, recall

    lines = []
    for label, printed in _BY_CLASS.items():
        positive = {"labels": own.classes, "positive": label}
        found = {
            name: float(each(own.truth, own.predicted, **positive))
            for name, each in (
                ("TP rate", recall),
                ("FP rate", fpr),
                ("precision", precision),
                ("recall", recall),
                ("F", f_score),
            )
        }
        found["ROC area"] = float(auc(own.truth, own.score(label), **positive))
        lines += [Result(f"{name} of {label}", value, p, 3) for (name, value), p in zip(found.items(), printed, strict=True)]
    return lines


def _codes(own: Tested) -> np.ndarray[tuple[int, ...], np.dtype[np.intp]]:
    return np.array([own.classes.index(each) for each in own.truth])


def _of_truth(own: Tested) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """The probability that was given to what happened."""
    return np.asarray(own.probabilities[np.arange(len(own.truth)), _codes(own)])
