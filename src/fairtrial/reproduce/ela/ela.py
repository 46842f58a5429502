"""Which learner stands noise better? Table 3 again, what its support vector machine was, and more learners and levels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtrial.reproduce.ela import curves, puzzle, words
from fairtrial.reproduce.ela.cells import our_cells, their_cells
from fairtrial.reproduce.ela.claims import all_claims
from fairtrial.reproduce.ela.copies import compared_copies
from fairtrial.reproduce.ela.figures import draw_agreement, draw_distances
from fairtrial.reproduce.ela.running import failures, run_study
from fairtrial.reproduce.ela.sets import LARGEST, Sets, declared, gathered
from fairtrial.reproduce.ela.tables import all_tables, compared
from fairtrial.reproduce.reproduction import Reproduction, Request

if TYPE_CHECKING:
    from fairtrial.study import Results


def run(request: Request) -> Reproduction:
    """The experiment: table 3, other copies of some sets, the puzzle of the machine, curves of more learners."""
    sets = gathered(request)
    scheme = declared("study")["resampling"]
    repeats = request.pick(smoke=1, quick=1, full=scheme["repeats"])
    folds = request.pick(smoke=2, quick=scheme["folds"], full=scheme["folds"])
    main = _main_studies(request, sets, repeats)
    tried, noisy = puzzle.variants(request, sets), curves.noise_curves(request, sets)
    ours, theirs = our_cells(main), their_cells()
    both, claims = compared(ours, theirs), all_claims(ours, theirs)
    copies = compared_copies(request, sets, ours, repeats)
    found, ranks = puzzle.accuracies(tried), curves.table(noisy)
    told = (
        words.opening(both, claims, repeats, folds),
        words.agreement(both),
        puzzle.words(found, words.distance_at_noise(both)),
        puzzle.MECHANISM,
        words.damage(sets.faults, copies.frame if copies else None),
        curves.words(ranks.frame, len(noisy.archive.conditions), folds),
        words.unexplained(both),
    )
    return Reproduction(
        tuple(each for each in told if each),
        (*all_tables(ours, theirs), *puzzle.tables(found), *((copies,) if copies else ()), ranks),
        claims,
        _figures(both, found, noisy),
        {**sets.left_out, **failures(*main, tried, noisy)},
    )


def _main_studies(request: Request, sets: Sets, repeats: int) -> list[Results]:
    """Table 3: one study for most sets, and one with a single round of folds for the largest."""
    found = []
    if sets.but(LARGEST):
        found.append(run_study(request, "study", sets.but(LARGEST), name="table3", repeats=repeats))
    if sets.only(LARGEST):
        found.append(run_study(request, "study", sets.only(LARGEST), name="table3-largest"))
    return found


def _figures(both: Any, found: Any, noisy: Results) -> dict[str, Any]:
    from fairtrial.report.draw import draw

    return {
        "Our accuracies beside the paper's": draw_agreement(both),
        "Which machine did the paper run?": draw_distances(puzzle.distances(found)),
        "Accuracy under class noise": draw(noisy, "noise"),
        "ELA under class noise": draw(noisy, "ela"),
        "Learners on the surfaces of RLA and ELA": draw(noisy, "loss-surface"),
    }
