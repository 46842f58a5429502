"""Confusion tables of a study."""

import numpy as np
from sklearn.metrics import confusion_matrix

from fairtrial.report.confusion_tables import confusion_tables
from fairtrial.report.places import main_condition
from tests.report.result_cases import cases, real_results, skilled_results


def test_tables_are_those_of_all_test_rows():
    results = cases()["several"]
    found = confusion_tables(results, main_condition(results))
    trials = results.trials()
    own = trials[(trials["dataset"] == "wine") & (trials["learner"] == "near") & (trials["condition"] == "clean")]
    rows = list(results.archive.predictions(own["trial"].tolist()))
    expected = confusion_matrix(*(np.concatenate([getattr(one, name) for one in rows]) for name in ("truth", "prediction")))
    assert np.array_equal(found.tables["near"][found.datasets.index("wine")], expected)
    assert found.datasets == ("iris", "wine", "cancer")


def test_data_sets_with_holes_are_left_out_and_named():
    results = cases()["failures"]
    found = confusion_tables(results, main_condition(results))
    assert (found.datasets, found.datasets_left_out) == (("cancer",), ("iris", "wine"))


def test_learners_that_never_ran_are_left_out_first():
    results = real_results(lambda _data, _condition, learner, *_: "missing" if learner == "tree" else None)
    found = confusion_tables(results, main_condition(results))
    assert (list(found.tables), found.learners_left_out, found.datasets_left_out) == (["bayes", "ridge", "near"], ("tree",), ())


def test_a_learner_called_ideal_does_not_take_its_place():
    results = skilled_results({"Ideal": 0.9, "other": 0.8}, sets=1)
    assert list(confusion_tables(results, main_condition(results)).tables) == ["Ideal (learner)", "other"]


def test_nothing_ran_nothing_is_given():
    results = cases()["all failed"]
    assert confusion_tables(results, main_condition(results)).tables == {}
