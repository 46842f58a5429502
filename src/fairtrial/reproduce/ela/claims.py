"""What the paper states about its table 3, judged by intervals and tests of ours; open where they cannot tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fairtrial._text import format_p_value
from fairtrial.reproduce.ela.cells import CLEAN, ELA, TREE
from fairtrial.reproduce.ela.decided import ALPHA, gap, more, tree_best, tree_better
from fairtrial.reproduce.ela.paired import Line
from fairtrial.reproduce.ela.statements import STATEMENTS, Statement
from fairtrial.reproduce.ela.tables import OURS, PAPER, compared, judged_differently, preferred, printed_tables
from fairtrial.reproduce.interval import Interval, all_hold, mean_interval
from fairtrial.reproduce.reproduction import Claim

if TYPE_CHECKING:
    import pandas as pd

NEAR, SHARE, MEAN = 1.5, 26 / 32, 0.02  # the targets of the reproduction


def all_claims(
    stated: pd.DataFrame, any_class: pd.DataFrame, theirs: pd.DataFrame, lines: Mapping[str, Mapping[str, Line]]
) -> tuple[Claim, ...]:
    """Targets of this reproduction first, then the paper's statements on averages, on counts and on single data sets.

    Each is judged by the noise of the paper's text and the machine that it seems to have run; the evidence tells the others.
    `lines` has the differences on single data sets by the names of `printed_tables`.
    """
    tables = printed_tables(stated, any_class, theirs)
    if tables[OURS].empty:
        return ()
    return (
        *_targets(compared(stated, theirs), compared(any_class, theirs)),
        *_averages(tables),
        *_counts(tables),
        *(_of_sets(each, lines) for each in STATEMENTS),
        _theorem(tables[OURS]),
    )


def _targets(both: pd.DataFrame, other: pd.DataFrame) -> list[Claim]:
    tree = both[(both["learner"] == TREE) & (both["quantity"] == CLEAN)].dropna(subset=["difference"])
    ela, any_ela = (
        mean_interval(each[(each["learner"] == TREE) & (each["quantity"] == ELA)]["difference"].dropna())
        for each in (both, other)
    )
    far = tree[tree["difference"].abs() > NEAR]
    named = ", ".join(f"{name} {value:+.2f}" for name, value in zip(far["dataset"], far["difference"], strict=True))
    ends = tree[["difference", "low", "high"]].itertuples(index=False, name=None)
    sure = [Interval(*each).within(NEAR) for each in ends]
    return [
        Claim(
            f"C4.5 without noise is within {NEAR} points of the paper on 26 of 32 sets, or the same share of those run (a "
            "target of this reproduction)",
            len(tree) - len(far) >= SHARE * len(tree) if len(tree) else None,
            f"our mean is so near on {len(tree) - len(far)} of {len(tree)}"
            + (f" (farther off: {named})" if named else "")
            + f"; with its whole interval on {sure.count(True)}, surely not on {sure.count(False)}",
        ),
        Claim(
            f"The mean ELA of C4.5 is within {MEAN} of the paper's (a target of this reproduction)",
            abs(ela.value) <= MEAN if len(tree) else None,
            f"difference {ela.told()}; with noise to any class {any_ela.told()}",
        ),
    ]


def _averages(tables: Mapping[str, pd.DataFrame]) -> list[Claim]:
    def claim(text: str, short: str, sign: int) -> Claim:
        digits = 2 if short.startswith("acc") else 4
        gaps = {told: gap(each, short) for told, each in tables.items()}
        means = {
            told: f"{each[f'{short}_c45'].mean():.{digits}f} and {each[f'{short}_svm'].mean():.{digits}f}, "
            f"difference {gaps[told].told(f'{{:+.{digits}f}}')}"
            for told, each in tables.items()
        }
        found = gaps[OURS].sign
        return Claim(text, found == sign if found else None, f"C4.5 and SVM: {_listed(means)}")

    return [
        claim("Mean accuracy without noise: SVM is ahead of C4.5", "acc0", -1),
        claim("Mean accuracy at 10 % noise: C4.5 is ahead of SVM", "acc10", 1),
        claim("Mean RLA: C4.5 is the more robust", "rla", -1),
        claim("Mean ELA: C4.5 behaves better with noise", "ela", -1),
    ]


def _counts(tables: Mapping[str, pd.DataFrame]) -> list[Claim]:
    def single(text: str, short: str, wanted: bool) -> Claim:
        tests = {told: tree_better(each, short) for told, each in tables.items()}
        numbers = {told: f"{wins} to {losses} ({format_p_value(p, ALPHA)})" for told, (_, wins, losses, p) in tests.items()}
        verdict = tests[OURS][0]
        return Claim(text, None if verdict is None else verdict is wanted, f"C4.5 to SVM, ties left out: {_listed(numbers)}")

    def change(text: str, fewer: str, larger: str) -> Claim:
        numbers, verdict = {}, None
        for told, each in tables.items():
            before, after = tree_best(each, fewer), tree_best(each, larger)
            holds, gained, lost, p = more(after, before)
            numbers[told] = (
                f"{before.sum():.0f} and {after.sum():.0f} ({gained} gained, {lost} lost, {format_p_value(p, ALPHA)})"
            )
            verdict = holds if told == OURS else verdict
        return Claim(text, verdict, f"C4.5 best on, of {len(tables[OURS])}: {_listed(numbers)}")

    return [
        single("Without noise SVM is best on more sets (20 of 32)", "acc0", wanted=False),
        change("With noise C4.5 is best on more sets than without (16 instead of 12)", "acc0", "acc10"),
        single("By RLA C4.5 is best on more sets (23 of 32)", "rla", wanted=True),
        change("By ELA (first) the count is not so clear in favour of C4.5 as by RLA (second)", "ela", "rla"),
    ]


def _listed(values: Mapping[str, str]) -> str:
    """
    >>> _listed({"ours": "1 and 2", "paper": "3 and 4"})
    'ours 1 and 2; paper 3 and 4'
    """
    return "; ".join(f"{told} {value}" for told, value in values.items())


def _of_sets(statement: Statement, lines: Mapping[str, Mapping[str, Line]]) -> Claim:
    """A statement on some sets: not borne out where one contradicts it, open where one is open or was not run."""
    whole = f"{statement.text}: {', '.join(statement.names)}"
    ours = statement.verdicts(lines[OURS])
    if not ours:
        return Claim(whole, None, "none of these sets was run at this scale")
    holds = all_hold(ours.get(name) for name in statement.names)
    here = {told: {name: each[name] for name in ours if name in each} for told, each in lines.items()}
    told = {told: _spread(statement.verdicts(each), named=told in (OURS, PAPER)) for told, each in here.items()}
    return Claim(whole, holds, f"of {len(ours)} of these {len(statement.names)} sets: {_listed(told)}")


def _spread(verdicts: Mapping[str, bool | None], *, named: bool) -> str:
    """
    >>> _spread({"iris": True, "wine": None, "car": False, "zoo": None}, named=True)
    '1 holds, 2 open (wine, zoo), 1 not (car)'
    """
    parts = []
    for answer, word in ((True, "holds"), (None, "open"), (False, "not")):
        names = [name for name, verdict in verdicts.items() if verdict is answer]
        parts.append(f"{len(names)} {word}" + (f" ({', '.join(names)})" if named and names and answer is not True else ""))
    return ", ".join(parts)


def _theorem(table: pd.DataFrame) -> Claim:
    """It follows from ELA = RLA + (100 - A0) / A0: where the orders differ, the second term decides."""
    apart = judged_differently(table)
    apart = apart[apart["differently"]]
    agree = int((preferred(table, "acc0")[apart.index] == apart["ELA"]).sum())
    return Claim(
        "Where ELA and RLA prefer another learner, ELA prefers the one that is better without noise",
        agree == len(apart) if len(apart) else None,
        f"on {agree} of {len(apart)} such sets; it follows from the definitions",
    )
