"""The tutorial as one page: every worked example and table, ours beside what is printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from fairtrial.reproduce.reproduction import Reproduction, Request, verdicts_told
from fairtrial.reproduce.tutorial.breast_cancer import breast_cancer
from fairtrial.reproduce.tutorial.cost_curves import cost_curves
from fairtrial.reproduce.tutorial.domains import domains
from fairtrial.reproduce.tutorial.examples import joined
from fairtrial.reproduce.tutorial.known_error import known_error
from fairtrial.reproduce.tutorial.labour import labour_again
from fairtrial.reproduce.tutorial.many_learners import many_learners
from fairtrial.reproduce.tutorial.measures import measures
from fairtrial.reproduce.tutorial.permutation import permutation
from fairtrial.reproduce.tutorial.projection import anneal_as_printed, projections
from fairtrial.reproduce.tutorial.repeated import repeated
from fairtrial.reproduce.tutorial.resampling import resampling
from fairtrial.reproduce.tutorial.studies import eight_learners, labour, ten_domains
from fairtrial.reproduce.tutorial.two_learners import two_learners
from fairtrial.reproduce.tutorial.weka_summary import weka_summary


def run(request: Request) -> Reproduction:
    """All of the page, in the order of the tutorial."""
    eight, missing = eight_learners(request)
    ten, more = ten_domains(request)
    data, none = labour()
    parts = {
        "the measures table": breast_cancer(eight) if eight else None,
        "measures by hand": measures(),
        "cost curves": cost_curves(eight) if eight else None,
        "tests of two learners": two_learners(),
        "C4.5 and naive Bayes on Labour again": labour_again(data, request) if data else None,
        "the ten domains": domains(ten) if ten else None,
        "tests of several learners": many_learners(),
        "resampling on Labour": resampling(data, request) if data else None,
        "estimates where the error is known": known_error(request),
        "the permutation test": permutation(data, request) if data else None,
        "repeated cross-validation": repeated(request),
        "WEKA's summary": weka_summary(eight) if eight else None,
        "Anneal as printed": anneal_as_printed(),
        "projections": projections(eight) if eight else None,
    }
    found = joined(part for part in parts.values() if part)
    left_out = {**missing, **more, **none}
    return _opened(replace(found, left_out=left_out, words=(*_not_run(parts, left_out), *found.words)))


def _not_run(parts: Mapping[str, Reproduction | None], left_out: Mapping[str, str]) -> tuple[str, ...]:
    """How many parts could not be run, and for want of what; nothing where all data sets are there."""
    if not left_out:
        return ()
    lost = [name for name, part in parts.items() if part is None or not part.tables]
    sets = f"{'A data set is' if len(left_out) == 1 else f'{len(left_out)} data sets are'} left out ({', '.join(left_out)})"
    if not lost:
        return (f"**Not run.** {sets}: what looks at several does without, and all {len(parts)} parts were run.",)
    return (
        f"**Not run.** {sets}. For want of what they are about, {len(lost)} of {len(parts)} parts could not be run, and their "
        f"statements are not among those counted above: {', '.join(lost)}. FAIRTRIAL_DATA names the folder that data sets are "
        "looked for in.",
    )


def _opened(found: Reproduction) -> Reproduction:
    """The page with what it is about, and what became of the claims, before all else."""
    words = (
        "The tutorial's slides work through measures, tests and resampling with small examples, and show tables that WEKA "
        "made. Here each example is computed anew from its own input, and each experiment is run again on the data. A table "
        "for each says what is asked, puts our number beside the printed one, and answers. Examples computed from printed "
        "input come out the same at every scale, and count at each.",
        f"**In short.** {verdicts_told(found.claims)} {_slips(found)}".strip(),
        *found.words,
    )
    return replace(found, words=words)


_SLIPS = ("t_test", "sign_test", "wilcoxon", "friedman", "nemenyi", "information_score")


def _slips(found: Reproduction) -> str:
    """Which worked examples hold a printed number that does not follow from their own input."""
    titles = [
        table.title.split(":")[0].removesuffix(" after it")
        for table in found.tables
        if table.name in _SLIPS and (table.frame["to the printed digits"] == "differs").any()
    ]
    return (
        f"Printed numbers that do not follow from their own input stand in {len(titles)} examples: {_listed(titles)}."
        if titles
        else ""
    )


def _listed(names: Iterable[str]) -> str:
    *most, last = names
    return f"{'; '.join(most)}; {last}" if most else last
