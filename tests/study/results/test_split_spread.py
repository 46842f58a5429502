"""Intervals over splits that overlap."""

import numpy as np
import pytest
from scipy import stats

from fairtrial.significance import corrected_resampled_t
from fairtrial.study.results.stacking import compute_half_width, compute_mean_half_width, compute_test_fraction
from tests.study.archives import real_archive

VALUES = np.random.default_rng(5).normal(0.02, 0.05, 10)


def test_the_interval_excludes_zero_exactly_where_the_corrected_t_test_rejects():
    p = corrected_resampled_t(VALUES, np.zeros(10), test_fraction=0.1).p_value
    assert compute_half_width(VALUES, 0.1, p) == pytest.approx(abs(VALUES.mean()))


def test_over_data_sets_it_is_students_interval():
    low, high = stats.ttest_1samp(VALUES, 0).confidence_interval(0.9)
    half = compute_mean_half_width(VALUES, 0.1)
    np.testing.assert_allclose([VALUES.mean() - half, VALUES.mean() + half], [low, high])


def test_one_split_has_no_interval():
    assert np.isnan(compute_half_width(VALUES[:1], 0.1, 0.05))


def test_the_share_of_rows_tested_on():
    archive = real_archive()
    assert compute_test_fraction(archive, "iris", [(0, fold) for fold in range(5)]) == pytest.approx(0.2)
    archive.splits["iris"][9, 0] = (np.array([0, 0, 1, 1, 2, 2]), np.array([3]))
    try:
        assert compute_test_fraction(archive, "iris", [(9, 0)]) == 0.25
    finally:
        del archive.splits["iris"][9, 0]
