"""Means over folds, differences of schemes, intervals of one more run."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairtrial.reproduce.dobscv.cells import base_of, cells_of, differences, in_groups, predicted
from fairtrial.reproduce.dobscv.trials import GIVEN, LITERAL, SCV


def folds(scheme, run, dataset, values):
    return [(scheme, run, dataset, "C4.5", fold, value, "ok") for fold, value in enumerate(values)]


def scores(*lines):
    return pd.DataFrame(
        [line for each in lines for line in each], columns=["scheme", "run", "dataset", "learner", "fold", "value", "status"]
    )


def test_mean_and_deviation_are_those_that_the_paper_prints():
    # Table 4, SMO on Shuttle0vs4: .9960 +- .0089 is one fold of .98 among perfect ones.
    found = cells_of(scores(folds(SCV, 0, "s", [1, 1, 0.98, 1, 1])), {"s": 13.87})
    assert found.loc[0, "auc"] == pytest.approx(0.9960)
    assert found.loc[0, "sd"] == pytest.approx(0.0089, abs=5e-5)
    assert found.loc[0, "group"] == "IR>9"


def test_a_set_that_failed_once_counts_nowhere():
    lines = scores(folds(SCV, 0, "a", [1, 1]), folds(LITERAL, 0, "a", [1, np.nan]), folds(SCV, 0, "b", [0.5, 0.7]))
    found = cells_of(lines, {"a": 2.0, "b": 9.0})
    assert found["dataset"].tolist() == ["b"]
    assert found["group"].tolist() == ["IR>9"]


def test_differences_pair_runs_by_their_number():
    lines = [folds(SCV, run, "a", [0.5 + 0.1 * run]) + folds(LITERAL, run, "a", [0.6 + 0.2 * run]) for run in range(2)]
    cells = cells_of(scores(*lines), {"a": 2.0})
    assert base_of(cells) == SCV
    found = differences(cells)
    assert found["value"].tolist() == pytest.approx([0.1, 0.2])
    assert found["percent"].tolist() == pytest.approx([20.0, 100 * 0.2 / 0.6])


def test_keels_folds_are_the_base_where_they_ran():
    assert base_of(pd.DataFrame({"scheme": [SCV, GIVEN]})) == GIVEN


def test_all_sets_are_a_group_of_their_own():
    found = in_groups(pd.DataFrame({"group": ["IR<9", "IR>9"], "value": [1.0, 2.0]}))
    assert found["group"].tolist() == ["IR<9", "IR>9", "all", "all"]


def test_19_of_20_single_runs_lie_in_the_interval():
    rng = np.random.default_rng(1)
    runs = pd.DataFrame({"key": np.repeat(np.arange(4000), 5), "value": rng.normal(size=20_000)})
    found = predicted(runs, ["key"])
    another = rng.normal(size=4000)
    inside = ((found["low"] <= another) & (another <= found["high"])).sum()
    assert stats.binomtest(int(inside), 4000, 0.95).pvalue > 0.001


def test_one_run_has_no_interval():
    found = predicted(pd.DataFrame({"key": [1], "value": [0.5]}), ["key"])
    assert found["value"].tolist() == [0.5]
    assert found[["low", "high"]].isna().all(axis=None)
