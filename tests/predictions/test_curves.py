import numpy as np
import pandas as pd
from sklearn.metrics import roc_curve

from fairtrial.predictions.read import read_predictions
from fairtrial.predictions.statistics import InMemoryModel, JudgeSettings
from fairtrial.predictions.tables import CURVES, MAX_CURVE_POINTS, InMemoryTables, limit_curve_points
from fairtrial.predictions.validate import Notes


def curves(table, positive=None):
    one = read_predictions(table).datasets[0]
    models = [InMemoryModel.from_dataset(one, name, one.get_positive_index(positive)) for name in one.models]
    return InMemoryTables([one], models, [], JudgeSettings(), Notes()).build_curves()


def test_points_are_those_of_another_library():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 50)
    found = curves(pd.DataFrame({"truth": truth, "tree_p": rng.random(50).round(1), "svm_score": rng.normal(size=50)}))
    assert set(found) == set(CURVES)
    roc = found["roc"].query("model == 'svm'")
    fpr, tpr, _ = roc_curve(truth, rng_scores(truth), drop_intermediate=False)
    assert np.allclose(roc["fpr"], fpr)
    assert np.allclose(roc["tpr"], tpr)
    assert found["brier"]["model"].unique().tolist() == ["tree"]  # only forecasts have one


def rng_scores(truth):
    rng = np.random.default_rng(0)
    rng.integers(0, 2, len(truth))
    rng.random(len(truth))
    return rng.normal(size=len(truth))


def test_three_classes_have_a_curve_each_and_a_class_that_never_occurs_none():
    scores = np.random.default_rng(1).dirichlet([1, 1, 1], 12)
    columns = {f"p_{each}": scores[:, i] for i, each in enumerate("abc")}
    table = pd.DataFrame({"truth": list("abc") * 4, **columns})
    assert curves(table)["roc"]["class"].unique().tolist() == ["a", "b", "c"]
    assert curves(table, "b")["roc"]["class"].unique().tolist() == ["b"]
    assert curves(pd.DataFrame({"truth": ["a", "b"], "tree": ["a", "b"]})) == {}


def test_long_curves_are_thinned_and_keep_their_ends():
    points = pd.DataFrame({"x": np.arange(10 * MAX_CURVE_POINTS)})
    found = limit_curve_points(points)["x"]
    assert len(found) == MAX_CURVE_POINTS
    assert found.iloc[0] == 0
    assert found.iloc[-1] == 10 * MAX_CURVE_POINTS - 1
    assert np.ptp(np.diff(found)) <= 1
    assert limit_curve_points(points.head(5)).equals(points.head(5))
