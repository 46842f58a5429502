import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.dummy import DummyClassifier

from fairtrial.reproduce.reproduction import Request
from fairtrial.reproduce.tutorial.permutation import _claims, _limits, _note, alike, permutation, switched_accuracies


def test_switched_labels_lose_the_class_shares(labour):
    """The more frequent of two classes by a coin: about half of the rows, where 37 of 57 have it in the data."""
    found = switched_accuracies(DummyClassifier(), labour, 40, 2, 1)
    assert len(found) == 40
    assert 0.5 < np.mean(found) < 0.6


def test_page(labour, tmp_path):
    found = permutation(labour, Request("smoke", tmp_path))
    frame = found.table("permutation").set_index("learner")
    assert frame.loc["the more frequent class", "p, permuted"] == 1
    assert np.isclose(frame.loc["the more frequent class", "accuracy"], 37 / 57, atol=0.01)
    assert frame.loc["NB", "p, permuted"] == 1 / 4
    assert [claim.holds for claim in found.claims] == [None, None]
    assert "3 such sets cannot tell, since p is 0.250 at least" in found.tables[0].note


@pytest.mark.parametrize(
    ("times", "p", "holds"),
    # the least p of n bogus sets is 1 / (n + 1): with 19 it is the level itself
    # 20 of 500 leave a p of 0.023 to 0.059 (Clopper and Pearson), which holds the level
    [
        (3, 0.25, [None, None]),
        (19, 0.05, [None, None]),
        (99, 0.01, [True, False]),
        (99, 0.4, [None, None]),
        (499, 0.04, [None, None]),
    ],
)
def test_verdicts_need_enough_bogus_data(times, p, holds):
    line = {"accuracy": 0.9, "mean, permuted": 0.5, "p, permuted": p, "mean, switched": 0.5, "p, switched": p}
    frame = pd.DataFrame([line, line])
    assert [claim.holds for claim in _claims(frame, times, 37, 57)] == holds
    assert ("could hardly" in _note(frame, times)) == (holds[0] is True)


def test_interval_of_p_is_that_of_a_share():
    found = stats.binomtest(19, 499).proportion_ci(0.95, method="exact")
    assert _limits(0.04, 499) == pytest.approx((found.low, found.high))


def test_labels_alike_are_counted_on_both_sides():
    """Of four coins three or more fall alike in 2 x (4 + 1) of 16 ways."""
    assert alike(4, 3) == pytest.approx(10 / 16)
    # two-sided test of 37 of 57 by an exact binomial
    assert alike(57, 37) == pytest.approx(stats.binomtest(37, 57).pvalue)


def test_slide_is_not_refused_for_what_it_does_not_say():
    line = {"accuracy": 0.647, "mean, permuted": 0.647, "p, permuted": 1.0, "mean, switched": 0.55, "p, switched": 0.04}
    claim = _claims(pd.DataFrame([line, line]), 499, 37, 57)[1]
    assert claim.holds is None
    assert "37 or more of 57 labels alike with probability 0.033" in claim.evidence
    assert "the slide describes the procedure only" in claim.evidence
