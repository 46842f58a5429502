import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.report.figures.environments import draw_environments
from fairtrial.report.files import save

FRAME = pd.DataFrame(
    [
        ("tree", "a", "a", 0.0, 0.1, 0),
        ("tree", "a", "b", -0.001, 0.2, 0),
        ("tree", "b", "a", np.nan, np.nan, 30),
        ("tree", "b", "b", np.nan, 0.4, 0),
        ("line", "a", "a", 0.0, 0.1, 0),
        ("line", "a", "b", 0.724, 0.3, 1),
    ],
    columns=["learner", "trained_on", "tested_on", "pd", "error", "failures"],
).assign(
    pd_low=0.0,
    pd_high=0.1,
    error_low=0.1,
    error_high=0.2,
    ideal=0.1,
    trivial=0.4,
    replicates=lambda frame: 30 - frame["failures"],
)


def cells(chart):
    drawn = chart.to_dict()
    return [row for panel in drawn["concat"] for row in drawn["datasets"][panel["data"]["name"]]]


def test_a_panel_for_each_learner_and_words_in_each_cell():
    chart = draw_environments(FRAME)
    assert [panel["title"]["text"] for panel in chart.to_dict()["concat"]] == ["tree", "line"]
    told = [(row["label"], row["rate"]) for row in cells(chart)]
    assert told == [
        ("0.00", "10.0 %"),
        ("0.00", "20.0 %"),
        ("failed", "no result"),
        ("undefined", "40.0 %"),
        ("0.00", "10.0 %"),
        ("0.72", "30.0 %"),
    ]


def test_tooltips_show_raw_errors():
    fields = [each["field"] for each in draw_environments(FRAME).to_dict()["concat"][0]["layer"][0]["encoding"]["tooltip"]]
    assert {"error", "error_low", "error_high", "ideal", "trivial", "pd", "pd_low", "pd_high", "replicates", "failures"} <= set(
        fields
    )


def test_axes_are_in_the_order_of_the_run():
    encoding = draw_environments(FRAME).to_dict()["concat"][0]["layer"][0]["encoding"]
    assert encoding["x"]["sort"] == ["a", "b"]
    assert encoding["y"]["sort"] == ["a", "b"]
    assert (encoding["x"]["title"], encoding["y"]["title"]) == ("Tested on", "Trained on")


def test_it_becomes_a_file(tmp_path):
    assert "Tested on" in save(draw_environments(FRAME, columns=1), tmp_path / "x.svg").read_text()


def test_wrong_input_is_named():
    with pytest.raises(InputError, match="column 'pd'"):
        draw_environments(FRAME.drop(columns="pd"))
    with pytest.raises(InputError, match="columns must be at least 1"):
        draw_environments(FRAME, columns=0)
    with pytest.raises(InputError, match="at least 1 row"):
        draw_environments(FRAME.iloc[:0])
