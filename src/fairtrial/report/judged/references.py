"""Where the measures and tests of a judgement or a comparison are described."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from fairtrial.errors import InputError
from fairtrial.measures import get_measure
from fairtrial.report.section import Section, Table
from fairtrial.report.sections.naming import measure_words

if TYPE_CHECKING:
    from fairtrial.study.predictions.judgement import Judgement

# By the words of `Outcome.test`, of `Verdict.choice`, and of the methods of intervals.
WORKS = {
    "mcnemar": "McNemar 1947; Fagerland, Lydersen & Laake 2013; Newcombe 1998",
    "delong": "DeLong, DeLong & Clarke-Pearson 1988; Sun & Xu 2014",
    "bootstrap_difference": "Efron 1987; Efron & Tibshirani 1993",
    "permutation_test": "Fisher 1935; Ojala & Garriga 2010",
    "wilcoxon": "Wilcoxon 1945; Demšar 2006; Benavoli, Corani & Mangili 2016",
    "sign_test": "Demšar 2006",
    "friedman": "Friedman 1937; Demšar 2006",
    "iman_davenport": "Iman & Davenport 1980",
    "aligned_ranks": "Hodges & Lehmann 1962; García et al. 2010",
    "quade": "Quade 1979; García et al. 2010",
    "bergmann": "Bergmann & Hommel 1988; García & Herrera 2008",
    "shaffer": "Shaffer 1986; García & Herrera 2008",
    "holm": "Holm 1979",
    "nemenyi": "Nemenyi 1963; Demšar 2006",
    "finner": "Finner 1993",
    "corrected_resampled_t": "Nadeau & Bengio 2003; Bouckaert & Frank 2004",
    "five_by_two_f": "Alpaydin 1999",
    "five_by_two_t": "Dietterich 1998",
    "paired_t": "Student 1908",
    "wilson": "Wilson 1927; Brown, Cai & DasGupta 2001",
}


def section(judgement: Judgement) -> Section:
    """What this judgement used."""
    words = [*map(str, judgement.pairs["test"]), *map(str, judgement.scores["method"])]
    words += ["holm"] * bool(len(judgement.pairs)) + ["wilson"] * bool(judgement.classes["recall"].notna().any())
    if judgement.verdict is not None:
        words += judgement.verdict.choice.split()
    return references_section(dict.fromkeys(map(str, judgement.scores["measure"])), words)


def references_section(measures: Iterable[str], words: Iterable[str]) -> Section:
    """A line for each measure, and for each test, adjustment or interval that one of these words names."""
    import pandas as pd

    lines = {name: _cite(name) for name in measures}
    lines = {measure_words(name): cite for name, cite in lines.items() if cite}
    plain = [word.strip("()+, ").lower() for word in words]
    lines |= {measure_words(name): WORKS[name] for name in WORKS if name in plain}
    frame = pd.DataFrame({"described in": list(lines.values())}, index=pd.Index(lines, name="measure or procedure"))
    return Section(
        "references", "References", tables=(Table("references-used", "What was used, and where it is described", frame),)
    )


def _cite(measure: str) -> str:
    """Of a measure that is registered; scores that are compared may be of another one."""
    try:
        return str(get_measure(measure).facts.cite)
    except InputError:
        return ""
