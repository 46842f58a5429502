"""The tutorial's statements on drift, judged by our numbers and by its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from fairtrial.reproduce.drift.declared import TABLES, TableName
from fairtrial.reproduce.drift.printed import contradictions, filled, printed, printed_averages
from fairtrial.reproduce.interval import Interval, all_above
from fairtrial.reproduce.reproduction import Claim

if TYPE_CHECKING:
    from fairtrial.reproduce.drift.findings import Findings

_PLACES: dict[TableName, str] = {"populations": "Table I", "missing": "Table II", "definitions": "Table III"}
MARGIN = 0.05
"""By so much averaged pD two learners may differ and still count as suffering alike."""
_FORM = "{:.2f}"
_WORDS = {True: "holds", False: "does not hold", None: "is open"}
_AT_ALL = "(judged as: in both pairs the averaged pD of the simple one is larger at all)"
_SECOND: dict[TableName, str] = {
    "populations": f"simpler classifiers suffer much more {_AT_ALL}",
    "missing": f"simpler classifiers suffer slightly more {_AT_ALL}",
    "definitions": (
        "1R suffers more than the tree, the simple network not more than the complex one (judged as: the averaged pD of 1R is "
        f"larger at all, that of the simple network by less than {MARGIN:g})"
    ),
}


def claims(found: Findings) -> tuple[Claim, ...]:
    """All of them, in the tutorial's order."""
    judged = [each for table in TABLES for each in (drop(found, table), simpler(found, table))]
    return (*judged, best_choice(found), averages_follow(), lines_follow())


def drop(found: Findings, table: TableName) -> Claim:
    """The first hypothesis: every learner loses."""

    def numbers(variant: str) -> list[Interval]:
        return [found.lost(table, name, variant) for name in found.plan.learners]

    lost = dict(zip(found.plan.learners, numbers(""), strict=True))
    verdict, variants = over_variants(found.plan.variants, numbers)
    told = "; ".join(f"{name} {each.told('{:.1f}')}" for name, each in lost.items())
    return Claim(
        f"{_PLACES[table]} (a): a drop in performance is observed by all classifiers "
        "(judged as: the error of each rises at all, on average over the changes)",
        verdict,
        f"points of error lost on average over the changes: {told}{variants}",
    )


def simpler(found: Findings, table: TableName) -> Claim:
    """The second hypothesis: the simpler of two loses more."""

    def numbers(variant: str) -> list[Interval]:
        first, second = (found.more(table, pair, variant) for pair in found.plan.pairs)
        return [first, short_of(second) if table == "definitions" else second]

    more = {pair: found.more(table, pair) for pair in found.plan.pairs}
    verdict, variants = over_variants(found.plan.variants, numbers)
    told = "; ".join(f"{simple} minus {other} {each.told(_FORM)}" for (simple, other), each in more.items())
    points = "; ".join(found.more_points(table, pair).told("{:.1f}") for pair in more)
    evidence = f"averaged pD: {told}; in points of error: {points}{variants}"
    if table == "definitions":
        evidence += "; changes to and from MC, most of this table, are not comparable (see above)"
    return Claim(f"{_PLACES[table]} (b): {_SECOND[table]}", verdict, evidence)


def over_variants(variants: Sequence[str], numbers: Callable[[str], Iterable[Interval]]) -> tuple[bool | None, str]:
    """The verdict of the main run, unless a variant says the contrary: the tutorial does not say which of them it ran.

    >>> over_variants(["names for all"], lambda variant: [Interval(1, -1 if variant else 0.5, 2)])
    (True, '; by the main run it holds, with names for all it is open')
    """
    found = {variant: all_above(numbers(variant)) for variant in ("", *variants)}
    if len(set(found.values())) == 1:
        return found[""], "; the same under all variants" if variants else ""
    others = ", ".join(f"with {name} it {_WORDS[found[name]]}" for name in variants if found[name] is not found[""])
    verdict = None if {True, False} <= set(found.values()) else found[""]
    return verdict, f"; by the main run it {_WORDS[found['']]}, {others}"


def best_choice(found: Findings) -> Claim:
    """The complex learner of each pair remains the better one."""
    better = [each for pair in found.plan.pairs for each in found.better(pair)]
    above, below = (sum(each.sign == sign for each in better) for sign in (1, -1))
    return Claim(
        "In all cases complex classifiers remain the best choice: their error stays lower than that of the simple ones",
        all_above(better),
        f"of {len(better)} pairs and changes the complex one errs less in {above}, more in {below}, "
        f"and is not told apart in {len(better) - above - below}",
    )


def averages_follow() -> Claim:
    """The tutorial's averages, from its own lines."""
    own = printed_averages()
    off = own[(own["value"] - own["from_lines"]).abs() > 0.0101]
    told = "; ".join(
        f"{_PLACES[row['table']]}, {row['learner']}: printed {row['value']:.2f}, mean of the lines {row['from_lines']:.2f}"
        for row in off.to_dict("records")
    )
    return Claim(
        "The printed averages are the means of the printed lines",
        off.empty,
        f"{told or f'all {len(own)} follow'}; a pD that cannot be read is taken from its printed errors: {'; '.join(filled())}",
    )


def lines_follow() -> Claim:
    """The tutorial's pD, from its own errors."""
    lines = printed()
    off, readable = contradictions(lines), int(lines["pd"].notna().sum())
    return Claim(
        "The printed pD follow from the printed errors",
        not off,
        f"{readable - len(off)} of {readable} to 0.015; not: {'; '.join(off) or 'none'}"
        + ("; in a table whose lines are shifted in the text, so that it may be a slip of our reading" if off else ""),
    )


def short_of(more: Interval, margin: float = MARGIN) -> Interval:
    """How far a difference stays below the margin: above 0 where it is shown to be smaller.

    >>> short_of(Interval(0.0, -0.25, 0.5), 0.25)
    Interval(value=0.25, low=-0.25, high=0.5, freedom=inf)
    """
    return (-more).less(-margin)


def told_apart(pair: tuple[str, str], more: Interval) -> str:
    """Whether the simple learner of a pair loses more, in words.

    >>> told_apart(("1R", "tree"), Interval(0.1, -0.1, 0.3))
    '1R and tree are not told apart'
    """
    simple, other = pair
    if not more.sign:
        return f"{simple} and {other} are not told apart"
    return f"{simple} loses {'more' if more.sign > 0 else 'less'} than {other}"
