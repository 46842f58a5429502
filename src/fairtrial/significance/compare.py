"""Comparison of the learners in a table of scores, using a test that fits the design."""

from __future__ import annotations

import re
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairtrial import _check
from fairtrial._findings import Finding
from fairtrial._narrative import name_argument
from fairtrial.errors import InputError
from fairtrial.significance import designs
from fairtrial.significance.bayes import Posterior, check_rope
from fairtrial.significance.designs import ChosenTest, ComparisonOptions
from fairtrial.significance.margins import check_margin
from fairtrial.significance.names import get_display_name, resolve_name
from fairtrial.significance.posthoc import POSTHOC_METHODS
from fairtrial.significance.reading import read_scores
from fairtrial.significance.scores import Better, Design, Scores, ScoreTable
from fairtrial.significance.verdict import ExcludedScores, Verdict as Verdict

if TYPE_CHECKING:
    import pandas as pd

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
    rows: Literal["datasets", "folds", "seeds"] | None = None,
    margin: float | None = None,
    equivalent: bool = False,
    hierarchical: bool = False,
) -> Verdict:
    """Compare the learners in a table of scores, using the test that fits the design.

    | learners | data sets | test | additional results |
    |---|---|---|---|
    | 2 | 1, with splits | `corrected_resampled_t`; `five_by_two_f` for 5 x 2 folds | `correlated_t` if `rope` is given |
    | 3 or more | 1, with splits | the same test for each pair, with adjusted p-values | as for 2 learners, for each pair |
    | 2 or more | 1, with `rows="seeds"` | `paired_t` for each pair, adjusted p-values | `correlated_t` if `rope` is given |
    | 2 | 2 or more | `wilcoxon` on the mean scores | sign test; `bayes_signed_rank` if `rope` is given |
    | 3 or more | 2 or more | `iman_davenport` (Friedman test), then post-hoc tests | `bayes_signed_rank` if `rope` is given |

    If there are few data sets, the p-values of the Friedman test and of the pairwise tests are computed by permutation. If
    there are too few data sets for any result to be significant, the verdict states that no decision is possible. The F
    statistic of `five_by_two_f` does not show which learner is better. The verdict therefore names a winner only if the
    confidence interval for the mean difference also excludes zero.

    Repeats and folds are never treated as independent observations. If there are several data sets, the scores on each data set
    are averaged over all repeats and folds. If there is a single data set, the test accounts for the overlap of the training
    sets. If scores are missing, either the data sets or the learners with missing scores are excluded, whichever discards fewer
    scores.

    Parameters
    ----------
    scores : path, dataframe, matrix or Scores
        Scores in wide form (one row per data set, one column per learner) or in tidy form (one row per score). See
        `read_scores`.
    better : {"max", "min"}, optional
        Whether larger or smaller scores are better. Default: the direction of `measure` or, if it is unknown, "max". Required
        if the file name, the name of the measure or every column name contains a word such as "error", "loss" or "time".
    measure : str, optional
        Name of the measure. If a tidy table contains several measures, this one is used.
    control : str, optional
        Learner with which all other learners are compared. By default, all pairs are compared.
    alpha : float, default 0.05
        Significance level.
    rope : float, optional
        Half-width of the region of practical equivalence, i.e. the largest absolute difference that does not matter in
        practice. If given, each pair is also compared with a Bayesian test. If there is a control, only pairs that include it
        are compared.
    posthoc : str, optional
        Post-hoc procedure. The default is Holm if there is a control, and otherwise Bergmann-Hommel for up to 12 learners and
        Shaffer for more than 12. After ANOVA, the default is Dunnett if there is a control, and otherwise Tukey.
    test_fraction : float, optional
        Proportion of rows in each test set, if all scores come from splits of a single data set. Default: 1 divided by the
        number of folds.
    parametric : bool, default False
        Whether to use the paired t test (two learners) or ANOVA with Tukey or Dunnett comparisons (three or more). Rank-based
        tests are still used if there are too few data sets, or if tests reject normality or equal variances of the differences.
    rows : {"datasets", "folds", "seeds"}, optional
        What the rows of a wide table represent: data sets, folds of one data set, or runs with different seeds on the same
        training and test rows. Scores on folds are compared with the corrected resampled t test. Required if the rows have no
        names.
    margin : float, optional
        The largest loss in score that does not matter. If given, the verdict also states whether each learner is superior,
        non-inferior or inferior to the control, or whether the result is inconclusive. If there is no control, the lower-ranked
        learner of each pair is compared with the higher-ranked one. The confidence limits are Bonferroni-adjusted for the
        number of pairs. See `margin_test`.
    equivalent : bool, default False
        Whether to test for equivalence within the margin instead of non-inferiority.
    hierarchical : bool, default False
        Whether to use a Bayesian hierarchical model fitted to the scores on all splits instead of the Bayesian signed-rank test
        on the mean scores. Requires `rope` and several data sets with the same number of splits.

    Returns
    -------
    Verdict
        The ranking, p-values, effect sizes, and reasons for the choice of test.

    Raises
    ------
    InputError
        If fewer than two learners have scores on the same data sets, or if an argument is incompatible with the design.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"tree": [0.9, 0.8, 0.9, 0.6, 0.7, 0.8], "bayes": [0.8, 0.7, 0.7, 0.5, 0.6, 0.6]})
    >>> verdict = compare(table, measure="accuracy", rows="datasets")
    >>> verdict.choice, verdict.p_value, verdict.groups
    ('wilcoxon', 0.03125, (('tree',), ('bayes',)))
    >>> print(verdict.summary)
    tree beats bayes (accuracy +0.133, p = 0.031; Wilcoxon signed-rank test, 6 data sets).
    """
    _check.check_between("alpha", alpha, 0, 1)
    if posthoc is not None:
        posthoc = resolve_name("posthoc", posthoc, POSTHOC_METHODS)
    all_scores = read_scores(scores, measure=measure, rows=rows)
    resolved_better, name, direction = _resolve_direction(better, measure, all_scores.measure)
    is_assumed = direction.kind == "direction_default"
    if is_assumed:
        _check_no_costs(scores, all_scores)
    if rope is not None:
        _check.check_number("rope", rope)
    check_rope(0.0 if rope is None else rope, resolved_better)
    if margin is not None:
        check_margin(margin)
    elif equivalent:
        raise InputError(f"equivalent needs a margin, got None: pass {name_argument('margin', '0.01')}")
    if test_fraction is not None:
        _check.check_between("test_fraction", test_fraction, 0, 1)
    if control is not None:
        control = str(control)
        _check.check_one_of("control", control, all_scores.learners)
    used_scores, missing = _drop_incomplete(all_scores, control)
    same_test_set = rows == "seeds"
    single_dataset = len(used_scores.design.datasets) == 1
    if hierarchical and rope is None:
        raise InputError(f"hierarchical needs a rope, got None: pass {name_argument('rope', '0.01')}")
    if hierarchical and single_dataset:
        raise InputError("hierarchical needs several data sets, got 1: omit it")
    options = ComparisonOptions(
        resolved_better,
        control,
        alpha,
        rope,
        posthoc,
        test_fraction,
        parametric,
        same_test_set,
        margin,
        equivalent,
        hierarchical,
    )
    table = (
        designs.build_splits_table(used_scores)
        if single_dataset
        else ScoreTable(used_scores.compute_means(), used_scores.design.datasets, used_scores.learners)
    )
    chosen_test = (
        designs.compare_on_one_dataset(_get_planned_design(all_scores, used_scores), table, options)
        if single_dataset
        else designs.compare_on_many_datasets(used_scores, table, options)
    )
    verdict = Verdict(
        choice=chosen_test.choice,
        p_value=chosen_test.p_value,
        reasons=(
            Finding.of("design", design=str(all_scores.design)),
            *all_scores.guesses,
            *([] if is_assumed else [direction]),
            *([] if single_dataset else _explain_averaging(used_scores)),
            *chosen_test.reasons,
        ),
        caveats=(*([direction] if is_assumed else []), *all_scores.exclusions, *missing, *chosen_test.caveats),
        undecidable=chosen_test.undecidable,
        outcome=chosen_test.outcome,
        table=table,
        better=resolved_better,
        alpha=alpha,
        control=control,
        measure=name,
        unit="data set" if not single_dataset else "run" if same_test_set else "split",
        posthoc=chosen_test.posthoc,
        excluded=_list_excluded(all_scores, used_scores),
        measure_name=_get_display_name(name),
        scores=used_scores,
    )
    return _add_margins(_add_posteriors(verdict, chosen_test, rope), chosen_test, margin)


def _add_posteriors(verdict: Verdict, chosen_test: ChosenTest, rope: float | None) -> Verdict:
    """Add a Bayesian test of each compared pair."""
    if rope is None:
        return verdict
    learners = verdict.table.learners
    pairs = [learners] if len(learners) == 2 else verdict.list_replacements()
    posteriors: list[tuple[str, str, Posterior]] = []
    for first, second in pairs:
        posterior = chosen_test.compute_posterior(learners.index(first), learners.index(second))
        # The draws of many pairs take up a lot of memory, and figures show draws only if there are two learners.
        posteriors.append((first, second, posterior if len(learners) == 2 else replace(posterior, draws=None)))
    kind, test = "rope_used" if len(pairs) == 1 else "rope_used_pairs", get_display_name(posteriors[0][2].test)
    reason = Finding.of(kind, test=test, rope=rope, pairs=len(pairs))
    return replace(
        verdict,
        posterior=posteriors[0][2] if len(learners) == 2 else None,
        posteriors=tuple(posteriors),
        reasons=(*verdict.reasons, reason),
    )


def _add_margins(verdict: Verdict, chosen_test: ChosenTest, margin: float | None) -> Verdict:
    """Add a decision at the margin for each compared pair, with Bonferroni-adjusted limits."""
    if margin is None:
        return verdict
    pairs, find_index = verdict.list_replacements(), verdict.table.learners.index
    alpha = verdict.alpha / len(pairs)
    margins = tuple(
        (first, second, chosen_test.decide_pair(find_index(first), find_index(second), alpha)) for first, second in pairs
    )
    test = get_display_name(margins[0][2].test)
    kind = "margin_limits" if len(pairs) == 1 else "margin_limits_adjusted"
    reason = Finding.of(kind, margin=margin, level=1 - alpha, test=test, pairs=len(pairs))
    verdict = replace(verdict, margins=margins, reasons=(*verdict.reasons, reason))
    return replace(verdict, caveats=(*verdict.caveats, *verdict.list_margin_caveats()))


def _get_display_name(measure: str | None) -> str:
    from fairtrial.measures import registry

    if measure is None:
        return ""
    return registry[measure].display_name if measure in registry else measure.replace("_", " ")


def _resolve_direction(
    better: Better | None, measure: str | None, scores_measure: str | None
) -> tuple[Better, str | None, Finding]:
    name = measure or scores_measure
    measure_direction = _get_direction(name, strict=better is None and measure is not None and measure != scores_measure)
    if better is not None:
        _check.check_one_of("better", better, ("max", "min"))
        if measure_direction not in (None, better):
            raise InputError(
                f"better must be {measure_direction!r} for the measure {name}, got {better!r}: leave one of them out"
            )
        return better, name, Finding.of("direction_requested", size=_SIZE[better])
    if measure_direction is not None:
        finding = Finding.of("direction_of_measure", size=_SIZE[measure_direction], measure=_get_display_name(name))
        return measure_direction, name, finding
    return "max", name, Finding.of("direction_default")


# Words that occur in the names of measures for which smaller values are better.
_COST_WORDS = frozenset(
    (
        *("error", "errors", "err", "loss", "losses", "cost", "costs", "rmse", "mse"),
        *("mae", "mape", "brier", "logloss", "nll", "deviance", "perplexity", "regret", "misclassification"),
        *("time", "times", "runtime", "seconds", "latency", "risk"),
    )
)


def _names_cost(name: str) -> bool:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
    return not _COST_WORDS.isdisjoint(re.findall(r"[a-z]+", words))


def _check_no_costs(source: object, scores: Scores) -> None:
    """Raise an error if a name suggests that smaller scores are better, and ask for the direction."""
    file_name = Path(source).name if isinstance(source, (str, PathLike)) else ""
    if _names_cost(file_name):
        name = f"the file name {file_name!r}"
    elif _names_cost(scores.measure or ""):
        name = f"the measure {scores.measure!r}"
    elif all(map(_names_cost, scores.learners)):
        name = f"column names such as {scores.learners[0]!r}"
    else:
        return
    raise InputError(
        f"the direction of the scores must be given, because {name} may mean that smaller scores are better: pass "
        f"{name_argument('better', 'min')} if they are, {name_argument('better', 'max')} if not"
    )


def _get_direction(name: str | None, strict: bool) -> Better | None:
    from fairtrial.measures import registry

    if name is None or not (strict or name in registry):
        return None
    facts = registry[name].facts
    if facts.direction in ("max", "min"):
        return facts.direction
    remedy = "choose another measure"
    if facts.target is not None:
        remedy = f"compare the distances from {facts.target:g}, with {name_argument('better', 'min')}"
    raise InputError(f"scores must have a direction, but {facts.display_name} has none, because {facts.best_value}: {remedy}")


def _drop_incomplete(scores: Scores, control: str | None) -> tuple[Scores, list[Finding]]:
    """Drop splits, data sets or learners with missing scores, and report them as findings."""
    if not np.isnan(scores.cells).any():
        return scores, []
    shared_scores = scores.select_shared()
    n_dropped = len(scores.splits) - len(shared_scores.splits)
    findings = [Finding.of("missing_splits", splits=n_dropped)] if n_dropped else []
    is_missing = np.isnan(shared_scores.compute_means())
    if is_missing.any():
        shared_scores, finding = _drop_fewest(is_missing, shared_scores, control)
        findings.append(finding)
    return shared_scores, [*findings, Finding.of("missing_scores_bias")]


def _drop_fewest(is_missing: Any, scores: Scores, control: str | None) -> tuple[Scores, Finding]:
    datasets, learners = np.array(scores.design.datasets), np.array(scores.learners)
    incomplete_rows, incomplete_columns = is_missing.any(axis=1), is_missing.any(axis=0)
    lost_by_rows, lost_by_columns = (~is_missing[incomplete_rows]).sum(), (~is_missing[:, incomplete_columns]).sum()
    rows_left, columns_left = int((~incomplete_rows).sum()), int((~incomplete_columns).sum())
    # If only one data set is left, it must have several splits.
    can_drop_rows = rows_left > 1 or (rows_left == 1 and _count_splits(scores, str(datasets[~incomplete_rows][0])) > 1)
    can_drop_columns = columns_left > 1 and (control is None or not incomplete_columns[list(learners).index(control)])
    if not can_drop_rows and not can_drop_columns:
        raise InputError(
            "scores must be known for at least 2 learners on the same data sets, got too many missing scores: add the missing "
            "scores, or finish the study"
        )
    if can_drop_rows and (lost_by_rows <= lost_by_columns or not can_drop_columns):
        names = tuple(str(name) for name in datasets[incomplete_rows])
        kind = "missing_datasets_fewer" if can_drop_columns else "missing_datasets"
        return scores.drop(datasets=names), Finding.of(kind, datasets=names)
    names = tuple(str(name) for name in learners[incomplete_columns])
    kind = "missing_learners_fewer" if can_drop_rows else "missing_learners"
    return scores.drop(learners=names), Finding.of(kind, learners=names)


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
    """Return the design before splits with missing scores were dropped."""
    return all_scores.drop(
        datasets=[name for name in all_scores.design.datasets if name not in used_scores.design.datasets]
    ).design


def _explain_averaging(scores: Scores) -> list[Finding]:
    n, splits = len(scores.design.datasets), len(scores.splits)
    return [] if splits == n else [Finding.of("averaged_splits", datasets=n, splits=splits)]
