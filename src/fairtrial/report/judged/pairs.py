"""Paired tests between models on the rows that both predict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.report.judged.naming import (
    ALPHA,
    TESTS,
    datasets_of,
    fact,
    models_of,
    told_tests,
    without_lone_set,
)
from fairtrial.report.section import Figure, Section, Table
from fairtrial.report.sections.naming import measure_words
from fairtrial.report.sentence import Sentence, p_form, say, shown
from fairtrial.study.predictions import judged_order

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study.predictions.judgement import Judgement

KEY, COUNTS = "pairs-all", "pairs-counts"
_MOST_DRAWN = 60
_NAMES = {"p_value": "p", "adjusted": "adjusted p", "floor": "p at its floor"}
_FORMATS = dict.fromkeys(["difference", "low", "high"], "{:z.4f}")


def section(judgement: Judgement) -> Section | None:
    """All tests; None for one model alone."""
    if len(models_of(judgement)) < 2:
        return None
    if not len(judgement.pairs):
        unpaired = judgement.predictions is None and judgement.roles.get("model") and not judgement.roles.get("row")
        why = "no column tells the rows apart" if unpaired else "no two models both give labels, or both give scores"
        return Section("pairs", "Paired tests", (say("No pair of models could be tested: {why}.", why=why),))
    frame = all_frame(judgement)
    note = (
        "The first model of a pair is the one with the better value of the main measure; the difference is first less second. "
        "Intervals are of each pair alone; adjusted p: Holm's procedure over the pairs of a data set, for each test. At its "
        "floor p is the smallest that the resamples can give: it is at most that. The permutation test has no interval. The "
        "test that decides is the one that fits the main measure."
    )
    p_values = frame[["p", "adjusted p"]].to_numpy(dtype=np.float64).ravel()
    formats = _FORMATS | dict.fromkeys(["p", "adjusted p"], p_form(p_values, judgement.alpha))
    tables = (counts_table(frame), Table(KEY, "Every test of every pair", frame, formats, note, None, True))
    return Section("pairs", "Paired tests", _words(judgement, frame), _figures(judgement), tables)


def order_of(judgement: Judgement, dataset: str) -> list[str]:
    """Models of a data set, the best by the main measure first; those without a value come last."""
    return judged_order.order_of(judgement.scores, dataset, judgement.main)


def turned(judgement: Judgement) -> pd.DataFrame:
    """The pairs, each with the model first that has the better value of the main measure; lines as in `judgement.pairs`."""
    return judged_order.turned(judgement.pairs, judgement.scores, judgement.main)


def all_frame(judgement: Judgement) -> pd.DataFrame:
    """The frame of the table of all tests; its lines are those of `judgement.pairs`."""
    pairs = turned(judgement)
    found = pairs.assign(
        test=[TESTS.get(name, name).removeprefix("the ") for name in pairs["test"]],
        apart=["yes" if p <= judgement.alpha else "no" for p in pairs["adjusted"]],
        decides=["yes" if each else "no" for each in pairs["decides"]],
        floor=["at most" if each else "" for each in pairs["floor"]],
    )
    shape = [
        "dataset",
        "first",
        "second",
        "test",
        "measure",
        "difference",
        "low",
        "high",
        "adjusted",
        "apart",
        "decides",
        "p_value",
        "floor",
    ]
    frame = found[[*shape, "rows", "note"]].rename(columns=_NAMES | {"apart": "told apart"})
    return without_lone_set(frame, len(datasets_of(judgement)) > 1)


def counts_table(frame: pd.DataFrame) -> Table:
    """How many pairs each test tells apart."""
    found = frame.assign(apart=frame["told apart"] == "yes").groupby("test", sort=False)["apart"].agg(["size", "sum"])
    counts = found.set_axis(["pairs", "told apart"], axis=1).astype(int)
    counts["decides"] = frame.groupby("test", sort=False)["decides"].agg(lambda each: "yes" if "yes" in set(each) else "no")
    return Table(COUNTS, "How many pairs each test tells apart", counts)


def _words(judgement: Judgement, frame: pd.DataFrame) -> tuple[Sentence, ...]:
    counts = counts_table(frame).frame
    deciding = [str(name) for name in judgement.pairs.loc[judgement.pairs["decides"], "test"].unique()]
    measure = measure_words(judgement.main)
    if not deciding:
        return (say("None of these tests is about {measure}, so that none decides.", measure=measure),)
    told = [say("By {measure}, {tests} decides.", measure=measure, tests=told_tests(deciding))]
    for name in deciding:
        line = TESTS.get(name, name).removeprefix("the ")
        parts: dict[str, Any] = {
            "pairs": shown(counts, COUNTS, line, "pairs", "{:,}"),
            "apart": shown(counts, COUNTS, line, "told apart", "{:,}"),
            "alpha": fact(judgement, ALPHA),
        }
        told.append(say("It tells {apart} of {pairs} pairs apart at alpha {alpha}.", **parts))
    own = frame[frame["measure"] == judgement.main]
    return (*told, _agreement(own, measure)) if (own["decides"] == "no").any() else tuple(told)


def _agreement(own: pd.DataFrame, measure: str) -> Sentence:
    """Whether the tests of the main measure that do not decide agree with the one that does."""
    keys = [name for name in ("data set", "first", "second") if name in own]
    both = own.groupby(keys, sort=False)["told apart"].nunique()
    if (both == 1).all():
        return say("The other tests of {measure} agree with it on every pair.", measure=measure)
    where = "data set" in keys
    names = [" and ".join(map(str, each[-2:])) + (f" on {each[0]}" if where else "") for each in both.index[both > 1]]
    few = ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")
    return say("The tests of {measure} do not all agree on {pairs}: treat these with care.", measure=measure, pairs=few)


def _figures(judgement: Judgement) -> tuple[Figure, ...]:
    """The differences of the test that decides, with their intervals: as many as there is room for."""
    from fairtrial.report.curves import draw_intervals

    pairs = turned(judgement).rename(columns={"difference": "estimate"})
    pairs = pairs[pairs["decides"] & np.isfinite(pairs[["estimate", "low", "high"]].to_numpy(dtype=np.float64)).all(axis=1)]
    several, measure = len(datasets_of(judgement)) > 1, measure_words(judgement.main)
    own = pairs.head(_MOST_DRAWN)
    if own.empty:
        return ()
    if several:
        own = own.assign(second=[f"{second} on {name}" for second, name in zip(own["second"], own["dataset"], strict=True)])
    few = "" if len(own) == len(pairs) else f" (the first {len(own)} of {len(pairs):,} pairs)"
    title = f"Differences in {measure}, first less second{few}"
    frame = own[["first", "second", "estimate", "low", "high"]].reset_index(drop=True)
    alt = f"Dots and intervals: the difference in {measure} of each pair of models. The table has the same numbers."
    return (Figure("pairs-differences", title, draw_intervals(frame, title=title), alt, frame),)
