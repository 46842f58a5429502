"""Statements on bagging and boosting, each judged by what an ensemble gains on its single learner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial.reproduce.estimates.ensembles import BASES
from fairtrial.reproduce.estimates.telling import told
from fairtrial.reproduce.interval import Interval, all_above
from fairtrial.reproduce.reproduction import Claim

if TYPE_CHECKING:
    import pandas as pd

_STABLE = ("bagged naive Bayes", "bagged nearest neighbour")


def claims_on_ensembles(frame: pd.DataFrame) -> list[Claim]:
    """Whether they gain, and on which base learner."""
    gained = frame[frame["learner"].isin(["bagged C4.5", "boosted C4.5"])]
    outperform = all_above(_intervals(gained).values())
    return [
        Claim(
            "Bagging and boosting outperform the single classifier: on every problem C4.5 with them errs less than without",
            outperform,
            f"points gained: {_gains(gained)}",
        ),
        _unstable(frame),
    ]


def _unstable(frame: pd.DataFrame) -> Claim:
    """Whether bagging gains more on trees than on naive Bayes and on what Breiman (1996) calls stable.

    All learn from the same samples: two gains differ where their intervals lie apart, which is safe whatever they share.
    """
    gains = _intervals(frame.dropna(subset=["gain"]))
    trees = {problem: each for (problem, learner), each in gains.items() if learner == "bagged C4.5"}
    more = [
        Interval(tree.value - other.value, tree.low - other.high, tree.high - other.low)
        for problem, tree in trees.items()
        for other in (gains[problem, name] for name in _STABLE)
    ]
    return Claim(
        "Not in the chapter, after Breiman 1996: bagging gains more, on every problem, for trees than for naive Bayes and for "
        "the nearest neighbour, which he calls stable; the chapter says only that the gain depends on how unstable the base "
        "learner is",
        all_above(more),
        f"{_variances(frame)}; points gained: {_gains(frame[frame['learner'].isin(['bagged C4.5', *_STABLE])])}",
    )


def _variances(frame: pd.DataFrame) -> str:
    """How much the single learners move with the sample; one that moves more than half as much as trees is not stable."""
    names = ["C4.5", *(BASES[name] for name in _STABLE)]
    own = frame[frame["learner"].isin(names)].groupby("learner", sort=False)["variance"].mean().mul(100)
    moving = [name for name in names[1:] if own[name] > own["C4.5"] / 2]
    numbers = ", ".join(f"{name} {own[name]:.1f}" for name in names)
    aside = "".join(f"; {name}, with more than half of the variance of C4.5, is not stable here" for name in moving)
    return f"variance of the single learners in points, mean over problems: {numbers}{aside}"


def _intervals(lines: pd.DataFrame) -> dict[tuple[str, str], Interval]:
    """The gain of each problem and ensemble."""
    return {
        (row["problem"], row["learner"]): Interval(row["gain"], row["low"], row["high"]) for row in lines.to_dict("records")
    }


def _gains(lines: pd.DataFrame) -> str:
    return "; ".join(f"{learner}, {problem} {told(each, 1)}" for (problem, learner), each in _intervals(lines).items())
