"""Policies for failed trials."""

import warnings

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from fairtrial._findings import Finding
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import accuracy, auc, brier, kappa
from fairtrial.study.records import Predictions
from fairtrial.study.results.results import Results
from fairtrial.study.results.scores import ScoreRequest
from fairtrial.study.results.selection import mask_condition, mask_failed
from fairtrial.study.results.stacking import ClassOrder
from fairtrial.study.results.verdict import apply_policy, predict_trivial
from tests.study.archives import CLEAN, archive_of, data_facts, folds, real_archive, real_sources


def lost(dataset, condition, learner, _, fold):
    return "timeout" if (dataset, condition.name, learner) == ("wine", "clean", "tree") and fold < 2 else None


def treated(policy, measure="accuracy", replaced=lost, **options):
    archive = real_archive(replaced, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)  # one of the learners gives no probabilities
        scores, trials = Results(archive).scores(measure), archive.trials()
    mine = mask_condition(scores, CLEAN)
    found = apply_policy(
        policy,
        archive,
        scores[mine],
        trials[mine],
        ScoreRequest.from_measures(measure)[0],
        ClassOrder.from_datasets(archive.datasets),
    )
    return scores[mine], *found


def test_exclude_leaves_out_the_data_sets():
    before, after, findings = treated("exclude")
    assert set(after["dataset"]) == {"iris", "cancer"}
    assert findings == [
        Finding.of("failures", failed=2, trials=60, by_learner=("tree: 2 timeout",)),
        Finding.of("failed_datasets_excluded", datasets=("wine",)),
    ]
    assert len(before) - len(after) == 20


def test_exclude_with_nothing_left_is_refused():
    with pytest.raises(InputError, match="failures must not be 'exclude'"):
        treated("exclude", names=["wine"])


@pytest.mark.parametrize(("measure", "sign"), [("accuracy", 1), ("error_rate", -1), ("information_score", 1)])
def test_worst_rank_is_below_all_others_on_the_data_set(measure, sign):
    """A learner that failed on two of five folds has the worst mean of the data set, however well it did on the others."""

    def gone(dataset, condition, learner, repeat, fold):
        return "error" if learner == "ridge" else lost(dataset, condition, learner, repeat, fold)

    before, after, (failures, policy) = treated("worst-rank", measure, gone)
    losers = {("wine", "tree"), *((name, "ridge") for name in ("iris", "wine", "cancer"))}
    means = (sign * after["value"]).groupby([after["dataset"].astype(str), after["learner"].astype(str)]).mean()
    for name in ("iris", "wine", "cancer"):
        lost_here = [means[cell] for cell in losers if cell[0] == name]
        rest = [mean for cell, mean in means.items() if cell[0] == name and cell not in losers]
        assert max(lost_here) < min(rest)
        assert max(lost_here) == min(lost_here)
    kept = [cell not in losers for cell in zip(after["dataset"], after["learner"], strict=True)]
    assert (after["value"][kept] == before["value"][kept]).all()
    assert failures["by_learner"] == ("ridge: 15 error", "tree: 2 timeout")
    assert policy.kind == "failures_worst_rank"


@pytest.mark.parametrize(("measure", "worst"), [("accuracy", 0.0), ("error_rate", 1.0), ("kappa", -1.0)])
def test_the_worst_rank_is_no_small_difference(measure, worst):
    """In a signed rank test a value just behind the others would have the smallest rank and speak for who failed."""
    _, after, _ = treated("worst-rank", measure)
    lost_here = (after["dataset"] == "wine") & (after["learner"] == "tree")
    assert (after["value"][lost_here] == worst).all()
    gaps = after.pivot_table(index="dataset", columns="learner", values="value", observed=True)
    others = gaps["bayes"] - gaps["tree"]
    assert abs(others["wine"]) == abs(others).max()


def test_the_worst_of_a_measure_without_an_end_lies_as_far_behind_as_the_others_lie_apart():
    before, after, _ = treated("worst-rank", "information_score")
    lost_here = (after["dataset"] == "wine") & (after["learner"] == "tree")
    known = before["value"][~lost_here & np.isfinite(before["value"])]
    assert after["value"][lost_here].unique().tolist() == pytest.approx([2 * known.min() - known.max()])


def test_worst_rank_on_a_single_data_set_counts_split_by_split():
    before, after, (_, policy) = treated("worst-rank", names=["wine"])
    bad = mask_failed(before)
    for _, own in after.assign(bad=bad).groupby("fold"):
        assert (own[own["bad"]]["value"] < own[~own["bad"]]["value"].min()).all()
    assert bad.sum() == 2
    assert (after["value"][~bad] == before["value"][~bad]).all()
    assert policy.kind == "failures_worst_score"


@pytest.mark.parametrize("measure", [accuracy, brier, kappa, auc])
def test_the_trivial_classifier_is_that_of_scikit_learn(measure):
    before, after, (_, policy) = treated("trivial", measure.name)
    bad = mask_failed(before)
    X, y, _ = real_sources()["wine"]
    splits = folds(y, 1, 5)
    for line in after[bad].itertuples():
        train, test = splits[line.repeat, line.fold]
        dummy = DummyClassifier(strategy="prior").fit(X[train], y[train])
        given = dummy.predict(X[test]) if measure.facts.needs == "labels" else dummy.predict_proba(X[test])
        assert line.value == pytest.approx(measure(y[test], given, labels=[0, 1, 2]))
    assert bad.sum() == 2
    assert policy.kind == "failures_trivial"


def test_the_trivial_classifier_meets_the_rows_that_the_condition_left():
    facts = data_facts("x", [0, 0, 0, 1] * 5, ("yes", "no"))
    moved = Predictions(np.array([3, 7, 11]), np.array([1, 1, 0]), np.array([1, 1, 0]), None, None)
    splits = {"x": {(0, 0): (np.arange(8), np.arange(8, 20))}}
    archive = archive_of([facts], [CLEAN], ["a", "b"], splits, lambda *place: moved if place[2] == "a" else "crash")
    (order,) = ClassOrder.from_datasets([facts])
    alone = predict_trivial(archive, facts, order, 0, 0)
    assert (alone.y_true.tolist(), set(alone.prediction.tolist())) == (facts.codes[8:].tolist(), {0})
    assert np.unique(alone.scores, axis=0).tolist() == [[0.75, 0.25]]
    verdictless = Results(archive).scores("accuracy")
    after, _ = apply_policy(
        "trivial", archive, verdictless, archive.trials(), ScoreRequest.from_measures("accuracy")[0], [order]
    )
    assert after["value"].tolist() == pytest.approx([1, 1 / 3])


def test_without_failures_there_is_no_finding():
    before, after, findings = treated("exclude", replaced=None)
    assert findings == []
    assert after is before or after.equals(before)
    with pytest.raises(InputError, match="failures must be one of"):
        treated("worst", replaced=None)


def test_a_learner_that_never_succeeded_is_left_out_first():
    def gone(dataset, condition, learner, repeat, fold):
        return "error" if learner == "ridge" else lost(dataset, condition, learner, repeat, fold)

    _, after, (failures, learners, datasets) = treated("exclude", replaced=gone)
    assert set(after["learner"]) == {"bayes", "tree", "near"}
    assert set(after["dataset"]) == {"iris", "cancer"}
    assert (failures["failed"], failures["by_learner"]) == (17, ("ridge: 15 error", "tree: 2 timeout"))
    assert learners == Finding.of("failed_learners_excluded", learners=("ridge",))
    assert datasets == Finding.of("failed_datasets_excluded", datasets=("wine",))


def test_learners_that_never_succeeded_cost_no_data_set():
    _, after, (_, finding) = treated("exclude", replaced=lambda *place: "crash" if place[2] in ("ridge", "tree") else None)
    assert set(after["dataset"]) == {"iris", "wine", "cancer"}
    assert finding == Finding.of("failed_learners_excluded", learners=("tree", "ridge"))


def test_exclude_where_nothing_succeeded_is_refused():
    with pytest.raises(InputError, match="failures must not be 'exclude'"):
        treated("exclude", replaced=lambda *_: "crash")
