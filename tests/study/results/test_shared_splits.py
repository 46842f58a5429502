"""Means over the splits that learners share, against means written out."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.study.results.stacking import SplitGrid
from fairtrial.study.results.summary import find_left_out_splits
from tests.study.archives import CLEAN, real_results

NAN = np.nan


def scores_of(values, statuses=None):
    """values[data set][learner] is a value for each fold; statuses[data set, learner, fold] are others than ok."""
    lines = [
        (dataset, "clean", 0.0, learner, 0, fold, "taks", value, (statuses or {}).get((dataset, learner, fold), "ok"))
        for dataset, learners in values.items()
        for learner, those in learners.items()
        for fold, value in enumerate(those)
    ]
    names = ["dataset", "condition", "level", "learner", "repeat", "fold", "measure", "value", "status"]
    return pd.DataFrame(lines, columns=names).astype({"dataset": "category", "learner": "category"})


def test_a_split_that_a_learner_lacks_counts_for_none():
    means = SplitGrid.from_scores(scores_of({"x": {"a": [1.0, 2.0, 3.0, NAN], "b": [4.0, 5.0, 6.0, 70.0]}})).compute_means()
    assert means.loc["x"].to_dict() == {"a": 2.0, "b": 5.0}


def test_a_learner_without_any_value_costs_the_others_nothing():
    scores = scores_of({"x": {"a": [1.0, 3.0], "b": [NAN, NAN]}, "y": {"a": [5.0, 7.0], "b": [NAN, 1.0]}})
    means = SplitGrid.from_scores(scores).compute_means()
    assert means.loc["x", "a"] == 2.0
    assert np.isnan(means.loc["x", "b"])
    assert means.loc["y"].to_dict() == {"a": 7.0, "b": 1.0}


def test_without_a_common_split_there_is_no_mean():
    scores = scores_of({"x": {"a": [1.0, NAN], "b": [NAN, 1.0]}, "y": {"a": [1.0, 2.0], "b": [1.0, 2.0]}})
    means = SplitGrid.from_scores(scores).compute_means()
    assert means.index.tolist() == ["y"]


def test_a_learner_that_failed_has_no_value_and_costs_no_split():
    scores = scores_of({"x": {"a": [1.0, NAN, 3.0], "b": [1.0, 2.0, 9.0]}}, {("x", "a", 1): "timeout"})
    assert SplitGrid.from_scores(scores).values["a"].isna().all()
    assert SplitGrid.from_scores(scores).shared.all()
    assert SplitGrid.from_scores(scores).compute_means().loc["x", "b"] == 4.0


def test_left_out_splits_are_counted():
    values = {"x": {"a": [1.0, NAN, NAN], "b": [1.0, 2.0, 3.0]}, "y": {"a": [1.0, 2.0, NAN], "b": [1.0, 2.0, 3.0]}}
    finding = find_left_out_splits(scores_of(values), [CLEAN])
    assert (finding.kind, finding["measure"], finding["left_out"], finding["splits"]) == ("splits_left_out", "taks", 3, 6)
    assert finding["datasets"] == ("x: 2", "y: 1")
    assert find_left_out_splits(scores_of({"x": {"a": [1.0], "b": [2.0]}}), [CLEAN]) is None


def lost(dataset, _, learner, __, fold):
    return "missing" if (dataset, learner) == ("wine", "tree") and fold in (1, 3) else None


def test_wide_tables_and_verdicts_compare_on_the_same_splits():
    results = real_results(lost)
    scores = results.scores("accuracy")
    own = scores[(scores["dataset"] == "wine") & (scores["condition"] == "clean") & scores["fold"].isin([0, 2, 4])]
    for learner, mean in results.wide("accuracy").loc["wine"].items():
        assert mean == pytest.approx(own[own["learner"] == learner]["value"].mean())
    verdict = results.verdict("accuracy").table
    np.testing.assert_allclose(verdict.values, results.wide("accuracy").loc[list(verdict.datasets), list(verdict.learners)])


def test_summary_notes_left_out_splits_of_each_measure():
    notes = real_results(lost, declaration={"measures": ["accuracy", "kappa"]}).summary().notes
    left_out = [note for note in notes if "4 of 30 splits" in note]
    assert [measure in note for measure, note in zip(("accuracy", "kappa"), left_out, strict=True)] == [True, True]
    assert real_results().summary().notes == []
