"""Which learner stands noise better? Table 3 again, what its support vector machine was, and more learners and levels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtrial.reproduce.ela import curves, decided, noises, puzzle, sizes, words
from fairtrial.reproduce.ela.cells import ANY, LOGISTIC, STATED, VOTES, as_printed, our_cells, their_cells
from fairtrial.reproduce.ela.claims import all_claims
from fairtrial.reproduce.ela.copies import compared_copies
from fairtrial.reproduce.ela.curve_figures import curve_figures
from fairtrial.reproduce.ela.figures import draw_agreement, draw_distances
from fairtrial.reproduce.ela.paired import Line, exact_lines, split_lines
from fairtrial.reproduce.ela.running import failures, run_study
from fairtrial.reproduce.ela.sets import declared, gathered
from fairtrial.reproduce.ela.shown import all_tables
from fairtrial.reproduce.ela.tables import ANY_CLASS, BY_VOTES, OURS, PAPER, VOTES_ANY, compared
from fairtrial.reproduce.reproduction import Reproduction, Request

if TYPE_CHECKING:
    from fairtrial.study import Results


def run(request: Request) -> Reproduction:
    """The experiment: table 3, other copies of some sets, the puzzle of the machine, curves of more learners."""
    sets = gathered(request)
    scheme = declared("study")["resampling"]
    repeats = request.pick(smoke=1, quick=1, full=scheme["repeats"])
    folds = request.pick(smoke=2, quick=scheme["folds"], full=scheme["folds"])
    main = run_study(request, "study", sets.data, name="table3", repeats=repeats)
    tried, noisy = puzzle.variants(request, sets), curves.noise_curves(request, sets)
    stated, any_class, theirs = our_cells(main), our_cells(main, ANY), their_cells()
    both, other = compared(stated, theirs), compared(any_class, theirs)
    lines = _lines(main)
    copies = compared_copies(request, sets, stated, repeats)
    found, ranks, noise = puzzle.accuracies(tried), curves.table(noisy), noises.table(both, other)
    differing = sizes.other_sizes(sets)
    more = [each for each in (copies, sizes.table(differing)) if each]
    told = (
        words.opening(both, repeats, folds),
        decided.words(as_printed(theirs, LOGISTIC)),
        words.agreement(both, other),
        puzzle.words(found, words.distance_at_noise(both), words.distance_at_noise(other)),
        puzzle.MECHANISM,
        noises.words(noise.frame),
        words.damage(sets.faults, copies.frame if copies else None),
        words.sources(sets.data),
        sizes.words(differing),
        curves.words(ranks.frame, len(noisy.archive.conditions), folds),
        words.unexplained(both, other),
        words.slips(lines[PAPER]),
    )
    return Reproduction(
        tuple(each for each in told if each),
        (*all_tables(stated, any_class, theirs), *puzzle.tables(found), noise, *more, ranks),
        all_claims(stated, any_class, theirs, lines),
        _figures(both, other, found, noisy),
        {**sets.left_out, **failures(main, tried, noisy)},
    )


def _lines(main: Results) -> dict[str, dict[str, Line]]:
    """C4.5 and the machine on each data set, by the names of the tables."""
    kinds = {OURS: (STATED, LOGISTIC), BY_VOTES: (STATED, VOTES), ANY_CLASS: (ANY, LOGISTIC), VOTES_ANY: (ANY, VOTES)}
    found = {name: split_lines(main, noise, machine) for name, (noise, machine) in kinds.items()}
    return found | {PAPER: exact_lines(as_printed(their_cells(), LOGISTIC))}


def _figures(both: Any, other: Any, found: Any, noisy: Results) -> dict[str, Any]:
    return {
        "Our accuracies beside the paper's": draw_agreement(both, other),
        "Which machine did the paper run?": draw_distances(puzzle.distances(found)),
        **curve_figures(noisy),
    }
