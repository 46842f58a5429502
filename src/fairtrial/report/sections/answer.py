"""The answer: which learner or model is best, which are significantly worse, and how certain this is."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from fairtrial._narrative import render, render_certainty, render_exceptions, render_headline, render_ranking
from fairtrial._text import format_count, format_interval, format_number, format_text, join_names
from fairtrial.measures import get_measure
from fairtrial.report.check import list_answer_warnings
from fairtrial.report.figures.forest import draw_forest
from fairtrial.report.judgement import (
    get_direction,
    list_datasets,
    list_models,
    order_pairs_best_first,
    rank_judged_models,
    select_largest_datasets,
)
from fairtrial.report.means import average_by_dataset, average_over_datasets, compute_scores
from fairtrial.report.names import find_best_names, format_measure_name, get_verdict_measure_name
from fairtrial.report.section import Figure, Highlight, ReportTable, Section, Sentence, section
from fairtrial.report.sections.pairs import draw_differences_from_best
from fairtrial.report.sections.scores import draw_models, draw_single_model
from fairtrial.report.sections.verdict import (
    MAX_DRAWN,
    VerdictContext,
    compare_conditions,
    draw_answer_figures,
    format_means_alt,
)
from fairtrial.report.selection import get_main_condition, make_unique_keys
from fairtrial.study.results.selection import format_condition, is_train_size, mask_condition

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.predictions.judgement import Judgement
    from fairtrial.report.source import ReportSource
    from fairtrial.study import Results

LEADS = "answer-leads"
_COUNTED_ELSEWHERE = ("failures", "incomplete", "missing_scores_bias")
_STATUSES = {"ok": "succeeded", "missing": "not run"}
_MAX_RANKINGS = 6
_MAX_MEASURES = 6
_ANSWER_NOTES = {
    "below_chance": "The AUC of {models} is below chance",
    "undeclared_clusters": "Rows with the same {column} may depend on each other",
    "unknown_label": "{models} predict{models:s} an unknown label",
    "unknown_labels": "{models} predict{models:s} unknown labels",
    "missing_labels": "{models} {models:has} missing labels",
    "average_precision_differs": "{models} has the highest average precision",
    "unused_text": "Column {column} is not used",
    "unused_probabilities": "{columns} {columns:is} not used",
    "unused_prediction": "Column {column} is not used",
    "unused_unknown_label": "Column {column} is not used",
}
"""Short forms of the notes that may change the conclusion."""


@section("answer", title="The answer", order=10, serves=("study", "judgement", "comparison"), question="answer")
def build_section(source: ReportSource) -> Section:
    """Build the section that states the answer in a few sentences. Later sections contain the details."""
    if source.kind == "study":
        return _build_study_answer(source)
    if source.kind == "judgement":
        return _build_judgement_answer(source)
    return _build_comparison_answer(source)


def _build_judgement_answer(source: ReportSource) -> Section:
    """Describe the ranking and its certainty. Draw a forest plot and the differences from the best model."""
    judgement = source.get_judgement()
    several = len(list_datasets(judgement)) > 1
    sentences = _describe_datasets(judgement) if several else _describe_dataset(judgement)
    gaps = judgement.gap_findings[:1]
    if gaps and gaps[0].kind == "gaps_significant":
        sentences[2:2] = [judgement.gap_summary[0]]
    tables = (build_leads_table(judgement),) if several else ()
    verdict = judgement.verdict if several else None
    figures = (*(draw_answer_figures(verdict) if verdict is not None else ()), *_draw_ranking_figures(judgement))
    exclusions = _list_exclusions(VerdictContext.from_scores(verdict)) if verdict is not None else ()
    highlights = (*exclusions, *list_highlights(source))
    return Section("answer", "The answer", tuple(map(Sentence, sentences)), figures, tables, highlights=highlights)


def _describe_dataset(judgement: Judgement) -> list[str]:
    """Describe the ranking on the only data set, its certainty, and the comparison over splits, if any."""
    (ranking,) = judgement.findings
    sentences = [render_headline(ranking, "model"), render_certainty(ranking), render_exceptions(ranking)]
    if judgement.verdict is not None:
        sentences.append(judgement.verdict.summarize("model", f"over all {judgement.verdict.unit}s"))
    return [sentence for sentence in sentences if sentence]


def _describe_datasets(judgement: Judgement) -> list[str]:
    """Describe the comparison over data sets and how often each model is best.

    If there are only a few data sets, also describe the ranking on each of them.
    """
    sentences = [" ".join(describe_leads(judgement))]
    if judgement.verdict is not None:
        context, scope = VerdictContext.from_scores(judgement.verdict), f"over all {judgement.verdict.unit}s"
        sentences = [*context.describe_headline("model", scope), *sentences]
    if len(judgement.findings) <= _MAX_RANKINGS:
        sentences += [render_ranking(ranking, "model") for ranking in judgement.findings]
    return sentences


def _draw_ranking_figures(judgement: Judgement) -> tuple[Figure, ...]:
    """For each of the largest data sets, draw the main measure of each model and the differences from the best model."""
    several, figures = len(list_datasets(judgement)) > 1, []
    if not several and len(list_models(judgement)) == 1:
        figures = [draw_single_model(judgement, "answer-forest", _MAX_MEASURES)]
    else:
        rankings = dict(zip(list_datasets(judgement), judgement.findings, strict=True))
        chosen = select_largest_datasets(judgement)
        for dataset, key in zip(chosen, make_unique_keys(chosen), strict=True):
            when, suffix = ({"dataset": dataset}, f"-{key}") if several else ({}, "")
            ranking = rankings[dataset]
            shaded = (*ranking.best, *ranking.not_worse) if ranking.not_worse else ()
            figures += [
                draw_models(judgement, judgement.main, f"answer-forest{suffix}", dataset=dataset, when=when, shaded=shaded),
                draw_differences_from_best(judgement, dataset, f"answer-differences{suffix}", when),
            ]
    return tuple(figure for figure in figures if figure is not None)


def _build_study_answer(source: ReportSource) -> Section:
    """Describe the ranking, its certainty, and the changes under the strongest noise. Add the main figures."""
    results = source.get_results()
    main, *others = VerdictContext.list_for_study(results)
    trials = build_trials_frame(results)
    is_complete = len(trials) == 2 and trials.index[0] == "succeeded"
    if main.verdict is None:
        sentences, figures = _describe_without_verdict(results, main), _draw_single_means(results)
    else:
        condition = format_condition(main.condition) if main.scope and main.condition is not None else ""
        sentences, figures = main.describe_headline(source.noun, main.scope), draw_answer_figures(main.verdict, condition)
    noise = compare_conditions(main, _select_strongest(others))
    highlights = [] if is_complete else [Highlight(_count_unfinished_trials(trials), section="what-was-run")]
    highlights += [] if main.verdict is None else _list_exclusions(main)
    return Section(
        "answer",
        "The answer",
        tuple(Sentence(text) for text in (*sentences[:2], noise) if text),
        figures,
        () if is_complete else (ReportTable("answer-trials", "Status of the trials", trials),),
        highlights=(*highlights, *list_highlights(source)),
    )


def _build_comparison_answer(source: ReportSource) -> Section:
    """Describe the ranking and its certainty. Add the main figures."""
    assert source.verdict is not None
    context = VerdictContext.from_scores(source.verdict)
    return Section(
        "answer",
        "The answer",
        tuple(map(Sentence, context.describe_headline(source.noun))),
        draw_answer_figures(source.verdict),
        highlights=(*_list_exclusions(context), *list_highlights(source)),
    )


def _list_exclusions(context: VerdictContext) -> list[Highlight]:
    """List the exclusions from the verdict, and the limitations of its test. Failed trials are reported separately."""
    findings = [finding for finding in context.exclusions if not finding.kind.startswith(_COUNTED_ELSEWHERE)]
    is_asymmetric = any(caveat.kind == "asymmetric_differences" for caveat in context.get_verdict().caveats)
    asymmetry = [Highlight("The differences are strongly asymmetric", section="verdict")] if is_asymmetric else []
    return [*(Highlight(render(finding).rstrip("."), section="verdict") for finding in findings), *asymmetry]


def list_highlights(source: ReportSource) -> tuple[Highlight, ...]:
    """List what may change the conclusion: raised checks, and notes on the predictions."""
    checks = [
        Highlight(f"{result.check.number} {result.check.title}", section="checks") for result in list_answer_warnings(source)
    ]
    notes = source.get_judgement().notes if source.kind == "judgement" else ()
    titles = dict.fromkeys(format_text(_ANSWER_NOTES[note.kind], note.values) for note in notes if note.kind in _ANSWER_NOTES)
    return (*checks, *(Highlight(title, section="predictions") for title in titles))


def build_trials_frame(results: Results) -> pd.DataFrame:
    """Count the trials by status and in total."""
    import pandas as pd

    counts = results.trials()["status"].astype(str).value_counts(sort=False)
    lines = {_STATUSES.get(str(name), str(name)): int(number) for name, number in counts.items() if number}
    first = {name: lines[name] for name in ("succeeded",) if name in lines}
    lines = first | lines | {"all": int(counts.sum())}
    return pd.DataFrame({"trials": list(lines.values())}, index=pd.Index(lines, name="status"))


def _describe_without_verdict(results: Results, main: VerdictContext) -> list[str]:
    """Describe the best mean, and explain why there is no verdict."""
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
    interval = "" if np.isnan(low) or np.isnan(high) else f" ({format_interval(low, high, number_format='{:.3f}')})"
    where = f" {main.scope}" if main.scope else ""
    article = "a" if len(results.archive.learners) == 1 else "the best"
    value = f"{format_number(mean, '{:.3f}')}{interval}"
    return [f"{learner} has {article} mean {format_measure_name(measure)}{where}: {value}.", main.reason]


def _build_means_frame(results: Results, measure: str) -> pd.DataFrame:
    """Build a frame of the means of a measure, computed as in the section on scores."""
    scores, _ = compute_scores(results, [measure])
    means = average_over_datasets(results, average_by_dataset(results, scores))
    return means.drop(columns="measure").reset_index(drop=True)


def _draw_single_means(results: Results) -> tuple[Figure, ...]:
    """Draw mean scores for an answer without a verdict: on each data set or, with one data set, under each condition."""
    measure = get_verdict_measure_name(results)
    if measure not in results.measures:
        return ()
    means = average_by_dataset(results, compute_scores(results, [measure])[0])
    means = means.astype({"dataset": str, "learner": str})
    several = means["dataset"].nunique() > 1
    if several:
        means = means[mask_condition(means, get_main_condition(results))]
    names = {(facts.name, float(facts.level)): format_condition(facts) for facts in results.archive.conditions}
    labels = [
        str(dataset) if several else names.get((str(condition), float(level)), str(condition))
        for dataset, condition, level in zip(means["dataset"], means["condition"], means["level"], strict=True)
    ]
    frame = means.assign(label=labels, estimate=means["mean"])[["label", "learner", "estimate", "low", "high"]]
    frame = frame[np.isfinite(frame["estimate"].to_numpy(dtype=np.float64))].head(MAX_DRAWN).reset_index(drop=True)
    if frame.empty:
        return ()
    title = f"Mean {format_measure_name(measure)}{' on each data set' if several else ''}"
    chart = draw_forest(frame, title=title, subtitle="95 % t intervals over splits, corrected for their overlap")
    alt = format_means_alt(frame, format_measure_name(measure), get_measure(measure).facts.direction)
    return (Figure("answer-means", title, chart, alt, frame, size="wide"),)


def _select_strongest(contexts: Sequence[VerdictContext]) -> list[VerdictContext]:
    """Select the verdict at the highest level of each condition. Training sizes are left out, because they are not noise."""
    highest: dict[str, VerdictContext] = {}
    for context in contexts:
        assert context.condition is not None
        if is_train_size(context.condition):
            continue
        current = highest.get(context.condition.name)
        level = None if current is None or current.condition is None else current.condition.level
        if level is None or isnan(level) or context.condition.level > level:
            highest[context.condition.name] = context
    return list(highest.values())


def _count_unfinished_trials(trials: pd.DataFrame) -> str:
    """Count the trials that failed or have not run."""
    counts = {str(name): int(count) for name, count in trials["trials"].items()}
    statuses = {name: count for name, count in counts.items() if name not in ("succeeded", "all")}
    parts = [f"{count:,} {'did not run' if name == 'not run' else f'failed ({name})'}" for name, count in statuses.items()]
    return f"Of {counts['all']:,} trials, {join_names(parts)}"


def build_leads_table(judgement: Judgement) -> ReportTable:
    """Build the table of the counts from `count_leads`."""
    note = (
        f"Best: number of data sets on which only this model has the best {format_measure_name(judgement.main)}. Significantly "
        "better than all others: number of data sets on which the deciding test shows this."
    )
    return ReportTable(LEADS, "Number of data sets on which each model is best", count_leads(judgement), note=note)


def describe_leads(judgement: Judgement) -> list[str]:
    """Describe which model is best on the most data sets, and which is most often significantly better than all others."""
    leads, measure = count_leads(judgement), format_measure_name(judgement.main)
    most = int(leads["best"].max())
    if not most:
        return [f"No single model has the best {measure} on any data set."]
    names = [str(name) for name in leads.index[leads["best"] == most]]
    verb = "has" if len(names) == 1 else "each have"
    sentences = [f"{join_names(names)} {verb} the best {measure} on {most:,} of {len(list_datasets(judgement)):,} data sets."]
    counts = leads["significantly better than all others"]
    if len(leads) < 2:
        return sentences
    if not counts.max():
        return [*sentences, "No model is significantly better than all others on any data set."]
    winners = [str(name) for name in leads.index[counts == counts.max()]]
    verb = "is" if len(winners) == 1 else "are each"
    return [
        *sentences,
        f"{join_names(winners)} {verb} significantly better than all others on {format_count(int(counts.max()), 'data set')}.",
    ]


def count_leads(judgement: Judgement) -> pd.DataFrame:
    """Count the data sets on which each model alone is best.

    Also count the data sets on which each model is significantly better than all others.
    """
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
