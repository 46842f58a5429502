"""Bradley-Terry strengths against R (BradleyTerry2), a closed form and a logistic twin."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import minimize

from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.significance import strength
from fairtrial.significance.strength import bradley_terry


def test_fit_equals_bradleyterry2():
    # BTm(cbind(win1, win2), player1, player2) on these wins; BTabilities relative to A
    wins = np.array([[0, 7, 9], [3, 0, 6], [1, 4, 0]], dtype=float)
    logs = strength._fit_strengths(wins[None], 0.0)[0]
    np.testing.assert_allclose(logs - logs[0], [0, -1.103766547, -1.727051003], atol=1e-7)
    assert logs.mean() == pytest.approx(0)


def test_two_learners_in_closed_form():
    scores = np.array([[0.9, 0.8]] * 6 + [[0.7, 0.8]] * 2 + [[0.5, 0.5]] * 2)
    for prior in (0.0, 0.1, 1.0):
        found = bradley_terry(scores, prior=prior, scale="log", resamples=20)
        odds = (7 + prior) / (3 + prior)
        assert found.estimates[0] - found.estimates[1] == pytest.approx(np.log(odds), abs=1e-8)
        assert found.chance("0", "1") == pytest.approx(odds / (1 + odds))
    elo = bradley_terry(scores, prior=0, resamples=20)
    assert elo.estimates[0] - elo.estimates[1] == pytest.approx(400 * np.log10(7 / 3))
    assert np.mean(elo.estimates) == pytest.approx(1500)
    dropped = bradley_terry(scores, ties="drop", prior=0, scale="log", resamples=20)
    assert dropped.estimates[0] - dropped.estimates[1] == pytest.approx(np.log(3))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(3, 6))
def test_fit_equals_the_logistic_likelihood(seed, k):
    wins = np.random.default_rng(seed).integers(0, 8, (k, k)).astype(float)
    np.fill_diagonal(wins, 0)
    counted = wins + 0.1 * (1 - np.eye(k))

    def loss(free):
        logs = np.append(0.0, free)
        gaps = logs[:, None] - logs[None, :]
        return (counted * np.logaddexp(0, -gaps)).sum()

    twin = np.append(0.0, minimize(loss, np.zeros(k - 1), method="BFGS", options={"gtol": 1e-8}).x)
    logs = strength._fit_strengths(wins[None], 0.1)[0]
    np.testing.assert_allclose(logs, twin - twin.mean(), atol=1e-4)


def test_separation():
    scores = pd.DataFrame({"best": [0.9, 0.8, 0.7], "middle": [0.8, 0.7, 0.75], "last": [0.1, 0.2, 0.3]})
    scores["best"] += 0.1
    found = bradley_terry(scores, resamples=50)
    assert found.frame()["learner"].tolist() == ["best", "middle", "last"]
    assert np.isfinite(found.estimates).all()
    assert [caveat.kind for caveat in found.caveats] == ["separated_by_prior"]
    with pytest.warns(UndefinedMeasureWarning, match="bradley_terry"):
        plain = bradley_terry(scores, prior=0, resamples=50)
    assert np.isnan(plain.estimates).all()
    assert plain.caveats[0].kind == "separated_learners"


def test_resamples_without_a_maximum_are_counted():
    scores = [[1.0, 0.0]] * 5 + [[0.0, 1.0]]
    found = bradley_terry(scores, prior=0, resamples=200)
    assert np.isfinite(found.estimates).all()
    assert [caveat.kind for caveat in found.caveats] == ["undefined_strengths"]
    assert 0 < found.caveats[0]["undefined"] < found.caveats[0]["resamples"] == 200


def test_direction_and_float_noise():
    scores = np.array([[0.1, 0.2, 0.3], [0.2, 0.1, 0.4], [0.3, 0.5, 0.2]])
    up, down = bradley_terry(scores, resamples=20), bradley_terry(scores, better="min", resamples=20)
    np.testing.assert_allclose(np.array(up.estimates) + down.estimates, 3000, atol=1e-6)
    noisy = bradley_terry([[0.1 + 0.2, 0.3], [0.5, 0.4], [0.4, 0.5]], resamples=20)
    assert noisy.wins == (1.5, 1.5)


def test_intervals_cover():
    rng = np.random.default_rng(0)
    hits = 0
    for seed in range(100):
        first = rng.random(60) < 0.7
        found = bradley_terry(np.column_stack([first, ~first]).astype(float), scale="log", resamples=300, seed=seed)
        hits += found.low[0] < np.log(0.7 / 0.3) / 2 < found.high[0]
    assert hits >= 88


def test_seed_decides():
    scores = np.random.default_rng(1).random((20, 4))
    one = bradley_terry(scores, resamples=100, seed=1)
    assert one == bradley_terry(scores, resamples=100, seed=1)
    assert one.low != bradley_terry(scores, resamples=100, seed=2).low
    assert all(low <= middle <= high for low, middle, high in zip(one.low, one.estimates, one.high, strict=True))


def test_result_has_text_and_html():
    found = bradley_terry(pd.DataFrame({"a": [0.9, 0.8, 0.6], "b": [0.7, 0.9, 0.5]}), resamples=50)
    assert str(found).startswith("a 15")
    assert "<table" in found._repr_html_()
    with pytest.raises(InputError, match="second"):
        found.chance("a", "c")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"ties": "third"}, "ties"),
        ({"scale": "ln"}, "scale"),
        ({"better": "up"}, "better"),
        ({"prior": -1}, "prior"),
        ({"resamples": 1}, "resamples"),
    ],
)
def test_bad_arguments(wrong, message):
    with pytest.raises(InputError, match=message):
        bradley_terry([[0.1, 0.2], [0.2, 0.1]], **wrong)


def test_one_learner_is_not_enough():
    with pytest.raises(InputError, match="scores"):
        bradley_terry([[0.1], [0.2]])
