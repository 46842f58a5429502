"""Wilcoxon's test as the paper did it."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from fairtrial.reproduce.dobscv.table5 import comparison_of, ranked_runs, signed_ranks, table5
from fairtrial.reproduce.dobscv.trials import GIVEN, LITERAL
from fairtrial.reproduce.published import published


def test_sums_are_demsars(oracles):
    table = pd.read_csv(oracles / "demsar_2006_table6_auc.csv").select_dtypes("number")
    plus, minus, p, _, _ = signed_ranks((table["C4.5+m"] - table["C4.5"]).round(6).to_numpy())
    assert (plus, minus) == (93.0, 12.0)
    assert p == pytest.approx(2 * norm.cdf(-2.5424), abs=2e-5)


def test_published_sums_show_65_or_66_ranked_sets():
    printed = published("dobscv_table5_wilcoxon")
    assert set(printed["r_plus"] + printed["r_minus"]) == {65 * 66 / 2, 66 * 67 / 2}


@pytest.mark.parametrize(("zeros", "total"), [(0, 2211), (1, 2145), (2, 2211)])
def test_zeros_are_split_and_an_odd_one_dropped(zeros, total):
    values = np.arange(1.0, 67.0)
    values[:zeros] = 0
    plus, minus, *_ = signed_ranks(values)
    assert plus + minus == total


def test_all_higher_is_the_largest_sum(rising):
    tests = ranked_runs(rising)
    assert set(tests["R+"]) == {2211.0}
    assert set(tests["higher"]) == {66}
    found = table5(tests, rising).frame
    own = found[(found["comparison"] == comparison_of(LITERAL, GIVEN)) & (found["learner"] == "SMO")].set_index("quantity")
    assert own.loc["R+", "difference"] == 2211 - 1395
    assert own.loc["R-", "difference"] == -816
    assert own.loc["p", "published"] == 0.0639
