import numpy as np
import pandas as pd
from sklearn.metrics import roc_curve

from fairtrial.predictions.tables import CURVES, MAX_CURVE_POINTS, build_curves, limit_curve_points


def test_roc_points_match_scikit_learn(read_models):
    rng = np.random.default_rng(0)
    y_true, probability, score = rng.integers(0, 2, 50), rng.random(50).round(1), rng.normal(size=50)
    curves = build_curves(read_models(pd.DataFrame({"y_true": y_true, "tree_p": probability, "svm_score": score})))
    assert set(curves) == set(CURVES)
    roc = curves["roc"].query("model == 'svm'")
    fpr, tpr, _ = roc_curve(y_true, score, drop_intermediate=False)
    assert np.allclose(roc["fpr"], fpr)
    assert np.allclose(roc["tpr"], tpr)
    assert curves["brier"]["model"].unique().tolist() == ["tree"]  # it needs probabilities


def test_each_of_three_classes_has_a_curve(read_models):
    scores = np.random.default_rng(1).dirichlet([1, 1, 1], 12)
    columns = {f"p_{label}": scores[:, i] for i, label in enumerate("abc")}
    table = pd.DataFrame({"y_true": list("abc") * 4, **columns})
    assert build_curves(read_models(table))["roc"]["class"].unique().tolist() == ["a", "b", "c"]
    assert build_curves(read_models(table, positive="b"))["roc"]["class"].unique().tolist() == ["b"]


def test_labels_have_no_curves(read_models):
    assert build_curves(read_models(pd.DataFrame({"y_true": ["a", "b"], "tree": ["a", "b"]}))) == {}


def test_long_curves_are_thinned_and_keep_both_ends():
    points = pd.DataFrame({"x": np.arange(10 * MAX_CURVE_POINTS)})
    x = limit_curve_points(points)["x"]
    assert len(x) == MAX_CURVE_POINTS
    assert x.iloc[0] == 0
    assert x.iloc[-1] == 10 * MAX_CURVE_POINTS - 1
    assert np.ptp(np.diff(x)) <= 1
    assert limit_curve_points(points.head(5)).equals(points.head(5))
