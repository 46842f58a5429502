import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.measures import evaluate
from fairtrial.report.figures import base, curves


def test_thinning_keeps_the_ends_and_what_can_be_seen():
    x = np.concatenate([np.linspace(0, 1e-5, 1000), [0.5], np.linspace(0.99999, 1, 1000)])
    rows = base.collect_rows({"a": pd.DataFrame({"x": x, "y": x})}, ["x", "y"], thin=["x", "y"])
    assert [row["x"] for row in rows] == [0, pytest.approx(1e-5), 0.5, pytest.approx(0.99999), 1]
    assert [row["row"] for row in rows] == [0, 1, 2, 3, 4]


def test_thinning_looks_at_the_scale_of_the_data():
    y = np.array([0, 1e-6, 2e-6, 3e-6])
    rows = base.collect_rows({"a": pd.DataFrame({"x": np.zeros(4), "y": y})}, ["x", "y"], thin=["x", "y"])
    assert [row["y"] for row in rows] == y.tolist()


def test_thinning_moves_no_line_by_more_than_a_grid_step():
    rng = np.random.default_rng(0)
    x, y = np.sort(rng.uniform(size=100_000)), np.sort(rng.uniform(size=100_000))
    rows = pd.DataFrame(base.collect_rows({"a": pd.DataFrame({"x": x, "y": y})}, ["x", "y"], thin=["x", "y"]))
    assert len(rows) < 5000
    assert np.abs(np.interp(x, rows["x"], rows["y"]) - y).max() < 2e-3


def test_rows_hold_nothing_that_json_cannot():
    frame = pd.DataFrame({"threshold": [np.inf, np.nan, 0.123456], "x": [np.nan, np.inf, np.float32(1)], "n": [1, 2, 3]})
    rows = base.to_records(frame, ["threshold", "x", "n"])
    assert [row["threshold"] for row in rows] == ["above all scores", "undefined", "0.1235"]
    assert [row["x"] for row in rows] == [None, None, 1.0]


def test_highest_passes_over_holes():
    frames = {"a": pd.DataFrame({"x": [np.nan, 2.0]}), "b": pd.DataFrame({"x": [np.nan]})}
    assert curves.find_maximum(frames, "x") == 2
    assert curves.find_maximum({"b": frames["b"]}, "x") == 0


def test_results_and_frames_give_frames():
    found = evaluate([0, 1, 1, 0], [0, 1, 0, 0], measures=["accuracy"])
    pd.testing.assert_frame_equal(base.to_frame(found), found.frame())
    assert base.to_frame(found.frame()).index.tolist() == ["accuracy"]
    with pytest.raises(InputError, match="frame must be a frame or a result that has one, got NoneType"):
        base.to_frame(None)


def test_importing_the_figures_does_not_import_altair():
    modules = "fairtrial.report.figures.curves, fairtrial.report.files"
    code = f"import sys, {modules}; print('altair' in sys.modules, 'pandas' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.split() == ["False", "False"]
