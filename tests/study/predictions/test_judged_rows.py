import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import brier_score_loss, cohen_kappa_score, f1_score, log_loss, roc_auc_score

from fairtrial.errors import InputError
from fairtrial.measures import evaluate, get_measure
from fairtrial.study.predictions import counted_intervals, judged_rows
from fairtrial.study.predictions.judged_plan import Plan
from fairtrial.study.predictions.judged_rows import JudgedModel, chosen_measures, intervals, positive_place
from fairtrial.study.predictions.predictions import read_predictions


def example(n=80, seed=1, weight=False):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    table = pd.DataFrame({"truth": truth, "tree_p": np.clip(0.5 + 0.25 * (truth - 0.5) + 0.2 * rng.normal(size=n), 0.01, 0.99)})
    return table.assign(weight=rng.integers(1, 4, n)) if weight else table


def judged(table, positive=None):
    one = read_predictions(table, positive=positive).sets[0]
    return JudgedModel.of(one, "tree", positive_place(one, positive))


def test_values_are_those_of_another_library():
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
        assert model.value(get_measure(name)) == pytest.approx(value, abs=1e-12)


def test_the_positive_class_may_be_the_first():
    table = example().assign(tree_p=lambda t: 1 - t["tree_p"])
    assert judged(table, positive=0).value(get_measure("f_score")) == pytest.approx(
        f1_score(table["truth"], (table["tree_p"] < 0.5).astype(int), pos_label=0)
    )
    with pytest.raises(InputError, match="positive must be a class of data set 'data', got 'x'"):
        positive_place(read_predictions(example()).sets[0], "x")


def test_intervals_are_those_of_evaluate():
    table, names = example(), ["accuracy", "auc", "kappa", "brier"]
    measures = [get_measure(name) for name in names]
    found = intervals(judged(table), measures, Plan(resamples=200, seed=5))
    labels = (table["tree_p"] > 0.5).astype(int)
    direct = evaluate(table["truth"], labels, table["tree_p"], names, resamples=200, seed=5)
    assert [(one.measure, one.low, one.high, one.method) for one in found] == [
        (one.measure, one.low, one.high, one.method) for one in direct.intervals
    ]


def test_many_rows_are_counted_with_nearly_the_same_intervals(monkeypatch):
    table = example(3000)
    measures = [get_measure(name) for name in ("accuracy", "kappa", "auc", "ks", "brier", "log_loss", "calibration_error")]
    rows = intervals(judged(table), measures, Plan(seed=1))
    monkeypatch.setattr(judged_rows, "MANY_ROWS", 100)
    monkeypatch.setattr(counted_intervals, "MANY_ROWS", 100)
    counted = intervals(judged(table), measures, Plan(seed=1))
    assert [one.estimate for one in counted] == pytest.approx([one.estimate for one in rows], abs=1e-12)
    assert [one.method for one in counted] == ["wilson", "percentile", "delong", "percentile", "normal", "normal", "percentile"]
    for one, other in zip(rows[:6], counted[:6], strict=True):
        width = one.high - one.low
        assert abs(one.low - other.low) < 0.25 * width
        assert abs(one.high - other.high) < 0.25 * width


def test_measures_suit_what_models_give():
    table = example().assign(old=lambda t: 1 - t["truth"])
    one = read_predictions(table).sets[0]
    models = [JudgedModel.of(one, name, 1) for name in ("tree", "old")]
    assert chosen_measures(models[:1], None)[0].name == "auc"
    assert chosen_measures(models, None)[0].name == "accuracy"
    lacking = intervals(models[1], [get_measure("auc")], Plan())[0]
    assert np.isnan(lacking.estimate)
    assert lacking.note == "needs scores"
    with pytest.raises(InputError, match="brier must have probabilities, which no model gives"):
        chosen_measures(models[1:], ["brier"])
    with pytest.raises(InputError, match="at least one measure"):
        chosen_measures(models, [])


def test_a_part_of_the_rows():
    model = judged(example())
    part = model.part(model.true == 1)
    assert len(part.true) == model.true.sum()
    assert len(part.scores) == len(part.true) == len(part.predicted)
