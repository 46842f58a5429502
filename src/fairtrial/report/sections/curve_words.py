"""What the curves of a data set say, in words: of the learners of a study, or of models that were judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.report.section import Table
from fairtrial.report.sections.naming import listed
from fairtrial.report.sentence import Sentence, say, shown

if TYPE_CHECKING:
    import pandas as pd

AREA, HULL, KS, COST, WON = "area under ROC", "area under hull", "KS", "area under cost", "least cost on"
OFF = "off calibration by"


def area_of(frame: pd.DataFrame | None, x: str, y: str) -> float:
    """The area under straight lines between the points; NaN without a curve."""
    if frame is None:
        return float("nan")
    along, height = frame[x].to_numpy(np.float64), frame[y].to_numpy(np.float64)
    return float(np.sum(np.diff(along) * (height[1:] + height[:-1]) / 2))


def won_note(noun: str) -> str:
    """What the column WON means."""
    return f"Least cost on: the share of the range of probability costs on which the {noun} alone has the least expected cost."


def curve_sentences(table: Table, noun: str, about: str = "") -> tuple[Sentence, ...]:
    """Who has the largest area, and who wins where; `table` has the columns AREA and WON by name, the largest area first.

    `noun` is what a line of the table is ("learner", "model"); `about` comes first: the data set and class, where the heading
    does not say it.
    """
    frame, areas = table.frame, table.frame[AREA]
    parts: dict[str, Any] = {"area": shown(frame, table.key, frame.index[0], AREA)}
    start = ""
    if about:
        start, parts["about"] = "{about}: ", about
    ahead, behind = (listed([str(name) for name in frame.index[areas == areas.iloc[place]]]) for place in (0, -1))
    if len(frame) == 1:
        return (say(f"{start}{{ahead}} has an area under ROC of {{area}}.", ahead=ahead, **parts),)
    if areas.iloc[0] == areas.iloc[-1]:
        words = f"{start}all {noun}s with a curve have the same area under ROC, {{area}}."
        return (say(words if about else "A" + words[1:], **parts), _who_wins(table, noun))
    has = "has" if (areas == areas.iloc[0]).sum() == 1 else "have"
    parts |= {"ahead": ahead, "behind": behind, "least": shown(frame, table.key, frame.index[-1], AREA)}
    words = f"{start}{{ahead}} {has} the largest area under ROC, {{area}}, {{behind}} the smallest, {{least}}."
    return (say(words, **parts), _who_wins(table, noun))


def _who_wins(table: Table, noun: str) -> Sentence:
    """Who has the least cost where."""
    won = table.frame[WON]
    if not (won > 0).any():
        return say(f"No {noun} alone has the least expected cost anywhere.")
    leader = str(won.idxmax())
    parts: dict[str, Any] = {"leader": leader, "share": shown(table.frame, table.key, leader, WON)}
    others = [str(name) for name in won.index[won > 0] if name != leader]
    words = "{leader} has the least expected cost on a share of {share} of the range of costs"
    if not others:
        return say(f"{words}; no other {noun} has it alone anywhere.", **parts)
    words = f"Which {noun} is best depends on the costs: {words}, the largest part; elsewhere {{others}}."
    return say(words, others=" or ".join(others), **parts)
