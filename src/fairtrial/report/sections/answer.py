"""The answer: which learner or model is best, which are significantly worse, and how certain this is."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from fairtrial._findings import Finding
from fairtrial._narrative import render, render_all, render_ranking
from fairtrial._text import format_interval, format_number, join_names
from fairtrial.measures import get_measure
from fairtrial.report.check import list_answer_warnings
from fairtrial.report.judgement import get_direction, list_datasets, order_pairs_best_first, rank_judged_models
from fairtrial.report.means import average_by_dataset, average_over_datasets, compute_scores
from fairtrial.report.names import find_best_names, format_condition_phrase, format_measure_name, get_verdict_measure_name
from fairtrial.report.section import ReportTable, Section, Sentence, section
from fairtrial.report.sections.verdict import VerdictContext
from fairtrial.study.results.selection import format_condition

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.predictions.judgement import Judgement
    from fairtrial.report.source import ReportSource
    from fairtrial.study import Results

LEADS = "answer-leads"
_STATUSES = {"ok": "succeeded", "missing": "not run"}
_MAX_RANKINGS = 6
_ANSWER_NOTES = (
    *("undeclared_clusters", "unknown_label", "unknown_labels", "missing_labels", "average_precision_differs"),
    *("unused_text", "unused_probabilities", "unused_prediction", "unused_unknown_label"),
)


@section("answer", title="The answer", order=10, serves=("study", "judgement", "comparison"))
def build_section(source: ReportSource) -> Section:
    """Build the answer in a few sentences. The sections below contain the numbers."""
    if source.kind == "study":
        return _build_study_answer(source)
    sentences: list[str] = []
    tables: tuple[ReportTable, ...] = ()
    if source.rankings:
        sentences += _describe_rankings(source)
        if len(source.rankings) > 1:
            tables = (build_leads_table(source.get_judgement()),)
    if source.verdict is not None:
        scope = f"over all {source.verdict.unit}s" if source.rankings else ""
        sentences += VerdictContext.from_scores(source.verdict).describe_answer(source.noun, scope)
    if source.kind == "judgement":
        sentences += source.get_judgement().gap_answer
    sentences += _describe_warnings(source)
    return Section("answer", "The answer", tuple(map(Sentence, sentences)), (), tables)


def _describe_rankings(source: ReportSource) -> list[str]:
    """Describe the answer for each data set. If there are many, describe only how often each model is best."""
    if len(source.rankings) > _MAX_RANKINGS:
        return describe_leads(source.get_judgement())
    notes = [note for note in source.get_judgement().notes if note.kind == "below_chance"]
    return [*(render_ranking(ranking, source.noun) for ranking in source.rankings), *render_all(notes, source.noun)]


def _build_study_answer(source: ReportSource) -> Section:
    results = source.get_results()
    main, *others = VerdictContext.list_for_study(results)
    if main.verdict is None:
        sentences = _describe_without_verdict(results, main)
    else:
        sentences = main.describe_answer(source.noun, main.scope)
    sentences += _describe_other_conditions(main, others)
    trials = build_trials_frame(results)
    tables: tuple[ReportTable, ...] = ()
    if len(trials) > 2 or trials.index[0] != "succeeded":
        sentences.append(_count_unfinished_trials(trials))
        tables = (ReportTable("answer-trials", "Status of the trials", trials),)
    sentences += _describe_warnings(source)
    return Section("answer", "The answer", tuple(map(Sentence, sentences)), (), tables)


def _describe_warnings(source: ReportSource) -> list[str]:
    """Describe the raised checks that may change the conclusion, and the notes that may change it."""
    notes = source.get_judgement().notes if source.kind == "judgement" else ()
    texts = render_all([note for note in notes if note.kind in _ANSWER_NOTES], source.noun)
    return [*texts, *(f"{result.check.number}: {result.finding.text}" for result in list_answer_warnings(source))]


def build_trials_frame(results: Results) -> pd.DataFrame:
    """Count the trials by status and in total."""
    import pandas as pd

    counts = results.trials()["status"].astype(str).value_counts(sort=False)
    lines = {_STATUSES.get(str(name), str(name)): int(number) for name, number in counts.items() if number}
    first = {name: lines[name] for name in ("succeeded",) if name in lines}
    lines = first | lines | {"all": int(counts.sum())}
    return pd.DataFrame({"trials": list(lines.values())}, index=pd.Index(lines, name="status"))


def _describe_without_verdict(results: Results, main: VerdictContext) -> list[str]:
    """Describe the best mean if there is no verdict. The best mean alone does not show a difference."""
    measure = get_verdict_measure_name(results)
    if measure not in results.measures or main.condition is None:
        return [main.reason]
    frame = _build_means_frame(results, measure)
    in_condition = frame["condition"] == format_condition(main.condition)
    lines = frame[in_condition & np.isfinite(frame["mean"].to_numpy(dtype=np.float64))]
    if lines.empty:
        return [main.reason]
    best = find_best_names(lines["mean"].set_axis(lines.index.astype(str)), get_measure(measure).facts.direction)
    learner = str(frame["learner"][int(best[0])])
    mean, low, high = (float(frame[name][int(best[0])]) for name in ("mean", "low", "high"))
    interval = "" if np.isnan(low) or np.isnan(high) else f", {format_interval(low, high, number_format='{:.3f}')}"
    where = f" {main.scope}" if main.scope else ""
    article = "a" if len(results.archive.learners) == 1 else "the best"
    number = format_number(mean, "{:.3f}")
    return [main.reason, f"{learner} has {article} mean {format_measure_name(measure)}{where} ({number}{interval})."]


def _build_means_frame(results: Results, measure: str) -> pd.DataFrame:
    """Build the frame of the means of a measure, as in the scores section."""
    scores, _ = compute_scores(results, [measure])
    means = average_over_datasets(results, average_by_dataset(results, scores))
    return means.drop(columns="measure").reset_index(drop=True)


def _describe_other_conditions(main: VerdictContext, others: Sequence[VerdictContext]) -> list[str]:
    """Describe the answer under each other condition at its highest level."""
    if main.verdict is None:
        others = [context for context in others if context.verdict is not None]
    highest: dict[str, VerdictContext] = {}
    for context in others:
        assert context.condition is not None
        current = highest.get(context.condition.name)
        level = None if current is None or current.condition is None else current.condition.level
        if level is None or isnan(level) or context.condition.level > level:
            highest[context.condition.name] = context
    return [_describe_condition(context) for context in highest.values()]


def _describe_condition(context: VerdictContext) -> str:
    if context.verdict is None:
        assert context.condition is not None
        return render(Finding.of("no_verdict", where=format_condition_phrase(context.condition)))
    return context.verdict.summarize(scope=context.scope)


def _count_unfinished_trials(trials: pd.DataFrame) -> str:
    """Count the trials that failed or have not run."""
    counts = {str(name): int(count) for name, count in trials["trials"].items()}
    statuses = {name: count for name, count in counts.items() if name not in ("succeeded", "all")}
    parts = [f"{count:,} {'did not run' if name == 'not run' else f'failed ({name})'}" for name, count in statuses.items()]
    return f"Of {counts['all']:,} trials, {join_names(parts)}. They are not part of the results above."


def build_leads_table(judgement: Judgement) -> ReportTable:
    """Build the table of the counts from `count_leads`."""
    note = (
        f"Best: the only model with the best {format_measure_name(judgement.main)} on the data set. Significantly better than "
        "all others: by the deciding test on the rows of the data set."
    )
    return ReportTable(LEADS, "Number of data sets on which each model is best", count_leads(judgement), note=note)


def describe_leads(judgement: Judgement) -> list[str]:
    """Describe which model is best on the most data sets, and on how many it is significantly better than all others."""
    leads, measure = count_leads(judgement), format_measure_name(judgement.main)
    most = int(leads["best"].max())
    if not most:
        return [f"On no data set does a single model have the best {measure}."]
    names = [str(name) for name in leads.index[leads["best"] == most]]
    verb = "has" if len(names) == 1 else "each have"
    sentences = [f"{join_names(names)} {verb} the best {measure} on {most:,} of {len(list_datasets(judgement)):,} data sets."]
    counts = leads["significantly better than all others"]
    if len(leads) < 2:
        return sentences
    if not counts.max():
        return [*sentences, "On no data set is a model significantly better than all others."]
    winners = [str(name) for name in leads.index[counts == counts.max()]]
    verb = "is" if len(winners) == 1 else "are each"
    return [
        *sentences,
        f"{join_names(winners)} {verb} significantly better than all others on {int(counts.max()):,} data sets.",
    ]


def count_leads(judgement: Judgement) -> pd.DataFrame:
    """Count the data sets on which each model alone is best, and those on which it is significantly better than all others."""
    import pandas as pd

    ordered_pairs = order_pairs_best_first(judgement)
    counts: dict[str, list[int]] = {}
    for dataset in list_datasets(judgement):
        scores = judgement.scores
        estimates = scores[(scores["dataset"] == dataset) & (scores["measure"] == judgement.main)].set_index("model")[
            "estimate"
        ]
        for model in estimates.index:
            counts.setdefault(str(model), [0, 0, 0])[0] += 1
        order = rank_judged_models(judgement, dataset)
        if np.isfinite(estimates[order[0]]) and int((estimates == estimates[order[0]]).sum()) == 1:
            counts[order[0]][1] += 1
            pairs = ordered_pairs[(ordered_pairs["dataset"] == dataset) & (ordered_pairs["first"] == order[0])]
            sign = 1 if get_direction(judgement.main) == "max" else -1
            won = pairs["significant"] & (sign * pairs["difference"] > 0)
            counts[order[0]][2] += bool(len(pairs)) and len(pairs) == len(order) - 1 and bool(won.all())
    names = ["data sets", "best", "significantly better than all others"]
    frame = pd.DataFrame(counts.values(), index=pd.Index(counts, name="model"), columns=names)
    return frame.sort_values(["best", "significantly better than all others"], ascending=False, kind="stable")
