"""Lines for trials and for repeats."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from fairtrial.study.records import Predictions
from fairtrial.study.results.scores import ScoreLines, ScoreRequest, join_predictions
from fairtrial.study.results.stacking import ClassOrder
from tests.study.archives import real_archive

make_requests = ScoreRequest.from_measures


def lost(dataset, condition, learner, _, fold):
    if (dataset, learner, condition.name) == ("wine", "tree", "clean"):
        return {1: "timeout", 3: "missing"}.get(fold)
    return None


def test_pooled_folds_are_scored_as_one():
    archive = real_archive(repeats=2, levels=(0.0,), names=["cancer"])
    lines = ScoreLines.from_repeats(archive.trials())
    assert len(lines.frame) == 2 * 4
    assert set(lines.frame["fold"]) == {-1}
    values, _ = lines.compute_values(archive, [ClassOrder.from_facts(archive.datasets[0])], make_requests("auc"))
    for line, (repeat, learner) in enumerate(zip(lines.frame["repeat"], lines.frame["learner"], strict=True)):
        own = archive.lines[(archive.lines["repeat"] == repeat) & (archive.lines["learner"] == learner)]
        parts = [archive.kept[number] for number in own["trial"]]
        truth, scores = np.concatenate([one.y_true for one in parts]), np.concatenate([one.scores[:, 1] for one in parts])
        assert len(truth) == 150
        assert values[0, line] == pytest.approx(roc_auc_score(truth, scores))


def test_a_repeat_with_a_fold_that_failed_has_no_line_of_its_own_and_says_so():
    lines = ScoreLines.from_repeats(real_archive(lost).trials())
    bad = lines.frame[lines.frame["status"] != "ok"]
    assert bad[["dataset", "learner", "status"]].to_numpy().tolist() == [["wine", "tree", "timeout"]]
    assert np.diff(lines.starts)[bad.index].tolist() == [0]
    assert len(lines.trials) == lines.starts[-1] == 3 * 2 * 4 * 5 - 5


def test_single_lines_hold_one_trial_each_or_none():
    archive = real_archive(lost)
    lines = ScoreLines.from_trials(archive.trials())
    assert np.diff(lines.starts).tolist() == (archive.lines["status"] == "ok").astype(int).tolist()


def test_scores_of_different_kinds_do_not_join():
    row = np.array([0])
    scored = Predictions(row, row, row, np.array([[0.3, 0.7]]), "probability")
    other = Predictions(row, row, row, np.array([[-3.0, 3.0]]), "decision")
    assert join_predictions([scored, scored]).scores.shape == (2, 2)
    assert join_predictions([scored, other]).scores is None
    assert join_predictions([scored, Predictions(row, row, row, None, None)]).score_kind is None


def test_shares_of_a_learner_that_abstained_in_some_folds_join_as_scores():
    row = np.array([0])
    scored = Predictions(row, row, row, np.array([[0.3, 0.7]]), "probability")
    silent = Predictions(row, row, np.array([-1]), np.array([[0.0, 0.0]]), "decision")
    together = join_predictions([scored, silent])
    assert (together.scores.tolist(), together.score_kind) == ([[0.3, 0.7], [0.0, 0.0]], "decision")
    assert together.prediction.tolist() == [0, -1]
    assert join_predictions([silent, silent]).score_kind == "decision"
