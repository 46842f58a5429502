"""Worked examples of tests that compare two or more learners, and new runs on Labour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial._text import format_count, format_p_value
from fairtrial.reproduce.claim import Claim, IntervalEstimate, build_claim, judge_direction, judge_fact, mark_inconclusive
from fairtrial.reproduce.experiment import Request, ResultTable, read_published
from fairtrial.reproduce.tutorial.inputs import TutorialInputs, find_wrong_predictions
from fairtrial.reproduce.tutorial.printed import PageSection, PrintedResult, build_example, judge_printed

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.data import Dataset
    from fairtrial.significance import Outcome

_INDEPENDENT_RUNS = "runs treated as independent"
_HIGHEST_TYPE_1_ERROR = 0.06  # a type I error above this invalidates a test at 0.05

# Printed error rates of ten runs of 10-fold cross-validation on Labour, and printed errors in the folds of the first run.
C45_RATES = [0.2456, 0.1754, 0.1754, 0.2632, 0.1579, 0.2456, 0.2105, 0.1404, 0.2632, 0.2982]
NB_RATES = [0.0702, 0.0702, 0.0175, 0.0702, 0.0702, 0.0526, 0.1579, 0.0351, 0.0351, 0.0702]
C45_FOLDS = [3, 0, 2, 0, 2, 2, 2, 1, 1, 1]
NB_FOLDS = [1, 0, 0, 0, 0, 1, 0, 2, 0, 0]

WrongRows = dict[str, list[list[npt.NDArray[np.bool_]]]]  # masks of the misclassified test rows, by learner, run and fold


def build_sections(inputs: TutorialInputs) -> Iterator[PageSection]:
    """Compute all examples, and repeat the runs on Labour if the data set was found."""
    accuracies = read_published("tutorial_ten_domains_accuracy").set_index("dataset")
    yield _build_t_test()
    yield build_assumptions(inputs.request)
    yield _build_effect_size()
    yield _build_sign_test(accuracies)
    yield _build_wilcoxon(accuracies)
    yield _build_wilcoxon_on_folds()
    if inputs.labour is not None:
        n_runs, n_folds = inputs.request.pick(smoke=(2, 2), quick=(10, 10), full=(10, 10))
        wrong = cross_validate_labour(inputs.labour, n_runs, n_folds)
        yield _build_labour_runs(wrong)
        yield _build_mcnemar(wrong)
    domains = read_published("tutorial_friedman_domains").set_index("domain")
    tied = domains.assign(fC=domains["fC"].replace(85.90, 85.91))  # the tutorial treats these two values as tied
    yield _build_friedman(domains, tied)
    yield _build_nemenyi(domains, tied)
    yield _build_anova(domains, accuracies)


def _build_t_test() -> PageSection:
    from scipy.stats import t as student

    from fairtrial.significance import paired_t

    test = paired_t(C45_RATES, NB_RATES)
    assert test.effect is not None
    deviation = float(np.std(np.subtract(C45_RATES, NB_RATES), ddof=1))
    by_hand = 0.1526 / (0.05969 / np.sqrt(10))
    results = [
        PrintedResult("mean difference, C4.5 - NB", test.effect.estimate, 0.1526, 4),
        PrintedResult(
            "standard deviation of the differences, by hand", deviation, 0.05969, 5, "computed from the pairs in the R call"
        ),
        PrintedResult("t, by hand", test.statistic, 8.0845, 4, f"the printed mean and standard deviation give {by_hand:.4f}"),
        PrintedResult("t, by R", test.statistic, 7.8645, 4),
        PrintedResult("p, by R", test.p_value, 2.536e-05, 8),
        PrintedResult("lower 95 % limit, by R", test.effect.low, 0.1087203, 7),
        PrintedResult("upper 95 % limit, by R", test.effect.high, 0.1965197, 7),
        PrintedResult("critical value at 0.001, two-sided", float(student.ppf(0.9995, 9)), 4.781, 3),
    ]
    claims = (
        judge_printed("The paired t statistic of the Labour example is 8.0845 (by hand)", results[2:3]),
        judge_printed("R gives t = 7.8645, p = 2.536e-05, 95 % CI 0.1087203 to 0.1965197", results[3:7]),
        judge_printed("The critical value of t at 0.001 with 9 degrees of freedom is 4.781", results[7:]),
    )
    title = "The paired t test: C4.5 and naive Bayes on Labour"
    return build_example("t_test", title, results, claims=claims, values={"t": test.statistic, "p": test.p_value})


def build_assumptions(request: Request) -> PageSection:
    """Check the assumptions of the paired t test on the printed error rates of Labour."""
    from scipy.stats import shapiro

    n_replicates = request.pick(smoke=500, quick=20_000, full=100_000)
    ratio, p_ratio = compare_paired_variances(C45_RATES, NB_RATES)
    rate = simulate_unequal_variances(n_replicates, request.seed)
    normality = float(shapiro(np.subtract(C45_RATES, NB_RATES)).pvalue)
    results = [
        PrintedResult("normality of the differences: p (Shapiro-Wilk)", normality, note="ten differences, so low power"),
        PrintedResult("standard deviation of C4.5 over runs", float(np.std(C45_RATES, ddof=1))),
        PrintedResult("standard deviation of naive Bayes over runs", float(np.std(NB_RATES, ddof=1))),
        PrintedResult("equal variances: p (Pitman-Morgan)", p_ratio, note="for paired samples; not an assumption of the test"),
        PrintedResult(
            "type I error of the paired t test with these variances (%)",
            100 * rate.value,
            note=f"nominal 5 %; 95 % CI {100 * rate.low:.2f} to {100 * rate.high:.2f}, {n_replicates} simulated samples",
        ),
    ]
    claims: tuple[Claim, ...] = judge_assumptions(ratio, p_ratio, rate)
    if n_replicates < 1000:
        claims = (claims[0], *mark_inconclusive(claims[1:], f"inconclusive with {n_replicates} simulated samples"))
    values = {"p_normality": normality, "p_variances": p_ratio, "type_1_error": 100 * rate.value}
    title = "The assumptions of the t test on Labour"
    return build_example("t_test_assumptions", title, results, claims=claims, values=values)


def compare_paired_variances(first: Sequence[float], second: Sequence[float]) -> tuple[IntervalEstimate, float]:
    """Compare two variances by the test of Pitman and Morgan for paired samples."""
    from scipy.stats import pearsonr, t

    n = len(first)
    log_ratio = float(np.log(np.var(first, ddof=1) / np.var(second, ddof=1)))
    correlation = float(np.corrcoef(first, second)[0, 1])
    k = 1 + 2 * (1 - correlation**2) * float(t.isf(0.025, n - 2)) ** 2 / (n - 2)
    half = float(np.log(k + np.sqrt(k**2 - 1)))
    p = float(pearsonr(np.add(first, second), np.subtract(first, second)).pvalue)
    return IntervalEstimate(log_ratio, log_ratio - half, log_ratio + half, n - 2), p


def simulate_unequal_variances(n_replicates: int, seed: int) -> IntervalEstimate:
    """Estimate the type I error of the paired t test with the variances of Labour."""
    from scipy.stats import ttest_1samp

    from fairtrial.measures.intervals import compute_clopper_pearson_limits

    covariance = np.cov(C45_RATES, NB_RATES)
    scores = np.random.default_rng([seed, 19]).multivariate_normal([0, 0], covariance, size=(n_replicates, len(C45_RATES)))
    p_values = np.asarray(ttest_1samp(scores[..., 0] - scores[..., 1], 0, axis=1).pvalue)
    n_rejected = int(np.sum(p_values < 0.05))
    low, high = compute_clopper_pearson_limits(n_rejected, n_replicates, 0.95)
    return IntervalEstimate(n_rejected / n_replicates, float(low), float(high))


def judge_assumptions(ratio: IntervalEstimate, p_ratio: float, rate: IntervalEstimate) -> tuple[Claim, ...]:
    """Judge whether the variances differ, and whether this invalidates the paired t test."""
    factor = IntervalEstimate(*(float(np.exp(x)) for x in (ratio.value, ratio.low, ratio.high)))
    return (
        Claim(
            "On Labour, the variances of C4.5 and naive Bayes cannot be considered equal (judged as: significant at 5 %)",
            judge_fact(True if p_ratio < 0.05 else None),
            f"variance ratio {factor.format('{:.2f}')}, Pitman-Morgan test {format_p_value(p_ratio)}",
        ),
        Claim(
            "Because of unequal variances, the paired t test was not warranted on Labour (judged as: type I error above 6 % "
            "instead of 5 %)",
            judge_direction([rate.subtract(_HIGHEST_TYPE_1_ERROR)]),
            f"type I error {rate.format('{:.4f}')} with the variances of Labour: the test uses only the differences",
        ),
    )


def _build_anova(domains: pd.DataFrame, accuracies: pd.DataFrame) -> PageSection:
    """Apply repeated-measures ANOVA to both tables of the tutorial, and check its assumptions."""
    import pandas as pd

    from fairtrial.significance import anova, friedman
    from fairtrial.significance.designs import check_differences

    lines = []
    for name, table in (("three classifiers (Friedman example)", domains), ("four learners (sign test example)", accuracies)):
        test, assumptions = anova(table), check_differences(table.to_numpy(dtype=float))
        assert test.effect is not None
        assert isinstance(test.df, tuple)
        lines.append(
            {
                "table": name,
                "F": test.statistic,
                "degrees of freedom": f"{test.df[0]:g} and {test.df[1]:g}",
                "p": test.p_value,
                "p, Greenhouse-Geisser": test.details["p_corrected"],
                "epsilon": test.details["epsilon"],
                "partial eta squared": test.effect.estimate,
                "normality, smallest p": min(assumptions.normality),
                "sphericity, p (Mauchly)": assumptions.sphericity,
                "Friedman p": friedman(table, distribution="asymptotic").p_value,
            }
        )
    result = ResultTable("anova", "Repeated-measures ANOVA of the same tables", pd.DataFrame(lines))
    return PageSection("anova", {"lines": lines}, (result,))


def _build_effect_size() -> PageSection:
    from fairtrial.significance import cohens_d, hedges_g

    d, g = cohens_d(C45_RATES, NB_RATES), hedges_g(C45_RATES, NB_RATES)
    note = "limit of the true standardized difference (noncentral t of pairs), the same for d and g"
    results = [
        PrintedResult("Cohen's d", d.estimate, note=d.note),
        PrintedResult("Hedges' g, bias-corrected", g.estimate, note=g.note),
        PrintedResult("lower 95 % limit", d.low, note=note),
        PrintedResult("upper 95 % limit", d.high, note=note),
    ]
    title = "Effect size: Cohen's d of the same ten pairs"
    return build_example("cohens_d", title, results, values={"d": d.estimate, "low": d.low, "high": d.high})


def _build_sign_test(accuracies: pd.DataFrame) -> PageSection:
    from scipy.stats import binom

    from fairtrial.significance import sign_test

    nb_svm = sign_test(accuracies["NB"], accuracies["SVM"], ties="split")
    ada_forest = sign_test(accuracies["AdaBoost"], accuracies["RandomForest"], ties="split")
    without_tie = sign_test(accuracies["AdaBoost"], accuracies["RandomForest"])
    tails = {wins: float(binom.sf(wins - 1, 10, 0.5)) for wins in (8, 9)}
    needed = min(wins for wins in range(11) if binom.sf(wins - 1, 10, 0.5) <= 0.05)
    count = f"{without_tie.statistic:g} of {without_tie.n}, exact, two-sided"
    results = [
        PrintedResult("NB against SVM: wins of NB", nb_svm.statistic, 4.5, 1),
        PrintedResult("NB against SVM: wins of SVM", 10 - nb_svm.statistic, 5.5, 1),
        PrintedResult("NB against SVM: p", nb_svm.p_value, note="exact, two-sided"),
        PrintedResult(
            "AdaBoost against random forest: wins of AdaBoost",
            ada_forest.statistic,
            1,
            1,
            "error in the slides: the tie must count half",
        ),
        PrintedResult("AdaBoost against random forest: wins of random forest", 10 - ada_forest.statistic, 8.5, 1),
        PrintedResult("AdaBoost against random forest, without the tie: p", without_tie.p_value, note=count),
        PrintedResult(
            "wins needed in 10, one-sided 0.05", needed, 8, 0, f"P(8 or more) = {tails[8]:.4f}, P(9 or more) = {tails[9]:.4f}"
        ),
    ]
    claims = (
        Claim(
            "The sign test finds no significant difference between NB and SVM (p > 0.05)",
            judge_fact(nb_svm.p_value > 0.05),
            format_p_value(nb_svm.p_value, digits=3),
            "printed",
        ),
        Claim(
            "Random forest beats AdaBoost by the sign test at 0.05",
            judge_fact(without_tie.p_value < 0.05),
            format_p_value(without_tie.p_value, digits=3),
            "printed",
        ),
        judge_printed("AdaBoost wins on 1 and random forest on 8.5 of ten domains", results[3:5]),
    )
    values = {"p_nb_svm": nb_svm.p_value, "p_forest": without_tie.p_value, "p_of_8": tails[8], "needed": needed}
    return build_example("sign_test", "The sign test on ten domains", results, claims=claims, values=values)


def _build_wilcoxon(accuracies: pd.DataFrame) -> PageSection:
    from fairtrial.significance import wilcoxon

    test = wilcoxon(accuracies["NB"] / 100, accuracies["SVM"] / 100)
    # If there is no difference, all ways to assign signs to nine ranks are equally likely.
    sums = [int(np.dot(range(1, 10), signs)) for signs in product((0, 1), repeat=9)]
    cumulative = np.cumsum(np.bincount(sums) / len(sums))
    critical = {alpha: int(np.sum(cumulative <= alpha)) - 1 for alpha in (0.05, 0.005)}
    results = [
        PrintedResult("sum of ranks, NB better", test.details["R+"], 17, 0),
        PrintedResult("sum of ranks, SVM better", test.details["R-"], 28, 0),
        PrintedResult("p", test.p_value, note="exact, two-sided"),
        PrintedResult(
            "largest sum rejected at 0.05, one-sided", critical[0.05], 8, 0, "the tutorial gives this value for 0.005"
        ),
        PrintedResult(
            "largest sum rejected at 0.005, one-sided", critical[0.005], 8, 0, "error in the slides: 8 is the value for 0.05"
        ),
    ]
    claims = (
        judge_printed("The rank sums are 17 and 28", results[:2]),
        Claim(
            "The Wilcoxon test finds no significant difference between NB and SVM (p > 0.05)",
            judge_fact(test.p_value > 0.05),
            format_p_value(test.p_value, digits=3),
            "printed",
        ),
        judge_printed("The critical value at 0.005 is 8", results[4:], f"at 0.05 it is {critical[0.05]}"),
    )
    values = {"p": test.p_value, "p_of_8": float(cumulative[8]), "critical": critical[0.005]}
    return build_example("wilcoxon", "The Wilcoxon signed-rank test on ten domains", results, claims=claims, values=values)


def _build_wilcoxon_on_folds() -> PageSection:
    from fairtrial.significance import wilcoxon

    approximate, exact = wilcoxon(NB_FOLDS, C45_FOLDS, method="approximate"), wilcoxon(NB_FOLDS, C45_FOLDS)
    results = [
        PrintedResult("V", approximate.statistic, 2.5, 1),
        PrintedResult(
            "p, normal approximation as in R",
            approximate.p_value,
            0.03125,
            5,
            "zeros dropped, with ties and continuity correction",
        ),
        PrintedResult("p, exact", exact.p_value, note="from all signs of the observed ranks"),
    ]
    claim = judge_printed("R gives V = 2.5, p = 0.03125 for the folds", results[:2])
    values = {"p_exact": exact.p_value, "p_approximate": approximate.p_value}
    title = "The Wilcoxon test on the ten folds of one run on Labour"
    return build_example("wilcoxon_folds", title, results, digits=5, claims=[claim], values=values)


def cross_validate_labour(data: Dataset, n_runs: int, n_folds: int) -> WrongRows:
    """Mark the rows that C4.5 and naive Bayes misclassify in each run and fold.

    Run r uses WEKA's folds with seed r.
    """
    from fairtrial.learners import C45, NaiveBayes
    from fairtrial.resampling import WekaFolds

    learners: dict[str, Any] = {"C4.5": C45(), "NB": NaiveBayes()}
    X, y = data.X, data.y
    runs = [list(WekaFolds(n_folds, random_state=run + 1).freeze(X, y)) for run in range(n_runs)]
    return {
        name: [[find_wrong_predictions(learner, X, y, train, test) for train, test in splits] for splits in runs]
        for name, learner in learners.items()
    }


def _require_printed_runs(claim: Claim, wrong: WrongRows) -> tuple[Claim, ...]:
    """Mark the claim as inconclusive unless there are ten runs of ten folds, as in the tutorial."""
    size = len(wrong["NB"]), len(wrong["NB"][0])
    reason = "inconclusive with {} runs of {} folds (the tutorial has 10 runs of 10 folds)".format(*size)
    return (claim,) if size == (10, 10) else mark_inconclusive([claim], reason)


def _build_labour_runs(wrong: WrongRows) -> PageSection:
    from fairtrial.significance import cohens_d, corrected_resampled_t, paired_t

    rates = {name: [float(np.concatenate(run).mean()) for run in runs] for name, runs in wrong.items()}
    fold_rates = {name: [float(fold.mean()) for run in runs for fold in run] for name, runs in wrong.items()}
    over_runs = paired_t(rates["C4.5"], rates["NB"])
    corrected = corrected_resampled_t(fold_rates["C4.5"], fold_rates["NB"], test_fraction=1 / len(wrong["NB"][0]))
    d = cohens_d(rates["C4.5"], rates["NB"])
    assert over_runs.effect is not None
    assert corrected.effect is not None
    results = [
        PrintedResult("mean error rate of C4.5", float(np.mean(rates["C4.5"])), 0.2175, 4),
        PrintedResult("mean error rate of naive Bayes", float(np.mean(rates["NB"])), 0.0649, 4),
        PrintedResult(
            "t over runs",
            over_runs.statistic,
            7.8645,
            4,
            f"{format_p_value(over_runs.p_value, digits=3)}; assumes independent runs",
        ),
        PrintedResult(
            "t over folds, corrected",
            corrected.statistic,
            note=f"{format_p_value(corrected.p_value, digits=3)}; Nadeau and Bengio",
        ),
        PrintedResult("Cohen's d over runs", d.estimate, note=f"95 % CI of the true d {d.low:.2f} to {d.high:.2f}"),
    ]
    values = {
        "difference": over_runs.effect.estimate,
        "low": corrected.effect.low,
        "high": corrected.effect.high,
        "p_runs": over_runs.p_value,
        "p_corrected": corrected.p_value,
    }
    claim = judge_labour_difference(over_runs, corrected)
    title = "The t test again, on our own runs"
    return build_example("labour_runs", title, results, digits=4, claims=_require_printed_runs(claim, wrong), values=values)


def judge_labour_difference(over_runs: Outcome, corrected: Outcome) -> Claim:
    """Judge by the corrected interval whether C4.5 makes more errors than naive Bayes.

    The test of the slides, which treats runs as independent, is a variant.
    """
    estimates = {"": _get_estimate(corrected), _INDEPENDENT_RUNS: _get_estimate(over_runs)}
    return build_claim(
        "C4.5 makes more errors than naive Bayes on Labour (judged by the interval corrected for shared training rows; the "
        "slides reject equality at 0.001)",
        lambda variant: judge_direction([estimates[variant]]),
        f"error rates differ by {estimates[''].format('{:+.3f}')}, {format_p_value(corrected.p_value)}, corrected for shared "
        f"training rows; {format_p_value(over_runs.p_value)} if runs are treated as independent, which they are not",
        variants=[_INDEPENDENT_RUNS],
    )


def _get_estimate(outcome: Outcome) -> IntervalEstimate:
    """Return the mean difference of a t test with its interval."""
    assert outcome.effect is not None
    assert isinstance(outcome.df, float)
    return IntervalEstimate(outcome.effect.estimate, outcome.effect.low, outcome.effect.high, outcome.df)


def _build_mcnemar(wrong: WrongRows) -> PageSection:
    from fairtrial.significance import mcnemar_table, sign_test

    c45, nb = (np.concatenate(wrong[name][0]) for name in ("C4.5", "NB"))
    only_c45, only_nb = int(np.sum(c45 & ~nb)), int(np.sum(~c45 & nb))
    methods: tuple[Literal["chi2", "exact", "mid-p"], ...] = ("chi2", "exact", "mid-p")
    tests = {method: mcnemar_table(only_c45, only_nb, method=method) for method in methods}
    over_folds = sign_test([fold.sum() for fold in wrong["NB"][0]], [fold.sum() for fold in wrong["C4.5"][0]])
    over_printed_folds = sign_test(NB_FOLDS, C45_FOLDS)
    results = [
        PrintedResult("both wrong", int(np.sum(c45 & nb))),
        PrintedResult("only C4.5 wrong", only_c45),
        PrintedResult("only naive Bayes wrong", only_nb),
        PrintedResult(
            "chi-squared with correction", tests["chi2"].statistic, note=format_p_value(tests["chi2"].p_value, digits=3)
        ),
        PrintedResult("p, exact", tests["exact"].p_value),
        PrintedResult(
            "p, mid-p",
            tests["mid-p"].p_value,
            note="controlled the type I error in all settings of Fagerland et al. (2013)",
        ),
        PrintedResult(
            "sign test over our folds: p",
            over_folds.p_value,
            note=f"naive Bayes makes more errors in {over_folds.statistic:g} of {over_folds.n} folds",
        ),
        PrintedResult(
            "sign test over the printed folds: p",
            over_printed_folds.p_value,
            note=f"naive Bayes makes more errors in {over_printed_folds.statistic:g} of {over_printed_folds.n} folds",
        ),
    ]
    n_discordant = only_c45 + only_nb
    text = "On Labour, C4.5 and naive Bayes disagree on fewer than 20 rows"
    claim = Claim(text, judge_fact(n_discordant < 20), format_count(n_discordant, "row"), "printed")
    claims = _require_printed_runs(claim, wrong)
    values = {"n_discordant": n_discordant, "p_exact": tests["exact"].p_value, "p_mid": tests["mid-p"].p_value}
    return build_example("mcnemar", "McNemar's test: C4.5 and naive Bayes on Labour", results, claims=claims, values=values)


def _build_friedman(domains: pd.DataFrame, tied: pd.DataFrame) -> PageSection:
    from scipy.stats import chi2

    from fairtrial.significance import friedman, iman_davenport

    test = friedman(domains, distribution="asymptotic")
    with_tie = friedman(tied, ties="uncorrected", distribution="asymptotic")
    error = f"error in the slides: {chi2.ppf(0.95, 3):.2f} is the value for 3 degrees of freedom"
    results = [
        PrintedResult("chi-squared, by hand", test.statistic, 15.05, 2, "85.91 and 85.90 are not tied"),
        PrintedResult("chi-squared with that tie, uncorrected", with_tie.statistic, 15.05, 2, "as the tutorial computes it"),
        PrintedResult("chi-squared, by R", test.statistic, 15, 0),
        PrintedResult("p, by R", test.p_value, 0.0005531, 7),
        PrintedResult("critical value at 0.05", float(chi2.ppf(0.95, 2)), 7.8, 1, error),
        PrintedResult(
            "F of Iman and Davenport: p",
            iman_davenport(domains, distribution="asymptotic").p_value,
            note="less conservative; recommended today",
        ),
    ]
    claims = (
        judge_printed("The Friedman statistic by hand is 15.05", results[:1], f"with the tie {with_tie.statistic:.4g}"),
        judge_printed("R gives chi-squared 15, p = 0.0005531", results[2:4]),
        judge_printed("The critical value at 0.05 is 7.8", results[4:5], "with 2 degrees of freedom"),
        Claim(
            "The three classifiers differ (p < 0.05)",
            judge_fact(test.p_value < 0.05),
            format_p_value(test.p_value, digits=4),
            "printed",
        ),
    )
    title = "The Friedman test: three classifiers on ten domains"
    return build_example("friedman", title, results, claims=claims, values={"statistic": test.statistic, "p": test.p_value})


def _build_nemenyi(domains: pd.DataFrame, tied: pd.DataFrame) -> PageSection:
    from fairtrial.report.figures.critical_difference import draw_critical_difference
    from fairtrial.significance import posthoc

    test, with_tie = (posthoc(table, "nemenyi", distribution="asymptotic") for table in (domains, tied))
    pairs = {(pair.first, pair.second): pair for pair in test.comparisons}
    tied_pairs = {(pair.first, pair.second): pair for pair in with_tie.comparisons}
    standard_error = np.sqrt(3 * 4 / (6 * 10))
    assert test.critical_difference is not None
    critical = test.critical_difference / standard_error
    printed = {("fA", "fB"): -32.22, ("fA", "fC"): 2.22, ("fB", "fC"): 34.44}
    results = [
        *(
            PrintedResult(
                f"q of {first} and {second}, mean ranks, with the tie",
                pair.statistic,
                printed[first, second],
                2,
                "error in the slides: based on rank sums",
            )
            for (first, second), pair in tied_pairs.items()
        ),
        *(
            PrintedResult(
                f"q of {a} and {b}, mean ranks, no tie", pair.statistic, note=f"adjusted {format_p_value(pair.p_adjusted)}"
            )
            for (a, b), pair in pairs.items()
        ),
        PrintedResult("critical value at 0.05", critical, 2.55, 2, "for three learners; it is 2.569 for four"),
    ]
    # The tutorial divides rank sums, which are ten times the mean ranks, by a rounded standard error.
    difference_of_sums = 10 * tied_pairs["fA", "fB"].statistic * standard_error
    exact, rounded = difference_of_sums / standard_error, difference_of_sums / round(standard_error, 2)
    remark = (
        f"error in the slides: rank sums instead of mean ranks (rank sums give {exact:.2f} for A and B, or {rounded:.2f} if "
        f"the root of {standard_error**2:.1f} is rounded to {standard_error:.2f})"
    )
    claims = (
        judge_printed("q is -32.22, 2.22 and 34.44", results[:3], remark),
        Claim(
            "A and B differ, B and C differ, A and C do not (at 0.05)",
            judge_fact([pair for pair in pairs if pairs[pair].p_adjusted < 0.05] == [("fA", "fB"), ("fB", "fC")]),
            ", ".join(f"{a} and {b}: {format_p_value(pair.p_adjusted)}" for (a, b), pair in pairs.items()),
            "printed",
        ),
    )
    figure = draw_critical_difference(
        dict(zip(test.learners, test.means, strict=True)),
        test.groups,
        critical_difference=test.critical_difference,
        title="Three classifiers on ten domains (Nemenyi)",
    )
    return build_example(
        "nemenyi",
        "The Nemenyi test for the same classifiers",
        results,
        claims=claims,
        figures={"Nemenyi: three classifiers on ten domains": figure},
        values={
            "different": [f"{a} and {b}" for (a, b), pair in pairs.items() if pair.p_adjusted < 0.05],
            "critical": critical,
            "q_of_sums": exact,
            "q_rounded": rounded,
        },
    )
