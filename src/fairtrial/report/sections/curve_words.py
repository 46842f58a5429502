"""What the curves of a data set say, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtrial.report.section import Table
from fairtrial.report.sentence import Sentence, say, shown

if TYPE_CHECKING:
    from fairtrial.study.archive import DataFacts

AREA, WON = "area under ROC", "least cost on"


def curve_sentences(table: Table, facts: DataFacts, label: object) -> tuple[Sentence, ...]:
    """Who has the largest area, and who wins where; `table` has the columns AREA and WON by learner, the largest area first."""
    frame = table.frame
    first, last = str(frame.index[0]), str(frame.index[-1])
    areas = frame[AREA]
    parts: dict[str, Any] = {"data": facts.name, "label": label, "area": shown(frame, table.key, first, AREA)}
    about = "{data}, class {label}" if int((facts.counts > 0).sum()) <= 2 else "{data}, class {label} against the rest"
    if len(frame) == 1:
        return (say(f"{about}: {{first}} has an area under ROC of {{area}}.", first=first, **parts),)
    if areas.iloc[0] == areas.iloc[-1]:
        return (say(f"{about}: all learners with a curve have the same area under ROC, {{area}}.", **parts), _who_wins(table))
    parts |= {"last": last, "least": shown(frame, table.key, last, AREA)}
    ahead = [str(name) for name in frame.index[areas == areas.iloc[0]]]
    has = "{ahead} has" if len(ahead) == 1 else "{ahead} have"
    words = f"{about}: {has} the largest area under ROC, {{area}}, {{last}} the smallest, {{least}}."
    return (say(words, ahead=" and ".join(ahead), **parts), _who_wins(table))


def _who_wins(table: Table) -> Sentence:
    won = table.frame[WON]
    if not (won > 0).any():
        return say("No learner alone has the least expected cost anywhere.")
    leader = str(won.idxmax())
    parts: dict[str, Any] = {"leader": leader, "share": shown(table.frame, table.key, leader, WON)}
    others = [str(name) for name in won.index[won > 0] if name != leader]
    words = "{leader} has the least expected cost on a share of {share} of the range of costs"
    if not others:
        return say(f"{words}; no other learner has it alone anywhere.", **parts)
    return say(
        f"Which learner is best depends on the costs: {words}, the largest part; elsewhere {{others}}.",
        others=" or ".join(others),
        **parts,
    )
