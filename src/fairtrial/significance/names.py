"""Identifiers, aliases and display names of tests and procedures."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from fairtrial import _check
from fairtrial._registry import format_similar_name
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
    "bh": "benjamini-hochberg",
    "fdr": "benjamini-hochberg",
    "fdr-bh": "benjamini-hochberg",
    "by": "benjamini-yekutieli",
    "fdr-by": "benjamini-yekutieli",
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
"""Aliases of tests and procedures, in lower case with hyphens. An alias is accepted wherever its target is an option."""


@dataclass(frozen=True)
class MethodFacts:
    """Display name, citation and statistic symbol of a test or procedure."""

    display_name: str
    cite: str = ""
    statistic: str = ""


methods: dict[str, MethodFacts] = {}
"""Facts about tests, procedures and effect sizes, keyed by name. Each module registers those that it defines."""


def register_method(name: str, display_name: str, *, cite: str = "", statistic: str = "") -> None:
    """Register the display name of a test, procedure or effect size.

    Parameters
    ----------
    name : str
        Identifier, such as "wilcoxon".
    display_name : str
        Human-readable name, such as "Wilcoxon signed-rank test".
    cite : str, optional
        Publications that describe the method, separated by semicolons.
    statistic : str, optional
        Symbol of the test statistic, such as "W".
    """
    methods[name] = MethodFacts(display_name, cite, statistic)


def get_display_name(name: str, variant: str = "") -> str:
    """Return the display name of a method, or `name` itself if the method is unknown.

    If "name (variant)" is registered, its display name is returned. Otherwise, the variant is appended in parentheses. If the
    display name already ends with parentheses, the variant is added within them.

    >>> get_display_name("iman_davenport"), get_display_name("wilcoxon", "exact"), get_display_name("my_test")
    ('Friedman test (Iman-Davenport)', 'Wilcoxon signed-rank test (exact)', 'my_test')
    """
    if f"{name} ({variant})" in methods:
        return methods[f"{name} ({variant})"].display_name
    display_name = methods[name].display_name if name in methods else name
    if variant and display_name.endswith(")"):
        return f"{display_name[:-1]}, {variant})"
    return f"{display_name} ({variant})" if variant else display_name


def get_statistic_symbol(name: str, variant: str = "") -> str:
    """Return the symbol of a test's statistic, or "statistic" if it is unknown.

    >>> get_statistic_symbol("mcnemar"), get_statistic_symbol("mcnemar", "chi2"), get_statistic_symbol("my_test")
    ('b', 'chi2', 'statistic')
    """
    facts = methods.get(f"{name} ({variant})", methods.get(name))
    return facts.statistic if facts is not None and facts.statistic else "statistic"


N = TypeVar("N", bound=str)


def resolve_name(argument: str, value: object, options: Iterable[N]) -> N:
    """Return the option to which a name or alias refers.

    Case is ignored, and hyphens, underscores and spaces are interchangeable.

    >>> resolve_name("posthoc", "Bergmann-Hommel", ["bergmann", "bonferroni-dunn"])
    'bergmann'
    >>> resolve_name("posthoc", "bonferroni_dunn", ["bergmann", "bonferroni-dunn"])
    'bonferroni-dunn'
    """
    options = list(options)
    if not isinstance(value, str):
        _check.check_one_of(argument, value, options)
    if value in options:
        return options[options.index(value)]
    names = {alias: option for alias, target in ALIASES.items() for option in options if option == target}
    names |= {_normalise_name(option): option for option in options}
    name = _normalise_name(str(value))
    if name not in names:
        hint = format_similar_name(name, [*options, *names])
        raise InputError(f"{argument} must be {_check.format_options(options)}, got {value!r}{hint}")
    return names[name]


def _normalise_name(name: str) -> str:
    return re.sub(r"[\s_-]+", "-", name.strip().lower())
