"""Checks of what parametric tests assume, against R."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import shapiro

from fairtrial.significance.designs import check_differences, compute_mauchly_p


def table(find_published, name):
    return pd.read_csv(find_published(name), index_col=0).to_numpy()


def test_shapiro_of_differences_as_in_r(find_published):
    # R: p.adjust(shapiro.test(t[, i] - t[, j])$p.value, "holm"), sorted
    found = check_differences(table(find_published, "tutorial_ten_domains_accuracy"))
    expected = [0.030113416, 0.050588997, 0.244182764, 0.283724286, 0.442150726, 0.532628279]
    assert sorted(found.normality) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "p"),
    [
        ("demsar_2006_table6_auc", 0.1103898058),
        ("garcia_herrera_2008_accuracy", 2.751204489e-14),
        ("tutorial_ten_domains_accuracy", 0.08998059304),
    ],
)
def test_mauchly_as_in_r(find_published, name, p):
    # R's mauchly.test puts k for k - 1 in one term of its second-order correction, hence the tolerance.
    assert compute_mauchly_p(table(find_published, name)) == pytest.approx(p, rel=3e-3)


def test_mauchly_with_three_learners_has_no_second_order_term():
    """There R's p is exact chi-squared: -(n - 1) rho log W, W from the variances of the differences."""
    values = np.random.default_rng(3).normal(size=(12, 3))
    covariance = np.cov(values @ np.array([[1, -1, 0], [1, 1, -2]]).T / np.sqrt([2, 6]), rowvar=False)
    w = np.linalg.det(covariance) / (np.trace(covariance) / 2) ** 2
    assert compute_mauchly_p(values) == pytest.approx(np.exp(11 * (1 - 12 / (6 * 2 * 11)) * np.log(w) / 2), rel=1e-10)


def test_what_cannot_be_checked_does_not_hold():
    assert np.isnan(compute_mauchly_p(np.random.default_rng(0).normal(size=(3, 5))))
    few = check_differences(np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert not few.hold(0.05)
    assert "too few data sets" in few.describe(0.05)
    constant = check_differences(np.random.default_rng(0).normal(size=(20, 1)) + np.arange(3))
    assert not constant.hold(0.05)
    assert constant.describe(0.05) == (
        "The differences of 3 of 3 pairs do not vary, so that they have no test of normality. "
        "Whether all differences vary alike cannot be checked, for some do not vary at all."
    )


def test_identical_learners_are_left_out_of_the_test_of_normality():
    values = np.random.default_rng(4).normal(size=(9, 3))
    found = check_differences(np.column_stack([values, values[:, 0]]))
    pairs = [(0, 1), (0, 2), (1, 2), (1, 0), (2, 0)]  # all but the first and the fourth, which are the same
    p = sorted(shapiro(values[:, i] - values[:, j]).pvalue for i, j in pairs)
    words = found.describe(0.05)
    assert not found.hold(0.05)
    assert sum(np.isnan(found.normality)) == 1
    assert np.nanmin(found.normality) == pytest.approx(5 * p[0])
    assert words.startswith("The differences of 1 of 6 pairs do not vary, so that they have no test of normality. ")
    assert "the smallest is 0)" not in words
    assert "too few data sets" not in words
    assert words.endswith("Whether all differences vary alike cannot be checked, for some do not vary at all.")


def test_differences_that_follow_from_others_are_the_reason_and_not_the_number_of_data_sets():
    values = np.random.default_rng(5).normal(size=(9, 2))
    words = check_differences(np.column_stack([values, values.mean(axis=1)])).describe(0.05)
    assert words.endswith("cannot be checked, for some follow exactly from others.")
    few = check_differences(np.random.default_rng(6).normal(size=(4, 6))).describe(0.05)
    assert few.endswith("There are too few data sets to check whether all differences vary alike.")


def test_p_values_of_the_checks_show_their_side_of_alpha():
    values = np.random.default_rng(7).normal(size=(12, 3))
    found = check_differences(values)
    for p, told in ((min(found.normality), "the smallest is "), (found.sphericity, "Mauchly's test, p = ")):
        for alpha in (round(p, 4), p * (1 - 1e-5), p * (1 + 1e-5)):
            said = float(re.search(re.escape(told) + r"([\d.e-]+\d)", found.describe(alpha))[1])
            assert (said > alpha, said < alpha) == (p > alpha, p < alpha)


def test_two_learners_need_no_sphericity():
    found = check_differences(np.random.default_rng(0).normal(size=(20, 2)))
    assert found.sphericity == 1
    assert "vary alike" not in found.describe(0.05)


def test_many_cases_give_no_warning():
    assert check_differences(np.random.default_rng(0).normal(size=(10_050, 2))).hold(0.001)
