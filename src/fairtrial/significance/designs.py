"""Which test fits which design: two or more learners, on one data set or on several; assumptions and reasons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial._text import choose_p_format, format_count, format_p_value
from fairtrial.errors import InputError
from fairtrial.significance import bayes, counts, omnibus, resampled, verdict
from fairtrial.significance.adjust import adjust
from fairtrial.significance.bayes import Posterior
from fairtrial.significance.outcome import Outcome
from fairtrial.significance.posthoc import ALL_PAIRS, Comparison, Omnibus, PostHoc, bergmann, posthoc, shaffer
from fairtrial.significance.resampled import SAME_SCORES
from fairtrial.significance.scores import Better, Design, Scores, ScoreTable, compute_differences, round_noise
from fairtrial.significance.verdict import Step
from fairtrial.significance.wilcoxon import wilcoxon

if TYPE_CHECKING:
    import pandas as pd

_FEWEST, _MOST = 3, 5000


@dataclass(frozen=True)
class Assumptions:
    """p values of Shapiro and Wilk's test for each pair, adjusted by Holm, and of Mauchly's test, which is 1 for two learners.

    They are NaN where they cannot be computed, which counts against the assumption: `n_constant` is the number of pairs whose
    differences do not vary and have no such p, `enough_datasets` whether there are enough data sets for Mauchly's test.
    """

    normality: tuple[float, ...]
    sphericity: float
    n_constant: int = 0
    enough_datasets: bool = True

    def hold(self, alpha: float) -> bool:
        """Whether nothing speaks against both."""
        return bool(np.min(self.normality) > alpha and self.sphericity > alpha)

    def describe(self, alpha: float) -> str:
        """What the checks say."""
        sentences = [self._describe_constant(), self._describe_normality(alpha)]
        if len(self.normality) > 1:
            sentences.append(self._describe_sphericity(alpha))
        return " ".join(sentence for sentence in sentences if sentence)

    def _describe_constant(self) -> str:
        if not self.n_constant:
            return ""
        pairs = format_count(len(self.normality), "pair")
        return f"The differences of {self.n_constant} of {pairs} do not vary, so that they have no test of normality."

    def _describe_normality(self, alpha: float) -> str:
        """Of the pairs whose differences vary."""
        p_values, varying = [p for p in self.normality if not np.isnan(p)], len(self.normality) - self.n_constant
        if not varying:
            return ""
        if not p_values:
            return "There are too few data sets to check whether the differences are normal."
        smallest = choose_p_format([min(p_values)], alpha, 3).format(min(p_values))
        detail = f"Shapiro and Wilk's test of the differences, p adjusted by Holm: the smallest is {smallest}"
        not_normal = sum(p <= alpha for p in p_values)
        if not_normal:
            total = f"the other {varying}" if self.n_constant else format_count(varying, "pair")
            return f"The differences of {not_normal} of {total} are not normal ({detail})."
        return f"Nothing speaks against normal differences{' of the others' if self.n_constant else ''} ({detail})."

    def _describe_sphericity(self, alpha: float) -> str:
        if not self.enough_datasets:
            return "There are too few data sets to check whether all differences vary alike."
        if self.n_constant or np.isnan(self.sphericity):
            reason = "some do not vary at all" if self.n_constant else "some follow exactly from others"
            return f"Whether all differences vary alike cannot be checked, for {reason}."
        spread = "do not all vary alike" if self.sphericity <= alpha else "may all vary alike"
        return f"The differences {spread} (Mauchly's test, {format_p_value(self.sphericity, alpha, digits=3)})."


def check_differences(values: FloatArray) -> Assumptions:
    """Normality of the differences between learners (not of the scores), and whether they all have the same variance.

    >>> found = check_differences(np.random.default_rng(0).normal(size=(20, 3)))
    >>> found.hold(0.05), len(found.normality)
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
    """p value of each row, which must vary."""
    from scipy.stats import shapiro

    # Shapiro and Wilk's coefficients are known up to 5,000 cases.
    return np.asarray(shapiro(d[:, :: -(-d.shape[1] // _MOST)], axis=1).pvalue)


def _compute_box_factor(n: int, k: int) -> float:
    """Box's factor of Mauchly's statistic; 0 where n cases are too few for k learners."""
    m, df = k - 1, n - 1
    return max(0.0, 1 - (2 * m * m + m + 2) / (6 * m * df)) if df >= m else 0.0


def compute_mauchly_p(values: FloatArray) -> float:
    """p value of Mauchly's (1940) test that all differences between learners have the same variance; NaN if there is none.

    The chi-squared approximation has Box's second-order term. (R has it too, with k for k - 1 in one place.)

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
    # A determinant at the edge of float noise is zero: some differences do not vary at all.
    if sign <= 0 or log_det < m * np.log(1e-13):
        return float("nan")
    second = (m + 2) * (m - 1) * (m - 2) * (2 * m**3 + 6 * m * m + 3 * m + 2) / (288 * (df * m * rho) ** 2)
    z, f = -df * rho * log_det, m * (m + 1) / 2 - 1
    p, p_next = float(chdtrc(f, max(z, 0.0))), float(chdtrc(f + 4, max(z, 0.0)))
    return float(np.clip(p + second * (p_next - p), 0.0, 1.0))


# Bergmann and Hommel's procedure takes a hundredth of a second with 12 learners, a second with 16.
MAX_BERGMANN_LEARNERS = 12


WHICH_TEST = "Which test?"


HOW_PAIRS = "How are the pairs compared?"


WHICH_ROPE = "Is there a region of practical equivalence?"


_REASONS = {
    "bergmann": (
        f"Bergmann and Hommel's procedure adjusts the p values of all pairs: more powerful than Holm's and Shaffer's, "
        f"valid whatever the dependence, and quick up to {MAX_BERGMANN_LEARNERS} learners."
    ),
    "shaffer": (
        f"Shaffer's procedure adjusts the p values of all pairs: it holds whatever the dependence and is never worse than "
        f"Holm's; Bergmann and Hommel's would be slow with more than {MAX_BERGMANN_LEARNERS} learners."
    ),
    "holm": (
        "Holm's procedure adjusts the p values of the comparisons with the control, which holds whatever the dependence; "
        "Finner's is a little more powerful where the comparisons are positively dependent."
    ),
    "tukey": "Tukey's comparisons follow an analysis of variance.",
    "dunnett": "Dunnett's comparisons with a control follow an analysis of variance.",
}


@dataclass(frozen=True)
class ComparisonOptions:
    """What the user asked for."""

    better: Better = "max"
    control: str | None = None
    alpha: float = 0.05
    rope: float | None = None
    posthoc: str | None = None
    test_fraction: float | None = None
    parametric: bool = False


@dataclass(frozen=True)
class ChosenTest:
    """A test that was chosen, and what it gave."""

    choice: str
    p_value: float
    outcome: Outcome
    steps: tuple[Step, ...]
    posthoc: PostHoc | None = None
    posterior: Posterior | None = None
    notes: tuple[str, ...] = ()


def choose_posthoc(options: ComparisonOptions, k: int, parametric: bool) -> tuple[str, str]:
    """The post-hoc procedure, and why."""
    versus = "all pairs" if options.control is None else f"each learner with the control {options.control}"
    default_posthoc = get_default_posthoc(options.control, k, parametric)
    if options.posthoc in ("tukey", "dunnett") and not parametric:
        if not options.parametric:
            raise InputError(
                f"posthoc must fit ranks, got {options.posthoc!r}, which follows an analysis of variance: pass "
                "parametric=True, "
                f"or use {default_posthoc!r}"
            )
        return (
            default_posthoc,
            f"{options.posthoc} was asked for but needs an analysis of variance. {_REASONS[default_posthoc]}",
        )
    if options.posthoc is None:
        gate = " The pairs are judged by these p values alone, whatever the test above says: the procedure needs no gate."
        return default_posthoc, _REASONS[default_posthoc] + gate
    if options.posthoc == "none":
        return "none", f"The p values of {versus} are not adjusted, as was asked: some will be small by chance alone."
    return options.posthoc, f"The p values of {versus} are adjusted by {options.posthoc}, as was asked."


def get_default_posthoc(control: str | None, k: int, parametric: bool) -> str:
    """The post-hoc procedure where none is asked for."""
    if parametric:
        return "tukey" if control is None else "dunnett"
    if control is not None:
        return "holm"
    return "bergmann" if k <= MAX_BERGMANN_LEARNERS else "shaffer"


def explain_unused_posthoc(options: ComparisonOptions) -> list[Step]:
    """What is said of a post-hoc procedure where there is one comparison."""
    if options.posthoc is None:
        return []
    return [
        (HOW_PAIRS, "not needed", f"The post-hoc procedure {options.posthoc} is not needed: two learners are one comparison.")
    ]


def explain_unused_rope(options: ComparisonOptions, k: int) -> list[Step]:
    """What is said of a rope where there are several comparisons."""
    if options.rope is None:
        return []
    reason = (
        f"The Bayesian tests compare two learners, and there are {k}: keep two of them to use the rope of {options.rope:g}."
    )
    return [(WHICH_ROPE, "not used", reason)]


def build_splits_table(scores: Scores) -> ScoreTable:
    """The splits of one data set as rows, repeat after repeat."""
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
    """Repeats or folds of a single data set, planned by `design`: dependent, and treated so."""
    n, k = table.shape
    if n < 2:
        raise InputError(
            f"scores must have at least 2 splits of {design.datasets[0]!r} that all learners share, got {n}: "
            "fill the missing cells"
        )
    five_by_two = (design.repeats, design.folds, n) == (5, 2, 10) and options.test_fraction is None
    fraction = 0.5 if five_by_two else _get_test_fraction(design, options)
    name = "five_by_two_f" if five_by_two else "corrected_resampled_t"
    step = (WHICH_TEST, name, _explain_resampled_test(design, n, fraction, five_by_two))

    def run_test(i: int, j: int) -> Outcome:
        a, b = table.values[:, i], table.values[:, j]
        if five_by_two:
            return resampled.five_by_two_f(a.reshape(5, 2), b.reshape(5, 2))
        return resampled.corrected_resampled_t(a, b, test_fraction=fraction)

    if k == 2:
        outcome = run_test(0, 1)
        posterior, rope_steps = None, []
        if options.rope is not None:
            posterior = bayes.correlated_t(*table.values.T, test_fraction=fraction, rope=options.rope, better=options.better)
            bayes_reason = (
                "The Bayesian correlated t test stands beside it, a region of practical equivalence having been given."
            )
            rope_steps = [(WHICH_ROPE, f"{options.rope:g}", bayes_reason)]
        steps = (step, *explain_unused_posthoc(options), *rope_steps)
        return ChosenTest(name, outcome.p_value, outcome, steps, None, posterior, _list_dataset_notes(design, options))
    posthoc_result, outcome, pairs_step = _compare_pairs(table, options, name, run_test)
    steps = (step, pairs_step, *explain_unused_rope(options, k))
    return ChosenTest(
        f"{name} + {posthoc_result.method}",
        outcome.p_value,
        outcome,
        steps,
        posthoc_result,
        notes=_list_dataset_notes(design, options),
    )


def _get_test_fraction(design: Design, options: ComparisonOptions) -> float:
    if options.test_fraction is not None:
        _check.check_between("test_fraction", options.test_fraction, 0, 1)
        return options.test_fraction
    if design.folds < 2:
        raise InputError(
            "test_fraction must be given for repeats without folds, got None: pass the share of rows that each split tests on, "
            "such as 0.33 for a holdout of a third"
        )
    return 1 / design.folds


def _explain_resampled_test(design: Design, n: int, fraction: float, five_by_two: bool) -> str:
    dependent = "which share training rows and are not independent"
    if five_by_two:
        return (
            f"Five repeats of two folds of one data set, {dependent}: Alpaydin's F test is made for this design and does not "
            "depend on the order of the folds."
        )
    return (
        f"{format_count(n, 'split')} of one data set, {dependent}: Nadeau and Bengio's corrected resampled t test "
        f"allows for it, each split testing on {fraction:.3g} of the rows"
        + (f" ({format_count(design.folds, 'fold')})." if abs(fraction * design.folds - 1) < 1e-9 else ".")
    )


def _list_dataset_notes(design: Design, options: ComparisonOptions) -> tuple[str, ...]:
    notes = ["One data set was used: nothing is said about others."]
    if design.repeats == 1 and design.folds > 20 and options.test_fraction is None:
        notes.append(
            f"All {design.folds} splits are taken as folds of one cross-validation: if they are repeats numbered through, add "
            "a column 'repeat' or give test_fraction."
        )
    return tuple(notes)


def _compare_pairs(
    table: ScoreTable, options: ComparisonOptions, name: str, run_test: Callable[[int, int], Outcome]
) -> tuple[PostHoc, Outcome, Step]:
    """Each pair by the same test, p adjusted; the outcome is that of the pair with the smallest p, which judges whether any two
    differ."""
    method, reason = _choose_pair_adjustment(options, len(table.learners))
    pairs = verdict.list_pairs(table.learners, options.control)
    outcomes = [run_test(i, j) for i, j in pairs]
    p_raw = np.array([outcome.p_value for outcome in outcomes])
    p_adjusted = np.where(np.isnan(p_raw), np.nan, _adjust_pair_p_values(method, np.nan_to_num(p_raw, nan=1.0), options.alpha))
    means = table.values.mean(axis=0)
    comparisons = tuple(
        Comparison(table.learners[i], table.learners[j], outcome.statistic, p, adjusted, float(means[i] - means[j]))
        for (i, j), outcome, p, adjusted in zip(pairs, outcomes, p_raw.tolist(), p_adjusted.tolist(), strict=True)
    )
    posthoc_result = PostHoc(
        method, name, options.alpha, 1, table.learners, tuple(means.tolist()), comparisons, options.better, options.control
    )
    index = verdict.find_smallest(p_raw.tolist())
    return (
        posthoc_result,
        _select_pair_outcome(outcomes[index], comparisons[index], len(pairs), method),
        (HOW_PAIRS, method, reason),
    )


def _select_pair_outcome(outcome: Outcome, pair: Comparison, pairs: int, method: str) -> Outcome:
    """The outcome of one pair of several, with its adjusted p; what it says of the learners is said of these two."""
    both = f"{pair.first} and {pair.second}"
    caveats = [f"on every split {both} score alike" if caveat == SAME_SCORES else caveat for caveat in outcome.caveats]
    adjusted = "" if method == "none" else "; p is adjusted, the interval of the effect is not"
    caveats.append(
        f"statistic, p and effect are those of {both}, which have the smallest p of {format_count(pairs, 'pair')}{adjusted}"
    )
    return replace(outcome, p_value=pair.p_adjusted, caveats=tuple(caveats))


def _choose_pair_adjustment(options: ComparisonOptions, k: int) -> tuple[str, str]:
    if options.posthoc in ("nemenyi", "tukey", "dunnett"):
        raise InputError(
            f"posthoc must adjust p values on a single data set, got {options.posthoc!r}, which needs several: use 'holm'"
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


_SKEWED = 1.0


_PARAMETRIC = "Is a parametric test asked for, and does it fit?"


def compare_on_many_datasets(table: ScoreTable, options: ComparisonOptions) -> ChosenTest:
    """A score for each learner on each of several data sets."""
    return (_compare_two_learners if len(table.learners) == 2 else _compare_many_learners)(table, options)


def _compare_two_learners(table: ScoreTable, options: ComparisonOptions) -> ChosenTest:
    a, b = table.values.T
    n = len(table.datasets)
    assumptions, normality_step = _explain_normality(table, options)
    parametric = options.parametric and assumptions.hold(options.alpha)
    notes = []
    if parametric:
        outcome = resampled.paired_t(a, b)
        outcome = replace(outcome, caveats=("data sets are taken as independent of each other",))
        reason = "The paired t test compares two learners on several data sets, as was asked."
    else:
        outcome = wilcoxon(a, b)
        reason = (
            f"Wilcoxon's signed-rank test compares 2 learners on {n} data sets: it needs no normality, and if the learners are "
            "equally good the differences are symmetric, which is all that it assumes."
        )
        notes += [_note_sign_test(a, b, options.alpha), _note_smallest_p(outcome.n, options.alpha)]
    posterior, rope_steps = None, []
    if options.rope is not None:
        posterior = bayes.bayes_signed_rank(a, b, rope=options.rope, better=options.better)
        bayes_reason = "The Bayesian signed-rank test stands beside it, a region of practical equivalence having been given."
        rope_steps = [(WHICH_ROPE, f"{options.rope:g}", bayes_reason)]
    steps = (normality_step, (WHICH_TEST, outcome.test, reason), *explain_unused_posthoc(options), *rope_steps)
    return ChosenTest(outcome.test, outcome.p_value, outcome, steps, None, posterior, tuple(note for note in notes if note))


def _note_sign_test(a: FloatArray, b: FloatArray, alpha: float) -> str:
    """What the sign test says, and whether the differences are so asymmetric that it matters."""
    outcome = counts.sign_test(a, b)
    note = f"The sign test, which asks only who wins more often, gives {format_p_value(outcome.p_value, alpha, digits=3)}."
    skew = _compute_skewness(compute_differences(a, b))
    if abs(skew) <= _SKEWED:
        return note
    return (
        f"{note} The differences are strongly asymmetric (skewness {skew:.2g}), so that Wilcoxon's test need not speak of "
        "their median; the sign test does. It was not put in its place: a test chosen after a look at the data does not keep "
        "its level."
    )


def _compute_skewness(d: FloatArray) -> float:
    centred = d - d.mean()
    spread = float((centred**2).mean())
    return float((centred**3).mean()) / spread**1.5 if np.ptp(d) > 0 else 0.0


def _note_smallest_p(n: int, alpha: float) -> str:
    smallest_p = min(1.0, 2.0 ** (1 - n))
    if smallest_p <= alpha:
        return ""
    return (
        f"With {format_count(n, 'data set')} on which the learners differ, the smallest p that this test can give is "
        f"{choose_p_format([smallest_p], alpha, 3).format(smallest_p)}: no result could have reached alpha {alpha:.15g}. "
        "More data sets are needed."
    )


def _compare_many_learners(table: ScoreTable, options: ComparisonOptions) -> ChosenTest:
    n, k = table.shape
    assumptions, normality_step = _explain_normality(table, options)
    parametric = options.parametric and assumptions.hold(options.alpha)
    if parametric:
        name, anova_outcome = "anova", omnibus.anova(_to_score_frame(table))
        caveats = ("differences between learners are taken as normal", "data sets are taken as independent of each other")
        outcome = replace(
            anova_outcome, p_value=anova_outcome.details["p_corrected"], variant="Greenhouse & Geisser", caveats=caveats
        )
        reason = (
            f"Repeated-measures analysis of variance compares {k} learners on {n} data sets, as was asked; its p value is "
            "Greenhouse and Geisser's, which allows for unequal spread."
        )
    else:
        name, outcome = "friedman (iman_davenport)", omnibus.iman_davenport(_to_score_frame(table), better=options.better)
        reason = (
            f"Friedman's test on ranks within data sets compares {k} learners on {n} data sets, in Iman and Davenport's form: "
            "the chi-squared form is too conservative."
        )
    method, method_reason = choose_posthoc(options, k, parametric)
    omnibus_name: Omnibus = "anova" if parametric else "friedman"
    comparisons = posthoc(
        _to_score_frame(table), method, options.control, better=options.better, omnibus=omnibus_name, alpha=options.alpha
    )
    steps = (normality_step, (WHICH_TEST, name, reason), (HOW_PAIRS, method, method_reason), *explain_unused_rope(options, k))
    return ChosenTest(f"{name} + {method}", outcome.p_value, outcome, steps, comparisons, notes=_note_few_datasets(n))


def _note_few_datasets(n: int) -> tuple[str, ...]:
    if n >= 5:
        return ()
    return (f"{n} data sets are very few to speak of others: the p value rests on an approximation that needs more.",)


def _to_score_frame(table: ScoreTable) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(table.values, index=list(table.datasets), columns=list(table.learners))


def _explain_normality(table: ScoreTable, options: ComparisonOptions) -> tuple[Assumptions, Step]:
    """Whether the differences look normal, told also where nobody asked for a parametric test."""
    assumptions = check_differences(table.values)
    normality_text = assumptions.describe(options.alpha)
    if not options.parametric:
        return assumptions, (
            _PARAMETRIC,
            "not asked",
            f"Ranks are compared, a parametric test not being asked for. {normality_text}",
        )
    fits = assumptions.hold(options.alpha)
    answer = "yes" if fits else "asked, but it does not fit"
    conclusion = "That a check finds nothing does not prove it." if fits else "So ranks are compared instead."
    return assumptions, (_PARAMETRIC, answer, f"A parametric test was asked for. {normality_text} {conclusion}")
