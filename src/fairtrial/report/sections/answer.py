"""The section that comes first: who is ahead, how sure that is, and whether it holds under other conditions."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.measures import get_measure
from fairtrial.report.section import Section, Table
from fairtrial.report.sections.leading import best_names, best_of, by_what
from fairtrial.report.sections.naming import (
    CLEAN,
    in_a_row,
    joined,
    judged_measure,
    listed,
    measure_words,
    told_condition,
    where_words,
)
from fairtrial.report.sections.scores import means_frame, means_key
from fairtrial.report.sections.verdict import all_judged, belief, finding, resting_on, size_of, sureness
from fairtrial.report.sections.verdict_tables import Judged
from fairtrial.report.sentence import Sentence, say, shown

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

_KINDS = {"ok": "ran well", "missing": "not run"}


def section(results: Results) -> Section:
    """Three sentences, and one more where trials failed or have not run. Their numbers are in the sections below."""
    words = measure_words(judged_measure(results))
    main, *others = all_judged(results)
    found = [_first(results, main, words), _sure(main), _elsewhere(main, others, words)]
    trials = trials_frame(results)
    tables: tuple[Table, ...] = ()
    if len(trials) > 2 or trials.index[0] != "ran well":
        found.append(_troubles(trials))
        tables = (Table("answer-trials", "How the trials went", trials),)
    return Section("answer", "The answer", tuple(each for each in found if each is not None), (), tables)


def trials_frame(results: Results) -> pd.DataFrame:
    """How many trials ended in which way, and all."""
    import pandas as pd

    counts = results.trials()["status"].astype(str).value_counts(sort=False)
    lines = {_KINDS.get(str(name), str(name)): int(number) for name, number in counts.items() if number}
    first = {name: lines[name] for name in ("ran well",) if name in lines}
    lines = first | lines | {"all": int(counts.sum())}
    return pd.DataFrame({"trials": list(lines.values())}, index=pd.Index(lines, name="status"))


def _first(results: Results, main: Judged, words: str) -> Sentence | None:
    if main.verdict is None:
        return _alone(results, main, words)
    return in_a_row([resting_on(main), finding(main, words), best_of(main, words), _size(main)])


def _size(main: Judged) -> Sentence | None:
    """The effect, where it is of the learner that the answer speaks of and one that it is told from, or of the only two."""
    verdict = main.verdict
    assert verdict is not None
    if verdict.pair is None:
        return None
    head = verdict.order[0] if verdict.control is None else verdict.control
    return size_of(main) if verdict.posthoc is None or head in verdict.pair else None


def _alone(results: Results, main: Judged, words: str) -> Sentence | None:
    """What can be said without a verdict: the mean of the only learner, or the best of several, which proves nothing."""
    measure, where = judged_measure(results), where_words(main.condition)
    reason = say("{reason}", reason=main.reason)
    if measure not in results.measures:
        return reason
    frame = means_frame(results, measure)
    told = frame["condition"] == told_condition(main.condition)
    own = frame[told & np.isfinite(frame["mean"].to_numpy(dtype=np.float64))]
    if own.empty:
        return reason
    best = best_names(own["mean"].set_axis(own.index.astype(str)), get_measure(measure).facts.direction)
    found = _mean(frame, means_key(results, measure), int(best[0]), words, where)
    among = [] if len(results.archive.learners) == 1 else [say("Of those with a mean, ")]
    return joined([reason, Sentence(" "), *among, found])


def _mean(frame: pd.DataFrame, key: str, line: int, words: str, where: str) -> Sentence:
    parts: dict[str, Any] = {"learner": frame.loc[line, "learner"], "measure": words, "where": where}
    parts["mean"] = shown(frame, key, line, "mean")
    told = "{learner} has a mean {measure} of {mean} {where}"
    if not frame.loc[line, ["low", "high"]].isna().any():
        told += ", with an interval from {low} to {high}"
        parts |= {"low": shown(frame, key, line, "low"), "high": shown(frame, key, line, "high")}
    return say(told + ".", **parts)


def _sure(main: Judged) -> Sentence | None:
    if main.verdict is None:
        return None
    return in_a_row([sureness(main), *(belief(main) if main.verdict.posterior is not None else ())])


def _elsewhere(main: Judged, others: Sequence[Judged], words: str) -> Sentence | None:
    """Who leads under each other condition at its highest level."""
    if main.verdict is None:
        others = [each for each in others if each.verdict is not None]
    if not others:
        if main.verdict is None:
            return None
        return say("No other condition was tried: how {measure} holds under noise or drift is not known.", measure=words)
    highest: dict[str, Judged] = {}
    for each in others:
        held = highest.get(each.condition.name)
        if held is None or isnan(held.condition.level) or each.condition.level > held.condition.level:
            highest[each.condition.name] = each
    return in_a_row([_under(main, each, words) for each in highest.values()])


def _under(main: Judged, other: Judged, words: str) -> Sentence:
    where, verdict = _capital(where_words(other.condition)), other.verdict
    if verdict is None:
        return say("{where} there is no verdict on {measure}.", where=where, measure=words)
    apart = any(p <= verdict.alpha for *_, p in verdict.comparisons)
    lead = verdict.order[0]
    why, found = by_what(other, words)
    parts: dict[str, Any] = {"where": where, "lead": lead, **found}
    still = ""
    if main.verdict is not None and main.condition.name == CLEAN:
        still = "still " if main.verdict.order[0] == lead else "now "
    told = f"{{where}}, {{lead}} {still}comes first{why}"
    told += _rest(verdict, parts) if apart else ", but no two learners can be told apart"
    only = "" if other.basis is None or not other.basis.left_out else ", with data sets left out (see the verdict)"
    return say(told + only + ".", **parts)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _rest(verdict: Any, parts: dict[str, Any]) -> str:
    """Whom the leader is ahead of."""
    lead = verdict.order[0]
    pairs = [verdict.in_order(first, second) for first, second, _, p in verdict.comparisons if p <= verdict.alpha]
    behind = [other for best, other in pairs if best == lead]
    if not behind:
        return ", but cannot be told from those next to it" if verdict.control is None else ""
    parts["behind"] = listed(behind)
    return ", ahead of {behind}"


def _troubles(trials: pd.DataFrame) -> Sentence:
    """How many trials failed or have not run."""
    told, parts = [], {"all": shown(trials, "answer-trials", "all", "trials", "{:,}")}
    for place, name in enumerate(each for each in trials.index if each not in ("ran well", "all")):
        part = "abcdefgh"[place]
        parts[part] = shown(trials, "answer-trials", name, "trials", "{:,}")
        verb = "has " if trials.loc[name, "trials"] == 1 else "have "
        told.append(f"{{{part}}} " + (verb + "not run" if name == "not run" else f"failed ({name})"))
    rest = ": what is said rests on the others." if "ran well" in trials.index else "."
    return say("Of {all} trials " + ", ".join(told) + rest, **parts)
