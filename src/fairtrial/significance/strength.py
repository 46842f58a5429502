"""Strengths of many learners on one scale, from who beats whom on how many data sets (Bradley & Terry 1952)."""

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
from fairtrial._text import format_count
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.kernels import significance as kernels
from fairtrial.measures.bootstrap import Resamples, compute_percentile_limits
from fairtrial.significance.scores import Better, ScoreTable, read_table, round_noise

if TYPE_CHECKING:
    import pandas as pd

TieHandling = Literal["half", "drop"]
Scale = Literal["elo", "log"]
# Elo points for a factor of e in the odds of winning, and the mean of the scale.
_ELO, _ELO_MEAN = 400 / np.log(10), 1500.0


@dataclass(frozen=True)
class Strengths:
    """Bradley-Terry strengths, one for each learner, with bootstrap limits over data sets."""

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
        """A line for each learner, the strongest first."""
        import pandas as pd

        names = ["learner", "strength", "low", "high", "wins", "losses"]
        columns = (self.learners, self.estimates, self.low, self.high, self.wins, self.losses)
        lines = pd.DataFrame(dict(zip(names, columns, strict=True)))
        return lines.sort_values("strength", ascending=False, kind="stable", ignore_index=True)

    def chance(self, first: str, second: str) -> float:
        """The chance that the first beats the second on a data set, by the model."""
        for name, learner in (("first", first), ("second", second)):
            _check.check_one_of(name, learner, self.learners)
        gap = self.estimates[self.learners.index(first)] - self.estimates[self.learners.index(second)]
        return float(1 / (1 + np.exp(-gap / (_ELO if self.scale == "elo" else 1.0))))

    @property
    def summary(self) -> str:
        """Strengths, number of data sets and caveats as text."""
        return " ".join([f"{self}, {format_count(self.n, 'data set')}.", *render_all(self.caveats)])

    def __str__(self) -> str:
        lines = self.frame().itertuples(index=False)
        form = ".0f" if self.scale == "elo" else ".3f"
        return ", ".join(f"{row.learner} {row.strength:{form}} ({row.low:{form}} to {row.high:{form}})" for row in lines)

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.summary)}</p>" + self.frame().to_html(index=False)


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
    """Bradley-Terry strengths of learners, from wins over data sets, by Hunter's MM algorithm (2004).

    `scores` has a row for each data set and a column for each learner. The odds that one learner beats another are the ratio of
    their strengths. `ties` count half for both sides, or are dropped. `scale="elo"` gives 400 log10 of the strength around a
    mean of 1500 (400 points are odds of 10 to 1), `"log"` natural logarithms around 0.

    A learner that beats all others everywhere would be infinitely strong; so each pair starts with `prior` wins for either
    side, a tenth of a data set. `prior=0` gives the maximum of the likelihood, or NaN where there is none. Intervals are
    percentiles of a bootstrap over data sets, which are what varies.

    >>> scores = [[0.9, 0.8, 0.7], [0.8, 0.9, 0.7], [0.9, 0.8, 0.6], [0.7, 0.6, 0.65]]
    >>> found = bradley_terry(scores, resamples=200)
    >>> found.frame()["learner"].tolist(), round(found.chance("0", "1"), 2)
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
    """beats[d, i, j]: 1 if i beats j on data set d, half or nothing for a tie."""
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
    """Whether a chain of wins leads from each learner to each other, so that the likelihood has a maximum (Ford 1957)."""
    from scipy.sparse.csgraph import connected_components

    return int(connected_components(wins > 0, directed=True, connection="strong")[0]) == 1


def _fit_strengths(wins: FloatArray, prior: float) -> FloatArray:
    """Log strengths, centred, for each table of wins; NaN where the likelihood has no maximum."""
    k = wins.shape[1]
    logs = kernels.estimate_strengths(wins + prior * (1 - np.eye(k)))
    if prior == 0:
        logs[[not _is_connected(win_table) for win_table in wins]] = np.nan
    return logs
