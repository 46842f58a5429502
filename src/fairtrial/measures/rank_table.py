"""Ranks of learners under several measures, to show whether the measures disagree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairtrial import _check
from fairtrial._registry import suggest_name
from fairtrial._text import format_count, format_html_table, join_names
from fairtrial.errors import InputError
from fairtrial.measures.measure import Direction, registry

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class RankTable:
    """Ranks of learners under several measures.

    Attributes
    ----------
    ranks : DataFrame
        Ranks (1 is best), one row per learner and one column per measure.
    directions : dict of str to {"max", "min"}
        Direction of each measure.
    ties : {"min", "average"}
        Treatment of ties.

    Examples
    --------
    >>> import pandas as pd
    >>> rank_table(pd.DataFrame({"auc": [0.9, 0.8], "brier": [0.2, 0.1]}, index=["a", "b"])).mean_rank.tolist()
    [1.5, 1.5]
    """

    ranks: pd.DataFrame
    directions: dict[str, Direction]
    ties: str

    @property
    def mean_rank(self) -> pd.Series[float]:
        """The mean rank over the measures; redundant measures count separately."""
        return self.ranks.mean(axis=1)

    def count_top(self, n: int = 3) -> pd.Series[int]:
        """Count the measures under which each learner is among the best `n`.

        Parameters
        ----------
        n : int, default 3
            Largest rank that counts.

        Returns
        -------
        Series
            Number of measures for each learner.

        Examples
        --------
        >>> import pandas as pd
        >>> table = rank_table(pd.DataFrame({"auc": [0.9, 0.8, 0.7], "brier": [0.2, 0.1, 0.3]}, index=["a", "b", "c"]))
        >>> table.count_top(1).to_dict(), table.count_top(2).to_dict()
        ({'a': 1, 'b': 1, 'c': 0}, {'a': 2, 'b': 2, 'c': 0})
        """
        return (self.ranks <= _check.check_whole_number("n", n, 1)).sum(axis=1)

    def frame(self) -> pd.DataFrame:
        """Return the ranks, with their mean as the last column."""
        return self.ranks.assign(mean_rank=self.mean_rank)

    def __str__(self) -> str:
        return f"{self._format_headline()}\n{_format_rank_frame(self.frame()).to_string()}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self._format_headline())}</p>{format_html_table(_format_rank_frame(self.frame()), index=True)}"

    def _format_headline(self) -> str:
        smaller = [name for name, direction in self.directions.items() if direction == "min"]
        smaller_text = f"; lower is better for {join_names(smaller)}" if smaller else ""
        learners = format_count(len(self.ranks), "learner")
        return f"Ranks of {learners} (1 is best; ties have the {_TIES[self.ties]} rank){smaller_text}"


_TIES = {"min": "smallest", "average": "mean"}


def rank_table(
    scores: pd.DataFrame,
    *,
    directions: Mapping[str, Direction] | None = None,
    ties: Literal["min", "average"] = "min",
) -> RankTable:
    """Rank learners under each measure.

    Scores that agree to 12 significant digits are tied.

    Parameters
    ----------
    scores : DataFrame
        One row per learner, one column per measure.
    directions : mapping of str to {"max", "min"}, optional
        Whether higher or lower values are better. Default: the direction of the registered measure.
    ties : {"min", "average"}, default "min"
        "min" gives competition ranks (1, 2, 2, 4), as in printed tables. "average" gives mean ranks (1, 2.5, 2.5, 4), as in
        rank tests.

    Returns
    -------
    RankTable

    Examples
    --------
    >>> import pandas as pd
    >>> from fairtrial.measures import rank_table
    >>> scores = pd.DataFrame({"auc": [0.7, 0.59, 0.7], "rmse": [0.45, 0.43, 0.44]}, index=["NB", "C4.5", "Boost"])
    >>> rank_table(scores).frame()
           auc  rmse  mean_rank
    NB       1     3        2.0
    C4.5     3     1        2.0
    Boost    1     2        1.5
    """
    _check.check_one_of("ties", ties, _TIES)
    table = read_score_frame(scores)
    resolved_directions = _resolve_directions(list(table.columns), directions)
    ranks = table.apply(_round_column).apply(
        lambda column: column.rank(method=ties, ascending=resolved_directions[str(column.name)] == "min"),
    )
    return RankTable(ranks.astype(int) if ties == "min" else ranks, resolved_directions, ties)


def read_score_frame(scores: pd.DataFrame) -> pd.DataFrame:
    """Check that scores are numbers without missing values, and return them as a data frame.

    Each learner (row) and each measure (column) must be unique.
    """
    import pandas as pd

    if not isinstance(scores, pd.DataFrame):
        raise InputError(f"scores must be a pandas DataFrame of learners x measures, got {type(scores).__name__}")
    if scores.empty:
        raise InputError(f"scores must have at least 1 learner and 1 measure, got {scores.shape[0]} x {scores.shape[1]}")
    for axis, names in (("learner", scores.index), ("measure", scores.columns)):
        duplicates = names[names.duplicated()]
        if len(duplicates):
            raise InputError(f"scores must contain each {axis} once, got {duplicates[0]!r} more than once")
    table = pd.DataFrame(
        {str(name): _check.check_numbers(f"column {name!r} of scores", scores[name]) for name in scores.columns},
        index=scores.index,
    )
    is_missing = table.isna()
    if is_missing.to_numpy().any():
        row, column = (int(index) for index in np.argwhere(is_missing.to_numpy())[0])
        raise InputError(
            f"scores must not contain missing values, got one for {table.index[row]!r} in {table.columns[column]!r}: "
            "leave out that learner or that measure"
        )
    return table


def get_registered_directions(columns: list[str], remedy: str) -> dict[str, Direction]:
    """Return the direction of the registered measure for each column.

    Raise an InputError if a name is unknown or a measure has no direction. `remedy` is the advice for unknown names.
    """
    unknown = [name for name in columns if name not in registry]
    if unknown:
        hint = suggest_name(unknown[0], registry) if len(unknown) == 1 else ""
        hint = f"{hint} or " if hint.startswith("did you mean") else ""
        raise InputError(f"the direction of {join_names(map(repr, unknown))} is unknown: {hint}{remedy}")
    for name in columns:
        facts = registry[name].facts
        if not facts.has_direction:
            remedy = "leave it out" if facts.target is None else "replace it by the distance from this value"
            raise InputError(f"{name} cannot be ranked, because {facts.best_value}: {remedy}")
    return {name: registry[name].facts.direction for name in columns}


def _resolve_directions(columns: list[str], directions: Mapping[str, Direction] | None) -> dict[str, Direction]:
    directions = dict(directions or {})
    for name, direction in directions.items():
        if name not in columns:
            raise InputError(f"directions must contain columns of scores, got {name!r}: {suggest_name(name, columns)}")
        _check.check_one_of(f"directions[{name!r}]", direction, ("max", "min"))
    measure_directions = get_registered_directions(
        [name for name in columns if name not in directions], "pass directions={name: 'max' or 'min'}"
    )
    all_directions = {**measure_directions, **directions}
    return {name: all_directions[name] for name in columns}


def _round_column(column: pd.Series[Any]) -> pd.Series[Any]:
    return column.map(lambda value: float(f"{value:.12g}"))


def _format_rank_frame(frame: pd.DataFrame) -> pd.DataFrame:
    formatted = frame.rename(columns={"mean_rank": "mean rank"}).rename_axis(index=None)
    return formatted.map(lambda value: f"{value:.2f}".rstrip("0").rstrip("."))
