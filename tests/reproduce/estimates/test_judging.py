import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairtrial.reproduce.estimates.judging import biased, compare, pooled, summary


def draws(columns, truth=0.3, cells=1):
    rng = np.random.default_rng(1)
    lines = []
    for cell in range(cells):
        for method, (bias, spread) in columns.items():
            noise = stats.zscore(rng.standard_normal(400), ddof=1)  # mean 0 and standard deviation 1 to the last digit
            for replicate, value in enumerate(truth + bias + spread * noise):
                place = {"problem": "p", "n": cell, "learner": "l", "replicate": replicate, "method": method}
                lines.append(place | {"estimate": value, "low": value - 0.1, "high": value + 0.1, "truth": truth})
    return pd.DataFrame(lines)


def test_summary_finds_bias_spread_distance_and_coverage():
    frame = summary(draws({"a": (0.05, 0.05)}))
    line = frame.iloc[0]
    assert line["bias_low"] < 0.05 < line["bias_high"]
    assert line["deviation_low"] < 0.05 < line["deviation_high"]
    assert line["rmse_low"] < np.hypot(0.05, 0.05) < line["rmse_high"]
    expected = stats.norm.cdf(1) - stats.norm.cdf(-3)  # 0.05 above, within 0.1
    assert line["coverage_low"] < expected < line["coverage_high"]
    assert line["width"] == pytest.approx(0.2)
    assert line["rmse"] ** 2 == pytest.approx(line["bias"] ** 2 + line["deviation"] ** 2, rel=0.01)


def test_bias_has_students_interval():
    frame = draws({"a": (0.02, 0.05)})
    own = frame["estimate"] - frame["truth"]
    low, high = stats.t.interval(0.95, 399, own.mean(), stats.sem(own))
    found = biased(frame, "a")
    assert (found.value, found.low, found.high) == pytest.approx((own.mean(), low, high))
    assert found.sign == 1


def test_comparisons_find_the_ratio():
    frame = draws({"a": (0.0, 0.08), "b": (0.03, 0.04)}, cells=5)
    deviation, rmse, bias = (compare(frame, "a", "b", kind) for kind in ("deviation", "rmse", "bias"))
    assert deviation.low < np.log(2) < deviation.high
    assert rmse.low < np.log(0.08 / 0.05) < rmse.high
    assert bias.low < -0.03 < bias.high
    assert (deviation.above, deviation.cells) == (5, 5)
    assert compare(frame, "b", "a", "rmse").sign == -1
    assert "ratio" in deviation.ratio()
    assert "points" in bias.points()


def test_the_interval_of_a_log_ratio_is_that_of_the_bootstrap():
    frame = draws({"a": (0.0, 0.08), "b": (0.0, 0.05)})
    a, b = (frame.loc[frame["method"] == name, "estimate"].to_numpy() for name in "ab")
    rng = np.random.default_rng(2)
    rows = rng.integers(400, size=(4000, 400))
    redrawn = np.log(a[rows].std(axis=1) / b[rows].std(axis=1))
    found = compare(frame, "a", "b", "deviation")
    assert (found.high - found.low) / 3.92 == pytest.approx(redrawn.std(), rel=0.06)


def test_pooling_counts_cells_on_both_sides():
    found = pooled([(1.0, 0.1), (-1.0, 0.1), (0.1, 0.1)])
    assert (found.above, found.below, found.cells) == (1, 1, 3)
    assert found.sign == 0
