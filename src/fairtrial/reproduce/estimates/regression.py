"""Regression measures: a worked example, and the effect of one outlier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.reproduce.claim import IntervalEstimate, estimate_mean

if TYPE_CHECKING:
    import pandas as pd

MEASURES = ("MSE", "RMSE", "MAE", "RAE", "RSE")
# A squared error and the absolute error to which it is compared.
PAIRS = (("MSE", "MAE"), ("RMSE", "MAE"), ("RSE", "RAE"))
_ROWS = (25, 100)
_OUTLIERS = (5.0, 10.0)  # standard deviations of the errors
_NOISE = 0.5  # standard deviation of the errors; that of the true values is 1


def compute_measures(y_true: Any, y_pred: Any) -> dict[str, float]:
    """Compute the five measures of the chapter.

    >>> compute_measures([1.0, 2.0, 3.0], [1.0, 2.0, 5.0])["RAE"]
    1.0
    """
    from fairtrial.measures import regression

    return {name: float(getattr(regression, name.lower())(y_true, y_pred)) for name in MEASURES}


def tabulate_example() -> pd.DataFrame:
    """Compute the measures of a linear model with 95 % intervals, and again with one outlier.

    The model predicts the progression of diabetes and is trained on two thirds of the 442 patients in scikit-learn's data set.
    To create the outlier, the largest true value in the test set is multiplied by 10, as if its decimal point were misplaced.
    """
    import pandas as pd
    from sklearn.datasets import load_diabetes
    from sklearn.linear_model import LinearRegression

    from fairtrial.measures import interval
    from fairtrial.resampling import Holdout

    X, y = load_diabetes(return_X_y=True)
    split = next(iter(Holdout(1 / 3, stratify=False, random_state=1).freeze(X)))
    y_pred = LinearRegression().fit(X[split.train], y[split.train]).predict(X[split.test])
    y_true = y[split.test]
    with_outlier = y_true.copy()
    with_outlier[y_true.argmax()] *= 10
    changed = compute_measures(with_outlier, y_pred)
    rows = []
    for name in MEASURES:
        computed = interval(f"regression.{name.lower()}", y_true, y_pred, seed=1)
        rows.append((name, computed.estimate, computed.low, computed.high, changed[name], changed[name] / computed.estimate))
    return pd.DataFrame(rows, columns=["measure", "value", "low", "high", "with outlier", "ratio"])


def simulate_outliers(n_samples: int, seed: int) -> pd.DataFrame:
    """Simulate the log of the factor by which one outlier changes each measure.

    True values are standard normal, and the errors of the predictions have a standard deviation of 0.5. An outlier moves one
    true value by 5 or 10 standard deviations of the errors.
    """
    import pandas as pd

    from fairtrial.study.randomness import derive_generator

    rows = []
    for n in _ROWS:
        for size in _OUTLIERS:
            rng = derive_generator(seed, "outliers", n, size)
            for sample in range(n_samples):
                y_true = rng.standard_normal(n)
                y_pred = y_true + _NOISE * rng.standard_normal(n)
                moved = y_true.copy()
                moved[0] += rng.choice([-1, 1]) * size * _NOISE
                before, after = compute_measures(y_true, y_pred), compute_measures(moved, y_pred)
                rows.append((n, size, sample, *(np.log(after[name] / before[name]) for name in MEASURES)))
    return pd.DataFrame(rows, columns=["n", "outlier", "sample", *MEASURES])


def estimate_differences(changes: pd.DataFrame) -> list[IntervalEstimate]:
    """Estimate how much more an outlier changes squared errors than absolute errors."""
    settings = changes.groupby(["n", "outlier"], sort=False)
    return [estimate_mean(rows[squared] - rows[absolute]) for _, rows in settings for squared, absolute in PAIRS]


def tabulate_outliers(changes: pd.DataFrame) -> pd.DataFrame:
    """Tabulate the factor (geometric mean) by which the outlier changes each measure."""
    means = changes.groupby(["n", "outlier"], sort=False)[list(MEASURES)].mean()
    return means.apply(np.exp).reset_index()
