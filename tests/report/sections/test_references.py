"""Each work is cited once, in alphabetical order, and every citation is in the bibliography."""

import pytest

from fairtrial.measures import registry as measures
from fairtrial.report.checks import registry as checks
from fairtrial.report.sections import sources
from fairtrial.report.sections.sources import read_bibliography, split_citation
from fairtrial.report.source import describe_source
from fairtrial.resampling.splitter import schemes
from fairtrial.significance.names import methods
from fairtrial.significance.posthoc import POSTHOC_METHODS
from tests.report.report_numbers import check_numbers
from tests.report.result_cases import cases
from tests.study.archives import real_results

UNCITED = {"none", "sidak"}
"""Adjustments without a work of their own."""


def test_bibliography_has_exactly_the_cited_works():
    cites = [each.facts.cite for each in measures.values() if each.formula.__module__.startswith("fairtrial.")]
    cites += [method.cite for method in methods.values() if method.cite]
    cites += [splitter.cite for splitter in schemes.values() if splitter.cite]
    cites += [checks[number].cite for number in checks if number.startswith("FT")]
    assert {work for cite in cites for work in split_citation(cite)} == set(read_bibliography())


def list_notes(results):
    return list(sources.build_references_section(describe_source(results)).notes)


def test_every_adjustment_is_cited():
    assert set(POSTHOC_METHODS) - {name for name, method in methods.items() if method.cite} <= UNCITED


def test_works_are_sorted_by_family_name():
    works = list_notes(real_results(declaration={"measures": ["accuracy", "auc", "kappa", "f_score"]}))
    assert len(set(works)) == len(works)
    first = [
        next(work for work in works if name in work)
        for name in ("D. Bamber", "J. Cohen (1960)", "J. Cohen (1968)", "C. J. van Rijsbergen")
    ]
    assert [works.index(each) for each in first] == sorted(works.index(each) for each in first)
    assert works[-1].startswith("C. J. van Rijsbergen")


def test_only_used_methods_are_cited():
    text = " ".join(list_notes(real_results(names=["cancer"], levels=(0.0,), declaration={"measures": ["h_measure"]})))
    assert "coherent alternative" in text
    assert "Inference for the generalization error" in text
    assert "equalized loss of accuracy" not in text
    assert "use of ranks to avoid" not in text
    several = " ".join(list_notes(real_results(declaration={"resampling": {"scheme": "dob-scv"}})))
    assert "use of ranks to avoid" in several
    assert "equalized loss of accuracy" in several
    assert "partition-induced dataset shift" in several


def test_work_names_what_it_is_cited_for():
    assert f"{read_bibliography()['Bamber 1975']} For: AUC." in list_notes(real_results())


@pytest.mark.parametrize("name", cases())
def test_section_is_built_for_any_results(name):
    section = sources.build_references_section(describe_source(cases()[name]))
    check_numbers([section])
    assert section.notes
