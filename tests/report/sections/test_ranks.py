"""The section of ranks."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata

from fairtrial.report.sections import ranks
from fairtrial.report.source import describe_source
from tests.report.report_numbers import check_numbers, list_tables
from tests.report.result_cases import build, cases, few_learners, skilled_results


@pytest.mark.parametrize("name", cases())
def test_every_result_has_the_section_or_none_and_its_prose_holds(name):
    results = cases()[name]
    found = build(ranks, name)
    assert (found is None) == (len(results.archive.learners) == 1)
    if found is not None:
        check_numbers([found])


def test_ranks_are_those_of_the_means():
    results = cases()["several"]
    table = next(each for each in list_tables([build(ranks, "several")]) if each.key == "ranks-measures").frame
    assert table.loc["accuracy"].tolist() == rankdata(-results.wide("accuracy").mean(), method="min").tolist()
    given = results.wide("brier").mean().drop("ridge")
    assert table.loc["brier"].drop("ridge").tolist() == rankdata(given, method="min").tolist()
    assert np.isnan(table.loc["brier", "ridge"])
    assert "log_loss" not in table.index


def test_the_sentence_counts_who_is_first_under_some_measure():
    frame = pd.DataFrame({"tree": [1, 2, 1], "bayes": [2, 1, 1], "rule": [3, 3, 3]}, index=["auc", "brier", "mcc"])
    facts, firsts = ranks.build_rank_facts(frame), ranks.count_firsts(frame)
    assert facts["value"].to_dict() == {"learners": 3, "measures": 3, "learners first under some measure": 2}
    assert firsts["first under"].to_dict() == {"tree": 2, "bayes": 2, "rule": 0}


def test_infinite_values_are_called_so_and_colours_tell_best_and_worst_apart():
    results = cases()["several"]
    endless = [name for name in results.wide("log_loss") if np.isinf(results.wide("log_loss")[name]).all()]
    told = ranks.explain_infinite_measures(results, ["log_loss", "accuracy"])
    assert set(told) <= {"log_loss"}
    assert all(name in told["log_loss"] for name in endless)
    shade = build(ranks, "several").figures[0].chart.to_dict()["layer"][0]["encoding"]["color"]["scale"]["range"]
    red, blue = (int(shade[0][i : i + 2], 16) - int(shade[-1][i : i + 2], 16) for i in (1, 5))
    assert red < -60 < 60 < blue


def test_undefined_is_not_called_infinite(monkeypatch):
    inf, nan = np.inf, np.nan
    columns = {"tree": [inf, inf, inf], "chi": [inf, nan, nan], "bayes": [0.4, inf, nan], "ridge": [nan, nan, nan]}
    table = pd.DataFrame(columns, index=["iris", "wine", "glass"])
    results = cases()["several"]
    monkeypatch.setattr(type(results), "wide", lambda *_: table)
    told = ranks.explain_infinite_measures(results, ["log_loss"])["log_loss"]
    assert told == "infinite for tree on every data set; infinite for chi on iris and undefined on wine and glass"


def test_one_who_is_first_by_all_is_said_to_be():
    results = skilled_results({"good": 0.95, "poor": 0.6})
    found = ranks.build_section(describe_source(results))
    assert found.sentences[0].text.startswith("good is first by each of ")
    assert "auc" in found.notes[0]


def test_the_mean_rank_is_over_measures_that_all_give():
    frame = pd.DataFrame({"tree": [1.0, 2.0], "bayes": [2.0, 1.0], "ridge": [3.0, np.nan]}, index=["auc", "brier"])
    assert ranks.compute_mean_ranks(frame).to_dict() == {"tree": 1.0, "bayes": 2.0, "ridge": 3.0}


def test_the_map_has_a_tile_for_each_rank():
    results = few_learners(["bayes", "ridge"], ["iris"])
    found = ranks.build_section(describe_source(results))
    table = next(each for each in found.tables if each.key == "ranks-measures").frame
    chart = found.figures[0].chart.to_dict()
    rows = chart["datasets"][chart["data"]["name"]]
    assert len(rows) == int(table.notna().to_numpy().sum())
