"""Figures of more learners and levels."""

import pandas as pd
import pytest

from fairtrial.data import load
from fairtrial.report.figures.robustness import draw_losses
from fairtrial.reproduce.ela.curve_figures import FEW, GROUPS, curve_figures, draw_all, shown_groups
from fairtrial.reproduce.ela.curves import noise_curves
from fairtrial.reproduce.ela.sets import Sets, declared


def test_groups_hold_all_learners_and_at_most_six_each():
    assert {name for names in GROUPS.values() for name in names} == set(declared("curves")["learners"])
    assert all(len(names) <= 6 for names in GROUPS.values())
    assert shown_groups(list(FEW)) == {next(iter(GROUPS)): list(FEW)}


@pytest.mark.parametrize("levels", [(0.1, 0.3, 0.5), (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)])
@pytest.mark.parametrize("names", GROUPS.values(), ids=GROUPS)
def test_points_of_a_group_stand_inside_the_frame(names, levels):
    lines = [(level, name, 0.1, 0.0, 0.2) for name in names for level in levels]
    frame = pd.DataFrame(lines, columns=["level", "learner", "rla", "rla_low", "rla_high"])
    chart = draw_losses(frame, which="rla").to_dict()
    low, high = chart["hconcat"][0]["layer"][0]["encoding"]["x"]["scale"]["domain"]
    places = [row["place"] for rows in chart["datasets"].values() for row in rows]
    assert len(places) >= len(lines)
    assert all(low <= place <= high for place in places)


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
