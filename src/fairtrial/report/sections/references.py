"""The section of references: the works behind the declared measures, the tests used, the splits, and the checks raised."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from fairtrial.measures.measure import get_measure
from fairtrial.report.checks import examine
from fairtrial.report.checks.kept import judged_by, scheme_of, verdict_of
from fairtrial.report.section import Section
from fairtrial.report.sections.naming import measure_words
from fairtrial.report.sentence import say

if TYPE_CHECKING:
    from fairtrial.study import Results

TESTS = {
    "wilcoxon": "Wilcoxon 1945; Demšar 2006",
    "paired_t": "Student 1908",
    "iman_davenport": "Friedman 1937; Iman & Davenport 1980; Demšar 2006",
    "anova": "Greenhouse & Geisser 1959",
    "corrected_resampled_t": "Nadeau & Bengio 2003",
    "five_by_two_f": "Alpaydin 1999; Dietterich 1998",
    "correlated_t": "Corani & Benavoli 2015; Benavoli et al. 2017",
    "bayes_signed_rank": "Benavoli et al. 2017",
    "bergmann": "Bergmann & Hommel 1988; García & Herrera 2008",
    "shaffer": "Shaffer 1986; García & Herrera 2008",
    "nemenyi": "Nemenyi 1963; Demšar 2006",
    "tukey": "Tukey 1949",
    "dunnett": "Dunnett 1955",
    "bonferroni": "Dunn 1961",
    "bonferroni-dunn": "Dunn 1961; Demšar 2006",
    "holm": "Holm 1979",
    "holland": "Holland & Copenhaver 1987",
    "finner": "Finner 1993",
    "hochberg": "Hochberg 1988",
    "hommel": "Hommel 1988",
    "rom": "Rom 1990",
    "li": "Li 2008",
}
"""What tests and adjustments of a verdict come from."""
SCHEMES = {
    "stratified": "Kohavi 1995",
    "kfold": "Stone 1974",
    "leave-one-out": "Stone 1974",
    "weka": "Witten & Frank 2005",
    "dob-scv": "Moreno-Torres, Sáez & Herrera 2012",
    "db-scv": "Zeng & Martinez 2000",
    "bootstrap": "Efron & Tibshirani 1997",
}
"""What schemes of resampling come from."""


def section(results: Results) -> Section:
    """A list: each work once, in alphabetical order, with what it stands for here."""
    words = say("These works define the measures, tests and splits of this report, or explain the checks that were raised.")
    return Section(
        "references", "References", (words,), notes=tuple(f"{work} For: {uses}." for work, uses in references(results))
    )


def references(results: Results) -> list[tuple[str, str]]:
    """The text of each work and what cites it."""
    uses: dict[str, list[str]] = {}
    for what, cite in cited(results):
        for work in works_of(cite):
            uses.setdefault(work, []).append(what)
    known = bibliography()
    lines = [(known.get(work, f"{work}."), ", ".join(dict.fromkeys(what))) for work, what in uses.items()]
    return sorted(lines, key=lambda line: _by_family(line[0]))


def cited(results: Results) -> list[tuple[str, str]]:
    """What cites, and the short names that it cites."""
    names = dict.fromkeys([*results.measures, judged_by(results).name])
    found = [(measure_words(name), get_measure(name).facts.cite) for name in names]
    found += [(f"{scheme} splits", SCHEMES[scheme]) for scheme in [scheme_of(results)] if scheme in SCHEMES]
    found += [(name, TESTS[name]) for name in _tests(results) if name in TESTS]
    if any(each.name != "clean" for each in results.archive.conditions):
        found += [("robustness", get_measure(name).facts.cite) for name in ("rla", "ela")]
        found.append(("intervals over splits", "Nadeau & Bengio 2003"))
    raised = [one.check for one in examine(results) if one.finding.outcome == "raised"]
    return [*found, *((each.number, each.cite) for each in raised)]


def _tests(results: Results) -> list[str]:
    verdict, _ = verdict_of(results)
    if verdict is None:
        return []
    further = [verdict.posthoc.method] if verdict.posthoc is not None else []
    return [verdict.outcome.test, *further, *([verdict.posterior.test] if verdict.posterior is not None else [])]


def works_of(cite: str) -> list[str]:
    """The works of a short citation, one by one.

    >>> works_of("Cohen 1960, 1968; Sáez, Luengo & Herrera 2011")
    ['Cohen 1960', 'Cohen 1968', 'Sáez, Luengo & Herrera 2011']
    """
    found = []
    for each in filter(None, (part.strip() for part in cite.split(";"))):
        several = re.fullmatch(r"(.*?) (\d{4}(?:, \d{4})+)", each)
        found += [f"{several[1]} {year}" for year in several[2].split(", ")] if several else [each]
    return found


@cache
def bibliography() -> dict[str, str]:
    """The full text of each work by its short name."""
    text = files("fairtrial.report").joinpath("bibliography.toml").read_text(encoding="utf-8")
    return {name: str(work) for name, work in tomllib.loads(text).items()}


def _by_family(work: str) -> tuple[str, str]:
    """Works are sorted by the family name of the first author: initials, which end in a point, come before it."""
    first = re.split(r" \(| and | et al|,", work, maxsplit=1)[0]
    family = " ".join(word for word in first.split() if not word.endswith("."))
    plain = unicodedata.normalize("NFKD", family).encode("ascii", "ignore").decode()
    return plain.casefold(), work
