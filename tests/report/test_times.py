"""The figure of times."""

import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.report.figures.times import compute_learner_times, draw_times


def frame(**changes):
    lines = {"dataset": ["a", "b", "a", "b"], "learner": ["slow", "slow", "quick", "quick"], "fit_time": [2.0, 4.0, 0.0, 0.5]}
    rest = {"predict_time": 0.01, "fit_cpu": 1.0, "predict_cpu": 0.01, "memory": [2.0**20, 3 * 2.0**20, 2.0**21, 2.0**21]}
    return pd.DataFrame({**lines, **rest, **changes})


def test_medians_by_learner_the_fastest_first():
    found = compute_learner_times(frame())
    assert found["fit_time"].to_dict() == {"quick": 0.25, "slow": 3.0}
    assert found["datasets"].tolist() == [2, 2]


def test_panels_show_seconds_and_mebibytes_on_scales_that_hold_all():
    chart = draw_times(frame()).to_dict()
    assert [panel["layer"][0]["encoding"]["x"]["title"] for panel in chart["hconcat"]] == [
        "Fitting, seconds",
        "Predicting, seconds",
        "Memory, MiB",
    ]
    for panel in chart["hconcat"]:
        x = panel["layer"][0]["encoding"]["x"]
        values = [row[x["field"]] for row in chart["datasets"][panel["layer"][0]["data"]["name"]]]
        assert x["scale"]["domain"][0] <= min(values) <= max(values) <= x["scale"]["domain"][1]
    memory = chart["datasets"][chart["hconcat"][2]["layer"][0]["data"]["name"]]
    assert [row["memory"] for row in memory] == [1, 3, 2, 2]


def test_what_was_not_measured_has_no_panel():
    assert len(draw_times(frame(memory=0.0)).to_dict()["hconcat"]) == 2
    with pytest.raises(InputError, match="above 0"):
        draw_times(frame(memory=0.0, fit_time=0.0, predict_time=0.0))
