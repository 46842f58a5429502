"""References of a judgement."""

from fairtrial import compare
from fairtrial.report.sections.sources import build_references_section, list_tests_used, read_bibliography
from fairtrial.report.source import describe_source
from fairtrial.significance.names import get_display_name
from tests.report.judgement.cases import sections


def join_notes(name):
    return " ".join(sections(name)["references"].notes)


def test_used_measures_and_tests_are_cited():
    notes = join_notes("two classes")
    assert f"{read_bibliography()['Hand 2009']} For: " in notes
    for name in ("mcnemar", "delong", "holm", "wilson"):
        assert get_display_name(name) in notes
    resampled = read_bibliography()["Nadeau & Bengio 2003"]
    assert resampled not in notes
    assert resampled in join_notes("folded")
    assert get_display_name("delong") not in join_notes("labels only")
    assert get_display_name("mcnemar") not in join_notes("one model")


def test_each_work_is_cited_once():
    for name in ("two classes", "many sets"):
        notes = sections(name)["references"].notes
        assert len(notes) == len(set(notes))


def test_unregistered_measure_has_no_reference():
    table = [[0.9, 0.8, 0.7], [0.8, 0.6, 0.7], [0.7, 0.6, 0.5], [0.9, 0.5, 0.6], [0.8, 0.7, 0.4]]
    section = build_references_section(describe_source(compare(table, measure="my own score", better="max")))
    assert not any("my own score" in note for note in section.notes)


def test_tests_of_a_verdict():
    table = [[0.9, 0.8, 0.7], [0.8, 0.6, 0.7], [0.7, 0.6, 0.5], [0.9, 0.5, 0.6], [0.8, 0.7, 0.4]]
    assert list_tests_used(compare(table)) == ["iman_davenport", "bergmann"]
