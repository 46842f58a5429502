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
def test_section_needs_two_learners_and_its_numbers_are_in_tables(name):
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


def test_learners_that_rank_first_are_counted():
    frame = pd.DataFrame({"tree": [1, 2, 1], "bayes": [2, 1, 1], "rule": [3, 3, 3]}, index=["auc", "brier", "mcc"])
    facts, firsts = ranks.build_rank_facts(frame), ranks.count_firsts(frame)
    assert facts["value"].to_dict() == {"learners": 3, "measures": 3, "learners first under some measure": 2}
    assert firsts["first under"].to_dict() == {"tree": 2, "bayes": 2, "rule": 0}


def test_infinite_measures_are_explained_and_colours_distinguish_best_and_worst():
    results = cases()["several"]
    endless = [name for name in results.wide("log_loss") if np.isinf(results.wide("log_loss")[name]).all()]
    told = ranks.explain_infinite_measures(results, ["log_loss", "accuracy"])
    assert set(told) <= {"log_loss"}
    assert all(name in told["log_loss"] for name in endless)
    shade = build(ranks, "several").figures[0].chart.to_dict()["layer"][0]["encoding"]["color"]["scale"]["range"]
    red, blue = (int(shade[0][i : i + 2], 16) - int(shade[-1][i : i + 2], 16) for i in (1, 5))
    assert red < -60 < 60 < blue


def test_undefined_values_are_not_infinite(monkeypatch):
    inf, nan = np.inf, np.nan
    columns = {"tree": [inf, inf, inf], "chi": [inf, nan, nan], "bayes": [0.4, inf, nan], "ridge": [nan, nan, nan]}
    table = pd.DataFrame(columns, index=["iris", "wine", "glass"])
    results = cases()["several"]
    monkeypatch.setattr(type(results), "wide", lambda *_: table)
    explanation = ranks.explain_infinite_measures(results, ["log_loss"])["log_loss"]
    infinite, undefined = explanation.split("undefined")
    assert "tree" in infinite
    assert "chi on iris" in infinite
    assert "bayes" not in explanation
    assert "ridge" not in explanation
    assert "wine and glass" in undefined


def test_learner_that_ranks_first_under_all_measures():
    results = skilled_results({"good": 0.95, "poor": 0.6})
    found = ranks.build_section(describe_source(results))
    assert "good" in found.sentences[0].names
    assert [number.cell.line for number in found.sentences[0].numbers] == ["measures"]
    assert "AUC" in found.notes[0]


def test_mean_rank_is_over_measures_of_all_learners():
    frame = pd.DataFrame({"tree": [1.0, 2.0], "bayes": [2.0, 1.0], "ridge": [3.0, np.nan]}, index=["auc", "brier"])
    assert ranks.compute_mean_ranks(frame).to_dict() == {"tree": 1.0, "bayes": 2.0, "ridge": 3.0}


def test_figure_has_a_tile_for_each_rank():
    results = few_learners(["bayes", "ridge"], ["iris"])
    found = ranks.build_section(describe_source(results))
    table = next(each for each in found.tables if each.key == "ranks-measures").frame
    chart = found.figures[0].chart.to_dict()
    rows = chart["datasets"][chart["data"]["name"]]
    assert len(rows) == int(table.notna().to_numpy().sum())
