import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel

from fairtrial.reproduce.reproduction import Request
from fairtrial.reproduce.tutorial.repeated import _accuracies, _claims, _compared, _cut_half_way, repeated


def test_cut_is_half_way_between_the_class_means():
    column = np.array([[0.0, 2.0, 4.0, 6.0, 3.5, 2.9]])
    y = np.array([0, 0, 1, 1, 1, 1])
    # means 1 and 5, cut at 3
    assert _cut_half_way(column, y, np.arange(4), np.array([4, 5])).tolist() == [0.5]


def test_turned_round_where_the_means_are():
    column = np.array([[6.0, 4.0, 2.0, 0.0, 3.5, 2.9]])
    y = np.array([0, 0, 1, 1, 1, 1])
    assert _cut_half_way(column, y, np.arange(4), np.array([4, 5])).tolist() == [0.5]


def test_learners_are_alike_by_symmetry():
    """The best rule errs with probability Phi(-1/2); both come near to it."""
    first, second = _accuracies("10x10", 300, 1.0, 3)
    assert first.shape == (300, 10, 10)
    assert first.mean() == pytest.approx(second.mean(), abs=0.01)
    assert first.mean() == pytest.approx(0.6915, abs=0.015)


def test_comparison_is_paired():
    data = pd.DataFrame({"a": [True] * 60 + [False] * 40, "b": [True] * 30 + [False] * 70, "c": [False] * 40 + [True] * 60})
    assert _compared("x", data, "a", "b").holds is True
    assert _compared("x", data, "b", "a").holds is False
    assert _compared("x", data, "a", "c").holds is None


def test_interval_is_that_of_the_paired_t_test():
    """Four of 20 pairs differ: the normal quantile would call that a difference more readily than Student's."""
    data = pd.DataFrame({"a": [True] * 4 + [False] * 16, "b": [False] * 20})
    expected = ttest_rel(data["a"].astype(float), data["b"].astype(float)).confidence_interval()
    assert f"+0.200 ({expected.low:+.3f} to {expected.high:+.3f})" in _compared("x", data, "a", "b").evidence


def test_page(tmp_path):
    found = repeated(Request("smoke", tmp_path))
    frame = found.table("repeated_tests")
    assert len(frame) == 7
    assert ((frame["power, low"] <= frame["power"]) & (frame["power"] <= frame["power, high"])).all()
    assert len(found.claims) == 6
    assert {claim.holds for claim in found.claims} == {None}
    assert all("20 simulated data sets are too few" in claim.evidence for claim in found.claims)


def test_claims_of_10x10_name_their_test_and_tell_bouckaerts():
    """The plain test always rejects, the calibrated one never does: only the former is what the claim is about."""
    names = ("10-fold, paired t", "5x2, t (Dietterich)", "5x2, F (Alpaydin)", "10x10, paired t of all folds")
    data = pd.DataFrame({name: [False, True] * 50 for name in names})
    data["10x10, paired t of all folds"], data["10x10, calibrated (Bouckaert)"] = True, False
    claims = _claims({"equal": data, "different": data})[-2:]
    for claim in claims:
        assert claim.holds is True
        assert claim.text.startswith("10x10 with the plain t test over all 100 folds has more ")
        assert "calibrated: 0.000 (10x10, calibrated (Bouckaert)) less 0.500 (10-fold, paired t): -0.500" in claim.evidence
