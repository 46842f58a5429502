"""Means with intervals agree with scipy's t interval, the corrected t test and scikit-learn."""

import numpy as np
import pytest
from scipy.stats import sem, t
from sklearn.metrics import accuracy_score

from fairtrial.report.means import average_by_dataset, average_over_datasets, compute_scores
from fairtrial.significance.resampled import corrected_resampled_t
from fairtrial.study.results.selection import mask_condition
from tests.report.result_cases import cases, few_learners, skilled_results


def values_of(results, dataset, learner, condition="clean"):
    """Accuracies of the splits from the predictions themselves."""
    trials = results.trials()
    own = trials[(trials["dataset"] == dataset) & (trials["learner"] == learner) & (trials["condition"] == condition)]
    return np.array([accuracy_score(one.y_true, one.prediction) for one in results.archive.predictions(own["trial"].tolist())])


def line_of(frame, **wanted):
    for name, value in wanted.items():
        frame = frame[frame[name] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def test_the_interval_of_a_data_set_is_that_of_the_corrected_t_test_against_zero():
    results = few_learners(["bayes", "tree"])
    frame = average_by_dataset(results, compute_scores(results, ["accuracy"])[0])
    assert len(frame) == 3 * 2 * 2
    line = line_of(frame, dataset="wine", learner="tree", condition="clean")
    values = values_of(results, "wine", "tree")
    effect = corrected_resampled_t(values, np.zeros(5), test_fraction=0.2).effect
    assert (line["mean"], line["low"], line["high"]) == pytest.approx((values.mean(), effect.low, min(effect.high, 1.0)))
    assert line["splits"] == 5


def test_the_interval_over_data_sets_is_student_s():
    results = skilled_results({"fair": 0.7, "poor": 0.55}, sets=4)
    means = average_over_datasets(results, average_by_dataset(results, compute_scores(results, ["accuracy"])[0]))
    each = np.array([values_of(results, f"set{i}", "fair").mean() for i in range(4)])
    low, high = t.interval(0.95, 3, loc=each.mean(), scale=sem(each))
    line = line_of(means, learner="fair")
    assert (line["mean"], line["low"], line["high"]) == pytest.approx((each.mean(), low, high))
    assert line["data sets"] == 4


def test_with_one_data_set_the_interval_is_that_over_its_splits():
    results = cases()["many classes"]
    sets = average_by_dataset(results, compute_scores(results, ["accuracy"])[0])
    means = average_over_datasets(results, sets)
    both = line_of(means, learner="near", condition="clean"), line_of(sets, learner="near", condition="clean")
    assert [both[0][name] for name in ("mean", "low", "high")] == [both[1][name] for name in ("mean", "low", "high")]


def test_a_failed_trial_leaves_no_mean_and_its_data_set_is_left_out_of_the_mean_of_means():
    results = cases()["failures"]
    sets = average_by_dataset(results, compute_scores(results, ["accuracy"])[0])
    line = line_of(sets, dataset="iris", learner="tree", condition="clean")
    assert np.isnan([line["mean"], line["low"], line["high"]]).all()
    assert line["splits"] == 0
    for learner in ("tree", "bayes"):  # a split that one learner lacks counts for none
        assert line_of(sets, dataset="wine", learner=learner, condition="clean")["splits"] == 4
    means = average_over_datasets(results, sets)
    assert line_of(means, learner="tree", condition="clean")["data sets"] == 2
    assert line_of(means, learner="bayes", condition="clean")["data sets"] == 3


@pytest.mark.parametrize("name", ["several", "failures"])
def test_means_of_data_sets_are_those_of_the_wide_table(name):
    results = cases()[name]
    sets = average_by_dataset(results, compute_scores(results, ["accuracy"])[0])
    for condition in results.archive.conditions:
        own = sets[mask_condition(sets, condition)].pivot(index="dataset", columns="learner", values="mean")
        wide = results.wide("accuracy", condition.name, condition.level)
        own = own.reindex(index=wide.index, columns=wide.columns)
        np.testing.assert_allclose(own.to_numpy(float), wide.to_numpy(float), rtol=0, atol=1e-12)


def test_measures_that_cannot_be_computed_are_named_and_the_others_are_there():
    results = few_learners(["ridge"], ["iris"])
    frame, findings = compute_scores(results, ["accuracy", "rla", "brier"])
    assert set(frame["measure"]) == {"accuracy", "brier"}
    assert [(finding.kind, finding["measure"]) for finding in findings] == [
        ("measure_unavailable", "rla"),
        ("undefined_scores", "brier"),
    ]
    assert (findings[1]["undefined"], findings[1]["trials"]) == (10, 10)
    assert frame.loc[frame["measure"] == "brier", "value"].isna().all()


def test_infinite_scores_have_an_infinite_mean_and_no_interval():
    results = few_learners(["tree"], ["iris", "wine"])
    means = average_over_datasets(results, average_by_dataset(results, compute_scores(results, ["log_loss"])[0]))
    line = line_of(means, condition="clean")
    assert np.isinf(line["mean"])
    assert np.isnan([line["low"], line["high"]]).all()
