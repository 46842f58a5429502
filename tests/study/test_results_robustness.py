"""Tests of `fairtrial.study.results.robustness`."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score, roc_curve

from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import accuracy, get_measure, kappa, performance_deterioration
from fairtrial.study.archive import ConditionFacts
from fairtrial.study.records import Predictions
from fairtrial.study.results.curves import KINDS, resolve_curve_kind
from fairtrial.study.results.results import Results
from fairtrial.study.results.robustness import average_losses, compute_losses
from tests.study.archives import CLEAN, archive_of, data_facts, real_results

# --- Robustness ---
# RLA and ELA of a study: hand-computed, against the published table, and the intervals against a bootstrap of the world.


NOISE = ConditionFacts("class-noise", 0.1, "10 % class noise", {"condition": "class-noise", "level": 0.1})


def archive_with(hits, n=100, splits=1, conditions=(CLEAN, NOISE)):
    """Learners that are right in so many of n test rows: hits[data set][learner] = (clean, noisy)."""
    sets = [data_facts(name, [0, 1] * n, ("a", "b")) for name in hits]
    learners = list(next(iter(hits.values())))
    places = {(0, fold): (np.arange(n, 2 * n), np.arange(n)) for fold in range(splits)}

    def evidence(facts, condition, learner, _, fold):
        right = hits[facts.name][learner][0 if condition is CLEAN else 1]
        count = right[fold] if isinstance(right, list) else right
        truth = facts.codes[:n]
        return Predictions(np.arange(n), truth, np.where(np.arange(n) < count, truth, 1 - truth), None, None)

    return archive_of(sets, conditions, learners, dict.fromkeys(hits, places), evidence)


def test_the_published_table_of_losses_comes_out(find_published):
    published = pd.read_csv(find_published("ela_table3"))
    hits = {
        line["dataset"]: {who: tuple(round(100 * line[f"acc{x}_{who}"]) for x in (0, 10)) for who in ("c45", "svm")}
        for _, line in published.iterrows()
    }
    found = Results(archive_with(hits, n=10_000)).robustness()
    for who in ("c45", "svm"):
        own = found[found["learner"] == who]
        assert own["dataset"].tolist() == published["dataset"].tolist()
        for name in ("rla", "ela"):
            np.testing.assert_allclose(own[name], published[f"{name}_{who}"], atol=5.1e-5)


def test_hand_computed_losses():
    found = Results(archive_with({"vehicle": {"tree": (80, 76), "rule": (50, 50)}})).robustness()
    assert found["learner"].tolist() == ["tree", "rule"]
    np.testing.assert_allclose(found["rla"], [0.05, 0.0], atol=1e-12)
    np.testing.assert_allclose(found["ela"], [0.3, 1.0])
    assert found[["clean", "noisy", "splits"]].to_numpy().tolist() == [[0.8, 0.76, 1], [0.5, 0.5, 1]]
    assert found["ela_low"].isna().all()


def test_intervals_are_those_of_the_delta_method():
    clean, noisy = [80, 84, 78, 90], [70, 79, 69, 86]
    (line,) = (
        Results(archive_with({"x": {"tree": (clean, noisy), "rule": (clean, clean)}}, splits=4)).robustness()[:1].itertuples()
    )
    a, b = np.array(clean) / 100, np.array(noisy) / 100
    # A jackknife is the delta method by other means: pseudo-values are contributions to first order.
    for name, of in (("rla", lambda x, y: 1 - y / x), ("ela", lambda x, y: (1 - y) / x)):
        left_out = np.array([of(np.delete(a, i).mean(), np.delete(b, i).mean()) for i in range(4)])
        spread = np.sqrt(3 * ((left_out - left_out.mean()) ** 2).mean())
        correction = np.sqrt((1 / 4 + 1) / (1 / 4))  # tests on half of the rows
        half = 3.18244630528371 * spread * correction
        assert getattr(line, f"{name}_high") - getattr(line, name) == pytest.approx(half, rel=0.05)
    assert line.rla - line.rla_low == pytest.approx(line.rla_high - line.rla)
    assert line.ela_low == 0  # no loss is below it


def test_a_learner_that_failed_on_a_data_set_has_no_loss_there_and_a_split_that_one_lacks_counts_for_none():
    def fate(dataset, condition, learner, _, fold):
        if condition.level and dataset == "iris" and learner == "tree" and fold == 2:
            return "crash"
        return "missing" if dataset == "wine" and learner == "tree" and not condition.level and fold == 0 else None

    results = real_results(fate)
    found = results.robustness("class-noise").set_index(["dataset", "learner"])
    assert ("iris", "tree") not in found.index
    assert set(found.loc["iris", "splits"]) == {5}
    assert set(found.loc["wine", "splits"]) == {4}
    trials = results.trials()
    own = trials[(trials["dataset"] == "wine") & (trials["learner"] == "bayes") & (trials["fold"] > 0)]
    for name, level in (("clean", 0.0), ("noisy", own["level"].max())):
        ran = results.archive.predictions(own.loc[own["level"] == level, "trial"].tolist())
        assert found.loc[("wine", "bayes"), name] == pytest.approx(np.mean([np.mean(x.y_true == x.prediction) for x in ran]))


def test_means_over_data_sets_are_students():
    hits = {
        "a": {"tree": (80, 76), "rule": (60, 50)},
        "b": {"tree": (90, 81), "rule": (50, 50)},
        "c": {"tree": (50, 49), "rule": (0, 0)},
    }
    archive = archive_with(hits)
    with pytest.warns(UndefinedMeasureWarning, match=r"1 of 6 rows \(rule on c\)"):
        found = Results(archive).robustness(by="all").set_index("learner")
    ela = np.array([24 / 80, 19 / 90])  # rule has no value on c, so that c counts for neither
    half = 12.706204736432095 * ela.std(ddof=1) / np.sqrt(2)
    assert found.loc["tree", "ela"] == pytest.approx(ela.mean())
    assert found.loc["tree", "ela_high"] - ela.mean() == pytest.approx(half)
    assert found.loc["rule", "ela"] == pytest.approx((50 / 60 + 50 / 50) / 2)
    assert found["datasets"].to_dict() == {"tree": 2, "rule": 2}


def test_a_learner_without_any_loss_holds_back_no_data_set():
    archive = archive_with({"a": {"tree": (80, 76), "rule": (0, 0)}, "b": {"tree": (90, 81), "rule": (0, 0)}})
    with pytest.warns(UndefinedMeasureWarning):
        found = Results(archive).robustness(by="all").set_index("learner")
    assert found["datasets"].to_dict() == {"tree": 2, "rule": 0}
    assert found.loc["tree", "ela"] == pytest.approx((24 / 80 + 19 / 90) / 2)
    assert np.isnan(found.loc["rule", "ela"])


def test_data_sets_are_shared_level_by_level():
    """On wine the tree has no trials under noise: wine then counts for no learner, though all have others there."""
    results = real_results(
        lambda name, condition, learner, *_: "crash" if condition.level and (name, learner) == ("wine", "tree") else None
    )
    found = results.robustness(by="all").set_index("learner")
    by_set = results.robustness().set_index(["learner", "dataset"])["ela"]
    assert set(found["datasets"]) == {2}
    for learner in ("bayes", "tree", "near"):
        expected = (by_set[learner, "iris"] + by_set[learner, "cancer"]) / 2
        assert found.loc[learner, "ela"] == pytest.approx(expected)


def test_only_splits_with_both_trials_count():
    results = real_results(lambda _, condition, __, ___, fold: "missing" if condition.level and fold == 2 else None)
    found = results.robustness("class-noise", "balanced_accuracy")
    assert set(found["splits"]) == {4}
    scores = results.scores("balanced_accuracy")
    own = scores[(scores["dataset"] == "wine") & (scores["learner"] == "tree") & (scores["fold"] != 2)]
    clean, noisy = (own[own["condition"] == name]["value"].mean() for name in ("clean", "class-noise"))
    line = found[(found["dataset"] == "wine") & (found["learner"] == "tree")].iloc[0]
    assert line["ela"] == pytest.approx((1 - noisy) / clean)


def test_what_is_missing_is_named_with_the_remedy():
    with pytest.raises(InputError, match="levels of class-noise"):
        Results(archive_with({"x": {"a": (1, 1), "b": (2, 2)}}, conditions=(NOISE,))).robustness()
    with pytest.raises(InputError, match="clean"):
        Results(archive_with({"x": {"a": (1, 1), "b": (2, 2)}}, conditions=(CLEAN,))).robustness()
    with pytest.raises(InputError, match="did you mean 'class-noise'"):
        real_results().robustness("class-nose")
    with pytest.raises(InputError, match="measure must"):
        real_results().robustness(measure=kappa)
    with pytest.raises(InputError, match="by must be one of"):
        real_results().robustness(by="learner")


def test_frames_of_scores_are_enough():
    archive = archive_with({"x": {"a": (80, 60), "b": (20, 20)}})
    frame = compute_losses(archive, Results(archive).scores("accuracy"), get_measure(accuracy), None)
    assert isinstance(average_losses(frame), pd.DataFrame)
    assert frame["rla"].tolist() == pytest.approx([0.25, 0.0])


# --- Deterioration ---
# Loss and deterioration where the test part changes.


def shift(part, name=None):
    return ConditionFacts(name or f"drift-{part}", 0.3, f"drift in {part}", {"condition": "drift", "level": 0.3, "part": part})


def results_of(conditions, errors, positives=60, folds=2, n=200):
    """Learners that err in so many of n test rows by condition; under a shift the first `positives` rows are of class b."""
    facts = data_facts("flu", [0, 1] * n, ("a", "b"))

    def evidence(_, condition, learner, __, fold):
        truth = facts.codes[:n] if condition is CLEAN else (np.arange(n) < positives).astype(np.intp)
        wrong = errors[learner][condition.name] + fold
        return Predictions(np.arange(n), truth, np.where(np.arange(n) < wrong, 1 - truth, truth), None, None)

    splits = {"flu": {(0, fold): (np.arange(n, 2 * n), np.arange(n)) for fold in range(folds)}}
    return Results(archive_of([facts], conditions, list(errors), splits, evidence))


def test_the_printed_example_of_the_flu_study():
    # Trained on the usual population, in a hard winter among the poor: errors in per mille, pD as printed.
    errors = {
        "1R": {"clean": 200, "drift-test": 337, "drift-all": 274},
        "tree": {"clean": 200, "drift-test": 188, "drift-all": 168},
    }
    conditions = [CLEAN, shift("test"), shift("all")]
    found = results_of(conditions, errors, positives=462, folds=1, n=1000).deterioration()
    assert found["pd"].round(2).tolist() == [0.34, 0.07]
    assert found["pd"].tolist() == pytest.approx(performance_deterioration([337, 188], [274, 168], 462).tolist())
    assert found["trivial"].tolist() == pytest.approx([0.462, 0.462])
    assert found["note"].tolist() == ["", ""]


def test_loss_is_paired_by_split():
    errors = {
        "tree": {"clean": 20, "drift-test": 50, "drift-all": 40},
        "rule": {"clean": 20, "drift-test": 20, "drift-all": 20},
    }
    found = results_of([CLEAN, shift("test"), shift("all")], errors).deterioration().set_index("learner")
    assert found.loc["tree", "loss"] == pytest.approx(0.15)
    assert found.loc["tree", ["loss_low", "loss_high"]].tolist() == pytest.approx([0.15, 0.15])
    assert found.loc["tree", "pd"] == pytest.approx((50.5 - 40.5) / (60 - 40.5))
    assert found.loc["rule", "loss"] == pytest.approx(0, abs=1e-12)
    assert found["splits"].tolist() == [2, 2]


def test_what_is_to_be_declared_is_said():
    errors = {"tree": {"clean": 20, "x": 50}, "rule": {"clean": 20, "x": 20}}
    with pytest.warns(UndefinedMeasureWarning, match=r"pd is undefined in 2 of 2 rows: .*x 0.3 \(drift\) with part = 'all'"):
        found = results_of([CLEAN, shift("test", "x")], errors).deterioration()
    assert found["pd"].isna().all()
    assert found["loss"].tolist() == pytest.approx([0.15, 0.0])
    with pytest.raises(InputError, match="part = 'test'"):
        results_of([CLEAN, shift("all")], {"a": {"clean": 1, "drift-all": 2}}).deterioration()


def test_a_learner_that_is_no_better_than_trivial_has_no_pd():
    errors = {"tree": {"clean": 20, "drift-test": 70, "drift-all": 80}}
    with pytest.warns(UndefinedMeasureWarning, match="trivial classifier"):
        found = results_of([CLEAN, shift("test"), shift("all")], errors).deterioration()
    assert np.isnan(found["pd"].iloc[0])


def test_without_clean_trials_there_is_no_loss():
    found = results_of([shift("test"), shift("all")], {"a": {"drift-test": 40, "drift-all": 30}}).deterioration()
    assert isinstance(found, pd.DataFrame)
    assert found[["clean", "loss", "loss_low"]].isna().all().all()
    assert found["pd"].iloc[0] == pytest.approx((40.5 - 30.5) / (60 - 30.5))


# --- Curves ---
# Curves of pooled test rows.


def pooled(results, learner, repeat=0, dataset="cancer"):
    lines = results.archive.lines
    own = lines[(lines["dataset"] == dataset) & (lines["learner"] == learner) & (lines["condition"] == "clean")]
    parts = [results.archive.kept[number] for number in own[own["repeat"] == repeat]["trial"]]
    return np.concatenate([one.y_true for one in parts]), np.concatenate([one.scores for one in parts])


def test_a_roc_curve_is_that_of_scikit_learn_on_the_pooled_rows():
    results = real_results(repeats=2, levels=(0.0,))
    found = results.curves("roc", dataset="cancer", repeat=1)
    assert list(dict.fromkeys(found["learner"])) == ["bayes", "tree", "ridge", "near"]
    for learner, own in found.groupby("learner"):
        truth, scores = pooled(results, learner, repeat=1)
        fpr, tpr, _ = roc_curve(truth == 0, scores[:, 0], drop_intermediate=False)  # malignant comes after benign
        np.testing.assert_allclose(own[["fpr", "tpr"]].to_numpy(), np.column_stack([fpr, tpr]))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_curve(kind):
    found = real_results().curves(kind, dataset="cancer", learner=["bayes", "tree"])
    assert set(found["learner"]) == {"bayes", "tree"}
    assert len(found.columns) > 2


def test_one_class_of_several_stands_against_the_rest():
    results = real_results()
    found = results.curves(dataset="iris", learner="bayes", positive="virginica")
    truth, scores = pooled(results, "bayes", dataset="iris")
    area = float(np.trapezoid(found["tpr"], found["fpr"]))
    assert area == pytest.approx(roc_auc_score(truth == 2, scores[:, 2]))
    with pytest.raises(InputError, match="positive must be given"):
        results.curves(dataset="iris")


def test_learners_without_what_a_curve_needs_are_named():
    with pytest.warns(UndefinedMeasureWarning, match=r"no brier curve for ridge \(decision values"):
        found = real_results().curves("brier", dataset="cancer")
    assert "ridge" not in set(found["learner"])
    lost = real_results(lambda *place: "error" if place[2] == "tree" and place[4] == 1 else None)
    with pytest.warns(UndefinedMeasureWarning, match=r"tree \(trials failed"):
        lost.curves(dataset="cancer")
    with pytest.raises(InputError, match="no roc curve for"):
        lost.curves(dataset="cancer", learner="tree")


def test_names_are_checked():
    assert resolve_curve_kind("lift") == "gain"
    with pytest.raises(InputError, match="did you mean 'roc'"):
        real_results().curves("rock", dataset="cancer")
    with pytest.raises(InputError, match="dataset must be given"):
        real_results().curves()
    with pytest.raises(InputError, match="repeat must be"):
        real_results().curves(dataset="cancer", repeat=3)
    with pytest.raises(InputError, match="did you mean 'tree'"):
        real_results().curves(dataset="cancer", learner="tre")
