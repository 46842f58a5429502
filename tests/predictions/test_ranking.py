"""Which model is best: rankings built from the tables of a judgement."""

import numpy as np
import pandas as pd
import pytest

from fairtrial import judge
from fairtrial.measures import get_measure
from fairtrial.predictions.judgement import rank_by_rows
from fairtrial.predictions.statistics import JudgeSettings
from fairtrial.predictions.tables import find_unequal_rows, order_best_first, rank_models


def make_scores(measure="auc", rows=100, **estimates):
    lines = [("data", name, measure, value, value - 0.05, value + 0.05, rows) for name, value in estimates.items()]
    return pd.DataFrame(lines, columns=["dataset", "model", "measure", "estimate", "low", "high", "rows"])


def make_pairs(*lines, test="delong"):
    columns = ["dataset", "first", "second", "difference", "p_adjusted", "test", "primary", "rows", "at_minimum"]
    table = pd.DataFrame([("data", *line, test, True, 100, False) for line in lines], columns=columns)
    return table.assign(low=table["difference"] - 0.01, high=table["difference"] + 0.01).astype({"primary": bool})


def rank(scores, pairs, measure="auc"):
    (ranking,) = rank_by_rows(scores, pairs, get_measure(measure), JudgeSettings())
    return ranking


def test_who_is_best_who_is_worse_and_who_is_not_significantly_worse():
    pairs = make_pairs(("x", "y", -0.2, 0.001), ("x", "z", -0.19, 0.002), ("y", "z", 0.01, 0.6))
    ranking = rank(make_scores(x=0.7, y=0.9, z=0.89), pairs)
    assert ranking.names == ("y", "z", "x")
    assert ranking.values == (0.9, 0.89, 0.7)
    assert (ranking.best, ranking.not_worse, ranking.worse) == (("y",), ("z",), ("x",))
    pair = ranking.find_pair("y", "x")
    assert (pair.better, pair.difference, pair.low, pair.high) == ("y", 0.2, pytest.approx(0.19), pytest.approx(0.21))
    assert (ranking.n, ranking.unit) == (100, "row")
    assert "3" in ranking.adjustment


def test_smaller_is_better_if_the_measure_says_so():
    ranking = rank(make_scores("brier", x=0.2, y=0.1), make_pairs(("x", "y", 0.1, 0.01)), "brier")
    assert ranking.lower_is_better
    assert (ranking.best, ranking.worse) == (("y",), ("x",))
    assert ranking.pairs[0].difference == -0.1
    assert not ranking.pairs[0].is_reversed


def test_the_common_rows_may_contradict_the_ranking():
    ranking = rank(make_scores(x=0.7, y=0.9), make_pairs(("x", "y", 0.1, 0.01)))
    assert ranking.names == ("y", "x")
    assert ranking.pairs[0].is_reversed
    assert ranking.worse == ()


def test_a_single_model_has_an_interval_and_a_chance_level():
    ranking = rank(make_scores(x=0.9), make_pairs())
    assert ranking.names == ("x",)
    assert ranking.interval == pytest.approx((0.85, 0.95))
    assert ranking.chance == 0.5


def test_an_undefined_measure_has_no_ranking():
    assert rank(make_scores(x=float("nan")), make_pairs()).names == ()


def test_an_undefined_p_decides_nothing():
    ranking = rank(make_scores(x=0.7, y=0.9), make_pairs(("x", "y", -0.2, float("nan"))))
    assert (ranking.worse, ranking.not_worse, ranking.undecided) == ((), (), ("x",))


def test_equal_models_share_the_lead():
    pairs = make_pairs(("x", "y", 0.0, 1.0), ("x", "z", 0.2, 0.01), ("y", "z", 0.2, 0.01))
    ranking = rank(make_scores(x=0.9, y=0.9, z=0.7), pairs)
    assert (ranking.best, ranking.worse) == (("x", "y"), ("z",))


def test_models_are_ordered_by_the_direction_of_the_measure():
    scores = make_scores("brier", x=0.3, y=0.1, z=float("nan"))
    assert rank_models(scores, "data", "brier") == ["y", "x", "z"]


def test_pairs_are_reversed_with_their_differences():
    columns = ["dataset", "first", "second", "difference", "low", "high"]
    pairs = pd.DataFrame([("data", "x", "y", 0.2, 0.1, 0.4)], columns=columns)
    ordered = order_best_first(pairs, make_scores("brier", x=0.3, y=0.1), "brier")
    assert ordered.iloc[0].tolist() == ["data", "y", "x", -0.2, -0.4, -0.1]


def test_models_with_fewer_rows_are_noted():
    scores = make_scores(x=0.9, y=0.8)
    assert find_unequal_rows(scores) == {}
    assert find_unequal_rows(scores.assign(rows=[50, 30])) == {"data": {"x": 50, "y": 30}}
    rows = np.concatenate([np.arange(30), np.arange(50)])
    table = pd.DataFrame({"model": ["z"] * 30 + ["y"] * 50, "row": rows, "y_true": rows % 2, "prediction": rows % 2})
    notes = [note for note in judge(table, resamples=20).notes if note.kind == "unequal_rows"]
    assert [(note["fewer"], note["rows"]) for note in notes] == [(("z (30)",), 50)]
