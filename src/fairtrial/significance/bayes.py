"""Bayesian comparison of two learners: how probable it is that one is better, or that the two are practically equal."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray, IntArray
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.kernels import significance as kernels
from fairtrial.kernels.compiling import run_in_chunks
from fairtrial.significance.names import register_method
from fairtrial.significance.scores import Better, compute_differences, read_paired_columns, round_noise

if TYPE_CHECKING:
    import pandas as pd

register_method("bayes_signed_rank", "the Bayesian signed-rank test", cite="Benavoli et al. 2017")
register_method("bayes_sign", "the Bayesian sign test")
register_method("correlated_t", "the Bayesian correlated t test", cite="Corani & Benavoli 2015; Benavoli et al. 2017")

# Samples of the signed rank are drawn in blocks of this many, each with a generator of its own, and some at a time.
_BLOCK = 1 << 13
_STEP = 1 << 10
_REGIONS = ("first", "rope", "second")

PriorPosition = Literal["rope", "first", "second"]


@dataclass(frozen=True)
class Posterior:
    """What is to be believed about two learners after seeing their scores.

    `p_first`, `p_rope` and `p_second` sum to 1; `meaning` says what they are the probabilities of. `parameters` holds the
    numbers behind them by name, `draws` samples of the three probabilities (one row each), where the model gives a
    distribution of them. Student posteriors have `mean`, `scale` and `df` of the difference first - second.
    """

    test: str
    p_first: float
    p_rope: float
    p_second: float
    rope: float
    n: int
    meaning: str
    mean: float = float("nan")
    scale: float = float("nan")
    df: float = float("nan")
    better: Better = "max"
    parameters: Mapping[str, float] = field(default_factory=dict)
    caveats: tuple[str, ...] = ()
    draws: FloatArray | None = field(default=None, repr=False, compare=False)

    @property
    def variance(self) -> float:
        """Squared scale of the Student posterior (not its variance, which is df / (df - 2) times as large)."""
        return self.scale**2

    @property
    def likeliest(self) -> str:
        """The most probable of "first", "rope" and "second"; empty if undefined."""
        chances = (self.p_first, self.p_rope, self.p_second)
        return "" if np.isnan(chances).any() else _REGIONS[int(np.argmax(chances))]

    def frame(self) -> pd.DataFrame:
        """One line."""
        import pandas as pd

        line = {"test": self.test, "p_first": self.p_first, "p_rope": self.p_rope, "p_second": self.p_second}
        return pd.DataFrame([{**line, "rope": self.rope, "n": self.n, **self.parameters}])

    def samples(self) -> pd.DataFrame:
        """Samples of the probabilities of the three regions, to be drawn in a triangle."""
        import pandas as pd

        if self.draws is None:
            raise InputError(f"samples must come from a model over several data sets, got {self.test}: use density()")
        return pd.DataFrame(self.draws, columns=list(_REGIONS))

    def density(self, points: int = 201) -> pd.DataFrame:
        """The density of the difference first - second on a grid that holds 99.8 % of it and the rope."""
        import pandas as pd
        from scipy.stats import t

        _check.check_whole_number("points", points, 2)
        if np.isnan(self.scale):
            raise InputError(f"density must come from a model of the difference, got {self.test}: use samples()")
        student = t(self.df, self.mean, self.scale)
        low, high = student.ppf([0.001, 0.999])
        grid = np.linspace(min(low, -1.05 * self.rope), max(high, 1.05 * self.rope), points)
        return pd.DataFrame({"difference": grid, "density": student.pdf(grid)})

    @property
    def summary(self) -> str:
        """The posterior in plain words, with what it rests on."""
        return ". ".join([str(self), self.meaning, *self.caveats]) + "."

    def __str__(self) -> str:
        rope = f", practically equal {self.p_rope:.3f} (rope {self.rope:g})" if self.rope > 0 else ""
        return f"{self.test}: first better {self.p_first:.3f}{rope}, second better {self.p_second:.3f}, n = {self.n}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.summary)}</p>" + self.frame().to_html(index=False)


def correlated_t(
    a: npt.ArrayLike, b: npt.ArrayLike, *, test_fraction: float | None = None, rope: float = 0.0, better: Better = "max"
) -> Posterior:
    """Bayesian correlated t test of two learners on one data set (Corani & Benavoli 2015).

    `a` and `b` are the scores of both learners on the same folds. Training parts overlap, so the results of folds are
    correlated; `test_fraction`, the share of rows in each test part, is taken for the correlation rho (Nadeau & Bengio 2003):
    0.1 for ten folds, once or repeated. Without it the n results are taken for the folds of one cross-validation, rho = 1/n.

    The posterior of the mean difference first - second is a Student distribution with n - 1 degrees of freedom, located at the
    mean of the differences, with squared scale (1/n + rho / (1 - rho)) s^2, s^2 their variance. It is computed, not sampled.
    (baycomp subtracts the other way round.) Differences of at most `rope` count as practically equal. `better="min"` is for
    errors and costs.

    >>> found = correlated_t([5, 7, 3], [4, 2, 6], test_fraction=1 / 3)
    >>> found.mean, round(found.variance, 4), found.df
    (1.0, 13.3333, 2.0)
    >>> print(correlated_t([0.91, 0.88, 0.93, 0.90], [0.86, 0.87, 0.85, 0.88], test_fraction=0.25, rope=0.01))
    correlated_t: first better 0.849, practically equal 0.086 (rope 0.01), second better 0.065, n = 4
    """
    first, second = read_paired_columns(a, b, min_rows=2)
    check_rope(rope, better)
    rho = 1 / len(first) if test_fraction is None else test_fraction
    _check.check_between("test_fraction", rho, 0, 1)
    caveats = ["Folds of one data set: nothing is said about other data sets"]
    if test_fraction is None:
        caveats.append(f"test_fraction was not given: one cross-validation of {len(first)} folds is assumed")
    delta = compute_differences(first, second)
    mean, scale = float(delta.mean()), _compute_correlated_scale(delta, rho)
    if scale == 0:
        warn_undefined("correlated_t", "all differences are equal, so they tell nothing about their spread")
        caveats.append("Undefined: all differences are equal, so they tell nothing about their spread")
        scale = float("nan")
    chances = _compute_student_regions(mean, scale, len(delta) - 1.0, rope)
    return Posterior(
        "correlated_t",
        *order_regions(chances, better),
        rope=rope,
        n=len(delta),
        meaning="Probabilities that the mean score of the first is better, practically equal or worse on this data set",
        mean=mean,
        scale=scale,
        df=len(delta) - 1.0,
        better=better,
        parameters={"mean": mean, "scale": scale, "df": len(delta) - 1.0, "correlation": rho},
        caveats=tuple(caveats),
    )


def _compute_correlated_scale(delta: FloatArray, rho: float) -> float:
    # Equal numbers can have a variance of rounding size.
    if np.all(delta == delta[0]):
        return 0.0
    return float(np.sqrt((1 / len(delta) + rho / (1 - rho)) * delta.var(ddof=1)))


def _compute_student_regions(mean: float, scale: float, df: float, rope: float) -> tuple[float, float, float]:
    from scipy.special import stdtr

    above = float(stdtr(df, (mean - rope) / scale))
    below = float(stdtr(df, (-rope - mean) / scale))
    return above, (max(0.0, 1 - above - below) if rope > 0 else 0.0 * above), below


def bayes_signed_rank(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    rope: float = 0.0,
    prior_strength: float = 0.5,
    prior_position: PriorPosition = "rope",
    samples: int = 50_000,
    seed: int = 0,
    better: Better = "max",
) -> Posterior:
    """Bayesian signed-rank test of two learners over several data sets (Benavoli et al. 2014, 2017).

    `a` and `b` hold one score for each data set. The differences get Dirichlet weights, together with one pseudo-observation of
    weight `prior_strength`: no difference (`prior_position="rope"`), or one that speaks for the first or for the second. Each
    draw of the weights gives three probabilities: that the mean of the differences on two data sets drawn at random lies above
    the rope, within it (limits included) or below. Without a rope, means of zero count half for either side.

    `p_first` is the share of draws in which 'above' is the most probable of the three, and so on; `samples()` gives the draws.
    Sums of differences are compared free of float noise. `seed` decides the draws, the number of threads does not.

    >>> a, b = [0.84, 0.91, 0.77, 0.88, 0.69, 0.95], [0.81, 0.86, 0.78, 0.83, 0.65, 0.93]
    >>> found = bayes_signed_rank(a, b, rope=0.01, seed=1)
    >>> found.likeliest, found.p_first > 0.95
    ('first', True)
    """
    first, second = read_paired_columns(a, b)
    check_rope(rope, better)
    _check.check_one_of("prior_position", prior_position, ("rope", "first", "second"))
    _check.check_whole_number("samples", samples, 1)
    _check.check_whole_number("seed", seed, 0)
    if not 0 < prior_strength < np.inf:
        raise InputError(f"prior_strength must be a finite number above 0, got {prior_strength!r}")
    delta = compute_differences(first, second) if better == "max" else compute_differences(second, first)
    draws = _draw_signed_ranks(delta, np.concatenate([first, second]), rope, prior_strength, prior_position, samples, seed)
    chances, theta = compute_most_probable(draws), draws.mean(axis=0)
    return Posterior(
        "bayes_signed_rank",
        *chances,
        rope=rope,
        n=len(delta),
        meaning="Probabilities that, for data sets drawn at random, this is the most probable result",
        better=better,
        parameters={"theta_first": float(theta[0]), "theta_rope": float(theta[1]), "theta_second": float(theta[2])},
        draws=draws,
    )


def check_rope(rope: float, better: str) -> None:
    """A region of practical equivalence and a direction."""
    if not 0 <= rope < np.inf:
        raise InputError(f"rope must be a finite number of at least 0, got {rope!r}: give half the width of the region")
    _check.check_one_of("better", better, ("max", "min"))


def order_regions(chances: tuple[float, float, float], better: Better) -> tuple[float, float, float]:
    """Chances of first - second above, within and below the rope, as chances of first, rope and second being better."""
    return chances if better == "max" else (chances[2], chances[1], chances[0])


def warn_undefined(test: str, reason: str) -> None:
    """Say that there is no posterior."""
    warnings.warn(f"{test} is undefined: {reason}; NaN is given", UndefinedMeasureWarning, stacklevel=3)


def compute_most_probable(draws: FloatArray) -> tuple[float, float, float]:
    """Share of the draws in which each region is the most probable one; equals share a draw."""
    first, rope, second = (kernels.count_leads(draws) / len(draws)).tolist()
    return first, rope, second


def _draw_signed_ranks(
    delta: FloatArray, data: FloatArray, rope: float, strength: float, prior_position: PriorPosition, samples: int, seed: int
) -> FloatArray:
    z = np.append(delta, {"rope": 0.0, "first": np.inf, "second": -np.inf}[prior_position])
    order = np.argsort(z, kind="stable")
    z, prior = z[order], int(np.flatnonzero(order == len(delta))[0])
    above, below = _find_partners(z, data, rope)

    def draw_block(start: int, stop: int) -> FloatArray:
        rng = np.random.default_rng([seed, start // _BLOCK])
        out = np.empty((stop - start, 3))
        # One buffer that stays in the cache: fresh memory for each step would cost more than the drawing.
        buffer = np.empty((_STEP, len(z)), dtype=np.float32)
        for offset in range(0, len(out), _STEP):
            weights = _draw_weights(rng, buffer[: len(out) - offset], prior, strength)
            kernels.compute_regions(weights, above, below, 0.0 if rope > 0 else 0.5, out[offset : offset + _STEP])
        return out

    return np.concatenate(run_in_chunks(draw_block, samples, _BLOCK))


def _draw_weights(
    rng: np.random.Generator, buffer: npt.NDArray[np.float32], prior: int, strength: float
) -> npt.NDArray[np.float32]:
    """Gamma weights, which become Dirichlet's when divided by their sum, written into the buffer.

    Single precision is enough: 24 bits of a weight against a thousandth of sampling error.
    """
    # Minus the logarithm of a uniform number is exponential: NumPy's vectorised log beats its ziggurat.
    rng.random(out=buffer, dtype=np.float32)
    np.log(np.subtract(np.float32(1), buffer, out=buffer), out=buffer)
    np.negative(buffer, out=buffer)
    buffer[:, prior] = rng.standard_gamma(strength, len(buffer))
    return buffer


def _find_partners(z: FloatArray, data: FloatArray, rope: float) -> tuple[IntArray, IntArray]:
    """For each of the sorted z: where partners begin whose sum with it is above 2 rope, and end where it is below -2 rope."""
    finite = np.isfinite(z)
    sums = np.where(finite[:, None] & finite[None, :], z[:, None] + z[None, :], 0.0)
    size = np.where(finite, np.abs(z), 0.0)
    # A difference can be much smaller than the scores it comes from, and carries their noise.
    noise = np.abs(data).max(initial=0.0)
    sums = round_noise(sums, np.maximum(np.maximum(size[:, None], size[None, :]), max(rope, noise)))
    sums[~finite, :] = z[~finite, None]
    sums[:, ~finite] = z[None, ~finite]
    limit = float(round_noise(np.array([2 * rope]), max(rope, noise))[0])
    return (sums <= limit).sum(axis=1), (sums < -limit).sum(axis=1)
