"""The section that comes first: who is ahead, how sure that is, and whether it holds under other conditions."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.measures import get_measure
from fairtrial.report.section import Section, Table
from fairtrial.report.sections.naming import CLEAN, joined, judged_measure, listed, measure_words, told_condition, where_words
from fairtrial.report.sections.scores import means_frame, means_key
from fairtrial.report.sections.verdict import all_judged, belief, finding, names_pair, size_of, sureness
from fairtrial.report.sections.verdict_tables import Judged, learners_frame
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
    notes = (main.reason,) if main.verdict is None else ()
    return Section("answer", "The answer", tuple(each for each in found if each is not None), (), tables, notes)


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
    size = size_of(main) if names_pair(main.verdict) else None
    return joined([finding(main, words), _by_how_much(main, words), *([Sentence(" "), size] if size else [])])


def _by_how_much(main: Judged, words: str) -> Sentence:
    """Who has the best mean rank and who the best mean, which need not be the same learner."""
    verdict = main.verdict
    assert verdict is not None
    frame, key = learners_frame(verdict), f"{main.key}-learners"
    ranked, scored = _best(frame["mean rank"], "min"), _best(frame["mean"], verdict.better)
    parts: dict[str, Any] = {"measure": words, "ranked": listed(ranked), "scored": listed(scored)}
    parts["rank"] = shown(frame, key, ranked[0], "mean rank", "{:.2f}")
    parts["mean"] = shown(frame, key, scored[0], "mean", "{:.3f}")
    if ranked == scored:
        have = "has" if len(ranked) == 1 else "have"
        told = f" {{ranked}} {have} the best mean {{measure}}, {{mean}}, and the best mean rank, {{rank}}."
        return say(told, **{name: part for name, part in parts.items() if name != "scored"})
    told = (
        " {scored} "
        + ("has" if len(scored) == 1 else "have")
        + " the best mean {measure}, {mean}, but {ranked} the best mean rank, {rank}."
    )
    return say(told, **parts)


def _best(values: pd.Series[float], better: str) -> list[str]:
    """The names of the best, float noise left aside."""
    calm = values.round(12)
    return [str(name) for name in values.index[calm == (calm.max() if better == "max" else calm.min())]]


def _alone(results: Results, main: Judged, words: str) -> Sentence | None:
    """What can be said without a verdict: the mean of the only learner, or the best of several, which proves nothing."""
    measure, where = judged_measure(results), where_words(main.condition)
    if measure not in results.measures:
        return say("There is no verdict on {measure} {where}.", measure=words, where=where)
    frame = means_frame(results, measure)
    told = frame["condition"] == told_condition(main.condition)
    own = frame[told & np.isfinite(frame["mean"].to_numpy(dtype=np.float64))]
    if own.empty:
        return say("Nothing can be said of {measure} {where}: no learner has a mean.", measure=words, where=where)
    best = _best(own["mean"].set_axis(own.index.astype(str)), get_measure(measure).facts.direction)
    found = _mean(frame, means_key(results, measure), int(best[0]), words, where)
    if len(results.archive.learners) == 1:
        return found
    return joined([say("The learners cannot be judged against each other. Of those with a mean, "), found])


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
    return joined([each for one in (sureness(main), *belief(main)) for each in (one, Sentence(" "))][:-1])


def _elsewhere(main: Judged, others: Sequence[Judged], words: str) -> Sentence:
    """Who leads under each other condition at its highest level."""
    if not others:
        return say("No other condition was tried: how {measure} holds under noise or drift is not known.", measure=words)
    highest: dict[str, Judged] = {}
    for each in others:
        held = highest.get(each.condition.name)
        if held is None or isnan(held.condition.level) or each.condition.level > held.condition.level:
            highest[each.condition.name] = each
    return joined([part for each in highest.values() for part in (_under(main, each, words), Sentence(" "))][:-1])


def _under(main: Judged, other: Judged, words: str) -> Sentence:
    where, verdict = _capital(where_words(other.condition)), other.verdict
    if verdict is None:
        return say("{where} there is no verdict on {measure}.", where=where, measure=words)
    apart = any(p <= verdict.alpha for *_, p in verdict.comparisons)
    lead, frame = verdict.order[0], learners_frame(verdict)
    parts: dict[str, Any] = {"where": where, "lead": lead, "measure": words}
    parts["mean"] = shown(frame, f"{other.key}-learners", lead, "mean", "{:.3f}")
    still = ""
    if main.verdict is not None and main.condition.name == CLEAN:
        still = "still " if main.verdict.order[0] == lead else "now "
    told = f"{{where}}, {{lead}} {still}comes first, with a mean {{measure}} of {{mean}}"
    return say(told + (_rest(verdict, parts) if apart else ", but no two learners can be told apart") + ".", **parts)


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
