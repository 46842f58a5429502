"""The section of checks has a row for every check, raised ones first, each with its table, reason and remedy."""

import pytest

from fairtrial.report.check import run_checks
from fairtrial.report.checks import registry
from fairtrial.report.page import render
from fairtrial.report.sections import checks
from fairtrial.report.source import describe_source
from tests.report.pages import IMAGE, SCRIPT, hostile_results
from tests.report.report_numbers import check_numbers, list_tables
from tests.report.result_cases import build, cases


@pytest.mark.parametrize("name", cases())
def test_every_check_has_a_row_and_every_raised_one_a_subsection(name):
    section = build(checks, name)
    frame = section.tables[0].frame
    assert set(frame["number"]) <= set(registry)
    raised = frame[frame["outcome"] == "raised"]
    assert raised.index.tolist() == list(range(len(raised)))
    assert [part.title.split()[0] for part in section.subsections] == raised["number"].tolist()
    assert not (frame["outcome"] == "failed to run").any()
    assert (raised["remedy"] != "").all()
    assert all(len(part.notes) == 2 and not part.sentences for part in section.subsections)


@pytest.mark.parametrize("name", cases())
def test_numbers_of_the_text_are_in_tables(name):
    assert check_numbers([build(checks, name)]) >= 1


def test_counts_are_those_of_the_outcomes():
    section = build(checks, "failures")
    frame, counts = (table.frame for table in section.tables)
    for outcome, rows in frame.groupby("outcome"):
        assert counts.loc[outcome, "checks"] == len(rows)
    assert counts.loc["all", "checks"] == len(run_checks(describe_source(cases()["failures"])))
    raised = frame.loc[frame["outcome"] == "raised", "number"]
    assert section.sentences[0].text.startswith(f"{len(raised)} of {len(frame)} checks")
    assert [sentence.text.partition(":")[0] for sentence in section.sentences[1:]] == raised.tolist()


def test_table_keys_are_unique_and_names_are_escaped():
    section = checks.build_section(describe_source(hostile_results()))
    keys = [table.key for table in list_tables([section])]
    assert len(set(keys)) == len(keys)
    text = render([section], "Checks")
    assert SCRIPT not in text
    assert IMAGE not in text
