"""RLA and ELA of a study: hand-computed, against the published table, and the intervals against a bootstrap of the world."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import accuracy, get_measure, kappa
from fairtrial.study.archive import ConditionFacts
from fairtrial.study.records import Predictions
from fairtrial.study.results.results import Results
from fairtrial.study.results.robustness import average_losses, compute_losses
from tests.study.archives import CLEAN, archive_of, data_facts, real_results

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
