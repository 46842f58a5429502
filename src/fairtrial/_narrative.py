"""Turn findings into sentences for the console, notebooks and pages.

A finding has a kind and values (`_findings`). `TEMPLATES` contains one template for each kind, which `render` fills. The noun
(learner or model) is a parameter: templates contain `{noun}` and `{nouns}`. In a template, an argument such as `<better=min>`
becomes `better='min'` in Python and `--better min` on the command line. `render_ranking` writes the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from math import isfinite, isnan

from fairtrial._findings import Finding, PairDifference, Ranking
from fairtrial._text import (
    capitalize,
    format_count,
    format_difference,
    format_distinct,
    format_interval,
    format_number,
    format_p_value,
    format_text,
    join_names,
    make_plural,
)

TEMPLATES: dict[str, str] = {}
"""Template for each kind of finding. `_text.format_text` documents the format specifications."""

TOPICS: dict[str, str] = {}
"""For each kind of finding, the decision that the finding explains. Tables of reasons show this decision."""

_MAX_LISTED_DIFFERENCES = 3
_MAX_HEADLINE_NAMES = 4
_ALL_OF = {2: "Both", 3: "All three", 4: "All four", 5: "All five", 6: "All six", 7: "All seven", 8: "All eight"}


_names_options: ContextVar[bool] = ContextVar("names_options", default=False)
_OPTIONS = {"scores": "score", "measures": "measure"}
_ARGUMENT = re.compile(r"<(\w+)=([^<>]*)>")


@contextmanager
def name_options() -> Iterator[None]:
    """Within this context, name command-line options instead of Python arguments."""
    token = _names_options.set(True)
    try:
        yield
    finally:
        _names_options.reset(token)


def name_place(command: str, python: str) -> str:
    """Return `command` on the command line, and `python` otherwise.

    >>> name_place("--explain", ".explain()")
    '.explain()'
    """
    return command if _names_options.get() else python


def _format_argument(match: re.Match[str]) -> str:
    # A value such as MODEL=COLUMN is a mapping in Python.
    return name_argument(match[1], "MAPPING" if "=" in match[2] else match[2], match[2])


def name_argument(name: str, value: str, option_value: str | None = None) -> str:
    """Name a Python argument with its value or, on the command line, the corresponding option.

    >>> name_argument("y_true", "COLUMN")
    'y_true=COLUMN'
    >>> with name_options():
    ...     name_argument("scores", "MAPPING", "CLASS=COLUMN")
    '--score CLASS=COLUMN'
    """
    if _names_options.get():
        option = _OPTIONS.get(name, name).replace("_", "-")
        return f"--{option}" + ("" if value == "True" else f" {option_value or value}")
    is_literal = value in ("True", "False", "None", "...") or value.replace(".", "", 1).isdigit() or value.isupper()
    return f"{name}={value if is_literal else repr(value)}"


def register_text(kind: str, template: str) -> None:
    """Register the template for a kind of finding that another module defines."""
    TEMPLATES[kind] = template


def render(finding: Finding, noun: str = "learner") -> str:
    """Render a finding as text.

    >>> render(Finding.of("single_dataset"))
    'Only one data set: the result does not generalize to other data sets.'
    """
    template = _ARGUMENT.sub(_format_argument, TEMPLATES[finding.kind])
    text = format_text(template, {"noun": noun, "nouns": make_plural(noun), "datasets": (), **finding.values})
    return text if template.startswith("{") else capitalize(text)  # a text that starts with a value keeps its case


def render_all(findings: Iterable[Finding], noun: str = "learner") -> tuple[str, ...]:
    """Render each finding as text."""
    return tuple(render(finding, noun) for finding in findings)


def render_ranking(ranking: Ranking, noun: str = "learner") -> str:
    """Write which learner is best, which are significantly worse, and how certain this is.

    >>> pairs = [("forest", "tree", 0.004, 0.03), ("forest", "bayes", 0.001, 0.05), ("tree", "bayes", 0.4, 0.02)]
    >>> differences = tuple(PairDifference(first, second, p, d) for first, second, p, d in pairs)
    >>> render_ranking(Ranking(("forest", "tree", "bayes"), (1.2, 2.1, 2.7), "mean rank", differences, measure="accuracy"))
    'forest has the best mean rank (1.2). It beats tree and bayes (accuracy +0.03 and +0.05, adjusted p <= 0.004).'
    """
    if not ranking.names:
        return f"{capitalize(ranking.criterion)} is undefined for every {noun}."
    scope = f"{capitalize(ranking.scope)}, " if ranking.scope else ""
    if len(ranking.names) == 1:
        return _render_single(ranking, scope)
    if ranking.undecidable is not None:
        return _render_undecidable(ranking, scope, noun)
    if not ranking.criterion:
        return _render_two(ranking, scope)
    sentences = _render_control(ranking, scope, noun) if ranking.control else _render_best(ranking, scope, noun)
    return " ".join(sentence for sentence in sentences if sentence)


def render_headline(ranking: Ranking, noun: str = "learner") -> str:
    """Write the answer of `render_ranking` without differences, p-values and tests.

    The full answer is written if pairs cannot be decided, if there is a control, or if there is no criterion.

    >>> pairs = (PairDifference("forest", "tree", 0.004, 0.03), PairDifference("forest", "bayes", 0.3, 0.01))
    >>> render_headline(Ranking(("forest", "bayes", "tree"), (0.9, 0.89, 0.87), "AUC", pairs, measure="AUC"))
    'forest has the highest AUC (0.9); bayes is not significantly worse. forest beats tree.'
    """
    is_plain = len(ranking.names) > 1 and ranking.undecidable is None and bool(ranking.criterion) and not ranking.control
    if not is_plain:
        return render_ranking(ranking, noun)
    scope = f"{capitalize(ranking.scope)}, " if ranking.scope else ""
    worse = [_render_worse(ranking, noun, detailed=False)] if ranking.worse else []
    return " ".join([_render_leader(ranking, scope, noun, detailed=False), *worse])


def render_certainty(ranking: Ranking) -> str:
    """Write the comparisons that show how certain the first rank is.

    The first learner is compared with the second, and with the best learner that is significantly worse. The text contains
    intervals, p-values and the test. The text is empty if no pair was tested.

    >>> pairs = (PairDifference("forest", "tree", 0.004, 0.03, 0.01, 0.05), PairDifference("forest", "bayes", 0.3, 0.01))
    >>> ranking = Ranking(("forest", "bayes", "tree"), (0.9, 0.89, 0.87), "AUC", pairs, measure="AUC", tests=("DeLong test",))
    >>> render_certainty(ranking)[:85]
    'The AUC of forest is 0.01 higher than that of bayes (adjusted p = 0.3) and 0.03 highe'
    """
    if len(ranking.names) < 2 or ranking.undecidable is not None:
        return ""
    names = list(dict.fromkeys((ranking.names[1], *ranking.worse[:1])))
    comparisons = [pair for name in names if (pair := ranking.find_pair(ranking.names[0], name)) and not isnan(pair.p_adjusted)]
    if not comparisons:
        return ""
    p_values = [_describe_p(ranking, [pair]) for pair in comparisons]
    if ranking.tests:  # otherwise, a sentence about the test follows
        p_values[-1] = _append_test(p_values[-1], ranking)
    if ranking.criterion == "mean rank":  # a test of ranks says nothing about the difference in means
        return f"The mean rank of {ranking.names[0]} is {_describe_rank_distances(ranking, comparisons, p_values)}."
    if not ranking.measure or not all(isfinite(pair.difference) for pair in comparisons):
        return f"{_describe_significance(ranking, comparisons, p_values)}."
    return f"The {ranking.criterion} of {ranking.names[0]} is {_describe_distances(ranking, comparisons, p_values)}."


def render_exceptions(ranking: Ranking) -> str:
    """Write which comparisons contradict the ranking or are missing.

    The text is empty if there are no such comparisons.
    """
    undecided = ""
    if len(ranking.names) > 1 and ranking.undecidable is None and ranking.undecided:
        undecided = f"No test of {ranking.names[0]} against {join_names(ranking.undecided, conjunction='or')} was possible."
    return " ".join(filter(None, [_render_reversed(ranking), undecided]))


def render_size(ranking: Ranking) -> str:
    """Write the best value with its interval, and compare it with the second and the last value.

    >>> pairs = (PairDifference("forest", "tree", 0.004, 0.03, 0.01, 0.05),)
    >>> render_size(Ranking(("forest", "tree"), (0.9, 0.87), "AUC", pairs, measure="AUC", interval=(0.85, 0.94)))
    'The AUC of forest is 0.9 (95 % CI 0.85 to 0.94): 0.03 higher than that of tree (95 % CI 0.01 to 0.05).'
    """
    if not ranking.names:
        return render_ranking(ranking)
    interval = "" if ranking.interval is None else f" ({format_interval(*ranking.interval, ranking.level)})"
    value = format_distinct(ranking.values[0], ranking.values)
    text = f"The {ranking.criterion} of {ranking.names[0]} is {value}{interval}"
    names = list(dict.fromkeys((ranking.names[1], ranking.names[-1]))) if len(ranking.names) > 1 else []
    comparisons = [pair for name in names if (pair := ranking.find_pair(ranking.names[0], name)) and isfinite(pair.difference)]
    return f"{text}: {_describe_distances(ranking, comparisons)}." if comparisons else f"{text}."


def _describe_distances(ranking: Ranking, pairs: Sequence[PairDifference], details: Sequence[str] = ()) -> str:
    """Write by how much the value of the first learner differs from the values of others.

    The text contains intervals and, if given, further details.
    """
    parts = []
    for position, pair in enumerate(pairs):
        distance = format_number(abs(pair.difference))
        side = "higher" if pair.difference > 0 else "lower"
        relation = f"{distance} {side} than that of" if pair.difference else "equal to that of"
        interval = [_describe_interval(ranking, pair)] if isfinite(pair.low) and isfinite(pair.high) else []
        inside = ", ".join([*interval, *details[position : position + 1]])
        parts.append(f"{relation} {pair.other}" + (f" ({inside})" if inside else ""))
    return " and ".join(parts)


def _describe_rank_distances(ranking: Ranking, pairs: Sequence[PairDifference], p_values: Sequence[str]) -> str:
    """Write by how much the mean rank of the first learner is better than those of others."""
    values = dict(zip(ranking.names, ranking.values, strict=True))
    parts = []
    for pair, p in zip(pairs, p_values, strict=True):
        name = pair.other if pair.better == ranking.names[0] else pair.better
        distance = abs(values[name] - ranking.values[0])
        relation = f"{format_number(distance)} better than that of" if distance else "equal to that of"
        parts.append(f"{relation} {name} ({p})")
    return " and ".join(parts)


def _describe_significance(ranking: Ranking, pairs: Sequence[PairDifference], p_values: Sequence[str]) -> str:
    """Write whether the first learner differs significantly from each of the others."""
    parts: list[str] = []
    for pair, p in zip(pairs, p_values, strict=True):
        name = pair.other if pair.better == ranking.names[0] else pair.better
        is_significant = ranking.is_significant(pair)
        verb = "is significant" if is_significant else "is not significant"
        if parts and is_significant != ranking.is_significant(pairs[0]):
            verb = "is" if is_significant else "is not"
        parts.append(f"the difference from {name} {verb} ({p})")
    return capitalize("; ".join(parts))


def _render_undecidable(ranking: Ranking, scope: str, noun: str) -> str:
    """Write which learner is best (if there is a criterion), and why no pair can be decided."""
    assert ranking.undecidable is not None
    reason = render(ranking.undecidable, noun)
    if not ranking.criterion and not scope:
        return reason
    lead = f"{_render_head(ranking, scope)}, but " if ranking.criterion else scope
    return f"{lead}{reason[:1].lower()}{reason[1:]}"


def render_open_question(ranking: Ranking, noun: str = "learner") -> tuple[str, str]:
    """Write which learner ranks first, and why no pair can be decided.

    >>> reason = Finding.of("posthoc_cannot_decide", n=4, smallest=0.38, alpha=0.05)
    >>> render_open_question(Ranking(("a", "b", "c"), (1.2, 1.8, 3.0), "mean rank", (), n=4, undecidable=reason))[0]
    'a has the best mean rank (1.2), but 4 data sets are too few to show a significant difference.'
    """
    assert ranking.undecidable is not None
    scope = f"{capitalize(ranking.scope)}, " if ranking.scope else ""
    units, verb = format_count(ranking.n, ranking.unit), "is" if ranking.n == 1 else "are"
    head = f"{_render_head(ranking, scope)}, but {units} {verb} too few to show a significant difference."
    return head, render(ranking.undecidable, noun)


def _render_two(ranking: Ranking, scope: str) -> str:
    """Write the comparison of two learners whose order is known although there is no criterion."""
    best, other = ranking.names
    detail = _describe_pairs(ranking, ranking.pairs)
    if ranking.significant_pairs:
        return f"{scope}{best} beats {other} ({detail})."
    text = f"{scope}there is no significant difference between {best} and {other} ({detail})."
    return text if scope else capitalize(text)


def _render_single(ranking: Ranking, scope: str) -> str:
    value = format_distinct(ranking.values[0], ())
    text = f"{scope}{ranking.names[0]} has {_add_article(ranking.criterion)} of {value}"
    if ranking.interval is None:
        return f"{text}."
    text += f" ({format_interval(*ranking.interval, ranking.level)})"
    if ranking.chance is None:
        return f"{text}."
    low, high = ranking.interval
    above, below = low > ranking.chance, high < ranking.chance
    above, below = (below, above) if ranking.lower_is_better else (above, below)
    relation = "above" if above else "below" if below else "not significantly different from"
    return f"{text}, {relation} chance ({format_number(ranking.chance)})."


def _add_article(noun: str) -> str:
    return f"{'an' if noun[:1] in 'aeiouAEIOFH' and (noun[:1].islower() or noun[1:2].isupper()) else 'a'} {noun}"


def _render_best(ranking: Ranking, scope: str, noun: str) -> list[str]:
    sentences = [_render_leader(ranking, scope, noun)]
    if ranking.worse:
        sentences.append(_render_worse(ranking, noun))
    sentences += [_render_reversed(ranking), _render_other_pairs(ranking)]
    if ranking.undecided:
        others = join_names(ranking.undecided, conjunction="or")
        sentences.append(f"No test of {join_names(ranking.best[:1])} against {others} was possible.")
    return sentences


def _render_head(ranking: Ranking, scope: str) -> str:
    best, criterion = ranking.best, ranking.criterion
    value = format_distinct(ranking.values[0], ranking.values)
    adjective = "best" if criterion == "mean rank" else "lowest" if ranking.lower_is_better else "highest"
    if len(best) > 1:
        return f"{scope}{join_names(best)} share the {adjective} {criterion} ({value})"
    return f"{scope}{best[0]} has the {adjective} {criterion} ({value})"


def _render_leader(ranking: Ranking, scope: str, noun: str, detailed: bool = True) -> str:
    criterion, head = ranking.criterion, _render_head(ranking, scope)
    if not ranking.significant_pairs and any(not isnan(pair.p_adjusted) for pair in ranking.pairs):
        if len(ranking.names) == 2:
            detail = f" ({_describe_pairs(ranking, ranking.pairs)})" if detailed else ""
            if len(ranking.best) == 2:
                return f"{head}; there is no significant difference{detail}."
            return f"{head}; the difference from {ranking.names[1]} is not significant{detail}."
        detail = f" ({_describe_none(ranking)})" if detailed else ""
        return f"{head}, but no pair of {make_plural(noun)} differs significantly{detail}."
    if ranking.not_worse:
        values = dict(zip(ranking.names, ranking.values, strict=True))
        named = [f"{name} ({format_number(values[name])})" if criterion == "mean rank" else name for name in ranking.not_worse]
        return f"{head}; {join_names(named)} {'is' if len(named) == 1 else 'are'} not significantly worse."
    return f"{head}."


def _render_worse(ranking: Ranking, noun: str, detailed: bool = True) -> str:
    """Write which learners are significantly worse than the leading group or the first learner."""
    group = (*ranking.best, *ranking.not_worse)
    if len(group) > 1 and (pairs := _list_group_wins(ranking)):
        subject, verb = _ALL_OF.get(len(group), f"All {len(group)}"), "beat"
    else:
        subject, verb = "It" if len(group) == 1 else ranking.names[0], "beats"
        pairs = [pair for name in ranking.worse if (pair := ranking.find_pair(ranking.names[0], name)) is not None]
    if ranking.if_independent:
        is_name = subject == ranking.names[0]
        subject = f"If the rows are independent, {subject if is_name else subject[:1].lower() + subject[1:]}"
    if detailed:
        return f"{subject} {verb} {join_names(ranking.worse)} ({_describe_pairs(ranking, pairs)})."
    is_short = len(ranking.worse) <= _MAX_HEADLINE_NAMES
    names = join_names(ranking.worse) if is_short else f"{len(ranking.worse)} other {make_plural(noun)}"
    return f"{subject} {verb} {names}."


def _list_group_wins(ranking: Ranking) -> list[PairDifference]:
    """List the comparisons of the leading group with the significantly worse learners.

    The list is empty unless all of these comparisons are significant.
    """
    group = (*ranking.best, *ranking.not_worse)
    pairs = [ranking.find_pair(name, other) for name in group for other in ranking.worse]
    wins = [pair for pair in pairs if pair is not None and ranking.is_significant(pair) and not pair.is_reversed]
    return wins if len(wins) == len(pairs) else []


def _render_reversed(ranking: Ranking) -> str:
    pairs = [pair for pair in ranking.significant_pairs if pair.is_reversed and pair.better == ranking.names[0]]
    if not pairs:
        return ""
    condition = " and if the rows are independent" if ranking.if_independent else ""
    names = join_names([pair.other for pair in pairs])
    relation = f"{'is' if len(pairs) == 1 else 'are'} significantly better than {ranking.names[0]}"
    return f"On the rows that both predict{condition}, {names} {relation} ({_describe_p(ranking, pairs)})."


def _render_other_pairs(ranking: Ranking) -> str:
    """Write the significant pairs that other sentences do not mention."""
    named_pairs = _list_group_wins(ranking)
    others = [
        pair
        for pair in ranking.significant_pairs
        if ranking.names[0] not in (pair.better, pair.other) and not pair.is_reversed and pair not in named_pairs
    ]
    if not others:
        return ""
    condition = "If the rows are independent, " if ranking.if_independent else ""
    if len(others) > _MAX_LISTED_DIFFERENCES:
        return f"{condition}{len(others):,} other pairs also differ significantly."
    named = [f"{pair.better} beats {pair.other} ({_describe_p(ranking, [pair])})" for pair in others]
    return f"{condition}{join_names(named)}."


def _render_control(ranking: Ranking, scope: str, noun: str) -> list[str]:
    order = {name: position for position, name in enumerate(ranking.names)}
    control = str(ranking.control)
    better: list[str] = []
    worse: list[str] = []
    similar: list[str] = []
    undecided: list[str] = []
    for pair in ranking.pairs:
        name = pair.other if pair.better == control else pair.better
        if isnan(pair.p_adjusted):
            undecided.append(name)
        elif not ranking.is_significant(pair):
            similar.append(name)
        else:
            (better if order[name] < order[control] else worse).append(name)
    clauses = [
        f"{join_names(names)} {'is' if len(names) == 1 else 'are'} {relation}"
        for names, relation in (
            (better, f"significantly better than the control {control}"),
            (worse, f"significantly worse{'' if better else f' than the control {control}'}"),
        )
        if names
    ]
    if not clauses:
        return [f"{scope}no {noun} differs significantly from the control {control} ({_describe_none(ranking)})."]
    detail = _describe_pairs(ranking, ranking.significant_pairs, with_differences=False)
    sentences = [f"{scope}{' and '.join(clauses)} ({detail})."]
    if similar:
        sentences.append(f"There is no significant difference between {control} and {join_names(similar, conjunction='or')}.")
    if undecided:
        sentences.append(f"No test of {control} against {join_names(undecided, conjunction='or')} was possible.")
    return sentences


def _describe_none(ranking: Ranking) -> str:
    defined = [pair for pair in ranking.pairs if not isnan(pair.p_adjusted)]
    smallest = min(defined, key=lambda pair: pair.p_adjusted)
    p = _describe_p(ranking, [smallest])
    smallest_p = p if len(defined) == 1 else f"smallest {p}"
    return _append_test(f"0 of {len(defined):,}, {smallest_p}", ranking)


def _append_test(text: str, ranking: Ranking) -> str:
    return (", " if not ranking.tests else "; ").join(filter(None, [text, describe_test(ranking)]))


def _describe_pairs(ranking: Ranking, pairs: Sequence[PairDifference], with_differences: bool = True) -> str:
    """Write the differences, the p-values, and the test that produced them."""
    parts = [_describe_differences(ranking, pairs)] if with_differences else []
    text = ", ".join(filter(None, [*parts, _describe_p(ranking, pairs)]))
    return _append_test(text, ranking)


def _describe_differences(ranking: Ranking, pairs: Sequence[PairDifference]) -> str:
    differences = [pair.difference for pair in pairs]
    if not differences or not all(isfinite(difference) for difference in differences) or not ranking.measure:
        return ""
    if len(pairs) == 1:
        pair = pairs[0]
        # With several data sets, answers with intervals would be too long.
        has_interval = isfinite(pair.low) and isfinite(pair.high) and not (pair.is_simultaneous and ranking.scope)
        interval = f", {_describe_interval(ranking, pair)}" if has_interval else ""
        return f"{ranking.measure} {format_difference(pair.difference)}{interval}"
    if len(pairs) <= _MAX_LISTED_DIFFERENCES and len({pair.better for pair in pairs}) == 1:
        return f"{ranking.measure} {join_names([format_difference(difference) for difference in differences])}"
    low, high = (format_difference(limit) for limit in sorted((min(differences), max(differences)), key=abs))
    return f"{ranking.measure} {low}" if low == high else f"{ranking.measure} {low} to {high}"


def _describe_interval(ranking: Ranking, pair: PairDifference) -> str:
    simultaneous = "simultaneous " if pair.is_simultaneous else ""
    return simultaneous + format_interval(pair.low, pair.high, ranking.level)


def _describe_p(ranking: Ranking, pairs: Sequence[PairDifference]) -> str:
    largest = max(pairs, key=lambda pair: pair.p_adjusted)
    is_bound = len(pairs) > 1 or largest.p_is_bound
    adjusted = "adjusted " if len(ranking.pairs) > 1 or largest.is_simultaneous else ""
    return adjusted + format_p_value(largest.p_adjusted, ranking.alpha, at_most=is_bound)


def describe_test(ranking: Ranking) -> str:
    """Write which test decides a ranking, how p-values are adjusted, and the number of cases.

    >>> describe_test(Ranking(("a", "b"), (0.9, 0.8), "AUC", (), tests=("DeLong test",), n=3000, unit="row"))
    'DeLong test, 3,000 rows'
    """
    size = format_count(ranking.n, ranking.unit) if ranking.n else ""
    fewest, most = ranking.predictions_per_row
    if size and most > 1:
        size += f" with {f'{fewest:,} to ' if fewest < most else ''}{most:,} predictions each"
    if size and ranking.clusters:
        size += f" in {format_count(ranking.clusters, 'cluster')} ({ranking.cluster})"
    parts = [" and ".join(ranking.tests), ranking.adjustment, size]
    return ", ".join(filter(None, parts))


# Verdicts: results
TEMPLATES |= {
    "test_result": "{test}, {k} {nouns}, {n} {units}: {symbol} = {statistic:number}, {p:p}.",
    "effect_size": "effect size: {name} {estimate:number}{note:parentheses}.",
    "effect_size_interval": "effect size: {name} {estimate:number}, {interval:interval}{note:parentheses}.",
    "effect_size_of_pair": "effect size of {first} over {second}: {name} {estimate:number}{note:parentheses}.",
    "effect_size_interval_of_pair": (
        "effect size of {first} over {second}: {name} {estimate:number}, {interval:interval}{note:parentheses}."
    ),
    "pair_of_test": "the test result is that of {first} and {second}, the pair with the smallest p-value.",
    "posterior": "{test}: P({first} better) = {p_first:.3f}, P({second} better) = {p_second:.3f}.",
    "posterior_with_rope": (
        "{test}: P({first} better) = {p_first:.3f}, P(difference within {rope:g}) = {p_rope:.3f}, "
        "P({second} better) = {p_second:.3f}."
    ),
    "posterior_undefined": "{test}: the probabilities are undefined.",
    "margin_decision": (
        "{first} is {decision} to {second} ({measure} {difference:difference}, {interval:interval}, margin {margin:g})."
    ),
    "margin_not_equivalent": (
        "{first} is {decision} to {second}, but equivalence is not shown ({measure} {difference:difference}, "
        "{interval:interval}, margin {margin:g})."
    ),
    "margin_inconclusive": (
        "{first} against {second}: inconclusive ({measure} {difference:difference}, {interval:interval}, margin {margin:g})."
    ),
    "margin_inconclusive_needed": (
        "{first} against {second}: inconclusive ({measure} {difference:difference}, {interval:interval}, margin {margin:g}). "
        "A decision would need about {needed:,} {units}."
    ),
    "margin_inconclusive_always": (
        "{first} against {second}: inconclusive ({measure} {difference:difference}, {interval:interval}, margin {margin:g}). "
        "More {units} would not allow a decision."
    ),
    "margin_few_units": (
        "{first} against {second}: inconclusive (margin {margin:g}), because {n} {units} are too few for {level:percent} "
        "confidence limits. A decision would need about {needed:,}."
    ),
    "margin_undefined": ("{first} against {second}: inconclusive (margin {margin:g}), because the differences do not vary."),
    "omnibus_without_pairs": "the {nouns} differ overall, but no single pair differs significantly.",
    "pairs_without_omnibus": (
        "the overall test is not significant, although some pairs are: interpret these pairs with caution."
    ),
    "no_verdict": "there is no verdict {where}.",
    "rank_reversal": "{where}, {first} ranks first and {former} ranks {rank}{difference}.",
    "pair_difference": (
        "the mean difference is {difference:number} ({interval:interval}); {first} is better on {wins} of {units}."
    ),
    "pair_difference_ranks": (
        "the difference is {difference:number} (Hodges-Lehmann estimate, {interval:interval}); {first} is better on {wins} of "
        "{units}."
    ),
    "rank_kept": "{first} also ranks first {where}.",
    "pair_undecidable": "{units} are too few to show a difference between {first} and {second}.",
    "pair_needs": (
        "even the smallest possible p-value ({smallest:.2g}) is not significant; at least {needed} data sets with different "
        "scores are needed."
    ),
    "no_pair_decidable": "with {units}, no pair of {nouns} can differ significantly.",
    "pairs_different": "{significant} of {pairs:count pair} of {nouns} {significant:is} significantly different: {wins}.",
    "many_pairs_different": "{significant} of {pairs:count pair} of {nouns} are significantly different.",
    "no_pair_different": "no pair of {nouns} is significantly different (0 of {pairs}, smallest adjusted {p:p}).",
    "other_measure": (
        "the study declares {measure} for its verdict. Tests of other measures are exploratory: their p-values are not "
        "adjusted for the number of measures."
    ),
    "no_variation": "the differences do not vary, so no test is possible.",
    "p_value_meaning": (
        "The p-value is the probability of differences at least this large if all {nouns} were equally good. "
        "A large p-value does not show equality."
    ),
}

# Verdicts: caveats
TEMPLATES |= {
    "single_dataset": "only one data set: the result does not generalize to other data sets.",
    "folds_or_repeats": (
        "All {folds} splits are treated as folds of one cross-validation. If they are repeats, add a column 'repeat' or pass "
        "<test_fraction=FRACTION>."
    ),
    "few_datasets_parametric": (
        "{n:count data set} {n:is} too few to check the assumptions of a parametric test: ranks are compared."
    ),
    "cannot_decide": (
        "it cannot be decided which {nouns} differ: with {n:count data set}, even the smallest possible adjusted p-value is "
        "not significant ({smallest:p}). At least {needed:count data set} on which the {nouns} differ are needed."
    ),
    "posthoc_cannot_decide": (
        "no pair can be decided: with {n:count data set}, even the smallest possible adjusted p-value is not significant "
        "({smallest:p}). Add data sets."
    ),
    "finner_error": (
        "Finner does not control the family-wise error rate if some {nouns} differ (14 % instead of 5 % in an example). "
        "Use it only to reproduce a published study; otherwise, use Holm or Bergmann-Hommel."
    ),
    "false_discovery_rate": (
        "{method} controls the false discovery rate (the expected proportion of false positives among the significant pairs), "
        "not the family-wise error rate (the probability of at least one false positive)."
    ),
    "sign_test": "the sign test, which ignores the size of the differences, gives {p:p}.",
    "asymmetric_differences": (
        "the differences are strongly asymmetric (skewness {skewness:.2g}): the Wilcoxon test does not compare medians here; "
        "the sign test does."
    ),
    "asymmetric_margins": (
        "the differences are strongly asymmetric for {pairs:count pair} ({pairs}), but {limits} confidence limits assume "
        "{shape} differences: the error rate of decisions at the margin may exceed alpha."
    ),
    "margin_disagreement": (
        "confidence limits and p-values lead to different conclusions for {pairs:count pair} ({pairs}). The limits ({test}) "
        "are adjusted over {m:count pair} by Bonferroni; the p-values ({p_test}) are adjusted by {adjustment}."
    ),
    "margin_disagreement_unadjusted": (
        "confidence limits and p-values lead to different conclusions for {pairs:count pair} ({pairs}). The limits ({test}) "
        "are adjusted over {m:count pair} by Bonferroni; the p-values ({p_test}) are not adjusted."
    ),
    "margin_disagreement_ties": (
        "confidence limits and p-value lead to different conclusions: with equal scores or ties, the limits are conservative."
    ),
    "margin_disagreement_f": (
        "confidence limits and p-value lead to different conclusions: the limits are those of the 5x2 cv t test, and the "
        "p-value is that of the F test."
    ),
    "asymmetric_margin": (
        "the differences are strongly asymmetric (skewness {skewness:.2g}), but {limits} confidence limits assume {shape} "
        "differences: the error rate of decisions at the margin may exceed alpha."
    ),
    "cannot_decide_pair": (
        "it cannot be decided whether {first} and {second} differ: with {n:count data set} on which their scores differ, even "
        "the smallest possible p-value is not significant ({smallest:p}). At least {needed} such data sets are needed."
    ),
    "f_without_direction": (
        "the 5x2 cv F test ({p:p}) does not show which {noun} is better. A winner is named only if the 5x2 cv t interval also "
        "excludes zero. The p-value of the pair is the larger of those of the F test and the t test."
    ),
    "same_scores_of_pair": "{first} and {second} have the same score on every split.",
    "adjusted_interval": "the confidence level of the effect size interval is adjusted to match the adjusted p-value.",
}

TEMPLATES |= {
    "independent_datasets": "the test assumes that the data sets are independent of each other.",
    "normal_differences": "the test assumes normal differences between {nouns}.",
}

# Verdicts: reasons for the choice of a test
TEMPLATES |= {
    "design": "read {design}.",
    "wide_table": "the table is wide: one column per learner; column {column!r} names the data sets.",
    "wide_table_index": "the table is wide: one column per learner; the index names the data sets.",
    "wide_table_splits": "the table is wide: one column per learner; the rows are {role}s of one data set.",
    "wide_table_unnamed": "the table is wide: one column per learner; the data sets have no names.",
    "wide_table_key": "column {column!r} numbers the {role}s.",
    "tidy_table": "the table is tidy: one row per score; columns are {columns}.",
    "direction_requested": "as requested, {size} scores are better.",
    "direction_of_measure": "for {measure}, {size} scores are better.",
    "direction_default": "larger scores are assumed to be better (if not, pass <better=min>).",
    "summary_rows": "left out {rows:count row} ({rows:quoted}): summaries of other rows are not data sets.",
    "summary_columns": "left out {columns:count column} ({columns:quoted}): summaries of other columns are not {nouns}.",
    "count_columns": "left out {columns:count column} ({columns:quoted}): counts are not scores of a {noun}.",
    "other_columns": "left out {columns:count column} ({columns:quoted}): not named like a {noun}.",
    "same_test_set": "all runs have the same test rows: the result does not generalize to other training or test rows.",
    "missing_splits": "left out {splits:count split} on which some {nouns} have no score.",
    "missing_datasets": "left out {datasets:count data set} with missing scores ({datasets}).",
    "missing_datasets_fewer": (
        "left out {datasets:count data set} with missing scores ({datasets}). Leaving out {nouns} would lose more scores."
    ),
    "missing_learners": "left out {learners:count learner} with missing scores ({learners}).",
    "missing_learners_fewer": (
        "left out {learners:count learner} with missing scores ({learners}). Leaving out data sets would lose more scores."
    ),
    "missing_scores_bias": "if scores are missing because a {noun} failed, leaving them out favours that {noun}.",
    "averaged_splits": (
        "repeats and folds of a data set are not independent, so their scores are averaged: n is {datasets} data sets, not "
        "{splits} splits."
    ),
    "rank_test_default": "rank-based test, the default.",
    "parametric_used": "parametric test (as requested): its assumptions are not rejected.",
    "parametric_refused": "rank-based test instead of the requested parametric test, whose assumptions do not hold.",
    "normality_constant": "for {constant} of {pairs:count pair}, the differences do not vary, so normality cannot be tested.",
    "normality_few_datasets": "too few data sets to test whether the differences are normal.",
    "normality_rejected": (
        "for {rejected} of {tested:count pair}, the differences are not normal (Shapiro-Wilk, smallest adjusted {p:p})."
    ),
    "normality_kept": "normality of the differences is not rejected (Shapiro-Wilk, smallest adjusted {p:p}).",
    "sphericity_few_datasets": "too few data sets to test whether all differences have the same variance.",
    "sphericity_constant": "equal variance of the differences cannot be tested because some do not vary.",
    "sphericity_collinear": "equal variance of the differences cannot be tested because some are determined by others.",
    "sphericity_rejected": "the differences do not all have the same variance (Mauchly test, {p:p}).",
    "sphericity_kept": "equal variance of the differences is not rejected (Mauchly test, {p:p}).",
    "test_wilcoxon": "the Wilcoxon signed-rank test compares 2 {nouns} on {n:count data set} and does not assume normality.",
    "test_paired_t": "the paired t test compares 2 {nouns} on several data sets (as requested).",
    "test_friedman": (
        "the Friedman test compares the ranks of {k} {nouns} on {n:count data set}. The Iman-Davenport form is less "
        "conservative than the chi-squared form."
    ),
    "test_anova": (
        "repeated-measures ANOVA compares {k} {nouns} on {n:count data set} (as requested). The Greenhouse-Geisser "
        "correction allows for unequal variances."
    ),
    "test_five_by_two": (
        "the 5x2 cv F test (Alpaydin) is designed for 5 repeats of 2 folds of one data set, which share training rows."
    ),
    "test_paired_t_runs": (
        "the paired t test compares {n:count run} with different seeds on the same training and test rows (as stated)."
    ),
    "test_corrected_t": (
        "the corrected resampled t test (Nadeau-Bengio) allows for the overlap of {n:count split} of one data set; "
        "each test set contains {fraction:percent} of the rows."
    ),
    "posthoc_bergmann": (
        "Bergmann-Hommel adjusts the p-values of all pairs. It is more powerful than Holm and Shaffer and feasible up to "
        "{limit} {nouns}."
    ),
    "posthoc_shaffer": (
        "Shaffer adjusts the p-values of all pairs. It is at least as powerful as Holm; Bergmann-Hommel is slow with more than "
        "{limit} {nouns}."
    ),
    "posthoc_holm": "Holm adjusts the p-values of the comparisons with the control.",
    "posthoc_tukey": "Tukey's test compares all pairs after ANOVA.",
    "posthoc_dunnett": "Dunnett's test compares each {noun} with the control after ANOVA.",
    "posthoc_test": "each pair is compared by this test: {test}.",
    "posthoc_gate": "with so few data sets, a pair can be significant only if the overall test is (closed testing).",
    "posthoc_no_gate": "the pairs are decided by their adjusted p-values, whether or not the overall test is significant.",
    "posthoc_requested": "the p-values are adjusted by {method} (as requested).",
    "posthoc_unadjusted": "the p-values are not adjusted (as requested): some pairs may be significant by chance.",
    "posthoc_replaced": "{method} needs ANOVA, so it is not used.",
    "posthoc_unused": "no post-hoc procedure is needed for one comparison ({method} is ignored).",
    "rope_used": "{test} estimates the probability of practical equivalence (differences within {rope:g}).",
    "rope_used_pairs": (
        "{test} estimates the probability of practical equivalence (differences within {rope:g}) for each of {pairs} pairs."
    ),
    "margin_limits": "decisions at the margin {margin:g} use {level:percent} confidence limits ({test}).",
    "margin_limits_adjusted": (
        "decisions at the margin {margin:g} use {level:percent} confidence limits ({test}), adjusted over {pairs:count pair} "
        "(Bonferroni)."
    ),
}
TOPICS |= {
    "design": "scores",
    **dict.fromkeys([kind for kind in TEMPLATES if kind.startswith("wide_table")], "scores"),
    "tidy_table": "scores",
    **dict.fromkeys([kind for kind in TEMPLATES if kind.startswith("direction_")], "direction"),
    **dict.fromkeys([kind for kind in TEMPLATES if kind.startswith("missing_")], "missing scores"),
    **dict.fromkeys(["summary_rows", "summary_columns", "count_columns", "other_columns"], "excluded rows and columns"),
    "averaged_splits": "repeats and folds",
    **dict.fromkeys([kind for kind in TEMPLATES if kind.startswith(("normality_", "sphericity_"))], "assumptions"),
    **dict.fromkeys(["rank_test_default", "parametric_used", "parametric_refused"], "rank-based or parametric"),
    **dict.fromkeys([kind for kind in TEMPLATES if kind.startswith("test_") and kind != "test_result"], "test"),
    **dict.fromkeys([kind for kind in TEMPLATES if kind.startswith("posthoc_")], "pairs"),
    **dict.fromkeys([kind for kind in TEMPLATES if kind.startswith("rope_")], "practical equivalence"),
    **dict.fromkeys(["margin_limits", "margin_limits_adjusted"], "margin"),
}

# Methodology checks that judgements and studies share (significance/methodology.py)
TEMPLATES |= {
    "FT002": (
        "imbalanced classes: always predicting {largest!r} gives an accuracy of {proportion:percent}. Use balanced "
        "accuracy or MCC instead of {measure}."
    ),
    "FT003": "class {label!r} has only {rows:count row}: rates of this class are imprecise. Add rows of this class.",
    "few_rows": "only {rows:count row}: intervals are wide and tests have little power. Add rows.",
    "FT008": (
        "{test}: {datasets:count data set} with differences, but at least {limit} are needed. Restrict conclusions to these "
        "data sets."
    ),
}

# Judgements: notes (predictions/)
TEMPLATES |= {
    "approximate_ranks": "approximate: ranks are interpolated between {marks:,} scores of the rarer class.",
    "average_precision_differs": (
        "average precision ranks a different model first than AUC{datasets:on}: {models}. Only {proportion:percent} of the "
        "rows are {label!r}; to compare models by average precision, pass <measures=average_precision>."
    ),
    "below_chance": ("the AUC of {models}{datasets:on} is below chance: the scores may be those of the other class; {remedy}."),
    "binary_only": (
        "{measures} {measures:is} omitted{datasets:on}, because there are more than two classes and no positive class (pass "
        "<positive=LABEL>)."
    ),
    "class_never_predicted": (
        "{models} never predict{models:s} {label!r}{datasets:on}: the precision of this class is undefined."
    ),
    "class_order": (
        "{measures} {measures:is} computed with the classes in sort order{datasets:on} ({classes}): if this order is wrong, "
        "rename the classes, e.g. '1 low'."
    ),
    "class_without_rows": "class {label!r} has scores but no rows{datasets:on}.",
    "count_intervals": (
        "more than {limit:,} rows: intervals are computed by faster methods (closed formulas, resampled counts, or the "
        "percentile bootstrap with {resamples:count resample})."
    ),
    "delong_approximate": (
        "the DeLong test is approximate{datasets:on}: ranks are interpolated between {marks:,} scores of the rarer class."
    ),
    "delong_omitted": "the DeLong test is omitted{datasets:on}: it needs at least {needed:count row} of each class.",
    "file_format": "the file has {peculiarities}.",
    "dropped_missing": "{rows:count row} of {total:,} {rows:was} removed because values are missing.",
    "duplicated_lines": (
        "{lines:count line} repeat{lines:s} an earlier line exactly: remove duplicates, because intervals and tests assume "
        "independent rows."
    ),
    "duplicated_rows": (
        "{lines:count line} {lines:was} removed because the same row, labels and scores occur earlier in the file."
    ),
    "disjoint_rows": "{first} and {second} predict no common rows{datasets:on}: they are not compared.",
    "interval_of_other_method": (
        "the interval of {first} - {second}{scope} excludes zero, but the difference is not significant: the test uses another "
        "method."
    ),
    "interval_unadjusted": (
        "the interval of {first} - {second}{scope} excludes zero, but the difference is not significant: p is adjusted, but "
        "the interval is not."
    ),
    "inverted_pair": "no comparison with {models} can be decided, because the scores of {models} look inverted.",
    "labels_of_file": "the predicted labels of {models} come from the file.",
    "label_rule": "predicted labels of {models}{datasets:on}: {rule}.",
    "labels_from_probabilities": "no predicted labels for {models}{datasets:on}: using the most probable class.",
    "labels_from_scores": "no predicted labels for {models}{datasets:on}: using the class with the highest score.",
    "labels_from_threshold": "labels of {models}{datasets:on}: positive if the score is at least {threshold:number}.",
    "labels_from_signs": "no predicted labels for {models}{datasets:on}: using the sign of the score.",
    "gap_few_cases": (
        "no confidence limits: {measure} depends on only {cases} (rows or clusters) in the {subject}, but at least {needed} "
        "are needed"
    ),
    "gap_many_rows": "no confidence limits: the jackknife of {measure} takes too long with more than {limit:count row}",
    "gap_streamed": "no confidence limits: for weighted or clustered rows, they cannot be computed from a streamed file",
    "gap_undefined": "{measure} of the {subject} is undefined because {reason}",
    "gap_without_limits": "no confidence limits: there is no standard error of {measure} for these rows",
    "gaps_in_other_measures": (
        "{condition}there are significant gaps in other measures (p adjusted over {measures:count measure}): {gaps}{more}."
    ),
    "gaps_none": "{condition}no subgroup differs significantly from the rest in {measure} (largest {tested}: {gap}).",
    "gaps_significant": "{condition}{measure} differs significantly between a subgroup and the rest: {gap}{counts}.",
    "untested_gap_few_cases": "there are too few cases (rows or clusters) in the subgroups or in the rest",
    "untested_gap_many_rows": "the jackknife of {measure} takes too long with more than {limit:count row}",
    "untested_gap_streamed": "this test of weighted or clustered rows is not possible for a streamed file",
    "untested_gap_without_limits": "there is no standard error of {measure} for these rows",
    "gaps_undecided": "gaps in {measure} between subgroups and the rest cannot be tested: {reason}.",
    "many_subgroups": (
        "column {column!r} has {subgroups:,} values, too many for subgroups: it is ignored. Merge them into at most {limit} "
        "subgroups, e.g. age into age bands."
    ),
    "matched_labels": "labels of {models} were matched to the true labels ({aliases}).",
    "missing_labels": (
        "{models} {models:has} no label for {missing:,} of {rows:count row}{datasets:on}: missing labels count as errors."
    ),
    "no_labels": (
        "no predicted labels for {models}{datasets:on}, and all scores have the same sign: measures of predicted labels are "
        "omitted."
    ),
    "no_test": "no test of {measure} is possible here, so it cannot be decided whether one model is better.",
    "no_comparison": "no comparison over {units}: {reason}.",
    "not_probabilities": (
        "scores of {models}{datasets:on} do not sum to 1 (off by up to {deviation:.3g}): they are not treated as "
        "probabilities, and measures of probabilities are omitted."
    ),
    "partial_overlap": (
        "{first} and {second} predict different rows{datasets:on} ({first_rows:,} and {second_rows:,}): paired tests use the "
        "{common:count common row}."
    ),
    "percentages": "the values of {columns:quoted} were read as percentages: 96.5% is 0.965.",
    "permutation_omitted": (
        "more than {limit:,} rows: slow permutation tests are replaced by z tests with bootstrap standard errors."
    ),
    "pooled_folds": "{measure} pools the scores of all folds and assumes that they have the same scale.",
    "numbered_predictions": (
        "{models} predict{models:s} some rows several times ({lines:count further line} with the same {column!r}): all "
        "predictions are used, and those for the same row form a cluster."
    ),
    "repeated_predictions": (
        "rows are predicted several times: all predictions are used, and those for the same row form a cluster."
    ),
    "rescaled_probabilities": (
        "probabilities of {models}{datasets:on} sum to 1 only within rounding error (off by up to {deviation:.2g}): they are "
        "rescaled."
    ),
    "rows_in_file_order": (
        "no column identifies the rows: they are assumed to be in the same order for each model (pass <row=COLUMN>)."
    ),
    "rows_unidentified": "no column identifies the rows: a streamed file needs one to compare models (pass <row=COLUMN>).",
    "several_conditions": "the file has {conditions:count condition}: only the {lines:count line} of {condition} are judged.",
    "single_subgroup": (
        "every row has the value {subgroup!r} in column {column!r}: there is no rest to compare this subgroup with."
    ),
    "small_class": "a class has only {rows:count row}",
    "small_subgroup": "only {rows:count row}: too few to judge",
    "streamed_file": (
        "the file is streamed. Omitted: permutation and bootstrap tests of measures of scores or probabilities, the expected "
        "calibration error, intervals of the AUC of several classes, and comparisons over data sets or folds. Subgroups are "
        "compared only by measures of predicted labels."
    ),
    "streamed_clusters": (
        "because the file is streamed, clusters are supported only in intervals of proportions and AUCs, and in tests of AUCs "
        "and of predicted labels. Other intervals and tests are omitted."
    ),
    "streamed_weights": (
        "rows have weights, which are used in measures, curves and the bootstrap of measures of predicted labels. The McNemar "
        "and DeLong tests do not support weights, and measures have no intervals."
    ),
    "unequal_rows": (
        "{fewer} {fewer:has} fewer than {rows:count row}{datasets:on}: measures cover different rows, and paired tests "
        "use the common rows."
    ),
    "unknown_label": "{models} predict{models:s} {label!r}{datasets:on}, which is not a true label: it counts as an error.",
    "unknown_labels": (
        "{models} predict{models:s} {labels:,} labels{datasets:on} that are not true labels, e.g. {example!r}: they count as "
        "errors."
    ),
    "undeclared_clusters": (
        "column {column!r} has {values:,} values in {rows:count row}: rows with the same value may depend on each other, and "
        "then intervals are too narrow and p-values too small. Pass <cluster={column}>."
    ),
    "unused_prediction": (
        "column {column!r} is named like a prediction but is not used (pass <prediction=COLUMN> or <scores=COLUMN>)."
    ),
    "unused_probabilities": (
        "{columns:quoted} {columns:has} only numbers between 0 and 1 but {columns:is} not used (pass <scores=COLUMN> if they "
        "are scores)."
    ),
    "unnamed_labels": (
        "{columns:quoted} also {columns:has} predicted labels but {columns:is} not judged: to compare models, pass "
        "<prediction=COLUMN> for each model."
    ),
    "unnamed_scores": (
        "{columns:quoted} may also contain scores but {columns:is} not judged: to compare models, pass "
        "<scores=MODEL=COLUMN> for each model."
    ),
    "unused_numbers": (
        "{columns:quoted} {columns:is} not used as scores, because other columns contain probabilities (pass "
        "<scores=MODEL=COLUMN> for each model to judge them)."
    ),
    "unused_second_labels": (
        "column {column!r} looks like predicted labels but is not used, because another column has them "
        "(to judge it, pass <prediction=COLUMN> for each model)."
    ),
    "unused_text": (
        "column {column!r} contains numbers but is not used, because of values such as {text!r}: correct them if the column "
        "contains scores."
    ),
    "unused_unknown_label": (
        "column {column!r} looks like predicted labels but is not used, because {label!r} is not a true label "
        "(to judge it, pass <prediction=COLUMN> for each model)."
    ),
    "weights_used": (
        "rows have weights, which are used in measures, intervals, curves and the permutation test. The McNemar and DeLong "
        "tests do not support weights."
    ),
    "zero_scores": (
        "scores of {models}{datasets:on} are all zero in {zero:,} of {rows:count row}: they are not treated as probabilities, "
        "and measures of probabilities are omitted."
    ),
}

# Studies: context of a verdict (study/results/)
TEMPLATES |= {
    "condition": "condition: {condition} ({effect}).",
    "resampling": "resampling: {scheme}.",
    "incomplete": "the verdict is provisional: {missing:,} of {trials:count trial} {missing:has} not run.",
    "measure_unavailable": "{error}.",
    "undefined_scores": ("{measure} is undefined in {undefined:,} of {trials:count trial}, so the value is NaN: {causes}."),
    "failures": "{failed:,} of {trials:count trial} failed ({by_learner}).",
    "failed_learners_excluded": "left out {learners}, which never succeeded.",
    "groups_in_both_sets": (
        "rows of the same group ({columns}) are in the training and the test set of {datasets}: scores apply to known groups, "
        "not to new ones."
    ),
    "groups_undecidable": (
        "no pair can be decided because rows of the same group ({columns}) are in the training and the test set of {datasets}. "
        'Use [resampling] scheme = "group" or "stratified-group".'
    ),
    "failed_datasets_excluded": "left out {datasets:count data set} with failed trials ({datasets}).",
    "failures_worst_score": "a failed trial counts as the worst possible score.",
    "failures_worst_rank": "a learner that fails on any split of a data set gets the worst rank on that data set.",
    "failures_trivial": (
        "a failed trial counts as the score of a trivial classifier, which predicts the class proportions of the training set."
    ),
}
TOPICS |= {
    "condition": "condition",
    "resampling": "resampling",
    "incomplete": "completeness",
    **dict.fromkeys([kind for kind in TEMPLATES if kind.startswith(("failures", "failed_"))], "failed trials"),
}

# Studies: notes on trials and means (study/results/summary.py)
TEMPLATES |= {
    "scheme_leaders": "with {schemes}, {leaders} rank{leaders:s} first.",
    "scheme_leaders_unclear": "with {schemes}, {leaders} rank{leaders:s} first, but not significantly.",
    "condition_leaders": "under {conditions}, {leaders} rank{leaders:s} first.",
    "condition_leaders_unclear": "under {conditions}, {leaders} rank{leaders:s} first, but not significantly.",
    "means_with_missing_datasets": "* without data sets on which the {noun} failed or has no value.",
    "trials_missing": "the study is incomplete: {missing:,} of {trials:count trial} {missing:has} not run.",
    "guessed_targets": (
        "the last column ({columns}) is used as the class of {datasets}, because no target is declared. Declare target to "
        "choose another column."
    ),
    "condition_not_applied": "could not apply {conditions} to {datasets}: {reason}",
    "trials_failed": (
        "{learners} failed in {failed:count trial} on {datasets:count data set} ({causes}); first failure: {reason}"
    ),
    "abstentions": (
        "{learner} abstained on {abstained:,} of {rows:count test row} in {abstaining:,} of {trials:count trial}; "
        "abstentions count as errors."
    ),
    "learner_warnings": "{learners} gave warnings in {warned:count trial}; first warning: {reason}",
    "slow_fits": (
        "fitting took more than {ratio:g} times its CPU time on {datasets:count data set} ({learners}): the machine was "
        "overloaded or the {noun} waited. Compare CPU times."
    ),
    "machine_oversubscribed": "the machine was oversubscribed ({causes}), so wall-clock times are too long. Compare CPU times.",
    "splits_left_out": (
        "means of {measure} leave out {left_out:,} of {splits:count split} on which some {nouns} have no value ({datasets})."
    ),
}

# Significance: caveats of tests
TEMPLATES |= {
    "all_differences_zero": "all differences are zero, so p is 1.",
    "all_scores_equal": "all learners have equal scores on every data set: the statistic is undefined and p is 1.",
    "approximate_p": "the p-value is approximate and assumes independent data sets.",
    "assumed_folds": "the {folds} scores are assumed to be the folds of one cross-validation because test_fraction is missing.",
    "bca_unavailable": "the BCa interval does not exist here: percentile limits are reported.",
    "calibrated_by_simulation": "this test was calibrated by simulation; corrected_resampled_t is derived from theory.",
    "chains_not_converged": "the chains have not converged (R-hat {r_hat:.2f}): increase samples and warm_up.",
    "constant_folds": (
        "on {datasets}, the difference is the same in every fold, so the model treats the mean difference as known exactly."
    ),
    "constant_resamples": "all resamples give the same difference: the interval is not informative.",
    "corrected_p": "details['p_corrected'] does not assume sphericity.",
    "estimated_sd": "the standard deviation is estimated from this study, and the results inherit its uncertainty.",
    "few_datasets_for_prediction": "with {datasets:count data set}, the prediction for the next data set depends on the prior.",
    "few_discordant_rows": "only {rows:count discordant row}: the chi-squared approximation is poor below {needed:.0f}.",
    "fixed_training_set": "the test accounts for the choice of test rows, not for the choice of training rows.",
    "fold_order": "the p-value depends on the order of the folds; that of five_by_two_f does not.",
    "global_auc_test": "the test shows whether any AUCs differ, not which: fairtrial.measures.differences compares pairs.",
    "no_discordant_rows": "no row distinguishes the {nouns}, so p is 1.",
    "constant_differences": "undefined: all differences are equal, and their spread is unknown.",
    "constant_differences_within": "undefined: the differences within each data set are equal, and their spread is unknown.",
    "normal_errors": "the errors are assumed to be normal.",
    "odd_ties": "the number of ties is odd: one tie is ignored in p.",
    "one_dataset_posterior": "the folds of one data set do not generalize to other data sets.",
    "pair_independence": "the pairs are assumed to be independent; use corrected_resampled_t for overlapping training sets.",
    "pairs_differ": "{significant:,} of {pairs:count pair} of {nouns} differ{significant:s} significantly in {measure}{named}.",
    "pair_differs": "{better} is significantly better than {worse} in {measure} ({adjusted}{p:p}).",
    "pair_similar": "{better} and {worse} do not differ significantly in {measure} ({adjusted}{p:p}).",
    "pairs_similar": "no pair of {nouns} differs significantly in {measure} (0 of {pairs:,}).",
    "best_by_dataset": "the {best}{measure} ranges from {low:number} ({first} {where}) to {high:number} ({last} {there}).",
    "measure_best": "{first} has the best {measure} ({low:number}{interval}); {last} has the worst ({high:number}).",
    "measure_range": "the {measure} ranges from {low:number} ({first}) to {high:number} ({last}).",
    "measure_single": "the {measure} of {first} is {low:number}{interval}.",
    "corp_band": (
        "CORP calibration curves show the observed frequency against the predicted probability. The curve of a calibrated "
        "model lies in the shaded band with a probability of {level:percent} at each point (pointwise). Dashed: perfect "
        "calibration. The test of calibration detects only probabilities that are too high, too low or wrongly spread, so a "
        "curve may leave its band although the test is not significant."
    ),
    "miscalibrated_counts": "significantly miscalibrated: {counts}.",
    "never_miscalibrated": "no {noun} is significantly miscalibrated on any of the {n_datasets:count data set}.",
    "calibrated": "{model} is not significantly miscalibrated{where}{condition} ({p_text}).",
    "calibrated_slope": (
        "{model} is not significantly miscalibrated{where}{condition} (calibration slope {slope:number}, {interval:interval}"
        "{bias}, {p_text}{note})."
    ),
    "calibrated_jointly": (
        "{model} is not significantly miscalibrated{where}{condition} (joint test of intercept and slope: {p_text}; "
        "calibration slope {slope:number}{note})."
    ),
    "calibration_few_rows": "there are too few rows to judge the calibration of {model}{where}{detail}.",
    "calibration_untested": "{model}{where}: {reason}",
    "ranking_reversed": (
        "the ranking of {model} is reversed{where}{condition} (calibration slope {slope:number}, {interval:interval}, "
        "{p_text}{note}): check the {remedy}."
    ),
    "overconfident": (
        "{model} is overconfident{where}{condition} (calibration slope {slope:number}, {interval:interval}{bias}, "
        "{p_text}{note})."
    ),
    "underconfident": (
        "{model} is underconfident{where}{condition} (calibration slope {slope:number}, {interval:interval}{bias}, "
        "{p_text}{note})."
    ),
    "probabilities_too_low": (
        "the probabilities{of_class} of {model} are too low{where}{condition} (O:E ratio {ratio:number}, {interval:interval}, "
        "{p_text})."
    ),
    "probabilities_too_high": (
        "the probabilities{of_class} of {model} are too high{where}{condition} (O:E ratio {ratio:number}, "
        "{interval:interval}, {p_text})."
    ),
    "miscalibrated": "{model} is miscalibrated{where}{condition} ({p_text}){reason}.",
    "useful_ranges": (
        "Thresholds at which the net benefit is significantly higher than that of treating all rows or none{where}: {ranges} "
        "(pointwise confidence limits)."
    ),
    "useful_thresholds": "{model} from {low:.2f} to {high:.2f}",
    "useful_thresholds_within": "{model} at some thresholds between {low:.2f} and {high:.2f}",
    "no_useful_threshold": (
        "{models} {models:is} not significantly better than treating all rows or none at any threshold{where}."
    ),
    "net_benefit_threshold": "net benefit is computed at threshold {threshold:g}{comparison}.{more}",
    "compared_by_other": (
        "models are compared by {main}, because the best {measure} is {target:g}, neither the largest nor the smallest."
    ),
    "compared_without_direction": "models are compared by {main}, because neither a higher nor a lower {measure} is better.",
    "all_certain": "every probability is 0 or 1 and correct, so calibration cannot be tested.",
    "certain_and_wrong": (
        "{rows:,} of {certain:count row} with a probability of 0 or 1 {rows:has} the opposite outcome, more than rounding "
        "explains."
    ),
    "weights_to_test": "calibration cannot be tested, because the rows have weights.",
    "few_clusters_to_test": "calibration cannot be tested with fewer than 10 clusters, got {clusters}.",
    "no_calibration_line": "the slope is undefined, so the likelihood ratio is too: use the score test.",
    "only_one_half": "every probability is 0.5, so the variance of the Brier score is 0.",
    "same_ranking": "the {nouns} rank all rows in the same order, so p is 1 and the interval is not informative.",
    "same_scores": "the two {nouns} have the same score on every split.",
    "separated_by_prior": "some learners beat others on every data set: the distance between them depends on the prior.",
    "separated_learners": "some learners beat others on every data set, or were never compared: set prior above 0.",
    "shared_scale": "the scores are swapped unchanged: both models must use the same scale.",
    "few_rows_to_decide": (
        "no difference can be significant: with {units:count row}, the adjusted p-value is at least {smallest:.2g}. Add rows."
    ),
    "few_clusters_to_decide": (
        "no difference can be significant: with {units:count cluster}, the adjusted p-value is at least {smallest:.2g}. Add "
        "clusters."
    ),
    "few_effective_rows": (
        "no comparison can be decided: weights or a rare class reduce the rows to an effective number of {effective:.0f}, but "
        "at least {needed} are needed."
    ),
    "few_cases": (
        "no comparison of AUCs can be decided: there are {positives:count positive case} and {negatives:count negative case}, "
        "but at least {needed} of each are needed."
    ),
    "few_case_clusters": (
        "no comparison of AUCs can be decided: there {clusters:is} {clusters:count cluster}, {positives:,} with positive cases "
        "and {negatives:,} with negative cases, but at least {needed_clusters} are needed, {needed} for each class."
    ),
    "constant_clusters": "all clusters show the same difference, so the test is undefined.",
    "tied_differences": "tied differences receive their mean rank.",
    "tied_ranks": "tied scores receive their mean rank.",
    "ties_dropped": "{ties:count tie} {ties:was} dropped.",
    "ties_split": "{ties:count tie} {ties:was} split evenly between wins and losses.",
    "undefined_permutations": (
        "the measure is undefined for {undefined:count permutation}; undefined values count as at least as extreme as the "
        "observed difference."
    ),
    "undefined_resamples": "the measure is undefined in {undefined:,} of {resamples:count resample}, which are left out.",
    "undefined_strengths": "the fit failed in {undefined:,} of {resamples:count resample}: set prior above 0.",
    "unweighted_test": "each row counts once because this test does not support weights.",
    "zeros_dropped": "{zeros:count zero difference} {zeros:was} dropped before ranking (Wilcoxon).",
    "zeros_pratt": "{zeros:count zero difference} {zeros:was} ranked but left out of the sums (Pratt).",
    "zeros_split": "{zeros:count zero difference} {zeros:was} ranked and split between the sums (Demšar).",
}

# Significance: what the probabilities of a posterior mean
TEMPLATES |= {
    "posterior_of_dataset": "the probabilities refer to the mean difference on this data set.",
    "posterior_of_datasets": (
        "each probability is the posterior probability that this outcome is the most probable one on a data set drawn at "
        "random."
    ),
    "posterior_of_next_dataset": "the probabilities refer to the difference on the next data set.",
}

# Resampling: findings about training and test rows (resampling/layout.py)
TEMPLATES |= {
    "train_test_overlap": "rows are in both the training and the test set of a split: {splits}. Estimates are too optimistic.",
    "overlapping_split": "{split} ({rows:,} of {test_rows:count test row})",
    "repeated_test_rows": "test sets contain rows more than once: {splits}.",
    "repeating_split": "{split} ({rows:count row})",
    "never_tested": "{rows:,} of {n_rows:count row} {rows:is} never tested, although the test sets look like folds.",
    "never_tested_in_repeat": (
        "{rows:,} of {n_rows:count row} {rows:is} never tested in repeat {repeat}, although the test sets look like folds."
    ),
    "tested_again": "{rows:,} of {n_rows:count row} {rows:is} tested more than once, although the test sets look like folds.",
    "tested_again_in_repeat": (
        "{rows:,} of {n_rows:count row} {rows:is} tested more than once in repeat {repeat}, "
        "although the test sets look like folds."
    ),
    "not_drawn": "{rows:,} of {n_rows:count row} {rows:is} never tested: the test sets are random draws, not folds.",
    "not_drawn_in_repeats": (
        "each repeat leaves {least:,} to {most:,} of {n_rows:count row} untested: the test sets are random draws, not folds."
    ),
    "absent_from_training": "classes are missing from training sets: {classes}.",
    "absent_from_test": "classes are missing from test sets: {classes}.",
    "absent_class": "{class_name} ({split})",
    "uneven_sizes": "test sets differ in size by more than one row: {ranges}.",
    "size_range": "{least:,} to {most:,} rows",
    "not_stratified": "the folds are not stratified: {ranges}.",
    "class_count_range": "class {class_name} has {least:,} to {most:,} test rows",
}

# Resampling: duplicates, shift and basis of an audit (resampling/audit.py)
TEMPLATES |= {
    "duplicates_above_chance": (
        "{rows:,} of {test_rows:count test row} ({proportion:percent}) {rows:has} a duplicate of the same class in the "
        "training set, more than in random stratified folds ({expected:number} expected, {p:p})."
    ),
    "duplicates_by_chance": (
        "{rows:,} of {test_rows:count test row} ({proportion:percent}) {rows:has} a duplicate of the same class in the "
        "training set, not significantly more than in random stratified folds ({expected:number} expected, {p:p}): the "
        "duplicates come from the data set, not from the splits."
    ),
    "conflicts_above_chance": (
        "{rows:,} of {test_rows:count test row} ({proportion:percent}) {rows:has} a duplicate of another class in the training "
        "set, more than in random stratified folds ({expected:number} expected, {p:p})."
    ),
    "conflicts_by_chance": (
        "{rows:,} of {test_rows:count test row} ({proportion:percent}) {rows:has} a duplicate of another class in the training "
        "set, not significantly more than in random stratified folds ({expected:number} expected, {p:p}): the "
        "contradictory rows come from the data set, not from the splits."
    ),
    "expected_in_subset": "the expected number refers to {examined:,} of {splits:count split}.",
    "shift_energy": "test and training rows differ (energy distance): {cells}.",
    "shift_auc": "a nearest-neighbour classifier separates test from training rows (AUC): {cells}.",
    "shift_numeric": "a numeric attribute differs between test and training rows (Kolmogorov-Smirnov): {cells}.",
    "shift_nominal": "a nominal attribute differs between test and training rows (Hellinger distance): {cells}.",
    "shifted_class": "class {class_name} of {split} ({value:number}, expected {expected:number}, {p:p})",
    "shifted_split": "all classes of {split} ({value:number}, expected {expected:number}, {p:p})",
    "shifted_class_attribute": (
        "{attribute} in class {class_name} of {split} ({value:number}, expected {expected:number}, {p:p})"
    ),
    "shifted_attribute": "{attribute} in all classes of {split} ({value:number}, expected {expected:number}, {p:p})",
    "unintended_shift": "shift is intended in splits by group or by time; otherwise draw new splits.",
    "group_shift": "shift is expected in splits by group: the estimates apply to new groups.",
    "outlying_farther": "test rows are farther from the centre of their class than training rows: {splits}.",
    "outlying_nearer": "test rows are nearer to the centre of their class than training rows: {splits}.",
    "outlying_split": "{split} by {difference:percent} (random folds: {low:percent} to {high:percent}, {p:p})",
    "literal_dob_scv": (
        "DOB-SCV with <assign=literal> causes this: it puts the first row of each group of neighbours into fold 1, where "
        "outliers accumulate. Estimates on the other folds are too optimistic."
    ),
    "too_alike": (
        "test and training sets are more similar than in random stratified folds: {statistics}. DOB-SCV does this by "
        "design; the estimates are optimistic for new data."
    ),
    "similar_statistic": "mean {check} {mean:number} (expected {expected:number}, {p:p})",
    "duplicate_reference": "duplicates are compared with {drawn:count random stratified partition} of the same sizes.",
    "single_test_rows": "shift is not tested because each test set has a single row.",
    "few_permutations": (
        "{permutations:count permutation} can hardly detect a shift at alpha = {alpha:number}: use at least {needed:,}."
    ),
    "no_shift": "no significant shift was found.",
    "shift_reference": (
        "shift is compared with {permutations:count random stratified partition} of the same sizes, with alpha = "
        "{alpha:number} for all splits, classes, attributes and statistics together."
    ),
    "sampled_rows": "shift is computed from a random sample of rows: {samples}.",
    "sampled_class": "{rows:,} of {total:,} (class {class_name})",
    "sampled_total": "{rows:,} of {total:,} (all classes)",
    "sampled_splits": "shift is computed for {examined:,} of {splits:count split}, equally spaced.",
    "untested_attributes": (
        "individual attributes are not tested because there are too many for this number of splits and permutations."
    ),
}

# Resampling: caveats of nested resampling (resampling/nested.py)
TEMPLATES |= {
    "procedure_estimate": (
        "the estimate applies to the whole procedure including the search, not to one setting: "
        "to obtain a final model, repeat the search on all rows."
    ),
    "different_settings": "the search chose {settings:count different setting} in {splits:count outer split}.",
    "optimistic_inner_scores": "the inner scores of the chosen settings are higher by {optimism:number}: do not report them.",
}

# Gate: decisions at a margin

TEMPLATES |= {
    "gate_superior": "{candidate} is superior to {baseline}: {measure} {difference}, {interval:interval}",
    "gate_equivalent": (
        "{candidate} is equivalent to {baseline} (margin {margin:g}): {measure} {difference}, {interval:interval}"
    ),
    "gate_non_inferior": (
        "{candidate} is non-inferior to {baseline} (margin {margin:g}): {measure} {difference}, {interval:interval}"
    ),
    "gate_inferior": ("{candidate} is inferior to {baseline} (margin {margin:g}): {measure} {difference}, {interval:interval}"),
    "gate_not_shown": (
        "{candidate} is not shown to be non-inferior to {baseline} (margin {margin:g}): {measure} {difference}, "
        "{interval:interval}"
    ),
    "gate_not_equivalent": (
        "{candidate} is not shown to be equivalent to {baseline} (margin {margin:g}): {measure} {difference}, "
        "{interval:interval}"
    ),
    "gate_undecidable": "{candidate} cannot be compared with {baseline}: {measure} {difference}, no reliable interval",
    "gate_details_superior": "the gain is significant ({test}, {sample}, {p:p}{adjustment})",
    "gate_details_worse": "the loss is significant ({test}, {sample}, {p:p}{adjustment})",
    "gate_details_open": "superiority is not shown ({test}, {sample}, {p:p}{adjustment})",
    "gate_needed_rows": (
        "inconclusive: a decision would need about {needed:count row}, assuming the same difference and variance"
    ),
    "gate_needed_clusters": (
        "inconclusive: a decision would need about {needed:count cluster}, assuming the same difference and variance"
    ),
    "gate_undecided": "inconclusive: the difference is at the margin, so no number of rows would allow a decision",
    "gate_few_cases": (
        "no decision is possible: the effective number of cases of a class is {cases:.3g}, but at least {needed} are needed."
    ),
    "gate_no_test": "no decision is possible: no test of this measure supports these rows.",
    "gate_few_contributions": (
        "no decision is possible: the models differ on an effective number of only {rows:count row}, but at least {needed} are "
        "needed."
    ),
    "gate_no_limits": "no decision is possible: there is no confidence interval for the difference in {measure}.",
    "gate_total": "{passed} of {total} comparisons passed; all must pass",
    "gate_joined": "the files were joined by the column {column!r}; pass <row=COLUMN> to choose another one.",
    "gate_overlap": "{source} has {rows:count row}, but only {common:,} of them are in both files.",
}

# Thresholds

_COSTS = "use {threshold} for {model}: it costs {cost:number} per 1,000 cases"
_ERRORS = " (false positive {fp:number}, false negative {fn:number})"
_RATES = "recall {recall:number}, precision {precision:number}, {alerts:number} alerts per 1,000 cases"
TEMPLATES |= {
    "threshold_costs": _COSTS + _ERRORS,
    "threshold_costs_less": _COSTS + ", {saving:percent} less than at {current:number}" + _ERRORS,
    "threshold_no_gain": (
        "{model}: no threshold is shown to cost less than the current threshold {current:number} (cost {current_cost:number} "
        "per 1,000 cases); the best on these rows is {threshold}, estimated cost {cost:number}" + _ERRORS
    ),
    "threshold_costs_equal": ("At equal costs, {model} has its lowest cost at {threshold}: {cost:number} per 1,000 cases."),
    "threshold_costs_less_equal": (
        "At equal costs, {model} costs {saving:percent} less at {threshold} than at {current:number}: "
        "{cost:number} per 1,000 cases."
    ),
    "threshold_no_gain_equal": (
        "At equal costs, {model} costs {current_cost:number} per 1,000 cases at {current:number}; no other threshold is shown "
        "to be cheaper."
    ),
    "threshold_nobody_equal": (
        "At equal costs, no threshold of {model} is cheaper than alerting nobody, which costs {nobody:number} per 1,000 cases."
    ),
    "threshold_useless_equal": (
        "At equal costs, the cross-fitted best threshold of {model} is not significantly cheaper than alerting {rival} "
        "(difference {difference:difference} per 1,000 cases, {interval:interval}, {p:p})."
    ),
    "threshold_recall": ("for a recall of at least {value:g}, use {threshold} for {model}. Cross-fitted estimates: " + _RATES),
    "threshold_precision": (
        "for a precision of at least {value:g}, use {threshold} for {model}. Cross-fitted estimates: " + _RATES
    ),
    "threshold_alerts": "for at most {value:g} alerts per 1,000 cases, use {threshold} for {model}. Estimates: " + _RATES,
    "threshold_limits": "{level:percent} CIs{subject}: {parts}",
    "threshold_nobody": (
        "no threshold of {model} is cheaper than alerting nobody, which costs {nobody:number} per 1,000 cases" + _ERRORS
    ),
    "threshold_useless": (
        "the cross-fitted best threshold of {model} is not significantly cheaper than alerting {rival} (difference "
        "{difference:difference} per 1,000 cases, {interval:interval}, {p:p}); the best on these rows is {threshold}, "
        "estimated cost {cost:number}" + _ERRORS
    ),
    "threshold_alternatives": (
        "alerting nobody costs {nobody:number} per 1,000 cases, and alerting everybody {everybody:number}"
    ),
    "threshold_unranked": "the models are in the order of the file; this goal does not rank them",
    "threshold_pair": (
        "{first} costs significantly less than {second}: difference {difference:difference} per 1,000 cases{where}, "
        "{simultaneous}{interval:interval}, {adjusted}{p:p}"
    ),
    "threshold_pair_open": (
        "{first} does not cost significantly less than {second}: difference {difference:difference} per 1,000 cases{where}, "
        "{simultaneous}{interval:interval}, {adjusted}{p:p}"
    ),
    "threshold_method": "{folds}-fold cross-fitting on {rows}; costs and alerts per 1,000 cases",
    "threshold_method_alerts": (
        "estimated on all {rows}, because no true labels are used to choose the threshold; alerts per 1,000 cases"
    ),
    "threshold_method_none": "no cross-fitting on {rows}, because a class has too few cases; costs and alerts per 1,000 cases",
    "threshold_small_budget": (
        "the alert budget is {value:g} per 1,000 cases; if {value:g} is a proportion of the cases, pass {budget:g} instead."
    ),
    "threshold_unreached": (
        "{model}: no threshold reaches a precision of {value:g}; the highest is {highest:number} at {threshold:number}."
    ),
    "threshold_few_clusters": (
        "there are only {clusters:count cluster}: intervals were checked with {needed} or more and may be too narrow."
    ),
    "threshold_no_alerts": "{model}: the best threshold is above all scores, so no case is predicted positive.",
    "threshold_few_cases": (
        "{model}: results at the threshold cannot be estimated, because cross-fitting needs at least two cases (or clusters) "
        "of each class."
    ),
}

# Sample size

TEMPLATES |= {
    "size_for_interval": (
        "{n:,} {units}{details:parentheses} {n:is} needed for a {level:percent} interval of the {measure} with a width of "
        "{width:g}, if the {measure} is {expected:number}."
    ),
    "size_for_auc": (
        "{n:,} {units}{details:parentheses} {n:is} needed to show that an AUC of {auc:number} differs from {second:g}, with a "
        "power of {power:percent}."
    ),
    "size_for_two_aucs": (
        "{n:,} {units}{details:parentheses} {n:is} needed to show that AUCs of {auc:number} and {second:number} differ, with a "
        "power of {power:percent}."
    ),
    "size_for_margin": (
        "{about}{n:,} {units}{details:parentheses} {n:is} needed to show {goal} in {measure} at a margin of {margin:g} with a "
        "power of {power:percent}, if the {compared}s are equally good."
    ),
    "size_for_margin_and_difference": (
        "{about}{n:,} {units}{details:parentheses} {n:is} needed to show {goal} in {measure} at a margin of {margin:g} with a "
        "power of {power:percent}, if the true difference is {assumed:difference}."
    ),
    "size_method": "formula: {method}.",
    "size_design_effect": "clusters increase the variance by a factor of {effect:number}.",
    "size_simulated": (
        "the simulated power of the decision is {power:percent} (standard error {error:percent}, {runs:,} samples from the "
        "pilot)."
    ),
    "size_not_simulated": "the power comes from the formula, because a simulation would need more than {limit:,} predictions.",
    "size_minimum": (
        "this is the smallest number of rows for a decision: with fewer, a class may have fewer than {needed:count case}."
    ),
    "size_from_pilot": "this number is estimated from a pilot with {rows:count row} and is therefore uncertain.",
    "size_from_scores": "the scores of {datasets:count data set} estimate the standard deviation ({sd:number}).",
}
