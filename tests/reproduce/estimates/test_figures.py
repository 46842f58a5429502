import pandas as pd
import pytest

from fairtrial.reproduce.estimates.figures import _SHOWN, draw_by_rows, draw_coverage, draw_ensembles

LINES = [
    {"problem": problem, "n": n, "learner": "C4.5", "method": method, "bias": bias, "rmse": 0.1, "coverage": 0.9}
    for n in (25, 50)
    for method, bias in (("10-fold", 0.02), (".632", -0.04))
    for problem in ("p", "q")
]
ENSEMBLES = [{"problem": "p", "learner": "C4.5", "noise": 0.1, "bias": -0.001, "variance": 0.05}]


def values(chart):
    return [row for each in chart.to_dict()["datasets"].values() for row in each]


def test_means_over_problems_in_points():
    rows = values(draw_by_rows(pd.DataFrame(LINES), "bias", "title", "words"))
    assert len(rows) == 4
    assert [row["value"] for row in rows if row["method"] == ".632"] == pytest.approx([-4.0, -4.0])


def test_each_line_has_a_colour_of_its_own():
    lines = [{"n": n, "learner": "C4.5", "method": each, "bias": 0.1} for n in (25, 50) for each in _SHOWN]
    drawn = draw_by_rows(pd.DataFrame(lines), "bias", "title", "words").to_dict()
    colours = next(each["encoding"]["color"]["scale"] for each in drawn["spec"]["layer"] if "color" in each["encoding"])
    assert colours["domain"] == list(_SHOWN)
    assert len(set(colours["range"])) == len(_SHOWN)


def test_coverage_in_per_cent_with_the_nominal_line():
    chart = draw_coverage(pd.DataFrame(LINES)).to_dict()
    rows = [row for each in chart["datasets"].values() for row in each]
    assert sorted({row["value"] for row in rows}) == [90.0, 95]


def test_no_bar_goes_below_nothing():
    rows = values(draw_ensembles(pd.DataFrame(ENSEMBLES)))
    assert {row["part"]: row["value"] for row in rows} == {"noise": 10.0, "bias": 0.0, "variance": 5.0}
