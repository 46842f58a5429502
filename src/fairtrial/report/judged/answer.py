"""The answer: who is ahead, how sure that is, by which test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.report.judged.leads import leads_sentences, leads_table
from fairtrial.report.judged.measures import KEY as MEASURES, all_frame as measures_frame
from fairtrial.report.judged.naming import ALPHA, LEVEL, better, datasets_of, fact, told_tests
from fairtrial.report.judged.pairs import KEY as PAIRS, all_frame as pairs_frame, order_of, turned
from fairtrial.report.section import Section, Table
from fairtrial.report.sections.naming import joined, listed, measure_words
from fairtrial.report.sentence import Sentence, p_shown, say, shown
from fairtrial.study.predictions.judged_positive import worse_than_guessing
from fairtrial.study.predictions.judged_words import disagreement

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study.predictions.judgement import Judgement

_MOST_NAMED = 4


def section(judgement: Judgement) -> Section:
    """Of one data set what its rows say; of several how the models stand over them; and the verdict, where there is one."""
    datasets = datasets_of(judgement)
    found: list[Sentence | None]
    tables: tuple[Table, ...] = ()
    if len(datasets) == 1:
        found = list(of_data_set(judgement, datasets[0]))
        found += [] if judgement.verdict is None else [_over(judgement)]
    else:
        found = [_over(judgement), *leads_sentences(judgement), *_worse(judgement, datasets)]
        tables = (leads_table(judgement),)
    return Section("answer", "The answer", tuple(each for each in found if each is not None), (), tables)


def of_data_set(judgement: Judgement, dataset: str) -> tuple[Sentence, ...]:
    """The best model of a data set, whom it is told apart from, and by which test."""
    first = _best(judgement, dataset)
    if first is None:
        return (_nothing(judgement, dataset),)
    order = order_of(judgement, dataset)
    if len(order) == 1:
        return (first, *_chance(judgement, dataset), *_worse(judgement, [dataset]))
    alike = _alike(judgement, dataset, order)
    return (first, *_against(judgement, dataset, alike), *_worse(judgement, [dataset]))


def _nothing(judgement: Judgement, dataset: str) -> Sentence:
    """Why there is no best model: no value at all, or none that is finite."""
    scores = judgement.scores
    own = scores[(scores["dataset"] == dataset) & (scores["measure"] == judgement.main)]["estimate"]
    what = "is infinite for every model that has a value" if np.isinf(own).any() else "has no value"
    words = f"{{measure}} {what} here: there is nothing to compare by."
    return say(words, measure=measure_words(judgement.main))


def _alike(judgement: Judgement, dataset: str, order: list[str]) -> list[str]:
    """The best model, and those of the same value."""
    values = measures_frame(judgement)["estimate"]
    best = values[_line(judgement, dataset, order[0])]
    return [name for name in order if values[_line(judgement, dataset, name)] == best]


def _line(judgement: Judgement, dataset: str, model: str) -> int:
    scores = judgement.scores.reset_index(drop=True)
    own = (scores["dataset"] == dataset) & (scores["model"] == model) & (scores["measure"] == judgement.main)
    return int(scores.index[own][0])


def _best(judgement: Judgement, dataset: str) -> Sentence | None:
    frame, order = measures_frame(judgement), order_of(judgement, dataset)
    line = _line(judgement, dataset, order[0])
    values = frame["estimate"]
    if not np.isfinite(values[line]):
        return None
    alike = _alike(judgement, dataset, order)
    parts: dict[str, Any] = {"model": listed(alike), "measure": measure_words(judgement.main)}
    parts["estimate"] = shown(frame, MEASURES, line, "estimate", "{:.4g}")
    verb = "has" if len(alike) == 1 else "have"
    told = f"{{model}} {verb} the best {{measure}}, {{estimate}}" if len(order) > 1 else "{model} has {measure} {estimate}"
    if len(alike) == 1 and np.isfinite(frame.loc[line, ["low", "high"]].to_numpy(dtype=np.float64)).all():
        told += ", with a {level} % interval from {low} to {high}"
        parts |= {end: shown(frame, MEASURES, line, end, "{:.4g}") for end in ("low", "high")}
        parts["level"] = fact(judgement, LEVEL)
    return say(told + ".", **parts)


def _chance(judgement: Judgement, dataset: str) -> tuple[Sentence, ...]:
    """Whether the only model is better than guessing, where the measure knows what guessing gives."""
    frame = measures_frame(judgement)
    line = _line(judgement, dataset, order_of(judgement, dataset)[0])
    low, high, chance = (float(frame[name][line]) for name in ("low", "high", "chance"))
    if not np.isfinite([low, high, chance]).all():
        return ()
    up = better(judgement.main) == "max"
    beyond, below = (low > chance, high < chance) if up else (high < chance, low > chance)
    told = "better" if beyond else "worse" if below else "not surely better"
    return (
        say(f"That is {told} than guessing, which gives {{chance}}.", chance=shown(frame, MEASURES, line, "chance", "{:g}")),
    )


def _worse(judgement: Judgement, datasets: list[str]) -> tuple[Sentence, ...]:
    """Models whose AUC lies below that of guessing, and what that may mean."""
    found = worse_than_guessing(judgement.scores, judgement.positives)
    found = found[found["dataset"].isin(datasets)]
    if found.empty:
        return ()
    names = list(dict.fromkeys(map(str, found["model"])))
    parts = {"models": listed(names), "be": "is" if len(names) == 1 else "are", "remedy": judgement.positives.remedy}
    where = ""
    if len(datasets) > 1:
        where, parts["sets"] = " on {sets}", listed(list(dict.fromkeys(map(str, found["dataset"]))))
    told = f"By auc {{models}} {{be}} worse than guessing{where}: perhaps the scores are those of the other class; {{remedy}}."
    return (say(told, **parts),)


def _against(judgement: Judgement, dataset: str, alike: list[str]) -> tuple[Sentence, ...]:
    """Whom the best model is told apart from; models that predict different rows may change places on the common ones."""
    raw = turned(judgement)
    best, who = alike[0], "It" if len(alike) == 1 else "{best}"
    own = raw[(raw["dataset"] == dataset) & (raw["first"] == best) & raw["decides"] & ~raw["second"].isin(alike)]
    if own.empty:
        all_alike = len(alike) == len(order_of(judgement, dataset))
        return () if all_alike else (say("No test tells whether {who} ahead of the others.", who=_be(alike)),)
    sign = 1 if better(judgement.main) == "max" else -1
    apart = own["adjusted"] <= judgement.alpha
    ahead = sign * own["difference"] > 0
    kinds = ((f"{who} is ahead of ", apart & ahead), (f"{who} cannot be told apart from ", ~apart))
    frame = pairs_frame(judgement)
    told = [_compared(frame, list(own.index[chosen]), words, best, judgement.alpha) for words, chosen in kinds if chosen.any()]
    behind = apart & ~ahead
    if behind.any():
        words = f"On the rows that both predict {'it' if who == 'It' else who} is behind "
        told.append(_compared(frame, list(own.index[behind]), words, best, judgement.alpha))
    tests = list(dict.fromkeys(map(str, own["test"])))
    parts = {"tests": told_tests(tests), "alpha": fact(judgement, ALPHA)}
    many = int((raw["decides"] & (raw["dataset"] == dataset)).sum()) > 1
    how = ", p adjusted for all pairs of the data set by Holm's procedure; intervals are of each pair alone" if many else ""
    return (*told, say(f"This is by {{tests}} at alpha {{alpha}}{how}.", **parts), *_disagreeing(own, judgement.alpha))


def _be(alike: list[str]) -> str:
    return "it is" if len(alike) == 1 else "they are"


def _disagreeing(own: pd.DataFrame, alpha: float) -> tuple[Sentence, ...]:
    """Why an interval without zero does not tell apart."""
    causes: dict[str, list[str]] = {}
    for line in own.to_dict("records"):
        causes.setdefault(disagreement(line, alpha), []).append(str(line["second"]))
    return tuple(
        say("The interval of the difference from {models} excludes zero, but {why}.", models=listed(names), why=why)
        for why, names in causes.items()
        if why
    )


def _compared(frame: pd.DataFrame, lines: list[int], words: str, best: str, alpha: float) -> Sentence:
    """The models of these lines of the table of tests; of a few the difference and p."""
    named = {"best": best} if "{best}" in words else {}
    if len(lines) > _MOST_NAMED:
        return say(words + "{models}.", models=listed([str(frame.loc[line, "second"]) for line in lines]), **named)
    pieces = [say(words, **named)]
    for place, line in enumerate(lines):
        if place:
            pieces.append(Sentence(" and " if place == len(lines) - 1 else ", "))
        pieces.append(_one(frame, line, alpha))
    return joined([*pieces, Sentence(".")])


def _one(frame: pd.DataFrame, line: int, alpha: float) -> Sentence:
    parts: dict[str, Any] = {"model": frame.loc[line, "second"]}
    parts["difference"] = shown(frame, PAIRS, line, "difference", "{:.4g}")
    told = "{model} (difference {difference}"
    if np.isfinite(frame.loc[line, ["low", "high"]].to_numpy(dtype=np.float64)).all():
        told += ", interval from {low} to {high}"
        parts |= {end: shown(frame, PAIRS, line, end, "{:.4g}") for end in ("low", "high")}
    if np.isfinite(frame["adjusted p"][line]):
        equal = "at most " if frame["p at its floor"][line] else "= "
        parts["p"] = p_shown(frame, PAIRS, line, "adjusted p", alpha, equal=equal)
        return say(told + ", p {p})", **parts)
    return say(told + ", p is undefined)", **parts)


def _over(judgement: Judgement) -> Sentence | None:
    """The verdict over data sets or splits."""
    from fairtrial.report.compared import judged_scores
    from fairtrial.report.sections.verdict import finding, sureness

    if judgement.verdict is None:
        return say("There is no verdict over the data sets.")
    judged = judged_scores(judgement.verdict)
    return joined([finding(judged, measure_words(judgement.main)), Sentence(" "), sureness(judged)])
