"""Explain why a rate lies outside its band.

A reason is a general fact, follows from the formulas, or was checked by a separate simulation. Otherwise it says that the cause
is unknown.
"""

from __future__ import annotations

import re

UNKNOWN = "The reason is unknown; treat this as a bug"

LIBERAL = (
    (
        r"^interval, top_k_accuracy \[300 rows",
        "Counts are discrete: the coverage of Wilson's interval oscillates with the true value. Computed from the binomial "
        "distribution, it is 94.0 % for 300 rows and a true value of 0.975",
    ),
    (
        r"^interval, (ranked_probability_score|d2_log_loss) \[30 rows",
        "BCa limits of a skewed mean are too narrow with 30 rows: see [intervals](reference/intervals.md)",
    ),
    (
        r"^autorank \[",
        "autorank chooses the direction of a one-sided Wilcoxon test from the medians of the same data, which nearly doubles "
        "the type I error",
    ),
    (r"^statsmodels.* \[.*clusters", "The procedure assumes independent rows and has no argument for clusters"),
    (
        r"^(autorank|scikit-posthocs|statsmodels)",
        "Rate of another package, shown for comparison; the cause was not investigated",
    ),
    (
        r"^margin_test, wilcoxon.*of means, not of pseudomedians",
        "Signed-rank limits are limits of the pseudomedian, which differs from the mean if differences are asymmetric",
    ),
    (
        r"^(margin_test|compare), wilcoxon.*-skewed",
        "The signed-rank test assumes symmetric differences; `margin_test` and `compare` add a caveat if they are strongly "
        "asymmetric",
    ),
    (
        r"^margin_test, t:.*-skewed",
        "The t interval assumes normal differences; `margin_test` adds a caveat if they are strongly asymmetric",
    ),
    (r"not recommended\) \[", "Shown as a warning: the corrected tests and the adjustments prevent this"),
    (
        r"^anova \[.*no sphericity",
        "Analysis of variance assumes equal variances of all differences between learners; `details['p_corrected']` does not",
    ),
    (
        r"^posthoc, li",
        "Li's procedure assumes independent p-values, but comparisons with one control share its scores. With four "
        "independent p-values it controls the type I error. Use Holm or Hommel instead",
    ),
    (
        r"alternate between",
        "Known limitation of every post-hoc test on mean ranks (Benavoli, Corani & Mangili 2016): the result for two learners "
        "depends on the other learners. Adjusted tests of single pairs do not have it",
    ),
    (
        r"^interval, (ks|h_measure)",
        "The measure is optimal over thresholds and therefore optimistic in small samples, and resampling adds to the "
        "optimism. BCa corrects only a part of it: see [intervals](reference/intervals.md)",
    ),
    (
        r"^(posthoc, (benjamini|finner))",
        "The procedure controls the false discovery rate, or, for Finner, the family-wise error only if all learners are equal",
    ),
    (
        r"^(delong|difference, AUC|interval, AUC).*\[10 \+ 100",
        "DeLong's variance is estimated from ten positive rows. The combined Newcombe limits of a difference use it for the "
        "correlation. `permutation_test` controls the type I error here",
    ),
    (r"^interval, AUC", "Near an AUC of 1, DeLong's variance is estimated from few incorrectly ranked pairs of rows"),
    (
        r"^bradley_terry",
        "Percentile limits from few data sets are too extreme: too low for weak learners and too high for strong ones. With "
        "120 data sets the coverage is nominal",
    ),
    (
        r"^estimate, 632 \[.*nearest neighbour",
        "The estimate uses the error rate on the training rows, which is 0 for a nearest neighbour. Use 632+ instead",
    ),
    (
        r"^estimate, (loo-bootstrap|e0)",
        "A bootstrap sample contains 63.2 % of the rows, so its learner has a higher error rate than the evaluated one: by "
        "0.05 in 600 repetitions",
    ),
    (
        r"^estimate, 632\+ \[.*nearest neighbour",
        "The error rate on the training rows, 0 for a nearest neighbour, has some weight. The estimate is too low by 0.04 in "
        "600 repetitions",
    ),
    (
        r"^estimate, 632\+",
        "Learners trained on bootstrap samples have seen fewer rows, and the weight of the training rows compensates only "
        "partly. The estimate is too high by 0.015 in 600 repetitions",
    ),
)

CONSERVATIVE = (
    (r"^gaps, measures other than", "Bonferroni over measures that are correlated"),
    (
        r"^gaps, .*patients of 4 rows",
        "The limits of each value use a t distribution with few degrees of freedom, and a design effect of at least 1",
    ),
    (
        r"^choose_threshold: .*cheaper",
        "Only the half of the significant differences in which the threshold is cheaper counts, and both the cross-fitted "
        "difference and the one on all rows must be significant",
    ),
    (
        r"^choose_threshold.* weighted rows",
        "The effective number of rows ignores that the weights depend on class and score, so it is too small",
    ),
    (
        r"^choose_threshold, costs: threshold",
        "The limits enclose all thresholds whose cost is not significantly higher, also those far from the best one",
    ),
    (
        r"^choose_threshold(: costs of two models|, \w+: (cost|current cost|saving|recall|precision|alert_rate))",
        "An interval or test includes the one on the rows used to choose the threshold, and the variance of a cost includes "
        "one error of each kind that may be missing by chance",
    ),
    (r"^cost_test", "The variance includes one error of each kind that may be missing by chance"),
    (
        r"^gate, [a-z_]+: equivalent",
        "Both limits must lie within the margin, which is impossible or rare if the interval is wider than the margin",
    ),
    (
        r"^gate, ",
        "Limits of few rows or cases are wide: they include the exact test (accuracy), the larger variance of AUCs with few "
        "cases, or the rule of three",
    ),
    (r"^margin_test.*-skewed", "Skewed differences make one limit too liberal and the other one conservative"),
    (r"^margin_test, t:.*heavy-tailed", "With heavy tails the t interval is wide: outliers increase the variance"),
    (r"^margin_test, wilcoxon", "The exact distribution of few signed ranks is discrete and cannot reach exactly 2.5 %"),
    (r"^compare, (wilcoxon|t): any learner", "Bonferroni over pairs that share learners, and discrete signed ranks"),
    (
        r"^posthoc, tukey.*one much better",
        "The adjustment includes the four comparisons with the best learner, although only six pairs are equal",
    ),
    (
        r"one much better",
        "The variance of a difference is computed under the hypothesis of no differences, which includes the ranks of the best "
        "learner. The ranks of the four equal learners vary less",
    ),
    (
        r"^(posthoc|compare, any|wilcoxon of each pair|fairtrial, posthoc|scikit-posthocs)",
        "Bounds on the sum of dependent errors (Bonferroni and refinements), applied to discrete ranks",
    ),
    (
        r"^five_by_two.*interval",
        "The mean of ten differences is assumed to be as uncertain as one of them, because folds of one data set may be "
        "correlated. The simulated differences are not correlated",
    ),
    (
        r"^five_by_two.*real ",
        "Also conservative for independent differences; the additional effect of real folds was not investigated",
    ),
    (r"^five_by_two_t", "The numerator, the first difference, is part of the denominator, unlike in a t distribution"),
    (
        r"^five_by_two_f",
        "Numerator and denominator share the variance within repeats, unlike in the F distribution with 10 and 5 degrees of "
        "freedom",
    ),
    (r"^ten_by_ten", "Calibrated by simulation on other data; the cause was not investigated"),
    (
        r"real 10-fold",
        "The folds of one cross-validation were uncorrelated for these learners (-0.00 in 4,000 repetitions), but the "
        "correction assumes 0.1. Between repeats, which test the same rows again, the correlation was 0.10, as assumed",
    ),
    (
        r"^mcnemar.*mid-p",
        "Counts are discrete, so only some significance levels can be reached; mid-p may lie on either side of 5 %",
    ),
    (
        r"^(compare, wilcoxon|fairtrial, (wilcoxon|mcnemar) |statsmodels, mcnemar|mcnemar, (exact|chi2)|"
        r"mcnemar_table, (exact|chi2)|sign_test(, ties| \[)|"
        r"permutation_test|label_permutation|wilcoxon, exact)",
        "An exact test of discrete data (or the continuity correction that imitates it) cannot reach exactly 5 %",
    ),
    (
        r"^wilcoxon, approximate, zeros split",
        "Demsar's variance assumes no ties and no zeros, and is larger than that of tied ranks",
    ),
    (r"^wilcoxon, approximate", "The continuity correction imitates the exact test, which cannot reach exactly 5 %"),
    (r"ties uncorrected", "The variance without ties is larger than that of tied ranks"),
    (
        r"clopper-pearson|proportion of wins",
        "Exact by construction: the coverage is never below the nominal one, so mostly above",
    ),
    (
        r"wilson|odds ratio",
        "Counts of few rows are discrete: the coverage of any interval oscillates with the true value, here above the nominal "
        "one",
    ),
    (
        r"^(interval, AUC|auc_test|difference, AUC|judge)",
        "The variance is the larger of DeLong's and that of a model of the scores, which protects against few cases",
    ),
    (
        r"clustered|^(friedman|quade|page_trend) \[.* equal learners",
        "Few clusters or data sets: the test is exact or uses a t distribution with few degrees of freedom",
    ),
    (r"^friedman, Kendall's W", "The interval is the wider of two, because each of them is too short in some settings"),
    (
        r"^cochran_q",
        "Q varies less around its mean than the noncentral chi-squared distribution of the limits (variance 84 against 102 in "
        "4,000 repetitions)",
    ),
    (
        r"^corrected resampled t, 10 folds",
        "The correction assumes correlated folds, but the correlation of the folds was 0.00 to 0.04. The estimated variance "
        "was 1.5 to 2.0 times that of the estimate in 300 repetitions",
    ),
    (
        r"^conservative_z_interval",
        "The variance is estimated from halves of the rows: it was 1.7 to 2.2 times that of the estimate in 300 repetitions",
    ),
    (
        r"^nested_cv_interval",
        "The standard error has a lower bound, which 28 to 49 % of the samples reached. The estimated variance was 1.5 to 1.9 "
        "times that of the estimate in 300 repetitions",
    ),
    (
        r"^(cliffs_delta|vargha_delaney_a12)",
        "Cliff's limits are slightly wide in small samples; with 100 rows on each side the coverage is nominal",
    ),
)
_SAFE = "The cause was not investigated"


def reason(what: str, setting: str, liberal: bool) -> str:
    """Return the first reason whose pattern matches "what [setting]"."""
    line = f"{what} [{setting}]"
    reasons = (why for pattern, why in (LIBERAL if liberal else CONSERVATIVE) if re.search(pattern, line))
    return next(reasons, UNKNOWN if liberal else _SAFE)
