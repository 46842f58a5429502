"""Figures of more learners and levels."""

import pandas as pd
import pytest

from fairtrial.data import load
from fairtrial.reproduce.ela.curve_figures import FEW, curve_figures, draw_all
from fairtrial.reproduce.ela.curves import noise_curves
from fairtrial.reproduce.ela.sets import Sets, declared


def test_the_few_are_among_all():
    assert set(FEW) <= set(declared("curves")["learners"])


def test_all_figures_are_drawn(request_here):
    noisy = noise_curves(request_here, Sets({"iris": load("iris"), "wine": load("wine")}, {}, {}))
    figures = curve_figures(noisy)
    assert len(figures) == 4
    for chart in figures.values():
        assert "2 data sets" in str(chart.to_dict()["title"])


def test_rows_stand_in_the_order_of_mean_ela():
    losses = pd.DataFrame({"learner": ["a", "a", "b", "b"], "level": [0.1, 0.2] * 2, "ela": [0.5, 0.6, 0.1, 0.2]})
    chart = draw_all(losses, "mean of 2 data sets").to_dict()
    assert chart["layer"][0]["encoding"]["y"]["sort"] == ["b", "a"]
    assert [row["ela"] for row in chart["datasets"][chart["data"]["name"]]] == pytest.approx([0.5, 0.6, 0.1, 0.2])
