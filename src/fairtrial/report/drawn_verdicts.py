"""Figures of a comparison by name: ranks, pairs, posteriors and intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fairtrial._registry import did_you_mean
from fairtrial.errors import InputError
from fairtrial.measures.measure import get_measure
from fairtrial.report import compare
from fairtrial.report.curves import draw_intervals
from fairtrial.report.draw import figure
from fairtrial.report.level_means import level_means, share_tested
from fairtrial.report.places import lines_of, main_condition, told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtrial.significance.verdict import Verdict
    from fairtrial.study import Results
    from fairtrial.study.archive import ConditionFacts


@figure("critical-difference", "cd")
def critical_difference(
    results: Results,
    measure: str | None = None,
    condition: str | None = None,
    level: float | None = None,
    control: str | None = None,
    alpha: float | None = None,
    positive: object = None,
) -> Any:
    """Mean ranks, with bars that join learners that are not told apart."""
    return _of_verdict("critical-difference", results, measure, condition, level, control, alpha, positive)


@figure("ranks")
def ranks(
    results: Results,
    measure: str | None = None,
    condition: str | None = None,
    level: float | None = None,
    positive: object = None,
) -> Any:
    """How often each learner had which rank."""
    return _of_verdict("ranks", results, measure, condition, level, None, None, positive)


@figure("pairs")
def pairs(
    results: Results,
    measure: str | None = None,
    condition: str | None = None,
    level: float | None = None,
    control: str | None = None,
    alpha: float | None = None,
    positive: object = None,
) -> Any:
    """A matrix of the differences of pairs with adjusted p values."""
    return _of_verdict("pairs", results, measure, condition, level, control, alpha, positive)


def _of_verdict(
    name: str,
    results: Results,
    measure: str | None,
    condition: str | None,
    level: float | None,
    control: str | None,
    alpha: float | None,
    positive: object,
) -> Any:
    where = _condition(results, condition, level)
    verdict = results.verdict(measure, condition=where.name, level=where.level, control=control, alpha=alpha, positive=positive)
    return _headed(compare.figures(verdict)[name], results, measure, where)


@figure("simplex")
def simplex(
    results: Results,
    learner: Sequence[str] | None = None,
    measure: str | None = None,
    rope: float = 0.01,
    condition: str | None = None,
    level: float | None = None,
    positive: object = None,
) -> Any:
    """What is to be believed about two learners over several data sets (Bayesian signed ranks)."""
    return _of_posterior("simplex", results, learner, measure, rope, _condition(results, condition, level), positive, None)


@figure("density")
def density(
    results: Results,
    learner: Sequence[str] | None = None,
    measure: str | None = None,
    rope: float = 0.01,
    dataset: str | None = None,
    condition: str | None = None,
    level: float | None = None,
    positive: object = None,
) -> Any:
    """What is to be believed about the difference of two learners on one data set (correlated Bayesian t)."""
    names = [each.name for each in results.archive.datasets]
    if dataset is None and len(names) > 1:
        raise InputError(f"dataset must be given for a study of several, got None: choose one of {', '.join(names)}")
    if dataset is not None and dataset not in names:
        raise InputError(f"dataset must be of the study, got {dataset!r}: {did_you_mean(dataset, names)}")
    where = _condition(results, condition, level)
    return _of_posterior("density", results, learner, measure, rope, where, positive, dataset or names[0])


def _of_posterior(
    name: str,
    results: Results,
    learner: Sequence[str] | None,
    measure: str | None,
    rope: float,
    condition: ConditionFacts,
    positive: object,
    dataset: str | None,
) -> Any:
    found = compare.figures(_two(results, _pair(results, learner), measure, rope, condition, positive, dataset))
    if name not in found:
        other = "density" if name == "simplex" else "simplex"
        raise InputError(f"the figure {name!r} has no posterior here: try {other!r}, or a study with more scores")
    return _headed(found[name], results, measure, condition, dataset)


def _headed(chart: Any, results: Results, measure: str | None, condition: ConditionFacts, dataset: str | None = None) -> Any:
    """The chart with its place in the study behind its title: the measure, the data, the condition."""
    where = [get_measure(measure or _judged(results)).name, dataset or _data_sets(results)]
    if condition != main_condition(results):
        where.append(told(condition))
    chart.title.text = f"{chart.title.text}: {', '.join(where)}"
    return chart


def _data_sets(results: Results) -> str:
    names = [each.name for each in results.archive.datasets]
    return names[0] if len(names) == 1 else f"{len(names)} data sets"


def _pair(results: Results, learner: Sequence[str] | None) -> list[str]:
    known = [each.name for each in results.archive.learners]
    wanted = known if learner is None else [learner] if isinstance(learner, str) else list(learner)
    for each in wanted:
        if each not in known:
            raise InputError(f"learner must be of the study, got {each!r}: {did_you_mean(each, known)}")
    if len(wanted) != 2:
        raise InputError(f"learner must name 2 learners for a posterior, got {len(wanted)}: pass ['{known[0]}', '...']")
    return wanted


def _two(
    results: Results,
    pair: list[str],
    measure: str | None,
    rope: float,
    condition: ConditionFacts,
    positive: object,
    dataset: str | None,
) -> Verdict:
    """The verdict on two learners: on the means of all data sets, or on the splits of one."""
    from fairtrial.significance.advise import advise

    name = get_measure(measure or _judged(results)).name
    if dataset is None:
        table = results.wide(name, condition.name, condition.level, positive=positive)[pair].dropna()
        return advise(table, measure=name, rope=rope)
    scores = results.scores(name, positive=positive)
    own = scores[(scores["dataset"] == dataset) & scores["learner"].isin(pair) & lines_of(scores, condition)]
    tidy = own[own["value"].notna()][["dataset", "learner", "repeat", "fold", "value"]].reset_index(drop=True)
    tidy = tidy.astype({"dataset": object, "learner": object})
    splits = list(tidy[["repeat", "fold"]].drop_duplicates().itertuples(index=False, name=None))
    return advise(tidy, measure=name, rope=rope, test_fraction=share_tested(results, dataset, splits))


def _judged(results: Results) -> str:
    declared = results.archive.declaration.get("verdict")
    named = declared.get("measure") if isinstance(declared, Mapping) else None
    return str(named or results.measures[0])


@figure("intervals")
def intervals(
    results: Results,
    measure: str | Sequence[str] | None = None,
    dataset: str | None = None,
    condition: str | None = None,
    level: float | None = None,
    positive: object = None,
    alpha: float = 0.05,
) -> Any:
    """Mean scores of each learner with intervals, over data sets or on one of them."""
    import pandas as pd

    names = [each.name for each in results.archive.datasets]
    if dataset is not None and dataset not in names:
        raise InputError(f"dataset must be of the study, got {dataset!r}: {did_you_mean(dataset, names)}")
    wanted = results.measures if measure is None else [measure] if isinstance(measure, str) else list(measure)
    where = [_condition(results, condition, level)]
    parts = []
    for each in wanted:
        frame = level_means(results, where, each, dataset=dataset, alpha=alpha, positive=positive)
        parts.append(frame.assign(measure=get_measure(each).name, estimate=frame["mean"]))
    over = f"over {len(names)} data sets" if dataset is None and len(names) > 1 else f"on {dataset or names[0]}"
    over += "" if where[0] == main_condition(results) else f" under {told(where[0])}"
    return draw_intervals(pd.concat(parts, ignore_index=True), title=f"Mean scores {over}, {100 * (1 - alpha):g} % intervals")


def _condition(results: Results, condition: str | None, level: float | None) -> ConditionFacts:
    """The condition that is meant, clean by default."""
    if condition is None:
        return main_condition(results)
    known = results.archive.conditions
    own = [each for each in known if each.name == condition]
    if not own:
        hint = did_you_mean(condition, list(dict.fromkeys(each.name for each in known)))
        raise InputError(f"condition must be one of the study's, got {condition!r}: {hint}")
    same = own if level is None else [each for each in own if abs(each.level - level) < 1e-12]
    if len(same) != 1:
        raise InputError(f"level must be one of {[each.level for each in own]} for the condition {condition!r}, got {level!r}")
    return same[0]
