"""The setup of a study."""

import pytest

from fairtrial.report.page import render
from fairtrial.report.sections import run
from fairtrial.report.source import describe_source
from tests.report.checks.made_results import changed, of_a_file, stopped_study
from tests.report.pages import IMAGE, SCRIPT, hostile_results
from tests.report.report_numbers import check_numbers, list_tables
from tests.report.result_cases import build, cases
from tests.study.archives import real_results


@pytest.mark.parametrize("name", cases())
def test_numbers_of_the_text_are_in_tables(name):
    section = build(run, name)
    assert check_numbers([section]) >= 5
    assert all(table.key.startswith("what-was-run-") for table in list_tables([section]))


def test_sentences_count_trials():
    size, outcome = build(run, "several").sentences
    assert [number.value for number in size.numbers] == [4, 3, 2, 15, 120]
    assert outcome.numbers == ()
    outcomes = build(run, "failures").sentences[1:]
    assert [(number.cell.line, number.value) for sentence in outcomes for number in sentence.numbers] == [
        ("trials that failed", 2),
        ("trials not run", 8),
    ]


def test_abstentions_are_counted():
    section = build(run, "abstaining")
    # 150 rows of each of 3 data sets under 2 conditions, the first of 5 folds apart; each fifth of 30 rows is silent.
    assert "near" in section.sentences[-1].names
    assert {number.value for number in section.sentences[-1].numbers} == {24, 30, 144, 720}
    assert section.tables[-1].frame.to_numpy().tolist() == [["near", 144, 720, 24, 30]]
    assert "what-was-run-abstentions" not in {table.key for table in build(run, "several").tables}


def test_nouns_agree_with_their_numbers():
    text = build(run, "one learner, one data set").sentences[0].text
    assert "1 learner on 1 data set " in text
    assert "2 conditions" in text


def test_results_file_has_tables_of_runs_and_versions():
    keys = {table.key.removeprefix("what-was-run-") for table in run.build_section(describe_source(stopped_study())).tables}
    assert keys == {"counts", "learners", "conditions", "settings", "trials", "runs", "versions"}
    assert "what-was-run-failures" in {table.key for table in build(run, "failures").tables}


def test_notes_of_a_file_of_predictions():
    results = changed(of_a_file(), declaration={"notes": ["Two rows were dropped."]})
    assert run.build_section(describe_source(results)).notes[1:] == ("Two rows were dropped.",)
    assert run.build_section(describe_source(real_results())).notes == ()


def test_names_are_escaped():
    text = render([run.build_section(describe_source(hostile_results()))], "Run")
    assert SCRIPT not in text
    assert IMAGE not in text
