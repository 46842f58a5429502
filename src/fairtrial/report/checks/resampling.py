"""Checks of the splits: leaks, untested rows, optimistic estimates, repeats and perturbed test labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from fairtrial.report.cache import get_cached, get_resampling_scheme, has_only_predictions, select_condition
from fairtrial.report.check import CheckAnswer, check, list_unique, report_not_applicable, report_passed, report_raised
from fairtrial.study.results.selection import format_condition
from fairtrial.study.results.stacking import find_straddling_groups

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.report.source import ReportSource
    from fairtrial.study import Results
    from fairtrial.study.archive import ConditionFacts

UNEQUAL_SCHEMES = ("holdout", "subsampling", "conservative-z", "bootstrap", "temporal", "leave-group-out", "splitter")
"""Schemes that need not test all rows equally often."""

ONE_PARTITION = ("leave-one-out", "leave-group-out", "temporal", "given")
"""Schemes with only one partition: a repeat would give the same splits."""


@check(
    "FT004",
    title="Leaks between training and test rows",
    looks_for="rows or groups that are in both the training set and the test set of a split",
    why="If a test row, or another row of the same patient, is in the training set, the learner may simply have memorized it.",
    remedy="correct the splitter or the given folds. Look for duplicate rows before the study "
    "(Dataset.X.duplicated()). Keep all rows of a patient, document or day in the same fold: declare "
    '[data.NAME] groups = "COLUMN" and [resampling] scheme = "group" or "stratified-group"',
    cite="Kaufman et al. 2012",
    texts={
        "not applicable": "a prediction file does not record the training rows.",
        "passed": "no row is in both the training and the test set of a split. A results file does not reveal duplicate rows.",
        "passed groups": "no row and no group is in both the training and the test set of a split.",
        "raised": (
            "training sets of {datasets} contain test rows: in one split of {worst}, {both} of {rows:count test row} "
            "{both:is} in the training set."
        ),
        "raised groups": (
            "training and test sets of {datasets} contain rows of the same group ({column}): in one split of {worst}, "
            "{groups:count group} {groups:is} in both sets."
        ),
    },
    affects_answer=True,
)
def check_leaks(source: ReportSource) -> CheckAnswer:
    """Check for rows that are in both the training and the test set of a split."""
    results = source.get_results()
    if has_only_predictions(results):
        return report_not_applicable()
    frame = build_split_lines(results)
    grouped = {facts.name: facts.group_column for facts in results.archive.datasets if facts.group_column is not None}
    if frame["in both"].max() == 0 and grouped:
        return _report_split_groups(frame[frame["groups in both"] > 0].reset_index(drop=True), grouped)
    frame = frame[frame["in both"] > 0].drop(columns="groups in both").reset_index(drop=True)
    if frame.empty:
        return report_passed()
    worst = frame.iloc[int(frame["in both"].argmax())]
    return report_raised(
        details=frame,
        datasets=list_unique(frame["data set"]),
        worst=worst["data set"],
        both=int(worst["in both"]),
        rows=int(worst["test rows"]),
    )


def _report_split_groups(frame: pd.DataFrame, columns: Mapping[str, str]) -> CheckAnswer:
    """Report groups that are in both the training set and the test set of a split."""
    if frame.empty:
        return report_passed("passed groups")
    worst = frame.iloc[int(frame["groups in both"].argmax())]
    return report_raised(
        "raised groups",
        details=frame,
        datasets=list_unique(frame["data set"]),
        worst=worst["data set"],
        column=columns[worst["data set"]],
        groups=int(worst["groups in both"]),
    )


@check(
    "FT006",
    title="DOB-SCV optimism",
    looks_for="folds created by DOB-SCV",
    why="DOB-SCV distributes near neighbours over all folds, so each test row has a similar row in the training set. On "
    "simulated problems with known performance, its estimates of balanced accuracy were on average 0.017 too high for the "
    "models fitted in the folds, and 0.013 too high for the model fitted to all rows. Estimates from stratified folds were "
    "unbiased for the models fitted in the folds, and 0.005 too low for the model fitted to all rows. DOB-SCV estimates vary "
    "less, so the root mean squared errors of both schemes were about equal.",
    remedy="use repeated stratified folds to estimate the performance of a learner; use DOB-SCV to compare results with those "
    "of studies that used it, and report that its scores are slightly too high",
    cite="Moreno-Torres, Sáez & Herrera 2012",
    texts={
        "not applicable": "the splits were given, so the scheme is unknown.",
        "passed": "the scheme is {scheme}, not DOB-SCV.",
        "raised": "the folds were created by DOB-SCV, so the scores are slightly too high as estimates for new rows.",
    },
)
def check_dob_scv(source: ReportSource) -> CheckAnswer:
    """Check whether the folds were created by DOB-SCV, which makes estimates optimistic."""
    scheme = get_resampling_scheme(source.get_results())
    if scheme in ("", "given", "object", "splitter"):
        return report_not_applicable()
    return report_raised() if scheme == "dob-scv" else report_passed(scheme=scheme)


@check(
    "FT012",
    title="Rows never tested, or tested unequally often",
    looks_for="rows that are never tested, or tested more often than other rows, although the scheme should test all "
    "rows equally often",
    why="Scores then depend more on some rows than on others, and do not depend on untested rows at all.",
    remedy="correct the given folds; in a prediction file, include a prediction for every row in every repeat",
    cite="Kohavi 1995",
    texts={
        "not applicable": "the {scheme} scheme need not test all rows equally often.",
        "passed": "all rows of a data set are tested equally often.",
        "raised": (
            "rows of {datasets} are tested unequally often: of {rows:count row} in {worst}, {never} {never:is} never tested, "
            "and others are tested up to {most} times."
        ),
    },
)
def check_test_counts(source: ReportSource) -> CheckAnswer:
    """Check that all rows are tested equally often."""
    results = source.get_results()
    scheme = get_resampling_scheme(results)
    if scheme in UNEQUAL_SCHEMES:
        return report_not_applicable(scheme=scheme)
    frame = build_test_count_lines(results)
    frame = frame[frame["least"] < frame["most"]].reset_index(drop=True)
    if frame.empty:
        return report_passed()
    worst = frame.iloc[int((frame["never tested"] / frame["rows"]).argmax())]
    return report_raised(
        details=frame,
        datasets=list_unique(frame["data set"]),
        worst=worst["data set"],
        rows=int(worst["rows"]),
        never=int(worst["never tested"]),
        most=int(worst["most"]),
    )


@check(
    "FT016",
    title="No repeat",
    looks_for="a study that splits the rows at random, but only once",
    why="A different partition of the same rows gives different scores. With only one partition, this variation is unknown.",
    remedy="declare [resampling] repeats = 5 or more",
    cite="Bouckaert & Frank 2004",
    texts={
        "not applicable": "the splits are given, or only one partition exists.",
        "passed": "the rows are split more than once.",
        "raised": "each data set is split only once: the variation between partitions is unknown.",
    },
)
def check_repeats(source: ReportSource) -> CheckAnswer:
    """Check whether the resampling is repeated."""
    results = source.get_results()
    scheme = get_resampling_scheme(results)
    if has_only_predictions(results) or scheme in ONE_PARTITION:
        return report_not_applicable()
    if results.trials()["repeat"].nunique() > 1:
        return report_passed()
    return report_not_applicable() if scheme == "splitter" else report_raised()


@check(
    "FT017",
    title="Noise in the labels of the test set",
    looks_for="conditions that change the labels of test rows",
    why="Correct predictions on rows with a changed label count as errors, so the scores fall even if the model is unchanged. "
    "This affects good learners most. RLA and ELA then confound this effect with the effect of noise on training.",
    remedy='declare class noise with part = "train" (the default); change test labels only to simulate concept change',
    cite="Sáez, Luengo & Herrera 2016; Frénay & Verleysen 2014",
    texts={
        "not applicable": "no condition changes the data.",
        "passed": "no condition changes the labels of test rows.",
        "raised one": "{conditions} changes the labels of some test rows (a fraction of {proportion:.3f} on {dataset}).",
        "raised many": (
            "{conditions} change the labels of some test rows (a fraction of {proportion:.3f} on {dataset} under {condition})."
        ),
    },
)
def check_test_labels(source: ReportSource) -> CheckAnswer:
    """Check for test labels that a condition has changed."""
    import pandas as pd

    results = source.get_results()
    changing = [condition for condition in results.archive.conditions if condition.name != "clean"]
    if not changing:
        return report_not_applicable()
    trials = results.trials()
    lines = [
        line for condition in changing for line in _list_changed_labels(results, select_condition(trials, condition), condition)
    ]
    if not lines:
        return report_passed()
    frame = pd.DataFrame(lines, columns=["condition", "data set", "test rows", "with another class"])
    frame["proportion"] = frame["with another class"] / frame["test rows"]
    worst = frame.iloc[int(frame["proportion"].argmax())]
    conditions = list_unique(frame["condition"])
    return report_raised(
        "raised one" if len(conditions) == 1 else "raised many",
        details=frame,
        formats={"proportion": "{:.3f}"},
        conditions=conditions,
        condition=worst["condition"],
        proportion=float(worst["proportion"]),
        dataset=worst["data set"],
    )


def _list_changed_labels(results: Results, trials: pd.DataFrame, condition: ConditionFacts) -> list[tuple[str, str, int, int]]:
    """List data sets with changed test labels, using one successful trial per data set."""
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
    """Count the training rows and test rows of each split.

    Also count the rows and groups that are in both sets.
    """
    return get_cached(results, "splits", lambda: _tabulate_splits(results))[0]


def build_test_count_lines(results: Results) -> pd.DataFrame:
    """Count the rows and the untested rows of each data set.

    Also find how often its rows are tested at least and at most.
    """
    return get_cached(results, "splits", lambda: _tabulate_splits(results))[1]


def _tabulate_splits(results: Results) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Build the frames of `build_split_lines` and `build_test_count_lines`. Each split is read only once."""
    import pandas as pd

    trials, archive = results.scored_trials(), results.archive
    splits, tested = [], []
    for facts in archive.datasets:
        fold_keys = trials.loc[trials["dataset"] == facts.name, ["repeat", "fold"]].drop_duplicates()
        test_counts = np.zeros(len(facts.codes), dtype=np.intp)
        for repeat, fold in fold_keys.itertuples(index=False, name=None):
            train, test = archive.split(facts.name, repeat, fold)
            test_counts += np.bincount(test, minlength=len(test_counts))
            in_training = np.zeros(len(test_counts), dtype=bool)
            in_training[train] = True
            groups = 0 if facts.groups is None else find_straddling_groups(facts.groups, train, test).size
            counts = (int(in_training.sum()), len(test), int(in_training[test].sum()), groups)
            splits.append((facts.name, repeat, fold, *counts))
        if len(fold_keys):
            tested.append(
                (facts.name, len(test_counts), int((test_counts == 0).sum()), int(test_counts.min()), int(test_counts.max()))
            )
    columns = ["data set", "repeat", "fold", "training rows", "test rows", "in both", "groups in both"]
    first = pd.DataFrame(splits, columns=columns)
    second = pd.DataFrame(tested, columns=["data set", "rows", "never tested", "least", "most"])
    return first, second
