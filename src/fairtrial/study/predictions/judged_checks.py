"""What a methodologist would say of a judgement: imbalance, tiny classes, few rows, few data sets; numbered as for studies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from fairtrial.measures import Measure

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.significance import Verdict

# The limits of FT002, FT003 and FT008 in the checks of studies, and the rows below which an interval is wide whatever it is of.
IMBALANCED, FOLLOWS_THE_LARGEST, TINY, FEW_ROWS = 3.0, ("accuracy", "error_rate"), 10, 30
LEAST_FOR_FRIEDMAN = 10
COLUMNS = ("number", "check", "dataset", "subject", "value", "limit", "share", "remedy")


class Rule(NamedTuple):
    """A check: its title, the sentence with places for names and numbers, and what to do."""

    title: str
    words: str
    remedy: str


RULES = {
    "FT002": Rule(
        "Accuracy on imbalanced data",
        "{where}models are judged by {subject}, but the largest class has {value} times the rows of the smallest: naming it "
        "always has an accuracy of {share}.",
        "judge by balanced_accuracy, kappa, mcc, auc or h_measure (--measure)",
    ),
    "FT003": Rule(
        "Tiny classes",
        "{where}the class {subject} has {value} rows, fewer than {limit}: a rate over them moves by a large step with each.",
        "add rows of this class, or read its rates with care",
    ),
    "few rows": Rule(
        "Few rows",
        "{where}there are {value} rows, fewer than {limit}: intervals and tests say little.",
        "add rows",
    ),
    "FT008": Rule(
        "Too few data sets for the test",
        "The test {subject} has {value} data sets on which models can differ, and should have {limit} or more.",
        "add data sets; until then speak of these data sets only",
    ),
}
FORMS = {"FT002": "{:.3g}", "FT003": "{:.0f}", "few rows": "{:.0f}", "FT008": "{:.0f}"}


def methodology(counts: Mapping[str, Mapping[str, int]], main: Measure, verdict: Verdict | None) -> pd.DataFrame:
    """A line for each rule that is broken; `counts` are the rows of each class of each data set.

    >>> from fairtrial.measures import accuracy
    >>> methodology({"data": {"no": 95, "yes": 5}}, accuracy, None)["number"].tolist()
    ['FT002', 'FT003']
    """
    import pandas as pd

    lines = [line for name, own in counts.items() for line in _of_data_set(name, own, main)]
    if verdict is not None:
        lines += _of_verdict(verdict)
    return pd.DataFrame(lines, columns=list(COLUMNS)).astype({"value": float, "limit": float, "share": float})


def nothing_found() -> pd.DataFrame:
    """No rule is broken."""
    import pandas as pd

    return pd.DataFrame(columns=list(COLUMNS))


def _of_data_set(name: str, counts: Mapping[str, int], main: Measure) -> Iterator[dict[str, Any]]:
    known = {label: rows for label, rows in counts.items() if rows}
    if not known:
        return
    rows, smallest = sum(known.values()), min(known, key=lambda label: known[label])
    ratio, share = max(known.values()) / known[smallest], max(known.values()) / rows
    if main.name in FOLLOWS_THE_LARGEST and ratio >= IMBALANCED:
        yield _line("FT002", name, main.name, ratio, IMBALANCED, share)
    if known[smallest] < TINY:
        yield _line("FT003", name, smallest, known[smallest], TINY)
    if rows < FEW_ROWS:
        yield _line("few rows", name, "", rows, FEW_ROWS)


def _of_verdict(verdict: Verdict) -> Iterator[dict[str, Any]]:
    if verdict.unit == "split":
        return
    test = verdict.outcome.test
    cases = verdict.outcome.n if test == "wilcoxon" else len(verdict.table.datasets)
    needed = least_for_wilcoxon(verdict.alpha) if test == "wilcoxon" else max(LEAST_FOR_FRIEDMAN, len(verdict.table.learners))
    if cases < needed:
        yield _line("FT008", "", test, cases, needed)


def least_for_wilcoxon(alpha: float) -> int:
    """The fewest differences with which Wilcoxon's two-sided test can reach a level: its smallest p value is 2 ** (1 - n)."""
    return next(n for n in count(1) if 2.0 ** (1 - n) <= alpha)


def _line(number: str, dataset: str, subject: str, value: float, limit: float, share: float = float("nan")) -> dict[str, Any]:
    rule = RULES[number]
    values = (number, rule.title, dataset, subject, float(value), float(limit), share, rule.remedy)
    return dict(zip(COLUMNS, values, strict=True))


def methodology_words(found: pd.DataFrame, several: bool) -> tuple[str, ...]:
    """The same as notes."""
    return tuple(_note(line, several) for line in found.to_dict("records"))


def _note(line: Mapping[Any, Any], several: bool) -> str:
    number = str(line["number"])
    where = f"On {line['dataset']} " if several else ""
    told = RULES[number].words.format(
        where=where,
        subject=line["subject"],
        value=FORMS[number].format(line["value"]),
        limit=f"{line['limit']:g}",
        share=f"{line['share']:.3f}",
    )
    told = told[0].upper() + told[1:]
    mark = f"{number}: " if number.startswith("FT") else ""
    return f"{mark}{told} Remedy: {line['remedy']}."
