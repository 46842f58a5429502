"""Bias and error of estimates whose distance from the truth is known."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from fairtrial.reproduce.dobscv.biases import biases, pooled
from fairtrial.reproduce.dobscv.trials import SCV
from fairtrial.reproduce.dobscv.truth import COLUMNS, SPLITTERS


@pytest.fixture
def lines():
    """SCV is right on average, the others lie 0.05 above the truth of all rows, 0.04 above that of the folds."""
    rng = np.random.default_rng(2)
    made = []
    for population in ("a", "b"):
        for replicate in range(40):
            error = rng.normal(0, 0.01)
            for learner in ("C4.5", "SMO"):
                for scheme in SPLITTERS:
                    above = 0.0 if scheme == SCV else 0.05
                    made.append((population, replicate, learner, scheme, "balanced accuracy", 0.8 + error + above, 0.81, 0.8))
    return pd.DataFrame(made, columns=COLUMNS)


def test_bias_and_error(lines):
    found = biases(lines).set_index(["population", "learner", "scheme"])
    scv, other = found.loc[("a", "C4.5", SCV)], found.loc[("a", "C4.5", "k-fold")]
    errors = lines.query("population == 'a' and learner == 'C4.5' and scheme == 'SCV'")
    expected = errors["estimate"] - 0.8
    assert scv["bias"] == pytest.approx(expected.mean())
    assert scv["rmse"] == pytest.approx(np.sqrt((expected**2).mean()))
    assert other["bias"] - scv["bias"] == pytest.approx(0.05)
    assert other["fold_bias"] == pytest.approx(other["bias"] - 0.01)
    assert scv["excess"] == 0
    assert other["excess"] == pytest.approx(((expected + 0.05) ** 2).mean() - (expected**2).mean())


def test_pooled_counts_cells(lines):
    found = pooled(lines).set_index("scheme")
    assert found.loc["k-fold", "cells"] == 4
    assert found.loc["k-fold", "optimistic"] == 4
    assert found.loc["k-fold", "farther than SCV"] == 4
    assert found.loc[SCV, ["nearer than SCV", "farther than SCV"]].tolist() == [0, 0]


def test_learners_on_one_sample_do_not_make_the_interval_narrower(lines):
    both, one = pooled(lines).set_index("scheme"), pooled(lines.query("learner == 'SMO'")).set_index("scheme")
    assert both.loc[SCV, "bias_high"] == pytest.approx(one.loc[SCV, "bias_high"])


def test_the_excess_is_that_over_samples(lines):
    found = pooled(lines).set_index("scheme").loc["k-fold"]
    error = lines.query("learner == 'SMO' and scheme == 'SCV'").set_index(["population", "replicate"])["estimate"] - 0.8
    excess = ((error + 0.05) ** 2 - error**2).unstack("population")
    twin = ttest_1samp((excess["a"] + excess["b"]) / 2, 0).confidence_interval()
    assert found["excess"] == pytest.approx(excess.mean().mean())
    assert (found["excess_low"], found["excess_high"]) == pytest.approx((twin.low, twin.high))


def test_two_samples_tell_next_to_nothing(lines):
    found = pooled(lines[lines["replicate"] < 2]).set_index("scheme").loc[SCV]
    ends = lines.query("learner == 'SMO' and scheme == 'SCV' and replicate < 2").groupby("replicate")["estimate"].mean()
    half = 12.7062 * abs(ends[0] - ends[1]) / 2  # Student's t with one degree of freedom
    assert found["bias_high"] - found["bias"] == pytest.approx(half, rel=1e-4)


def test_problems_count_alike_and_lie_beside_each_other(lines):
    shifted = lines.assign(estimate=lines["estimate"] + 0.1 * (lines["population"] == "b"))
    before, after = (pooled(each).set_index("scheme").loc[SCV] for each in (lines, shifted))
    assert after["bias"] - before["bias"] == pytest.approx(0.05)
    assert after["bias_high"] - after["bias"] == pytest.approx(before["bias_high"] - before["bias"])
