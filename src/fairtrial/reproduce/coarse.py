"""Claims at smoke scale, where samples are too small to decide anything."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from fairtrial.reproduce.reproduction import Claim

_COARSE = "left open: this scale is too coarse to decide"


def undecided(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """The claims with their numbers, all of them open.

    >>> undecided([Claim("a", True, "+2 (+1 to +3)")])[0].to_record
    '+2 (+1 to +3); left open: this scale is too coarse to decide'
    """
    return tuple(
        each if each.holds is None else replace(each, holds=None, evidence=f"{each.evidence}; {_COARSE}") for each in claims
    )
