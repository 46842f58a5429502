"""Checks keep their numbers, are registered once, and never break a report."""

from types import SimpleNamespace

import pytest

from fairtrial import _registry, compare
from fairtrial.errors import InputError
from fairtrial.report.checks import Check, check, registry, report_not_applicable, report_passed, report_raised, run_checks

TITLES = {
    "FT001": "Folds used as independent samples",
    "FT002": "Accuracy on imbalanced data",
    "FT003": "Tiny classes",
    "FT004": "Leaks between training and test rows",
    "FT005": "Known-bad data",
    "FT006": "DOB-SCV optimism",
    "FT007": "Tuning on the test set",
    "FT008": "Too few data sets for the test",
    "FT009": "Failures imputed or data sets excluded",
    "FT010": "ROC curves that cross",
    "FT011": "Incomplete study",
    "FT012": "Rows never tested, or tested unequally often",
    "FT013": "Learners without the scores that a measure needs",
    "FT014": "Badly calibrated probabilities that no measure judges",
    "FT015": "Several measures or conditions tested without adjustment",
    "FT016": "No repeat",
    "FT017": "Noise in the labels of the test set",
    "FT018": "Learners with warnings",
    "FT019": "Oversubscribed timing",
    "FT020": "Baseline missing or not beaten",
    "FT021": "Measures undefined in many folds",
    "FT022": "Versions that differ between runs",
    "FT023": "Few rows",
}
"""Papers cite the numbers: a number is never removed or reused."""

VERDICT = compare([[0.9, 0.8], [0.8, 0.6], [0.7, 0.6]])
TEXTS = {"passed": "fine.", "raised": "not fine.", "not applicable": "nothing to check."}


def made(number, look):
    return Check(number, "title", "looks", "why", "remedy", "", TEXTS, look)


@pytest.fixture
def own_registry(monkeypatch):
    monkeypatch.setattr(registry, "_items", dict(registry._items))
    return registry


def test_numbers_and_titles_stay():
    assert {number: registry[number].title for number in registry if number.startswith("FT")} == TITLES


def test_every_check_is_documented():
    for number in TITLES:
        one = registry[number]
        assert all([one.looks_for, one.why, one.remedy, one.cite])


@pytest.mark.parametrize("number", ["FT1", "ft001", "001", "LAB0001", ""])
def test_other_numbers_are_refused(number):
    with pytest.raises(InputError, match="number"):
        made(number, lambda _results: report_passed())


def test_a_number_is_registered_once(own_registry):
    with pytest.raises(InputError, match="FT001"):

        @check("FT001", title="mine", looks_for="", why="", remedy="", cite="", texts=TEXTS)
        def mine(_results):
            return report_passed()

    assert own_registry["FT001"].title == TITLES["FT001"]


def test_registering_again_from_a_notebook_replaces_a_check(own_registry):
    def cell(title):
        @check("LAB001", title=title, looks_for="", why="", remedy="", cite="", texts=TEXTS)
        def mine(_results):
            return report_passed()

    cell("old")
    cell("new")
    assert own_registry["LAB001"].title == "new"


def test_raised_checks_come_first():
    outcomes = {"LAB003": report_passed, "LAB001": report_not_applicable, "LAB004": report_raised, "LAB002": report_raised}
    checks = [made(number, lambda _results, how=how: how()) for number, how in outcomes.items()]
    assert [one.check.number for one in run_checks(VERDICT, checks)] == ["LAB002", "LAB004", "LAB003", "LAB001"]


def test_a_check_that_raises_an_exception_does_not_stop_the_others():
    def broken(_results):
        raise ZeroDivisionError("one over 0.")

    first, second = run_checks(VERDICT, [made("LAB001", lambda _results: report_passed()), made("LAB002", broken)])
    assert first.finding.outcome == "failed to run"
    assert dict(first.finding.finding.values) == {"error": "ZeroDivisionError", "message": "one over 0"}
    assert second.finding.outcome == "passed"


def test_third_parties_add_checks_by_entry_points(own_registry, monkeypatch):
    def load():
        @check("LAB007", title="theirs", looks_for="", why="", remedy="", cite="", texts=TEXTS)
        def theirs(_results):
            return report_passed()

    def points(group):
        return [SimpleNamespace(load=load)] if group == "fairtrial.checks" else []

    monkeypatch.setattr(_registry, "entry_points", points)
    monkeypatch.setattr(own_registry, "_loaded", False)
    assert own_registry["LAB007"].title == "theirs"
