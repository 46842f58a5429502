import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairtrial.reproduce.estimates.judging import biased, compare, covered, summary


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
    assert (found.whole.value, found.whole.low, found.whole.high) == pytest.approx((own.mean(), low, high))
    assert (found.above, found.below) == (True, False)


def test_comparisons_find_the_ratio():
    frame = draws({"a": (0.0, 0.08), "b": (0.03, 0.04)}, cells=5)
    deviation, rmse, bias = (compare(frame, "a", "b", kind) for kind in ("deviation", "rmse", "bias"))
    assert deviation.whole.low < np.log(2) < deviation.whole.high
    assert rmse.whole.low < np.log(0.08 / 0.05) < rmse.whole.high
    assert bias.whole.low < -0.03 < bias.whole.high
    assert compare(frame, "b", "a", "rmse").above is False
    assert deviation.as_ratio().startswith("2.00 (")
    assert deviation.counts(1) == "cells whose own interval is above 1: 5 of 5, below: 0"
    assert bias.points().startswith("-3.00 (")


def test_the_interval_of_a_log_ratio_is_that_of_the_bootstrap():
    frame = draws({"a": (0.0, 0.08), "b": (0.0, 0.05)})
    a, b = (frame.loc[frame["method"] == name, "estimate"].to_numpy() for name in "ab")
    rng = np.random.default_rng(2)
    rows = rng.integers(400, size=(4000, 400))
    redrawn = np.log(a[rows].std(axis=1) / b[rows].std(axis=1))
    found = compare(frame, "a", "b", "deviation").whole
    assert (found.high - found.low) / 3.92 == pytest.approx(redrawn.std(), rel=0.06)


def again(frame, *learners):
    """The same draws as if several learners had been right and wrong on the very same samples."""
    return pd.concat([frame.assign(learner=name) for name in learners], ignore_index=True)


def test_learners_that_err_on_the_same_samples_tell_no_more_than_one():
    frame = draws({"a": (0.02, 0.08), "b": (0.0, 0.05)})
    many = again(frame, "k", "l", "m", "n")
    for judge in (
        lambda given: biased(given, "a"),
        lambda given: compare(given, "a", "b", "deviation"),
        lambda given: compare(given, "a", "b", "rmse"),
    ):
        one, four = judge(frame), judge(many)
        assert vars(four.whole) == pytest.approx(vars(one.whole))
        assert (len(one.cells), len(four.cells)) == (1, 4)


def test_problems_and_sizes_are_independent():
    frame = draws({"a": (0.02, 0.05)}, cells=4)
    widths = [each.high - each.low for each in biased(frame, "a").cells]
    whole = biased(frame, "a").whole
    assert whole.high - whole.low == pytest.approx(np.sqrt(np.square(widths).sum()) / 4, rel=0.01)


def test_coverage_counts_samples_not_draws():
    frame = draws({"a": (0.05, 0.05)})
    held = int(((frame["low"] <= 0.3) & (frame["high"] >= 0.3)).sum())
    found = covered(again(frame, "k", "l", "m", "n"), "a")
    wilson = stats.binomtest(held, 400).proportion_ci(0.95, method="wilson")
    assert (found.value, found.low, found.high) == pytest.approx((held / 400, wilson.low, wilson.high), abs=0.001)


def test_every_cell_counts_the_same_in_coverage_however_few_its_samples():
    frame = draws({"a": (0.05, 0.05)})
    few = frame[frame["replicate"] < 10].assign(learner="C4.5", low=0.8, high=0.9)
    held = ((frame["low"] <= 0.3) & (frame["high"] >= 0.3)).mean()
    assert covered(pd.concat([frame, few]), "a").value == pytest.approx(held / 2)


def test_a_standard_deviation_of_two_samples_has_no_known_interval():
    frame = draws({"a": (0.0, 0.08), "b": (0.0, 0.05)}, cells=3)
    assert compare(frame[frame["replicate"] < 2], "a", "b", "deviation").above is None
    assert compare(frame[frame["replicate"] < 1], "a", "b", "rmse").above is None


def test_estimates_that_never_move_have_no_ratio():
    found = compare(draws({"a": (0.0, 0.0), "b": (0.0, 0.05)}), "a", "b", "rmse")
    assert found.above is None
    assert found.cells == ()
