"""The section of the verdict: which test and why, what it found, and whether that holds under the other conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.report.section import Figure, Section
from fairtrial.report.sections.basis import resting
from fairtrial.report.sections.method_words import choice_words, effect_words, test_words
from fairtrial.report.sections.naming import (
    joined,
    judged_measure,
    keys_of,
    listed,
    main_condition,
    measure_words,
    told_condition,
    where_words,
)
from fairtrial.report.sections.verdict_tables import (
    Judged,
    facts_of,
    facts_table,
    further_tables,
    judged as judged_under,
    learners_table,
    shown_elsewhere,
)
from fairtrial.report.sentence import Sentence, p_shown, say, shown

if TYPE_CHECKING:
    from fairtrial.significance.verdict import Verdict
    from fairtrial.study import Results

_NO_ROPE = (
    "A Bayesian test would say how likely the two are practically equal: it needs a region of practical equivalence ({rope})."
)
_ROPE_OF_STUDY, _ROPE_OF_SCORES = "[verdict] rope", "--rope, in Python rope="
# How findings begin that say again what was found, the order, the size, the pairs and what is believed.
_TOLD = (
    "Result:",
    "Mean ranks over ",
    "Size",
    "Told apart, ",
    "Nothing is told apart ",
    "The learners are not all equal, ",
    "The test of all learners together ",
    "Bayesian (",
)
_TITLES = {
    "critical-difference": "Critical-difference diagram",
    "ranks": "Ranks",
    "pairs": "Differences of pairs",
    "simplex": "What is to be believed of the two",
    "density": "What is to be believed of the difference",
}


def section(results: Results) -> Section:
    """The verdict on the declared measure under clean, then in short under each other condition."""
    main, *others = all_judged(results)
    words = measure_words(judged_measure(results))
    parts = tuple(_part(each, words) for each in others)
    if main.verdict is None:
        return Section("verdict", "The verdict", (_none(main, words),), (), (), (), parts)
    further = further_tables(main, scores_elsewhere=shown_elsewhere(results, main, judged_measure(results)))
    tables = (facts_table(main), learners_table(main), *further)
    return Section(
        "verdict",
        "The verdict",
        said(main, words),
        figures(main, [name for name in _TITLES if name != "ranks"]),  # a table has the ranks
        tables,
        cautions(main.verdict),
        parts,
    )


def cautions(verdict: Verdict) -> tuple[str, ...]:
    """What a verdict says beside what the sentences and tables of its section tell already."""
    return tuple(each for each in verdict.findings if not each.startswith(_TOLD))


def all_judged(results: Results) -> list[Judged]:
    """The verdict on the declared measure under each condition, clean first."""
    measure, conditions = judged_measure(results), results.archive.conditions
    first = main_condition(conditions)
    others = [each for each in conditions if each is not first]
    keys = [f"verdict-{key}" for key in keys_of(told_condition(each) for each in others)]
    return [judged_under(results, measure, each, key) for each, key in zip([first, *others], ["verdict", *keys], strict=True)]


def _part(judged: Judged, words: str) -> Section:
    title = f"Under {told_condition(judged.condition)}"
    if judged.verdict is None:
        return Section(judged.key, title, (_none(judged, words),))
    tables = (facts_table(judged), learners_table(judged))
    return Section(judged.key, title, said(judged, words), figures(judged, ["critical-difference"]), tables)


def _none(judged: Judged, words: str) -> Sentence:
    where = where_words(judged.condition)
    return say("There is no verdict on {measure} {where}. {reason}", measure=words, where=where, reason=judged.reason)


def said(judged: Judged, words: str) -> tuple[Sentence, ...]:
    """On what it rests, what was found, how sure it is, and how large: chosen by the numbers."""
    found = (resting_on(judged), finding(judged, words), sureness(judged), size_of(judged), *belief(judged))
    return tuple(each for each in found if each is not None)


def resting_on(judged: Judged) -> Sentence | None:
    """What is left out of the verdict; None where nothing is."""
    return None if judged.basis is None else resting(judged.basis, facts_of(judged), f"{judged.key}-facts")


def finding(judged: Judged, words: str) -> Sentence:
    """Who is told apart from whom, and who could not be judged."""
    left_out = [name for name in judged.learners if judged.verdict is not None and name not in judged.verdict.table.learners]
    if not left_out:
        return _told_apart(judged, words)
    return joined([_told_apart(judged, words), say(" For want of scores nothing is said of {names}.", names=listed(left_out))])


def _told_apart(judged: Judged, words: str) -> Sentence:
    verdict = judged.verdict
    assert verdict is not None
    parts: dict[str, Any] = {"measure": words, "where": judged.where or where_words(judged.condition)}
    apart = [verdict.in_order(first, second) for first, second, _, p in verdict.comparisons if p <= verdict.alpha]
    where = "By {measure} {where}, "
    if not apart:
        names = listed(list(verdict.order))
        if verdict.posthoc is not None and verdict.p_value <= verdict.alpha:
            open_ended = "{names} are not all equally good, but the data do not suffice to say which of them differ."
            return say(where + open_ended, **parts, names=names)
        return say(where + "{names} cannot be told apart. That does not show that they are equal.", **parts, names=names)
    head = verdict.order[0] if verdict.control is None else verdict.control
    behind = [other for best, other in apart if best == head]
    ahead = [best for best, other in apart if other == head]
    level = [name for name in verdict.order if name not in (head, *behind, *ahead)]
    parts |= {"head": head, "behind": listed(behind), "ahead": listed(ahead), "level": listed(level)}
    told = []
    if behind:
        told.append("{head} is ahead of {behind}")
    if ahead:
        told.append("{ahead} " + ("is" if len(ahead) == 1 else "are") + " ahead of {head}")
    if level:
        told.append("{head} cannot be told from {level}")
    return _with(where + "; ".join(told) + ".", parts)


def _with(words: str, parts: dict[str, Any]) -> Sentence:
    """A sentence with those parts that its words name."""
    return say(words, **{name: part for name, part in parts.items() if "{" + name + "}" in words})


def sureness(judged: Judged) -> Sentence:
    """The test, its p value and what it is compared with."""
    verdict = judged.verdict
    assert verdict is not None
    frame, key = facts_of(judged), f"{judged.key}-facts"
    unit = f"{verdict.unit}s"
    parts: dict[str, Any] = {
        "test": choice_words(verdict.choice),
        "n": shown(frame, key, unit, "value", "{:.0f}"),
        "unit": unit,
        "alpha": shown(frame, key, "alpha", "value", "{:.15g}"),
    }
    if np.isnan(verdict.p_value):
        return _with("The test ({test}) over {n} {unit} has no p value, for the differences do not vary.", parts)
    parts["p"] = p_shown(frame, key, "p", "value", verdict.alpha, digits=3)
    against = "above" if verdict.p_value > verdict.alpha else "at most"
    words = f"The test ({{test}}) over {{n}} {{unit}} gives p {{p}}, {against} alpha {{alpha}}"
    if len(verdict.comparisons) > 1:
        words += "; {apart} of {comparisons} pairs are told apart"
        parts["apart"] = shown(frame, key, "told apart", "value", "{:.0f}")
        parts["comparisons"] = shown(frame, key, "comparisons", "value", "{:.0f}")
        if parts["apart"].value and verdict.p_value > verdict.alpha:
            words += ", by p values that are adjusted by themselves: take these differences with care"
    return _with(words + ".", parts)


def size_of(judged: Judged) -> Sentence | None:
    """The effect of the test, with its interval where it has one."""
    verdict = judged.verdict
    assert verdict is not None
    effect = verdict.outcome.effect
    if effect is None or np.isnan(effect.estimate):
        return None
    frame, key = facts_of(judged), f"{judged.key}-facts"
    names = {"estimate": "effect", "low": "effect, low", "high": "effect, high", "level": "level of the interval, %"}
    forms = {"level": "{:g}"}
    parts: dict[str, Any] = {part: shown(frame, key, fact, "value", forms.get(part, "{:.3g}")) for part, fact in names.items()}
    words = "The effect ({name}{pair}) is {estimate}"
    if not np.isnan([effect.low, effect.high]).any():
        words += ", with a {level} % interval from {low} to {high}"
    if verdict.pair is not None and len(verdict.comparisons) > 1:
        words += ", the pair with the smallest p, not adjusted for there being others"
    return _with(words + ".", parts | {"name": effect_words(effect.name), "pair": _pair_words(verdict)})


def _pair_words(verdict: Verdict) -> str:
    """The pair that the effect is of, the one ahead first; nothing where it is of all learners."""
    return "" if verdict.pair is None else ", {} over {}".format(*verdict.in_order(*verdict.pair))


def belief(judged: Judged) -> tuple[Sentence, ...]:
    """The posterior of two learners, or how to have one."""
    verdict = judged.verdict
    assert verdict is not None
    found = verdict.posterior
    if found is None:
        return (
            (say(_NO_ROPE, rope=_ROPE_OF_SCORES if judged.where else _ROPE_OF_STUDY),)
            if len(verdict.table.learners) == 2
            else ()
        )
    if np.isnan(found.p_first):
        return ()
    frame, key = facts_of(judged), f"{judged.key}-facts"
    first, second = verdict.table.learners
    facts = {
        "p_first": f"probability that {first} is better",
        "p_second": f"probability that {second} is better",
        "p_rope": "probability of practical equality",
        "rope": "region of practical equivalence",
    }
    parts: dict[str, Any] = {
        part: shown(frame, key, fact, "value", "{:g}" if part == "rope" else "{:.3f}") for part, fact in facts.items()
    }
    words = "{test} gives {first} a probability of {p_first} to be better, {second} one of {p_second}"
    if found.rope > 0:
        words += ", and one of {p_rope} that they are practically equal, within {rope}"
    test = test_words(found.test)
    return (_with(words + ".", parts | {"test": test[:1].upper() + test[1:], "first": first, "second": second}),)


def figures(judged: Judged, names: list[str] | None = None) -> tuple[Figure, ...]:
    """The figures of a verdict: all, or those named."""
    from fairtrial.report.compare import figures as drawn

    verdict = judged.verdict
    assert verdict is not None
    frames = {"ranks": verdict.ranks(), "pairs": verdict.pairs(), "critical-difference": verdict.mean_ranks.reset_index()}
    return tuple(
        Figure(f"{judged.key}-{name}", _TITLES[name], chart, _alt(name, verdict), frames.get(name))
        for name, chart in drawn(verdict).items()
        if names is None or name in names
    )


def _alt(name: str, verdict: Verdict) -> str:
    order = listed([str(each) for each in verdict.mean_ranks.index])
    pair = " and ".join(verdict.table.learners[:2])
    return {
        "critical-difference": f"Learners on a line by mean rank, the best first: {order}. Bars join those not told apart.",
        "ranks": f"How often each learner had which rank, by {verdict.unit}; the best mean rank first: {order}.",
        "pairs": f"A matrix of the differences between {order}, with adjusted p values; pairs told apart are framed.",
        "simplex": f"A triangle of draws from the posterior: {pair}, or practical equality.",
        "density": f"The posterior density of the difference between {pair}.",
    }[name]
