"""Names of tests and procedures: as this package writes them, and as papers and other software do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from fairtrial import _check
from fairtrial._registry import suggest_name
from fairtrial.errors import InputError

ALIASES: dict[str, str] = {
    "bergmann-hommel": "bergmann",
    "shaffer-static": "shaffer",
    "holm-bonferroni": "holm",
    "bonferroni-holm": "holm",
    "holm-sidak": "holland",
    "dunn-sidak": "sidak",
    "bonferroni-dunn": "bonferroni",
    "tukey-hsd": "tukey",
    "unadjusted": "none",
    "uncorrected": "none",
    "iman-davenport": "friedman",
    "friedman-iman-davenport": "friedman",
    "aligned-ranks": "aligned",
    "aligned-friedman": "aligned",
    "friedman-aligned": "aligned",
    "friedman-aligned-ranks": "aligned",
    "repeated-measures-anova": "anova",
    "signed-rank": "wilcoxon",
    "wilcoxon-signed-rank": "wilcoxon",
    "t-test": "paired_t",
    "paired-t-test": "paired_t",
}
"""Other names of a procedure, written in lower case with hyphens. They count where that procedure is an option."""


@dataclass(frozen=True)
class MethodFacts:
    """How a sentence calls a test or procedure, and where it is described."""

    words: str
    cite: str = ""


methods: dict[str, MethodFacts] = {}
"""Tests and procedures by name; each is registered in the module that defines it."""


def register_method(name: str, words: str, *, cite: str = "") -> None:
    """Register how a sentence calls a test or procedure, and the works that describe it."""
    methods[name] = MethodFacts(words, cite)


N = TypeVar("N", bound=str)


def resolve_name(argument: str, value: object, options: Iterable[N]) -> N:
    """Find the procedure that a name means: case, hyphens, underscores and spaces make no difference.

    >>> resolve_name("posthoc", "Bergmann-Hommel", ["bergmann", "bonferroni-dunn"])
    'bergmann'
    >>> resolve_name("posthoc", "bonferroni_dunn", ["bergmann", "bonferroni-dunn"])
    'bonferroni-dunn'
    """
    options = list(options)
    if not isinstance(value, str):
        _check.check_one_of(argument, value, options)
    names = {alias: option for alias, target in ALIASES.items() for option in options if option == target}
    names |= {_normalise_name(option): option for option in options}
    name = _normalise_name(str(value))
    if name not in names:
        hint = suggest_name(name, [*options, *names])
        raise InputError(f"{argument} must be one of {options}, got {value!r}" + (f": {hint}" if "mean" in hint else ""))
    return names[name]


def _normalise_name(name: str) -> str:
    return re.sub(r"[\s_-]+", "-", name.strip().lower())
