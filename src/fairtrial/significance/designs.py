"""Choose the test that fits the numbers of learners and data sets, and explain the choice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial._findings import Finding
from fairtrial._narrative import name_argument
from fairtrial.errors import InputError
from fairtrial.significance import bayes, counts, omnibus, resampled, verdict
from fairtrial.significance.adjust import adjust
from fairtrial.significance.bayes import Posterior
from fairtrial.significance.hierarchical import hierarchical
from fairtrial.significance.margins import MarginDecision, decide_by_t_limits, margin_test
from fairtrial.significance.methodology import MAX_SKEWNESS, MIN_PARAMETRIC_DATASETS, compute_min_wilcoxon_n, compute_skewness
from fairtrial.significance.names import get_display_name
from fairtrial.significance.outcome import Outcome
from fairtrial.significance.posthoc import (
    ALL_PAIRS,
    Comparison,
    Omnibus,
    PostHoc,
    bergmann,
    compute_needed_datasets,
    list_adjustment_caveats,
    posthoc,
    shaffer,
)
from fairtrial.significance.scores import Better, Design, Scores, ScoreTable, compute_differences, round_noise
from fairtrial.significance.wilcoxon import wilcoxon

_FEWEST, _MOST = 3, 5000

# Test fraction for runs on the same test rows: so small that the scores count as uncorrelated.
_INDEPENDENT = 1e-12


@dataclass(frozen=True)
class Assumptions:
    """Results of tests for normality and equal variances, which parametric tests assume.

    The tests apply to the differences between the learners of each pair. `normality` contains the Holm-adjusted p-value of the
    Shapiro-Wilk test for each pair. `sphericity` is the p-value of the Mauchly test (1 for two learners). If a p-value is
    undefined (NaN), the assumption counts as violated. `n_constant` is the number of pairs whose differences do not vary.
    `enough_datasets` states whether there are enough data sets for the Mauchly test.
    """

    normality: tuple[float, ...]
    sphericity: float
    n_constant: int = 0
    enough_datasets: bool = True

    def hold(self, alpha: float) -> bool:
        """Return whether both assumptions were tested and neither was rejected."""
        return bool(np.min(self.normality) > alpha and self.sphericity > alpha)

    def list_findings(self, alpha: float) -> tuple[Finding, ...]:
        """List findings about normality and equal variances."""
        pairs = len(self.normality)
        findings = [Finding.of("normality_constant", constant=self.n_constant, pairs=pairs)] if self.n_constant else []
        findings += self._find_normality(alpha)
        return (*findings, self._find_sphericity(alpha)) if pairs > 1 else tuple(findings)

    def _find_normality(self, alpha: float) -> list[Finding]:
        p_values, varying = [p for p in self.normality if not np.isnan(p)], len(self.normality) - self.n_constant
        if not varying:
            return []
        if not p_values:
            return [Finding.of("normality_few_datasets")]
        rejected = sum(p <= alpha for p in p_values)
        if rejected:
            return [Finding.of("normality_rejected", rejected=rejected, tested=varying, p=min(p_values), alpha=alpha)]
        return [Finding.of("normality_kept", p=min(p_values), alpha=alpha)]

    def _find_sphericity(self, alpha: float) -> Finding:
        if not self.enough_datasets:
            return Finding.of("sphericity_few_datasets")
        if self.n_constant:
            return Finding.of("sphericity_constant")
        if np.isnan(self.sphericity):
            return Finding.of("sphericity_collinear")
        kind = "sphericity_rejected" if self.sphericity <= alpha else "sphericity_kept"
        return Finding.of(kind, p=self.sphericity, alpha=alpha)


def check_differences(values: FloatArray) -> Assumptions:
    """Test whether the differences between learners are normally distributed with equal variances.

    >>> assumptions = check_differences(np.random.default_rng(0).normal(size=(20, 3)))
    >>> assumptions.hold(0.05), len(assumptions.normality)
    (True, 3)
    """
    n, k = values.shape
    first, second = np.array(list(combinations(range(k), 2))).T
    d = round_noise((values[:, first] - values[:, second]).T, np.abs(values).max(axis=1))
    varying = np.ptp(d, axis=1) > 0
    p = np.full(len(d), np.nan)
    if n >= _FEWEST and varying.any():
        p[varying] = adjust(_compute_shapiro(d[varying]), "holm")
    return Assumptions(tuple(p.tolist()), compute_mauchly_p(values), int((~varying).sum()), _compute_box_factor(n, k) > 0)


def _compute_shapiro(d: FloatArray) -> FloatArray:
    """Compute the Shapiro-Wilk p-value for each row, which must not be constant."""
    from scipy.stats import shapiro

    # The coefficients of the Shapiro-Wilk test are known for up to 5,000 cases, so longer rows are thinned.
    return np.asarray(shapiro(d[:, :: -(-d.shape[1] // _MOST)], axis=1).pvalue)


def _compute_box_factor(n: int, k: int) -> float:
    """Compute Box's correction factor for the Mauchly statistic, or return 0 if n is too small for k learners."""
    m, df = k - 1, n - 1
    return max(0.0, 1 - (2 * m * m + m + 2) / (6 * m * df)) if df >= m else 0.0


def compute_mauchly_p(values: FloatArray) -> float:
    """Compute the p-value of Mauchly's test of sphericity (1940), or return NaN if it is undefined.

    Sphericity means that all pairwise differences have the same variance. The chi-squared approximation includes Box's
    second-order term. R also includes this term, but with k instead of k - 1 in one position.

    >>> round(compute_mauchly_p(np.random.default_rng(1).normal(size=(30, 4))), 3)
    0.368
    """
    from scipy.special import chdtrc

    n, k = values.shape
    m, df = k - 1, n - 1
    if m == 1:
        return 1.0
    contrasts = np.linalg.qr(np.column_stack([np.ones(k), np.eye(k)[:, :m]]))[0][:, 1:]
    spread = np.atleast_2d(np.cov(values @ contrasts, rowvar=False))
    size = float(np.trace(spread)) / m
    rho = _compute_box_factor(n, k)
    sign, log_det = np.linalg.slogdet(spread / size) if size > 0 and rho > 0 else (0.0, 0.0)
    # A determinant within rounding error of zero counts as zero. In this case, some combination of the differences does not
    # vary.
    if sign <= 0 or log_det < m * np.log(1e-13):
        return float("nan")
    second = (m + 2) * (m - 1) * (m - 2) * (2 * m**3 + 6 * m * m + 3 * m + 2) / (288 * (df * m * rho) ** 2)
    z, f = -df * rho * log_det, m * (m + 1) / 2 - 1
    p, p_next = float(chdtrc(f, max(z, 0.0))), float(chdtrc(f + 4, max(z, 0.0)))
    return float(np.clip(p + second * (p_next - p), 0.0, 1.0))


# Bergmann-Hommel takes a hundredth of a second with 12 learners and a second with 16.
MAX_BERGMANN_LEARNERS = 12


@dataclass(frozen=True)
class ComparisonOptions:
    """Options for `compare`."""

    better: Better = "max"
    control: str | None = None
    alpha: float = 0.05
    rope: float | None = None
    posthoc: str | None = None
    test_fraction: float | None = None
    parametric: bool = False
    same_test_set: bool = False
    """Whether repeats on a single data set have the same training and test rows and differ only in the seed."""
    margin: float | None = None
    equivalent: bool = False
    hierarchical: bool = False


@dataclass(frozen=True)
class ChosenTest:
    """The chosen test, its outcome, the reasons for the choice, and caveats.

    The verdict is based on `p_value`. `p_value` differs from the p-value of the outcome if the test itself does not show which
    learner is better. `undecidable` states why no pair could differ significantly. `decide_pair` takes the column indices of
    two learners and alpha, and makes a decision at the margin from confidence limits at level 1 - alpha. `compute_posterior`
    takes the column indices of two learners and runs the Bayesian test.
    """

    choice: str
    p_value: float
    outcome: Outcome
    reasons: tuple[Finding, ...]
    decide_pair: Callable[[int, int, float], MarginDecision]
    compute_posterior: Callable[[int, int], Posterior]
    posthoc: PostHoc | None = None
    caveats: tuple[Finding, ...] = ()
    undecidable: Finding | None = None


def choose_posthoc(
    options: ComparisonOptions, k: int, parametric: bool, *, exact: bool = False
) -> tuple[str, tuple[Finding, ...]]:
    """Choose the post-hoc procedure, and return it with the reasons for the choice.

    `exact` indicates whether the pairwise p-values are exact.
    """
    default = get_default_posthoc(options.control, k, parametric)
    default_reason = Finding.of(f"posthoc_{default}", limit=MAX_BERGMANN_LEARNERS)
    if options.posthoc in ("tukey", "dunnett") and not parametric:
        if not options.parametric:
            raise InputError(
                f"posthoc must fit ranks, got {options.posthoc!r}, which needs ANOVA: pass "
                f"{name_argument('parametric', 'True')} or use {default!r}"
            )
        return default, (Finding.of("posthoc_replaced", method=get_display_name(options.posthoc)), default_reason)
    if options.posthoc is None:
        is_gated = exact and default in ("bergmann", "shaffer")
        return default, (default_reason, Finding.of("posthoc_gate" if is_gated else "posthoc_no_gate"))
    if options.posthoc == "none":
        return "none", (Finding.of("posthoc_unadjusted"),)
    return options.posthoc, (Finding.of("posthoc_requested", method=get_display_name(options.posthoc)),)


def get_default_posthoc(control: str | None, k: int, parametric: bool) -> str:
    """Return the default post-hoc procedure."""
    if parametric:
        return "tukey" if control is None else "dunnett"
    if control is not None:
        return "holm"
    return "bergmann" if k <= MAX_BERGMANN_LEARNERS else "shaffer"


def explain_unused_posthoc(options: ComparisonOptions) -> list[Finding]:
    """Explain why a requested post-hoc procedure is not used: there is only one comparison."""
    return [] if options.posthoc is None else [Finding.of("posthoc_unused", method=get_display_name(options.posthoc))]


def build_splits_table(scores: Scores) -> ScoreTable:
    """Build a table with one row per split of a single data set, ordered by repeat."""
    order = _order_by_repeat(scores)
    design = scores.design
    names = []
    for row in order:
        _, repeat, fold = scores.splits[row]
        parts = [f"repeat {repeat}"] if design.repeats > 1 else []
        names.append(", ".join([*parts, f"fold {fold}"] if design.folds > 1 else parts))
    return ScoreTable(scores.cells[order], tuple(names), scores.learners)


def _order_by_repeat(scores: Scores) -> list[int]:
    first: dict[object, int] = {}
    for i, (_, repeat, _) in enumerate(scores.splits):
        first.setdefault(repeat, i)
    return sorted(range(len(scores.splits)), key=lambda i: first[scores.splits[i][1]])


def compare_on_one_dataset(design: Design, table: ScoreTable, options: ComparisonOptions) -> ChosenTest:
    """Compare learners on the splits of a single data set, or on runs with different seeds.

    `design` also counts the splits that were dropped because of missing scores.
    """
    n, k = table.shape
    if n < 2:
        raise InputError(
            f"scores must have at least 2 splits of {design.datasets[0]!r} that all learners share, got {n}: "
            "fill the missing cells"
        )
    if options.same_test_set and options.test_fraction is not None:
        raise InputError(
            f"test_fraction must be omitted for runs with the same test rows, got {options.test_fraction}: pass "
            f"{name_argument('rows', 'folds')} if the test rows differ"
        )
    five_by_two = (design.repeats, design.folds, n) == (5, 2, 10) and options.test_fraction is None
    # For fixed training and test rows, runs with different seeds are independent of each other.
    fraction = 0.5 if five_by_two else _INDEPENDENT if options.same_test_set else _get_test_fraction(design, options)
    name = "five_by_two_f" if five_by_two else "paired_t" if options.same_test_set else "corrected_resampled_t"
    reason = (
        Finding.of("test_five_by_two")
        if five_by_two
        else Finding.of("test_paired_t_runs", n=n)
        if options.same_test_set
        else Finding.of("test_corrected_t", n=n, fraction=fraction)
    )
    caveats = _list_dataset_caveats(design, options)

    def run_test(i: int, j: int, level: float) -> Outcome:
        a, b = table.values[:, i], table.values[:, j]
        if five_by_two:
            return resampled.five_by_two_f(a.reshape(5, 2), b.reshape(5, 2), level=level)
        if options.same_test_set:
            return replace(resampled.paired_t(a, b, level=level), caveats=())
        return resampled.corrected_resampled_t(a, b, test_fraction=fraction, level=level)

    def decide_pair(i: int, j: int, alpha: float) -> MarginDecision:
        overlap = None if five_by_two else 0.0 if options.same_test_set else fraction / (1 - fraction)
        margin = options.margin or 0.0
        outcome = run_test(i, j, 1 - alpha)
        return decide_by_t_limits(outcome, margin, better=options.better, equivalent=options.equivalent, overlap=overlap)

    def compute_posterior(i: int, j: int) -> Posterior:
        a, b = table.values[:, i], table.values[:, j]
        return bayes.correlated_t(a, b, test_fraction=fraction, rope=options.rope or 0.0, better=options.better)

    if k == 2:
        outcome = run_test(0, 1, 1 - options.alpha)
        reasons = (reason, *explain_unused_posthoc(options))
        caveats = (*caveats, *_find_missing_direction(outcome))
        p = _get_deciding_p(outcome)
        return ChosenTest(name, p, outcome, reasons, decide_pair, compute_posterior, caveats=caveats)
    posthoc_result, outcome, pair_reasons, pair_caveats = _compare_pairs(table, options, name, run_test)
    return ChosenTest(
        f"{name} + {posthoc_result.method}",
        outcome.p_value,
        outcome,
        (reason, Finding.of("posthoc_test", test=posthoc_result.pair_test), *pair_reasons),
        decide_pair,
        compute_posterior,
        posthoc_result,
        caveats=(*caveats, *pair_caveats),
    )


def _get_deciding_p(outcome: Outcome) -> float:
    """Compute the p-value on which the verdict is based.

    The 5x2 cv F test does not show which learner is better, so the interval for the mean difference must also exclude zero.
    """
    return float(np.maximum(outcome.p_value, outcome.details.get("p_direction", outcome.p_value)))


def _find_missing_direction(outcome: Outcome) -> list[Finding]:
    if outcome.test != "five_by_two_f" or not outcome.p_value < 1:
        return []
    return [Finding.of("f_without_direction", p=outcome.p_value)]


def _get_test_fraction(design: Design, options: ComparisonOptions) -> float:
    if options.test_fraction is not None:
        _check.check_between("test_fraction", options.test_fraction, 0, 1)
        return options.test_fraction
    if design.folds < 2:
        raise InputError(
            "repeats without folds must state their test rows: pass "
            f"{name_argument('test_fraction', '0.33')} if each repeat has a different test set (here a third of the rows), or "
            f"{name_argument('rows', 'seeds')} if all repeats have the same training and test rows"
        )
    return 1 / design.folds


def _list_dataset_caveats(design: Design, options: ComparisonOptions) -> tuple[Finding, ...]:
    caveats = [Finding.of("same_test_set" if options.same_test_set else "single_dataset")]
    if design.repeats == 1 and design.folds > 20 and options.test_fraction is None:
        caveats.append(Finding.of("folds_or_repeats", folds=design.folds))
    return tuple(caveats)


def _compare_pairs(
    table: ScoreTable, options: ComparisonOptions, name: str, run_test: Callable[[int, int, float], Outcome]
) -> tuple[PostHoc, Outcome, tuple[Finding, ...], list[Finding]]:
    """Compare each pair with the same test and adjust the p-values.

    The returned outcome is that of the pair with the smallest p-value.
    """
    method, reasons = _choose_pair_adjustment(options, len(table.learners))
    pairs = verdict.list_pairs(table.learners, options.control)
    outcomes = [run_test(i, j, 1 - options.alpha) for i, j in pairs]
    p_raw = np.array([_get_deciding_p(outcome) for outcome in outcomes])
    p_adjusted = np.where(np.isnan(p_raw), np.nan, _adjust_pair_p_values(method, np.nan_to_num(p_raw, nan=1.0), options.alpha))
    means = table.values.mean(axis=0)
    comparisons = tuple(
        Comparison(table.learners[i], table.learners[j], outcome.statistic, p, adjusted, float(means[i] - means[j]))
        for (i, j), outcome, p, adjusted in zip(pairs, outcomes, p_raw.tolist(), p_adjusted.tolist(), strict=True)
    )
    posthoc_result = PostHoc(
        method,
        name,
        options.alpha,
        1,
        table.learners,
        tuple(means.tolist()),
        comparisons,
        options.better,
        options.control,
        caveats=list_adjustment_caveats(method),
    )
    index = verdict.find_smallest(p_raw.tolist())
    smallest = comparisons[index]
    caveats = [Finding.of("pair_of_test", first=smallest.first, second=smallest.second)]
    caveats += [] if method == "none" else [Finding.of("adjusted_interval")]
    names = {"first": smallest.first, "second": smallest.second}
    # The interval excludes zero if and only if the adjusted p-value is below alpha.
    factor = smallest.p_adjusted / smallest.p_raw if smallest.p_raw > 0 and smallest.p_adjusted < 1 else len(pairs)
    outcome = run_test(*pairs[index], 1 - options.alpha / (1 if method == "none" else factor))
    caveats += [*_find_missing_direction(outcome), *list_adjustment_caveats(method)]
    named = tuple(Finding("same_scores_of_pair", names) if item.kind == "same_scores" else item for item in outcome.caveats)
    return posthoc_result, replace(outcome, p_value=smallest.p_adjusted, caveats=named), reasons, caveats


def _choose_pair_adjustment(options: ComparisonOptions, k: int) -> tuple[str, tuple[Finding, ...]]:
    if options.posthoc in ("nemenyi", "tukey", "dunnett"):
        raise InputError(
            f"posthoc must adjust p-values on a single data set, got {options.posthoc!r}, which needs several: use 'holm'"
        )
    if options.posthoc in ALL_PAIRS and options.control is not None:
        raise InputError(
            f"control must be None for {options.posthoc}, which compares all pairs, got {options.control!r}: use 'holm'"
        )
    if options.posthoc == "bonferroni-dunn" and options.control is None:
        raise InputError("control must be a learner for bonferroni-dunn, got None: name it, or use 'holm' for all pairs")
    return choose_posthoc(options, k, False)


def _adjust_pair_p_values(method: str, p: FloatArray, alpha: float) -> FloatArray:
    if method in ("bergmann", "shaffer"):
        return (bergmann if method == "bergmann" else shaffer)(p)
    return adjust(p, "bonferroni" if method == "bonferroni-dunn" else method, alpha=alpha)


def compare_on_many_datasets(scores: Scores, table: ScoreTable, options: ComparisonOptions) -> ChosenTest:
    """Compare learners across data sets, using one score per learner and data set.

    Only the hierarchical model uses the scores of all splits.
    """
    folds, fraction = _read_fold_scores(scores, options) if options.hierarchical else (None, 0.0)

    def compute_posterior(i: int, j: int) -> Posterior:
        rope = options.rope or 0.0
        if folds is not None:
            a, b = folds[:, :, i], folds[:, :, j]
            return hierarchical(a, b, test_fraction=fraction, rope=rope, better=options.better)
        return bayes.bayes_signed_rank(table.values[:, i], table.values[:, j], rope=rope, better=options.better)

    compare_learners = _compare_two_learners if len(table.learners) == 2 else _compare_many_learners
    return compare_learners(table, options, compute_posterior)


def _read_fold_scores(scores: Scores, options: ComparisonOptions) -> tuple[FloatArray, float]:
    """Return the scores (data sets x splits x learners), and the proportion of test rows."""
    rows = scores.index_rows()
    n_splits = sorted({len(dataset_rows) for dataset_rows in rows.values()})
    if n_splits[0] < 2 or len(n_splits) > 1:
        raise InputError(
            "hierarchical needs the same number of splits (at least 2) on every data set, got "
            f"{n_splits[0]}{f' to {n_splits[-1]}' if len(n_splits) > 1 else ''}: omit it to compare means over splits"
        )
    return np.array([scores.cells[dataset_rows] for dataset_rows in rows.values()]), _get_test_fraction(scores.design, options)


def _make_pair_decision(
    table: ScoreTable, options: ComparisonOptions, parametric: bool
) -> Callable[[int, int, float], MarginDecision]:
    def decide_pair(i: int, j: int, alpha: float) -> MarginDecision:
        return margin_test(
            table.values[:, i],
            table.values[:, j],
            options.margin or 0.0,
            method="t" if parametric else "wilcoxon",
            alpha=alpha,
            better=options.better,
            equivalent=options.equivalent,
        )

    return decide_pair


def _compare_two_learners(
    table: ScoreTable, options: ComparisonOptions, compute_posterior: Callable[[int, int], Posterior]
) -> ChosenTest:
    a, b = table.values.T
    n = len(table.datasets)
    parametric, reasons = _choose_parametric(table, options)
    caveats: list[Finding] = []
    if parametric:
        outcome = replace(resampled.paired_t(a, b, level=1 - options.alpha), caveats=(Finding.of("independent_datasets"),))
        reasons.append(Finding.of("test_paired_t"))
    else:
        outcome = wilcoxon(a, b, level=1 - options.alpha)
        reasons.append(Finding.of("test_wilcoxon", n=n))
        caveats += _apply_sign_test(a, b, options.alpha)
    reasons += explain_unused_posthoc(options)
    return ChosenTest(
        outcome.test,
        outcome.p_value,
        outcome,
        tuple(reasons),
        _make_pair_decision(table, options, parametric),
        compute_posterior,
        caveats=tuple(caveats),
        undecidable=None if parametric else _find_undecidable_pair(table, outcome.n, options.alpha),
    )


def _apply_sign_test(a: FloatArray, b: FloatArray, alpha: float) -> list[Finding]:
    """List findings about the sign test and about strongly asymmetric differences.

    The sign test never replaces the Wilcoxon test because choosing a test after looking at the data inflates the type I error.
    """
    skewness = compute_skewness(compute_differences(a, b))
    asymmetry = [Finding.of("asymmetric_differences", skewness=skewness)] if abs(skewness) > MAX_SKEWNESS else []
    return [Finding.of("sign_test", p=counts.sign_test(a, b).p_value, alpha=alpha), *asymmetry]


def _find_undecidable_pair(table: ScoreTable, n: int, alpha: float) -> Finding | None:
    """Return a finding if there are too few differences for the Wilcoxon test to be significant."""
    needed, (first, second) = compute_min_wilcoxon_n(alpha), table.learners
    if n >= needed:
        return None
    smallest = min(1.0, 2.0 ** (1 - n))
    return Finding.of("cannot_decide_pair", first=first, second=second, n=n, smallest=smallest, needed=needed, alpha=alpha)


def _compare_many_learners(
    table: ScoreTable, options: ComparisonOptions, compute_posterior: Callable[[int, int], Posterior]
) -> ChosenTest:
    n, k = table.shape
    parametric, reasons = _choose_parametric(table, options)
    if parametric:
        name, anova_outcome = "anova", omnibus.anova(table)
        outcome = replace(
            anova_outcome,
            p_value=anova_outcome.details["p_corrected"],
            effect=omnibus.compute_eta_squared(
                anova_outcome.statistic, n, k, anova_outcome.details["p_corrected"], 1 - options.alpha
            ),
            variant="Greenhouse-Geisser",
            caveats=(Finding.of("normal_differences"), Finding.of("independent_datasets")),
        )
        reasons.append(Finding.of("test_anova", k=k, n=n))
    else:
        name, outcome = "friedman (iman_davenport)", omnibus.iman_davenport(table, better=options.better)
        level = 1 - options.alpha
        if outcome.effect is not None and np.isfinite(outcome.effect.low) and outcome.effect.level != level:
            effect = omnibus.compute_concordance(table, options.better, outcome.p_value, level)
            outcome = replace(outcome, effect=effect)
        reasons.append(Finding.of("test_friedman", k=k, n=n))
    exact = not parametric and omnibus.permutes_by_default(n, k)
    method, method_reasons = choose_posthoc(options, k, parametric, exact=exact)
    omnibus_name: Omnibus = "anova" if parametric else "friedman"
    comparisons = posthoc(table, method, options.control, better=options.better, omnibus=omnibus_name, alpha=options.alpha)
    reasons += [Finding.of("posthoc_test", test=comparisons.pair_test), *method_reasons]
    return ChosenTest(
        f"{name} + {method}",
        outcome.p_value,
        outcome,
        tuple(reasons),
        _make_pair_decision(table, options, parametric),
        compute_posterior,
        comparisons,
        caveats=comparisons.caveats,
        undecidable=_find_undecidable(comparisons),
    )


def _find_undecidable(result: PostHoc) -> Finding | None:
    """Return a finding if there are too few data sets for any pair to differ significantly."""
    if result.can_decide:
        return None
    needed = compute_needed_datasets(result.method, len(result.learners), result.alpha, len(result.comparisons))
    return Finding.of("cannot_decide", n=result.n, smallest=result.smallest_p, needed=needed, alpha=result.alpha)


def _choose_parametric(table: ScoreTable, options: ComparisonOptions) -> tuple[bool, list[Finding]]:
    """Return whether to use a parametric test, and the reasons."""
    if not options.parametric:
        return False, [Finding.of("rank_test_default")]
    n = len(table.datasets)
    if n < MIN_PARAMETRIC_DATASETS:
        return False, [Finding.of("few_datasets_parametric", n=n)]
    assumptions = check_differences(table.values)
    holds = assumptions.hold(options.alpha)
    kind = "parametric_used" if holds else "parametric_refused"
    return holds, [*assumptions.list_findings(options.alpha), Finding.of(kind)]
