"""Naive Bayes by counts equals the learner NaiveBayes, and in its other style R's e1071."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairtrial.learners import NaiveBayes
from fairtrial.reproduce import ranking_kernels as bayes


def coded(frame):
    """Codes of a frame's columns, written in another way than the package does."""
    codes, levels, nominal = [], [], []
    for name in frame.columns:
        column = frame[name]
        is_nominal = isinstance(column.dtype, pd.CategoricalDtype)
        known = list(column.cat.categories) if is_nominal else sorted(set(column.dropna()))
        codes.append([known.index(value) if pd.notna(value) else -1 for value in column])
        levels.append([float(place) for place in range(len(known))] if is_nominal else known)
        nominal.append(is_nominal)
    offsets = np.cumsum([0, *map(len, levels)])
    return np.array(codes), bayes.CodedColumns(np.concatenate(levels), offsets, np.array(nominal, np.uint8))


def shares(frame, y, training, style=bayes.INTERVALS):
    codes, columns = coded(frame)
    scores = np.empty(len(frame) - training)
    bayes.predict_positive(codes, np.asarray(y[:training], np.uint8), columns, style, scores)
    return scores


def mixed(seed, n=80):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    frame = pd.DataFrame(
        {
            "number": rng.normal(y, 1.5).round(2),
            "coarse": rng.poisson(2 + 2 * y).astype(float),
            "constant": np.ones(n),
            "nominal": pd.Categorical(rng.choice(list("abc"), n), categories=list("abcd")),
            "never": np.full(n, np.nan),
        }
    )
    frame.loc[rng.random(n) < 0.2, "number"] = np.nan
    frame.loc[rng.random(n) < 0.2, "nominal"] = np.nan
    return frame, y


@pytest.mark.parametrize("seed", range(6))
def test_shares_equal_the_learners(seed):
    frame, y = mixed(seed)
    training = 60
    learner = NaiveBayes().fit(frame[:training], y[:training])
    np.testing.assert_allclose(shares(frame, y, training), learner.predict_proba(frame[training:])[:, 1], rtol=1e-9, atol=1e-12)


def test_a_class_that_training_has_not_is_improbable():
    frame, _ = mixed(1)
    scores = shares(frame[["nominal"]], np.zeros(80), 60)
    assert scores.max() < 0.1


def test_densities_equal_e1071s():
    # R 4.2.2, e1071 1.7-13: predict(naiveBayes(y ~ ., d[1:8, ], na.action = na.pass), d[9:12, ], type = "raw")[, 2]
    x = [1, 2.5, 2.5, 4, 6, 7, None, 9, 3, 30, 5, 2]
    k = ["a", "b", "a", "a", "b", "b", "c", "b", None, "a", "c", "b"]
    z = [0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 1, 2]
    frame = pd.DataFrame({"x": np.array(x, float), "k": pd.Categorical(k), "z": np.array(z, float)})
    found = shares(frame, [0, 0, 0, 0, 1, 1, 1, 1], 8, bayes.DENSITIES)
    expected = [1.8514109962743788e-06, 1.0, 9.9998732181579297e-01, 6.2812819298720879e-01]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_normal_masses_are_scipys():
    places = np.linspace(-8, 8, 41)
    np.testing.assert_allclose([bayes.compute_normal_cdf(x) for x in places], stats.norm.cdf(places), rtol=1e-12, atol=1e-18)
