"""The section of folds."""

import pytest

from fairtrial.report.sections.folds import build_section
from fairtrial.report.source import describe_source
from tests.report.report_numbers import check_numbers
from tests.report.result_cases import cases
from tests.report.test_fold_counts import split_results


@pytest.mark.parametrize("name", sorted(cases()))
def test_section_is_built_for_any_results(name):
    found = build_section(describe_source(cases()[name]))
    assert check_numbers([found]) >= 0
    assert (found.tables[0].frame["faults"] == 0).all()


def test_proportions_are_counted():
    results = cases()["several"]
    found = build_section(describe_source(results))
    summary = found.tables[0].frame
    facts = next(each for each in results.archive.datasets if each.name == "cancer")
    code = facts.classes.index("malignant")
    shares = [(facts.codes[results.archive.split("cancer", 0, fold)[1]] == code).mean() for fold in range(5)]
    assert summary.loc["cancer", "lowest proportion"] == pytest.approx(min(shares))
    assert summary.loc["cancer", "highest proportion"] == pytest.approx(max(shares))
    assert summary.loc["cancer", "never tested"] == 0
    assert f"{max(shares):.3f}" in found.figures[0].alt


def test_leaks_are_counted_as_faults():
    results, _ = split_results([([0, 1, 2, 3], [3, 4, 5]), ([3, 4, 5], [0, 1, 2])], [0, 0, 0, 1, 1, 0], ids=list("ppqrst"))
    found = build_section(describe_source(results))
    check_numbers([found])
    assert found.sentences[0].names == ("d",)
    assert [(number.cell.column, number.value) for number in found.sentences[1].numbers] == [("in train and test", 1)]
    assert found.tables[0].frame.loc["d", "faults"] == (found.tables[1].frame["level"] == "fault").sum() > 0


def test_ids_in_training_and_test_set_are_counted():
    results, _ = split_results([([0, 1], [2, 3]), ([2, 3], [0, 1])], [0, 1, 0, 1], ids=["p", "q", "p", "r"])
    section = build_section(describe_source(results))
    counts = {number.cell.column: number.value for sentence in section.sentences for number in sentence.numbers}
    assert counts["repeated id in training and test"] == 2


def test_many_splits_are_not_listed():
    n = 400
    parts = [([row for row in range(n) if row != left], [left]) for left in range(301)]
    found = build_section(describe_source(split_results(parts, [i % 2 for i in range(n)])[0]))
    assert [table.key for table in found.tables] == ["folds-summary", "folds-findings"]
    assert found.figures == ()
