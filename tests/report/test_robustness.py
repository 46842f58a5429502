"""Figures of scores and losses over levels."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.report.figures.robustness import draw_levels, draw_losses


def frame():
    lines = [(level, name, 0.9 - level * slope, 0.8, 1.0) for level in (0.0, 0.1, 0.3) for name, slope in (("a", 1), ("b", 2))]
    return pd.DataFrame(lines, columns=["level", "learner", "mean", "low", "high"])


def rows_of(chart):
    return max(chart["datasets"].values(), key=len)


def test_each_level_has_a_point_for_each_learner_and_ticks_at_levels_alone():
    chart = draw_levels(frame(), axis_title="AUC").to_dict()
    rows = rows_of(chart)
    assert {(row["level"], row["learner"], row["value"]) for row in rows} == set(
        frame()[["level", "learner", "mean"]].itertuples(index=False, name=None)
    )
    x = chart["layer"][0]["encoding"]["x"]
    assert x["axis"]["values"] == [0.0, 0.1, 0.3]
    assert chart["layer"][1]["encoding"]["y"]["title"] == "AUC"


def test_learners_stand_apart_but_nearer_to_their_own_level_than_to_any_other():
    many = pd.concat([frame().assign(learner=f"l{i}") for i in range(12)])
    for row in rows_of(draw_levels(many).to_dict()):
        assert abs(row["position"] - row["level"]) < 0.05


def test_holes_are_left_out():
    holed = frame().assign(mean=[np.nan, 0.9, 0.8, 0.7, 0.6, 0.5])
    assert len(rows_of(draw_levels(holed).to_dict())) == 5


def test_without_intervals_the_figure_says_so():
    chart = draw_levels(frame().assign(low=np.nan, high=np.nan)).to_dict()
    assert chart["title"]["subtitle"] == ["No intervals: each has a single score"]


def losses():
    return (
        frame().rename(columns={"mean": "rla", "low": "rla_low", "high": "rla_high"}).assign(ela=0.3, ela_low=0.1, ela_high=0.5)
    )


def test_losses_stand_side_by_side():
    chart = draw_losses(losses()).to_dict()
    assert [panel["title"]["text"][-4:-1] for panel in chart["hconcat"]] == ["RLA", "ELA"]
    assert len(draw_losses(losses(), which="ela").to_dict()["hconcat"]) == 1


def test_a_missing_column_is_named():
    with pytest.raises(InputError, match="'rla_low'"):
        draw_losses(losses().drop(columns="rla_low"))


def test_learners_stand_apart_though_a_level_carries_float_noise():
    noisy = frame()
    noisy.loc[noisy["learner"] == "b", "level"] += [0.0, 2e-17, 1e-16]
    rows = max(draw_levels(noisy).to_dict()["datasets"].values(), key=len)
    places = sorted({row["position"] for row in rows})
    assert len(places) == 6
    assert np.diff(places).min() > 1e-3
