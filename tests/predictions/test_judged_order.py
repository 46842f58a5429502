import pandas as pd

from fairtrial.predictions.statistics import PositiveClasses
from fairtrial.predictions.tables import find_unequal_rows, note_score_problems, order_best_first, rank_models
from fairtrial.predictions.validate import Notes


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
    notes = Notes()
    note_score_problems(scores(), PositiveClasses({}), notes)
    assert notes.sentences[0].startswith("Models are scored on different rows of 'd': of 50 rows fewer have z (30).")
