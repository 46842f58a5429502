"""The whole experiment and its figures."""

import re

import pytest

from fairtrial.reproduce.drift import experiment
from fairtrial.reproduce.drift.experiment import draw_figures, draw_overview, run
from fairtrial.reproduce.experiment import Request, experiments
from fairtrial.reproduce.page import write_page
from tests.reproduce.drift.conftest import make_results


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    return run(Request("smoke", tmp_path_factory.mktemp("drift")))


def test_the_whole_runs(smoke):
    assert not smoke.skipped
    assert len(smoke.claims) == 9
    assert len(smoke.frame("missing")) == 80
    assert smoke.frame("populations")["ours"].notna().sum() >= 28
    assert all(chart.to_dict() for chart in smoke.figures.values())


def test_nothing_is_judged_by_two_replicates(smoke):
    """The last two are about the tutorial's own numbers."""
    assert [claim.reproduced for claim in smoke.claims[:-2]] == [None] * 7
    assert not any(sign in smoke.claims[-3].details for sign in ("in 1,", "in 2,"))


def render(reproduction, folder):
    return write_page(experiments["drift"], Request("smoke", folder), reproduction, [1.0]).read_text()


def test_undefined_numbers_are_called_undefined(smoke, tmp_path):
    text = render(smoke, tmp_path)
    assert not re.search(r"\bnan\b", text)
    assert "Complex NN undefined" in text  # with so few patients a network may not beat the trivial classifier


def test_the_page_follows_the_numbers(monkeypatch, tmp_path):
    losses = {"1R": 0.01, "Decision Tree": 0.06, "Simple NN": 0.05, "Complex NN": 0.02}
    monkeypatch.setattr(experiment.simulation, "simulate", lambda plan, *_: make_results(losses, plan).matrices)
    text = render(run(Request("smoke", tmp_path)), tmp_path)
    assert "1R loses less than Decision Tree; Simple NN loses more than Complex NN" in text
    assert "0 of 6 such verdicts differ" in text
    assert "ours 40.0 %" in text


def test_a_panel_for_each_table_with_ours_and_theirs(results):
    chart = draw_overview({table: results.build_cells(table) for table in ("populations", "definitions")}).to_dict()
    assert len(chart["vconcat"]) == 2
    rows = [row for values in chart["datasets"].values() for row in values]
    line = next(row for row in rows if row["learner"] == "1R" and row["change"] == "W")
    assert (round(line["ours"], 6), line["published"]) == (0.4, 0.13)
    assert line["low"] < line["ours"] < line["high"]
    assert {"NGP to MC", "FC to NGP"} <= {row["change"] for row in rows}


def test_all_figures_are_charts(results):
    drawn = draw_figures(results)
    assert len(drawn) == 4
    assert all(chart.to_dict()["title"] for chart in drawn.values())
