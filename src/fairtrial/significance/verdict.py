"""The verdict on a table of scores: one object from which sentences, tables and figures are made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray
from fairtrial._text import choose_p_format, format_p_value
from fairtrial.significance.bayes import Posterior
from fairtrial.significance.outcome import Outcome
from fairtrial.significance.posthoc import PostHoc
from fairtrial.significance.scores import Better, ScoreTable, rank_values, round_noise

if TYPE_CHECKING:
    import pandas as pd

Step = tuple[str, str, str]


@dataclass(frozen=True)
class ExcludedScores:
    """What was left out for want of scores: data sets, learners, and how many splits of the data sets that were kept."""

    datasets: tuple[str, ...] = ()
    learners: tuple[str, ...] = ()
    splits: int = 0
    used_datasets: tuple[str, ...] = ()
    planned_splits: int = 0


@dataclass(frozen=True)
class Verdict:
    """What `compare` found, and why it chose that test.

    `choice` names the test and the post-hoc procedure as this package does; `steps` are (question, answer, reason);
    `outcome` is that of the main test, `posthoc` all comparisons of three learners or more, `posterior` the Bayesian
    counterpart for two learners where a rope was given. `table` holds the scores that were used: a row for each data set, or,
    where there is only one, for each split of it (`unit` says which); `excluded` says what was read but not used.
    """

    choice: str
    p_value: float
    steps: tuple[Step, ...]
    findings: tuple[str, ...]
    outcome: Outcome
    table: ScoreTable
    better: Better = "max"
    alpha: float = 0.05
    control: str | None = None
    measure: str | None = None
    unit: str = "data set"
    posthoc: PostHoc | None = None
    posterior: Posterior | None = None
    excluded: ExcludedScores = ExcludedScores()

    @property
    def summary(self) -> str:
        """Every choice with its reason, then what was found, in plain sentences: a line for each."""
        return "\n".join([*(reason for _, _, reason in self.steps), *self.findings])

    @cached_property
    def _ranks(self) -> FloatArray:
        return self.table.compute_ranks(self.better)

    @property
    def mean_ranks(self) -> pd.Series[float]:
        """Mean rank of each learner, the best first."""
        import pandas as pd

        means = pd.Series(self._ranks.mean(axis=0), index=list(self.table.learners), name="mean rank")
        return means.sort_values(kind="stable")

    def ranks(self) -> pd.DataFrame:
        """The rank of each learner on each data set, 1 the best."""
        import pandas as pd

        return pd.DataFrame(self._ranks, index=list(self.table.datasets), columns=list(self.table.learners))

    def pairs(self) -> pd.DataFrame:
        """The comparisons: differences of mean scores and of mean ranks (first less second), p values, wins of the first.

        A difference is `significant` if `p_adjusted` is at most alpha.
        """
        import pandas as pd

        means, ranks, find_index = self.table.values.mean(axis=0), self._ranks.mean(axis=0), self.table.learners.index
        rows = []
        for first, second, p_raw, p_adjusted in self.comparisons:
            i, j = find_index(first), find_index(second)
            wins, ties, losses = self.count_wins(i, j)
            gaps = float(means[i] - means[j]), float(ranks[i] - ranks[j])
            rows.append((first, second, *gaps, p_raw, p_adjusted, bool(p_adjusted <= self.alpha), wins, ties, losses))
        names = "first second difference rank_difference p_raw p_adjusted significant wins ties losses"
        return pd.DataFrame(rows, columns=names.split())

    @property
    def comparisons(self) -> tuple[tuple[str, str, float, float], ...]:
        """First, second, raw and adjusted p value of each comparison."""
        if self.posthoc is None:
            first, second = self.table.learners
            return ((first, second, self.p_value, self.p_value),)
        return tuple(
            (comparison.first, comparison.second, comparison.p_raw, comparison.p_adjusted)
            for comparison in self.posthoc.comparisons
        )

    @property
    def pair(self) -> tuple[str, str] | None:
        """The learners that statistic, p and effect are of: the only two, or on one data set the pair with the smallest p.

        None where the main test is of all learners at once.
        """
        if self.posthoc is not None and self.unit != "split":
            return None
        first, second, *_ = self.comparisons[find_smallest([p_raw for _, _, p_raw, _ in self.comparisons])]
        return first, second

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The learners, the best first, by what the test compares: mean ranks, signed ranks or means."""
        if self.posthoc is not None:
            return self.posthoc.order
        gains = self._compute_gains(0, 1)
        lead = np.nan_to_num(_compute_rank_biserial(gains)) if self.outcome.test == "wilcoxon" else gains.mean()
        return self.table.learners if lead >= 0 else self.table.learners[::-1]

    def order_pair(self, first: str, second: str) -> tuple[str, str]:
        """Two learners, the one ahead first."""
        return (first, second) if self.order.index(first) <= self.order.index(second) else (second, first)

    def count_wins(self, first: int, second: int) -> tuple[int, int, int]:
        """Wins, ties and losses of a learner against another."""
        d = self._compute_gains(first, second)
        return int((d > 0).sum()), int((d == 0).sum()), int((d < 0).sum())

    def _compute_gains(self, first: int, second: int) -> FloatArray:
        d = round_noise(self.table.values[:, first] - self.table.values[:, second], self.table.row_scale[:, 0])
        return d if self.better == "max" else -d

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Maximal sets of learners of which no two are told apart, the best first; with a control, those not told from it."""
        if self.posthoc is not None:
            return self.posthoc.groups
        best, runner_up = self.order
        return ((best,), (runner_up,)) if self.p_value <= self.alpha else ((best, runner_up),)

    def frame(self) -> pd.DataFrame:
        """A line for each learner, the best first.

        `effect_vs_best` is the matched-pairs rank biserial correlation of the best against it: 1 where the best is better on
        every data set, 0 where gains and losses balance, NaN where the two never differ.
        """
        import pandas as pd

        values, order = self.table.values, self.mean_ranks.reindex(list(self.order))
        indices = [self.table.learners.index(name) for name in self.order]
        columns = values[:, indices]
        return pd.DataFrame(
            {
                "learner": list(order.index),
                "mean": columns.mean(axis=0),
                "median": np.median(columns, axis=0),
                "sd": columns.std(axis=0, ddof=1),
                "mean_rank": order.to_numpy(),
                "effect_vs_best": [_compute_rank_biserial(self._compute_gains(indices[0], index)) for index in indices],
            }
        )

    def __str__(self) -> str:
        parts = [self._headline, self.summary]
        parts.append(self.frame().to_string(index=False, float_format="{:.4g}".format, na_rep=""))
        if self.posthoc is not None:
            pairs = self.pairs()
            parts.append(pairs.to_string(index=False, float_format="{:.3g}".format, formatters=self._choose_p_formats(pairs)))
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        list_items = "".join(f"<li>{escape(line)}</li>" for line in self.summary.splitlines())
        html_options: dict[str, Any] = {"index": False, "escape": True, "na_rep": "", "float_format": "{:.4g}".format}
        tables = self.frame().to_html(**html_options)
        if self.posthoc is not None:
            pairs = self.pairs()
            tables += pairs.to_html(**html_options, formatters=self._choose_p_formats(pairs))
        return f"<p><b>{escape(self._headline)}</b></p><ul>{list_items}</ul>{tables}"

    @property
    def _headline(self) -> str:
        return f"{self.choice}: {format_p_value(self.p_value, self.alpha, digits=3)}"

    def _choose_p_formats(self, pairs: pd.DataFrame) -> dict[Any, Callable[[Any], str]]:
        """How the p values of the comparisons are written: none seems to lie on the other side of alpha."""
        names = ["p_raw", "p_adjusted"]
        form = choose_p_format(pairs[names].to_numpy(dtype=np.float64).ravel(), self.alpha, 3)
        return dict.fromkeys(names, lambda p: "" if np.isnan(p) else form.format(p))


def _compute_rank_biserial(gains: FloatArray) -> float:
    gains = gains[gains != 0]
    if not len(gains):
        return float("nan")
    ranks = rank_values(np.abs(gains))
    return float((np.sign(gains) * ranks).sum() / ranks.sum())


def find_smallest(p_values: Sequence[float]) -> int:
    """The place of the smallest p value, the first of equal ones; undefined ones come last.

    Adjusted values are often equal where the raw ones are not, so that it is the raw ones to look at.

    >>> find_smallest([float("nan"), 0.4, 0.2])
    2
    """
    return int(np.argmin(np.nan_to_num(np.asarray(p_values, dtype=np.float64), nan=np.inf)))


def list_pairs(learners: tuple[str, ...], control: str | None) -> list[tuple[int, int]]:
    """Places of the learners to compare: all pairs, or the control with each other one."""
    if control is None:
        return list(combinations(range(len(learners)), 2))
    control_index = learners.index(control)
    return [(control_index, index) for index in range(len(learners)) if index != control_index]
