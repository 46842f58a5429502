"""What worked examples share: a printed result beside ours, and parts of the page put together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fairtrial.reproduce.interval import all_hold
from fairtrial.reproduce.reproduction import Claim, Reproduction, Table
from fairtrial.reproduce.tutorial.shown import Shown, beside_printed

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Result:
    """A result that the tutorial prints with so many decimals, and ours. None: it prints none."""

    what: str
    ours: float
    printed: float | None = None
    digits: int = 2
    note: str = ""

    @property
    def agrees(self) -> bool | None:
        """Whether ours is the printed number, rounded as that is; None where nothing is printed.

        >>> Result("kappa", 0.432892, 0.4329, 4).agrees, Result("t", 7.8645, 8.0845, 4).agrees, Result("d", 3.4).agrees
        (True, False, None)
        """
        if self.printed is None:
            return None
        return abs(self.ours - self.printed) <= 0.5 * 10.0**-self.digits + 1e-9


def frame_of(results: Iterable[Result], digits: int | None = None) -> pd.DataFrame:
    """A line for each result: ours, the tutorial's, their difference and what is to be said.

    A page shows the decimals that are printed, and one more of ours; `digits` are for what is not printed.

    >>> frame_of([Result("kappa", 0.432892, 0.4329, 4)])[["what", "ours", "tutorial"]].to_numpy().tolist()
    [['kappa', 0.432892, 0.4329]]
    """
    import pandas as pd

    words = {True: "agrees", False: "differs", None: "not printed"}
    return pd.DataFrame(
        [
            {
                "what": each.what,
                **_numbers(each, digits),
                "to the printed digits": words[each.agrees],
                "note": each.note,
            }
            for each in results
        ],
        dtype=object,
    )


def _numbers(each: Result, digits: int | None) -> dict[str, float]:
    own = float(each.ours)
    if each.printed is None:
        none = float("nan")
        shown = Shown(own, f"{own + 0.0:.4g}") if digits is None else Shown.with_decimals(own, digits)
        return {"ours": shown, "tutorial": none, "difference": none}
    return {
        "ours": beside_printed(own, each.digits),
        "tutorial": Shown.with_decimals(float(each.printed), each.digits),
        "difference": beside_printed(own - each.printed, each.digits),
    }


def example(
    name: str, title: str, results: Iterable[Result], note: str, *, asked: str, digits: int | None = None
) -> Reproduction:
    """A worked example: its table, told by what is asked and what is answered."""
    return Reproduction((), (Table(name, title, frame_of(results, digits), f"*Asked:* {asked} *Answer:* {note}"),))


def printed_claim(text: str, results: Iterable[Result], why: str = "") -> Claim:
    """The claim that printed numbers are right: all of them must agree. Evidence are these numbers; `why` follows them.

    >>> printed_claim("Kappa is 0.43", [Result("kappa", 0.43289, 0.43), Result("chance", 0.33875)]).to_record
    'kappa: 0.433 (printed 0.43)'
    """
    judged = [each for each in results if each.agrees is not None]
    numbers = "; ".join(f"{each.what}: {_shown(each)} (printed {each.printed:.10g})" for each in judged)
    return Claim(text, all_hold(each.agrees for each in judged), f"{numbers}; {why}" if why else numbers)


def judged_with(claims: Iterable[Claim], number: int, fewest: int, what: str) -> tuple[Claim, ...]:
    """Claims about what is simulated: with fewer runs than that all stay open, whatever they seem to show.

    >>> [claim.word for claim in judged_with([Claim("x", True, "seen")], 3, 20, "samples")]
    ['open']
    """
    if number >= fewest:
        return tuple(claims)
    few = f"{number} {what} are too few to judge by ({fewest} are asked for)"
    return tuple(replace(claim, holds=None, evidence=f"{claim.evidence}; {few}") for claim in claims)


def _shown(result: Result) -> str:
    """Ours with one decimal more than is printed."""
    return f"{round(float(result.ours), result.digits + 1):.10g}"


def joined(parts: Iterable[Reproduction]) -> Reproduction:
    """Parts one after the other, as one page.

    >>> joined([Reproduction(("one",), ()), Reproduction(("two",), ())]).words
    ('one', 'two')
    """
    parts = list(parts)
    return Reproduction(
        tuple(word for part in parts for word in part.words),
        tuple(table for part in parts for table in part.tables),
        tuple(claim for part in parts for claim in part.claims),
        {title: chart for part in parts for title, chart in part.figures.items()},
        {name: why for part in parts for name, why in part.left_out.items()},
    )
