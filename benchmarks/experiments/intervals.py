"""Coverage of the intervals of measures, differences, effect sizes, strengths and posteriors; and the promise of `power`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
from scipy.special import ndtr, ndtri

from experiments.registry import DIFFERENCES, EFFECTS, FOLDS, LEVEL, MEASURES, MODELS, POWER, covers, experiment, rejects
from fairtrial.measures import difference, h_measure, interval
from fairtrial.significance import (
    akinshin_gamma,
    anova,
    bradley_terry,
    cliffs_delta,
    cochran_q,
    cohens_d,
    cohens_d_av,
    corrected_resampled_t,
    delong,
    five_by_two_t,
    friedman,
    hedges_g,
    hierarchical,
    mcnemar,
    mcnemar_table,
    paired_t,
    power,
    rank_biserial,
    sign_test,
    vargha_delaney_a12,
    wilcoxon,
)

Hits = Mapping[str, bool | None]
Rng = np.random.Generator


@experiment(MEASURES, "30 rows, accuracy 0.9", nominal=LEVEL)
def proportion(rng: Rng) -> Hits:
    predicted = (rng.random(30) < 0.9).astype(int)
    methods = ("wilson", "clopper-pearson")
    return {
        f"interval, accuracy, {m}": covers(interval("accuracy", np.ones(30, int), predicted, method=m), 0.9) for m in methods
    }


def _binormal(rng: Rng, positives: int, negatives: int, auc: float) -> tuple[np.ndarray, np.ndarray]:
    y = np.repeat([1, 0], [positives, negatives])
    return y, y * np.sqrt(2) * ndtri(auc) + rng.normal(size=len(y))


for _positives, _negatives in ((50, 50), (10, 100)):
    for _auc in (0.85, 0.98):

        @experiment(MEASURES, f"{_positives} + {_negatives} rows, AUC {_auc}", nominal=LEVEL)
        def area(rng: Rng, positives=_positives, negatives=_negatives, auc=_auc) -> Hits:  # type: ignore[no-untyped-def]
            y, s = _binormal(rng, positives, negatives, auc)
            methods = ("delong", "newcombe", "auto")
            return {f"interval, AUC, {m}": covers(interval("auc", y, s, method=m), auc) for m in methods}


def _both(name: str, y: np.ndarray, given: np.ndarray, truth: float, seed: int) -> dict[str, bool | None]:
    return {
        f"interval, {name}, {m}": covers(interval(name, y, given, method=m, seed=seed), truth) for m in ("bca", "percentile")
    }


@experiment(MEASURES, "100 rows, 40 % positive, 80 % correct; 2,000 resamples", share=0.25, nominal=LEVEL)
def of_labels(rng: Rng) -> Hits:
    y = (rng.random(100) < 0.4).astype(int)
    predicted = np.where(rng.random(100) < 0.8, y, 1 - y)
    seed = int(rng.integers(1 << 30))
    positive, tp = 0.4 * 0.8 + 0.6 * 0.2, 0.4 * 0.8
    chance = 0.4 * positive + 0.6 * (1 - positive)
    return _both("kappa", y, predicted, (0.8 - chance) / (1 - chance), seed) | _both(
        "f_score", y, predicted, 2 * tp / (positive + 0.4), seed
    )


@cache
def _true_h() -> float:
    """Compute the H-measure of two normal distributions one standard deviation apart."""
    grid = ndtri((np.arange(400_000) + 0.5) / 400_000)
    return float(h_measure(np.repeat([0, 1], len(grid)), np.concatenate([grid, grid + 1])))


@experiment(
    MEASURES, "100 rows, half positive, normal scores one standard deviation apart; 2,000 resamples", share=0.25, nominal=LEVEL
)
def of_scores(rng: Rng) -> Hits:
    y = (rng.random(100) < 0.5).astype(int)
    s, seed = y + rng.normal(size=100), int(rng.integers(1 << 30))
    return _both("ks", y, s, 2 * ndtr(0.5) - 1, seed) | _both("h_measure", y, s, _true_h(), seed)


@experiment(MEASURES, "100 rows, overconfident probabilities; 2,000 resamples", share=0.25, nominal=LEVEL)
def of_probabilities(rng: Rng) -> Hits:
    forecast = rng.choice([0.1, 0.3, 0.7, 0.9], 100)
    y = (rng.random(100) < 0.5 + 0.7 * (forecast - 0.5)).astype(int)
    values = np.array([0.1, 0.3, 0.7, 0.9])
    chance = 0.5 + 0.7 * (values - 0.5)
    truth = float((chance * (1 - values) ** 2 + (1 - chance) * values**2).mean())
    return _both("brier", y, forecast, truth, int(rng.integers(1 << 30)))


def _two_scores(rng: Rng, positives: int, negatives: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Scores with AUCs 0.76 and 0.66 (correlation 0.5), and the difference."""
    y = np.repeat([1, 0], [positives, negatives])
    common, own = rng.normal(size=len(y)), rng.normal(size=(2, len(y)))
    noise = (common + own) / np.sqrt(2)
    return y, y + noise[0], 0.6 * y + noise[1], float(ndtr(1 / np.sqrt(2)) - ndtr(0.6 / np.sqrt(2)))


for _positives, _negatives in ((50, 50), (10, 100)):

    @experiment(DIFFERENCES, f"{_positives} + {_negatives} rows, AUCs 0.76 and 0.66, correlated", nominal=LEVEL)
    def of_aucs(rng: Rng, positives=_positives, negatives=_negatives) -> Hits:  # type: ignore[no-untyped-def]
        y, a, b, truth = _two_scores(rng, positives, negatives)
        told = {f"difference, AUC, {m}": covers(difference("auc", y, a, b, method=m), truth) for m in ("auto", "newcombe")}
        return told | {"delong, interval of the difference": covers(delong(y, a, b).effect, truth)}


def _predictions(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Predictions of accuracies 0.85 and 0.75, correlated; the truth is 1."""
    hard = rng.normal(size=n)
    a, b = ((hard + rng.normal(size=n)) / np.sqrt(2) < ndtri(accuracy) for accuracy in (0.85, 0.75))
    return np.ones(n, int), a.astype(int), b.astype(int)


@experiment(DIFFERENCES, "60 rows, accuracies 0.85 and 0.75, correlated", nominal=LEVEL)
def of_accuracies(rng: Rng) -> Hits:
    y, a, b = _predictions(rng, 60)
    return {"mcnemar, interval of the difference (Newcombe)": covers(mcnemar(y, a, b).effect, 0.1)}


@experiment(DIFFERENCES, "100 rows, accuracies 0.85 and 0.75, correlated; 2,000 resamples", share=0.25, nominal=LEVEL)
def drawn_accuracies(rng: Rng) -> Hits:
    y, a, b = _predictions(rng, 100)
    found = difference("accuracy", y, a, b, labels=[0, 1], seed=int(rng.integers(1 << 30)))
    return {"difference, accuracy, auto (BCa)": covers(found, 0.1)}


@experiment(DIFFERENCES, "20 discordant rows, 70 % in favour of the first", nominal=LEVEL)
def odds(rng: Rng) -> Hits:
    wins = int(rng.binomial(20, 0.7))
    told = {"mcnemar_table, odds ratio": covers(mcnemar_table(wins, 20 - wins).effect, 0.7 / 0.3)}
    a = np.repeat([1, 0], [wins, 20 - wins])
    return told | {"sign_test, proportion of wins": covers(sign_test(a, 1 - a).effect, 0.7)}


@experiment(DIFFERENCES, "200 rows, three learners, accuracies 0.9, 0.8, 0.7, independent", nominal=LEVEL)
def of_cochran(rng: Rng) -> Hits:
    accuracy = np.array([0.9, 0.8, 0.7])
    right = (rng.random((200, 3)) < accuracy).astype(int)
    within = 3 * accuracy.sum() - (accuracy * (1 - accuracy)).sum() - accuracy.sum() ** 2
    truth = (3 * (accuracy**2).sum() - accuracy.sum() ** 2) / within
    return {"cochran_q, corrected eta squared": covers(cochran_q(np.ones(200, int), right).effect, float(truth))}


@experiment(FOLDS, "mean difference 0.5 of normal differences: 10 pairs; 10 folds of correlation 0.1; 5 x 2", nominal=LEVEL)
def of_folds(rng: Rng) -> Hits:
    d = 0.5 + rng.normal(size=10)
    folds = 0.5 + np.sqrt(0.1) * rng.normal() + np.sqrt(0.9) * rng.normal(size=10)
    zero = np.zeros(10)
    return {
        "paired_t, interval": covers(paired_t(d, zero).effect, 0.5),
        "corrected_resampled_t, interval": covers(corrected_resampled_t(folds, zero, test_fraction=0.1).effect, 0.5),
        "five_by_two_t and five_by_two_f, interval": covers(five_by_two_t(d.reshape(5, 2), zero.reshape(5, 2)).effect, 0.5),
    }


def _pairs(rng: Rng, n: int, correlation: float) -> tuple[np.ndarray, np.ndarray]:
    """Draw normal columns, 0.5 standard deviations apart."""
    common, own = rng.normal(size=n), rng.normal(size=(2, n))
    noise = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own
    return 0.5 + noise[0], noise[1]


@experiment(EFFECTS, "20 pairs, normal, correlation 0.6, means 0.5 standard deviations apart", nominal=LEVEL)
def of_pairs(rng: Rng) -> Hits:
    a, b = _pairs(rng, 20, 0.6)
    delta = 2 * float(ndtr(0.5 / np.sqrt(2))) - 1
    told = {f"{f.__name__}, pairs": covers(f(a, b), 0.5) for f in (cohens_d, hedges_g, cohens_d_av)}
    told["cliffs_delta, pairs"] = covers(cliffs_delta(a, b, paired=True), delta)
    told["vargha_delaney_a12, pairs"] = covers(vargha_delaney_a12(a, b, paired=True), (1 + delta) / 2)
    return told


@experiment(EFFECTS, "8 pairs, normal, correlation 0.6, means 0.5 standard deviations apart", share=0.5, nominal=LEVEL)
def of_few_pairs(rng: Rng) -> Hits:
    a, b = _pairs(rng, 8, 0.6)
    return {f"{f.__name__}, pairs": covers(f(a, b), 0.5) for f in (cohens_d, hedges_g)}


@experiment(EFFECTS, "20 and 20 independent rows, normal, means 0.5 standard deviations apart", nominal=LEVEL)
def of_samples(rng: Rng) -> Hits:
    a, b = _pairs(rng, 20, 0.0)
    delta = 2 * float(ndtr(0.5 / np.sqrt(2))) - 1
    told = {f"{f.__name__}, two samples": covers(f(a, b, paired=False), 0.5) for f in (cohens_d, hedges_g)}
    told["cliffs_delta, two samples"] = covers(cliffs_delta(a, b), delta)
    told["vargha_delaney_a12, two samples"] = covers(vargha_delaney_a12(a, b), (1 + delta) / 2)
    return told


def _expected_biserial(shift: float, n: int) -> float:
    """The mean of (R+ - R-) / (R+ + R-) over samples of n normal differences."""
    single, double = 2 * float(ndtr(shift)) - 1, 2 * float(ndtr(shift * np.sqrt(2))) - 1
    return ((n - 1) * double + 2 * single) / (n + 1)


for _shift in (0.5, 1.0):

    @experiment(EFFECTS, f"30 normal differences with mean {_shift} and standard deviation 1", share=0.5, nominal=LEVEL)
    def of_signed_ranks(rng: Rng, shift=_shift) -> Hits:  # type: ignore[no-untyped-def]
        found = wilcoxon(shift + rng.normal(size=30), np.zeros(30)).effect
        return {"wilcoxon, rank biserial": covers(found, _expected_biserial(shift, 30))}


@experiment(EFFECTS, "30 pairs, normal, means 0.5 standard deviations apart; 999 resamples", share=0.2, nominal=LEVEL)
def drawn_effects(rng: Rng) -> Hits:
    a, b = _pairs(rng, 30, 0.5)
    seed = int(rng.integers(1 << 30))
    return {
        "rank_biserial (inverted test)": covers(rank_biserial(a, b), _expected_biserial(0.5, 30)),
        "akinshin_gamma (bootstrap)": covers(akinshin_gamma(a, b, resamples=999, seed=seed), 0.5),
    }


_SHIFTS = np.array([0.0, 0.2, 0.4, 0.6, 0.8])


def _population_w(shifts: np.ndarray) -> float:
    """What Kendall's W tends to with the number of data sets."""
    k = len(shifts)
    ranks = ndtr((shifts[:, None] - shifts[None, :]) / np.sqrt(2)).sum(axis=0)
    return float(((ranks - ranks.mean()) ** 2).sum() / (k * (k * k - 1) / 12))


for _factor, _size in ((1.0, "moderate"), (3.0, "large")):

    @experiment(EFFECTS, f"15 data sets, 5 learners, normal, {_size} differences", share=0.5, nominal=LEVEL)
    def of_tables(rng: Rng, factor=_factor) -> Hits:  # type: ignore[no-untyped-def]
        shifts = factor * _SHIFTS
        table = rng.normal(size=(15, 5)) + shifts
        explained = float(((shifts - shifts.mean()) ** 2).sum())
        return {
            "friedman, Kendall's W": covers(friedman(table).effect, _population_w(shifts)),
            "anova, partial eta squared": covers(anova(table).effect, explained / (explained + 4)),
        }


@experiment(MODELS, "30 data sets, 4 learners that follow the model; 1,000 resamples", share=0.2, nominal=LEVEL)
def strengths(rng: Rng) -> Hits:
    truth = np.array([0.0, 0.5, 1.0, 1.5]) - 0.75
    found = bradley_terry(truth + rng.gumbel(size=(30, 4)), scale="log", seed=int(rng.integers(1 << 30)))
    inside = [low <= true <= high for low, true, high in zip(found.low, truth, found.high, strict=True)]
    return {"bradley_terry, weakest learner": inside[0], "bradley_terry, second strongest learner": inside[2]}


@experiment(
    MODELS, "10 data sets x 10 folds that follow the model; credible interval of one data set", share=0.2, nominal=LEVEL
)
def shrunken(rng: Rng) -> Hits:
    mean = 0.02 + 0.02 * rng.standard_t(10, size=(10, 1))
    d = mean + 0.03 * (np.sqrt(0.1) * rng.normal(size=(10, 1)) + np.sqrt(0.9) * rng.normal(size=(10, 10)))
    found = hierarchical(d, np.zeros((10, 10)), test_fraction=0.1, seed=int(rng.integers(1 << 30)))
    one = found.dataset_rows[0]
    return {"hierarchical": one[3] <= mean[0, 0] <= one[4]}


_T = power(test="paired_t", difference=0.5, sd=1, n=33).power
_W = power(test="wilcoxon", difference=0.5, sd=1, n=35).power
_M = power(test="mcnemar", difference=0.1, discordant=0.3, n=240).power


@experiment(POWER, "33 normal differences, mean 0.5 standard deviations", nominal=_T)
def power_t(rng: Rng) -> Hits:
    return {"power, paired_t": rejects(paired_t(0.5 + rng.normal(size=33), np.zeros(33)))}


@experiment(POWER, "35 normal differences, mean 0.5 standard deviations", nominal=_W)
def power_w(rng: Rng) -> Hits:
    return {"power, wilcoxon": rejects(wilcoxon(0.5 + rng.normal(size=35), np.zeros(35)))}


@experiment(POWER, "240 rows, 20 % correct for the first learner only, 10 % for the second only", nominal=_M)
def power_m(rng: Rng) -> Hits:
    b, c, _ = rng.multinomial(240, [0.2, 0.1, 0.7])
    return {
        f"power, mcnemar, {method}": rejects(mcnemar_table(int(b), int(c), method=method))  # type: ignore[arg-type]
        for method in ("mid-p", "chi2-uncorrected")
    }
