"""Where the measures and tests of a judgement or a comparison are described."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from fairtrial.errors import InputError
from fairtrial.measures import get_measure
from fairtrial.report.section import Section
from fairtrial.report.sections.naming import measure_words
from fairtrial.report.sections.references import TESTS, bibliography, works_of
from fairtrial.report.sentence import say

if TYPE_CHECKING:
    from fairtrial.significance.verdict import Verdict
    from fairtrial.study.predictions.judgement import Judgement

PAIRED = {
    "mcnemar": "McNemar 1947; Fagerland, Lydersen & Laake 2013; Newcombe 1998",
    "delong": "DeLong, DeLong & Clarke-Pearson 1988",
    "bootstrap_difference": "Efron 1987",
    "permutation_test": "Fisher 1935",
    "wilson": "Wilson 1927",
}
"""What paired tests on rows and the limits of shares come from."""
WORKS = {
    "McNemar 1947": (
        "Q. McNemar (1947). Note on the sampling error of the difference between correlated proportions or percentages. "
        "Psychometrika 12."
    ),
    "Fagerland, Lydersen & Laake 2013": (
        "M. W. Fagerland, S. Lydersen and P. Laake (2013). The McNemar test for binary matched-pairs data: mid-p and "
        "asymptotic are better than exact conditional. BMC Medical Research Methodology 13."
    ),
    "Newcombe 1998": (
        "R. G. Newcombe (1998). Improved confidence intervals for the difference between binomial proportions based on paired "
        "data. Statistics in Medicine 17."
    ),
    "DeLong, DeLong & Clarke-Pearson 1988": (
        "E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson (1988). Comparing the areas under two or more correlated receiver "
        "operating characteristic curves: a nonparametric approach. Biometrics 44."
    ),
    "Efron 1987": "B. Efron (1987). Better bootstrap confidence intervals. Journal of the American Statistical Association 82.",
    "Fisher 1935": "R. A. Fisher (1935). The Design of Experiments. Oliver and Boyd.",
    "Wilson 1927": (
        "E. B. Wilson (1927). Probable inference, the law of succession, and statistical inference. "
        "Journal of the American Statistical Association 22."
    ),
}
"""These works in full; the others are in the bibliography of studies."""


def section(judgement: Judgement) -> Section:
    """What this judgement used."""
    tests = [*map(str, judgement.pairs["test"]), *map(str, judgement.scores["method"])]
    tests += ["holm"] * bool(len(judgement.pairs)) + ["wilson"] * bool(judgement.classes["precision_low"].notna().any())
    if judgement.verdict is not None:
        tests += used_by(judgement.verdict)
    return references_section(map(str, judgement.scores["measure"]), tests)


def used_by(verdict: Verdict) -> list[str]:
    """The test of a verdict, how pairs were adjusted, and the Bayesian test."""
    further = [] if verdict.posthoc is None else [verdict.posthoc.method]
    return [verdict.outcome.test, *further, *([] if verdict.posterior is None else [verdict.posterior.test])]


def references_section(measures: Iterable[str], tests: Iterable[str]) -> Section:
    """A list: each work once, in alphabetical order, with what it stands for here."""
    cites = {name: _cite(name) for name in dict.fromkeys(measures)}
    cites |= {name: (PAIRED | TESTS)[name] for name in dict.fromkeys(tests) if name in PAIRED | TESTS}
    uses: dict[str, list[str]] = {}
    for name, cite in cites.items():
        for work in works_of(cite):
            uses.setdefault(work, []).append(measure_words(name))
    known = WORKS | bibliography()
    notes = tuple(f"{known.get(work, f'{work}.')} For: {', '.join(uses[work])}." for work in sorted(uses, key=str.casefold))
    words = say("These works define the measures and tests of this report.")
    return Section("references", "References", (words,) if notes else (), notes=notes)


def _cite(measure: str) -> str:
    """Of a measure that is registered; scores that are compared may be of another one."""
    try:
        return str(get_measure(measure).facts.cite)
    except InputError:
        return ""
