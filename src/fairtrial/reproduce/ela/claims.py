"""What the paper states about its table 3, judged by ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fairtrial.reproduce.ela.cells import CLEAN, ELA, TREE
from fairtrial.reproduce.ela.statements import STATEMENTS, Holds
from fairtrial.reproduce.ela.tables import OURS, compared, judged_differently, preferred, printed_tables
from fairtrial.reproduce.reproduction import Claim

if TYPE_CHECKING:
    import pandas as pd

NEAR, SHARE, MEAN = 1.5, 26 / 32, 0.02  # the targets of the reproduction


def all_claims(stated: pd.DataFrame, any_class: pd.DataFrame, theirs: pd.DataFrame) -> tuple[Claim, ...]:
    """Targets of this reproduction first, then the paper's statements on averages, on counts and on single data sets.

    Each is judged by the noise of the paper's text and the machine that it seems to have run; the evidence tells the others.
    """
    tables = printed_tables(stated, any_class, theirs)
    if tables[OURS].empty:
        return ()
    single = [_of_sets(text, names.split(), rule, tables) for text, names, rule in STATEMENTS]
    return (
        *_targets(compared(stated, theirs), compared(any_class, theirs)),
        *_averages(tables),
        *_counts(tables),
        *single,
        _theorem(tables[OURS]),
    )


def _targets(both: pd.DataFrame, other: pd.DataFrame) -> list[Claim]:
    tree = both[both["learner"] == TREE]
    clean = tree[tree["quantity"] == CLEAN].dropna(subset=["difference"])
    near = int((clean["difference"].abs() <= NEAR).sum())
    gap, any_gap = (
        float(each[(each["learner"] == TREE) & (each["quantity"] == ELA)]["difference"].mean()) for each in (both, other)
    )
    far = clean[clean["difference"].abs() > NEAR]
    named = ", ".join(f"{name} {value:+.2f}" for name, value in zip(far["dataset"], far["difference"], strict=True))
    return [
        Claim(
            f"C4.5 without noise can be reproduced within {NEAR} points on 26 of 32 sets, or the same share of those run",
            near >= SHARE * len(clean),
            f"{near} of {len(clean)}" + (f"; farther off: {named}" if named else ""),
        ),
        Claim(
            f"The mean ELA of C4.5 can be reproduced within {MEAN}",
            abs(gap) <= MEAN,
            f"difference {gap:+.4f}; with noise to any class {any_gap:+.4f}",
        ),
    ]


def _averages(tables: Mapping[str, pd.DataFrame]) -> list[Claim]:
    def claim(text: str, short: str, ahead: str) -> Claim:
        means = {
            told: (float(each[f"{short}_c45"].mean()), float(each[f"{short}_svm"].mean())) for told, each in tables.items()
        }
        tree, machine = means[OURS]
        higher = "C4.5" if tree > machine else "SVM"
        lower = "C4.5" if tree < machine else "SVM"
        digits = 2 if short.startswith("acc") else 4
        numbers = {told: f"{first:.{digits}f} and {second:.{digits}f}" for told, (first, second) in means.items()}
        return Claim(text, (higher if short.startswith("acc") else lower) == ahead, f"C4.5 and SVM: {_listed(numbers)}")

    return [
        claim("Mean accuracy without noise: SVM is ahead of C4.5", "acc0", "SVM"),
        claim("Mean accuracy at 10 % noise: C4.5 is ahead of SVM", "acc10", "C4.5"),
        claim("Mean RLA: C4.5 is the more robust", "rla", "C4.5"),
        claim("Mean ELA: C4.5 behaves better with noise", "ela", "C4.5"),
    ]


def _counts(tables: Mapping[str, pd.DataFrame]) -> list[Claim]:
    trees = {
        short: {told: int(preferred(each, short).eq("C4.5").sum()) for told, each in tables.items()}
        for short in ("acc0", "acc10", "ela", "rla")
    }
    total = len(tables[OURS])
    clean, noisy, ela, rla = (each[OURS] for each in trees.values())

    def told(short: str) -> str:
        return f"C4.5 to SVM: {_listed({name: f'{count} to {total - count}' for name, count in trees[short].items()})}"

    both = {name: f"{count} and {trees['rla'][name]}" for name, count in trees["ela"].items()}
    return [
        Claim("Without noise SVM is best on more sets (20 of 32)", total - clean > clean, told("acc0")),
        Claim("With noise C4.5 is best on more sets than without (16 instead of 12)", noisy > clean, told("acc10")),
        Claim("By RLA C4.5 is best on more sets (23 of 32)", 2 * rla > total, told("rla")),
        Claim(
            "By ELA the count is not so clear in favour of C4.5 as by RLA",
            ela < rla,
            f"C4.5 best by ELA and by RLA, of {total}: {_listed(both)}",
        ),
    ]


def _listed(values: Mapping[str, str]) -> str:
    """
    >>> _listed({"ours": "1 and 2", "paper": "3 and 4"})
    'ours 1 and 2; paper 3 and 4'
    """
    return "; ".join(f"{told} {value}" for told, value in values.items())


def _of_sets(text: str, wanted: list[str], rule: Holds, tables: Mapping[str, pd.DataFrame]) -> Claim:
    """A statement on some sets: it holds where it holds on all of them that were run."""
    whole = f"{text}: {', '.join(wanted)}"
    here = [name for name in wanted if name in tables[OURS].index]
    if not here:
        return Claim(whole, None, "none of these sets was run at this scale")
    missed = {told: [name for name in here if not rule(table.loc[name])] for told, table in tables.items()}
    counts = {
        told: f"{len(here) - len(names)}" + (f" (not {', '.join(names)})" if names else "") for told, names in missed.items()
    }
    return Claim(whole, not missed[OURS], f"sets of {len(here)}: {_listed(counts)}")


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
