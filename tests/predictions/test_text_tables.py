import pandas as pd

from fairtrial.predictions.narrative import format_methods, format_pairs, format_scores

nan = float("nan")
SCORES = pd.DataFrame(
    [("d", "x", "auc", 0.9, 0.8, 0.95, "delong", 50), ("d", "y", "auc", 0.7, nan, nan, "", 30)],
    columns=["dataset", "model", "measure", "estimate", "low", "high", "method", "rows"],
)


def test_models_stand_side_by_side_with_their_rows_where_they_differ():
    lines = [line.split() for line in format_scores(SCORES).splitlines()]
    assert lines == [["measure", "x", "y"], ["auc", "0.9000", "[0.8000,", "0.9500]", "0.7000"], ["rows", "50", "30"]]
    assert "rows" not in format_scores(SCORES.assign(rows=50))


def test_how_intervals_are_made():
    assert format_methods(SCORES) == "Intervals: delong (auc)."
    assert format_methods(SCORES.assign(low=nan)) == ""


def test_pairs_leave_undefined_numbers_empty_and_mark_the_floor():
    line = {"dataset": "d", "first": "x", "second": "y", "test": "t", "measure": "auc", "difference": 0.2, "low": nan}
    pair = {**line, "high": nan, "p_value": 0.001, "p_adjusted": 0.00299, "at_minimum": True}
    told = format_pairs(pd.DataFrame([pair]), 0.05)
    assert told.splitlines()[1].split() == ["x", "y", "t", "auc", "0.2", "<=0.001", "<=0.003"]


def test_p_stands_on_its_side_of_the_level():
    line = {"dataset": "d", "first": "x", "second": "y", "test": "t", "measure": "auc", "difference": 0.2, "low": nan}
    pair = {**line, "high": nan, "p_value": 0.04998, "p_adjusted": 0.050016, "at_minimum": False}
    told = format_pairs(pd.DataFrame([pair]), 0.05)
    assert told.splitlines()[1].split()[-2:] == ["0.04998", "0.05002"]
