"""Who has the best mean and who the best mean rank in a verdict: they need not be the same learner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtrial.report.sections.naming import listed
from fairtrial.report.sections.verdict_tables import Judged, learners_frame
from fairtrial.report.sentence import Sentence, say, shown

if TYPE_CHECKING:
    import pandas as pd


def best_names(values: pd.Series[float], better: str) -> list[str]:
    """The names of the best, float noise left aside."""
    calm = values.round(12)
    return [str(name) for name in values.index[calm == (calm.max() if better == "max" else calm.min())]]


def best_of(judged: Judged, words: str) -> Sentence:
    """The best mean and the best mean rank, of the table of the verdict: said so where data sets or splits are left out."""
    verdict = judged.verdict
    assert verdict is not None
    ranked, scored, parts = _leaders(judged, words)
    have = "has" if len(scored) == 1 else "have"
    over = "" if judged.basis is None or judged.basis.whole else f"Over the {verdict.unit}s that are left, "
    if ranked == scored:
        told = f"{over}{{scored}} {have} the best mean {{measure}}, {{mean}}, and the best mean rank, {{rank}}."
        return say(told, **{name: part for name, part in parts.items() if name != "ranked"})
    return say(
        f"{over}{{scored}} {have} the best mean {{measure}}, {{mean}}, but {{ranked}} the best mean rank, {{rank}}.", **parts
    )


def by_what(judged: Judged, words: str) -> tuple[str, dict[str, Any]]:
    """By what the first of the verdict's order comes first: words, and what stands in them."""
    verdict = judged.verdict
    assert verdict is not None
    ranked, scored, parts = _leaders(judged, words)
    lead = verdict.order[0]
    told = [
        text
        for names, text in ((ranked, "the best mean rank, {rank}"), (scored, "the best mean {measure}, {mean}"))
        if lead in names
    ]
    said = f", with {', and '.join(told)}" if told else ", by the signed ranks of the differences"
    return said, {name: part for name, part in parts.items() if "{" + name + "}" in said}


def _leaders(judged: Judged, words: str) -> tuple[list[str], list[str], dict[str, Any]]:
    verdict = judged.verdict
    assert verdict is not None
    frame, key = learners_frame(verdict), f"{judged.key}-learners"
    ranked, scored = best_names(frame["mean rank"], "min"), best_names(frame["mean"], verdict.better)
    parts: dict[str, Any] = {"measure": words, "ranked": listed(ranked), "scored": listed(scored)}
    parts["rank"] = shown(frame, key, ranked[0], "mean rank", "{:.2f}")
    parts["mean"] = shown(frame, key, scored[0], "mean", "{:.3f}")
    return ranked, scored, parts
