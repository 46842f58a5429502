"""Values of many models at once equal those of single models."""

import warnings

import numpy as np
import pytest

from fairtrial import measures
from fairtrial.errors import InputError, UndefinedMeasureWarning, UnknownNameError
from fairtrial.measures import batch
from fairtrial.measures.measure import ScoreMeasure

OF_TALLIES = [each for each in measures.registry.values() if type(each) is ScoreMeasure]


def one_by_one(y, scores):
    truths = np.broadcast_to(y, scores.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        return {each.name: [each(t, s, labels=[0, 1]) for t, s in zip(truths, scores, strict=True)] for each in OF_TALLIES}


@pytest.mark.filterwarnings("ignore::fairtrial.errors.UndefinedMeasureWarning")
@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("own_rows", [False, True], ids=["shared rows", "rows of their own"])
@pytest.mark.parametrize(("models", "n"), [(1, 20), (7, 13), (40, 1000), (3, 20_000), (5, 1)])
def test_batch_equals_the_loop(monkeypatch, threads, own_rows, models, n):
    monkeypatch.setenv("FAIRTRIAL_THREADS", threads)
    rng = np.random.default_rng([models, n])
    y = rng.integers(0, 2, (models, n) if own_rows else n)
    scores = rng.normal(size=(models, n)).round(2) + y
    scores[0] = 0.5
    found = batch(y, scores, "all", labels=[0, 1])
    assert len(found) == models
    for name, values in one_by_one(y, scores).items():
        np.testing.assert_allclose(found[name], values, rtol=1e-12, atol=1e-14, err_msg=name)


def test_columns_follow_the_measures_asked_for():
    y, scores = [0, 1, 1], np.array([[0.1, 0.5, 0.9], [0.9, 0.5, 0.1]])
    assert list(batch(y, scores)) == ["auc", "auch", "sauc", "ks", "taks", "h_measure"]
    assert list(batch(y, scores, ["ks", measures.auc])) == ["ks", "auc"]
    assert batch(y, scores, "roc_auc")["auc"].tolist() == [1.0, 0.0]
    assert batch(y, scores, measures.gini)["gini"].tolist() == [1.0, -1.0]


def test_the_positive_class_may_be_named():
    y, scores = ["a", "b", "b"], np.array([[0.1, 0.5, 0.9]])
    assert batch(y, scores, "auc", positive="a")["auc"].tolist() == [0.0]
    assert batch(["a", "b", "c"], scores, "auc", positive="c")["auc"].tolist() == [1.0]


def test_undefined_models_are_counted_in_one_warning():
    with pytest.warns(UndefinedMeasureWarning, match="taks.*1 of 2"):
        found = batch([0, 1], [[0.5, 0.5], [0.1, 0.2]], "taks")
    np.testing.assert_array_equal(found["taks"], [np.nan, 1.0])


def test_one_class_alone_is_undefined_for_all_models():
    with pytest.warns(UndefinedMeasureWarning, match="auc.*2 of 2"):
        assert batch(["x", "x"], [[0.5, 0.5], [0.1, 0.2]], "auc")["auc"].isna().all()


@pytest.mark.parametrize(
    ("y", "scores", "chosen", "message"),
    [
        ([0, 1], [0.1, 0.2], "auc", "y_score"),
        ([], np.empty((2, 0)), "auc", "y_score"),
        ([0, 1, 1], [[0.1, 0.2]], "auc", r"y_true.*\(3,\)"),
        ([0, 1], [[0.1, np.nan]], "auc", r"y_score.*nan.*\(0, 1\)"),
        ([0, 1, 2], [[0.1, 0.2, 0.3]], "auc", "positive"),
        ([0, 1], [[0.1, 0.2]], "accuracy", "measures.*accuracy"),
        ([0, None], [[0.1, 0.2]], "auc", r"y_true.*\b1\b"),
    ],
)
def test_invalid_batches_are_refused(y, scores, chosen, message):
    with pytest.raises(InputError, match=message):
        batch(y, scores, chosen)


def test_an_unknown_measure_gets_a_suggestion():
    with pytest.raises(UnknownNameError, match=r"'acu'.*'auc'"):
        batch([0, 1], [[0.1, 0.2]], ["acu"])


def test_the_scores_of_the_caller_are_left_alone():
    scores = np.array([[0.3, 0.1, 0.2], [0.5, 0.9, 0.7]])
    before = scores.copy()
    batch([0, 1, 1], scores)
    np.testing.assert_array_equal(scores, before)
