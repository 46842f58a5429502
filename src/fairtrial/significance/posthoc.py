"""Which of many learners differ? All pairs, or all against a control, with adjusted p values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from itertools import combinations
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial.errors import InputError
from fairtrial.significance.adjust import METHODS as ADJUSTMENTS, adjust
from fairtrial.significance.bergmann import bergmann
from fairtrial.significance.omnibus import aligned_placings, friedman_placings, quade_placings, sums_of_squares
from fairtrial.significance.p_words import told_p
from fairtrial.significance.shaffer import shaffer
from fairtrial.significance.table import Better, ScoreTable, read_table

if TYPE_CHECKING:
    import pandas as pd

Omnibus = Literal["friedman", "aligned", "quade", "anova"]
RANKINGS = {"friedman": friedman_placings, "aligned": aligned_placings, "quade": quade_placings}
ALL_PAIRS = ("nemenyi", "tukey", "shaffer", "bergmann")
WITH_CONTROL = ("bonferroni-dunn", "dunnett")
METHODS = (*ALL_PAIRS, *WITH_CONTROL, *ADJUSTMENTS)
_UNIT = {"friedman": "mean rank", "aligned": "mean aligned rank", "quade": "weighted mean rank", "anova": "mean"}
_STEPS = 200


_OF_RANKS = ("friedman", "aligned", "quade")


@dataclass(frozen=True)
class Comparison:
    """Two learners compared; `effect` is the first's mean rank (after anova: mean score) less the second's."""

    first: str
    second: str
    statistic: float
    p_raw: float
    p_adjusted: float
    effect: float


@dataclass(frozen=True)
class PostHoc:
    """All comparisons of a post-hoc procedure. Rows, groups and words follow from the same adjusted p values.

    `means` has each learner's mean rank (mean score after anova, t and F tests). `critical_difference` is the difference of
    two `means` that is just told apart at `alpha`; it exists for Nemenyi and Bonferroni-Dunn, else it is None.
    """

    method: str
    omnibus: str
    alpha: float
    n: int
    learners: tuple[str, ...]
    means: tuple[float, ...]
    comparisons: tuple[Comparison, ...]
    better: str = "max"
    control: str | None = None
    critical_difference: float | None = None

    def frame(self) -> pd.DataFrame:
        """One row for each comparison: first, second, statistic, p_raw, p_adjusted, effect."""
        import pandas as pd

        return pd.DataFrame([vars(each) for each in self.comparisons])

    @property
    def order(self) -> tuple[str, ...]:
        """The learners, the best first."""
        sign = -1 if self.omnibus not in _OF_RANKS and self.better == "max" else 1
        places = np.argsort(sign * np.array(self.means), kind="stable")
        return tuple(self.learners[place] for place in places)

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Maximal sets of learners of which no two are told apart, the best first.

        Two learners share a group exactly where their adjusted p value is above alpha; a learner told apart from all others is
        a group of its own. A group may leave out a learner that lies between two of its members. Against a control there is
        one group: the control and the learners not told apart from it, which are not compared with each other.
        """
        alike = {frozenset((each.first, each.second)) for each in self.comparisons if not each.p_adjusted <= self.alpha}
        if self.control is not None:
            with_control = frozenset((self.control,)).union(*alike)
            return (tuple(name for name in self.order if name in with_control),)
        near = {name: {other for pair in alike if name in pair for other in pair - {name}} for name in self.learners}
        place = {name: i for i, name in enumerate(self.order)}
        cliques = [sorted(clique, key=place.__getitem__) for clique in _maximal_cliques(near)]
        return tuple(tuple(clique) for clique in sorted(cliques, key=lambda names: [place[name] for name in names]))

    @property
    def words(self) -> str:
        """The findings in plain words."""
        place = {name: i for i, name in enumerate(self.order)}
        apart = [
            " is better than ".join(sorted((each.first, each.second), key=place.__getitem__))
            + f" ({told_p(each.p_adjusted, self.alpha, digits=3)})"
            for each in self.comparisons
            if each.p_adjusted <= self.alpha
        ]
        versus = f"each learner against {self.control}" if self.control is not None else "all pairs"
        found = "; ".join(apart) if apart else "no two learners are told apart"
        rest = len(self.comparisons) - len(apart)
        left = f" {rest} of {len(self.comparisons)} comparisons are left open, which does not show equality." if rest else ""
        sets = f"{self.n} data set{'s' if self.n != 1 else ''}"
        return f"{self.method} after {self.omnibus}, {versus}, alpha {self.alpha:.15g}, {sets}: {found}.{left}"

    def __str__(self) -> str:
        return f"{self.words}\n{self.frame().to_string(index=False, float_format='{:.4g}'.format)}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.words)}</p>" + self.frame().to_html(index=False)


def posthoc(
    scores: pd.DataFrame | npt.ArrayLike,
    method: str = "holm",
    control: str | None = None,
    *,
    better: Better = "max",
    omnibus: Omnibus | None = None,
    alpha: float = 0.05,
) -> PostHoc:
    """Compare all pairs of learners, or each with a `control`, on a table of scores (rows data sets, columns learners).

    - all pairs only: "nemenyi" (studentized range), "shaffer", "bergmann" (exact, to 16 learners), "tukey";
    - with a control only: "bonferroni-dunn", "dunnett";
    - either: the methods of `adjust`: "holm", "hochberg", "hommel", "finner" ... "none".

    `omnibus` says what is compared: "friedman" (the default), "aligned" or "quade" mean ranks by a normal statistic, or "anova"
    means by a t statistic with the pooled error (the default, and the only choice, of "tukey" and "dunnett").
    The variance of a difference of Friedman ranks is Demsar's, without correction for ties. Those of aligned and Quade's
    ranks are the variance over all exchanges within data sets, as in the omnibus tests; the formulas printed in Garcia et al.
    2010, k (n + 1) / 6 and k (k + 1) (2n + 1) (k - 1) / (18 n (n + 1)), are far too small for aligned ranks and fit Quade's at
    k = 3 only. The columns `statistic` and `effect` are negative where the first learner has the smaller mean rank (the
    better) or, after anova, the smaller mean.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"tree": [0.9, 0.8, 0.9, 0.6], "bayes": [0.8, 0.7, 0.7, 0.5], "rule": [0.7, 0.6, 0.6, 0.4]})
    >>> found = posthoc(table, "nemenyi")
    >>> found.frame().round(4)
      first second  statistic   p_raw  p_adjusted  effect
    0  tree  bayes    -1.4142  0.1573      0.3335    -1.0
    1  tree   rule    -2.8284  0.0047      0.0130    -2.0
    2 bayes   rule    -1.4142  0.1573      0.3335    -1.0
    >>> found.groups
    (('tree', 'bayes'), ('bayes', 'rule'))
    """
    chosen = _check_choice(method, control, omnibus)
    _check.one_of("better", better, ("max", "min"))
    _check.between("alpha", alpha, 0, 1)
    table = read_table(scores)
    base = _anova_base(table) if chosen == "anova" else _rank_base(table, chosen, better)
    k = len(table.learners)
    first, second = _pairs(table, control)
    statistic = base.statistics(first, second)
    p_raw = base.p_values(statistic)
    adjusted = _adjusted(method, statistic, p_raw, k, base.df, alpha)
    effect = base.means[first] - base.means[second]
    rows = zip(first, second, statistic, p_raw, adjusted, effect, strict=True)
    return PostHoc(
        method,
        chosen,
        alpha,
        len(table.datasets),
        table.learners,
        tuple(base.means.tolist()),
        tuple(Comparison(table.learners[i], table.learners[j], *map(float, numbers)) for i, j, *numbers in rows),
        better,
        None if control is None else str(control),
        _critical_difference(method, base, k, alpha),
    )


@dataclass(frozen=True)
class _Base:
    """Means of the learners, sums with their standard error, and its degrees of freedom."""

    means: FloatArray
    sums: FloatArray
    error: float
    unit: float
    df: float

    def statistics(self, first: npt.NDArray[np.intp], second: npt.NDArray[np.intp]) -> FloatArray:
        # Without any spread all sums are equal: no statistic.
        return np.asarray((self.sums[first] - self.sums[second]) / (self.error or np.nan))

    def p_values(self, statistic: FloatArray) -> FloatArray:
        from scipy.special import ndtr, stdtr

        size = -np.abs(statistic)
        tail = ndtr(size) if np.isinf(self.df) else stdtr(self.df, size)
        return np.where(np.isnan(statistic), 1.0, 2 * tail)


def _rank_base(table: ScoreTable, omnibus: str, better: Better) -> _Base:
    placings = RANKINGS[omnibus](table, better)
    squares = placings.without_ties if omnibus == "friedman" else placings.squares
    error = float(np.sqrt(2 * squares / (len(table.learners) - 1)))
    return _Base(placings.means, placings.sums, error, placings.unit, np.inf)


def _anova_base(table: ScoreTable) -> _Base:
    n, k = table.shape
    error = sums_of_squares(table.values)[1]
    if error == 0:
        raise InputError(
            "scores must not differ by the same amounts on every data set, got no error to compare with: use 'friedman'"
        )
    df = (k - 1.0) * (n - 1)
    means = table.values.mean(axis=0)
    return _Base(means, means, float(np.sqrt(2 * error / df / n)), 1.0, df)


def _check_choice(method: str, control: str | None, omnibus: str | None) -> str:
    _check.one_of("method", method, METHODS)
    parametric = method in ("tukey", "dunnett")
    chosen = omnibus or ("anova" if parametric else "friedman")
    _check.one_of("omnibus", chosen, (*RANKINGS, "anova"))
    if parametric and chosen != "anova":
        raise InputError(f"omnibus must be 'anova' for {method}, got {chosen!r}: for ranks use 'nemenyi' or 'holm'")
    if chosen == "anova" and method in ("nemenyi", "bonferroni-dunn"):
        raise InputError(f"omnibus must be one of {list(RANKINGS)} for {method}, got 'anova': use 'tukey' or 'dunnett'")
    if method in ALL_PAIRS and control is not None:
        raise InputError(f"control must be None for {method}, which compares all pairs, got {control!r}: use 'holm'")
    if method in WITH_CONTROL and control is None:
        raise InputError(f"control must be a learner for {method}, got None: name it, or use 'holm' for all pairs")
    return chosen


def _pairs(table: ScoreTable, control: str | None) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    k = len(table.learners)
    if control is None:
        pairs = list(combinations(range(k), 2))
    else:
        place = table.column(str(control))
        pairs = [(place, other) for other in range(k) if other != place]
    first, second = np.array(pairs, dtype=np.intp).T
    return first, second


def _adjusted(method: str, statistic: FloatArray, p_raw: FloatArray, k: int, df: float, alpha: float) -> FloatArray:
    size = np.abs(np.nan_to_num(statistic))
    if method in ("nemenyi", "tukey"):
        adjusted = largest_of_pairs(size, k, df)
    elif method == "dunnett":
        adjusted = largest_against_control(size, k, df)
    elif method in ("shaffer", "bergmann"):
        return (shaffer if method == "shaffer" else bergmann)(p_raw)
    else:
        return adjust(p_raw, "bonferroni" if method == "bonferroni-dunn" else method, alpha=alpha)
    return np.clip(adjusted, p_raw, 1.0)


def _critical_difference(method: str, base: _Base, k: int, alpha: float) -> float | None:
    from scipy.optimize import brentq
    from scipy.special import ndtri

    if method == "nemenyi":
        critical = brentq(lambda z: float(largest_of_pairs(np.array([z]), k)[0]) - alpha, 0.0, 40.0, xtol=1e-12)
    elif method == "bonferroni-dunn":
        critical = -ndtri(alpha / (2 * (k - 1)))
    else:
        return None
    return float(critical * base.error * base.unit)


def largest_of_pairs(z: FloatArray, k: int, df: float = np.inf) -> FloatArray:
    """P that the largest |difference| of k means, over its standard error, exceeds z: the studentized range over sqrt(2).

    >>> largest_of_pairs(np.array([2.344, 2.569]), 3).round(4).tolist()
    [0.05, 0.0275]
    """
    from scipy.special import ndtr

    t = np.linspace(0, 1, _STEPS + 1)

    def tail(q: FloatArray) -> FloatArray:
        # k phi(x) [Phi(x)^(k-1) - (Phi(x) - Phi(x - q))^(k-1)] integrated; the difference is kept as one product for far tails.
        width = 18 + q[..., None] / 2
        x = -9 + t * width
        below = ndtr(x)
        with np.errstate(divide="ignore"):
            outside = -np.expm1((k - 1) * np.log1p(-ndtr(x - q[..., None]) / below))
        inner = k * _density(x) * below ** (k - 1) * outside
        return np.asarray((inner * width).sum(axis=-1) / _STEPS)

    return _over_spread(tail, np.sqrt(2) * np.asarray(z, dtype=np.float64), df)


def largest_against_control(z: FloatArray, k: int, df: float = np.inf) -> FloatArray:
    """P that the largest |difference| of k - 1 means from a control's, over its standard error, exceeds z (Dunnett).

    >>> largest_against_control(np.array([2.54]), 4, df=20).round(3).tolist()
    [0.05]
    """
    from scipy.special import ndtr

    t = np.linspace(-1, 1, 2 * _STEPS + 1)

    def tail(q: FloatArray) -> FloatArray:
        width = 9 + q[..., None] / 2
        x = t * width
        beyond = ndtr(x - q[..., None]) + ndtr(-x - q[..., None])
        with np.errstate(divide="ignore"):
            inner = _density(x) * -np.expm1((k - 1) * np.log1p(-np.minimum(beyond, 1.0)))
        return np.asarray((inner * width).sum(axis=-1) / _STEPS)

    return _over_spread(tail, np.sqrt(2) * np.asarray(z, dtype=np.float64), df)


def _density(x: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-x * x / 2) / np.sqrt(2 * np.pi))


def _over_spread(tail: Callable[[FloatArray], FloatArray], q: FloatArray, df: float) -> FloatArray:
    """The mean of tail(q s), s estimating a standard deviation of 1 with df degrees of freedom: trapezoids in log s."""
    if np.isinf(df):
        return tail(q)
    reach = np.sqrt(40 / df)
    u = np.linspace(-reach - 40 / df, min(reach, 0.5 + 0.5 * np.log1p(120 / df)), _STEPS + 1)
    log_density = df * (u - np.expm1(2 * u) / 2)
    weight = np.exp(log_density - log_density.max())
    # One comparison at a time: a grid of all of them would not fit a cache.
    return np.asarray([(weight * tail(each * np.exp(u))).sum() / weight.sum() for each in q])


def _maximal_cliques(near: dict[str, set[str]]) -> list[set[str]]:
    """Bron and Kerbosch's algorithm with a pivot."""
    found: list[set[str]] = []

    def grow(clique: set[str], open_: set[str], closed: set[str]) -> None:
        if not open_ and not closed:
            found.append(clique)
            return
        pivot = max(sorted(open_ | closed), key=lambda name: len(near[name] & open_))
        for name in sorted(open_ - near[pivot]):
            grow(clique | {name}, open_ & near[name], closed & near[name])
            open_ = open_ - {name}
            closed = closed | {name}

    grow(set(), set(near), set())
    return found
