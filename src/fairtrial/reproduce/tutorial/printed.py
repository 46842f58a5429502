"""Numbers that the tutorial prints, and the sections that compare them with ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fairtrial.reproduce.claim import NOT_TESTABLE, Claim, combine_verdicts, judge_fact
from fairtrial.reproduce.experiment import ResultTable

if TYPE_CHECKING:
    import pandas as pd

AGREEMENT, DIFFERS = "agreement", "differs"
_AGREEMENT_LABELS = {True: "agrees", False: DIFFERS, None: "not printed"}


@dataclass(frozen=True)
class PageSection:
    """A section of the page.

    The template accesses `values` by the name of the section.
    """

    name: str
    values: Mapping[str, Any]
    tables: tuple[ResultTable, ...]
    claims: tuple[Claim, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)


class DisplayedNumber(float):
    """A number with a fixed format on the page and ten significant digits in files.

    >>> number = DisplayedNumber(7.864536, ".4f")
    >>> f"{number:.2f}", number + 1
    ('7.8645', 8.864536)
    """

    spec: str

    def __new__(cls, value: float, spec: str) -> DisplayedNumber:
        """Create a number with a format specification.

        A value that rounds to zero is shown without a sign.
        """
        number = super().__new__(cls, value)
        number.spec = f"z{spec}"
        return number

    def __format__(self, spec: str) -> str:
        return float.__format__(self, self.spec)

    def __repr__(self) -> str:
        return f"{float(self):.10g}"


@dataclass(frozen=True)
class PrintedResult:
    """One of our numbers, with the printed number if there is one.

    `digits` is the number of decimal places of the printed number.
    """

    quantity: str
    ours: float
    printed: float | None = None
    digits: int = 2
    note: str = ""

    @property
    def agrees(self) -> bool | None:
        """Whether our number rounds to the printed number; None if no number is printed.

        >>> PrintedResult("kappa", 0.432892, 0.4329, 4).agrees, PrintedResult("t", 7.8645, 8.0845, 4).agrees
        (True, False)
        """
        if self.printed is None:
            return None
        return abs(self.ours - self.printed) <= 0.5 * 10.0**-self.digits + 1e-9

    def _display(self, value: float) -> DisplayedNumber:
        """Show one more decimal place than printed, unless the number is exact."""
        is_exact = abs(value - round(value, self.digits)) < 1e-12
        return DisplayedNumber(value, f".{self.digits if is_exact else self.digits + 1}f")

    def to_row(self, digits: int | None = None) -> dict[str, Any]:
        """Return a row of a table.

        `digits` is the number of decimal places if the tutorial prints no number.
        """
        ours = float(self.ours)
        if self.printed is None:
            displayed = DisplayedNumber(ours, ".4g" if digits is None else f".{digits}f")
            numbers = {"ours": displayed, "tutorial": float("nan"), "difference": float("nan")}
        else:
            printed = DisplayedNumber(self.printed, f".{self.digits}f")
            numbers = {"ours": self._display(ours), "tutorial": printed, "difference": self._display(ours - self.printed)}
        return {"quantity": self.quantity, **numbers, AGREEMENT: _AGREEMENT_LABELS[self.agrees], "note": self.note}


def tabulate_results(results: Iterable[PrintedResult], digits: int | None = None) -> pd.DataFrame:
    """Tabulate our results beside those of the tutorial.

    >>> tabulate_results([PrintedResult("kappa", 0.432892, 0.4329, 4)]).iloc[0, :3].tolist()
    ['kappa', 0.432892, 0.4329]
    """
    import pandas as pd

    return pd.DataFrame([result.to_row(digits) for result in results], dtype=object)


def build_example(
    name: str,
    title: str,
    results: Iterable[PrintedResult],
    *,
    values: Mapping[str, Any],
    digits: int | None = None,
    claims: Iterable[Claim] = (),
    figures: Mapping[str, Any] | None = None,
) -> PageSection:
    """Build the section of a worked example."""
    table = ResultTable(name, title, tabulate_results(results, digits))
    return PageSection(name, values, (table,), tuple(claims), figures or {})


def judge_printed(text: str, results: Iterable[PrintedResult], remark: str = "") -> Claim:
    """Judge the claim that all printed numbers are correct, i.e. agree with ours.

    >>> judge_printed("Kappa is 0.43", [PrintedResult("kappa", 0.43289, 0.43), PrintedResult("chance", 0.33875)]).details
    'kappa: 0.433 (printed 0.43)'
    """
    printed = [result for result in results if result.agrees is not None]
    details = [
        f"{result.quantity}: {round(float(result.ours), result.digits + 1):.10g} (printed {result.printed:.10g})"
        for result in printed
    ]
    if remark:
        details.append(remark)
    return Claim(text, combine_verdicts(judge_fact(result.agrees) for result in printed), "; ".join(details), "printed")


def judge_agreement(text: str, n_agreeing: int, n_printed: int, *, remark: str = "", is_comparable: bool = True) -> Claim:
    """Judge whether printed results of another program agree with ours to the printed digits.

    If a number differs, the claim is inconclusive, because another version of the program may have printed the table. If our
    implementation is not comparable, the claim is not testable.

    >>> judge_agreement("Row NB", 9, 9).verdict, judge_agreement("Row SVM", 8, 9).verdict
    ('reproduced', 'inconclusive')
    >>> judge_agreement("Row Bagg", 0, 9, is_comparable=False).verdict
    'not testable'
    """
    details = f"{n_agreeing} of {n_printed} numbers agree" + (f"; {remark}" if remark else "")
    verdict = judge_fact(True if n_agreeing == n_printed else None) if is_comparable else NOT_TESTABLE
    return Claim(text, verdict, details, "printed")
