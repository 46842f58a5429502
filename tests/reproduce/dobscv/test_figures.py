"""Figures hold what they show."""

from fairtrial.reproduce.dobscv.biases import biases
from fairtrial.reproduce.dobscv.figures import draw_biases, draw_differences
from tests.reproduce.dobscv.conftest import made_cells
from tests.reproduce.dobscv.test_biases import lines as lines


def test_a_point_for_each_set_and_learner(rising):
    drawn = draw_differences(rising).to_dict()
    rows = next(iter(drawn["datasets"].values()))
    assert len(rows) == 66 * 5
    assert rows[0]["value"] > 0
    assert len(drawn["spec"]["layer"]) == 3
    assert drawn["spec"]["layer"][1]["encoding"]["x"]["title"] == "imbalance ratio"


def test_no_line_through_a_few_points():
    drawn = draw_differences(made_cells(lambda *_: 0.8, names=["Glass1", "Ecoli4"])).to_dict()
    assert len(drawn["spec"]["layer"]) == 2


def test_biases_have_intervals(lines):
    found = biases(lines)
    drawn = draw_biases(found, column="fold_bias").to_dict()
    rows = next(iter(drawn["datasets"].values()))
    assert len(rows) == len(found)
    assert all(row["fold_bias_low"] <= row["fold_bias"] <= row["fold_bias_high"] for row in rows)
    assert "fold models" in drawn["title"]["subtitle"][0]
