"""Bradley-Terry strengths of learners, estimated from wins on data sets (Bradley & Terry 1952)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial._findings import Finding
from fairtrial._narrative import render, render_all
from fairtrial._text import format_count, format_html_table, format_interval, format_number
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.kernels import significance as kernels
from fairtrial.measures.bootstrap import Resamples, compute_percentile_limits
from fairtrial.significance.scores import Better, ScoreTable, read_table, round_noise

if TYPE_CHECKING:
    import pandas as pd

TieHandling = Literal["half", "drop"]
Scale = Literal["elo", "log"]
# Elo points for a factor of e in the odds of winning, and the mean of the Elo scale.
_ELO, _ELO_MEAN = 400 / np.log(10), 1500.0


@dataclass(frozen=True)
class Strengths:
    """Bradley-Terry strengths of learners with bootstrap confidence limits.

    Attributes
    ----------
    learners : tuple of str
        Names of the learners.
    estimates : tuple of float
        Strength of each learner; NaN if the likelihood has no maximum.
    low, high : tuple of float
        Confidence limits of each strength.
    wins, losses : tuple of float
        Number of wins and losses of each learner.
    n : int
        Number of data sets.
    scale : {"elo", "log"}
        Scale of the strengths.
    level : float
        Confidence level.
    parameters : mapping of str to float
        The prior and the number of resamples.
    caveats : tuple of Finding
        Assumptions and limitations that apply to this result.

    Examples
    --------
    >>> strengths = bradley_terry([[0.9, 0.8], [0.8, 0.9], [0.9, 0.7], [0.7, 0.6]], scale="log", resamples=100)
    >>> strengths.wins
    (3.0, 1.0)
    """

    learners: tuple[str, ...]
    estimates: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    wins: tuple[float, ...]
    losses: tuple[float, ...]
    n: int
    scale: str
    level: float
    parameters: Mapping[str, float] = field(default_factory=dict)
    caveats: tuple[Finding, ...] = ()

    def frame(self) -> pd.DataFrame:
        """Return a data frame with one row per learner, strongest first."""
        import pandas as pd

        names = ["learner", "strength", "low", "high", "wins", "losses"]
        columns = (self.learners, self.estimates, self.low, self.high, self.wins, self.losses)
        lines = pd.DataFrame(dict(zip(names, columns, strict=True)))
        return lines.sort_values("strength", ascending=False, kind="stable", ignore_index=True)

    def chance(self, first: str, second: str) -> float:
        """Compute the probability that the first learner beats the second on a data set.

        Parameters
        ----------
        first, second : str
            Names of the learners.

        Returns
        -------
        float
        """
        for name, learner in (("first", first), ("second", second)):
            _check.check_one_of(name, learner, self.learners)
        gap = self.estimates[self.learners.index(first)] - self.estimates[self.learners.index(second)]
        return float(1 / (1 + np.exp(-gap / (_ELO if self.scale == "elo" else 1.0))))

    @property
    def summary(self) -> str:
        """The strengths, the number of data sets and the caveats as text."""
        return " ".join(
            [f"Bradley-Terry strengths over {format_count(self.n, 'data set')}: {self}.", *render_all(self.caveats)]
        )

    def __str__(self) -> str:
        number_format = "{:.0f}" if self.scale == "elo" else "{:.3f}"
        order = np.argsort(-np.array(self.estimates), kind="stable")
        texts = [
            f"{self.learners[i]} {format_number(self.estimates[i], number_format)}, "
            f"{format_interval(self.low[i], self.high[i], self.level, number_format)}"
            for i in order
        ]
        return "; ".join(texts)

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.summary)}</p>" + format_html_table(self.frame())


def bradley_terry(
    scores: pd.DataFrame | npt.ArrayLike,
    *,
    better: Better = "max",
    ties: TieHandling = "half",
    resamples: int = 1000,
    seed: int = 0,
    scale: Scale = "elo",
    prior: float = 0.1,
    level: float = 0.95,
) -> Strengths:
    """Estimate Bradley-Terry strengths of learners from their wins on data sets.

    The odds that one learner beats another are the ratio of their strengths. The strengths are fitted by the MM algorithm of
    Hunter (2004). The data sets are resampled by the bootstrap. The confidence limits are percentiles of the resulting
    estimates.

    Parameters
    ----------
    scores : DataFrame or array-like of shape (N, k)
        Scores with one row per data set and one column per learner.
    better : {"max", "min"}, default "max"
        Whether larger or smaller scores are better.
    ties : {"half", "drop"}, default "half"
        "half" counts a tie as half a win for each learner. "drop" ignores ties.
    resamples : int, default 1000
        Number of bootstrap resamples.
    seed : int, default 0
        Seed of the random numbers.
    scale : {"elo", "log"}, default "elo"
        "elo" is 400 log10 of the strength, shifted to a mean of 1500. A difference of 400 points means odds of 10 to 1. "log"
        is the natural logarithm of the strength, shifted to a mean of 0.
    prior : float, default 0.1
        Number of wins to add for each learner of each pair. Without added wins, a learner that beats all others on every data
        set would be infinitely strong. If `prior` is 0, the strengths are maximum likelihood estimates. They are NaN if the
        likelihood has no maximum.
    level : float, default 0.95
        Confidence level.

    Returns
    -------
    Strengths

    Examples
    --------
    >>> scores = [[0.9, 0.8, 0.7], [0.8, 0.9, 0.7], [0.9, 0.8, 0.6], [0.7, 0.6, 0.65]]
    >>> strengths = bradley_terry(scores, resamples=200)
    >>> strengths.frame()["learner"].tolist(), round(strengths.chance("0", "1"), 2)
    (['0', '1', '2'], 0.78)
    """
    table = read_table(scores if hasattr(scores, "columns") else np.asarray(scores), learners=2, datasets=1)
    _check.check_one_of("better", better, ("max", "min"))
    _check.check_one_of("ties", ties, ("half", "drop"))
    _check.check_one_of("scale", scale, ("elo", "log"))
    _check.check_whole_number("resamples", resamples, 2)
    _check.check_whole_number("seed", seed, 0)
    _check.check_between("level", level, 0, 1)
    if not 0 <= prior < np.inf:
        raise InputError(f"prior must be a finite number of at least 0, got {prior!r}")
    beats = _count_wins(table, better, ties)
    return _estimate_strengths(table, beats, Resamples(len(beats), resamples, seed), scale, prior, level)


def _count_wins(table: ScoreTable, better: Better, ties: TieHandling) -> FloatArray:
    """Return an array in which [d, i, j] is 1 if learner i beats learner j on data set d."""
    values = table.values if better == "max" else -table.values
    gaps = round_noise(values[:, :, None] - values[:, None, :], np.abs(values).max(axis=1)[:, None, None])
    beats = (gaps > 0) + (0.5 if ties == "half" else 0.0) * (gaps == 0)
    beats[:, np.arange(values.shape[1]), np.arange(values.shape[1])] = 0.0
    return np.asarray(beats, dtype=np.float64)


def _estimate_strengths(
    table: ScoreTable, beats: FloatArray, draws: Resamples, scale: Scale, prior: float, level: float
) -> Strengths:
    n, k = table.shape
    flat = beats.reshape(n, k * k)
    wins = beats.sum(axis=0)
    caveats = _list_strength_caveats(wins, prior)
    logs = _fit_strengths(wins[None], prior)[0]
    if np.isnan(logs).any():
        message = f"bradley_terry returns NaN. {render(caveats[0])}"
        warnings.warn(message, UndefinedMeasureWarning, stacklevel=3)
    resampled_logs = draws.compute_values(
        lambda counts: _fit_strengths((counts.astype(np.float64) @ flat).reshape(-1, k, k), prior)
    )
    limits = np.array([_compute_strength_limits(resampled_logs[:, i], level) for i in range(k)])
    if np.isnan(resampled_logs).any() and not np.isnan(logs).any():
        n_undefined = int(np.isnan(resampled_logs).any(axis=1).sum())
        caveats = (*caveats, Finding.of("undefined_strengths", undefined=n_undefined, resamples=draws.count))
    unit, mean = (_ELO, _ELO_MEAN) if scale == "elo" else (1.0, 0.0)
    return Strengths(
        learners=table.learners,
        estimates=tuple((mean + unit * logs).tolist()),
        low=tuple((mean + unit * limits[:, 0]).tolist()),
        high=tuple((mean + unit * limits[:, 1]).tolist()),
        wins=tuple(wins.sum(axis=1).tolist()),
        losses=tuple(wins.sum(axis=0).tolist()),
        n=n,
        scale=scale,
        level=level,
        parameters={"prior": prior, "resamples": draws.count},
        caveats=caveats,
    )


def _compute_strength_limits(values: FloatArray, level: float) -> tuple[float, float]:
    defined = values[~np.isnan(values)]
    return compute_percentile_limits(defined, level) if len(defined) else (float("nan"), float("nan"))


def _list_strength_caveats(wins: FloatArray, prior: float) -> tuple[Finding, ...]:
    if _is_connected(wins):
        return ()
    if prior > 0:
        return (Finding.of("separated_by_prior"),)
    return (Finding.of("separated_learners"),)


def _is_connected(wins: FloatArray) -> bool:
    """Return whether a chain of wins leads from each learner to every other learner.

    Only then does the likelihood have a maximum (Ford 1957).
    """
    from scipy.sparse.csgraph import connected_components

    return int(connected_components(wins > 0, directed=True, connection="strong")[0]) == 1


def _fit_strengths(wins: FloatArray, prior: float) -> FloatArray:
    """Fit centred log strengths for each table of wins. They are NaN if the likelihood has no maximum."""
    k = wins.shape[1]
    logs = kernels.estimate_strengths(wins + prior * (1 - np.eye(k)))
    if prior == 0:
        logs[[not _is_connected(win_table) for win_table in wins]] = np.nan
    return logs
