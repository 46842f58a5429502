"""The tutorial as one page: every worked example and table, ours beside what is printed."""

from __future__ import annotations

from collections.abc import Iterable

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
    parts = [
        *([breast_cancer(eight)] if eight else []),
        measures(),
        *([cost_curves(eight)] if eight else []),
        two_learners(),
        *([labour_again(data, request)] if data else []),
        *([domains(ten)] if ten else []),
        many_learners(),
        *([resampling(data, request)] if data else []),
        known_error(request),
        *([permutation(data, request)] if data else []),
        repeated(request),
        *([weka_summary(eight)] if eight else []),
        anneal_as_printed(),
        *([projections(eight)] if eight else []),
        Reproduction((), (), left_out={**missing, **more, **none}),
    ]
    return _opened(joined(parts), request)


def _opened(found: Reproduction, request: Request) -> Reproduction:
    """The page with what it is about, and what became of the claims, before all else."""
    words = (
        "The tutorial's slides work through measures, tests and resampling with small examples, and show tables that WEKA "
        "made. Here each example is computed anew from its own input, and each experiment is run again on the data. A table "
        "for each says what is asked, puts our number beside the printed one, and answers. Examples that need no data come "
        "out the same at every scale.",
        f"**In short.** {verdicts_told(found.claims)} {_slips(found)}".strip(),
        *found.words,
    )
    rough = (
        ("**At this scale the numbers of what is run mean nothing**: it shows only that everything runs.",)
        if request.scale == "smoke"
        else ()
    )
    return Reproduction((*words, *rough), found.tables, found.claims, found.figures, found.left_out)


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
