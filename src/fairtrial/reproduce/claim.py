"""Claims made in papers, and the rules by which they are judged.

Most claims are judged from estimates with 95 % confidence intervals. Positive estimates support the claim.

- `judge_direction` judges whether all quantities in a claim are positive. To test against a margin, subtract it first.
- `judge_datasets` judges a claim about several data sets using a single test on the mean over these data sets.
- `judge_equivalence` judges whether quantities equal 0 within a margin, using two one-sided tests.
- `judge_fact` judges a statement that can be checked without sampling error, e.g. a printed sum.
- `judge_variants` returns the verdict of the main run, unless a variant of the main run reaches the opposite verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isnan
from typing import Literal

import numpy as np
import numpy.typing as npt

Verdict = Literal["reproduced", "direction reproduced", "inconclusive", "contradicted", "not testable"]
VERDICTS: tuple[Verdict, ...] = ("reproduced", "direction reproduced", "inconclusive", "contradicted", "not testable")
REPRODUCED, DIRECTION, INCONCLUSIVE, CONTRADICTED, NOT_TESTABLE = VERDICTS

ClaimKind = Literal["claim", "printed", "target", "own"]
KINDS: dict[ClaimKind, str] = {
    "claim": "Claims of the paper",
    "printed": "Printed numbers",
    "target": "Our targets",
    "own": "Our own claims",
}
"""Page heading for each kind of claim: the paper's claims, recomputed numbers, our targets, and our own claims."""

_SUPPORTING: tuple[Verdict, ...] = (REPRODUCED, DIRECTION)
_TARGET_OUTCOMES: dict[Verdict, str] = {REPRODUCED: "met", DIRECTION: "met (not significant)", CONTRADICTED: "not met"}
_TOO_FEW_DATA = "inconclusive at this scale"


@dataclass(frozen=True)
class IntervalEstimate:
    """An estimate with its 95 % confidence interval.

    Attributes
    ----------
    value, low, high : float
        The estimate and its confidence limits.
    degrees_of_freedom : float
        Degrees of freedom of the t distribution; infinite for a normal approximation.
    """

    value: float
    low: float
    high: float
    degrees_of_freedom: float = inf

    def __neg__(self) -> IntervalEstimate:
        """Negate the estimate and its interval."""
        return replace(self, value=-self.value, low=-self.high, high=-self.low)

    @property
    def sign(self) -> int:
        """Sign of the quantity: 1 if the interval lies above 0, -1 if below, otherwise 0."""
        return int(self.low > 0) - int(self.high < 0)

    @property
    def is_positive(self) -> bool | None:
        """Whether the quantity is positive; None if the interval contains 0.

        >>> IntervalEstimate(2, 1, 3).is_positive, IntervalEstimate(-2, -3, -1).is_positive
        (True, False)
        >>> IntervalEstimate(0.5, -1, 2).is_positive is None
        True
        """
        return {1: True, -1: False, 0: None}[self.sign]

    def subtract(self, amount: float) -> IntervalEstimate:
        """Subtract a constant; `x.subtract(0.1).is_positive` tests whether x exceeds 0.1."""
        return replace(self, value=self.value - amount, low=self.low - amount, high=self.high - amount)

    def widen(self, n_intervals: float) -> IntervalEstimate:
        """Widen the interval for a joint coverage of 95 % over `n_intervals` (Bonferroni).

        >>> IntervalEstimate(0, -2.2622, 2.2622, degrees_of_freedom=9).widen(10).format("{:.2f}")
        '0.00 (-3.69 to 3.69)'
        """
        from scipy.stats import t

        factor = float(t.isf(0.025 / n_intervals, self.degrees_of_freedom) / t.isf(0.025, self.degrees_of_freedom))
        below, above = factor * (self.value - self.low), factor * (self.high - self.value)
        return replace(self, low=self.value - below, high=self.value + above)

    def narrow(self) -> IntervalEstimate:
        """Return the 90 % interval, which is equivalent to two one-sided tests at the 5 % level.

        >>> IntervalEstimate(0, -1.96, 1.96).narrow().format("{:.3f}")
        '0.000 (-1.645 to 1.645)'
        """
        return self.widen(0.5)

    def is_within(self, limit: float) -> bool | None:
        """Return whether the quantity lies within `limit` of 0.

        Return None if this is undecided because the interval crosses a limit.

        >>> IntervalEstimate(0.0, -0.01, 0.01).is_within(0.02), IntervalEstimate(1.0, 0.9, 1.1).is_within(0.02)
        (True, False)
        >>> IntervalEstimate(0.0, -0.1, 0.1).is_within(0.02) is None
        True
        """
        if -limit <= self.low and self.high <= limit:
            return True
        return False if self.low > limit or self.high < -limit else None

    def format(self, pattern: str = "{:+.4f}") -> str:
        """Format the estimate, followed by its confidence limits in parentheses.

        >>> IntervalEstimate(0.5, -1, 2).format("{:.1f}"), IntervalEstimate(float("nan"), 0, 1).format()
        ('0.5 (-1.0 to 2.0)', 'undefined')
        """
        if isnan(self.value):
            return "undefined"
        if isnan(self.low):
            return f"{pattern.format(self.value)} (interval unknown)"
        return f"{pattern.format(self.value)} ({pattern.format(self.low)} to {pattern.format(self.high)})"


def estimate_mean(values: npt.ArrayLike, level: float = 0.95) -> IntervalEstimate:
    """Estimate the mean of independent values with a t interval.

    The limits are NaN for fewer than two values.

    >>> estimate_mean([1.0, 2.0, 4.0]).format("{:.2f}")
    '2.33 (-1.46 to 6.13)'
    """
    from scipy.stats import t

    array = np.asarray(values, dtype=float)
    mean = float(array.mean()) if len(array) else float("nan")
    if len(array) < 2:
        return IntervalEstimate(mean, float("nan"), float("nan"))
    half = float(t.ppf((1 + level) / 2, len(array) - 1) * array.std(ddof=1) / np.sqrt(len(array)))
    return IntervalEstimate(mean, mean - half, mean + half, len(array) - 1)


def estimate_proportion(count: int, total: int) -> IntervalEstimate:
    """Estimate a proportion with its 95 % Clopper-Pearson interval.

    The estimate is NaN if `total` is 0.

    >>> estimate_proportion(7, 10).format("{:.4f}")
    '0.7000 (0.3475 to 0.9333)'
    """
    from scipy.stats import binomtest

    if not total:
        return IntervalEstimate(float("nan"), float("nan"), float("nan"))
    limits = binomtest(count, total).proportion_ci(method="exact")
    return IntervalEstimate(count / total, float(limits.low), float(limits.high))


def combine_estimates(estimates: Iterable[IntervalEstimate]) -> IntervalEstimate:
    """Combine independent estimates, e.g. one per data set, into an estimate of their mean.

    The squared standard errors are added. The degrees of freedom follow the Welch-Satterthwaite approximation.

    >>> combine_estimates([IntervalEstimate(1.0, 0.02, 1.98), IntervalEstimate(2.0, 1.02, 2.98)]).format("{:.2f}")
    '1.50 (0.81 to 2.19)'
    """
    from scipy.stats import t

    estimates = list(estimates)
    if not estimates:
        return IntervalEstimate(float("nan"), float("nan"), float("nan"))
    degrees = np.array([estimate.degrees_of_freedom for estimate in estimates])
    widths = np.array([estimate.high - estimate.low for estimate in estimates])
    variances = (widths / 2 / t.isf(0.025, degrees)) ** 2
    mean, error = float(np.mean([estimate.value for estimate in estimates])), float(np.sqrt(variances.sum())) / len(estimates)
    terms = float((variances**2 / degrees).sum())
    combined_degrees = float(variances.sum() ** 2 / terms) if terms > 0 else inf
    half = float(t.isf(0.025, combined_degrees)) * error
    return IntervalEstimate(mean, mean - half, mean + half, combined_degrees)


def judge_direction(estimates: Iterable[IntervalEstimate]) -> Verdict:
    """Judge a claim that all estimated quantities are positive.

    The claim is reproduced if every interval lies above 0. If every estimate is positive but some intervals contain 0, only the
    direction is reproduced. The claim is contradicted if an interval lies below 0 after a Bonferroni correction for the number
    of quantities.

    >>> judge_direction([IntervalEstimate(1, 0.5, 1.5)] * 3), judge_direction([IntervalEstimate(1, -0.5, 2.5)] * 3)
    ('reproduced', 'direction reproduced')
    >>> judge_direction([IntervalEstimate(1, 0.5, 1.5), IntervalEstimate(-1, -1.1, -0.9)])
    'contradicted'
    >>> judge_direction([IntervalEstimate(1, 0.5, 1.5), IntervalEstimate(-1, -2.1, 0.1)])
    'inconclusive'
    """
    estimates = list(estimates)
    if (verdict := _find_obstacle(estimates)) is not None:
        return verdict
    if any(estimate.widen(len(estimates)).sign < 0 for estimate in estimates):
        return CONTRADICTED
    return _judge_support([estimate.sign > 0 for estimate in estimates], [estimate.value > 0 for estimate in estimates])


def judge_datasets(estimates: Iterable[IntervalEstimate]) -> Verdict:
    """Judge a claim that a quantity is positive on several data sets.

    The claim is judged by a single test on the mean over these data sets. The data sets are those that the paper names, not a
    random sample. Therefore the interval for the mean accounts for the sampling errors of the estimates, but not for the choice
    of data sets. If the interval lies above 0, the claim is reproduced. If it lies below 0, the claim is contradicted. If the
    mean supports the claim, but at least one data set contradicts it after a Bonferroni correction, the claim is inconclusive.

    >>> judge_datasets([IntervalEstimate(1, -0.2, 2.2)] * 4)
    'reproduced'
    >>> judge_datasets([IntervalEstimate(1, 0.5, 1.5), IntervalEstimate(1, 0.5, 1.5), IntervalEstimate(-0.5, -0.6, -0.4)])
    'inconclusive'
    """
    estimates = list(estimates)
    if (verdict := _find_obstacle(estimates)) is not None:
        return verdict
    sign = combine_estimates(estimates).sign
    if sign < 0:
        return CONTRADICTED
    if any(estimate.widen(len(estimates)).sign < 0 for estimate in estimates):
        return INCONCLUSIVE
    return _judge_support([sign > 0], [estimate.value > 0 for estimate in estimates])


def judge_equivalence(estimates: Iterable[IntervalEstimate], margin: float) -> Verdict:
    """Judge a claim that all estimated quantities equal 0 within a margin.

    The claim is reproduced if every 90 % interval lies within the margin, that is, if both one-sided tests of every quantity
    are significant at the 5 % level. If every estimate lies within the margin but some 90 % intervals do not, only the
    direction is reproduced. The claim is contradicted if an interval lies entirely outside the margin after a Bonferroni
    correction.

    >>> judge_equivalence([IntervalEstimate(0.1, -0.5, 0.7)], 1), judge_equivalence([IntervalEstimate(0.1, -1.5, 1.7)], 1)
    ('reproduced', 'direction reproduced')
    >>> judge_equivalence([IntervalEstimate(3, 2, 4)], 1), judge_equivalence([IntervalEstimate(1.5, 0.5, 2.5)], 1)
    ('contradicted', 'inconclusive')
    """
    estimates = list(estimates)
    if (verdict := _find_obstacle(estimates)) is not None:
        return verdict
    if any(estimate.widen(len(estimates)).is_within(margin) is False for estimate in estimates):
        return CONTRADICTED
    return _judge_support(
        [estimate.narrow().is_within(margin) is True for estimate in estimates],
        [abs(estimate.value) <= margin for estimate in estimates],
    )


def _find_obstacle(estimates: Sequence[IntervalEstimate]) -> Verdict | None:
    """Return a verdict if estimates are missing or have no interval, otherwise None."""
    if not estimates or any(isnan(estimate.value) for estimate in estimates):
        return NOT_TESTABLE
    return INCONCLUSIVE if any(isnan(estimate.low) or isnan(estimate.high) for estimate in estimates) else None


def _judge_support(significant: Sequence[bool], agreeing: Sequence[bool]) -> Verdict:
    return REPRODUCED if all(significant) else DIRECTION if all(agreeing) else INCONCLUSIVE


def judge_fact(is_true: bool | None) -> Verdict:
    """Judge a statement that can be checked without sampling error, e.g. a printed sum.

    Pass None if the statement can be neither confirmed nor refuted.

    >>> judge_fact(True), judge_fact(False), judge_fact(None)
    ('reproduced', 'contradicted', 'inconclusive')
    """
    return INCONCLUSIVE if is_true is None else REPRODUCED if is_true else CONTRADICTED


def combine_verdicts(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the least favourable verdict on the parts of a claim.

    >>> combine_verdicts(["reproduced", "direction reproduced"]), combine_verdicts(["inconclusive", "contradicted"])
    ('direction reproduced', 'contradicted')
    >>> combine_verdicts([])
    'not testable'
    """
    verdicts = list(verdicts)
    if not verdicts:
        return NOT_TESTABLE
    return next(verdict for verdict in (CONTRADICTED, NOT_TESTABLE, INCONCLUSIVE, DIRECTION, REPRODUCED) if verdict in verdicts)


def judge_variants(main: Verdict, variants: Mapping[str, Verdict]) -> Verdict:
    """Judge a claim from the verdicts on the main run and on its variants.

    The verdict is that of the main run, with one exception: if the main run supports the claim and a variant contradicts it, or
    vice versa, the claim is inconclusive.

    >>> judge_variants("reproduced", {"votes": "inconclusive"}), judge_variants("reproduced", {"votes": "contradicted"})
    ('reproduced', 'inconclusive')
    >>> judge_variants("contradicted", {"votes": "direction reproduced"})
    'inconclusive'
    """
    opposite = {CONTRADICTED: _SUPPORTING, REPRODUCED: (CONTRADICTED,), DIRECTION: (CONTRADICTED,)}.get(main, ())
    return INCONCLUSIVE if any(verdict in opposite for verdict in variants.values()) else main


@dataclass(frozen=True)
class Claim:
    """A claim made in a paper, the verdict on it, and the numbers on which the verdict is based.

    Attributes
    ----------
    text : str
        What the paper claims.
    verdict : str
        `reproduced`, `direction reproduced`, `inconclusive`, `contradicted` or `not testable`.
    details : str
        Our numbers, with 95 % confidence limits in parentheses.
    kind : {"claim", "printed", "target", "own"}, default "claim"
        A claim made in the paper, a printed number that we recomputed, one of our targets, or one of our own claims.
    variants : mapping, default {}
        Verdict for each variant of the main run, keyed by the name of the variant.

    Examples
    --------
    >>> from fairtrial.reproduce import Claim
    >>> claim = Claim("C4.5 loses less accuracy", "reproduced", "+2 (+1 to +3)", variants={"votes": "inconclusive"})
    >>> claim.sensitivity
    'votes: inconclusive'
    """

    text: str
    verdict: Verdict
    details: str
    kind: ClaimKind = "claim"
    variants: Mapping[str, Verdict] = field(default_factory=dict)

    def __post_init__(self) -> None:
        unknown = [verdict for verdict in (self.verdict, *self.variants.values()) if verdict not in VERDICTS]
        if unknown or self.kind not in KINDS:
            raise ValueError(f"unknown verdict or kind: {unknown or self.kind!r}")

    @property
    def sensitivity(self) -> str:
        """Text that lists the variants whose verdict differs from that of the main run.

        The text is "all variants agree" if no verdict differs, and empty if there are no variants.
        """
        main = self.variants.get("main run", self.verdict)
        differing = [f"{name}: {verdict}" for name, verdict in self.variants.items() if verdict != main or name == "main run"]
        if not self.variants:
            return ""
        return "; ".join(differing) if any(verdict != main for verdict in self.variants.values()) else "all variants agree"


def build_claim(
    text: str,
    judge: Callable[[str], Verdict],
    details: str,
    *,
    kind: ClaimKind = "claim",
    variants: Sequence[str] = (),
) -> Claim:
    """Build a claim and judge it from the main run and its variants.

    `judge` takes the name of a variant, or "" for the main run.

    >>> verdicts = {"": "reproduced", "votes": "contradicted"}
    >>> build_claim("a", verdicts.get, "", variants=["votes"]).verdict
    'inconclusive'
    """
    main = judge("")
    by_variant = {name: judge(name) for name in variants}
    verdict = judge_variants(main, by_variant)
    displayed: dict[str, Verdict] = {"main run": main, **by_variant} if verdict != main else by_variant
    return Claim(text, verdict, details, kind, displayed)


def list_by_verdict(statements: Mapping[str, Verdict]) -> str:
    """Join statements into one text, grouped by verdict.

    Examples
    --------
    >>> list_by_verdict({"a is best": "reproduced", "b is worst": "inconclusive", "c is robust": "reproduced"})
    'Reproduced: a is best; c is robust. Inconclusive: b is worst.'
    """
    groups = {verdict: [text for text, its_verdict in statements.items() if its_verdict == verdict] for verdict in VERDICTS}
    return " ".join(f"{verdict.capitalize()}: {'; '.join(texts)}." for verdict, texts in groups.items() if texts)


def describe_verdict(verdict: Verdict, kind: ClaimKind) -> str:
    """Describe a verdict for display: a target is met instead of reproduced.

    >>> describe_verdict("reproduced", "claim"), describe_verdict("reproduced", "target")
    ('reproduced', 'met')
    """
    return _TARGET_OUTCOMES.get(verdict, verdict) if kind == "target" else verdict


def mark_inconclusive(claims: Iterable[Claim], reason: str = _TOO_FEW_DATA) -> tuple[Claim, ...]:
    """Mark all claims as inconclusive, except those that are not testable.

    The reason is appended to the details of each claim whose verdict changes.

    >>> mark_inconclusive([Claim("a", "reproduced", "+2 (+1 to +3)")])[0].details
    '+2 (+1 to +3); inconclusive at this scale'
    """
    return tuple(
        claim
        if claim.verdict in (INCONCLUSIVE, NOT_TESTABLE)
        else replace(claim, verdict=INCONCLUSIVE, details=f"{claim.details}; {reason}", variants={})
        for claim in claims
    )


def count_verdicts(claims: Sequence[Claim]) -> str:
    """Format the number of claims with each verdict.

    Verdicts that do not occur are left out.

    >>> count_verdicts([Claim("a", "reproduced", ""), Claim("b", "inconclusive", ""), Claim("c", "reproduced", "")])
    '2 reproduced, 1 inconclusive'
    >>> count_verdicts([Claim("d", "reproduced", "", "target")])
    '1 met'
    """
    counts = Counter((VERDICTS.index(claim.verdict), describe_verdict(claim.verdict, claim.kind)) for claim in claims)
    return ", ".join(f"{count} {text}" for (_, text), count in sorted(counts.items()))
