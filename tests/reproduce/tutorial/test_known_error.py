import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from fairtrial.reproduce.reproduction import Request
from fairtrial.reproduce.tutorial.known_error import _drawn, _naive_bayes, _nearest, _smaller, _spread, known_error


@pytest.mark.parametrize(("rule", "learner"), [(_naive_bayes, GaussianNB()), (_nearest, KNeighborsClassifier(1))])
def test_rules_are_scikit_learns(rule, learner):
    (X, y), (new, _) = _drawn(40, 0.3, [1, 2]), _drawn(300, 0.3, [1, 3])
    assert np.mean(rule(X, y, new) == learner.fit(X, y).predict(new)) > 0.995


def test_flipped_labels_make_the_error_large():
    clean, noisy = (_drawn(4000, share, [7, 1]) for share in (0.0, 0.3))
    assert np.mean(clean[1] != noisy[1]) == pytest.approx(0.3, abs=0.03)


def test_page(tmp_path):
    found = known_error(Request("smoke", tmp_path))
    frame = found.table("known_error")
    assert len(frame) == 2 * 2 * 5
    root = np.sqrt(frame["bias"] ** 2)
    assert (frame["root mean squared error"] >= root - 1e-12).all()
    assert len(found.claims) == 9


def test_what_is_clearly_smaller_is_found():
    rng = np.random.default_rng(1)
    own = pd.DataFrame({"problem": "p", "learner": "l", "truth": 0.0, "a": rng.normal(0, 1, 200), "b": rng.normal(0, 2, 200)})
    assert _smaller("x", own, "a", "b", _spread).holds is True
    assert _smaller("x", own, "b", "a", _spread).holds is False
    assert _smaller("x", own, "a", "a", _spread).holds is None
