"""Curves of pooled test rows."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score, roc_curve

from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.study.results.curves import KINDS, resolve_curve_kind
from tests.study.archives import real_results


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
    with pytest.raises(InputError, match="repeat must be one of"):
        real_results().curves(dataset="cancer", repeat=3)
    with pytest.raises(InputError, match="did you mean 'tree'"):
        real_results().curves(dataset="cancer", learner="tre")
