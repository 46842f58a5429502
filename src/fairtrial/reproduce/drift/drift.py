"""The tutorial's drift study again, on the simulated flu domain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial.reproduce.drift.claims import claims, told_apart
from fairtrial.reproduce.drift.declared import TABLES, plan_of
from fairtrial.reproduce.drift.figures import figures
from fairtrial.reproduce.drift.findings import Findings
from fairtrial.reproduce.drift.printed import printed
from fairtrial.reproduce.drift.running import run_parts
from fairtrial.reproduce.drift.tabulated import NAMES, compared, tables
from fairtrial.reproduce.drift.telling import number_told
from fairtrial.reproduce.reproduction import Reproduction, Request

if TYPE_CHECKING:
    import pandas as pd


def run(request: Request) -> Reproduction:
    """Train the four learners in the environments of the three tables and judge both hypotheses."""
    plan = plan_of(request.scale)
    found = Findings(plan, run_parts(plan, request.seed, request.jobs, request.out / "parts", request.progress))
    return Reproduction(
        words=(_DOMAIN, _settings(found), *_agreement(found), _hypotheses(found)),
        tables=tables(found),
        claims=claims(found),
        figures=figures(found),
        left_out=_failures(found),
    )


_DOMAIN = (
    "The tutorial prints the probabilities of its flu domain in pictures only. Ours is a reconstruction: the structure and the "
    "direction of every change are the tutorial's, the numbers are ours, chosen once such that class shares, best errors and "
    "the errors of a one-attribute rule in the eight populations come near its first table. That these agree is therefore no "
    "finding. What learners lose in each change, the order of learners and both hypotheses are what is reproduced here."
)


def _settings(found: Findings) -> str:
    plan = found.plan
    return (
        f"Neither the number of patients nor the learners' settings are stated. Here {plan.n_train} patients train and "
        f"{plan.n_test} test, drawn anew in each of {plan.replicates} replicates; the tree is C4.5, the simple network one "
        "sigmoid unit, the complex one has a hidden layer of ten. 1R and the tree get names, as the tutorial lists the values "
        "(age as its group), the networks numbers. This coding was chosen after results under several codings had been looked "
        "at, so that how near our numbers come to the printed ones flatters it. What other answers change is in the table of "
        f"the hypotheses: {', '.join(plan.variants)}."
    )


def _agreement(found: Findings) -> list[str]:
    extra = {"missing": _elderly, "definitions": _more_complications}
    return [
        f"**{NAMES[table]}.** {_agrees(compared(found, table))}{extra[table](found) if table in extra else ''}"
        for table in TABLES
    ]


def _agrees(frame: pd.DataFrame) -> str:
    told = []
    for what, digits in (("error, %", 1), ("pD", 2)):
        own = frame[(frame["what"] == what) & frame["difference"].notna()]
        inside = int(((own["low"] <= 0) & (own["high"] >= 0)).sum())
        order = own["ours"].corr(own["published"], method="spearman")
        off = number_told(own["difference"].mean(), f"{{:+.{digits}f}}")
        size = number_told(own["difference"].abs().mean(), f"{{:.{digits}f}}")
        told.append(
            f"{'Error' if digits == 1 else 'pD'}: ours lies {off} from the printed one on average (absolute {size}), {inside} "
            f"of {len(own)} printed values are within our 95 % interval, and the rank correlation over learners and changes is "
            f"{number_told(order)}."
        )
    return " ".join(told)


def _elderly(found: Findings) -> str:
    """Which coding of age the second printed table speaks for."""
    cells, theirs = found.cells("missing"), printed()
    alone, both = (theirs.loc[theirs["trained_on"] == name, "pd"] for name in ("no Elderly", "no OldAdult or Elderly"))
    ours = cells[cells["trained_on"] == "no Elderly"].set_index("learner")["pd"]
    return (
        f" Printed losses are small without the elderly ({alone.min():.2f} to {alone.max():.2f}) and large without old adults "
        f"and elderly ({both.min():.2f} to {both.max():.2f}), as if in the tutorial's domain the old stood in for the elderly. "
        f"Ours without the elderly: {', '.join(f'{name} {number_told(value)}' for name, value in ours.items())}. Two reasons "
        "are likely, but only inferred from how the domain and the learners are made, not tested: here the risk rises late "
        "among the old, and a learner that knows groups by name alone cannot go on from one to the next."
    )


def _more_complications(found: Findings) -> str:
    """Why one environment cannot be compared."""
    cells, theirs = found.cells("definitions"), printed()
    ours = 100 * cells.loc[cells["tested_on"] == "MC", "trivial"].mean()
    told = theirs.loc[theirs["tested_on"] == "MC", "trivial"].iloc[0]
    return (
        f" The tests on MC are not comparable: the printed trivial error there is {told:.1f} %, ours {ours:.1f} %. With the "
        f"same patients and 36 % complications before, more of them bring it to {told:.1f} % only if {100 - told:.1f} % have "
        "them, and then learners trained before would err far more than printed. The small denominator that this trivial error "
        "leaves is also what makes printed pD large there."
    )


def _hypotheses(found: Findings) -> str:
    told = []
    for table in TABLES:
        pairs = [told_apart(pair, found.more(table, pair)) for pair in found.plan.pairs]
        told.append(f"{NAMES[table].split(',')[0]}: {'; '.join(pairs)}")
    changed = _changed(found)
    return f"**Hand's hypothesis, that simple classifiers lose more, by averaged pD.** {'. '.join(told)}. " + (
        f"Of {changed[1]} such verdicts under the variants {changed[0]} differ from the main one"
        + ("." if not changed[0] else ": what the tutorial leaves open matters for the answer.")
    )


def _changed(found: Findings) -> tuple[int, int]:
    """How many verdicts on a pair differ from the main one under a variant, and how many there are."""
    both = [
        (found.more(table, pair).sign, found.more(table, pair, variant).sign)
        for variant in found.plan.variants
        for table in TABLES
        for pair in found.plan.pairs
    ]
    return sum(main != other for main, other in both), len(both)


def _failures(found: Findings) -> dict[str, str]:
    """Learners that raised, with the first reason."""
    return {
        f"{part.learner} in {part.table}": f"{len(matrix.failures)} failures, the first: {matrix.failures[0].message}"
        for part, matrix in found.matrices.items()
        if matrix.failures
    }
