"""Scores measured against changed classes are seen in the evidence."""

import numpy as np

from fairtrial.report.checks import registry
from fairtrial.study.archive import ConditionFacts
from tests.report.checks.made_results import halves, labelled
from tests.study.archives import CLEAN, Predictions, real_results

NOISE = ConditionFacts("class-noise", 0.25, "", {})


def swapped(_learner, truth, condition):
    """Under noise a quarter of the test rows have the other class."""
    wrong = np.arange(len(truth)) % 4 == 0 if condition.name == "class-noise" else np.zeros(len(truth), dtype=bool)
    return Predictions(None, np.where(wrong, 1 - truth, truth), truth, None, None)


def test_changed_classes_of_test_rows_are_counted():
    found = registry["FT017"](labelled([0, 0, 1, 1] * 10, halves(40), predict=swapped, conditions=(CLEAN, NOISE)))
    assert found.outcome == "raised"
    assert found.details.to_numpy().tolist() == [["class-noise 0.25", "made", 20, 5, 0.25]]


def test_noise_in_the_training_part_leaves_the_truth_as_it_is():
    assert registry["FT017"](real_results()).outcome == "passed"
    assert registry["FT017"](real_results(levels=(0.0,))).outcome == "not applicable"
