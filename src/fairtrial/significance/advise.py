"""From a table of scores to a verdict: which test fits the design, why, and what it says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial import _check
from fairtrial.errors import InputError
from fairtrial.significance.bayes import check_rope
from fairtrial.significance.judging import Wishes
from fairtrial.significance.many_sets import many_data_sets
from fairtrial.significance.one_set import one_data_set, splits_table
from fairtrial.significance.posthoc import METHODS
from fairtrial.significance.reading import read_scores
from fairtrial.significance.scores import Design, Scores, counted
from fairtrial.significance.table import Better, ScoreTable
from fairtrial.significance.telling import listed, tell
from fairtrial.significance.verdict import LeftOut, Step, Verdict as Verdict

if TYPE_CHECKING:
    from os import PathLike

    import pandas as pd

_DIRECTION = "Which scores are better?"
_SIZE = {"max": "larger", "min": "smaller"}


def advise(
    scores: Scores | str | PathLike[str] | pd.DataFrame | Any,
    *,
    better: Better | None = None,
    measure: str | None = None,
    control: str | None = None,
    alpha: float = 0.05,
    rope: float | None = None,
    posthoc: str | None = None,
    test_fraction: float | None = None,
    parametric: bool = False,
) -> Verdict:
    """Choose the test that fits the design of a table of scores, run it, and say why and what it found.

    | learners | data sets | test | beside it |
    |---|---|---|---|
    | 2 | 1, with splits | `corrected_resampled_t`, for 5 x 2 folds `five_by_two_f` | `correlated_t` if `rope` is given |
    | 3 or more | 1, with splits | the same for each pair, p adjusted | |
    | 2 | 2 or more | `wilcoxon` on the means | the sign test; `bayes_signed_rank` if `rope` is given |
    | 3 or more | 2 or more | `iman_davenport`'s form of Friedman's test, then post-hoc | |

    All pairs are adjusted by Bergmann and Hommel's procedure up to 12 learners, by Shaffer's beyond; comparisons with a
    `control` by Holm's; `posthoc` names another one. Repeats and folds are never counted as independent: on several data sets
    their mean is one score, on a single one `test_fraction` (by default one over the number of folds) corrects for their
    overlap. `parametric=True` asks for the paired t test, or for analysis of variance with Tukey's or Dunnett's comparisons; it
    is granted only where the differences between learners look normal and equally spread.

    The direction comes from `better`, else from a registered `measure`, else larger is better. Where scores are missing, data
    sets or learners are left out, whichever loses fewer scores. `scores` is anything that `read_scores` takes.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"tree": [0.9, 0.8, 0.9, 0.6, 0.7, 0.8], "bayes": [0.8, 0.7, 0.7, 0.5, 0.6, 0.6]})
    >>> verdict = advise(table, measure="accuracy")
    >>> verdict.choice, verdict.p_value, verdict.groups
    ('wilcoxon', 0.03125, (('tree',), ('bayes',)))
    >>> print(verdict.words.splitlines()[1])
    Larger scores are better, as the measure accuracy says.
    """
    _check.between("alpha", alpha, 0, 1)
    if posthoc is not None:
        _check.one_of("posthoc", posthoc, METHODS)
    read = read_scores(scores, measure=measure)
    chosen, name, direction = _direction(better, measure, read.measure)
    if rope is not None:
        _check.number("rope", rope)
    check_rope(0.0 if rope is None else rope, chosen)
    if test_fraction is not None:
        _check.between("test_fraction", test_fraction, 0, 1)
    if control is not None:
        control = str(control)
        _check.one_of("control", control, read.learners)
    used, missing = _complete(read, control)
    wishes = Wishes(chosen, control, alpha, rope, posthoc, test_fraction, parametric)
    one_set = len(used.design.datasets) == 1
    table = splits_table(used) if one_set else ScoreTable(used.means(), used.design.datasets, used.learners)
    judged = one_data_set(_planned(read, used), table, wishes) if one_set else many_data_sets(table, wishes)
    steps = [_design(read), direction, missing, *([] if one_set else _folds(used)), *judged.steps]
    unit = "split" if one_set else "data set"
    verdict = Verdict(
        judged.choice,
        judged.p_value,
        tuple(steps),
        (),
        judged.outcome,
        table,
        chosen,
        alpha,
        control,
        name,
        unit,
        judged.posthoc,
        judged.posterior,
        _left_out(read, used),
    )
    return replace(verdict, findings=tell(verdict, judged.notes))


def _design(scores: Scores) -> Step:
    told = ". ".join(scores.guessed)
    return "What is compared?", str(scores.design), f"Read: {scores.design}.{f' {told}.' if told else ''}"


def _direction(better: Better | None, measure: str | None, of_scores: str | None) -> tuple[Better, str | None, Step]:
    name = measure or of_scores
    known = _direction_of(name, strict=better is None and measure is not None and measure != of_scores)
    if better is not None:
        _check.one_of("better", better, ("max", "min"))
        if known not in (None, better):
            raise InputError(f"better must be {known!r}, as the measure {name} says, got {better!r}: leave one of them out")
        return better, name, (_DIRECTION, better, f"{_SIZE[better].capitalize()} scores are better, as was asked.")
    if known is not None:
        return known, name, (_DIRECTION, known, f"{_SIZE[known].capitalize()} scores are better, as the measure {name} says.")
    reason = "Larger scores are taken to be better, nothing else being said: for errors and costs pass better='min'."
    return "max", name, (_DIRECTION, "max", reason)


def _direction_of(name: str | None, strict: bool) -> Better | None:
    from fairtrial.measures import registry

    return registry[name].facts.direction if name is not None and (strict or name in registry) else None


def _complete(scores: Scores, control: str | None) -> tuple[Scores, Step]:
    """Scores without holes, and what was left out for it."""
    question = "Are scores missing?"
    if not np.isnan(scores.cells).any():
        return scores, (question, "no", "No score is missing.")
    shared = scores.shared()
    lost = len(scores.splits) - len(shared.splits)
    told = [f"{counted(lost, 'split')} without scores of all learners left out"] if lost else []
    holes = np.isnan(shared.means())
    if holes.any():
        keep, what = _less_loss(holes, shared, control)
        told.append(what)
        shared = keep
    answer = "; ".join(told)
    warning = "If scores are missing because a learner failed there, leaving them out favours that learner."
    return shared, (question, answer, f"Scores are missing: {answer}. {warning}")


def _less_loss(holes: Any, scores: Scores, control: str | None) -> tuple[Scores, str]:
    datasets, learners = np.array(scores.design.datasets), np.array(scores.learners)
    bad_rows, bad_columns = holes.any(axis=1), holes.any(axis=0)
    by_rows, by_columns = (~holes[bad_rows]).sum(), (~holes[:, bad_columns]).sum()
    rows_left, columns_left = int((~bad_rows).sum()), int((~bad_columns).sum())
    # A single data set that is left must have splits of its own.
    can_rows = rows_left > 1 or (rows_left == 1 and _splits_of(scores, str(datasets[~bad_rows][0])) > 1)
    can_columns = columns_left > 1 and (control is None or not bad_columns[list(learners).index(control)])
    if not can_rows and not can_columns:
        raise InputError(
            "scores must be known for at least 2 learners on the same data sets, got too many holes: fill some cells"
        )
    if can_rows and (by_rows <= by_columns or not can_columns):
        gone = [str(name) for name in datasets[bad_rows]]
        why = ", which loses fewer scores than leaving out learners" if can_columns else ""
        return scores.without(datasets=gone), f"{counted(len(gone), 'data set')} with holes left out ({listed(gone)}){why}"
    gone = [str(name) for name in learners[bad_columns]]
    why = ", which loses fewer scores than leaving out data sets" if can_rows else ""
    return scores.without(learners=gone), f"{counted(len(gone), 'learner')} with holes left out ({listed(gone)}){why}"


def _left_out(read: Scores, used: Scores) -> LeftOut:
    kept = used.design.datasets
    planned = sum(dataset in kept for dataset, _, _ in read.splits)
    return LeftOut(
        tuple(name for name in read.design.datasets if name not in kept),
        tuple(name for name in read.learners if name not in used.learners),
        planned - len(used.splits),
        kept,
        planned,
    )


def _splits_of(scores: Scores, dataset: str) -> int:
    return len(scores.rows_of()[dataset])


def _planned(read: Scores, used: Scores) -> Design:
    """How the one data set that is left was split, missing scores or not."""
    return read.without(datasets=[name for name in read.design.datasets if name not in used.design.datasets]).design


def _folds(scores: Scores) -> list[Step]:
    n, splits = len(scores.design.datasets), len(scores.splits)
    if splits == n:
        return []
    reason = (
        "Repeats and folds of a data set share training rows and are not independent: their mean is one score, so that the "
        f"number of cases is {n}, that of the data sets, and not {splits}."
    )
    return [("Are there repeats or folds?", "averaged", reason)]
