"""On how many data sets each model is ahead: by the value of the main measure, and by the test that decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.report.judged.naming import better, datasets_of, fact
from fairtrial.report.judged.pairs import order_of, turned
from fairtrial.report.section import Table
from fairtrial.report.sections.naming import listed, measure_words
from fairtrial.report.sentence import Sentence, say, shown

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study.predictions.judgement import Judgement

LEADS = "answer-leads"


def leads_table(judgement: Judgement) -> Table:
    """The table of `leads_frame`."""
    note = (
        f"First: the best {measure_words(judgement.main)} on the data set, alone. Ahead of all others: told apart from each "
        "of them by the test that decides."
    )
    return Table(LEADS, "On how many data sets each model is ahead", leads_frame(judgement), note=note)


def leads_sentences(judgement: Judgement) -> list[Sentence | None]:
    """Who is first on the most data sets, and who is ahead there by more than chance."""
    leads = leads_frame(judgement)
    return [_first(judgement, leads), _apart(leads)]


def leads_frame(judgement: Judgement) -> pd.DataFrame:
    """On how many data sets a model has the best value alone, and on how many it is ahead of all others."""
    import pandas as pd

    raw = turned(judgement)
    counts: dict[str, list[int]] = {}
    for dataset in datasets_of(judgement):
        scores = judgement.scores
        own = scores[(scores["dataset"] == dataset) & (scores["measure"] == judgement.main)].set_index("model")["estimate"]
        for model in own.index:
            counts.setdefault(str(model), [0, 0, 0])[0] += 1
        order = order_of(judgement, dataset)
        if np.isfinite(own[order[0]]) and int((own == own[order[0]]).sum()) == 1:
            counts[order[0]][1] += 1
            pairs = raw[(raw["dataset"] == dataset) & (raw["first"] == order[0]) & raw["decides"]]
            sign = 1 if better(judgement.main) == "max" else -1
            won = (pairs["adjusted"] <= judgement.alpha) & (sign * pairs["difference"] > 0)
            counts[order[0]][2] += bool(len(pairs)) and len(pairs) == len(order) - 1 and bool(won.all())
    names = ["data sets", "first", "ahead of all others"]
    frame = pd.DataFrame(counts.values(), index=pd.Index(counts, name="model"), columns=names)
    return frame.sort_values(["first", "ahead of all others"], ascending=False, kind="stable")


def _first(judgement: Judgement, leads: pd.DataFrame) -> Sentence:
    most = int(leads["first"].max())
    if not most:
        return say("No model alone has the best {measure} on any data set.", measure=measure_words(judgement.main))
    names = [str(name) for name in leads.index[leads["first"] == most]]
    parts: dict[str, Any] = {"models": listed(names), "measure": measure_words(judgement.main)}
    parts["first"] = shown(leads, LEADS, names[0], "first", "{:,}")
    parts["all"] = fact(judgement, "data sets", "{:,}")
    verb = "has" if len(names) == 1 else "each have"
    return say(f"{{models}} {verb} the best {{measure}} alone on {{first}} of {{all}} data sets.", **parts)


def _apart(leads: pd.DataFrame) -> Sentence | None:
    """On how many data sets the lead is more than chance, row by row."""
    if len(leads) < 2:
        return None
    counts = leads["ahead of all others"]
    if not counts.max():
        return say("By the rows of a data set alone, no model is ahead of all others on any.")
    names = [str(name) for name in leads.index[counts == counts.max()]]
    number = shown(leads, LEADS, names[0], "ahead of all others", "{:,}")
    verb = "is" if len(names) == 1 else "are each"
    words = f"By the rows of a data set alone, {{models}} {verb} ahead of all others on {{number}}."
    return say(words, models=listed(names), number=number)
