"""SCV and DOB-SCV on 66 imbalanced sets (Lopez, Fernandez and Herrera), and on problems whose truth is known."""

from __future__ import annotations

from fairtrial.reproduce.dobscv.biases import biases, pooled
from fairtrial.reproduce.dobscv.cells import cells_of
from fairtrial.reproduce.dobscv.claims import claims_of
from fairtrial.reproduce.dobscv.effects import effects_table
from fairtrial.reproduce.dobscv.figures import draw_biases, draw_differences
from fairtrial.reproduce.dobscv.sets import gathered
from fairtrial.reproduce.dobscv.table5 import ranked_runs, table5
from fairtrial.reproduce.dobscv.tables import table3, table4
from fairtrial.reproduce.dobscv.target import target_words
from fairtrial.reproduce.dobscv.trials import failures, scores
from fairtrial.reproduce.dobscv.truth import problems, replicates
from fairtrial.reproduce.dobscv.truth_claims import first_fold, truth_claims
from fairtrial.reproduce.dobscv.words import (
    agreement_words,
    damage_words,
    folds_words,
    open_words,
    puzzle_words,
    silent_share,
    truth_words,
    what_was_run,
)
from fairtrial.reproduce.reproduction import Reproduction, Request, Table

_BIASES = (
    "`bias` is the mean of the estimate less what the learner trained on all rows does on new cases, `fold_bias` less what the "
    "five fold models do; `excess` is the mean square error less that of SCV on the same samples; 95 % intervals."
)
_POOLED = (
    " Intervals are over samples, learners on one sample being averaged first. `cells` are problems x learners; `optimistic` "
    "and `pessimistic` of them have an interval of the bias above or below 0, and the last two count those whose mean square "
    "error is significantly smaller or greater than that of SCV on the same samples."
)


def run(request: Request) -> Reproduction:
    """Both parts: the paper's tables, and the same question where the truth is known."""
    sets = gathered(request.scale, request.seed)
    runs = request.pick(smoke=1, quick=2, full=5)
    found = scores(request, sets, runs)
    cells = cells_of(found, sets.imbalance())
    threes, fours, tests = table3(cells), table4(cells), ranked_runs(cells)
    names, count = list(problems())[: request.pick(smoke=1, quick=2, full=4)], request.pick(smoke=2, quick=15, full=250)
    lines = replicates(request, dict.fromkeys(names, count))
    each, together = biases(lines), pooled(lines)
    words = (
        what_was_run(sets, runs, failures(found)),
        folds_words(sets),
        damage_words(sets, cells),
        target_words(cells),
        agreement_words(fours[0].frame, cells),
        puzzle_words(silent_share(sets), cells),
        truth_words(together, count * len(names)),
        open_words(),
    )
    return Reproduction(
        words=tuple(each for each in words if each),
        tables=(
            *threes,
            effects_table(cells),
            *fours,
            table5(tests, cells),
            Table("known-truth", "Known truth: all problems and learners together", together, _BIASES + _POOLED, digits=4),
            Table("known-truth-cells", "Known truth: each problem and learner", each, _BIASES, digits=4, shown=False),
        ),
        claims=(*claims_of(cells, tests), *truth_claims(together), first_fold(found, len(sets.data))),
        figures={
            "What DOB-SCV adds to the estimate by imbalance ratio": draw_differences(cells),
            "Bias against the learner trained on all rows": draw_biases(each),
            "Bias against the fold models": draw_biases(each, column="fold_bias"),
        },
        left_out=dict(sets.left_out),
    )
