"""A study on one page: what ran, the means, what failed, and the verdict in words."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.significance.scores import counted
from fairtrial.significance.telling import p_text
from fairtrial.study.results.choosing import told_condition
from fairtrial.study.results.shared_splits import left_out_note

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study.results.results import Results

_FOOT = "* Data sets on which a trial of this learner failed, or on which it has no mean, are left out."


@dataclass(frozen=True, eq=False)
class ResultSummary:
    """`means` has, for each measure, a table of learners by conditions as text; `verdict` are the words of the verdict."""

    title: str
    means: Mapping[str, pd.DataFrame]
    notes: Sequence[str]
    about: str
    verdict: str

    def __str__(self) -> str:
        tables = [f"{name}\n{table.to_string()}" for name, table in self.means.items()]
        return "\n\n".join(part for part in [self.title, *tables, self._told(), f"{self.about}\n{self.verdict}"] if part)

    def _told(self) -> str:
        holes = any(text.endswith("*") for table in self.means.values() for text in table.to_numpy().ravel())
        return "\n".join([*([_FOOT] if holes else []), *self.notes])

    def _repr_html_(self) -> str:
        tables = [f"<h4>{escape(name)}</h4>{table.to_html(escape=True)}" for name, table in self.means.items()]
        told = "".join(f"<p>{escape(line)}</p>" for line in self._told().splitlines())
        words = "".join(f"<li>{escape(line)}</li>" for line in self.verdict.splitlines())
        return f"<p>{escape(self.title)}</p>{''.join(tables)}{told}<p><b>{escape(self.about)}</b></p><ul>{words}</ul>"


def title_of(results: Results) -> str:
    """What was run, in numbers."""
    archive = results.archive
    parts = {"data set": archive.datasets, "condition": archive.conditions, "learner": archive.learners}
    told = ", ".join(counted(len(each), what) for what, each in parts.items())
    return f"{archive.name}: {told}, {counted(len(results.trials()), 'trial')}"


def summarise(results: Results) -> ResultSummary:
    """The summary of results; where there can be no verdict it says why."""
    archive, means = results.archive, {}
    for name in results.measures:
        tables = {told_condition(each): results.wide(name, each.name, each.level) for each in archive.conditions}
        means[name] = shown_means(tables, len(archive.datasets))
    try:
        with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
            verdict = results.verdict()
        how_sure = p_text(verdict.p_value, verdict.alpha)
        about, words = f"Verdict on {verdict.measure}: {verdict.choice}, {how_sure}", verdict.words
    except InputError as error:
        about, words = "No verdict", str(error)
    return ResultSummary(title_of(results), means, [*results.notes, *_left_out(results)], about, words)


def _left_out(results: Results) -> list[str]:
    with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
        told = [left_out_note(results.scores(name), results.archive.conditions) for name in results.measures]
    return [note for note in told if note]


def shown_means(tables: Mapping[str, pd.DataFrame], datasets: int) -> pd.DataFrame:
    """Learners by conditions: the mean over data sets as text, starred where it lacks some of them.

    `tables` has for each condition the table of data sets by learners.
    """
    import pandas as pd

    columns = {}
    for condition, table in tables.items():
        known = table.notna().sum()
        columns[condition] = [
            f"{table[name].mean():.4f}{'*' if known[name] < datasets else ''}" if known[name] else "-*"
            for name in table.columns
        ]
    learners = next(iter(tables.values())).columns
    return pd.DataFrame(columns, index=list(learners))
