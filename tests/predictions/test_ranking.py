import pandas as pd

from fairtrial import judge
from fairtrial.predictions.narrative import find_unequal_rows
from fairtrial.predictions.tables import order_best_first, rank_models


def scores(rows=(50, 50, 30)):
    table = pd.DataFrame({"dataset": "d", "model": ["x", "y", "z"], "measure": "brier", "estimate": [0.3, 0.1, float("nan")]})
    return table.assign(low=0.0, high=1.0, rows=rows)


def test_the_best_first_by_the_direction_of_the_measure():
    assert rank_models(scores(), "d", "brier") == ["y", "x", "z"]


def test_pairs_are_turned_with_their_differences():
    pairs = pd.DataFrame([("d", "x", "y", 0.2, 0.1, 0.4)], columns=["dataset", "first", "second", "difference", "low", "high"])
    assert order_best_first(pairs, scores(), "brier").iloc[0].tolist() == ["d", "y", "x", -0.2, -0.4, -0.1]


def test_models_with_fewer_rows_are_named():
    assert find_unequal_rows(scores()) == {"d": {"x": 50, "y": 50, "z": 30}}
    assert find_unequal_rows(scores(50)) == {}
    lines = [("z" if i < 30 else "y", i % 30, i % 2, i % 2) for i in range(80)]
    table = pd.DataFrame(lines, columns=["model", "row", "y_true", "prediction"])
    table.loc[table["model"] == "y", "row"] = range(50)
    note = "Models are scored on different rows of 'data': of 50 rows fewer have z (30)."
    assert any(sentence.startswith(note) for sentence in judge(table, resamples=20).notes)
