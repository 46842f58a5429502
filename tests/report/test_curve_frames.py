"""Curves of a study by learner."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_curve

from fairtrial.report.figures.study_curves import collect_curve_frames
from fairtrial.report.sections.curves import reduce_curve_points
from fairtrial.report.selection import Selection, choose_positive_class, count_tested_classes, get_main_condition
from tests.report.result_cases import cases, real_results


def facts_of(results, name):
    return next(each for each in results.archive.datasets if each.name == name)


def test_of_two_classes_the_second_in_sorted_order_and_of_more_the_rarest():
    results = cases()["several"]
    assert choose_positive_class(results, facts_of(results, "cancer")) == "malignant"
    wine = facts_of(results, "wine")
    assert choose_positive_class(results, wine) == wine.classes[int(np.argmin(wine.counts))]


def test_a_declared_class_counts():
    results = real_results(declaration={"data": {"cancer": {"positive": "benign"}}})
    assert choose_positive_class(results, facts_of(results, "cancer")) == "benign"


def test_without_a_class_two_class_curves_are_those_of_the_results():
    results = cases()["two classes"]
    expected = results.curves("roc", learner="tree").drop(columns="learner")
    pd.testing.assert_frame_equal(collect_curve_frames(results, "roc", Selection())["tree"], expected)


def test_the_curve_of_many_classes_is_the_rarest_against_the_rest():
    results = cases()["many classes"]
    label = choose_positive_class(results, results.archive.datasets[0])
    trials = results.trials()
    own = trials[(trials["learner"] == "bayes") & (trials["condition"] == "clean")]
    found = list(results.archive.predictions(own["trial"].tolist()))
    place = results.archive.datasets[0].classes.index(label)
    truth = np.concatenate([one.y_true == place for one in found])
    scores = np.concatenate([one.scores[:, place] for one in found])
    fpr, tpr, _ = roc_curve(truth, scores, drop_intermediate=False)
    frame = collect_curve_frames(results, "roc", Selection())["bayes"]
    assert np.allclose(frame[["fpr", "tpr"]], np.column_stack([fpr, tpr]))


def test_rows_tested_are_counted_in_the_first_repeat():
    results = real_results(names=["cancer"], repeats=2)
    facts = results.archive.datasets[0]
    malignant = int(facts.counts[facts.classes.index("malignant")])
    assert count_tested_classes(results, facts, get_main_condition(results), "malignant") == (
        malignant,
        len(facts.codes) - malignant,
    )


@pytest.mark.parametrize("peak", ["", "y"])
def test_thin_curves_keep_their_ends_and_their_peak(peak):
    x = np.linspace(0, 1, 10_001)
    frame = pd.DataFrame({"x": x, "y": np.where(np.arange(len(x)) == 5003, 9.0, 0.0)})
    thin = reduce_curve_points({"a": frame}, ["x"], peak=peak)["a"]
    assert 100 < len(thin) <= 162
    assert thin["x"].iloc[[0, -1]].tolist() == [0, 1]
    assert (thin["y"] == 9).any() == bool(peak)
