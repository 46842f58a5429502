"""The section of folds."""

import pytest

from fairtrial.report.sections.folds import build_section
from fairtrial.report.source import describe_source
from tests.report.report_numbers import check_numbers
from tests.report.result_cases import cases
from tests.report.test_fold_counts import split_results


@pytest.mark.parametrize("name", sorted(cases()))
def test_it_is_written_for_any_results(name):
    found = build_section(describe_source(cases()[name]))
    assert check_numbers([found]) >= 0
    assert found.sentences[0].text.startswith("No fault was found")


def test_shares_are_counts_of_rows():
    results = cases()["several"]
    found = build_section(describe_source(results))
    summary = found.tables[0].frame
    facts = next(each for each in results.archive.datasets if each.name == "cancer")
    place = facts.classes.index("malignant")
    shares = [(facts.codes[results.archive.split("cancer", 0, fold)[1]] == place).mean() for fold in range(5)]
    assert summary.loc["cancer", "lowest proportion"] == pytest.approx(min(shares))
    assert summary.loc["cancer", "highest proportion"] == pytest.approx(max(shares))
    assert summary.loc["cancer", "never tested"] == 0
    assert f"{max(shares):.3f}" in found.figures[0].alt


def test_leaks_are_faults_and_counted():
    results, _ = split_results([([0, 1, 2, 3], [3, 4, 5]), ([3, 4, 5], [0, 1, 2])], [0, 0, 0, 1, 1, 0], ids=list("ppqrst"))
    found = build_section(describe_source(results))
    check_numbers([found])
    words = [each.text for each in found.sentences]
    assert words[0] == "Splits of d have faults: estimates from them are wrong. The table says which."
    assert words[1] == "d: 1 test rows over all splits are in the training part of their own split."
    assert "Rows are in the training and in the test part" in found.tables[1].frame["finding"].tolist()[0]


def test_ids_across_the_cut_are_told():
    results, _ = split_results([([0, 1], [2, 3]), ([2, 3], [0, 1])], [0, 1, 0, 1], ids=["p", "q", "p", "r"])
    words = [each.text for each in build_section(describe_source(results)).sentences]
    assert "d: 2 test rows over all splits have a row of the same id in the training part." in words


def test_many_splits_are_not_listed():
    n = 400
    parts = [([row for row in range(n) if row != left], [left]) for left in range(301)]
    found = build_section(describe_source(split_results(parts, [i % 2 for i in range(n)])[0]))
    assert [table.key for table in found.tables] == ["folds-summary", "folds-findings"]
    assert found.figures == ()
