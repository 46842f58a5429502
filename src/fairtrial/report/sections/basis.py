"""What a verdict rests on: the data sets and splits that all of its learners share, and why others are left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.report.places import lines_of
from fairtrial.report.sections.naming import joined, listed
from fairtrial.report.sections.score_means import scored
from fairtrial.report.sentence import Sentence, say, shown
from fairtrial.study.archive import ConditionFacts
from fairtrial.study.results.failure_policy import failed

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.significance.verdict import Verdict
    from fairtrial.study import Results

ALL, LEFT, SPLITS, LOST = "data sets in all", "data sets left out", "splits of the data sets judged", "splits left out"
"""Facts of the verdict's table, where something is left out."""


@dataclass(frozen=True)
class Basis:
    """The data sets that are judged, those left out by reason, and how many splits of the former are left out."""

    kept: tuple[str, ...]
    left_out: dict[str, list[str]]
    splits: int
    lost: int

    @property
    def whole(self) -> bool:
        """Whether nothing is left out."""
        return not self.left_out and not self.lost

    def facts(self) -> dict[str, int]:
        """What the words below count."""
        gone = sum(map(len, self.left_out.values()))
        found = {ALL: len(self.kept) + gone, LEFT: gone} if gone else {}
        return found | ({SPLITS: self.splits, LOST: self.lost} if self.lost else {})


def basis_of(results: Results, verdict: Verdict, measure: str, condition: ConditionFacts) -> Basis:
    """What the scores and failures under a condition leave to a verdict."""
    declared = results.archive.declaration.get("verdict") or {}
    exclude = (declared.get("failures") or "exclude") == "exclude"
    scores, _ = scored(results, [measure])
    own = scores[lines_of(scores, condition) & scores["learner"].isin(verdict.table.learners).to_numpy()]
    own = own.astype({"dataset": str, "learner": str})
    bad = failed(own)
    there = own.assign(there=np.isfinite(own["value"].to_numpy(dtype=np.float64)) | (bad & (not exclude)))
    splits = there.groupby(["dataset", "repeat", "fold"], sort=False)["there"].all().groupby(level="dataset", sort=False)
    used, planned = splits.sum(), splits.size()
    names = [each.name for each in results.archive.datasets]
    fallen = set(own.loc[bad, "dataset"]) if exclude else set()
    kept = [name for name in names if used.get(name, 0) and name not in fallen]
    if verdict.unit == "data set":
        kept = list(verdict.table.datasets)
    reasons: dict[str, list[str]] = {}
    for name in names:
        if name not in kept:
            reasons.setdefault(_why(own[own["dataset"] == name], exclude), []).append(name)
    lost = sum(int(planned.get(name, 0) - used.get(name, 0)) for name in kept)
    return Basis(tuple(kept), reasons, sum(int(planned.get(name, 0)) for name in kept), lost)


def _why(own: pd.DataFrame, exclude: bool) -> str:
    """Why a data set is left out, from its lines."""
    culprits = own.loc[failed(own), "learner"].unique().tolist()
    if culprits and exclude:
        return f"because {listed(culprits)} failed there"
    if (own["status"] == "missing").any():
        return "because trials there have not run"
    return "because not every learner has a value there"


def resting(basis: Basis, frame: pd.DataFrame, key: str) -> Sentence | None:
    """On what the verdict rests, where something is left out; `frame` holds the facts of the table of this key."""
    found = []
    if basis.left_out:
        found.append(_sets(basis, frame, key))
    if basis.lost:
        parts = {"lost": shown(frame, key, LOST, "value", "{:,}"), "splits": shown(frame, key, SPLITS, "value", "{:,}")}
        where = "its" if len(basis.kept) == 1 else "their"
        verb = "is" if basis.lost == 1 else "are"
        of = where if basis.left_out else "the"
        said = f"Of {of} {{splits}} splits {{lost}} {verb} left out, for not all learners have a value there."
        found += [*([Sentence(" ")] if found else []), say(said, **parts)]
    return joined(found) if found else None


def _sets(basis: Basis, frame: pd.DataFrame, key: str) -> Sentence:
    told, parts = [], dict[str, Any]()
    for place, (reason, names) in enumerate(basis.left_out.items()):
        sets, why = f"sets{'abc'[place]}", f"why{'abc'[place]}"
        parts |= {sets: listed(names), why: reason}
        told.append(f"{{{sets}}} {'is' if len(names) == 1 else 'are'} left out {{{why}}}")
    if len(basis.kept) == 1:
        return say("On {kept} alone: " + "; ".join(told) + ".", kept=basis.kept[0], **parts)
    parts |= {"number": shown(frame, key, "data sets", "value", "{:,}"), "all": shown(frame, key, ALL, "value", "{:,}")}
    return say("On {number} of {all} data sets: " + "; ".join(told) + ".", **parts)
