"""Mean scores by level."""

import numpy as np
import pytest
from scipy.stats import t

from fairtrial.report.means import compute_level_means, compute_test_fraction
from tests.report.result_cases import cases, real_results


def test_over_data_sets_it_is_students_interval_of_the_means():
    results = cases()["several"]
    conditions = results.archive.conditions
    frame = compute_level_means(results, conditions).set_index(["level", "learner"])
    values = results.wide("accuracy", "class-noise", 0.2)["tree"].to_numpy()
    low, high = t.interval(0.95, 2, values.mean(), values.std(ddof=1) / np.sqrt(3))
    line = frame.loc[(0.2, "tree")]
    assert line["mean"] == pytest.approx(values.mean())
    assert (line["low"], line["high"]) == (pytest.approx(max(low, 0)), pytest.approx(min(high, 1)))
    assert line["datasets"] == 3


def test_on_one_data_set_the_overlap_of_splits_widens_it():
    results = cases()["several"]
    frame = compute_level_means(results, results.archive.conditions[:1], dataset="wine").set_index("learner")
    scores = results.scores("accuracy")
    own = scores[(scores["dataset"] == "wine") & (scores["condition"] == "clean") & (scores["learner"] == "near")]["value"]
    # 5 folds test on a fifth of the rows: the variance is that of the values times 1/5 + (1/5) / (4/5)
    half = t.ppf(0.975, 4) * np.sqrt((0.2 + 0.25) * own.var(ddof=1))
    assert frame.loc["near", "high"] - frame.loc["near", "mean"] == pytest.approx(half)
    assert frame.loc["near", "splits"] == 5


def test_means_are_of_the_data_sets_that_all_have():
    results = cases()["failures"]
    frame = compute_level_means(results, results.archive.conditions)
    assert frame["datasets"].unique().tolist() == [2]
    table = results.wide("accuracy").loc[["wine", "cancer"], "bayes"]
    own = frame[(frame["learner"] == "bayes") & (frame["level"] == 0)]
    assert own["mean"].item() == pytest.approx(table.mean())


def test_nothing_is_undefined_where_nothing_ran():
    results = cases()["all failed"]
    assert compute_level_means(results, results.archive.conditions)["mean"].isna().all()
    assert compute_level_means(results, results.archive.conditions, dataset="iris")[["mean", "low"]].isna().all(axis=None)


def test_shares_of_no_split_are_unknown():
    results = real_results()
    assert np.isnan(compute_test_fraction(results, "iris", []))
    assert compute_test_fraction(results, "iris", [(0, 0)]) == pytest.approx(0.2)
