"""From a table of scores to a verdict: which test fits the design, why, and what it says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial import _check
from fairtrial._text import format_count, join_names
from fairtrial.errors import InputError
from fairtrial.significance import designs
from fairtrial.significance.bayes import check_rope
from fairtrial.significance.designs import ComparisonOptions
from fairtrial.significance.names import resolve_name
from fairtrial.significance.narrative import write_findings
from fairtrial.significance.posthoc import POSTHOC_METHODS
from fairtrial.significance.reading import read_scores
from fairtrial.significance.scores import Better, Design, Scores, ScoreTable
from fairtrial.significance.verdict import ExcludedScores, Step, Verdict as Verdict

if TYPE_CHECKING:
    from os import PathLike

    import pandas as pd

_DIRECTION_QUESTION = "Which scores are better?"


_SIZE = {"max": "larger", "min": "smaller"}


def compare(
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
    >>> verdict = compare(table, measure="accuracy")
    >>> verdict.choice, verdict.p_value, verdict.groups
    ('wilcoxon', 0.03125, (('tree',), ('bayes',)))
    >>> print(verdict.summary.splitlines()[1])
    Larger scores are better, as the measure accuracy says.
    """
    _check.check_between("alpha", alpha, 0, 1)
    if posthoc is not None:
        posthoc = resolve_name("posthoc", posthoc, POSTHOC_METHODS)
    all_scores = read_scores(scores, measure=measure)
    resolved_better, name, direction_step = _resolve_direction(better, measure, all_scores.measure)
    if rope is not None:
        _check.check_number("rope", rope)
    check_rope(0.0 if rope is None else rope, resolved_better)
    if test_fraction is not None:
        _check.check_between("test_fraction", test_fraction, 0, 1)
    if control is not None:
        control = str(control)
        _check.check_one_of("control", control, all_scores.learners)
    used_scores, missing_step = _drop_incomplete(all_scores, control)
    options = ComparisonOptions(resolved_better, control, alpha, rope, posthoc, test_fraction, parametric)
    single_dataset = len(used_scores.design.datasets) == 1
    table = (
        designs.build_splits_table(used_scores)
        if single_dataset
        else ScoreTable(used_scores.compute_means(), used_scores.design.datasets, used_scores.learners)
    )
    chosen_test = (
        designs.compare_on_one_dataset(_get_planned_design(all_scores, used_scores), table, options)
        if single_dataset
        else designs.compare_on_many_datasets(table, options)
    )
    steps = [
        _describe_design(all_scores),
        direction_step,
        missing_step,
        *([] if single_dataset else _describe_averaging(used_scores)),
        *chosen_test.steps,
    ]
    unit = "split" if single_dataset else "data set"
    verdict = Verdict(
        chosen_test.choice,
        chosen_test.p_value,
        tuple(steps),
        (),
        chosen_test.outcome,
        table,
        resolved_better,
        alpha,
        control,
        name,
        unit,
        chosen_test.posthoc,
        chosen_test.posterior,
        _list_excluded(all_scores, used_scores),
    )
    return replace(verdict, findings=write_findings(verdict, chosen_test.notes))


def _describe_design(scores: Scores) -> Step:
    guesses = ". ".join(scores.guesses)
    return "What is compared?", str(scores.design), f"Read: {scores.design}.{f' {guesses}.' if guesses else ''}"


def _resolve_direction(
    better: Better | None, measure: str | None, scores_measure: str | None
) -> tuple[Better, str | None, Step]:
    name = measure or scores_measure
    measure_direction = _get_direction(name, strict=better is None and measure is not None and measure != scores_measure)
    if better is not None:
        _check.check_one_of("better", better, ("max", "min"))
        if measure_direction not in (None, better):
            raise InputError(
                f"better must be {measure_direction!r}, as the measure {name} says, got {better!r}: leave one of them out"
            )
        return better, name, (_DIRECTION_QUESTION, better, f"{_SIZE[better].capitalize()} scores are better, as was asked.")
    if measure_direction is not None:
        return (
            measure_direction,
            name,
            (
                _DIRECTION_QUESTION,
                measure_direction,
                f"{_SIZE[measure_direction].capitalize()} scores are better, as the measure {name} says.",
            ),
        )
    reason = "Larger scores are taken to be better, nothing else being said: for errors and costs pass better='min'."
    return "max", name, (_DIRECTION_QUESTION, "max", reason)


def _get_direction(name: str | None, strict: bool) -> Better | None:
    from fairtrial.measures import registry

    return registry[name].facts.direction if name is not None and (strict or name in registry) else None


def _drop_incomplete(scores: Scores, control: str | None) -> tuple[Scores, Step]:
    """Scores without holes, and what was left out for it."""
    question = "Are scores missing?"
    if not np.isnan(scores.cells).any():
        return scores, (question, "no", "No score is missing.")
    shared_scores = scores.select_shared()
    n_dropped = len(scores.splits) - len(shared_scores.splits)
    messages = [f"{format_count(n_dropped, 'split')} without scores of all learners left out"] if n_dropped else []
    is_missing = np.isnan(shared_scores.compute_means())
    if is_missing.any():
        complete_scores, message = _drop_fewest(is_missing, shared_scores, control)
        messages.append(message)
        shared_scores = complete_scores
    answer = "; ".join(messages)
    warning = "If scores are missing because a learner failed there, leaving them out favours that learner."
    return shared_scores, (question, answer, f"Scores are missing: {answer}. {warning}")


def _drop_fewest(is_missing: Any, scores: Scores, control: str | None) -> tuple[Scores, str]:
    datasets, learners = np.array(scores.design.datasets), np.array(scores.learners)
    incomplete_rows, incomplete_columns = is_missing.any(axis=1), is_missing.any(axis=0)
    lost_by_rows, lost_by_columns = (~is_missing[incomplete_rows]).sum(), (~is_missing[:, incomplete_columns]).sum()
    rows_left, columns_left = int((~incomplete_rows).sum()), int((~incomplete_columns).sum())
    # A single data set that is left must have splits of its own.
    can_drop_rows = rows_left > 1 or (rows_left == 1 and _count_splits(scores, str(datasets[~incomplete_rows][0])) > 1)
    can_drop_columns = columns_left > 1 and (control is None or not incomplete_columns[list(learners).index(control)])
    if not can_drop_rows and not can_drop_columns:
        raise InputError(
            "scores must be known for at least 2 learners on the same data sets, got too many holes: fill some cells"
        )
    if can_drop_rows and (lost_by_rows <= lost_by_columns or not can_drop_columns):
        dropped_names = [str(name) for name in datasets[incomplete_rows]]
        reason = ", which loses fewer scores than leaving out learners" if can_drop_columns else ""
        return scores.drop(
            datasets=dropped_names
        ), f"{format_count(len(dropped_names), 'data set')} with holes left out ({join_names(dropped_names)}){reason}"
    dropped_names = [str(name) for name in learners[incomplete_columns]]
    reason = ", which loses fewer scores than leaving out data sets" if can_drop_rows else ""
    return scores.drop(
        learners=dropped_names
    ), f"{format_count(len(dropped_names), 'learner')} with holes left out ({join_names(dropped_names)}){reason}"


def _list_excluded(all_scores: Scores, used_scores: Scores) -> ExcludedScores:
    used_datasets = used_scores.design.datasets
    n_planned = sum(dataset in used_datasets for dataset, _, _ in all_scores.splits)
    return ExcludedScores(
        tuple(name for name in all_scores.design.datasets if name not in used_datasets),
        tuple(name for name in all_scores.learners if name not in used_scores.learners),
        n_planned - len(used_scores.splits),
        used_datasets,
        n_planned,
    )


def _count_splits(scores: Scores, dataset: str) -> int:
    return len(scores.index_rows()[dataset])


def _get_planned_design(all_scores: Scores, used_scores: Scores) -> Design:
    """How the one data set that is left was split, missing scores or not."""
    return all_scores.drop(
        datasets=[name for name in all_scores.design.datasets if name not in used_scores.design.datasets]
    ).design


def _describe_averaging(scores: Scores) -> list[Step]:
    n, splits = len(scores.design.datasets), len(scores.splits)
    if splits == n:
        return []
    reason = (
        "Repeats and folds of a data set share training rows and are not independent: their mean is one score, so that the "
        f"number of cases is {n}, that of the data sets, and not {splits}."
    )
    return [("Are there repeats or folds?", "averaged", reason)]
