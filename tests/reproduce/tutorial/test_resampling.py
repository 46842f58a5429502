"""Resampling and the permutation test on Labour."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.dummy import DummyClassifier

from fairtrial.reproduce.experiment import Request
from fairtrial.reproduce.tutorial.resampling import (
    build_permutation,
    build_resampling,
    compute_majority_probability,
    compute_p_limits,
    compute_switched_accuracies,
    judge_permutation,
    judge_stratification,
)


@pytest.fixture(scope="module")
def resampling(labour, tmp_path_factory):
    return build_resampling(labour, Request("smoke", tmp_path_factory.mktemp("resampling")))


def test_e632_is_the_formula_of_the_tutorial(resampling, frame):
    errors = frame(resampling, "resampling_errors", "scheme")[["C4.5", "NB", "1NN"]]
    expected = 0.632 * errors.loc["bootstrap E0"] + 0.368 * errors.loc["resubstitution"]
    np.testing.assert_allclose(errors.loc["e632 (as in the tutorial)"], expected)
    assert errors.loc["resubstitution", "1NN"] == 0


def test_proportions_are_about_those_of_the_data(resampling, frame):
    proportions = frame(resampling, "resampling_shares", "scheme")
    stratified = proportions.loc["2-fold, stratified", ["lowest in test", "highest in test"]].tolist()
    assert stratified == pytest.approx([20 / 57] * 2, abs=0.02)
    assert proportions["splits"].tolist() == [2, 2, 10]


def test_figure_shows_every_variant(resampling):
    (chart,) = resampling.figures.values()
    assert len(chart.to_dict()["vconcat"]) == 5


def test_two_folds_do_not_judge_stratification(resampling):
    assert resampling.claims[0].reproduced is None
    proportions = pd.DataFrame({"lowest in test": [0.1, 0.3], "highest in test": [0.6, 0.4]})
    assert judge_stratification(proportions, 10).reproduced is True
    assert judge_stratification(proportions[::-1], 10).reproduced is False
    assert judge_stratification(proportions, 2).reproduced is None


def test_switched_labels_lose_the_class_proportions(labour):
    """The majority class by a coin has about half of the rows; in the data it has 37 of 57."""
    accuracies = compute_switched_accuracies(DummyClassifier(), labour, 40, 2, 1)
    assert len(accuracies) == 40
    assert 0.5 < np.mean(accuracies) < 0.6


def test_permutation_section(labour, tmp_path, frame):
    section = build_permutation(labour, Request("smoke", tmp_path))
    table = frame(section, "permutation", "learner")
    assert table.loc["majority class", "p, permuted"] == 1
    assert np.isclose(table.loc["majority class", "accuracy"], 37 / 57, atol=0.01)
    assert table.loc["NB", "p, permuted"] == section.values["least_p"] == 1 / 4
    assert [claim.reproduced for claim in section.claims] == [None, None]


@pytest.mark.parametrize(
    ("n_resamples", "p", "reproduced"),
    # the lowest p of n bogus data sets is 1 / (n + 1): with 19 it is 0.05 itself
    # 20 of 500 leave a p of 0.023 to 0.059 (Clopper and Pearson), which contains 0.05
    [
        (3, 0.25, [None, None]),
        (19, 0.05, [None, None]),
        (99, 0.01, [True, False]),
        (99, 0.4, [None, None]),
        (499, 0.04, [None, None]),
    ],
)
def test_claims_need_enough_bogus_data(n_resamples, p, reproduced):
    line = {"accuracy": 0.9, "p, permuted": p, "p, switched": p}
    claims = judge_permutation(line, line, n_resamples, 37, 57)
    assert [claim.reproduced for claim in claims] == reproduced
    assert "37 or more of 57 equal labels with probability 0.033" in claims[1].details


def test_interval_of_p_is_that_of_a_proportion():
    expected = stats.binomtest(19, 499).proportion_ci(0.95, method="exact")
    assert compute_p_limits(0.04, 499) == pytest.approx((expected.low, expected.high))


def test_equal_labels_are_counted_on_both_sides():
    """Of four coins three or more are equal in 2 x (4 + 1) of 16 ways."""
    assert compute_majority_probability(4, 3) == pytest.approx(10 / 16)
    # two-sided exact binomial test of 37 of 57
    assert compute_majority_probability(57, 37) == pytest.approx(stats.binomtest(37, 57).pvalue)
