"""Figures: their data, order and frames."""

import pandas as pd
import pytest

from fairtrial.report.figures.robustness import draw_losses
from fairtrial.reproduce.ela.figures import (
    LEARNER_GROUPS,
    MAIN_LEARNERS,
    draw_agreement,
    draw_curves,
    draw_distances,
    draw_ela_grid,
    select_groups,
)
from fairtrial.reproduce.ela.tables import TableCells
from fairtrial.reproduce.experiment import read_study_file


def test_agreement_has_a_panel_per_learner_and_a_point_per_data_set_and_noise(published_cells, shifted_cells):
    chart = draw_agreement(TableCells(published_cells, shifted_cells)).to_dict()
    assert [panel["title"]["text"] for panel in chart["hconcat"]] == ["C4.5", "SVM, logistic models", "SVM, votes"]
    points = chart["datasets"][chart["hconcat"][0]["layer"][2]["data"]["name"]]
    assert len(points) == 32 * 3
    iris = {point["noise"]: point for point in points if point["dataset"] == "iris"}
    assert iris["10 %, any class"]["ours"] == iris["10 %, another class"]["ours"] + 2
    assert iris["no noise"]["bottom"] < iris["no noise"]["ours"] < iris["no noise"]["top"]


def test_variants_keep_their_order():
    frame = pd.DataFrame({"variant": ["b", "a"], "mean distance": [1.0, 2.0], "low": [0.5, 1.0], "high": [1.5, 3.0]})
    assert draw_distances(frame).to_dict()["layer"][0]["encoding"]["y"]["sort"] == ["b", "a"]


def test_groups_have_all_learners_and_at_most_six_each():
    grouped = {name for names in LEARNER_GROUPS.values() for name in names}
    assert grouped == set(read_study_file("ela", "curves")["learners"])
    assert all(len(names) <= 6 for names in LEARNER_GROUPS.values())
    assert select_groups(list(MAIN_LEARNERS)) == {next(iter(LEARNER_GROUPS)): list(MAIN_LEARNERS)}


@pytest.mark.parametrize("levels", [(0.1, 0.3, 0.5), (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)])
@pytest.mark.parametrize("names", LEARNER_GROUPS.values(), ids=LEARNER_GROUPS)
def test_points_of_a_group_lie_inside_the_frame(names, levels):
    rows = [(level, name, 0.1, 0.0, 0.2) for name in names for level in levels]
    frame = pd.DataFrame(rows, columns=["level", "learner", "rla", "rla_low", "rla_high"])
    chart = draw_losses(frame, which="rla").to_dict()
    encoding = chart["hconcat"][0]["layer"][0]["encoding"]["x"]
    low, high = encoding["scale"]["domain"]
    positions = [row[encoding["field"]] for records in chart["datasets"].values() for row in records]
    assert len(positions) >= len(rows)
    assert all(low <= position <= high for position in positions)


def test_all_curve_figures_are_drawn(curve_results):
    figures = draw_curves(curve_results)
    assert len(figures) == 4
    for chart in figures.values():
        assert "2 data sets" in str(chart.to_dict()["title"])


def test_rows_of_the_grid_are_sorted_by_mean_ela():
    losses = pd.DataFrame({"learner": ["a", "a", "b", "b"], "level": [0.1, 0.2] * 2, "ela": [0.5, 0.6, 0.1, 0.2]})
    chart = draw_ela_grid(losses, "mean of 2 data sets").to_dict()
    assert chart["layer"][0]["encoding"]["y"]["sort"] == ["b", "a"]
    assert [row["ela"] for row in chart["datasets"][chart["data"]["name"]]] == pytest.approx([0.5, 0.6, 0.1, 0.2])
