"""Tables of a verdict contain the numbers of its findings."""

import numpy as np
import pytest
from scipy.stats import wilcoxon

from fairtrial.report.section import Section
from fairtrial.report.sections.verdict import (
    VerdictContext,
    build_comparisons_frame,
    build_facts_table,
    build_further_tables,
    build_learners_table,
    build_verdict_facts,
)
from tests.report.report_numbers import check_numbers
from tests.report.result_cases import cases
from tests.study.archives import CLEAN


@pytest.mark.parametrize("name", ["several", "many classes", "two learners", "apart", "two apart", "failures", "worst rank"])
def test_every_number_of_the_findings_is_in_a_table(name):
    results = cases()[name]
    found = VerdictContext.from_study(results, results.verdict().measure, CLEAN)
    tables = (build_facts_table(found), build_learners_table(found), *build_further_tables(found))
    assert check_numbers([Section("verdict", "The verdict", found.describe(), tables=tables)]) > 0


def test_facts_are_those_of_the_test():
    results = cases()["two apart"]
    found = build_verdict_facts(results.verdict())["value"]
    wide = results.wide("error_rate")
    assert found["p"] == pytest.approx(wilcoxon(wide["poor"], wide["good"], method="exact").pvalue)
    assert (found["learners"], found["data sets"], found["significantly different"], found["comparisons"]) == (2, 8, 1, 1)
    whole = [found[f"probability that {name} is better"] for name in ("poor", "good")]
    assert sum(whole) + found["probability of practical equality"] == pytest.approx(1)
    assert found["region of practical equivalence"] == 0.01


def test_missing_verdict_has_a_reason():
    found = VerdictContext.from_study(cases()["one learner"], "accuracy", CLEAN)
    assert found.verdict is None
    assert found.reason


def test_significant_pairs_are_marked():
    verdict = cases()["apart"].verdict()
    frame = build_comparisons_frame(verdict)
    is_significant = frame.set_index(["first", "second"])["significantly different"]
    assert is_significant["good", "poor"] == "yes"
    assert np.array_equal(frame["adjusted p"] <= 0.05, frame["significantly different"] == "yes")
