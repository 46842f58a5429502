"""The result of a run over environments: what each learner loses when it is trained here and tested there."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray, one_of
from fairtrial.errors import UndefinedMeasureWarning
from fairtrial.study.randomness import named_generator

if TYPE_CHECKING:
    import pandas as pd

_RESAMPLES = 2000
_VALUES = ("pd", "pd_low", "pd_high", "error", "error_low", "error_high", "ideal", "trivial", "loss", "loss_low", "loss_high")
Cell = tuple[str, str, str]


@dataclass(frozen=True)
class Failure:
    """A learner that raised: where, and what it said. `tested_on` is empty when training failed."""

    learner: str
    trained_on: str
    tested_on: str
    replicate: int
    kind: str
    message: str


@dataclass(frozen=True, eq=False, repr=False)
class EnvironmentMatrix:
    """Each learner, trained on one environment and tested on another. `frame()` has a line for each cell:

    - `error`: mean error rate over the replicates, with its interval (Student's t);
    - `ideal`: that of the same learner trained on the environment of the test; `trivial`: that of the trivial classifier there;
    - `loss`: error minus ideal, replicate by replicate on the same test rows, with its interval;
    - `pd`: performance deterioration of the mean errors, with its interval (percentiles over resampled replicates);
    - `replicates`: how many gave both errors; `failures`: how many the learner failed in.

    `runs()` has the errors of each replicate, `failures` what went wrong.
    """

    learners: tuple[str, ...]
    environments: tuple[str, ...]
    failures: tuple[Failure, ...]
    plan: Mapping[str, Any]
    _cells: pd.DataFrame
    _runs: pd.DataFrame

    def frame(self) -> pd.DataFrame:
        """A line for each learner, environment trained on and environment tested on."""
        return self._cells.copy()

    def runs(self) -> pd.DataFrame:
        """A line for each cell and replicate: the error rate, and the trivial one on the same rows."""
        return self._runs.copy()

    def failures_frame(self) -> pd.DataFrame:
        """A line for each failure."""
        import pandas as pd

        return pd.DataFrame([astuple(each) for each in self.failures], columns=[each.name for each in fields(Failure)])

    def matrix(self, learner: str, value: str = "pd") -> pd.DataFrame:
        """One learner's matrix: trained on (lines) by tested on (columns) of pd, error, loss or another column of numbers."""
        one_of("learner", learner, self.learners)
        one_of("value", value, _VALUES)
        own = self._cells[self._cells["learner"] == learner]
        wide = own.pivot_table(index="trained_on", columns="tested_on", values=value, dropna=False, observed=False, sort=False)
        return wide.reindex(index=self._present("trained_on"), columns=self._present("tested_on"))

    def averages(self) -> pd.DataFrame:
        """The mean pD of each learner and training environment over the other environments where it is defined."""
        others = self._cells[(self._cells["trained_on"] != self._cells["tested_on"]) & self._cells["pd"].notna()]
        grouped = others.groupby(["learner", "trained_on"], sort=False, observed=True)["pd"]
        return grouped.agg(pd="mean", environments="count").reset_index()

    def _present(self, side: str) -> Any:
        import pandas as pd

        found = set(self._cells[side])
        return pd.Index([name for name in self.environments if name in found], name=side)

    def _told(self) -> str:
        plan = self.plan
        counts = {"learner": len(self.learners), "environment": len(self.environments), "replicate": plan["replicates"]}
        told = ", ".join(_counted(count, what) for what, count in counts.items())
        told += f" of {plan['n_train']} training and {plan['n_test']} test rows"
        if not self.failures:
            return told
        first = self.failures[0]
        return f"{told}; {_counted(len(self.failures), 'failure')}, the first: {first.learner}: {first.kind}: {first.message}"

    def _shown(self, learner: str) -> pd.DataFrame:
        """pD and the error rate in per cent, as text, with the trivial error below."""
        shares, errors, trivial = (self.matrix(learner, value) for value in ("pd", "error", "trivial"))
        shown = shares.map(_two_digits) + errors.map(lambda error: f" ({_per_cent(error)})")
        shown.loc["trivial"] = [f"({_per_cent(each)})" for each in trivial.max(axis=0)]
        shown.index.name, shown.columns.name = "trained on", "tested on"
        return shown

    def __str__(self) -> str:
        parts = [f"pD (error in per cent) of {self._told()}"]
        parts += [f"\n{learner}\n{self._shown(learner).to_string()}" for learner in self.learners]
        return "\n".join(parts)

    def __repr__(self) -> str:
        return f"<EnvironmentMatrix of {self._told()}>"

    def _repr_html_(self) -> str:
        tables = [f"<h4>{escape(learner)}</h4>{self._shown(learner).to_html(escape=True)}" for learner in self.learners]
        return f"<p>pD (error in per cent) of {escape(self._told())}</p>" + "".join(tables)


def matrix_of(
    learners: Sequence[str],
    environments: Sequence[str],
    errors: Mapping[Cell, FloatArray],
    trivial: Mapping[str, FloatArray],
    failures: Sequence[Failure],
    plan: Mapping[str, Any],
) -> EnvironmentMatrix:
    """The matrix of the errors of each cell in each replicate; NaN where the learner failed."""
    import pandas as pd

    replicates = int(plan["replicates"])
    draws = named_generator(plan["seed"], "bootstrap").integers(replicates, size=(_RESAMPLES, replicates))
    counts = np.stack([np.bincount(each, minlength=replicates) for each in draws]).astype(np.float64)
    lines, runs = [], []
    for (learner, source, target), error in errors.items():
        place = {"learner": learner, "trained_on": source, "tested_on": target}
        ideal = errors[learner, target, target]
        lines.append(place | _cell(error, ideal, trivial[target], counts, float(plan["alpha"])))
        runs.append(pd.DataFrame({**place, "replicate": np.arange(replicates), "error": error, "trivial": trivial[target]}))
    cells = pd.DataFrame(lines)
    _warn_undefined(cells)
    return EnvironmentMatrix(
        tuple(learners), tuple(environments), tuple(failures), dict(plan), cells, pd.concat(runs, ignore_index=True)
    )


def _cell(error: FloatArray, ideal: FloatArray, trivial: FloatArray, counts: FloatArray, alpha: float) -> dict[str, float]:
    both = np.isfinite(error) & np.isfinite(ideal)
    facts: dict[str, float] = {}
    for name, values, low, high in (("error", error, 0.0, 1.0), ("loss", error - ideal, -1.0, 1.0)):
        middle, half = _mean(values[np.isfinite(values)], alpha)
        facts |= {name: middle, f"{name}_low": max(middle - half, low), f"{name}_high": min(middle + half, high)}
        facts |= {key: np.nan for key in (f"{name}_low", f"{name}_high") if np.isnan(half)}
    facts["ideal"] = _mean(ideal[np.isfinite(ideal)], alpha)[0]
    facts["trivial"] = float(trivial.mean())
    facts |= _deterioration(error[both], ideal[both], trivial[both], counts[:, both], alpha)
    return facts | {"replicates": int(both.sum()), "failures": int((~np.isfinite(error)).sum())}


def _mean(values: FloatArray, alpha: float) -> tuple[float, float]:
    """Mean and half the width of its interval by Student's t."""
    from scipy.stats import t

    n = len(values)
    if n == 0:
        return np.nan, np.nan
    half = float(t.ppf(1 - alpha / 2, n - 1) * values.std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan
    return float(values.mean()), half


def _deterioration(
    error: FloatArray, ideal: FloatArray, trivial: FloatArray, counts: FloatArray, alpha: float
) -> dict[str, float]:
    """pD of the mean errors, and percentiles of it over resampled replicates; none where too many of these are undefined."""
    none = {"pd": np.nan, "pd_low": np.nan, "pd_high": np.nan}
    if len(error) == 0:
        return none
    weights = counts[counts.sum(axis=1) > 0]
    weights = weights / weights.sum(axis=1, keepdims=True)
    point = _pd(error.mean(), ideal.mean(), trivial.mean())
    redrawn = _pd(weights @ error, weights @ ideal, weights @ trivial)
    if np.isnan(point) or len(error) < 2 or np.isnan(redrawn).mean() > alpha / 2:
        return none | {"pd": float(point)}
    low, high = np.nanquantile(redrawn, [alpha / 2, 1 - alpha / 2])
    return {"pd": float(point), "pd_low": float(low), "pd_high": float(high)}


def _pd(error: Any, ideal: Any, trivial: Any) -> Any:
    """The measure, without its warning: one warning for the whole matrix follows."""
    from fairtrial.measures import performance_deterioration

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        return performance_deterioration(error, ideal, trivial)


def _warn_undefined(cells: pd.DataFrame) -> None:
    bad = cells[cells["pd"].isna() & (cells["replicates"] > 0)]
    if len(bad):
        first = bad.iloc[0]
        told = f"{first['learner']} tested on {first['tested_on']}"
        why = "the learner trained on that environment does not beat the trivial classifier"
        warnings.warn(f"pD is undefined in {len(bad)} cells ({told}): {why}", UndefinedMeasureWarning, stacklevel=4)


def _two_digits(value: float) -> str:
    return "-" if np.isnan(value) else f"{round(value, 2) + 0.0:.2f}"


def _per_cent(value: float) -> str:
    return "-" if np.isnan(value) else f"{100 * value:.1f}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
