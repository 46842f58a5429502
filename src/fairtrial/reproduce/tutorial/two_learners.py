"""Worked examples of tests of two learners: t, Cohen's d, sign, Wilcoxon on domains and on folds."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from fairtrial.reproduce.published import published
from fairtrial.reproduce.reproduction import Claim, Reproduction
from fairtrial.reproduce.tutorial.examples import Result, example, joined, printed_claim

if TYPE_CHECKING:
    import pandas as pd

# Error rates of ten runs of ten-fold cross-validation on Labour, and errors in the ten folds of the first run, as printed.
C45 = [0.2456, 0.1754, 0.1754, 0.2632, 0.1579, 0.2456, 0.2105, 0.1404, 0.2632, 0.2982]
NB = [0.0702, 0.0702, 0.0175, 0.0702, 0.0702, 0.0526, 0.1579, 0.0351, 0.0351, 0.0702]
C45_FOLDS = [3, 0, 2, 0, 2, 2, 2, 1, 1, 1]
NB_FOLDS = [1, 0, 0, 0, 0, 1, 0, 2, 0, 0]


def two_learners() -> Reproduction:
    """All of them."""
    accuracies = published("tutorial_ten_domains_accuracy").set_index("dataset")
    return joined([_t(), _d(), _sign(accuracies), _wilcoxon(accuracies), _wilcoxon_on_folds()])


def _t() -> Reproduction:
    from scipy.stats import t as student

    from fairtrial.significance import paired_t

    found = paired_t(C45, NB)
    assert found.effect is not None
    spread = float(np.std(np.subtract(C45, NB), ddof=1))
    by_hand = 0.1526 / (0.05969 / np.sqrt(10))
    results = [
        Result("mean difference, C4.5 less NB", found.effect.estimate, 0.1526, 4),
        Result("sd of the differences, by hand", spread, 0.05969, 5, "of the ten pairs that the R call shows"),
        Result("t, by hand", found.statistic, 8.0845, 4, f"the printed mean and sd give {by_hand:.4f}"),
        Result("t, by R", found.statistic, 7.8645, 4),
        Result("p, by R", found.p_value, 2.536e-05, 8),
        Result("lower limit, by R", found.effect.low, 0.1087203, 7),
        Result("upper limit, by R", found.effect.high, 0.1965197, 7),
        Result("critical value at 0.001, two-sided", float(student.ppf(0.9995, 9)), 4.781, 3),
    ]
    answer = (
        f"Yes, if the ten runs were independent: t = {found.statistic:.4f}, p = {found.p_value:.3g}. The slide by hand and the "
        "R call are about the same ten pairs, but only R's numbers follow from them. Two more things: a paired test looks at "
        "differences alone, so that unequal variances of the learners are no reason against it; that ten runs on the same 57 "
        "rows are not independent is one."
    )
    part = example(
        "t_test",
        "The paired t test: C4.5 and naive Bayes on Labour",
        results,
        answer,
        asked="Do the error rates of ten runs differ by more than chance?",
    )
    claims = (
        printed_claim("The paired t statistic of the Labour example is 8.0845 (by hand)", results[2:3]),
        printed_claim("R gives t = 7.8645, p = 2.536e-05, 0.1087203 to 0.1965197", results[3:7]),
        printed_claim("t must exceed 4.781 at 0.001 with 9 degrees of freedom", results[7:]),
    )
    return joined([part, Reproduction((), (), claims)])


_BOTH = "95 % interval of the true standardised difference (noncentral t of pairs), the same for d and g"


def _d() -> Reproduction:
    from fairtrial.significance import cohens_d, hedges_g

    d, g = cohens_d(C45, NB), hedges_g(C45, NB)
    results = [
        Result("Cohen's d", d.estimate, note=d.note),
        Result("Hedges' g, freed of bias", g.estimate, note=g.note),
        Result("what both estimate, lower limit", d.low, note=_BOTH),
        Result("what both estimate, upper limit", d.high, note=_BOTH),
    ]
    answer = (
        f"The mean error rates lie {d.estimate:.1f} pooled standard deviations of a run apart. The interval, {d.low:.2f} to "
        f"{d.high:.2f}, is that of the true difference in true standard deviations (noncentral t), which d and g both "
        "estimate: freeing the estimate of bias does not move it. The spread is that between runs on the same rows, "
        "not between samples: with another sample of contracts it would be larger, and d smaller."
    )
    return example(
        "cohens_d",
        "Effect size: Cohen's d of the same ten pairs",
        results,
        answer,
        asked="How large is the difference? The tutorial gives the formula and no number.",
    )


def _sign(accuracies: pd.DataFrame) -> Reproduction:
    from scipy.stats import binom

    from fairtrial.significance import sign_test

    one, other = (
        sign_test(accuracies[a], accuracies[b], ties="split") for a, b in (("NB", "SVM"), ("AdaBoost", "RandomForest"))
    )
    dropped = sign_test(accuracies["AdaBoost"], accuracies["RandomForest"])
    at_least = {wins: float(binom.sf(wins - 1, 10, 0.5)) for wins in (8, 9)}
    needed = min(wins for wins in range(11) if binom.sf(wins - 1, 10, 0.5) <= 0.05)
    results = [
        Result("NB against SVM: wins of NB", one.statistic, 4.5, 1),
        Result("NB against SVM: wins of SVM", 10 - one.statistic, 5.5, 1),
        Result("NB against SVM: p", one.p_value, note="exact, two-sided"),
        Result("AdaBoost against forest: wins of AdaBoost", other.statistic, 1, 1, "a slip: half of the tie is missing"),
        Result("AdaBoost against forest: wins of the forest", 10 - other.statistic, 8.5, 1),
        Result("the same without the tie: p", dropped.p_value, note=f"{dropped.statistic:g} of {dropped.n}, exact, two-sided"),
        Result(
            "wins needed in 10, one-sided 0.05",
            needed,
            8,
            0,
            f"P(8 or more) = {at_least[8]:.4f}, P(9 or more) = {at_least[9]:.4f}",
        ),
    ]
    answer = (
        f"NB and SVM are not told apart (p = {one.p_value:.2f}); AdaBoost and the forest are (p = {dropped.p_value:.3f}, tie "
        f"left out). The critical value 8 is that of the normal approximation; exactly, 8 of 10 has p = {at_least[8]:.4f} and "
        f"{needed} are needed. The conclusions stay."
    )
    part = example(
        "sign_test",
        "The sign test on ten domains",
        results,
        answer,
        asked="Does one learner win on more domains than chance allows?",
    )
    claims = (
        Claim("NB and SVM cannot be told apart by the sign test (p > 0.05)", one.p_value > 0.05, f"p = {one.p_value:.3f}"),
        Claim("Random forest beats AdaBoost by the sign test at 0.05", dropped.p_value < 0.05, f"p = {dropped.p_value:.4f}"),
        printed_claim("AdaBoost wins 1 and the forest 8.5 of ten domains", results[3:5]),
    )
    return joined([part, Reproduction((), (), claims)])


def _wilcoxon(accuracies: pd.DataFrame) -> Reproduction:
    from fairtrial.significance import wilcoxon

    found = wilcoxon(accuracies["NB"] / 100, accuracies["SVM"] / 100)
    shares = _shares_of_sums(9)
    results = [
        Result("sum of ranks, NB better", found.details["R+"], 17, 0),
        Result("sum of ranks, SVM better", found.details["R-"], 28, 0),
        Result("p", found.p_value, note="exact, two-sided"),
        Result("largest sum rejected at 0.05, one-sided", _critical(shares, 0.05), 8, 0, "the tutorial says: at 0.005"),
        Result("largest sum rejected at 0.005, one-sided", _critical(shares, 0.005), 8, 0, "a slip: 8 belongs to 0.05"),
    ]
    answer = (
        f"No: p = {found.p_value:.2f}. Among all 512 ways to sign nine ranks, sums of 8 or less have a share of "
        f"{sum(shares[:9]):.4f}: 8 is the critical value at 0.05, that at 0.005 is {_critical(shares, 0.005)}."
    )
    part = example(
        "wilcoxon",
        "Wilcoxon's signed-rank test on ten domains",
        results,
        answer,
        asked="Do naive Bayes and the support vector machine differ, sizes of differences counted?",
    )
    claims = (
        printed_claim("The rank sums are 17 and 28", results[:2]),
        Claim(
            "NB and SVM cannot be told apart by Wilcoxon's test (p > 0.05)", found.p_value > 0.05, f"p = {found.p_value:.3f}"
        ),
        printed_claim("The critical value at 0.005 is 8", results[4:], f"at 0.05 it is {results[3].ours:g}"),
    )
    return joined([part, Reproduction((), (), claims)])


def _shares_of_sums(n: int) -> list[float]:
    """The probability of each sum of positive ranks under no difference, by all ways to sign the ranks."""
    sums = [sum(rank * sign for rank, sign in zip(range(1, n + 1), signs, strict=True)) for signs in product((0, 1), repeat=n)]
    return [float(share) for share in np.bincount(sums) / len(sums)]


def _critical(shares: list[float], alpha: float) -> int:
    return int(np.sum(np.cumsum(shares) <= alpha)) - 1


def _wilcoxon_on_folds() -> Reproduction:
    from fairtrial.significance import wilcoxon

    rough, exact = wilcoxon(NB_FOLDS, C45_FOLDS, method="approximate"), wilcoxon(NB_FOLDS, C45_FOLDS)
    results = [
        Result("V", rough.statistic, 2.5, 1),
        Result(
            "p, normal approximation as R takes it", rough.p_value, 0.03125, 5, "zeros dropped, ties, continuity correction"
        ),
        Result("p, exact", exact.p_value, note="all signs of the ranks that were seen"),
    ]
    verb = "stays below" if exact.p_value < 0.05 else "is above"
    answer = (
        f"R warns that it cannot be exact with ties and zeros; it can: p = {exact.p_value:.5f} instead of {rough.p_value:.5f}, "
        f"which {verb} 0.05. Folds share training rows, so that neither is to be taken at its word."
    )
    part = example(
        "wilcoxon_folds",
        "Wilcoxon's test on the ten folds of one run on Labour",
        results,
        answer,
        asked="Does naive Bayes make fewer errors fold by fold?",
        digits=5,
    )
    claim = printed_claim("R gives V = 2.5, p = 0.03125 for the folds", results[:2])
    return joined([part, Reproduction((), (), (claim,))])
