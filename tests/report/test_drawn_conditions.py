"""Figures of noise and drift by name."""

import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.report.figures.registry import draw
from fairtrial.study.archive import ConditionFacts
from tests.report.drifting import drifting
from tests.report.result_cases import cases, skilled_results
from tests.study.archives import CLEAN


def rows_of(chart):
    return pd.DataFrame(max(chart.to_dict()["datasets"].values(), key=len))


def test_noise_shows_the_measure_at_every_level():
    results = cases()["several"]
    rows = rows_of(draw(results, "noise", measure="balanced_accuracy", dataset="wine"))
    for level, condition in ((0.0, "clean"), (0.2, "class-noise")):
        own = rows[rows["level"] == level].set_index("learner")["value"]
        assert own.to_dict() == pytest.approx(results.wide("balanced_accuracy", condition, level).loc["wine"].to_dict())


@pytest.mark.parametrize("name", ["rla", "ela"])
def test_losses_are_those_of_the_results(name):
    results = cases()["several"]
    for dataset, by in ((None, "all"), ("iris", "dataset")):
        expected = results.robustness(by=by)
        expected = expected if dataset is None else expected[expected["dataset"] == dataset]
        found = rows_of(draw(results, name, dataset=dataset)).set_index("learner")["value"]
        assert found.to_dict() == pytest.approx(dict(zip(expected["learner"], expected[name], strict=True)))


def test_the_surface_holds_clean_and_noisy_means():
    chart = draw(cases()["two classes"], "loss-surface").to_dict()
    points = next(pd.DataFrame(rows) for rows in chart["datasets"].values() if "learner" in rows[0])
    expected = cases()["two classes"].robustness().set_index("learner")
    noisy = points[points["level"] > 0].set_index("learner")
    assert noisy["noisy"].to_dict() == pytest.approx(expected["noisy"].to_dict())


def test_deterioration_is_drawn_by_condition():
    chart = draw(drifting(), "deterioration", condition="worn", value="loss")
    expected = drifting().deterioration()
    assert sorted(rows_of(chart)["loss"]) == pytest.approx(sorted(expected["loss"]))
    with pytest.raises(InputError, match="did you mean 'worn'"):
        draw(drifting(), "deterioration", condition="won")


def test_which_condition_must_be_clear():
    with pytest.raises(InputError, match="condition must be given"):
        draw(drifting(), "noise")
    with pytest.raises(InputError, match="clean"):
        draw(cases()["apart"], "rla")
    with pytest.raises(InputError, match="did you mean 'iris'"):
        draw(cases()["several"], "ela", dataset="irs")
    with pytest.raises(InputError, match="did you mean 'class-noise'"):
        draw(cases()["several"], "ela", condition="class-nois")


def test_a_condition_without_levels_has_none_in_its_title():
    moved = ConditionFacts("moved", 1.0, "", {"condition": "prior-shift", "priors": [0.2, 0.8], "part": "test"})
    results = skilled_results({"a": {"clean": 0.9, "moved": 0.7}}, sets=2, conditions=(CLEAN, moved))
    chart = draw(results, "deterioration", value="loss").to_dict()
    assert [panel["title"]["text"] for panel in chart["vconcat"]] == ["moved"]
