import numpy as np
import pytest
from scipy import stats

from fairtrial.reproduce.tutorial.two_learners import C45, NB, two_learners


@pytest.fixture(scope="module")
def found():
    return two_learners()


def lines(found, name):
    return found.table(name).set_index("what")


def test_t_is_scipys_and_not_the_slides(found):
    expected = stats.ttest_rel(C45, NB)
    table = lines(found, "t_test")
    assert table.loc["t, by R", "ours"] == pytest.approx(expected.statistic)
    assert table.loc["p, by R", "ours"] == pytest.approx(expected.pvalue)
    assert table.loc["t, by hand", "to the printed digits"] == "differs"
    assert (
        table.loc[["t, by R", "p, by R", "lower limit, by R", "upper limit, by R"], "to the printed digits"] == "agrees"
    ).all()


def test_d_is_the_difference_over_the_pooled_deviation(found):
    pooled = np.sqrt((np.var(C45, ddof=1) + np.var(NB, ddof=1)) / 2)
    assert lines(found, "cohens_d").loc["Cohen's d", "ours"] == pytest.approx((np.mean(C45) - np.mean(NB)) / pooled)


def test_d_and_g_share_the_interval_of_what_both_estimate(found):
    """Its limits are those whose noncentral t puts 2.5 % beyond the t that is seen; d of the true effect is not corrected."""
    table = lines(found, "cohens_d")
    gaps = np.subtract(C45, NB)
    error = gaps.std(ddof=1) / np.sqrt(10)
    unit = error / np.sqrt((np.var(C45, ddof=1) + np.var(NB, ddof=1)) / 2)
    low, high = table["ours"].tolist()[2:]
    assert stats.nct.sf(gaps.mean() / error, 9, low / unit) == pytest.approx(0.025, abs=1e-6)
    assert stats.nct.cdf(gaps.mean() / error, 9, high / unit) == pytest.approx(0.025, abs=1e-6)
    assert not any("interval" in note for note in table["note"].tolist()[:2])
    assert all("the same for d and g" in note for note in table["note"].tolist()[2:])
    assert "which d and g both estimate" in next(each.note for each in found.tables if each.name == "cohens_d")


def test_sign_test(found):
    table = lines(found, "sign_test")
    assert table.loc["AdaBoost against forest: wins of AdaBoost", "ours"] == 1.5  # ERRATA: printed 1
    assert table.loc["the same without the tie: p", "ours"] == pytest.approx(stats.binomtest(1, 9).pvalue)
    assert table.loc["wins needed in 10, one-sided 0.05", "ours"] == 9


def test_wilcoxon_sums_and_critical_values(found):
    """Tables of the signed-rank test: n = 9, one-sided 0.05 gives 8, one-sided 0.005 gives 1."""
    table = lines(found, "wilcoxon")
    assert table["ours"].tolist()[:2] == [17, 28]
    assert table.loc["largest sum rejected at 0.05, one-sided", "ours"] == 8
    assert table.loc["largest sum rejected at 0.005, one-sided", "ours"] == 1


def test_wilcoxon_on_folds_is_rs(found):
    table = lines(found, "wilcoxon_folds")
    assert table.loc["p, normal approximation as R takes it", "to the printed digits"] == "agrees"
    # 10 of 256 ways to sign 8 ranks are at least as uneven
    assert table.loc["p, exact", "ours"] == pytest.approx(10 / 256)


def test_slips_are_told(found):
    false = [claim.text for claim in found.claims if claim.holds is False]
    assert len(false) == 3
    assert any("8.0845" in text for text in false)
