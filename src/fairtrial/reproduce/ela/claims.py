"""What the paper states about its table 3, judged by ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fairtrial.reproduce.ela.cells import CLEAN, ELA, LOGISTIC, TREE, VOTES, as_printed
from fairtrial.reproduce.ela.tables import compared, judged_differently, preferred
from fairtrial.reproduce.reproduction import Claim

if TYPE_CHECKING:
    import pandas as pd

_NEAR, _OF, _SHARE, _MEAN = 1.5, 32, 26 / 32, 0.02
Holds = Callable[[Any], Any]


def all_claims(ours: pd.DataFrame, theirs: pd.DataFrame) -> tuple[Claim, ...]:
    """Targets of this reproduction first, then the paper's statements on averages, then those on single data sets."""
    known = theirs[theirs["dataset"].isin(ours["dataset"])]
    tables = (as_printed(ours, LOGISTIC), as_printed(ours, VOTES), as_printed(known, LOGISTIC))
    if tables[0].empty:
        return ()
    return (*_targets(compared(ours, theirs)), *_averages(*tables), *_counts(*tables), *_single(*tables))


def _targets(both: pd.DataFrame) -> list[Claim]:
    tree = both[both["learner"] == TREE]
    clean = tree[tree["quantity"] == CLEAN].dropna(subset=["difference"])
    near = int((clean["difference"].abs() <= _NEAR).sum())
    gap = float(tree[tree["quantity"] == ELA]["difference"].mean())
    far = clean[clean["difference"].abs() > _NEAR]
    named = ", ".join(f"{name} {value:+.2f}" for name, value in zip(far["dataset"], far["difference"], strict=True))
    return [
        Claim(
            f"C4.5 without noise can be reproduced within {_NEAR} points on 26 of {_OF} sets, or the same share of those run",
            near >= _SHARE * len(clean),
            f"{near} of {len(clean)}" + (f"; farther off: {named}" if named else ""),
        ),
        Claim(f"The mean ELA of C4.5 can be reproduced within {_MEAN}", abs(gap) <= _MEAN, f"difference {gap:+.4f}"),
    ]


def _averages(logistic: pd.DataFrame, votes: pd.DataFrame, paper: pd.DataFrame) -> list[Claim]:
    def compare(text: str, short: str, tree_ahead: bool) -> Claim:
        means = [(each[f"{short}_c45"].mean(), each[f"{short}_svm"].mean()) for each in (logistic, votes, paper)]
        digits = 2 if short.startswith("acc") else 4
        told = [f"{tree:.{digits}f} and {machine:.{digits}f}" for tree, machine in means]
        lower = short in ("ela", "rla")
        first, second = means[0]
        ahead = first < second if lower else first > second
        return Claim(text, bool(ahead == tree_ahead), f"C4.5 and SVM {told[0]}; by votes {told[1]}; paper, same sets {told[2]}")

    return [
        compare("Mean accuracy without noise: SVM is ahead of C4.5", "acc0", tree_ahead=False),
        compare("Mean accuracy at 10 % noise: C4.5 is ahead of SVM", "acc10", tree_ahead=True),
        compare("Mean RLA: C4.5 is the more robust", "rla", tree_ahead=True),
        compare("Mean ELA: C4.5 behaves better with noise", "ela", tree_ahead=True),
    ]


def _counts(logistic: pd.DataFrame, votes: pd.DataFrame, paper: pd.DataFrame) -> list[Claim]:
    best = {
        short: [tuple(int(each.sum()) for each in preferred(table, short)) for table in (logistic, votes, paper)]
        for short in ("acc0", "acc10", "ela", "rla")
    }

    def told(short: str) -> str:
        ours, counted, printed = (f"{tree} to {machine}" for tree, machine in best[short])
        return f"C4.5 to SVM {ours}; by votes {counted}; paper, same sets {printed}"

    clean, noisy, ela, rla = (best[short][0] for short in ("acc0", "acc10", "ela", "rla"))
    return [
        Claim("Without noise SVM is best on more sets (20 of 32)", clean[1] > clean[0], told("acc0")),
        Claim("With noise C4.5 wins back sets, up to as many as SVM (16 each)", noisy[0] > clean[0], told("acc10")),
        Claim("By RLA C4.5 is best on more sets (23 of 32)", rla[0] > rla[1], told("rla")),
        Claim(
            "By ELA the count is not so clear in favour of C4.5 as by RLA",
            ela[0] < rla[0],
            f"C4.5 best by ELA on {ela[0]}, by RLA on {rla[0]} of {len(logistic)}; paper, same sets "
            f"{best['ela'][2][0]} and {best['rla'][2][0]}",
        ),
    ]


def _single(logistic: pd.DataFrame, votes: pd.DataFrame, paper: pd.DataFrame) -> list[Claim]:
    found = [_of_sets(text, names, rule, (logistic, votes, paper)) for text, names, rule in STATEMENTS]
    return [*found, _theorem(logistic)]


def _of_sets(text: str, names: str, rule: Holds, tables: tuple[pd.DataFrame, ...]) -> Claim:
    """A statement on some sets: it holds where it holds on all of them that were run."""
    wanted = names.split()
    here = [name for name in wanted if name in tables[0].index]
    if not here:
        return Claim(f"{text}: {', '.join(wanted)}", None, "none of these sets was run at this scale")
    held = [[name for name in here if name in each.index and bool(rule(each.loc[name]))] for each in tables]
    missed = [name for name in here if name not in held[0]]
    counted = f"on {len(held[0])} of {len(here)}" + (f", not on {', '.join(missed)}" if missed else "")
    own = [name for name in here if name not in held[2]]
    printed = f"the paper's own table: on {len(held[2])}" + (f", not on {', '.join(own)}" if own else "")
    return Claim(f"{text}: {', '.join(wanted)}", not missed, f"{counted}; by votes on {len(held[1])}; {printed}")


def _theorem(table: pd.DataFrame) -> Claim:
    """It follows from ELA = RLA + (100 - A0) / A0, for the difference is that of the second term."""
    apart = judged_differently(table)
    apart = apart[apart["differently"]]
    better = preferred(table, "acc0")[0].map({True: "C4.5", False: "SVM"})
    agree = int((better[apart.index] == apart["ELA"]).sum())
    return Claim(
        "Where ELA and RLA prefer another learner, ELA prefers the one that is better without noise",
        agree == len(apart) if len(apart) else None,
        f"on {agree} of {len(apart)} such sets; it follows from the definitions",
    )


def _tree_better(line: Any) -> bool:
    return bool(line.acc0_c45 > line.acc0_svm and line.acc10_c45 > line.acc10_svm)


def _machine_better(line: Any) -> bool:
    return bool(line.acc0_svm > line.acc0_c45 and line.acc10_svm > line.acc10_c45)


def _both_prefer(line: Any, tree: bool) -> bool:
    return bool((line.ela_c45 < line.ela_svm) == tree and (line.rla_c45 < line.rla_svm) == tree)


def _split(line: Any, ela_tree: bool) -> bool:
    return bool((line.ela_c45 < line.ela_svm) == ela_tree and (line.rla_c45 < line.rla_svm) != ela_tree)


STATEMENTS: tuple[tuple[str, str, Holds], ...] = (
    ("SVM is better without and with noise", "autos wine banana dermatology heart phoneme twonorm", _machine_better),
    (
        "ELA and RLA prefer the same one",
        "autos wine banana dermatology heart phoneme twonorm",
        lambda line: not _split(line, True) and not _split(line, False),
    ),
    (
        "Both lose remarkably (here: more than 1 % of their accuracy)",
        "autos wine",
        lambda line: min(line.rla_c45, line.rla_svm) > 0.01,
    ),
    (
        "Both lose very little (here: at most 1.5 %)",
        "banana dermatology heart phoneme twonorm",
        lambda line: max(line.rla_c45, line.rla_svm) <= 0.015,
    ),
    (
        "C4.5 is better without and with noise, and loses less",
        "car iris pima zoo monk-2",
        lambda line: _tree_better(line) and line.rla_c45 < line.rla_svm,
    ),
    (
        "C4.5 gains by noise, SVM loses, and both measures prefer C4.5",
        "cleveland ecoli hayes-roth",
        lambda line: line.rla_c45 < 0 < line.rla_svm and _both_prefer(line, True),
    ),
    (
        "SVM is better without noise and worse with it",
        "ionosphere segment spambase wdbc",
        lambda line: line.acc0_svm > line.acc0_c45 and line.acc10_svm < line.acc10_c45,
    ),
    (
        "One or both gain by noise; ELA prefers SVM, RLA C4.5",
        "balance sonar flare lymphography",
        lambda line: min(line.rla_c45, line.rla_svm) < 0 and _split(line, False),
    ),
    ("Both gain by noise", "flare lymphography", lambda line: max(line.rla_c45, line.rla_svm) < 0),
    (
        "SVM is better without noise and loses more; ELA prefers SVM, RLA C4.5",
        "vehicle ring newthyroid vowel magic yeast glass",
        lambda line: line.acc0_svm > line.acc0_c45 and line.rla_svm > line.rla_c45 and _split(line, False),
    ),
    (
        "C4.5 is better without noise and loses more; ELA prefers C4.5, RLA SVM",
        "german contraceptive",
        lambda line: line.acc0_c45 > line.acc0_svm and line.rla_c45 > line.rla_svm and _split(line, True),
    ),
    ("SVM stays below 50 % without noise", "contraceptive", lambda line: line.acc0_svm < 50),
)
