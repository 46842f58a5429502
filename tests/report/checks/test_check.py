"""Checks have numbers for ever, are registered once, and none can cost a report."""

from types import SimpleNamespace

import pytest

from fairtrial import _registry
from fairtrial.errors import InputError
from fairtrial.report.checks import Check, check, registry, report_not_applicable, report_passed, report_raised, run_checks
from fairtrial.report.section import build_sentence

TITLES = {
    "FT001": "Folds used as independent samples",
    "FT002": "Accuracy on imbalanced data",
    "FT003": "Tiny classes",
    "FT004": "Leaks between training and test rows",
    "FT005": "Known-bad data",
    "FT006": "DOB-SCV optimism",
    "FT007": "Tuning on the test part",
    "FT008": "Too few data sets for the test",
    "FT009": "Failures imputed or data sets excluded",
    "FT010": "ROC curves that cross",
    "FT011": "Incomplete study",
    "FT012": "Rows never tested, or tested unequally often",
    "FT013": "Learners without the scores that a measure needs",
    "FT014": "Badly calibrated probabilities that no measure judges",
    "FT015": "Several measures or conditions tested without adjustment",
    "FT016": "No repeat",
    "FT017": "Noise in the labels of the test part",
    "FT018": "Learners with warnings",
    "FT019": "Oversubscribed timing",
    "FT020": "Baseline missing or not beaten",
    "FT021": "Measures undefined in many folds",
    "FT022": "Versions that differ between runs",
}
"""Numbers are cited by papers: a line here is never changed, only added."""


def made(number, look):
    return Check(number, "title", "looks", "why", "remedy", "", look)


@pytest.fixture
def own_registry(monkeypatch):
    monkeypatch.setattr(registry, "_items", dict(registry._items))
    return registry


def test_numbers_and_titles_stay():
    assert {number: registry[number].title for number in registry if number.startswith("FT")} == TITLES


def test_each_check_says_all_that_a_reader_needs():
    for number in TITLES:
        one = registry[number]
        assert all([one.looks_for, one.why, one.remedy, one.cite])


@pytest.mark.parametrize("number", ["FT1", "ft001", "001", "LAB0001", ""])
def test_other_numbers_are_refused(number):
    with pytest.raises(InputError, match="capital letters and three digits"):
        made(number, lambda _results: report_passed(build_sentence("Fine.")))


def test_a_number_is_given_once(own_registry):
    with pytest.raises(InputError, match="a check called 'FT001' exists already"):

        @check("FT001", title="mine", looks_for="", why="", remedy="", cite="")
        def mine(_results):
            return report_passed(build_sentence("Fine."))

    assert own_registry["FT001"].title == TITLES["FT001"]


def test_a_cell_run_again_replaces_its_check(own_registry):
    def cell(title):
        @check("LAB001", title=title, looks_for="", why="", remedy="", cite="")
        def mine(_results):
            return report_passed(build_sentence("Fine."))

    cell("old")
    cell("new")
    assert own_registry["LAB001"].title == "new"


def test_those_raised_come_first_then_by_number():
    outcomes = {"LAB003": report_passed, "LAB001": report_not_applicable, "LAB004": report_raised, "LAB002": report_raised}
    checks = [made(number, lambda _results, how=how: how(build_sentence("Fine."))) for number, how in outcomes.items()]
    assert [one.check.number for one in run_checks(None, checks)] == ["LAB002", "LAB004", "LAB003", "LAB001"]


def test_a_check_that_breaks_is_told_and_the_others_go_on():
    def broken(_results):
        raise ZeroDivisionError("one over 0.")

    first, second = run_checks(
        None, [made("LAB001", lambda _results: report_passed(build_sentence("Fine."))), made("LAB002", broken)]
    )
    assert first.finding.outcome == "could not be made"
    assert str(first.finding.sentence) == "The check could not be made: ZeroDivisionError, one over 0."
    assert second.finding.outcome == "passed"


def test_third_parties_add_checks_by_entry_points(own_registry, monkeypatch):
    def load():
        @check("LAB007", title="theirs", looks_for="", why="", remedy="", cite="")
        def theirs(_results):
            return report_passed(build_sentence("Fine."))

    def points(group):
        return [SimpleNamespace(load=load)] if group == "fairtrial.checks" else []

    monkeypatch.setattr(_registry, "entry_points", points)
    monkeypatch.setattr(own_registry, "_loaded", False)
    assert own_registry["LAB007"].title == "theirs"
