"""Bayesian comparison of two learners.

Each test computes the probabilities that the first learner is better, that both are practically equivalent, and that the second
learner is better.
"""

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
from fairtrial._findings import Finding
from fairtrial._narrative import render, render_all
from fairtrial._text import capitalize, format_html_table, format_number
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.kernels import significance as kernels
from fairtrial.kernels.compiling import run_in_chunks
from fairtrial.significance.names import get_display_name, register_method
from fairtrial.significance.scores import Better, compute_differences, read_paired_columns, round_noise

if TYPE_CHECKING:
    import pandas as pd

register_method("bayes_signed_rank", "Bayesian signed-rank test", cite="Benavoli et al. 2017")
register_method("bayes_sign", "Bayesian sign test")
register_method("correlated_t", "Bayesian correlated t test", cite="Corani & Benavoli 2015; Benavoli et al. 2017")

# Draws are generated in blocks, each with its own random generator. Within a block, they are computed in steps that fit into
# the cache.
_BLOCK = 1 << 13
_STEP = 1 << 10
_REGIONS = ("first", "rope", "second")

PriorPosition = Literal["rope", "first", "second"]
Scope = Literal["dataset", "datasets", "next dataset"]
_MEANINGS = {
    "dataset": "posterior_of_dataset",
    "datasets": "posterior_of_datasets",
    "next dataset": "posterior_of_next_dataset",
}


@dataclass(frozen=True)
class Posterior:
    """The result of a Bayesian comparison of two learners.

    Attributes
    ----------
    test : str
        Name of the test.
    p_first, p_rope, p_second : float
        Probabilities that the first learner is better, that both are practically equivalent, and that the second learner is
        better. They sum to 1.
    rope : float
        Half-width of the region of practical equivalence.
    n : int
        Number of folds or data sets.
    scope : {"dataset", "datasets", "next dataset"}
        What the probabilities refer to. The attribute `meaning` explains it.
    mean, scale, df : float
        Parameters of the posterior for the difference (first minus second); NaN if it is not a Student t distribution.
    better : {"max", "min"}
        Whether larger or smaller scores are better.
    parameters : mapping of str to float
        Additional results, keyed by name.
    caveats : tuple of Finding
        Assumptions and limitations that apply to this result.
    draws : ndarray of shape (samples, 3) or None
        Samples of the three probabilities; None if the test does not draw samples.

    Examples
    --------
    >>> print(correlated_t([0.91, 0.88, 0.93, 0.90], [0.86, 0.87, 0.85, 0.88], test_fraction=0.25, rope=0.01))
    Bayesian correlated t test: P(first better) = 0.849, P(equivalent) = 0.086, P(second better) = 0.065, rope 0.01, n = 4
    """

    test: str
    p_first: float
    p_rope: float
    p_second: float
    rope: float
    n: int
    scope: Scope
    mean: float = float("nan")
    scale: float = float("nan")
    df: float = float("nan")
    better: Better = "max"
    parameters: Mapping[str, float] = field(default_factory=dict)
    caveats: tuple[Finding, ...] = ()
    draws: FloatArray | None = field(default=None, repr=False, compare=False)

    @property
    def meaning(self) -> str:
        """A sentence that explains what the three probabilities refer to."""
        return render(Finding.of(_MEANINGS[self.scope]))

    @property
    def variance(self) -> float:
        """Squared scale of the Student t posterior, which is smaller than its variance."""
        return self.scale**2

    @property
    def likeliest(self) -> str:
        """The most probable region: "first", "rope" or "second"; an empty string if it is undefined."""
        chances = (self.p_first, self.p_rope, self.p_second)
        return "" if np.isnan(chances).any() else _REGIONS[int(np.argmax(chances))]

    def frame(self) -> pd.DataFrame:
        """Return the posterior as a data frame with one row."""
        import pandas as pd

        line = {"test": self.test, "p_first": self.p_first, "p_rope": self.p_rope, "p_second": self.p_second}
        return pd.DataFrame([{**line, "rope": self.rope, "n": self.n, **self.parameters}])

    def samples(self) -> pd.DataFrame:
        """Return the samples of the three probabilities as a data frame with one row per draw."""
        import pandas as pd

        if self.draws is None:
            raise InputError(f"samples() needs a model over several data sets, got {self.test}: use density()")
        return pd.DataFrame(self.draws, columns=list(_REGIONS))

    def density(self, points: int = 201) -> pd.DataFrame:
        """Compute the posterior density of the difference (first minus second) on a grid.

        Parameters
        ----------
        points : int, default 201
            Number of grid points. The grid covers 99.8 % of the posterior and the region of practical equivalence.

        Returns
        -------
        DataFrame
            Columns `difference` and `density`.
        """
        import pandas as pd
        from scipy.stats import t

        _check.check_whole_number("points", points, 2)
        if np.isnan(self.scale):
            raise InputError(f"density() needs a model of the difference, got {self.test}: use samples()")
        student = t(self.df, self.mean, self.scale)
        low, high = student.ppf([0.001, 0.999])
        grid = np.linspace(min(low, -1.05 * self.rope), max(high, 1.05 * self.rope), points)
        return pd.DataFrame({"difference": grid, "density": student.pdf(grid)})

    @property
    def summary(self) -> str:
        """The probabilities, their meaning and the caveats as text."""
        return " ".join([f"{capitalize(str(self))}.", self.meaning, *render_all(self.caveats)])

    def __str__(self) -> str:
        chances = {"first better": self.p_first, "equivalent": self.p_rope, "second better": self.p_second}
        if not self.rope:
            del chances["equivalent"]
        texts = [f"P({event}) = {format_number(chance, '{:.3f}')}" for event, chance in chances.items()]
        texts += [f"rope {self.rope:g}"] if self.rope else []
        return f"{get_display_name(self.test)}: {', '.join(texts)}, n = {self.n:,}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.summary)}</p>" + format_html_table(self.frame())


def correlated_t(
    a: npt.ArrayLike, b: npt.ArrayLike, *, test_fraction: float | None = None, rope: float = 0.0, better: Better = "max"
) -> Posterior:
    """Compare two learners on one data set with the Bayesian correlated t test.

    The training sets of different folds overlap, so the scores on different folds are correlated. As an estimate of their
    correlation rho, the test uses the proportion of rows in the test set (Nadeau & Bengio 2003). The posterior distribution of
    the mean difference is a Student t distribution with n - 1 degrees of freedom (Corani & Benavoli 2015). Its squared scale is
    (1/n + rho / (1 - rho)) s^2, where s^2 is the sample variance of the differences.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Scores of the two learners on the same folds.
    test_fraction : float, optional
        Proportion of rows in each test set, e.g. 0.1 for 10-fold cross-validation, with or without repeats. Default: 1/n, which
        assumes that the scores come from the folds of one cross-validation.
    rope : float, default 0
        Half-width of the region of practical equivalence.
    better : {"max", "min"}, default "max"
        Whether larger or smaller scores are better.

    Returns
    -------
    Posterior

    See Also
    --------
    bayes_signed_rank : Compare two learners over several data sets.

    Notes
    -----
    The difference is a - b, whereas the Python package baycomp computes b - a.

    Examples
    --------
    >>> result = correlated_t([5, 7, 3], [4, 2, 6], test_fraction=1 / 3)
    >>> result.mean, round(result.variance, 4), result.df
    (1.0, 13.3333, 2.0)
    """
    first, second = read_paired_columns(a, b, min_rows=2)
    check_rope(rope, better)
    rho = 1 / len(first) if test_fraction is None else test_fraction
    _check.check_between("test_fraction", rho, 0, 1)
    caveats = [Finding.of("one_dataset_posterior")]
    if test_fraction is None:
        caveats.append(Finding.of("assumed_folds", folds=len(first)))
    delta = compute_differences(first, second)
    mean, scale = float(delta.mean()), _compute_correlated_scale(delta, rho)
    if scale == 0:
        warn_undefined("correlated_t", "all differences are equal, and their spread cannot be estimated")
        caveats.append(Finding.of("constant_differences"))
        scale = float("nan")
    chances = _compute_student_regions(mean, scale, len(delta) - 1.0, rope)
    return Posterior(
        "correlated_t",
        *order_regions(chances, better),
        rope=rope,
        n=len(delta),
        scope="dataset",
        mean=mean,
        scale=scale,
        df=len(delta) - 1.0,
        better=better,
        parameters={"mean": mean, "scale": scale, "df": len(delta) - 1.0, "correlation": rho},
        caveats=tuple(caveats),
    )


def _compute_correlated_scale(delta: FloatArray, rho: float) -> float:
    # Because of rounding errors, the computed variance of equal numbers can be slightly above zero.
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
    """Compare two learners over several data sets with the Bayesian signed-rank test.

    The test assigns Dirichlet weights to the differences and to one pseudo-observation (Benavoli et al. 2014, 2017). For each
    draw of the weights, two differences are chosen at random with these weights. The test computes the probabilities that their
    mean lies above, within or below the region of practical equivalence. `p_first` is the proportion of draws in which the
    region in favour of the first learner is the most probable one.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Scores of the two learners on the same data sets.
    rope : float, default 0
        Half-width of the region of practical equivalence. If `rope` is 0, a mean of zero counts half for each learner.
    prior_strength : float, default 0.5
        Weight of the pseudo-observation.
    prior_position : {"rope", "first", "second"}, default "rope"
        Value of the pseudo-observation: no difference, or a difference in favour of one learner.
    samples : int, default 50_000
        Number of draws.
    seed : int, default 0
        Random seed. The draws do not depend on the number of threads.
    better : {"max", "min"}, default "max"
        Whether larger or smaller scores are better.

    Returns
    -------
    Posterior
        The method `samples` of the posterior returns the draws.

    Examples
    --------
    >>> a, b = [0.84, 0.91, 0.77, 0.88, 0.69, 0.95], [0.81, 0.86, 0.78, 0.83, 0.65, 0.93]
    >>> result = bayes_signed_rank(a, b, rope=0.01, seed=1)
    >>> result.likeliest, result.p_first > 0.95
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
    # np.einsum gives the same sums as np.sum over the first axis, four times faster.
    chances, theta = compute_most_probable(draws), np.einsum("ij->j", draws) / samples
    return Posterior(
        "bayes_signed_rank",
        *chances,
        rope=rope,
        n=len(delta),
        scope="datasets",
        better=better,
        parameters={"theta_first": float(theta[0]), "theta_rope": float(theta[1]), "theta_second": float(theta[2])},
        draws=draws,
    )


def check_rope(rope: float, better: str) -> None:
    """Check the half-width of the region of practical equivalence and the direction of the scores."""
    if not 0 <= rope < np.inf:
        raise InputError(f"rope must be a finite number of at least 0, got {rope!r}: pass the half-width of the region")
    _check.check_one_of("better", better, ("max", "min"))


def order_regions(chances: tuple[float, float, float], better: Better) -> tuple[float, float, float]:
    """Return the probabilities above, within and below the rope as first, rope and second."""
    return chances if better == "max" else (chances[2], chances[1], chances[0])


def warn_undefined(test: str, reason: str) -> None:
    """Warn that the posterior is undefined."""
    warnings.warn(f"{test} is undefined and returns NaN: {reason}", UndefinedMeasureWarning, stacklevel=3)


def compute_most_probable(draws: FloatArray) -> tuple[float, float, float]:
    """Compute the proportion of draws in which each region is the most probable. Ties are split evenly."""
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
        # A single buffer stays in the cache. Allocating memory in each step would take longer than drawing the weights.
        buffer = np.empty((_STEP, len(z)), dtype=np.float32)
        for offset in range(0, len(out), _STEP):
            weights = _draw_weights(rng, buffer[: len(out) - offset], prior, strength)
            kernels.compute_regions(weights, above, below, 0.0 if rope > 0 else 0.5, out[offset : offset + _STEP])
        return out

    return np.concatenate(run_in_chunks(draw_block, samples, _BLOCK))


def _draw_weights(
    rng: np.random.Generator, buffer: npt.NDArray[np.float32], prior: int, strength: float
) -> npt.NDArray[np.float32]:
    """Fill the buffer with gamma weights.

    Dividing these weights by their sum would give Dirichlet weights. Single precision suffices because rounding errors of 2^-24
    are much smaller than the sampling error of about 0.001.
    """
    # Minus the logarithm of a uniform number is exponential. NumPy's vectorized log is faster than its ziggurat.
    # Splitting each 64-bit word into two uniform numbers is faster than drawing them one at a time.
    words = rng.integers(0, 1 << 64, -(-buffer.size // 2), dtype=np.uint64)
    kernels.fill_uniform(words.view(np.uint32), buffer)
    np.log(buffer, out=buffer)
    np.negative(buffer, out=buffer)
    if strength == 0.5:  # half the square of a standard normal number has this distribution and is faster to draw
        buffer[:, prior] = rng.standard_normal(len(buffer)) ** 2 / 2
    else:
        buffer[:, prior] = rng.standard_gamma(strength, len(buffer))
    return buffer


def _find_partners(z: FloatArray, data: FloatArray, rope: float) -> tuple[IntArray, IntArray]:
    """Find the pairs of differences whose mean lies outside the rope.

    `z` must be sorted. For each z_i, the first returned array contains the smallest index j with z_i + z_j > 2 rope. The second
    contains the number of indices j with z_i + z_j < -2 rope.
    """
    finite = np.isfinite(z)
    sums = np.where(finite[:, None] & finite[None, :], z[:, None] + z[None, :], 0.0)
    size = np.where(finite, np.abs(z), 0.0)
    # A difference can be much smaller than the two scores, but it still contains their rounding errors.
    noise = np.abs(data).max(initial=0.0)
    sums = round_noise(sums, np.maximum(np.maximum(size[:, None], size[None, :]), max(rope, noise)))
    sums[~finite, :] = z[~finite, None]
    sums[:, ~finite] = z[None, ~finite]
    limit = float(round_noise(np.array([2 * rope]), max(rope, noise))[0])
    return (sums <= limit).sum(axis=1), (sums < -limit).sum(axis=1)
