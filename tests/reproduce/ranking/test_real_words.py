"""Words say what the tables say."""

import pandas as pd

from fairtrial.reproduce.ranking.cells import CHOSEN, OTHERS
from fairtrial.reproduce.ranking.real_tables import cells_beside, readings_table
from fairtrial.reproduce.ranking.real_words import real_words
from tests.reproduce.ranking.test_real_tables import PRINTED, as_printed, made


def told(outcomes, repeats=1000):
    readings = readings_table({CHOSEN: outcomes})
    return " ".join(real_words(cells_beside(outcomes), readings, repeats, 10))


def test_full_agreement():
    text = told([as_printed(experiment, dataset) for experiment, dataset in PRINTED.index])
    assert "240 of 240 cells lie within sampling error of the paper, 0 do not" in text
    assert "This meets the target of this reproduction, three in four (180 of 240)." in text
    assert "Cylinder:" not in text
    assert "House:" not in text
    assert "cannot tell" not in text


def test_misses_are_told_with_their_places():
    outcomes = [made(experiment, "Cylinder", [0, 0, 0, 0, 0, 0], repeats=400) for experiment in (1, 2, 3, 4)]
    text = told(outcomes, 400)
    assert "Cylinder: sAUC differs in 4 of 4 experiments (0.00 to 0.00 % here, 2.50 to 7.90 % published)" in text
    assert "in 0 of them the error here is the higher one" in text
    assert "With 400 repeats, fewer than the paper's 1,000" in text
    assert "cannot tell whether the target of this reproduction, three in four (18 of 24) is met" in text
    assert "This meets" not in text
    assert "This misses" not in text
    assert "was tried" not in text
    poor = told([made(1, "Liver", [0] * 6)])
    assert "0 of 6 cells" in poor
    assert "This misses the target" in poor


def test_the_line_of_house_is_held_against_experiment_1():
    outcomes = [as_printed(1, "House"), made(2, "House", [0] * 6)]
    text = told(outcomes)
    assert "agrees with ours of #2 in 3 of 6 cells, and with ours of experiment #1 in 6 of 6" in text


def test_other_readings_name_the_nearest():
    cells = cells_beside([as_printed(1, "Pima")])
    lines = [(CHOSEN.words, 4, 6, 1.0, 2.0), (OTHERS[0].words, 3, 6, 1.0, 2.0), (OTHERS[1].words, 5, 6, 1.0, 2.0)]
    readings = pd.DataFrame(lines, columns=["reading", "within", "of", "mean distance", "largest distance"])
    assert "within sampling error is: stratified folds (5 of 6 cells, against 4)" in " ".join(
        real_words(cells, readings, 1000, 1)
    )
