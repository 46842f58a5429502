"""Type-I error of the tests of two (or several) learners on one data set, and of two learners on many data sets."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from experiments.registry import FOLDS, ROWS, SETS, experiment, rejects
from fairtrial.significance import (
    bayes_signed_rank,
    bootstrap_difference,
    cochran_q,
    corrected_resampled_t,
    correlated_t,
    delong,
    five_by_two_f,
    five_by_two_t,
    label_permutation,
    mcnemar,
    mcnemar_table,
    paired_t,
    permutation_test,
    sign_test,
    ten_by_ten,
    wilcoxon,
)

Hits = Mapping[str, bool | None]
Rng = np.random.Generator
NAIVE = "paired_t, folds treated as independent (not recommended)"


@experiment(FOLDS, "10 independent pairs, normal")
def independent(rng: Rng) -> Hits:
    a, b = rng.normal(size=(2, 10))
    return {"paired_t": rejects(paired_t(a, b))}


def _equicorrelated(rng: Rng, n: int, rho: float) -> np.ndarray:
    return np.sqrt(rho) * rng.normal() + np.sqrt(1 - rho) * rng.normal(size=n)


@experiment(FOLDS, "10 folds, normal, correlation 0.1 as Nadeau and Bengio assume")
def ten_folds(rng: Rng) -> Hits:
    a, b = _equicorrelated(rng, 10, 0.1), np.zeros(10)
    return {
        "corrected_resampled_t": rejects(corrected_resampled_t(a, b, test_fraction=0.1)),
        "correlated_t, first declared better at P > 0.95": correlated_t(a, b, test_fraction=0.1).p_first > 0.95,
        NAIVE: rejects(paired_t(a, b)),
    }


@experiment(FOLDS, "10 x 10 folds, normal, correlation 0.1")
def hundred_folds(rng: Rng) -> Hits:
    a, b = _equicorrelated(rng, 100, 0.1).reshape(10, 10), np.zeros((10, 10))
    return _of_ten_by_ten(a, b)


def _of_ten_by_ten(a: np.ndarray, b: np.ndarray) -> Hits:
    return {
        "corrected_resampled_t": rejects(corrected_resampled_t(a.ravel(), b.ravel(), test_fraction=0.1)),
        "ten_by_ten, calibrated": rejects(ten_by_ten(a, b)),
        "ten_by_ten, sorted runs": rejects(ten_by_ten(a, b, variant="sorted-runs")),
        NAIVE: rejects(paired_t(a.ravel(), b.ravel())),
    }


@experiment(FOLDS, "5 x 2 folds, independent normal differences")
def five_by_two(rng: Rng) -> Hits:
    a, b = rng.normal(size=(2, 5, 2))
    return {"five_by_two_t": rejects(five_by_two_t(a, b)), "five_by_two_f": rejects(five_by_two_f(a, b))}


def _cross_validated(rng: Rng, n: int, repeats: int, folds: int) -> tuple[np.ndarray, np.ndarray]:
    """Accuracy of two nearest-mean classifiers, each on a feature of its own: equally good, by symmetry."""
    y = np.repeat([0.0, 1.0], n // 2)
    x = rng.normal(size=(2, n)) + y
    fold = np.stack([rng.permutation(n) % folds for _ in range(repeats)])
    test = (fold[:, None, :] == np.arange(folds)[:, None]).reshape(repeats * folds, n).astype(float)
    train = 1 - test
    centres = [(train * own) @ x.T / (train @ own)[:, None] for own in (1 - y, y)]
    middle, turn = (centres[0] + centres[1]) / 2, np.sign(centres[1] - centres[0])
    right = ((x[None] - middle[:, :, None]) * turn[:, :, None] > 0) == (y > 0)
    scores = (right * test[:, None]).sum(axis=2) / test.sum(axis=1)[:, None]
    return scores[:, 0].reshape(repeats, folds), scores[:, 1].reshape(repeats, folds)


@experiment(FOLDS, "real 10-fold cross-validation of two equally good classifiers, 100 rows")
def real_ten_folds(rng: Rng) -> Hits:
    a, b = (each.ravel() for each in _cross_validated(rng, 100, 1, 10))
    return {
        "corrected_resampled_t": rejects(corrected_resampled_t(a, b, test_fraction=0.1)),
        "correlated_t, first declared better at P > 0.95": correlated_t(a, b, test_fraction=0.1).p_first > 0.95,
        NAIVE: rejects(paired_t(a, b)),
    }


@experiment(FOLDS, "real 10 x 10-fold cross-validation of the same, 100 rows", share=0.5)
def real_hundred_folds(rng: Rng) -> Hits:
    return _of_ten_by_ten(*_cross_validated(rng, 100, 10, 10))


@experiment(FOLDS, "real 5 x 2-fold cross-validation of the same, 100 rows")
def real_five_by_two(rng: Rng) -> Hits:
    a, b = _cross_validated(rng, 100, 5, 2)
    return {"five_by_two_t": rejects(five_by_two_t(a, b)), "five_by_two_f": rejects(five_by_two_f(a, b))}


def _right(rng: Rng, n: int, accuracy: float, learners: int = 2) -> np.ndarray:
    """Predictions for a truth of ones."""
    return (rng.random((learners, n)) < accuracy).astype(int)


@experiment(ROWS, "100 rows, accuracies 0.8, about 32 discordant rows")
def many_apart(rng: Rng) -> Hits:
    a, b = _right(rng, 100, 0.8)
    methods = ("mid-p", "exact", "chi2", "chi2-uncorrected")
    return {f"mcnemar, {method}": rejects(mcnemar(np.ones(100, int), a, b, method=method)) for method in methods}


@experiment(ROWS, "60 rows, accuracies 0.9, about 11 discordant rows")
def few_apart(rng: Rng) -> Hits:
    a, b = _right(rng, 60, 0.9)
    only_a, only_b = int((a > b).sum()), int((b > a).sum())
    methods = ("mid-p", "exact", "chi2", "chi2-uncorrected")
    return {f"mcnemar_table, {method}": rejects(mcnemar_table(only_a, only_b, method=method)) for method in methods}


@experiment(ROWS, "100 rows, four learners, accuracies 0.7")
def four_learners(rng: Rng) -> Hits:
    return {"cochran_q": rejects(cochran_q(np.ones(100, int), _right(rng, 100, 0.7, 4).T))}


def _scores(rng: Rng, positives: int, negatives: int, learners: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores of equal AUC (0.76), correlated 0.5 between learners."""
    y = np.repeat([1, 0], [positives, negatives])
    return y, y + (rng.normal(size=len(y)) + rng.normal(size=(learners, len(y)))) / np.sqrt(2)


@experiment(ROWS, "50 + 50 rows, AUCs 0.76, correlated")
def equal_aucs(rng: Rng) -> Hits:
    y, scores = _scores(rng, 50, 50, 3)
    return {"delong, two AUCs": rejects(delong(y, *scores[:2])), "delong, three AUCs": rejects(delong(y, *scores))}


@experiment(ROWS, "10 + 100 rows, AUCs 0.76, correlated")
def equal_aucs_rare(rng: Rng) -> Hits:
    y, scores = _scores(rng, 10, 100, 3)
    return {"delong, two AUCs": rejects(delong(y, *scores[:2])), "delong, three AUCs": rejects(delong(y, *scores))}


@experiment(ROWS, "20 + 20 rows, AUCs 0.76, correlated; 199 resamples", share=0.4)
def permuted_aucs(rng: Rng) -> Hits:
    y, scores = _scores(rng, 20, 20, 2)
    return {"permutation_test, AUC": rejects(permutation_test(y, *scores, "auc", 199, int(rng.integers(1 << 30))))}


@experiment(ROWS, "60 rows, accuracies 0.8", share=0.2)
def permuted_labels(rng: Rng) -> Hits:
    a, b = _right(rng, 60, 0.8)
    seed = int(rng.integers(1 << 30))
    return {"permutation_test, accuracy": rejects(permutation_test(np.ones(60, int), a, b, resamples=999, seed=seed))}


@experiment(ROWS, "40 rows with random labels, AUC, 2 folds, 19 resamples", share=0.2)
def bogus(rng: Rng) -> Hits:
    from sklearn.naive_bayes import GaussianNB

    y = np.repeat([0, 1], 20)
    found = label_permutation(GaussianNB(), rng.normal(size=(40, 2)), y, measure="auc", cv=2, resamples=19, seed=_seed(rng))
    return {"label_permutation": rejects(found)}


def _seed(rng: Rng) -> int:
    return int(rng.integers(1 << 30))


@experiment(ROWS, "100 rows, 2,000 resamples; AUCs 0.76, correlated; accuracies 0.8", share=0.2)
def bootstrapped(rng: Rng) -> Hits:
    y, scores = _scores(rng, 50, 50, 2)
    labels = np.where(_right(rng, 100, 0.8) == 1, y, 1 - y)
    return {
        f"bootstrap_difference, {name}, {method}": rejects(
            bootstrap_difference(name, y, *given, method=method, seed=_seed(rng))
        )
        for name, given in (("auc", scores), ("accuracy", labels))
        for method in ("bca", "percentile")
    }


@experiment(SETS, "15 data sets, symmetric differences without ties")
def continuous(rng: Rng) -> Hits:
    a, b = rng.normal(size=(2, 15))
    return {
        "wilcoxon, exact": rejects(wilcoxon(a, b, method="exact")),
        "wilcoxon, approximate": rejects(wilcoxon(a, b, method="approximate")),
        "wilcoxon, approximate, no continuity correction": rejects(wilcoxon(a, b, method="approximate", correction=False)),
        "sign_test": rejects(sign_test(a, b)),
        "bayes_signed_rank, first declared better at P > 0.95": bayes_signed_rank(a, b, samples=2000).p_first > 0.95,
    }


@experiment(SETS, "15 data sets, integer differences: many ties, about three zeros")
def tied(rng: Rng) -> Hits:
    a, b = np.rint(rng.normal(0, 2, 15)), np.zeros(15)
    told = {f"wilcoxon, exact, zeros {zeros}": rejects(wilcoxon(a, b, zeros=zeros)) for zeros in ("drop", "pratt", "split")}
    told |= {
        f"wilcoxon, approximate, zeros {zeros}": rejects(wilcoxon(a, b, zeros=zeros, method="approximate"))
        for zeros in ("drop", "pratt", "split")
    }
    return told | {f"sign_test, ties {ties}": rejects(sign_test(a, b, ties=ties)) for ties in ("drop", "split")}


@experiment(SETS, "50 data sets, integer differences: many ties, about ten zeros")
def tied_large(rng: Rng) -> Hits:
    a, b = np.rint(rng.normal(0, 2, 50)), np.zeros(50)
    return {f"wilcoxon, exact, zeros {zeros}": rejects(wilcoxon(a, b, zeros=zeros)) for zeros in ("drop", "pratt", "split")}
