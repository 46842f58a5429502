import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import brier_score_loss, cohen_kappa_score, f1_score, log_loss, roc_auc_score

from fairtrial import judge
from fairtrial.errors import InputError
from fairtrial.measures import evaluate, get_measure
from fairtrial.predictions import statistics
from fairtrial.predictions.read import read_predictions
from fairtrial.predictions.statistics import InMemoryModel, JudgeSettings


def example(n=80, seed=1, weight=False):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    table = pd.DataFrame({"truth": truth, "tree_p": np.clip(0.5 + 0.25 * (truth - 0.5) + 0.2 * rng.normal(size=n), 0.01, 0.99)})
    return table.assign(weight=rng.integers(1, 4, n)) if weight else table


def judged(table, positive=None):
    one = read_predictions(table, positive=positive).datasets[0]
    return InMemoryModel.from_dataset(one, "tree", one.get_positive_index(positive))


def test_values_match_scikit_learn():
    table = example(weight=True)
    model = judged(table)
    truth, p, weight = table["truth"], table["tree_p"], table["weight"]
    labels = (p > 0.5).astype(int)
    expected = {
        "auc": roc_auc_score(truth, p, sample_weight=weight),
        "kappa": cohen_kappa_score(truth, labels, sample_weight=weight),
        "f_score": f1_score(truth, labels, sample_weight=weight),
        "brier": brier_score_loss(truth, p, sample_weight=weight),
        "log_loss": log_loss(truth, p, sample_weight=weight),
    }
    for name, value in expected.items():
        assert model.compute_value(get_measure(name)) == pytest.approx(value, abs=1e-12)


def test_the_positive_class_may_be_the_first():
    table = example().assign(tree_p=lambda t: 1 - t["tree_p"])
    assert judged(table, positive=0).compute_value(get_measure("f_score")) == pytest.approx(
        f1_score(table["truth"], (table["tree_p"] < 0.5).astype(int), pos_label=0)
    )
    with pytest.raises(InputError, match=r"positive.*'x'"):
        read_predictions(example()).datasets[0].get_positive_index("x")


def test_intervals_are_those_of_evaluate():
    table, names = example(), ["accuracy", "auc", "kappa", "brier"]
    measures = [get_measure(name) for name in names]
    found = judged(table).compute_intervals(measures, JudgeSettings(resamples=200, seed=5))
    labels = (table["tree_p"] > 0.5).astype(int)
    direct = evaluate(table["truth"], labels, table["tree_p"], names, resamples=200, seed=5)
    assert [(one.measure, one.low, one.high, one.method) for one in found] == [
        (one.measure, one.low, one.high, one.method) for one in direct.intervals
    ]


def test_intervals_of_many_rows_from_counts_are_nearly_the_same(monkeypatch):
    table = example(3000)
    measures = [get_measure(name) for name in ("accuracy", "kappa", "auc", "ks", "brier", "log_loss", "calibration_error")]
    rows = judged(table).compute_intervals(measures, JudgeSettings(seed=1))
    monkeypatch.setattr(statistics, "MANY_ROWS", 100)
    counted = judged(table).compute_intervals(measures, JudgeSettings(seed=1))
    assert [one.estimate for one in counted] == pytest.approx([one.estimate for one in rows], abs=1e-12)
    assert [one.method for one in counted] == ["wilson", "percentile", "delong", "percentile", "normal", "normal", "percentile"]
    for one, other in zip(rows[:6], counted[:6], strict=True):
        width = one.high - one.low
        assert abs(one.low - other.low) < 0.25 * width
        assert abs(one.high - other.high) < 0.25 * width


def test_measures_suit_the_inputs_of_the_models():
    table = example().assign(old=lambda t: 1 - t["truth"])
    one = read_predictions(table).datasets[0]
    models = [InMemoryModel.from_dataset(one, name, 1) for name in ("tree", "old")]
    assert judge(table.drop(columns="old"), resamples=20).main == "auc"
    assert judge(table, resamples=20).main == "accuracy"
    lacking = models[1].compute_intervals([get_measure("auc")], JudgeSettings())[0]
    assert np.isnan(lacking.estimate)
    assert lacking.note == "needs scores"
    with pytest.raises(InputError, match=r"brier.*probabilities"):
        judge(table.drop(columns="tree_p"), measures=["brier"])
    with pytest.raises(InputError, match="measures"):
        judge(table, measures=[])


def test_a_part_of_the_rows():
    model = judged(example())
    part = model.select_rows(model.y_true == 1)
    assert len(part.y_true) == model.y_true.sum()
    assert len(part.scores) == len(part.y_true) == len(part.y_pred)
