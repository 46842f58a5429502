"""Evaluation of one model by many measures."""

import numpy as np
import pytest

from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import evaluate, interval, registry


@pytest.fixture(scope="module")
def two():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    return y, 1 / (1 + np.exp(-(rng.normal(size=300) + 2 * y - 1)))


@pytest.fixture(scope="module")
def three():
    rng = np.random.default_rng(1)
    y = np.array(["x", "y", "z"])[rng.integers(0, 3, 200)]
    p = rng.dirichlet([1, 1, 1], 200) + 0.6 * np.eye(3)[np.searchsorted(["x", "y", "z"], y)]
    return y, p / p.sum(axis=1, keepdims=True)


def test_all_measures_of_predictions_are_there(two):
    y, p = two
    table = evaluate(y, y_score=p, resamples=50)
    expected = {each.name for each in registry.values() if each.facts.needs not in ("values", "results")}
    # With two classes, the first is the AUC, and the second counts every row as correct.
    assert set(table.frame().index) == expected - {"hand_till", "top_k_accuracy"}
    assert table.frame().index[0] == "accuracy"
    assert len(table.notes) == 1  # predicted labels are derived from the probabilities
    assert table.rows == 300


def test_lines_equal_single_calls(two):
    y, p = two
    label = (p > 0.4).astype(int)
    table = evaluate(y, label, p, resamples=100, seed=3)
    for name in ("accuracy", "mcc", "auc", "h_measure", "brier"):
        given = label if registry[name].facts.needs == "labels" else p
        assert table[name] == interval(name, y, given, resamples=100, seed=3)


def test_more_classes_are_averaged(three):
    y, p = three
    table = evaluate(y, y_score=p, resamples=50)
    assert table["auc"].estimate == pytest.approx(registry["auc"](y, p, average="macro"))
    assert table["recall"].estimate == pytest.approx(
        registry["recall"](y, np.array(["x", "y", "z"])[p.argmax(axis=1)], average="macro")
    )
    assert len(table.notes) == 1  # predicted labels are derived from the probabilities
    assert all(value in table.about for value in ("200 rows", "3 classes", "macro", "95 %"))
    assert {"hand_till", "top_k_accuracy"} < set(table.frame().index)
    weighted = evaluate(y, y_score=p, measures=["auc", "recall", "kappa"], average="weighted", interval=None)
    assert weighted["auc"].estimate == pytest.approx(registry["auc"](y, p, average="weighted"))


def test_measures_of_scores_are_left_out_without_scores(two):
    y, p = two
    table = evaluate(y, (p > 0.5).astype(int), interval=None)
    assert "auc" not in table.frame().index
    assert [("scores" in note, "y_score" in note) for note in table.notes] == [(True, True), (False, True)]


def test_scores_that_are_no_probabilities_are_ranked_only(two):
    y, p = two
    table = evaluate(y, y_score=10 * p, interval=None)
    assert "auc" in table.frame().index
    assert "brier" not in table.frame().index
    assert "accuracy" not in table.frame().index
    assert any("probabilities" in note and "y_score" in note for note in table.notes)


def test_without_intervals_nothing_is_drawn(two):
    y, p = two
    frame = evaluate(y, y_score=p, interval=None).frame()
    assert frame["low"].isna().all()
    assert frame["estimate"].notna().all()


def test_undefined_measures_are_named_once():
    with pytest.warns(UndefinedMeasureWarning, match="auc") as caught:
        table = evaluate(np.ones(5, dtype=int), y_score=np.linspace(0.1, 0.9, 5), resamples=20)
    assert len(caught) == 1
    assert np.isnan(table["auc"].estimate)
    assert table["accuracy"].estimate == pytest.approx(0.6)  # a probability of 0.5 is positive


def test_numbers_can_be_judged_by_name():
    table = evaluate([1.0, 2.0, 3.0], [1.5, 2.0, 2.5], measures=["regression.rmse", "regression.r2"], interval=None)
    assert table["regression.rmse"].estimate == pytest.approx(np.sqrt(0.5 / 3))


def test_positive_may_be_the_first_class():
    y, p = ["bad", "good", "bad", "good"], [0.9, 0.2, 0.6, 0.3]
    table = evaluate(y, y_score=p, positive="bad", measures=["recall", "auc", "brier"], interval=None)
    assert [one.estimate for one in table.intervals] == pytest.approx([1.0, 1.0, (0.01 + 0.04 + 0.16 + 0.09) / 4])


def test_table_shows_itself(two):
    y, p = two
    table = evaluate(y, y_score=p, measures=["accuracy", "auc"])
    lines = str(table).splitlines()
    assert lines[0].split()[:2] == ["measure", "estimate"]
    assert lines[1].startswith("accuracy")
    assert "<table" in table._repr_html_()
    assert repr(table) == str(table)
    assert lines[-2] == table.about
    assert lines[-1] == table.notes[-1]


def test_unasked_and_impossible_measures_are_refused(two):
    y, p = two
    table = evaluate(y, y_score=p, measures="auc", interval=None)
    with pytest.raises(InputError, match="kappa"):
        table["kappa"]
    with pytest.raises(InputError, match="y_score"):
        evaluate(y, y, measures="auc")
    with pytest.raises(InputError, match=r"brier.*y_score"):
        evaluate(y, y_score=5 * p, measures=["brier"])
    with pytest.raises(InputError, match="y_pred"):
        evaluate(y)
    with pytest.raises(InputError, match="'accuracy'"):
        evaluate(y, y, measures=["acuracy"])
    with pytest.raises(InputError, match="interval"):
        evaluate(y, y, interval="wilson")
    with pytest.raises(InputError, match=r"y_score.*nan.*\b5\b"):
        evaluate(y, y_score=np.where(np.arange(300) == 5, np.nan, p))
    with pytest.raises(InputError, match="average"):
        evaluate(y, y, average=None)


def test_one_class_singled_out_of_three(three):
    y, p = three
    names = ["accuracy", "recall", "auc", "brier"]
    whole = evaluate(y, y_score=p, positive="y", measures=names, interval=None)
    said, is_y = np.array(["x", "y", "z"])[p.argmax(axis=1)], y == "y"
    assert whole["recall"].estimate == pytest.approx(np.mean(said[is_y] == "y"))
    assert whole["auc"].estimate == pytest.approx(registry["auc"](is_y, p[:, 1]))
    assert whole["brier"].estimate == pytest.approx(np.mean((p[:, 1] - is_y) ** 2))
    column = evaluate(y, y_score=p[:, 1], positive="y", interval=None)
    assert column["brier"].estimate == pytest.approx(whole["brier"].estimate)
    assert "accuracy" not in column.frame().index
    assert any("labels" in note and "y_pred" in note for note in column.notes)
