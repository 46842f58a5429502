import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from fairtrial.learners import C45
from fairtrial.reproduce.estimates.predicting import error_on, said_of_all, wrong
from fairtrial.reproduce.estimates.problems import drawn


def test_losses_stand_where_rows_are_tested_and_nowhere_else():
    X, y, k = drawn("waveform", 30, 1)
    tested = np.zeros((2, 30), dtype=bool)
    tested[0, :10] = tested[1, 10:25] = True
    for name, twin in {"naive Bayes": GaussianNB(), "C4.5": C45()}.items():
        losses = wrong(name, X, y, k, 1.0 - tested, tested)
        assert not losses[~tested].any()
        for line, test in zip(losses, tested, strict=True):
            said = twin.fit(X[~test], y[~test]).predict(X[test])
            assert line[test].tolist() == (said != y[test]).tolist()


def test_errors_on_new_rows():
    (X, y, k), (new_X, new_y, _) = drawn("two Gaussians", 50, 1), drawn("two Gaussians", 400, 2)
    for name, twin in {"naive Bayes": GaussianNB(), "C4.5": C45()}.items():
        assert error_on(name, X, y, k, new_X, new_y) == pytest.approx(1 - twin.fit(X, y).score(new_X, new_y))
    assert said_of_all("nearest neighbour", X, y, k, X).tolist() == y.tolist()
