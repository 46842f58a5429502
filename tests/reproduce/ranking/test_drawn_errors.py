"""Figures hold all measures and points."""

import pandas as pd

from fairtrial.reproduce.ranking.curves import NOISES, curves
from fairtrial.reproduce.ranking.drawn_errors import draw_agreement, draw_curve, draw_means
from fairtrial.reproduce.ranking.measure_words import MEASURES, WORDS
from fairtrial.reproduce.ranking.real_tables import EXPERIMENTS


def rows(chart):
    return [row for each in chart.to_dict()["datasets"].values() for row in each]


def test_a_line_for_each_measure():
    curve = curves(NOISES[:1], step=50, pairs=40, seed=1, jobs=1, progress=False)[0]
    drawn = rows(draw_curve(curve, 4))
    assert {row["learner"] for row in drawn} == set(WORDS.values())
    assert {row["level"] for row in drawn} == {0, 50, 100}


def test_a_point_for_each_cell():
    lines = [(1, "Sonar", each, 10.0 + i, 9.0, 8.0, 12.0) for i, each in enumerate(MEASURES)]
    cells = pd.DataFrame(lines, columns=["experiment", "dataset", "measure", "ours", "published", "lowest", "highest"])
    assert {row["ours"] for row in rows(draw_agreement(cells, 100)) if "dataset" in row} == {10.0, 11.0, 12.0, 13.0, 14.0, 15.0}


def test_a_panel_for_each_experiment():
    lines = [(words, each, 5.0, 4.0, 6.0, 5.5) for words in EXPERIMENTS.values() for each in MEASURES]
    means = pd.DataFrame(lines, columns=["experiment", "measure", "value", "low", "high", "published"])
    text = draw_means(means).to_json()
    assert all(words in text for words in EXPERIMENTS.values())


def test_what_joined_is_drawn_with_the_means():
    lines = [(words, each, 5.0, 4.0, 6.0, 5.5) for words in EXPERIMENTS.values() for each in MEASURES]
    lines += [(words, "package.mine", 7.0, 6.0, 8.0, float("nan")) for words in EXPERIMENTS.values()]
    means = pd.DataFrame(lines, columns=["experiment", "measure", "value", "low", "high", "published"])
    drawn = [row for row in rows(draw_means(means)) if row["learner"] == "package.mine"]
    assert [row["value"] for row in drawn] == [7.0] * 4
    assert all(row["published"] is None for row in drawn)
