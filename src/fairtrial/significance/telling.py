"""What a verdict says, made from its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fairtrial.significance.p_words import p_form, told_p
from fairtrial.significance.scores import counted

if TYPE_CHECKING:
    from fairtrial.significance.verdict import Verdict

_MOST_NAMED = 8


def tell(verdict: Verdict, notes: Sequence[str]) -> tuple[str, ...]:
    """The findings, a sentence or two each."""
    parts = [_result(verdict), _order(verdict), _size(verdict)]
    if verdict.posthoc is not None:
        parts += [_told_apart(verdict), _agreement(verdict)]
    if verdict.posterior is not None:
        parts.append(_belief(verdict))
    outcome = verdict.outcome
    parts += [*notes, *(_sentence(each) for each in (outcome.ties, outcome.zeros, *outcome.caveats) if each), _meaning(verdict)]
    return tuple(part for part in parts if part)


def listed(names: Sequence[str]) -> str:
    """Names in a row, the first few of many.

    >>> listed(["a", "b", "c"])
    'a, b, c'
    """
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."


def p_text(p: float, alpha: float = 0.05) -> str:
    """A p value as it is printed beside its level.

    >>> p_text(0.01982), p_text(0.05003), p_text(float("nan"))
    ('p = 0.0198', 'p = 0.05003', 'p is undefined')
    """
    return told_p(p, alpha, digits=3)


def _result(verdict: Verdict) -> str:
    p, alpha = verdict.p_value, verdict.alpha
    head = f"Result: {_test(verdict)}, statistic {verdict.outcome.statistic:.4g}, {p_text(p, alpha)}"
    if np.isnan(p):
        return f"{head}: the differences do not vary, which leaves nothing to judge by."
    above = f"{'above' if p > alpha else 'at most'} alpha {alpha:.15g}"
    if verdict.posthoc is not None:
        said = "nothing shows that any learner differs from the others" if p > alpha else "not all learners are equally good"
        return f"{head}, {above}: {said}."
    first, second = verdict.table.learners
    if p > alpha:
        return f"{head}, {above}: {first} and {second} are not told apart, which does not show that they are equal."
    best, other = verdict.in_order(first, second)
    return f"{head}, {above}: {best} is better than {other}."


def _test(verdict: Verdict) -> str:
    """The test, and of several pairs the one that it is of."""
    if verdict.posthoc is None or verdict.pair is None:
        return verdict.outcome.test
    first, second = verdict.pair
    return f"{verdict.outcome.test} of {first} and {second}, which have the smallest p"


def _order(verdict: Verdict) -> str:
    ranks = verdict.mean_ranks
    means = dict(zip(verdict.table.learners, verdict.table.values.mean(axis=0), strict=True))
    told = listed([f"{name} {rank:.2f} (mean score {means[name]:.4g})" for name, rank in zip(ranks.index, ranks, strict=True)])
    record = ""
    if verdict.posthoc is None:
        wins, ties, losses = verdict.record(0, 1)
        first, second = verdict.table.learners
        record = (
            f" {first} is better than {second} on {counted(wins, verdict.unit)}, worse on {losses}"
            + (f", equal on {ties}" if ties else "")
            + "."
        )
    return f"Mean ranks over {counted(len(verdict.table.datasets), verdict.unit)}, the best first: {told}.{record}"


def _size(verdict: Verdict) -> str:
    effect = verdict.outcome.effect
    if effect is None:
        return ""
    told = str(effect)
    if np.isnan(effect.low) or np.isnan(effect.high):
        told = f"{effect.name} {effect.estimate:.4g}" + (f" ({effect.note})" if effect.note else "")
    if verdict.pair is None:
        return f"Size: {told}."
    first, second = verdict.pair
    return f"Size, {first} against {second}: {told}."


def _told_apart(verdict: Verdict) -> str:
    apart, rest = [], 0
    for first, second, _, p in sorted(verdict.comparisons, key=lambda each: (np.isnan(each[3]), each[3])):
        if p <= verdict.alpha:
            best, other = verdict.in_order(first, second)
            apart.append(f"{best} from {other} ({p_text(p, verdict.alpha)})")
        else:
            rest += 1
    total = counted(len(verdict.comparisons), "comparison")
    if not apart:
        return f"Nothing is told apart in {total}, which does not show that the learners are equal."
    left = f" {rest} of {total} are left open, which does not show equality." if rest else ""
    return f"Told apart, the better first, p adjusted: {listed(apart)}.{left}"


def _agreement(verdict: Verdict) -> str:
    """Where the test of all learners and the comparisons seem to disagree."""
    any_apart = any(p <= verdict.alpha for *_, p in verdict.comparisons)
    if verdict.p_value <= verdict.alpha and not any_apart:
        return "The learners are not all equal, but the data do not suffice to say which of them differ."
    if verdict.p_value > verdict.alpha and any_apart:
        return (
            "The test of all learners together is less sure than the comparisons, which are adjusted by themselves: "
            "treat the differences with care."
        )
    return ""


def _belief(verdict: Verdict) -> str:
    found = verdict.posterior
    if found is None:
        return ""
    first, second = verdict.table.learners
    if np.isnan(found.p_first):
        return f"{found.test}: undefined. {' '.join(_sentence(each) for each in found.caveats)}"
    equal = f", practically equal (within {found.rope:g}) {found.p_rope:.3f}" if found.rope > 0 else ""
    return (
        f"Bayesian ({found.test}): {first} better {found.p_first:.3f}{equal}, {second} better {found.p_second:.3f}. "
        f"{_sentence(found.meaning)}"
    )


def _meaning(verdict: Verdict) -> str:
    if np.isnan(verdict.p_value):
        return ""
    p = p_form([verdict.p_value], verdict.alpha, 3).format(verdict.p_value)
    equal = "the learners were equally good" if verdict.posthoc is not None else "both learners were equally good"
    return (
        f"The p value of {p} is the chance of results at least this uneven if {equal}. It is not the chance "
        "that they are equally good, it does not measure how large a difference is, and a large p value does not show equality."
    )
