"""Why a line lies outside its band, looked up by what it is and where it was tried.

A reason is a general fact, follows from the formulas, or was checked by a simulation of its own; where none of this holds, it
says that the cause was not looked into.
"""

from __future__ import annotations

import re

UNKNOWN = "no reason is known, which makes it a bug until one is found"

LIBERAL = (
    (
        r"^autorank \[",
        "autorank takes the direction of a one-sided Wilcoxon test from the medians of the same data, which "
        "nearly doubles the error",
    ),
    (r"^(autorank|scikit-posthocs)", "another package's figure, shown for comparison; its cause was not looked into"),
    (r"a warning\) \[", "shown as a warning: this is what the corrected tests and the adjustments are there to prevent"),
    (
        r"^anova \[.*no sphericity",
        "analysis of variance assumes that all differences between learners vary alike; "
        "`details['p_corrected']`, on the same "
        "data, does not",
    ),
    (
        r"^posthoc, li",
        "Li's procedure is made for independent p values, as `adjust` says; comparisons with one control share "
        "its scores. With "
        "four independent p values it keeps its level. Use Holm's or Hommel's instead",
    ),
    (
        r"take turns",
        "a known limit of every post-hoc test on mean ranks (Benavoli, Corani & Mangili 2016): whether two "
        "learners are told "
        "apart depends on the others. Tests of each pair alone, adjusted, do not have it",
    ),
    (
        r"^interval, (ks|h_measure)",
        "the measure is a best case over thresholds, optimistic in small samples, and a resample is optimistic "
        "once more; BCa mends "
        "a part of this only: see [intervals](intervals.md)",
    ),
    (
        r"^(delong|difference, AUC|interval, AUC).*\[10 \+ 100",
        "DeLong's variance, which the added-up Newcombe limits of a difference use for the correlation, is "
        "estimated from ten "
        "positive rows; permutation_test keeps its level there",
    ),
    (r"^interval, AUC", "near 1 DeLong's variance is estimated from the few pairs of rows that are ranked wrongly"),
    (
        r"^bradley_terry",
        "percentile limits from few data sets lie too far out, too low for weak learners and too high for "
        "strong ones; with 120 "
        "data sets they cover as promised",
    ),
    (
        r"^estimate, 632 \[.*nearest neighbour",
        "it takes the error rate on the training rows at its word, which is 0 for a nearest neighbour; 632+ is made for that",
    ),
    (
        r"^estimate, (loo-bootstrap|e0)",
        "a bootstrap sample holds 63.2 % of the rows, so that its learner errs more than the one that is judged: by 0.05 in "
        "600 repetitions",
    ),
    (
        r"^estimate, 632\+ \[.*nearest neighbour",
        "the error rate on the training rows, 0 for a nearest neighbour, keeps some weight: the estimate is too low by 0.04 in "
        "600 repetitions",
    ),
    (
        r"^estimate, 632\+",
        "learners of bootstrap samples know fewer rows, and the weight of the training rows does not make up for all of it: "
        "the estimate is too high by 0.015 in 600 repetitions",
    ),
)

CONSERVATIVE = (
    (
        r"^posthoc, tukey.*one far ahead",
        "it goes on paying for the four comparisons with the leader, although only six are between equals",
    ),
    (
        r"one far ahead",
        "the variance of a difference is that of no differences at all, which counts in the leader's ranks; the "
        "ranks of the four "
        "equals vary less",
    ),
    (
        r"^(posthoc|advise, any|wilcoxon of each pair|fairtrial, posthoc|scikit-posthocs)",
        "bounds on the sum of dependent errors (Bonferroni's and its refinements), on ranks, which are discrete",
    ),
    (
        r"^five_by_two.*interval",
        "the mean of ten differences is taken to be no surer than one of them, because folds of one data set "
        "may be correlated; "
        "the differences simulated here are not",
    ),
    (r"^five_by_two.*real ", "conservative for independent differences too; what real folds add was not looked into"),
    (r"^five_by_two_t", "its numerator, the first difference, is a part of its denominator, unlike in a t distribution"),
    (
        r"^five_by_two_f",
        "numerator and denominator share the spread within repeats, unlike in the F distribution with 10 and 5 "
        "degrees of freedom",
    ),
    (r"^ten_by_ten", "calibrated by simulation on other data; the cause was not looked into"),
    (
        r"real 10-fold",
        "the folds of one cross-validation were uncorrelated for these learners (-0.00 in 4,000 repetitions), "
        "where the correction "
        "takes 0.1; between repeats, where the same rows are tested again, their correlation was 0.10, as the "
        "correction takes it",
    ),
    (
        r"^mcnemar.*mid-p",
        "a count takes few values, so that only some levels can be reached; mid-p may lie on either side of 5 %",
    ),
    (
        r"^(advise, wilcoxon|fairtrial, wilcoxon|mcnemar, (exact|chi2)|mcnemar_table, (exact|chi2)|sign_test(, ties| \[)|"
        r"permutation_test|label_permutation|wilcoxon, exact)",
        "an exact test of discrete data (or the continuity correction that imitates it) cannot spend all of its 5 %",
    ),
    (
        r"^wilcoxon, approximate, zeros split",
        "Demsar's variance is that of no ties and no zeros, larger than that of tied ranks",
    ),
    (r"^wilcoxon, approximate", "the continuity correction imitates the exact test, which cannot spend all of its 5 %"),
    (r"ties uncorrected", "the variance without ties is larger than that of tied ranks"),
    (r"clopper-pearson|share of wins", "exact by construction: never below its level, hence above it nearly everywhere"),
    (
        r"wilson|odds ratio",
        "a count of few rows takes few values: the coverage of any interval jumps with the truth, here upwards",
    ),
    (r"^interval, AUC", "Newcombe's limits take their variance from a model of the scores, not from the scores themselves"),
    (r"^friedman, Kendall's W", "its interval is the wider of two, for each of them fails somewhere"),
    (
        r"^cochran_q",
        "Q varies less around its mean than the noncentral chi-squared distribution behind the limits (variance "
        "84 against 102 in "
        "4,000 repetitions)",
    ),
    (
        r"^(cliffs_delta|vargha_delaney_a12)",
        "Cliff's limits are a little wide in small samples; with 100 rows on each side they cover as promised",
    ),
)
_SAFE = "on the safe side; the cause was not looked into"


def reason(what: str, setting: str, liberal: bool) -> str:
    """The first reason whose pattern is found in 'what [setting]'."""
    line = f"{what} [{setting}]"
    found = (why for pattern, why in (LIBERAL if liberal else CONSERVATIVE) if re.search(pattern, line))
    return next(found, UNKNOWN if liberal else _SAFE)
