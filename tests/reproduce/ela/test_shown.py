"""The tables of the page."""

from fairtrial.reproduce.ela.cells import their_cells
from fairtrial.reproduce.ela.shown import all_tables


def test_all_tables_are_there_and_have_names_of_their_own(printed, shifted):
    tables = all_tables(printed, shifted, their_cells())
    names = [table.name for table in tables]
    assert len(set(names)) == len(names)
    assert {
        "averages",
        "decided",
        "best",
        "differently",
        "table3-c45-stated",
        "table3-puk-svc-logistic-any",
        "differences",
    } <= set(names)
    numbers = next(table for table in tables if table.name == "differences")
    assert len(numbers.frame) == 2 * 32 * 3 * 4
    assert not numbers.shown


def test_there_is_no_table_of_disagreements_without_any(printed):
    agreed = printed[printed["dataset"].isin(["iris", "wine"])]
    assert "differently" not in [table.name for table in all_tables(agreed, agreed, their_cells())]


def test_the_papers_whole_table_is_told_where_only_some_sets_were_run(printed):
    few = printed[printed["dataset"].isin(["iris", "wine"])]
    for cells, whole in ((few, True), (printed, False)):
        frame = next(table for table in all_tables(cells, cells, their_cells()) if table.name == "decided").frame
        assert ("paper, all 32 sets" in set(frame["table"])) is whole
