"""The whole experiment at smoke scale on simulated data sets, its page values and figures."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.data import GivenFolds
from fairtrial.reproduce import reproduce
from fairtrial.reproduce.claim import IntervalEstimate
from fairtrial.reproduce.dobscv import simulation, studies
from fairtrial.reproduce.dobscv.experiment import (
    compare_without_damaged,
    draw_biases,
    draw_differences,
    measure_abstention,
    summarize_biases,
)
from fairtrial.reproduce.dobscv.studies import GIVEN, LITERAL, SCV, SHUFFLED, ImbalancedData, simulate_datasets
from fairtrial.reproduce.experiment import Reproduction, Request, experiments
from fairtrial.reproduce.page import write_page
from tests.reproduce.dobscv.conftest import make_averages


def test_smoke_without_any_dataset(tmp_path, monkeypatch):
    monkeypatch.setattr(studies, "load_datasets", lambda names: ({}, dict.fromkeys(names, "not here")))
    monkeypatch.setattr(simulation, "_N_NEW", 100)
    reproduction = reproduce("dobscv", scale="smoke", out=tmp_path, jobs=1, progress=False)
    assert reproduction.skipped["Glass1"] == "not here"
    names = {"table-3-auc", "table-4", "table-5", "effects", "known-truth"}
    assert names <= {table.name for table in reproduction.tables}
    assert len(reproduction.claims) == 16
    assert {claim.reproduced for claim in reproduction.claims} == {None}
    assert len(reproduction.figures) == 3
    assert reproduction.frame("table-3-auc")["ours"].between(0.4, 1).all()
    schemes = {"k-fold", "SCV", "DB-SCV", "DOB-SCV literal", "DOB-SCV shuffled"}
    assert set(reproduction.frame("known-truth")["scheme"]) == schemes
    page = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert "2 simulated data sets" in page
    assert "16 claims: 0 reproduced, 0 contradicted, 16 inconclusive." in page
    assert "Glass1: not here" in page


def test_the_page_of_a_complete_run(tmp_path):
    dataset = simulate_datasets(1)["simulated 1"]
    rows = np.arange(len(dataset))
    folds = GivenFolds(dataset, ((rows[:100], rows[90:110]),))  # tests 20 of 120 rows, 10 of which train
    estimate = IntervalEstimate(0.0072, 0.0034, 0.0110)
    values = {
        "data": ImbalancedData({"Yeast1458vs7": dataset}, {"Yeast1458vs7": folds}, {}, ("Yeast1458vs7",)),
        "n_runs": 5,
        "failures": [{"learner": "SMO", "dataset": "Glass1", "count": 2}],
        "base": GIVEN,
        "damage": {"C4.5": (0.0071, 0.0063)},
        "target_gaps": {GIVEN: {"C4.5": estimate, "SMO": estimate}},
        "agreement": [{"learner": "C4.5", "scheme": GIVEN, "data sets": 19, "mean absolute difference": 0.056}],
        "puzzle": {"dataset": "Cleveland0vs4", "abstention_rate": 0.79, "auc": 0.1151},
        "n_samples": 1000,
        "biases": [{"scheme": SCV, "bias": -0.0096, "bias_low": -0.0118, "bias_high": -0.0073, "rmse": 0.0542}],
        "fold_biases": {SCV: -0.0041},
        "least_error": [LITERAL, SHUFFLED],
        "least_bias": SHUFFLED,
        "optimistic": [LITERAL],
    }
    page = write_page(experiments["dobscv"], Request("full", tmp_path), Reproduction(values, ()), [1.0])
    text = page.read_text(encoding="utf-8")
    for fact in (
        "SMO on Glass1 (2)",
        "Yeast1458vs7: 100 rows are never tested, 10 rows train and test in the same fold",
        "C4.5 +0.0071 (+0.0063)",
        f"- {GIVEN}: C4.5 +0.0072 (+0.0034 to +0.0110), SMO",
        f"C4.5 under {GIVEN} 0.056. The difference",
        "no rule fires for 79 % of the test rows",
        "| SCV | -0.0096 (-0.0118 to -0.0073) | 0.0542 |",
        f"The bias of {LITERAL} is clearly above that of SCV",
    ):
        assert fact in text


def test_differences_with_and_without_damaged_datasets():
    averages = make_averages(
        lambda scheme, _, index, __: 0.7 + (0.1 if scheme == LITERAL and index == 0 else 0.0), names=["Bad", "Good"]
    )
    data = ImbalancedData({}, {}, {}, ("Bad",))
    assert compare_without_damaged(data, averages)["C4.5"] == pytest.approx((0.05, 0.0))


def test_chi_abstains_on_most_rows_of_cleveland(shared_data, monkeypatch):
    monkeypatch.setenv("FAIRTRIAL_DATA", str(shared_data))
    monkeypatch.setattr(studies, "SMOKE", ("Cleveland0vs4",))
    # .1188 is printed for the mean of both recalls: at least 3 in 4 rows must be errors, which only abstention explains.
    assert 0.7 < measure_abstention(ImbalancedData.load("smoke", 1)) < 0.9
    assert measure_abstention(ImbalancedData({}, {}, {})) is None


def test_summary_of_biases():
    names = ["measure", "scheme", "bias", "bias_low", "bias_high", "fold_bias", "fold_bias_low", "fold_bias_high", "rmse"]
    rows = [
        ("balanced accuracy", SCV, -0.01, -0.02, 0.0, 0.0, -0.005, 0.005, 0.06),
        ("balanced accuracy", LITERAL, 0.02, 0.0, 0.04, 0.02, 0.01, 0.03, 0.05),
        ("balanced accuracy", SHUFFLED, 0.03, 0.0, 0.06, 0.009, 0.004, 0.014, 0.07),
    ]
    summary = summarize_biases(pd.DataFrame(rows, columns=names))
    assert summary["least_error"] == [LITERAL]
    assert summary["least_bias"] == SCV
    assert summary["optimistic"] == [LITERAL]  # the interval of the other overlaps that of SCV


def test_a_point_per_dataset_and_learner(rising):
    chart = draw_differences(rising).to_dict()
    rows = next(iter(chart["datasets"].values()))
    assert len(rows) == 66 * 5
    assert rows[0]["value"] > 0
    assert len(chart["spec"]["layer"]) == 3


def test_no_trend_through_a_few_points(few):
    assert len(draw_differences(few).to_dict()["spec"]["layer"]) == 2


def test_biases_have_intervals(simulated):
    chart = draw_biases(simulated.biases, column="fold_bias").to_dict()
    rows = next(iter(chart["datasets"].values()))
    assert len(rows) == len(simulated.biases)
    assert all(row["fold_bias_low"] <= row["fold_bias"] <= row["fold_bias_high"] for row in rows)
