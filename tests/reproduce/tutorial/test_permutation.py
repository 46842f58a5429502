import numpy as np
from sklearn.dummy import DummyClassifier

from fairtrial.reproduce.reproduction import Request
from fairtrial.reproduce.tutorial.permutation import permutation, switched_accuracies


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
