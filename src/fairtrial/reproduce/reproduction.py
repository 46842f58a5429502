"""What an experiment gives: tables, ours beside the published ones, claims judged by numbers, words and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pandas as pd

Scale = Literal["smoke", "quick", "full"]
SCALES: tuple[Scale, ...] = ("smoke", "quick", "full")


@dataclass(frozen=True)
class Request:
    """What is asked of an experiment: how much of it, where its files go, how many processes."""

    scale: Scale
    out: Path
    jobs: int = 1
    progress: bool | None = None
    measures: tuple[str, ...] = ()
    seed: int = 1

    def pick(self, *, smoke: Any, quick: Any, full: Any) -> Any:
        """The value of a setting at this scale."""
        return {"smoke": smoke, "quick": quick, "full": full}[self.scale]


@dataclass(frozen=True)
class Table:
    """A table with its title; `name` names its file. `note` says what its columns are and what is not comparable."""

    name: str
    title: str
    frame: pd.DataFrame
    note: str = ""
    digits: int | None = None
    shown: bool = True  # False: a file of its own only, too long for the page


@dataclass(frozen=True)
class Claim:
    """What a paper states, whether it held here (None: it cannot be judged), and by which numbers."""

    text: str
    holds: bool | None
    evidence: str

    @property
    def word(self) -> str:
        """The verdict in a word."""
        return {True: "holds", False: "does not hold", None: "open"}[self.holds]


def verdicts_told(claims: Sequence[Claim]) -> str:
    """How many claims there are, and what became of them.

    >>> verdicts_told([Claim("a", True, ""), Claim("b", None, ""), Claim("c", True, "")])
    '3 statements: 2 hold, 0 do not hold, 1 open.'
    """
    held, refused, left = (sum(claim.holds is answer for claim in claims) for answer in (True, False, None))
    one = "1 holds" if held == 1 else f"{held} hold"
    other = "1 does not hold" if refused == 1 else f"{refused} do not hold"
    return f"{len(claims)} {'statement' if len(claims) == 1 else 'statements'}: {one}, {other}, {left} open."


@dataclass(frozen=True)
class Reproduction:
    """All that came of an experiment. `left_out` tells what could not be run, and why."""

    words: tuple[str, ...]  # paragraphs: what agrees, what does not, why
    tables: tuple[Table, ...]
    claims: tuple[Claim, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)  # title -> chart
    left_out: Mapping[str, str] = field(default_factory=dict)

    def table(self, name: str) -> pd.DataFrame:
        """A table's frame by its name."""
        return next(each.frame for each in self.tables if each.name == name)
