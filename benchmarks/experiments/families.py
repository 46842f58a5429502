"""Type-I error of the tests of many learners, and family-wise error of what follows them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from experiments.registry import ADVISE, ALL, ALPHA, CONTROL, MANY, experiment, rejects
from fairtrial.significance import adjust, aligned_ranks, anova, friedman, iman_davenport, posthoc, quade, wilcoxon
from fairtrial.significance.compare import compare

PAIRS = (
    "nemenyi",
    "shaffer",
    "bergmann",
    "bonferroni",
    "sidak",
    "holm",
    "holland",
    "finner",
    "hochberg",
    "hommel",
    "rom",
    "li",
    "benjamini-hochberg",
    "benjamini-yekutieli",
)
VERSUS = ("bonferroni-dunn", *PAIRS[3:])
RANKS = ("aligned", "quade")
Hits = Mapping[str, bool | None]
Rng = np.random.Generator
AHEAD = 8.0


def _omnibus(table: np.ndarray) -> dict[str, bool | None]:
    return {
        "friedman, ties corrected": rejects(friedman(table)),
        "friedman, ties uncorrected": rejects(friedman(table, ties="uncorrected")),
        "iman_davenport, ties corrected": rejects(iman_davenport(table)),
        "iman_davenport, ties uncorrected": rejects(iman_davenport(table, ties="uncorrected")),
        "aligned_ranks": rejects(aligned_ranks(table)),
        "quade": rejects(quade(table)),
    }


@experiment(MANY, "15 data sets, 5 learners, normal, with effects of the data sets")
def normal(rng: Rng) -> Hits:
    table = rng.normal(size=(15, 5)) + 3 * rng.normal(size=(15, 1))
    return {**_omnibus(table), "anova": rejects(anova(table))}


@experiment(MANY, "15 data sets, 5 learners, integer scores: many ties", share=0.5)
def tied(rng: Rng) -> Hits:
    return _omnibus(np.rint(rng.normal(size=(15, 5))))


@experiment(MANY, "15 data sets, 5 learners, one with four times the spread (no sphericity)")
def uneven(rng: Rng) -> Hits:
    found = anova(rng.normal(size=(15, 5)) * [1, 1, 1, 1, 4])
    return {"anova": rejects(found), "anova, p_corrected (Greenhouse and Geisser)": found.details["p_corrected"] <= ALPHA}


def _false(found: object, null: set[str]) -> bool:
    """Return whether two equal learners differ significantly."""
    each = found.comparisons  # type: ignore[attr-defined]
    return any(one.p_adjusted <= ALPHA for one in each if one.first in null and one.second in null)


def _family(table: np.ndarray, methods: tuple[str, ...], null: set[str], control: str | None, omnibus: str | None) -> Hits:
    after = (f" after {omnibus}" if omnibus else "") + (" against a control" if control else "")
    return {
        f"posthoc, {method}{after}": _false(posthoc(table, method, control, omnibus=omnibus), null)  # type: ignore[arg-type]
        for method in methods
    }


def _null_table(rng: Rng) -> np.ndarray:
    return rng.normal(size=(15, 5))


def _partial_table(rng: Rng) -> np.ndarray:
    return rng.normal(size=(15, 5)) + np.array([0, 0, 0, 0, AHEAD])


COMPLETE = (_null_table, set("01234"), "15 data sets, 5 learners, none better")
PARTIAL = (_partial_table, set("0123"), "15 data sets, 5 learners, one much better than four equal learners")

for _table, _null, _setting in (COMPLETE, PARTIAL):

    @experiment(ALL, _setting)
    def pairs(rng: Rng, table=_table, null=_null) -> Hits:  # type: ignore[no-untyped-def]
        drawn = table(rng)
        told = dict(_family(drawn, PAIRS, null, None, None))
        for omnibus in RANKS:
            told |= _family(drawn, ("holm",), null, None, omnibus)
        return told | {"posthoc, none (no adjustment: not recommended)": _false(posthoc(drawn, "none"), null)}

    @experiment(ALL, _setting, share=0.2)
    def tukey(rng: Rng, table=_table, null=_null) -> Hits:  # type: ignore[no-untyped-def]
        return _family(table(rng), ("tukey",), null, None, None)

    @experiment(CONTROL, _setting)
    def control(rng: Rng, table=_table, null=_null) -> Hits:  # type: ignore[no-untyped-def]
        drawn = table(rng)
        told = dict(_family(drawn, VERSUS, null, "0", None))
        for omnibus in RANKS:
            told |= _family(drawn, ("holm",), null, "0", omnibus)
        return told | {
            "posthoc, none against a control (no adjustment: not recommended)": _false(posthoc(drawn, "none", "0"), null)
        }

    @experiment(CONTROL, _setting, share=0.2)
    def dunnett(rng: Rng, table=_table, null=_null) -> Hits:  # type: ignore[no-untyped-def]
        return _family(table(rng), ("dunnett",), null, "0", None)


@experiment(ALL, "15 data sets, 5 learners of equal median, two of which alternate between best and worst", share=0.5)
def taking_turns(rng: Rng) -> Hits:
    """Learners of equal median whose ranks within a data set are not exchangeable."""
    table = rng.normal(size=(15, 5))
    table[:, 0] = AHEAD * rng.choice([-1, 1], 15)
    table[:, 1] = -table[:, 0] + 0.1 * rng.normal(size=15)
    p = [wilcoxon(table[:, i], table[:, j]).p_value for i, j in combinations(range(5), 2)]
    return {
        "posthoc, holm on mean ranks": _false(posthoc(table, "holm"), set("01234")),
        "wilcoxon of each pair, adjust holm": bool((adjust(p, "holm") <= ALPHA).any()),
        "wilcoxon of each pair, adjust hommel": bool((adjust(p, "hommel") <= ALPHA).any()),
    }


def differ_significantly(groups: tuple[tuple[str, ...], ...], null: set[str]) -> bool:
    """Return whether two equal learners share no group."""
    return any(not any({i, j} <= set(group) for group in groups) for i, j in combinations(sorted(null), 2))


@experiment(ADVISE, "15 data sets, 2 learners, lognormal scores, none better", share=0.3)
def advise_two(rng: Rng) -> Hits:
    return {"compare, wilcoxon": compare(rng.lognormal(size=(15, 2)), rows="datasets").p_value <= ALPHA}


for _table, _null, _setting in (COMPLETE, PARTIAL):

    @experiment(ADVISE, _setting, share=0.3)
    def advise_many(rng: Rng, table=_table, null=_null) -> Hits:  # type: ignore[no-untyped-def]
        found = compare(table(rng), rows="datasets")
        told: dict[str, bool | None] = {
            "compare, any difference between equal learners": differ_significantly(found.groups, null)
        }
        return told if len(null) < 5 else {"compare, omnibus (iman_davenport)": found.p_value <= ALPHA, **told}
