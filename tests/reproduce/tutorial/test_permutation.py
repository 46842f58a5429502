import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier

from fairtrial.reproduce.reproduction import Request
from fairtrial.reproduce.tutorial.permutation import _claims, _note, permutation, switched_accuracies


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
    [(3, 0.25, [None, None]), (19, 0.05, [None, None]), (99, 0.01, [True, False]), (99, 0.4, [None, None])],
)
def test_verdicts_need_enough_bogus_data(times, p, holds):
    line = {"accuracy": 0.9, "mean, permuted": 0.5, "p, permuted": p, "mean, switched": 0.5, "p, switched": p}
    frame = pd.DataFrame([line, line])
    assert [claim.holds for claim in _claims(frame, times)] == holds
    assert ("could hardly" in _note(frame, times)) == (holds[0] is True)
