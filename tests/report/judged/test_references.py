from fairtrial.measures import get_measure
from fairtrial.report.judged.references import WORKS, references_section
from tests.report.judged.cases import sections


def used(name):
    return sections(name)["references"].tables[0].frame["described in"].to_dict()


def test_measures_and_tests_that_were_used():
    found = used("two classes")
    assert found["h measure"] == get_measure("h_measure").facts.cite
    assert {"mcnemar", "delong", "bootstrap difference", "permutation test", "holm"} <= set(found)
    assert "corrected resampled t" not in found
    assert used("folded")["corrected resampled t"] == WORKS["corrected_resampled_t"]
    assert "delong" not in used("labels only")


def test_scores_of_another_measure_have_no_reference():
    frame = references_section(["my own score"], ["friedman", "(iman_davenport)"]).tables[0].frame
    assert frame.index.tolist() == ["friedman", "iman davenport"]
