"""Assumptions of parametric tests, compared with R."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import shapiro

from fairtrial._narrative import render
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


def kinds(assumptions, alpha=0.05):
    return [finding.kind for finding in assumptions.list_findings(alpha)]


def test_what_cannot_be_checked_does_not_hold():
    assert np.isnan(compute_mauchly_p(np.random.default_rng(0).normal(size=(3, 5))))
    few = check_differences(np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert not few.hold(0.05)
    assert kinds(few) == ["normality_few_datasets"]
    constant = check_differences(np.random.default_rng(0).normal(size=(20, 1)) + np.arange(3))
    assert not constant.hold(0.05)
    assert kinds(constant) == ["normality_constant", "sphericity_constant"]
    assert (constant.list_findings(0.05)[0]["constant"], constant.list_findings(0.05)[0]["pairs"]) == (3, 3)


def test_identical_learners_are_excluded_from_the_test_of_normality():
    values = np.random.default_rng(4).normal(size=(9, 3))
    assumptions = check_differences(np.column_stack([values, values[:, 0]]))
    pairs = [(0, 1), (0, 2), (1, 2), (1, 0), (2, 0)]  # all but the first and the fourth, which are the same
    p = sorted(shapiro(values[:, i] - values[:, j]).pvalue for i, j in pairs)
    assert not assumptions.hold(0.05)
    assert sum(np.isnan(assumptions.normality)) == 1
    assert np.nanmin(assumptions.normality) == pytest.approx(5 * p[0])
    constant, normality, sphericity = assumptions.list_findings(0.05)
    assert (constant.kind, constant["constant"], constant["pairs"]) == ("normality_constant", 1, 6)
    assert normality["p"] == pytest.approx(5 * p[0])
    assert sphericity.kind == "sphericity_constant"


def test_collinear_differences_are_distinguished_from_few_data_sets():
    values = np.random.default_rng(5).normal(size=(9, 2))
    collinear = check_differences(np.column_stack([values, values.mean(axis=1)]))
    assert kinds(collinear)[-1] == "sphericity_collinear"
    few = check_differences(np.random.default_rng(6).normal(size=(4, 6)))
    assert kinds(few)[-1] == "sphericity_few_datasets"


def test_findings_follow_the_p_values():
    assumptions = check_differences(np.random.default_rng(7).normal(size=(12, 3)))
    normality, sphericity = min(assumptions.normality), assumptions.sphericity
    for alpha in (normality * (1 - 1e-5), normality, sphericity * (1 - 1e-5), sphericity):
        expected = [f"normality_{'rejected' if normality <= alpha else 'kept'}"]
        expected.append(f"sphericity_{'rejected' if sphericity <= alpha else 'kept'}")
        assert kinds(assumptions, alpha) == expected
        assert assumptions.list_findings(alpha)[0]["p"] == normality
        assert assumptions.list_findings(alpha)[1]["p"] == sphericity


@pytest.mark.parametrize("side", [1 - 1e-5, 1 + 1e-5])
def test_printed_p_values_keep_their_side_of_alpha(side):
    assumptions = check_differences(np.random.default_rng(7).normal(size=(12, 3)))
    for index, p in enumerate((min(assumptions.normality), assumptions.sphericity)):
        finding = assumptions.list_findings(p * side)[index]
        printed = float(re.search(r"p = ([\d.e-]+\d)", render(finding))[1])
        assert (printed > p * side) == (p > p * side)


def test_two_learners_need_no_sphericity():
    assumptions = check_differences(np.random.default_rng(0).normal(size=(20, 2)))
    assert assumptions.sphericity == 1
    assert kinds(assumptions) == ["normality_kept"]


def test_many_cases_give_no_warning():
    assert check_differences(np.random.default_rng(0).normal(size=(10_050, 2))).hold(0.001)
