"""The data sets of the papers."""

import pandas as pd

from fairtrial.data.catalogue import PAPER_SETS, format_papers


def test_as_many_as_the_papers_say():
    assert [len(names) for names in PAPER_SETS.values()] == [66, 32]
    assert all(len(set(names)) == len(names) for names in PAPER_SETS.values())


def test_the_names_of_the_coverage_table(shared_data):
    table = pd.read_csv(shared_data / "coverage.csv")
    for paper, names in PAPER_SETS.items():
        assert sorted(names) == sorted(table.loc[table["paper"].str.endswith(paper.split(" ")[0]), "name"])


def test_used_by():
    assert format_papers("abalone19") == "DOB-SCV"
    assert format_papers("zoo") == "ELA"
