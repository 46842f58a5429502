"""Results by class: confusion matrices, and precision, recall, F1 score and AUC of each class."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairtrial.errors import InputError
from fairtrial.report.cache import select_best_learners
from fairtrial.report.figures.confusion import MAX_CLASSES, collect_confusion, draw_confusion
from fairtrial.report.judgement import (
    MAX_PARTS,
    drop_single_dataset,
    list_datasets,
    rank_judged_models,
    select_largest_datasets,
)
from fairtrial.report.section import Figure, ReportTable, Section, Sentence, build_sentence, format_number, section
from fairtrial.report.sections.curves import list_largest_datasets
from fairtrial.report.selection import Selection, get_main_condition, make_unique_keys

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.predictions.judgement import Judgement
    from fairtrial.report.source import ReportSource

CLASSES_KEY, CONFUSION_KEY, RECALLS_KEY = "classes-all", "confusion-all", "classes-recall"
_MOST_LEARNERS, _MOST_LEADS = 6, 2
_CLASS_NAMES = {"support": "rows", "predicted": "predicted rows", "f_score": "F1 score", "auc": "AUC"} | {
    f"{rate}_{end}": f"{rate}, {end}" for rate in ("precision", "recall") for end in ("low", "high")
}


@section("classes", title="Results by class", order=135, serves=("study",), question="where")
def build_section(source: ReportSource) -> Section | None:
    """Draw the confusion matrices of the learners on the largest data sets, and list the recall of each class."""
    import pandas as pd

    results = source.get_results()
    condition, learners = get_main_condition(results), select_best_learners(results, _MOST_LEARNERS)
    figures, recalls = [], []
    for facts, key, when in list_largest_datasets(results):
        if len(facts.classes) > MAX_CLASSES:
            continue
        try:
            cells = collect_confusion(results, Selection(facts.name, condition.name, condition.level, learners))
        except InputError:  # no trial succeeded
            continue
        models = list(dict.fromkeys(cells["model"]))
        for learner, learner_key in zip(models, make_unique_keys(models), strict=True):
            own = cells[cells["model"] == learner].reset_index(drop=True)
            figures.append(_draw_matrix(own, f"{learner} on {facts.name}", f"confusion-{key}-{learner_key}", when))
        recalls.append(cells[cells["true"].astype(str) == cells["predicted"].astype(str)].assign(dataset=facts.name))
    if not recalls:
        return None
    names = {"dataset": "data set", "model": "learner", "true": "class", "count": "correct rows", "rate": "recall"}
    frame = pd.concat(recalls, ignore_index=True)[[*names, "low", "high"]].rename(columns=names)
    frame = frame[frame["recall"].notna()].reset_index(drop=True)
    formats = {"correct rows": "{:,.6g}"} | dict.fromkeys(("recall", "low", "high"), "{:.3g}")
    table = ReportTable(
        RECALLS_KEY, "Recall of each class", frame, formats, "Low and high: Wilson confidence limits.", None, True
    )
    notes = ["Each matrix pools the test rows of all folds of the first repeat."]
    if len(learners) < len(results.archive.learners):
        notes.append(
            "Only the learners with the best mean ranks are shown. To show others, call "
            "draw(results, 'confusion', learner=NAME)."
        )
    return Section("classes", "Results by class", (_describe_lowest_recall(table),), tuple(figures), (table,), tuple(notes))


def _describe_lowest_recall(table: ReportTable) -> Sentence:
    """Describe the class with the lowest recall. On each data set, consider only the learner with the highest mean recall."""
    frame: Any = table.frame
    means = frame.groupby(["data set", "learner"], sort=False)["recall"].mean()
    best = set(means.groupby(level="data set", sort=False).idxmax())
    is_best = [pair in best for pair in zip(frame["data set"], frame["learner"], strict=True)]
    worst = frame.loc[is_best, "recall"].idxmin()
    parts = {"learner": frame.loc[worst, "learner"], "label": frame.loc[worst, "class"]}
    parts["recall"] = format_number(frame, table.key, worst, "recall", "{:.3g}")
    if frame["data set"].nunique() == 1:
        is_only = frame["learner"].nunique() == 1
        lead = "The lowest recall of {learner}" if is_only else "{learner} has the highest mean recall; its lowest recall"
        template = lead + " is {recall} for class {label}."
        return build_sentence(template, **parts)
    template = "On {dataset}, {learner} has the highest mean recall; its lowest recall is {recall} for class {label}."
    if frame.loc[worst, "recall"] == 0:
        template = "On {dataset}, {learner} has the highest mean recall but recalls no row of class {label}."
        parts.pop("recall")
    return build_sentence(template, dataset=frame.loc[worst, "data set"], **parts)


def _draw_matrix(
    cells: pd.DataFrame, subject: str, key: str, when: dict[str, str], lead: bool = False, unit: str = "Rows"
) -> Figure:
    """Draw the confusion matrix of a model. The number of classes determines the size of the figure."""
    is_error = cells["true"].astype(str) != cells["predicted"].astype(str)
    errors: Any = cells[is_error & cells["rate"].notna()]
    alt = f"Confusion matrix of {subject}: {unit.lower()} and rate within the true class."
    most = errors.loc[errors["rate"].idxmax()] if len(errors) else None
    if most is not None and most["rate"] > 0:
        alt += f" Highest error rate: class {most['true']} predicted as {most['predicted']} ({most['rate']:.3f})."
    else:
        alt += " No errors."
    count = cells["predicted"].nunique()
    size: Literal["wide", "half", "small"] = "half" if lead or 3 < count <= 6 else "small" if count <= 3 else "wide"
    return Figure(key, subject, draw_confusion(cells, title=subject, unit=unit), alt, cells, lead=lead, size=size, when=when)


@section("classes", title="Results by class", order=96, serves=("judgement",), question="where")
def build_judgement_section(source: ReportSource) -> Section:
    """Report confusion matrices, and the precision, recall, F1 score and AUC of each class.

    Proportions have Wilson limits.
    """
    judgement = source.get_judgement()
    frame = build_class_frame(judgement)
    formats = {name: "{:.3g}" for name in frame.columns if name not in ("data set", "model", "class", "rows", "predicted rows")}
    formats |= dict.fromkeys(("rows", "predicted rows"), "{:,.6g}")
    weighted = judgement.roles.get("weight") is not None
    note = (
        "Low and high: Wilson confidence limits."
        if not weighted
        else "Rows: sums of weights. There are no confidence limits for weighted rows."
    )
    table = ReportTable(CLASSES_KEY, "Every class of every model", frame, formats, note, None, True)
    tables = (table, *_build_confusion_table(judgement))
    figures, hidden = _draw_confusion_figures(judgement)
    notes = (f"Confusion matrices that are not drawn: {hidden}. The table contains them.",) if hidden else ()
    notes = (*judgement.label_rules, *notes)
    return Section("classes", "Results by class", _describe_classes(judgement, frame), figures, tables, notes)


def _build_confusion_table(judgement: Judgement) -> tuple[ReportTable, ...]:
    """Build the table that lists all cells of all confusion matrices."""
    if not len(judgement.confusion):
        return ()
    names = {"true": "true class", "predicted": "predicted class", "count": "rows"}
    frame = drop_single_dataset(judgement.confusion.rename(columns=names), len(list_datasets(judgement)) > 1)
    formats = {"rows": "{:,.6g}"} | dict.fromkeys(("rate", "low", "high"), "{:.3g}")
    note = "Rate within the true class. Low and high: Wilson confidence limits"
    is_dependent = judgement.roles.get("weight") is not None or judgement.roles.get("cluster") is not None
    note += " for the effective number of rows." if is_dependent else "."
    return (ReportTable(CONFUSION_KEY, "Confusion matrices", frame, formats, note, None, True),)


def _draw_confusion_figures(judgement: Judgement) -> tuple[tuple[Figure, ...], str]:
    """Draw the confusion matrices of the best models on the largest data sets, and count the remaining matrices."""
    confusion, several = judgement.confusion, len(list_datasets(judgement)) > 1
    matrices = {
        (str(dataset), str(model)): cells for (dataset, model), cells in confusion.groupby(["dataset", "model"], sort=False)
    }
    drawn = [
        (dataset, model)
        for dataset in select_largest_datasets(judgement)
        for model in rank_judged_models(judgement, dataset)[:MAX_PARTS]
        if (dataset, model) in matrices and matrices[dataset, model]["predicted"].nunique() <= MAX_CLASSES
    ]
    keys = make_unique_keys([f"{dataset}-{model}" for dataset, model in drawn])
    figures, n_drawn = [], Counter[str]()
    unit = "Rows" if judgement.roles.get("weight") is None else "Sum of weights"
    for (dataset, model), key in zip(drawn, keys, strict=True):
        is_lead = n_drawn[dataset] < _MOST_LEADS
        n_drawn[dataset] += 1
        when, subject = ({"dataset": dataset}, f"{model} on {dataset}") if several else ({}, model)
        cells = matrices[dataset, model].reset_index(drop=True)
        figures.append(_draw_matrix(cells, subject, f"confusion-{key}", when, is_lead, unit))
    hidden = len(matrices) - len(drawn)
    return tuple(figures), str(hidden) if hidden else ""


def build_class_frame(judgement: Judgement) -> pd.DataFrame:
    """Build the table of all classes, with one row for each row of `judgement.classes`."""
    frame = judgement.classes.drop(columns=["effective_rows", "effective_other_rows"]).rename(columns=_CLASS_NAMES)
    return drop_single_dataset(frame, len(list_datasets(judgement)) > 1)


def _describe_classes(judgement: Judgement, frame: pd.DataFrame) -> tuple[Sentence, ...]:
    if not frame["recall"].notna().any():
        return (build_sentence("No model has predicted labels, so precision and recall are undefined."),)
    raw, sentences = judgement.classes.reset_index(drop=True), []
    for dataset in select_largest_datasets(judgement):
        best = rank_judged_models(judgement, dataset)[0]
        best_rows = raw[
            (raw["dataset"] == dataset) & (raw["model"] == best) & np.isfinite(raw["recall"].to_numpy(dtype=np.float64))
        ]
        if len(best_rows) > 1:
            several = raw["dataset"].nunique() > 1
            sentence = _describe_recall_range(frame, best_rows, dataset if several else "")
            sentences.append(replace(sentence, when={"dataset": dataset} if several else {}))
    return tuple(sentences)


def _describe_recall_range(frame: pd.DataFrame, best_rows: pd.DataFrame, dataset: str) -> Sentence:
    """Describe the classes for which the best model has its lowest and highest recall."""
    low, high = (
        int(best_rows.index[int(position)]) for position in (best_rows["recall"].argmin(), best_rows["recall"].argmax())
    )
    where = "On {dataset}, " if dataset else ""
    parts = {"dataset": dataset} if dataset else {}
    parts["model"] = str(best_rows["model"].iloc[0])
    least = format_number(frame, CLASSES_KEY, low, "recall")
    if best_rows["recall"][low] == best_rows["recall"][high]:
        return build_sentence(where + "{model} has the same recall for all classes ({least}).", least=least, **parts)
    parts |= {"low": str(best_rows.loc[low, "class"]), "high": str(best_rows.loc[high, "class"])}
    most = format_number(frame, CLASSES_KEY, high, "recall")
    template = "{model} has its lowest recall for class {low} ({least}) and its highest for class {high} ({most})."
    return build_sentence(where + template, least=least, most=most, **parts)
