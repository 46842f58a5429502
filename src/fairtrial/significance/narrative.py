"""The findings of a verdict as sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fairtrial._text import choose_p_format, format_count, format_p_value, join_names

if TYPE_CHECKING:
    from fairtrial.significance.verdict import Verdict


def write_findings(verdict: Verdict, notes: Sequence[str]) -> tuple[str, ...]:
    """The findings, a sentence or two each."""
    parts = [_describe_result(verdict), _describe_order(verdict), _describe_effect(verdict)]
    if verdict.posthoc is not None:
        parts += [_describe_differences(verdict), _describe_agreement(verdict)]
    if verdict.posterior is not None:
        parts.append(_describe_posterior(verdict))
    outcome = verdict.outcome
    parts += [
        *notes,
        *(_format_sentence(note) for note in (outcome.ties, outcome.zeros, *outcome.caveats) if note),
        _explain_p_value(verdict),
    ]
    return tuple(part for part in parts if part)


def _format_sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."


def format_p(p: float, alpha: float = 0.05) -> str:
    """A p value as it is printed beside its level.

    >>> format_p(0.01982), format_p(0.05003), format_p(float("nan"))
    ('p = 0.0198', 'p = 0.05003', 'p is undefined')
    """
    return format_p_value(p, alpha, digits=3)


def _describe_result(verdict: Verdict) -> str:
    p, alpha = verdict.p_value, verdict.alpha
    head = f"Result: {_describe_test(verdict)}, statistic {verdict.outcome.statistic:.4g}, {format_p(p, alpha)}"
    if np.isnan(p):
        return f"{head}: the differences do not vary, which leaves nothing to judge by."
    above = f"{'above' if p > alpha else 'at most'} alpha {alpha:.15g}"
    if verdict.posthoc is not None:
        conclusion = (
            "nothing shows that any learner differs from the others" if p > alpha else "not all learners are equally good"
        )
        return f"{head}, {above}: {conclusion}."
    first, second = verdict.table.learners
    if p > alpha:
        return f"{head}, {above}: {first} and {second} are not told apart, which does not show that they are equal."
    best, worse = verdict.order_pair(first, second)
    return f"{head}, {above}: {best} is better than {worse}."


def _describe_test(verdict: Verdict) -> str:
    """The test, and of several pairs the one that it is of."""
    if verdict.posthoc is None or verdict.pair is None:
        return verdict.outcome.test
    first, second = verdict.pair
    return f"{verdict.outcome.test} of {first} and {second}, which have the smallest p"


def _describe_order(verdict: Verdict) -> str:
    ranks = verdict.mean_ranks
    means = dict(zip(verdict.table.learners, verdict.table.values.mean(axis=0), strict=True))
    ranks_text = join_names(
        [f"{name} {rank:.2f} (mean score {means[name]:.4g})" for name, rank in zip(ranks.index, ranks, strict=True)]
    )
    record = ""
    if verdict.posthoc is None:
        wins, ties, losses = verdict.count_wins(0, 1)
        first, second = verdict.table.learners
        record = (
            f" {first} is better than {second} on {format_count(wins, verdict.unit)}, worse on {losses}"
            + (f", equal on {ties}" if ties else "")
            + "."
        )
    return f"Mean ranks over {format_count(len(verdict.table.datasets), verdict.unit)}, the best first: {ranks_text}.{record}"


def _describe_effect(verdict: Verdict) -> str:
    effect = verdict.outcome.effect
    if effect is None:
        return ""
    effect_text = str(effect)
    if np.isnan(effect.low) or np.isnan(effect.high):
        effect_text = f"{effect.name} {effect.estimate:.4g}" + (f" ({effect.note})" if effect.note else "")
    if verdict.pair is None:
        return f"Size: {effect_text}."
    first, second = verdict.pair
    return f"Size, {first} against {second}: {effect_text}."


def _describe_differences(verdict: Verdict) -> str:
    different_pairs, n_not_significant = [], 0
    for first, second, _, p in sorted(verdict.comparisons, key=lambda comparison: (np.isnan(comparison[3]), comparison[3])):
        if p <= verdict.alpha:
            best, worse = verdict.order_pair(first, second)
            different_pairs.append(f"{best} from {worse} ({format_p(p, verdict.alpha)})")
        else:
            n_not_significant += 1
    total = format_count(len(verdict.comparisons), "comparison")
    if not different_pairs:
        return f"Nothing is told apart in {total}, which does not show that the learners are equal."
    remainder_text = (
        f" {n_not_significant} of {total} are left open, which does not show equality." if n_not_significant else ""
    )
    return f"Told apart, the better first, p adjusted: {join_names(different_pairs)}.{remainder_text}"


def _describe_agreement(verdict: Verdict) -> str:
    """Where the test of all learners and the comparisons seem to disagree."""
    any_different = any(p <= verdict.alpha for *_, p in verdict.comparisons)
    if verdict.p_value <= verdict.alpha and not any_different:
        return "The learners are not all equal, but the data do not suffice to say which of them differ."
    if verdict.p_value > verdict.alpha and any_different:
        return (
            "The test of all learners together is less sure than the comparisons, which are adjusted by themselves: "
            "treat the differences with care."
        )
    return ""


def _describe_posterior(verdict: Verdict) -> str:
    posterior = verdict.posterior
    if posterior is None:
        return ""
    first, second = verdict.table.learners
    if np.isnan(posterior.p_first):
        return f"{posterior.test}: undefined. {' '.join(_format_sentence(caveat) for caveat in posterior.caveats)}"
    equal = f", practically equal (within {posterior.rope:g}) {posterior.p_rope:.3f}" if posterior.rope > 0 else ""
    return (
        f"Bayesian ({posterior.test}): {first} better {posterior.p_first:.3f}{equal}, {second} better "
        f"{posterior.p_second:.3f}. "
        f"{_format_sentence(posterior.meaning)}"
    )


def _explain_p_value(verdict: Verdict) -> str:
    if np.isnan(verdict.p_value):
        return ""
    p = choose_p_format([verdict.p_value], verdict.alpha, 3).format(verdict.p_value)
    equal = "the learners were equally good" if verdict.posthoc is not None else "both learners were equally good"
    return (
        f"The p value of {p} is the chance of results at least this uneven if {equal}. It is not the chance "
        "that they are equally good, it does not measure how large a difference is, and a large p value does not show equality."
    )
