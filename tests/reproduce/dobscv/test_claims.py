"""Claims on cells of which the answer is known."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

from fairtrial.reproduce.dobscv.claims import _gains_and_losses, claims_of, printed_words, rank_correlation, share_of
from fairtrial.reproduce.dobscv.table5 import ranked_runs
from tests.reproduce.dobscv.conftest import made_cells

AVERAGE = "The average estimate of every learner is higher under DOB-SCV"
MOST = "With all five learners DOB-SCV estimates higher than SCV on most sets"


def verdicts(cells):
    return {claim.text.split(",")[0].split(" (that")[0]: claim for claim in claims_of(cells, ranked_runs(cells))}


def test_a_difference_that_rises_with_imbalance(rising):
    found = verdicts(rising)
    assert found[MOST].holds
    assert found[AVERAGE].holds
    assert found["The higher the imbalance"].holds
    assert found["On Abalone19 and Glass2 DOB-SCV is higher than SCV with all learners"].holds
    assert found["On Ecoli2 and Yeast2vs8 DOB-SCV is lower than SCV with all learners"].holds is False
    assert found["Sets where DOB-SCV is higher with all learners outnumber those where it is lower"].holds
    assert found["The differences are significant for all five learners"].holds
    assert found["The rank sums of DOB-SCV are the higher ones"].holds
    # The same deviation everywhere, and the same sets are on top for all learners.
    assert found["The standard deviation over folds is much higher where the imbalance is high"].holds is False
    assert found["DOB-SCV has lower standard deviations over folds than SCV"].holds is None
    assert found["The 5 sets with the largest differences are completely different from learner to learner"].holds is False


def test_noise_leaves_differences_open(noise):
    found = verdicts(noise)
    assert found[AVERAGE].holds is None
    assert found[MOST].holds is None
    assert found["The higher the imbalance"].holds is None
    assert found["On Abalone19 and Glass2 DOB-SCV is higher than SCV with all learners"].holds is None


def test_a_mean_just_above_zero_is_not_enough():
    rng = np.random.default_rng(8)
    shift = rng.normal(size=66)
    shift = 0.02 * (shift - shift.mean()) / shift.std() + 0.0001
    cells = made_cells(lambda scheme, _, place, __: 0.8 + (shift[place] if "DOB" in scheme else 0.0))
    claim = verdicts(cells)[AVERAGE]
    assert claim.holds is None
    assert "C4.5 +0.0001 (-0.00" in claim.evidence


def test_a_handful_of_sets_leaves_all_open():
    cells = made_cells(lambda scheme, *_: 0.8 if "DOB" in scheme else 0.7, names=["Glass1", "Ecoli4"])
    assert {claim.holds for claim in claims_of(cells, ranked_runs(cells))} == {None}


def test_an_average_that_is_higher_than_one_draw_of_folds_only_does_not_hold():
    cells = made_cells(lambda scheme, *_: {"SCV (KEEL's folds)": 0.7, "SCV": 0.9}.get(scheme, 0.8))
    claim = verdicts(cells)[AVERAGE]
    assert claim.holds is False
    assert "against SCV: C4.5 -0.1000" in claim.evidence


def test_the_papers_own_table_says_the_contrary_for_two_learners():
    told = printed_words()
    assert told.endswith("with 1-NN 1.96 % and 1.74 %, SMO 0.96 % and 0.23 %")  # as printed in Table 3


def test_the_share_has_clopper_and_pearsons_interval():
    found = share_of(15, 16)
    assert (found.low, found.high) == pytest.approx((beta.ppf(0.025, 15, 2), beta.ppf(0.975, 16, 1)))
    assert share_of(0, 0).above is None


def test_the_interval_of_a_rank_correlation_covers():
    rng = np.random.default_rng(4)
    pairs = rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], size=(400, 60))
    true = 6 / np.pi * np.arcsin(0.25)  # Spearman's of a normal pair whose Pearson's is 0.5
    found = [rank_correlation(each[:, 0], each[:, 1]) for each in pairs]
    covered = np.mean([each.low <= true <= each.high for each in found])
    assert 0.91 < covered < 0.99
    assert rank_correlation(np.arange(9.0), np.zeros(9)).above is None


def test_gains_and_losses_have_an_interval_over_sets():
    values = np.random.default_rng(5).normal(0.3, 1, size=66)
    one, five = (pd.DataFrame(dict.fromkeys(range(count), values)) for count in (1, 5))
    [effect], told = _gains_and_losses(five)
    # Five learners that say the same are no more evidence than one; gain and loss are means over cells.
    [alone], same = _gains_and_losses(one)
    assert (alone.low, alone.high) == pytest.approx((effect.low, effect.high))
    assert told == same
    assert f"mean gain {values[values > 0].mean():.4f}, mean loss {-values[values < 0].mean():.4f}" in told
    assert _gains_and_losses(one - 10)[0][0].above is False
    assert _gains_and_losses(one - one.mean())[0][0].above is None
