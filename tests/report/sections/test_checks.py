"""The section shows every check once, those raised first, each with its table, why and remedy."""

import pytest

from fairtrial.report.checks import registry
from fairtrial.report.page import render
from fairtrial.report.sections import checks
from fairtrial.report.source import describe_source
from tests.report.pages import IMAGE, SCRIPT, hostile_results
from tests.report.report_numbers import check_numbers, list_tables
from tests.report.result_cases import build, cases


@pytest.mark.parametrize("name", cases())
def test_every_check_has_a_line_and_every_raised_one_a_part(name):
    section = build(checks, name)
    frame = section.tables[0].frame
    assert sorted(frame["number"]) == sorted(registry)
    raised = frame[frame["outcome"] == "raised"]
    assert raised.index.tolist() == list(range(len(raised)))
    assert [part.title.split()[0] for part in section.subsections] == raised["number"].tolist()
    assert not (frame["outcome"] == "could not be made").any()
    assert (raised["remedy"] != "").all()
    assert all(part.notes[0].startswith("Why it matters: ") and len(part.notes) == 1 for part in section.subsections)
    assert not any(part.sentences for part in section.subsections)


@pytest.mark.parametrize("name", cases())
def test_every_number_of_its_words_is_in_its_tables(name):
    assert check_numbers([build(checks, name)]) >= 1


def test_counts_are_those_of_the_outcomes():
    section = build(checks, "failures")
    frame, counts = (table.frame for table in section.tables)
    for outcome, own in frame.groupby("outcome"):
        assert counts.loc[outcome, "checks"] == len(own)
    assert counts.loc["all", "checks"] == len(registry)
    raised = frame.loc[frame["outcome"] == "raised", "number"]
    assert section.sentences[0].text == f"{len(raised)} of {len(registry)} checks were raised: {', '.join(raised)}."


def test_one_raised_check_is_told_as_one_and_none_as_none(monkeypatch):
    every = {number: registry[number] for number in ("FT002", "FT016")}
    monkeypatch.setattr(registry, "_items", every)
    assert checks.build_section(describe_source(cases()["several"])).sentences[0].text == "1 of 2 checks was raised: FT016."
    monkeypatch.setattr(registry, "_items", {"FT002": every["FT002"]})
    assert checks.build_section(describe_source(cases()["several"])).sentences[0].text == "None of 1 checks was raised."


def test_tables_have_keys_of_their_own_and_names_are_escaped():
    section = checks.build_section(describe_source(hostile_results()))
    keys = [table.key for table in list_tables([section])]
    assert len(set(keys)) == len(keys)
    text = render([section], "Checks")
    assert SCRIPT not in text
    assert IMAGE not in text
