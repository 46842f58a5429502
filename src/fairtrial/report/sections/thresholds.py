"""Thresholds: the explorer of thresholds and costs, the threshold with the lowest cost, and the threshold table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._findings import Finding
from fairtrial._narrative import render, render_all
from fairtrial._text import format_interval, format_number, format_percentage, join_names, make_p_format
from fairtrial.measures.intervals import Interval
from fairtrial.measures.tally import ScoreTally, tally_scores
from fairtrial.predictions.alerts import ScoredCases
from fairtrial.predictions.statistics import InMemoryModels
from fairtrial.predictions.thresholds import (
    ALTERNATIVES,
    ThresholdChoice,
    ThresholdResult,
    choose_threshold,
    format_threshold_limits,
)
from fairtrial.report.cache import select_best_learners
from fairtrial.report.explorer import THRESHOLDS, ExploredDataset, Explorer, OperatingCounts
from fairtrial.report.figures.thresholds import (
    draw_costs,
    draw_operating_benefit,
    draw_operating_costs,
    draw_operating_precision,
    draw_operating_roc,
)
from fairtrial.report.judgement import rank_judged_models
from fairtrial.report.names import format_condition_phrase, format_measure_name
from fairtrial.report.section import (
    Figure,
    ReportTable,
    Section,
    Sentence,
    build_sentence,
    format_number as format_cell,
    section,
)
from fairtrial.report.sections.curves import (
    collect_study_curves,
    list_largest_datasets,
    reduce_curve_points,
    select_defined_curves,
)
from fairtrial.report.selection import choose_positive_class, get_main_condition, make_unique_keys
from fairtrial.study.results.selection import mask_condition

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.predictions.judgement import Judgement
    from fairtrial.predictions.read import PredictionFile
    from fairtrial.report.source import ReportSource
    from fairtrial.study import Results
    from fairtrial.study.archive import DataFacts

_POINTS = 60
_MAX_DATASETS, _MAX_ROWS = 3, 200_000
_MOST_LEARNERS = 12
_OWN_NAMES = {"alert_rate": "alert rate", "cost": "cost per 1,000 cases"}


@section("thresholds", title="Thresholds", order=65, serves=("judgement",), question="threshold")
def build_judgement_section(source: ReportSource) -> Section | None:
    """Choose thresholds at equal costs.

    Return None if predictions are not in memory, or if a data set has too many rows. Also return None if no data set has a
    positive class and scores of all models.
    """
    judgement = source.get_judgement()
    predictions = judgement.predictions
    if predictions is None or not judgement.positives.classes:
        return None
    datasets = [dataset for dataset in predictions.datasets if dataset.name in judgement.positives.classes]
    usable = [
        dataset
        for dataset in datasets
        if all(model.scores is not None for model in dataset.models.values()) and len(np.unique(dataset.y_true)) > 1
    ]
    if not usable or max(len(dataset.y_true) for dataset in usable) > _MAX_ROWS:
        return None
    selected = replace(predictions, datasets=tuple(usable[:_MAX_DATASETS]))
    positive = source.figure_options().get("positive")
    result = choose_threshold(selected, costs=(1, 1), level=judgement.level, alpha=judgement.alpha, positive=positive)
    few_clusters = render_all(finding for finding in result.notes if finding.kind == "threshold_few_clusters")
    built = _build_section(result, "thresholds", "Thresholds", (_EQUAL_COSTS, *few_clusters))
    explored = _explore_datasets(judgement, selected, positive)
    several = judgement.scores["dataset"].nunique() > 1
    is_reduced = any(len(dataset.models) > _MOST_LEARNERS for dataset in usable)
    best = f"The explorer and its curves show the {_MOST_LEARNERS} models with the best {format_measure_name(judgement.main)}."
    return replace(
        built,
        notes=(*built.notes, best) if is_reduced else built.notes,
        sentences=(*_describe_choices(result, several), *built.sentences[1:]),
        figures=(*_draw_explorer(explored, _select_explored_curves(judgement, explored), several), *built.figures),
        explorer=Explorer(explored, result.choices[0].model, judgement.roles.get("weight") is not None) if explored else None,
    )


def _describe_choices(result: ThresholdResult, several: bool) -> list[Sentence]:
    """Describe the cheapest model of each data set at equal costs."""
    cheapest: dict[str, ThresholdChoice] = {}
    for choice in result.choices:
        cheapest.setdefault(choice.dataset, choice)
    findings = {dataset: result.describe_choice(choice) for dataset, choice in cheapest.items()}
    return [
        Sentence(render(Finding(f"{finding.kind}_equal", finding.values)), when={"dataset": dataset} if several else {})
        for dataset, finding in findings.items()
    ]


_EQUAL_COSTS = (
    "A false positive and a false negative are assumed to cost the same. To set other costs, run fairtrial threshold."
)


def _explore_datasets(judgement: Judgement, file: PredictionFile, positive: object) -> dict[str, ExploredDataset]:
    """Count the true and false positives of the best models at each threshold.

    Data sets with scores below 0 or above 1 are left out.
    """
    best = {dataset.name: set(rank_judged_models(judgement, dataset.name)[:_MOST_LEARNERS]) for dataset in file.datasets}
    cases: dict[str, list[ScoredCases]] = {}
    for model in InMemoryModels(file, positive).models:
        if model.name in best[model.dataset]:
            cases.setdefault(model.dataset, []).append(ScoredCases.from_model(model))
    return {
        name: ExploredDataset(*judgement.positives.classes[name], {one.model: _count_operating_points(one) for one in scored})
        for name, scored in cases.items()
        if all(one.values[-1] >= 0 and one.values[0] <= 1 for one in scored)
    }


def _count_operating_points(cases: ScoredCases) -> OperatingCounts:
    return _count_tally_points(cases.tally)


def _count_tally_points(tally: ScoreTally) -> OperatingCounts:
    cells = tally.count_cells(THRESHOLDS)
    tp, fp = (tuple(map(_shorten_count, counts.tolist())) for counts in (cells.tp, cells.fp))
    return OperatingCounts(tp, fp, _shorten_count(float(tally.pos.sum())), _shorten_count(float(tally.neg.sum())))


def _shorten_count(count: float) -> float:
    """Round a sum of weights. Convert whole numbers to int, because they take less space in the page."""
    return int(count) if count.is_integer() else round(count, 6)


@dataclass(frozen=True)
class _ExploredCurves:
    """The ROC and precision-recall curve of each model on a data set, and whether the scores are probabilities."""

    roc: dict[str, pd.DataFrame]
    precision_recall: dict[str, pd.DataFrame]
    has_probabilities: bool


def _select_explored_curves(judgement: Judgement, explored: Mapping[str, ExploredDataset]) -> dict[str, _ExploredCurves]:
    with_probabilities = set(judgement.decisions["dataset"]) if len(judgement.decisions) else set()
    curves = {}
    for name, dataset in explored.items():
        roc, precision_recall = (
            {model: frames[model] for model in dataset.models if model in frames}
            for kind in ("roc", "precision_recall")
            for frames in [select_defined_curves(judgement, kind, name, dataset.positive)]
        )
        curves[name] = _ExploredCurves(roc, precision_recall, name in with_probabilities)
    return curves


COSTS_KEY, _COST = "thresholds-equal-costs", "cost per 1,000 cases"


@section("thresholds", title="Thresholds", order=65, serves=("study",), question="threshold")
def build_study_section(source: ReportSource) -> Section | None:
    """Build the threshold explorer for those large data sets that have two classes.

    Return None if there are no such data sets, or if no learner predicts probabilities on them.
    """
    import pandas as pd

    results = source.get_results()
    explored, curves, with_more_classes = {}, {}, []
    for facts, *_ in list_largest_datasets(results):
        has_two_classes = int((facts.counts > 0).sum()) == 2
        with_more_classes += [] if has_two_classes else [facts.name]
        dataset = _explore_study_dataset(results, facts) if has_two_classes else None
        if dataset is not None:
            frames = collect_study_curves(results, facts, ("roc", "precision-recall"), dataset.models)
            explored[facts.name] = dataset
            curves[facts.name] = _ExploredCurves(frames["roc"], frames["precision-recall"], has_probabilities=True)
    if not explored:
        return None
    half = THRESHOLDS.index(0.5)
    lines = [
        {
            "data set": name,
            "learner": learner,
            _COST: counts.compute_cost(half, (1, 1)),
            "recall": counts.tp[half] / counts.positives,
        }
        for name, dataset in explored.items()
        for learner, counts in dataset.models.items()
    ]
    frame = pd.DataFrame(lines)
    table = ReportTable(
        COSTS_KEY, "Costs at a threshold of 0.5 and equal costs", frame, {_COST: "{:.3g}", "recall": "{:.3g}"}, _POOLED
    )
    several = len(results.archive.datasets) > 1
    sentences = [
        _describe_study_costs(table, name, dataset, several, format_condition_phrase(get_main_condition(results)))
        for name, dataset in explored.items()
    ]
    sentences += [
        replace(
            build_sentence("{name} has more than two classes, so there is no single threshold.", name=name),
            when={"dataset": name},
        )
        for name in with_more_classes
    ]
    lowest = frame.loc[frame.groupby("data set", sort=False)[_COST].idxmin()]
    cheapest = dict(zip(lowest["data set"], lowest["learner"], strict=True))
    return Section(
        "thresholds",
        "Thresholds",
        tuple(sentences),
        tuple(_draw_explorer(explored, curves, several)),
        (table,),
        explorer=Explorer(explored, cheapest.get(source.selected["dataset"], next(iter(cheapest.values()))), note=_OPTIMISTIC),
    )


_OPTIMISTIC = (
    "Costs on the test rows of all folds of the first repeat. The lowest cost over all thresholds is optimistic, because the "
    "threshold is chosen on the same rows."
)
_POOLED = "Test rows of all folds of the first repeat. A false positive and a false negative cost the same."


def _describe_study_costs(table: ReportTable, name: str, dataset: ExploredDataset, several: bool, condition: str) -> Sentence:
    """Describe the lowest cost on a data set at a threshold of 0.5 and equal costs. Differences are not tested."""
    lines: Any = table.frame[table.frame["data set"] == name]
    best = lines[_COST].idxmin()
    cost = format_cell(table.frame, table.key, best, _COST, "{:.3g}")
    tied = [str(learner) for learner in lines.loc[lines[_COST] == lines.loc[best, _COST], "learner"]]
    sentence = build_sentence(
        "At a threshold of {half} and equal costs, {learners} {verb} the lowest cost on {name} {condition} (class {label}): "
        "{cost} per {cases} cases, not tested for significance.",
        half="0.5",
        learners=join_names(tied),
        verb="has" if len(tied) == 1 else "have",
        name=name,
        condition=condition,
        label=dataset.positive,
        cost=cost,
        cases="1,000",
    )
    return replace(sentence, when={"dataset": name} if several else {})


def _explore_study_dataset(results: Results, facts: DataFacts) -> ExploredDataset | None:
    """Count the true and false positives of each learner in the test rows of the first repeat.

    Learners without probabilities or with failed trials are left out. Return None if no learner is left.
    """
    condition, positive = get_main_condition(results), choose_positive_class(results, facts)
    code = facts.classes.index(positive)
    negative = next(label for label, count in zip(facts.classes, facts.counts, strict=True) if count and label != positive)
    trials = results.scored_trials()
    trials = trials[(trials["dataset"] == facts.name) & (trials["repeat"] == 0) & mask_condition(trials, condition)]
    models = {}
    for learner in select_best_learners(results, _MOST_LEARNERS):
        own = trials[trials["learner"] == learner]
        if not len(own) or (own["status"] != "ok").any():
            continue
        parts = list(results.archive.predictions(own["trial"].tolist()))
        if all(part.score_kind == "probability" for part in parts):
            scores = np.concatenate([part.scores[:, code] for part in parts if part.scores is not None])
            is_positive = np.concatenate([part.y_true for part in parts]) == code
            models[learner] = _count_tally_points(tally_scores(is_positive, scores.astype(np.float64), None))
    return ExploredDataset(str(positive), str(negative), models) if models else None


def _draw_explorer(
    explored: Mapping[str, ExploredDataset], curves: Mapping[str, _ExploredCurves], several: bool
) -> list[Figure]:
    """Draw the curves of each data set. The explorer shows the operating points on these curves."""
    figures = []
    for (name, dataset), key in zip(explored.items(), make_unique_keys(explored), strict=True):
        roc, precision_recall = curves[name].roc, curves[name].precision_recall
        if not roc:
            continue
        points, has_probabilities = _build_operating_frame(dataset), curves[name].has_probabilities
        when, where = ({"dataset": name}, f" on {name}") if several else ({}, "")
        drawn = [
            (
                "roc",
                "ROC curves",
                draw_operating_roc(reduce_curve_points(roc, ["fpr", "tpr"], most=120), points),
                "small",
                f"ROC curves of class {dataset.positive}, with an open circle at the selected threshold of each model.",
            ),
            (
                "precision",
                "Precision-recall curves",
                draw_operating_precision(
                    reduce_curve_points(precision_recall, ["recall", "precision"], most=120),
                    points[np.isfinite(points["precision"])],
                ),
                "small",
                f"Precision against recall for class {dataset.positive}, with an open circle at the selected threshold.",
            ),
            (
                "cost",
                "Cost by threshold",
                draw_operating_costs(points),
                "half",
                "Cost per 1,000 cases against the threshold, with the lowest cost of each model and the selected threshold.",
            ),
        ]
        if has_probabilities:
            alt = "Net benefit of each model, of treating all cases and of treating none, with the selected threshold marked."
            chart = draw_operating_benefit(points[points["at"] < 1])
            drawn.append(("benefit", "Decision curves", chart, "half", alt))
        figures += [
            Figure(f"explorer-{kind}-{key}", f"{title}{where}", chart, alt, lead=True, size=size, when=when)  # type: ignore[arg-type]
            for kind, title, chart, size, alt in drawn
        ]
    return figures


def _build_operating_frame(dataset: ExploredDataset) -> pd.DataFrame:
    """Build a frame with one row per model and threshold: rates, errors per 1,000 cases, and net benefit."""
    import pandas as pd

    frames = []
    for model, counts in dataset.models.items():
        at, tp, fp = np.array(THRESHOLDS), np.array(counts.tp), np.array(counts.fp)
        rows = counts.positives + counts.negatives
        with np.errstate(divide="ignore", invalid="ignore"):
            odds, precision = np.where(at < 1, at / (1 - at), np.nan), tp / (tp + fp)
        columns = {
            "at": at,
            "fpr": fp / counts.negatives,
            "tpr": tp / counts.positives,
            "recall": tp / counts.positives,
            "precision": precision,
            "false_positives": 1000 * fp / rows,
            "false_negatives": 1000 * (counts.positives - tp) / rows,
            "net_benefit": (tp - fp * odds) / rows,
            "treat_all": (counts.positives - counts.negatives * odds) / rows,
        }
        frames.append(pd.DataFrame({"learner": model, **{name: values.round(5) for name, values in columns.items()}}))
    return pd.concat(frames, ignore_index=True)


@section("answer", title="The threshold", order=10, serves=("threshold",), question="answer")
def build_section(source: ReportSource) -> Section | None:
    """Build the section that reports the result of `choose_threshold`."""
    result = source.get_thresholds()
    return _build_section(result, "answer", "The threshold", render_all(result.notes, "model"))


def _build_section(result: ThresholdResult, key: str, title: str, notes: tuple[str, ...]) -> Section:
    sentences = tuple(Sentence(f"{text}.") for text in result.list_texts())
    choices, formats = _build_choices_frame(result), dict.fromkeys(_CHOICE_COLUMNS[3:], "{:.3g}")
    tables = [
        ReportTable(f"{key}-choices", "Chosen thresholds", choices, formats, note=_explain_estimates(result)),
        ReportTable(f"{key}-table", "Threshold table", _build_table_frame(result), long=True),
    ]
    if len(result.pairs):
        p_format = make_p_format(result.alpha)
        pairs = result.pairs.drop(columns=["measure", "test"]).rename(columns={"p_value": "p", "p_adjusted": "adjusted p"})
        pairs = pairs.assign(significant=pairs["significant"].map({True: "yes", False: "no"}))
        pair_formats = {"p": p_format, "adjusted p": p_format, **dict.fromkeys(_PAIR_NUMBERS, "{:.3g}")}
        frame = _drop_single_dataset(pairs.rename(columns={"first_cost": "first cost", "second_cost": "second cost"}))
        title_pairs = "Differences in cost per 1,000 cases"
        tables.append(ReportTable(f"{key}-pairs", title_pairs, frame, pair_formats, note=_PAIR_NOTE))
    return Section(key, title, sentences, _draw_figures(result, key), tuple(tables), notes)


_CHOICE_COLUMNS = ("quantity", "chosen", "CI", "current", "alert nobody", "alert everybody")
_PAIR_NUMBERS = ("first cost", "second cost", "difference", "low", "high")
_PAIR_NOTE = (
    "Each pair is compared on its common rows. Low and high: simultaneous confidence limits of all pairs "
    "(Bonferroni). Significance is decided by the adjusted p-value (Holm)."
)


def _explain_estimates(result: ThresholdResult) -> str:
    method = "Estimates are cross-fitted: each fold is predicted at the threshold chosen on the other folds."
    if result.goal.kind == "alerts":
        method = "The threshold is chosen without true labels, so estimates are computed on the same rows."
    return (
        f"A case is predicted positive if its score is at least the threshold. {method} CI: confidence limits; for the "
        "threshold, limits of the best threshold for new cases. Current: the value at the current threshold."
    )


def _draw_figures(result: ThresholdResult, key: str) -> tuple[Figure, ...]:
    if result.goal.kind != "costs":
        return ()
    costs = result.curves
    figures = []
    datasets = list(dict.fromkeys(costs["dataset"]))
    choices = result.frame()
    for name, part in zip(datasets, make_unique_keys(datasets), strict=True):
        curves = costs[costs["dataset"] == name].reset_index(drop=True)
        curves = curves.assign(cost_fp=result.goal.costs[0], cost_fn=result.goal.costs[1])
        title = "Cost by threshold" + (f" on {name}" if len(datasets) > 1 else "")
        fp, fn = (format_number(cost) for cost in result.goal.costs)
        alt = f"Cost per 1,000 cases against the threshold, with a confidence band, for costs FP = {fp} and FN = {fn}. "
        alt += "One line per model."
        chart = draw_costs(curves.round(4), choices[choices["dataset"] == name], level=result.level, title=title)
        when = {"dataset": name} if len(datasets) > 1 else {}
        figures.append(Figure(f"{key}-costs-{part}", title, chart, alt, curves, when=when))
    return tuple(figures)


def _build_choices_frame(result: ThresholdResult) -> pd.DataFrame:
    """Build a frame with one row per model and quantity.

    Each row contains the estimate, its limits, and the value at the current threshold. The cost row also contains the costs
    of alerting nobody and of alerting everybody.
    """
    import pandas as pd

    lines = []
    nan = float("nan")
    for choice in result.choices:
        model = {"dataset": choice.dataset, "model": choice.model}
        current = nan if choice.current is None else choice.current
        limits = format_threshold_limits(choice.low, choice.high)
        rows: list[tuple[object, ...]] = [("threshold", choice.label, limits, current, nan, nan)]
        for name, interval in choice.estimates.items():
            at_current = choice.current_estimates[name].estimate if choice.current is not None else nan
            others = [choice.alternatives[other].estimate for other in ALTERNATIVES] if name == "cost" else [nan, nan]
            rows.append((_name(name), format_number(interval.estimate), _format_limits(interval), at_current, *others))
        if choice.saving is not None:
            saving = replace(
                choice.saving, **{name: 100 * getattr(choice.saving, name) for name in ("estimate", "low", "high")}
            )
            rows.append(("saving, %", format_number(saving.estimate), _format_limits(saving), nan, nan, nan))
        lines += [{**model, **dict(zip(_CHOICE_COLUMNS, row, strict=True))} for row in rows]
    frame = _drop_single_dataset(pd.DataFrame(lines))
    return frame.dropna(axis=1, how="all").rename(columns={"CI": f"{format_percentage(result.level)} CI"})


def _format_limits(interval: Interval) -> str:
    return "undefined" if np.isnan(interval.low) else format_interval(interval.low, interval.high, None)


def _build_table_frame(result: ThresholdResult) -> pd.DataFrame:
    """Build a frame with one row per model and threshold and one column per measure."""
    keys = ["dataset", "model", "threshold", "tp", "fp", "fn", "tn"]
    labels: dict[Any, str] = {(choice.dataset, choice.model, choice.threshold): choice.label for choice in result.choices}
    lines = [
        {
            **dict(zip(keys, values, strict=True)),
            "threshold": labels.get(values[:3]) or format_number(part["threshold"].iloc[0]),
            **{
                _name(line["measure"]): _format_cell(line["estimate"], line["low"], line["high"])
                for line in part.to_dict("records")
            },
        }
        for values, part in result.table.groupby(keys, sort=False)
    ]
    import pandas as pd

    frame = pd.DataFrame(lines).rename(columns={name: name.upper() for name in ("tp", "fp", "fn", "tn")})
    return _drop_single_dataset(frame)


def _drop_single_dataset(frame: pd.DataFrame) -> pd.DataFrame:
    if frame["dataset"].nunique() > 1:
        return frame.rename(columns={"dataset": "data set"})
    return frame.drop(columns="dataset")


def _name(measure: str) -> str:
    return _OWN_NAMES.get(measure) or format_measure_name(measure)


def _format_cell(estimate: float, low: float, high: float) -> str:
    limits = f" ({format_interval(low, high, None)})" if np.isfinite(low) and np.isfinite(high) else ""
    return format_number(estimate) + limits
