"""Random input for measures: what hypothesis draws, and what a seeded generator gives."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

COARSE = [0.0, 0.1, 0.25, 0.5, 0.6, 0.75, 0.9, 1.0]
WEIGHTS = [0.0, 0.5, 1.0, 2.0, 0.1, 0.7]


@st.composite
def scored_rows(draw, max_rows=25, weighted=True):
    """is_positive, scores with many ties, weights (zeros among them, not all)."""
    n = draw(st.integers(1, max_rows))
    y = draw(hnp.arrays(bool, n))
    s = draw(hnp.arrays(float, n, elements=st.sampled_from(COARSE) | st.floats(-5, 5, allow_subnormal=False)))
    w = draw(hnp.arrays(float, n, elements=st.sampled_from(WEIGHTS))) if weighted else np.ones(n)
    if not w.any():
        w[0] = 1.0
    return y, s, w


@st.composite
def tallies(draw, max_lines=4, max_places=8, whole=False):
    """Values B x m, descending, with pos and neg; places without weight lie anywhere, so padding is among them."""
    B, m = draw(st.integers(1, max_lines)), draw(st.integers(1, max_places))
    counts = st.sampled_from([0.0, 0.0, 1.0, 2.0, 5.0] if whole else [0.0, 0.0, 1.0, 2.0, 0.3, 1.7])
    pos, neg = (draw(hnp.arrays(float, (B, m), elements=counts)) for _ in "pn")
    steps = draw(hnp.arrays(float, (B, m), elements=st.sampled_from([0.1, 0.5, 1.0])))
    return 3 - np.cumsum(steps, axis=1), pos, neg


@st.composite
def labelled_rows(draw, max_rows=20):
    """True and predicted classes of 1 to 4, weights (zeros among them, not all), and the classes."""
    n, k = draw(st.integers(1, max_rows)), draw(st.integers(1, 4))
    y, p = (draw(hnp.arrays(int, n, elements=st.integers(0, k - 1))) for _ in "yp")
    w = draw(hnp.arrays(float, n, elements=st.sampled_from(WEIGHTS)))
    if not w.any():
        w[0] = 1.0
    return y, p, w, list(range(k))


@st.composite
def forecast_rows(draw, max_rows=15):
    """Codes, probabilities of 2 to 4 classes (zeros and ones among them) and weights."""
    n, k = draw(st.integers(1, max_rows)), draw(st.integers(2, 4))
    y = draw(hnp.arrays(int, n, elements=st.integers(0, k - 1)))
    raw = draw(hnp.arrays(float, (n, k), elements=st.sampled_from([0.0, 1.0, 2.0, 0.3, 5.0])))
    raw[raw.sum(axis=1) == 0] = 1.0
    w = draw(hnp.arrays(float, n, elements=st.sampled_from(WEIGHTS)))
    if not w.any():
        w[0] = 1.0
    return y, raw / raw.sum(axis=1, keepdims=True), w


def weights(rng, n, kept=0):
    """None, whole or fractional weights; the first `kept` rows keep some weight."""
    kind = rng.integers(3)
    if kind == 0:
        return None
    w = rng.integers(0, 4, n).astype(float) if kind == 1 else rng.random(n)
    w[:kept] += 1
    return w


def truth(rng, n, k):
    """Classes 0..k-1, each at least once, among the first k rows."""
    y = rng.integers(0, k, n)
    y[:k] = np.arange(k)
    return y


def labels(rng, k, n=None):
    """True and predicted classes, better than chance, every class true and predicted somewhere."""
    n = rng.integers(2 * k, 30) if n is None else n
    y = truth(rng, n, k)
    p = np.where(rng.random(n) < 0.4, y, rng.integers(0, k, n))
    p[:k] = rng.permutation(k)
    return y, p


def scores(rng, k, n=None):
    """True classes and scores with ties: one column for two classes, k columns that sum to one for more."""
    n = rng.integers(2 * k, 30) if n is None else n
    y = truth(rng, n, k)
    if k == 2:
        return y, np.round(rng.random(n) + 0.2 * y, 1)
    return y, probabilities(rng, k, n, y)[1]


def probabilities(rng, k, n=None, y=None):
    """True classes and probabilities inside (0, 1): one column for two classes, k columns for more."""
    n = rng.integers(2 * k, 30) if n is None else n
    y = truth(rng, n, k) if y is None else y
    raw = rng.integers(1, 6, (n, k)) + 2.0 * np.eye(k)[y]
    p = raw / raw.sum(axis=1, keepdims=True)
    return (y, p[:, 1]) if k == 2 else (y, p)


def values(rng, _k=None, n=None):
    """True and predicted numbers."""
    n = rng.integers(3, 30) if n is None else n
    y = rng.normal(size=n).round(1)
    return y, (y + rng.normal(size=n)).round(1)


MAKE = {"labels": labels, "scores": scores, "probabilities": probabilities, "values": values}
