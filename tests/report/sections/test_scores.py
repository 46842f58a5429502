"""The section of scores."""

import numpy as np
import pytest

from fairtrial.report.means import format_means_key
from fairtrial.report.sections import answer, scores
from fairtrial.report.source import describe_source
from tests.report.report_numbers import check_numbers, list_figures, list_sentences, list_tables
from tests.report.result_cases import NOISE, build, cases, skilled_results
from tests.study.archives import CLEAN


@pytest.mark.parametrize("name", cases())
def test_numbers_of_the_text_are_in_tables(name):
    found = build(scores, name)
    check_numbers([found])
    keys = [table.key for table in list_tables([found])] + [figure.key for figure in list_figures([found])]
    assert len(keys) == len(set(keys))


def test_means_are_those_of_the_wide_table():
    results = cases()["several"]
    tables = {table.key: table for table in list_tables([build(scores, "several")])}
    means = tables["scores-means-accuracy"].frame
    clean = means[means["condition"] == "clean"].set_index("learner")["mean"]
    assert clean.to_dict() == pytest.approx(results.wide("accuracy").mean().to_dict())
    long = tables["scores-all"]
    assert long.long
    assert list(long.frame.columns) == ["data set", "condition", "level", "learner", "measure", "mean", "low", "high", "splits"]
    assert len(long.frame) == 3 * 2 * 4 * 3


def test_answer_uses_the_frame_of_the_table():
    results = cases()["failures"]
    tables = {table.key: table.frame for table in list_tables([scores.build_section(describe_source(results))])}
    key = format_means_key(results, "auc")
    assert tables[key].equals(answer._build_means_frame(results, "auc"))


def test_note_explains_the_interval():
    def note(name):
        return next(table.note for table in list_tables([build(scores, name)]) if "means" in table.key)

    assert note("several") == scores._STUDENT
    assert note("many classes") == scores._CORRECTED
    assert note("failures") == f"{scores._STUDENT} {scores._MISSING}"


def test_undefined_measures_are_named():
    found = build(scores, "one learner, one data set")
    assert [sentence.names for sentence in list_sentences([found])] == [("Brier score",)]
    assert found.tables[0].frame.loc[0, ["measure", "undefined", "trials"]].tolist() == ["Brier score", 10, 10]
    assert found.tables[0].frame["number and cause"][0]
    assert found.notes == ()


def test_figure_shows_only_finite_means():
    found = {figure.key: figure for figure in list_figures([build(scores, "several")])}
    shown = found["scores-intervals-log-loss"].frame
    assert set(shown["learner"]) == {"bayes"}
    assert np.isfinite(found["scores-intervals-accuracy"].frame["mean"]).all()
    assert len(found["scores-intervals-accuracy"].frame) == 8


def test_with_more_learners_than_colours_one_condition_is_drawn():
    skills = {f"learner{i}": 0.6 + 0.03 * i for i in range(9)}
    found = scores.build_section(
        describe_source(skilled_results(skills, sets=3, conditions=(CLEAN, NOISE), declaration={"measures": ["accuracy"]}))
    )
    (figure,) = list_figures([found])
    assert figure.frame["learner"].tolist() == list(skills)
    assert set(figure.frame["condition"]) == {"clean"}
