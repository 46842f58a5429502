"""Bayesian hierarchical model for the fold scores of two learners on several data sets.

The model is that of Corani, Benavoli, Demšar, Mangili and Zaffalon (2017). A Gibbs sampler with slice-sampling steps draws from
the posterior, so Stan is not required.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial._findings import Finding
from fairtrial.errors import InputError
from fairtrial.kernels import significance as kernels
from fairtrial.kernels.compiling import run_in_chunks
from fairtrial.significance.bayes import Posterior, check_rope, compute_most_probable, warn_undefined
from fairtrial.significance.names import register_method
from fairtrial.significance.scores import Better, compute_differences

if TYPE_CHECKING:
    import pandas as pd

register_method("hierarchical", "Bayesian hierarchical model")

# Bounds of the uniform priors as multiples of the observed values (1000 in the paper).
_WIDE = 1000.0
# Lower bound of sigma_i, as a fraction of the mean standard deviation within data sets. It is needed if all differences on a
# data set are equal.
_LEAST_SD = 1e-3
_R_HAT_LIMIT = 1.05
_POPULATION = ("mu0", "sigma0", "nu")


@dataclass(frozen=True)
class HierarchicalPosterior(Posterior):
    """Posterior for the difference between two learners on the next data set.

    `HierarchicalPosterior` adds `population` and `dataset_rows` to the attributes of `Posterior`.

    Attributes
    ----------
    test, p_first, p_rope, p_second, rope, n, scope, mean, scale, df, better, parameters, caveats, draws
        See `Posterior`.
    population : ndarray of shape (samples, 3)
        Posterior draws of mu0, sigma0 and nu, the parameters of the distribution of data set means.
    dataset_rows : tuple of tuple
        Rows of the data frame that `datasets` returns.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = 0.83 + rng.normal(0, 0.02, size=(8, 10)), 0.8 + rng.normal(0, 0.02, size=(8, 10))
    >>> result = hierarchical(a, b, test_fraction=0.1, samples=500)
    >>> result.datasets().columns.tolist()
    ['dataset', 'mean', 'shrunken', 'low', 'high']
    """

    population: FloatArray = field(default_factory=lambda: np.empty((0, 3)), repr=False, compare=False)
    dataset_rows: tuple[tuple[str, float, float, float, float], ...] = field(default=(), repr=False)

    def datasets(self) -> pd.DataFrame:
        """Return the observed mean difference and its shrunken estimate for each data set.

        The columns `low` and `high` contain 95 % credible limits for the true mean difference.
        """
        import pandas as pd

        return pd.DataFrame(self.dataset_rows, columns=["dataset", "mean", "shrunken", "low", "high"])

    def density(self, points: int = 201) -> pd.DataFrame:
        """Compute the posterior density of the difference (first minus second) on the next data set.

        Parameters
        ----------
        points : int, default 201
            Number of grid points.

        Returns
        -------
        DataFrame
            Columns `difference` and `density`.
        """
        import pandas as pd
        from scipy.stats import t

        _check.check_whole_number("points", points, 2)
        if not len(self.population):
            raise InputError("density() needs a defined posterior, got one of folds without variation")
        thinned = self.population[:: max(1, len(self.population) // 1000)]
        reach = max(float(np.quantile(np.abs(thinned[:, 0]) + 4 * thinned[:, 1], 0.9)), 1.05 * self.rope)
        grid = np.linspace(-reach, reach, points)
        height = np.mean(t.pdf(grid[:, None], thinned[:, 2], thinned[:, 0], thinned[:, 1]), axis=1)
        return pd.DataFrame({"difference": grid, "density": height})


def hierarchical(
    a: pd.DataFrame | npt.ArrayLike,
    b: pd.DataFrame | npt.ArrayLike,
    *,
    test_fraction: float,
    rope: float = 0.0,
    better: Better = "max",
    alpha: tuple[float, float] = (1.0, 2.0),
    beta: tuple[float, float] = (0.01, 0.1),
    chains: int = 4,
    samples: int = 2000,
    warm_up: int = 1000,
    seed: int = 0,
) -> HierarchicalPosterior:
    """Compare two learners over several data sets with a Bayesian hierarchical model.

    Parameters
    ----------
    a, b : DataFrame or array-like of shape (q, n)
        Fold scores of the two learners, with one row per data set and one column for each fold of each repeat.
    test_fraction : float
        Proportion of rows in each test set. It is used as the correlation rho between folds.
    rope : float, default 0
        Half-width of the region of practical equivalence.
    better : {"max", "min"}, default "max"
        Whether larger or smaller scores are better.
    alpha, beta : (float, float)
        Bounds of the uniform priors on the shape (`alpha`) and rate (`beta`) of the gamma prior on nu - 1.
    chains : int, default 4
        Number of Markov chains.
    samples : int, default 2000
        Number of draws kept from each chain.
    warm_up : int, default 1000
        Number of draws discarded at the start of each chain.
    seed : int, default 0
        Random seed.

    Returns
    -------
    HierarchicalPosterior
        The probabilities refer to the next data set. `p_first` is the probability that the first learner is better, `p_rope`
        that both are practically equivalent, and `p_second` that the second learner is better. `parameters` contains the
        posterior medians of mu0, sigma0 and nu, the largest R-hat, and the smallest effective sample size. It also contains the
        proportion of draws in which each region is the most probable (`most_first`, `most_rope` and `most_second`), as in the
        baycomp package. A caveat is added if R-hat exceeds 1.05.

    Notes
    -----
    The model for the vector of differences x_i on data set i is:

    - x_i ~ multivariate normal with mean mu_i, standard deviation sigma_i and correlation rho between folds,
    - mu_i ~ Student(nu, mu0, sigma0), sigma_i ~ uniform up to 1000 times the mean standard deviation within data sets,
    - mu0 ~ uniform between minus and plus the largest absolute difference, sigma0 ~ uniform up to 1000 times the standard
      deviation of the means,
    - nu - 1 ~ gamma, with uniform priors on the shape (within `alpha`) and the rate (within `beta`).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> gain = rng.normal(0.03, 0.01, size=(8, 1))
    >>> a, b = 0.8 + gain + rng.normal(0, 0.02, size=(8, 10)), 0.8 + rng.normal(0, 0.02, size=(8, 10))
    >>> result = hierarchical(a, b, test_fraction=0.1, rope=0.01, samples=500)
    >>> result.likeliest, result.p_first > 0.8
    ('first', True)
    """
    first, second, names = _read_fold_tables(a, b)
    check_rope(rope, better)
    _check.check_between("test_fraction", test_fraction, 0, 1)
    _check_sampler(alpha, beta, chains, samples, warm_up, seed)
    delta = compute_differences(first, second)
    statistics = _summarise_folds(delta, test_fraction)
    if statistics.within == 0:
        return _build_undefined_posterior(delta, rope, better, names)
    priors = np.array([*alpha, *beta])
    mu, hyper = _run_chains(statistics, priors, chains, samples, warm_up, seed)
    return _build_posterior(statistics, mu, hyper, rope, better, names)


def _read_fold_tables(
    a: pd.DataFrame | npt.ArrayLike, b: pd.DataFrame | npt.ArrayLike
) -> tuple[FloatArray, FloatArray, list[str]]:
    tables = []
    for name, values in (("first", a), ("second", b)):
        table = _check.check_numbers(name, np.asarray(values))
        if table.ndim != 2 or table.shape[0] < 1 or table.shape[1] < 2:
            raise InputError(
                f"{name} must be a table with a row for each data set and a column for each fold, at least 2, got {table.shape}"
            )
        tables.append(_check.check_finite(name, table))
    if tables[0].shape != tables[1].shape:
        raise InputError(f"first and second must have the same shape, got {tables[0].shape} and {tables[1].shape}")
    rows = [_list_dataset_names(source, len(tables[0])) for source in (a, b)]
    if hasattr(a, "columns") and hasattr(b, "columns") and rows[0] != rows[1]:
        raise InputError("first and second must list the same data sets in the same order: sort both by name")
    return tables[0], tables[1], rows[0] if hasattr(a, "columns") else rows[1]


def _list_dataset_names(table: Any, n: int) -> list[str]:
    return [str(name) for name in (table.index if hasattr(table, "columns") else range(n))]


def _check_sampler(
    alpha: tuple[float, float], beta: tuple[float, float], chains: int, samples: int, warm_up: int, seed: int
) -> None:
    for name, bounds in (("alpha", alpha), ("beta", beta)):
        if len(bounds) != 2 or not 0 < bounds[0] < bounds[1] < np.inf:
            raise InputError(f"{name} must be two increasing numbers above 0, got {bounds!r}")
    _check.check_whole_number("chains", chains, 2)
    _check.check_whole_number("samples", samples, 10)
    _check.check_whole_number("warm_up", warm_up, 0)
    _check.check_whole_number("seed", seed, 0)


@dataclass(frozen=True)
class _FoldStatistics:
    """Mean and sum of squares of the differences on each data set, and scales for the priors.

    The normal likelihood of n equicorrelated folds depends only on these means and sums of squares. The mean has variance
    sigma^2 (1 + (n - 1) rho) / n. The sum of squares divided by sigma^2 (1 - rho) is chi-squared with n - 1 degrees of freedom.
    """

    means: FloatArray
    squares: FloatArray
    folds: int
    rho: float
    within: float
    among: float
    largest: float

    @property
    def mean_variance(self) -> float:
        """Variance of the mean difference on a data set, in units of sigma^2."""
        return (1 + (self.folds - 1) * self.rho) / self.folds

    def compute_bounds(self) -> FloatArray:
        """Compute the prior bounds: smallest and largest sigma_i, largest sigma0, and largest |mu0|."""
        return np.array([_LEAST_SD * self.within, _WIDE * self.within, _WIDE * self.among, self.largest])


def _summarise_folds(delta: FloatArray, rho: float) -> _FoldStatistics:
    means = delta.mean(axis=1)
    spread = delta - means[:, None]
    spread[np.all(delta == delta[:, :1], axis=1)] = 0.0
    within = float(np.sqrt((spread**2).mean(axis=1)).mean())
    among = float(means.std()) if len(means) > 1 else 0.0
    return _FoldStatistics(
        means, (spread**2).sum(axis=1), delta.shape[1], rho, within, among or within, float(np.abs(delta).max(initial=0.0))
    )


def _compute_log_likelihood(statistics: _FoldStatistics, mu: FloatArray, sigma: FloatArray) -> FloatArray:
    n, rho = statistics.folds, statistics.rho
    logdet = (n - 1) * np.log1p(-rho) + np.log1p((n - 1) * rho)
    quadratic = statistics.squares / (1 - rho) + (statistics.means - mu) ** 2 / statistics.mean_variance
    return np.asarray(-0.5 * (n * np.log(2 * np.pi) + logdet) - n * np.log(sigma) - quadratic / (2 * sigma**2))


def _run_chains(
    statistics: _FoldStatistics, priors: FloatArray, chains: int, samples: int, warm_up: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Draw the data set means and the population parameters from the posterior."""

    def run_numbered_chain(number: int, _: int) -> tuple[FloatArray, FloatArray]:
        rng = np.random.default_rng([seed, number])
        squares = statistics.squares / (1 - statistics.rho)
        return kernels.run_chain(
            rng,
            statistics.means,
            squares,
            statistics.folds,
            statistics.mean_variance,
            statistics.among,
            statistics.compute_bounds(),
            priors,
            samples,
            warm_up,
        )

    chain_draws = run_in_chunks(run_numbered_chain, chains, 1)
    return np.array([mu for mu, _ in chain_draws]), np.array([hyper for _, hyper in chain_draws])


def _build_posterior(
    statistics: _FoldStatistics, mu: FloatArray, hyper: FloatArray, rope: float, better: Better, names: list[str]
) -> HierarchicalPosterior:
    population = hyper.reshape(-1, 3)
    draws = _predict_next_dataset(population, rope, better)
    r_hats = [compute_r_hat(hyper[:, :, i]) for i in (0, 1)] + [compute_r_hat(mu[:, :, i]) for i in range(mu.shape[2])]
    sizes = [compute_effective_size(hyper[:, :, i]) for i in (0, 1)]
    first, middle, second = draws.mean(axis=0).tolist()
    region_proportions = compute_most_probable(draws)
    parameters = dict(zip(_POPULATION, np.median(population, axis=0).tolist(), strict=True))
    parameters |= {"r_hat": float(np.max(r_hats)), "effective_size": float(np.min(sizes))}
    parameters |= {
        "most_first": region_proportions[0],
        "most_rope": region_proportions[1],
        "most_second": region_proportions[2],
    }
    return HierarchicalPosterior(
        "hierarchical",
        first,
        middle,
        second,
        rope=rope,
        n=len(names),
        scope="next dataset",
        better=better,
        parameters=parameters,
        caveats=_list_hierarchical_caveats(statistics, parameters, names),
        draws=draws,
        population=population,
        dataset_rows=_summarise_datasets(statistics, mu.reshape(-1, mu.shape[2]), names),
    )


def _predict_next_dataset(population: FloatArray, rope: float, better: Better) -> FloatArray:
    from scipy.special import stdtr

    mu0, sigma0, nu = population.T
    above, below = stdtr(nu, (mu0 - rope) / sigma0), stdtr(nu, (-rope - mu0) / sigma0)
    middle = np.maximum(0.0, 1 - above - below) if rope > 0 else np.zeros(len(mu0))
    return np.column_stack([above, middle, below] if better == "max" else [below, middle, above])


def _summarise_datasets(
    statistics: _FoldStatistics, mu: FloatArray, names: list[str]
) -> tuple[tuple[str, float, float, float, float], ...]:
    limits = np.quantile(mu, [0.025, 0.975], axis=0).T.tolist()
    rows = zip(names, statistics.means.tolist(), mu.mean(axis=0).tolist(), limits, strict=True)
    return tuple((name, mean, shrunken, low, high) for name, mean, shrunken, (low, high) in rows)


def _list_hierarchical_caveats(
    statistics: _FoldStatistics, parameters: dict[str, float], names: list[str]
) -> tuple[Finding, ...]:
    caveats = []
    if not parameters["r_hat"] <= _R_HAT_LIMIT:
        caveats.append(Finding.of("chains_not_converged", r_hat=parameters["r_hat"]))
    if len(names) < 3:
        caveats.append(Finding.of("few_datasets_for_prediction", datasets=len(names)))
    constant = [name for name, square in zip(names, statistics.squares, strict=True) if square == 0]
    if constant:
        caveats.append(Finding.of("constant_folds", datasets=tuple(constant)))
    return tuple(caveats)


def _build_undefined_posterior(delta: FloatArray, rope: float, better: Better, names: list[str]) -> HierarchicalPosterior:
    warn_undefined("hierarchical", "all differences within each data set are equal, and their spread cannot be estimated")
    nan = float("nan")
    dataset_rows = tuple((name, float(mean), nan, nan, nan) for name, mean in zip(names, delta.mean(axis=1), strict=True))
    return HierarchicalPosterior(
        "hierarchical",
        nan,
        nan,
        nan,
        rope,
        len(names),
        scope="next dataset",
        better=better,
        caveats=(Finding.of("constant_differences_within"),),
        dataset_rows=dataset_rows,
    )


def compute_r_hat(chains: FloatArray) -> float:
    """Compute the split R-hat of a parameter (Gelman et al. 2013)."""
    half = chains.shape[1] // 2
    halves = np.concatenate([chains[:, :half], chains[:, -half:]])
    within = halves.var(axis=1, ddof=1).mean()
    between = halves.mean(axis=1).var(ddof=1)
    return float(np.sqrt((half - 1) / half + between / within)) if within > 0 else float("nan")


def compute_effective_size(chains: FloatArray) -> float:
    """Compute the effective sample size of a parameter, using Geyer's initial monotone sequence."""
    m, n = chains.shape
    centred = chains - chains.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, 2 * n, axis=1)
    covariance = np.fft.irfft(spectrum * np.conj(spectrum), axis=1)[:, :n].mean(axis=0) / n
    pooled = covariance[0] + (chains.mean(axis=1).var(ddof=1) if m > 1 else 0.0)
    if not pooled > 0:
        return float("nan")
    correlation = 1 - (covariance[0] - covariance) / pooled
    pairs = correlation[: n // 2 * 2].reshape(-1, 2).sum(axis=1)
    stop = int(np.argmax(pairs < 0)) if (pairs < 0).any() else len(pairs)
    tau = 2 * np.minimum.accumulate(pairs[:stop]).sum() - 1
    return float(min(m * n / max(tau, 1e-12), m * n * np.log10(m * n)))
