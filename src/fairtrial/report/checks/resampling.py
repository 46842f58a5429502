"""Checks of the splits: leaks, rows left out, optimism, repeats, and the labels that scores are measured against."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtrial.report.cache import get_cached, get_resampling_scheme, has_only_predictions, select_condition
from fairtrial.report.check import CheckFinding, check, join_unique_names, report_not_applicable, report_passed, report_raised
from fairtrial.report.section import build_sentence, format_number
from fairtrial.study.results.selection import format_condition

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results
    from fairtrial.study.archive import ConditionFacts

RANDOM_SCHEMES = ("holdout", "subsampling", "bootstrap")
"""Schemes that draw each test part afresh: they do not promise to test every row."""

ONE_PARTITION = ("leave-one-out", "given")
"""Schemes of which there is only one partition: a repeat would give the same."""


@check(
    "FT004",
    title="Leaks between training and test rows",
    looks_for="rows that stand in the training and in the test part of one split",
    why="A learner that has seen the row it is tested on is judged on its memory.",
    remedy="correct the splitter or the given folds; look for rows with the same values before the study "
    "(Dataset.X.duplicated()), and keep rows of one patient, document or day in one fold",
    cite="Kaufman et al. 2012",
)
def leaks(results: Results) -> CheckFinding:
    """Rows in both parts of a split."""
    if has_only_predictions(results):
        return report_not_applicable(
            build_sentence("A file of predictions does not tell which rows the models were trained on.")
        )
    frame = build_split_lines(results)
    frame = frame[frame["in both"] > 0].reset_index(drop=True)
    if frame.empty:
        return report_passed(
            build_sentence(
                "No row stands in both parts of a split. Whether different rows hold the same values cannot be seen from "
                "the evidence, which keeps no attributes."
            )
        )
    worst = int(frame["in both"].argmax())
    sentence = build_sentence(
        "Splits of {sets} test on rows that they train on: one of {worst} on {both} of its {rows} test rows.",
        sets=join_unique_names(frame["data set"]),
        worst=frame["data set"].iloc[worst],
        both=format_number(frame, "checks-ft004", worst, "in both", "{:d}"),
        rows=format_number(frame, "checks-ft004", worst, "test rows", "{:d}"),
    )
    return report_raised(sentence, frame)


@check(
    "FT006",
    title="DOB-SCV optimism",
    looks_for="the scheme dob-scv",
    why="Distribution-optimally balanced folds spread near neighbours over all folds, so that each test row has its like "
    "in the training part: on independent rows the estimate was too high in 18 of 18 settings, by 0.004 to 0.015 of "
    "balanced accuracy, where stratified folds have no bias.",
    remedy="use it to compare learners with each other; to say how good one is, take stratified folds",
    cite="Moreno-Torres, Sáez & Herrera 2012",
)
def dob_scv_optimism(results: Results) -> CheckFinding:
    """Estimates of folds that are more alike than chance would make them."""
    if get_resampling_scheme(results) in ("", "given", "object"):
        return report_not_applicable(build_sentence("How the rows were split is not known: the splits were given."))
    if get_resampling_scheme(results) == "dob-scv":
        return report_raised(
            build_sentence("The folds are those of DOB-SCV: the scores are somewhat too good as estimates for new rows.")
        )
    return report_passed(build_sentence("The scheme is {scheme}, not DOB-SCV.", scheme=get_resampling_scheme(results)))


@check(
    "FT012",
    title="Rows never tested, or tested unequally often",
    looks_for="rows that no split tests, or that are tested more often than others, in schemes that promise to test each "
    "equally",
    why="Scores then speak of some rows more than of others, and of some not at all.",
    remedy="correct the given folds; in a file of predictions give every row to every repeat",
    cite="Kohavi 1995",
)
def unequal_tests(results: Results) -> CheckFinding:
    """Rows left out of the tests."""
    if get_resampling_scheme(results) in RANDOM_SCHEMES:
        return report_not_applicable(
            build_sentence("The scheme {scheme} draws the rows to test.", scheme=get_resampling_scheme(results))
        )
    frame = build_test_count_lines(results)
    frame = frame[frame["least"] < frame["most"]].reset_index(drop=True)
    if frame.empty:
        return report_passed(build_sentence("Every row is tested as often as every other of its data set."))
    worst = int((frame["never tested"] / frame["rows"]).argmax())
    sentence = build_sentence(
        "Rows of {sets} are tested unequally often: of the {rows} rows of {worst} {never} are never tested, and one is tested "
        "{most} {times}.",
        sets=join_unique_names(frame["data set"]),
        worst=frame["data set"].iloc[worst],
        rows=format_number(frame, "checks-ft012", worst, "rows", "{:d}"),
        never=format_number(frame, "checks-ft012", worst, "never tested", "{:d}"),
        most=format_number(frame, "checks-ft012", worst, "most", "{:d}"),
        times="time" if frame["most"].iloc[worst] == 1 else "times",
    )
    return report_raised(sentence, frame)


@check(
    "FT016",
    title="No repeat",
    looks_for="a study in which the rows are split at random, but only once",
    why="Another partition of the same rows gives other scores; with one partition this spread is neither known nor "
    "averaged out.",
    remedy="declare [resampling] repeats = 5 or more",
    cite="Bouckaert & Frank 2004",
)
def no_repeat(results: Results) -> CheckFinding:
    """One run of one partition."""
    if has_only_predictions(results) or get_resampling_scheme(results) in ONE_PARTITION:
        return report_not_applicable(build_sentence("The splits are given, or there is only one way to split."))
    if results.trials()["repeat"].nunique() > 1:
        return report_passed(build_sentence("The rows are split more than once."))
    return report_raised(
        build_sentence("The rows of each data set are split only once: how much another partition would change is not known.")
    )


@check(
    "FT017",
    title="Noise in the labels of the test part",
    looks_for="conditions under which the classes of test rows are not those of the data set",
    why="A learner that is right is then counted as wrong: the score falls by the noise itself, for good learners the "
    "most, and RLA and ELA mix what was learnt badly with what was measured badly.",
    remedy='declare class noise with part = "train" (the default); keep a change of the test labels for concept change, '
    "where it is meant",
    cite="Sáez, Luengo & Herrera 2016; Frénay & Verleysen 2014",
)
def noisy_test_labels(results: Results) -> CheckFinding:
    """Truth that a condition has changed."""
    import pandas as pd

    changing = [condition for condition in results.archive.conditions if condition.name != "clean"]
    if not changing:
        return report_not_applicable(build_sentence("No condition changes the data."))
    trials = results.trials()
    lines = [
        line for condition in changing for line in _list_changed_labels(results, select_condition(trials, condition), condition)
    ]
    if not lines:
        return report_passed(build_sentence("Scores are measured against the classes of the data set under every condition."))
    frame = pd.DataFrame(lines, columns=["condition", "data set", "test rows", "with another class"])
    frame["proportion"] = frame["with another class"] / frame["test rows"]
    worst = int(frame["proportion"].argmax())
    sentence = build_sentence(
        "{conditions} {verb} the classes of test rows: under {condition} a share of {share} of those of {dataset}.",
        conditions=join_unique_names(frame["condition"]),
        verb="changes" if frame["condition"].nunique() == 1 else "change",
        condition=frame["condition"].iloc[worst],
        share=format_number(frame, "checks-ft017", worst, "proportion"),
        dataset=frame["data set"].iloc[worst],
    )
    return report_raised(sentence, frame, proportion="{:.3f}")


def _list_changed_labels(results: Results, trials: pd.DataFrame, condition: ConditionFacts) -> list[tuple[str, str, int, int]]:
    """Data sets of which a trial has test rows whose class is not that of the data set; one trial of each is looked at."""
    good = trials[trials["status"] == "ok"].drop_duplicates("dataset")
    codes = {dataset.name: dataset.codes for dataset in results.archive.datasets}
    lines = []
    for name, trial_predictions in zip(
        good["dataset"].astype(str), results.archive.predictions(good["trial"].tolist()), strict=True
    ):
        changed = int(np.count_nonzero(trial_predictions.y_true != codes[name][trial_predictions.rows]))
        if changed:
            lines.append((format_condition(condition), name, len(trial_predictions.rows), changed))
    return lines


def build_split_lines(results: Results) -> pd.DataFrame:
    """A line for each split: its rows, and how many stand in both parts."""
    return get_cached(results, "splits", lambda: _tabulate_splits(results))[0]


def build_test_count_lines(results: Results) -> pd.DataFrame:
    """A line for each data set: rows, rows never tested, and the least and most times that a row is tested."""
    return get_cached(results, "splits", lambda: _tabulate_splits(results))[1]


def _tabulate_splits(results: Results) -> tuple[pd.DataFrame, pd.DataFrame]:
    """One reading of all splits for both tables."""
    import pandas as pd

    trials, archive = results.trials(), results.archive
    splits, tested = [], []
    for facts in archive.datasets:
        fold_keys = trials.loc[trials["dataset"] == facts.name, ["repeat", "fold"]].drop_duplicates()
        test_counts = np.zeros(len(facts.codes), dtype=np.intp)
        for repeat, fold in fold_keys.itertuples(index=False, name=None):
            train, test = archive.split(facts.name, repeat, fold)
            test_counts += np.bincount(test, minlength=len(test_counts))
            in_training = np.zeros(len(test_counts), dtype=bool)
            in_training[train] = True
            splits.append((facts.name, repeat, fold, int(in_training.sum()), len(test), int(in_training[test].sum())))
        if len(fold_keys):
            tested.append(
                (facts.name, len(test_counts), int((test_counts == 0).sum()), int(test_counts.min()), int(test_counts.max()))
            )
    first = pd.DataFrame(splits, columns=["data set", "repeat", "fold", "training rows", "test rows", "in both"])
    second = pd.DataFrame(tested, columns=["data set", "rows", "never tested", "least", "most"])
    return first, second
