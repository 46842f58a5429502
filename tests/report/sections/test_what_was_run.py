"""What was run is said in sentences whose numbers are in the tables, for results of any shape."""

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
def test_every_number_of_its_words_is_in_its_tables(name):
    section = build(run, name)
    assert check_numbers([section]) >= 5
    assert all(table.key.startswith("what-was-run-") for table in list_tables([section]))


def test_the_sentences_of_a_study_that_went_well_and_of_one_that_did_not():
    good = [each.text for each in build(run, "several").sentences]
    assert good == [
        "example tries 4 learners on 3 data sets under 2 conditions, in 15 splits: 120 trials.",
        "All of them ran well.",
    ]
    bad = [each.text for each in build(run, "failures").sentences[1:]]
    assert bad == ["2 of them failed.", "8 of them have not run."]


def test_abstentions_are_told_and_tabled():
    section = build(run, "abstaining")
    # 150 rows of each of 3 data sets under 2 conditions, the first of 5 folds apart; each fifth of 30 rows is silent.
    told = "near abstained in 24 of 30 trials, on 144 of the 720 test rows there: each counts as an error."
    assert section.sentences[-1].text == told
    assert section.tables[-1].frame.to_numpy().tolist() == [["near", 144, 720, 24, 30]]
    assert "what-was-run-abstentions" not in {table.key for table in build(run, "several").tables}


def test_one_of_each_is_said_in_the_singular():
    text = build(run, "one learner, one data set").sentences[0].text
    assert text.startswith("example tries 1 learner on 1 data set under 2 conditions")


def test_a_store_has_tables_of_runs_and_versions_and_failures_where_there_are_some():
    keys = {table.key.removeprefix("what-was-run-") for table in run.build_section(describe_source(stopped_study())).tables}
    assert keys == {"counts", "learners", "conditions", "settings", "trials", "runs", "versions"}
    assert "what-was-run-failures" in {table.key for table in build(run, "failures").tables}


def test_notes_of_a_file_of_predictions_are_repeated():
    results = changed(of_a_file(), declaration={"notes": ["Two rows were dropped."]})
    assert run.build_section(describe_source(results)).notes == (
        "Models are known by their predictions alone.",
        "Two rows were dropped.",
    )
    assert run.build_section(describe_source(real_results())).notes == ()


def test_names_are_escaped():
    text = render([run.build_section(describe_source(hostile_results()))], "Run")
    assert SCRIPT not in text
    assert IMAGE not in text
