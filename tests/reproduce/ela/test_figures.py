"""Figures beside the paper."""

import pandas as pd

from fairtrial.reproduce.ela.cells import their_cells
from fairtrial.reproduce.ela.figures import draw_agreement, draw_distances
from fairtrial.reproduce.ela.tables import compared


def test_a_panel_for_each_learner_a_point_for_each_set_and_noise(printed, shifted):
    chart = draw_agreement(compared(printed, their_cells()), compared(shifted, their_cells())).to_dict()
    assert [panel["title"]["text"] for panel in chart["hconcat"]] == ["C4.5", "SVM, logistic models", "SVM, votes"]
    points = chart["datasets"][chart["hconcat"][0]["layer"][2]["data"]["name"]]
    assert len(points) == 32 * 3
    iris = {point["noise"]: point for point in points if point["dataset"] == "iris"}
    assert iris["10 %, any class"]["ours"] == iris["10 %, another class"]["ours"] + 2
    assert iris["no noise"]["bottom"] < iris["no noise"]["ours"] < iris["no noise"]["top"]


def test_variants_stand_in_their_order():
    frame = pd.DataFrame({"variant": ["b", "a"], "mean distance": [1.0, 2.0], "low": [0.5, 1.0], "high": [1.5, 3.0]})
    assert draw_distances(frame).to_dict()["layer"][0]["encoding"]["y"]["sort"] == ["b", "a"]
