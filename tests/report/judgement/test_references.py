from fairtrial import compare
from fairtrial.report.sections.sources import build_reference_list, list_tests_used, read_bibliography
from tests.report.judgement.cases import sections


def notes_of(name):
    return " ".join(sections(name)["references"].notes)


def test_measures_and_tests_that_were_used():
    found = notes_of("two classes")
    assert "For: h measure" in found
    assert f"{read_bibliography()['Hand 2009']} For: " in found
    for name in ("mcnemar", "delong", "bootstrap difference", "permutation test", "holm", "wilson"):
        assert name in found
    assert "corrected resampled t" not in found
    assert f"{read_bibliography()['Nadeau & Bengio 2003']} For: corrected resampled t." in notes_of("folded")
    assert "delong" not in notes_of("labels only")
    assert "For: mcnemar" not in notes_of("one model")


def test_each_work_once_in_alphabetical_order():
    notes = build_reference_list(["accuracy", "accuracy", "brier"], ["holm", "delong", "holm"]).notes
    assert len(notes) == len(set(notes))
    assert sum("Holm" in note for note in notes) == 1


def test_scores_of_another_measure_have_no_reference():
    assert build_reference_list(["my own score"], []).notes == ()
    assert build_reference_list(["my own score"], []).sentences == ()


def test_the_used_by_a_verdict():
    table = [[0.9, 0.8, 0.7], [0.8, 0.6, 0.7], [0.7, 0.6, 0.5], [0.9, 0.5, 0.6], [0.8, 0.7, 0.4]]
    assert list_tests_used(compare(table)) == ["iman_davenport", "bergmann"]
