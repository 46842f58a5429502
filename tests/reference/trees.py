"""Tables drawn by a seed for decision trees: mixed columns, ties, missing values, weights."""

import numpy as np
import pandas as pd


def drawn(seed):
    """A frame with the class last, and weights (all one for even seeds). Sizes, types and gaps vary with the seed."""
    rng = np.random.default_rng(seed)
    n, classes = int(rng.integers(40, 260)), int(rng.integers(2, 5))
    label = rng.integers(0, classes, n)
    columns = {}
    for j in range(int(rng.integers(2, 5))):
        values = np.round(rng.normal(size=n) + 0.8 * label * rng.integers(0, 2), int(rng.integers(0, 3)))
        columns[f"number{j}"] = np.where(rng.random(n) < rng.choice([0.0, 0.15]), np.nan, values)
    for j in range(int(rng.integers(1, 4))):
        k = int(rng.integers(2, 6))
        codes = np.where(rng.random(n) < 0.5, label % k, rng.integers(0, k, n))
        codes = np.where(rng.random(n) < rng.choice([0.0, 0.2]), -1, codes)
        columns[f"word{j}"] = pd.Categorical.from_codes(codes, [f"v{value}" for value in range(k + 1)])
    columns["class"] = pd.Categorical.from_codes(label, [f"c{c}" for c in range(classes)][::-1])
    weights = np.ones(n) if seed % 2 == 0 else rng.choice([0.5, 1.0, 2.25], n)
    return pd.DataFrame(columns), weights
