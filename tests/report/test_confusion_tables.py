"""Confusion tables of a study."""

import numpy as np
from sklearn.metrics import confusion_matrix

from fairtrial.report.figures.projection import compute_confusion_tables
from fairtrial.report.selection import get_main_condition
from tests.report.result_cases import _some_abstain, cases, real_results, skilled_results


def test_tables_are_those_of_all_test_rows():
    results = cases()["several"]
    found = compute_confusion_tables(results, get_main_condition(results))
    trials = results.trials()
    own = trials[(trials["dataset"] == "wine") & (trials["learner"] == "near") & (trials["condition"] == "clean")]
    rows = list(results.archive.predictions(own["trial"].tolist()))
    expected = confusion_matrix(*(np.concatenate([getattr(one, name) for one in rows]) for name in ("y_true", "prediction")))
    assert np.array_equal(found.tables["near"][found.datasets.index("wine")], expected)
    assert found.datasets == ("iris", "wine", "cancer")


def test_data_sets_with_holes_are_left_out_and_named():
    results = cases()["failures"]
    found = compute_confusion_tables(results, get_main_condition(results))
    assert (found.datasets, found.datasets_left_out) == (("cancer",), ("iris", "wine"))


def test_learners_that_never_ran_are_left_out_first():
    results = real_results(lambda _data, _condition, learner, *_: "missing" if learner == "tree" else None)
    found = compute_confusion_tables(results, get_main_condition(results))
    assert (list(found.tables), found.learners_left_out, found.datasets_left_out) == (["bayes", "ridge", "near"], ("tree",), ())


def test_a_learner_called_ideal_does_not_take_its_place():
    results = skilled_results({"Ideal": 0.9, "other": 0.8}, sets=1)
    assert list(compute_confusion_tables(results, get_main_condition(results)).tables) == ["Ideal (learner)", "other"]


def test_nothing_ran_nothing_is_given():
    results = cases()["all failed"]
    assert compute_confusion_tables(results, get_main_condition(results)).tables == {}


def test_abstentions_are_a_further_label_of_all_learners():
    results = cases()["abstaining"]
    found = compute_confusion_tables(results, get_main_condition(results))
    trials = results.trials()
    own = trials[(trials["dataset"] == "wine") & (trials["learner"] == "near") & (trials["condition"] == "clean")]
    rows = list(results.archive.predictions(own["trial"].tolist()))
    truth, said = (np.concatenate([getattr(one, name) for one in rows]) for name in ("y_true", "prediction"))
    expected = confusion_matrix(truth, np.where(said < 0, 3, said), labels=[0, 1, 2, 3])
    assert expected[:, 3].sum() == 24
    assert np.array_equal(found.tables["near"][found.datasets.index("wine")], expected)
    plain = compute_confusion_tables(cases()["several"], get_main_condition(results)).tables["tree"]
    for wide, table in zip(found.tables["tree"], plain, strict=True):
        assert np.array_equal(wide, np.pad(table, (0, 1)))


def test_only_data_sets_with_abstentions_have_the_further_label():
    def on_iris(dataset, *rest):
        return _some_abstain(dataset, *rest) if dataset == "iris" else None

    results = real_results(on_iris)
    found = compute_confusion_tables(results, get_main_condition(results))
    assert [table.shape for table in found.tables["tree"]] == [(4, 4), (3, 3), (2, 2)]
