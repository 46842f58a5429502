"""What averages and counts decide."""

import pandas as pd
import pytest
from scipy.stats import binomtest, ttest_rel

from fairtrial.reproduce.ela.decided import decided, gap, more, table, tree_best, tree_better, words
from fairtrial.reproduce.published import published

PRINTED = published("ela_table3").set_index("dataset")


@pytest.mark.parametrize("short", ["acc0", "acc10", "ela", "rla"])
def test_gaps_are_those_of_a_paired_t_test(short):
    test = ttest_rel(PRINTED[f"{short}_c45"], PRINTED[f"{short}_svm"])
    found, ends = gap(PRINTED, short), test.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high))
    assert (found.sign != 0) == (test.pvalue < 0.05)


def test_of_the_papers_own_averages_rla_alone_is_clear():
    frame = decided({"paper": PRINTED}).set_index("quantity")
    assert frame["mean decides"].tolist() == ["no", "no", "no", "yes"]
    text = words(PRINTED)
    assert "hold 0 for accuracy at 0 % -0.96 (-3.99 to +2.06); accuracy at 10 % +1.87" in text
    assert "Clear is the mean of RLA alone. By the sign test the count of better sets is clear for RLA alone." in text


def test_words_follow_other_numbers():
    clear = PRINTED.assign(**{f"{short}_c45": PRINTED[f"{short}_svm"] + 1 for short in ("acc0", "acc10", "ela", "rla")})
    clear["acc0_c45"] += [0.1, 0.2] * 16
    assert "no interval that holds 0" in words(clear)
    even = clear.assign(**{f"{short}_c45": PRINTED[f"{short}_svm"] + [1, -1] * 16 for short in ("acc0", "acc10", "ela", "rla")})
    assert "No mean is clear. No count is clear." in words(even)


def test_counts_are_judged_by_the_exact_binomial():
    """23 of 32 by RLA; without noise 12 to 20; 4 sets change sides by noise, and none back."""
    assert tree_better(PRINTED, "rla") == (True, 23, 9, pytest.approx(binomtest(23, 32).pvalue))
    assert tree_better(PRINTED, "acc0") == (None, 12, 20, pytest.approx(binomtest(12, 32).pvalue))
    assert more(tree_best(PRINTED, "acc10"), tree_best(PRINTED, "acc0")) == (None, 4, 0, pytest.approx(0.125))


def test_fewer_is_told_from_more_and_ties_are_open():
    assert more(pd.Series([0.0] * 8), pd.Series([1.0] * 8))[0] is False
    assert more(pd.Series([1.0] * 8), pd.Series([1.0] * 8)) == (None, 0, 0, 1.0)


def test_the_table_has_a_line_for_each_quantity():
    assert table({"ours": PRINTED, "paper": PRINTED}).frame["table"].tolist() == ["ours"] * 4 + ["paper"] * 4
