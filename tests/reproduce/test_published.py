"""The published tables are those of the papers."""

from importlib import resources
from pathlib import Path

import pandas as pd
import pytest

from fairtrial.reproduce.published import published

NAMES = sorted(
    Path(each.name).stem
    for each in (resources.files("fairtrial.reproduce") / "published").iterdir()
    if each.name.endswith(".csv")
)
# Copied from the tutorial for this package alone; tests/reproduce/drift/test_printed.py holds them against each other.
OWN = {"drift_flu_tables", "drift_flu_averages"}


def test_the_averages_that_the_paper_on_ela_prints_follow_from_its_table():
    means = published("ela_table3").drop(columns="dataset").mean()
    assert means.round(2).tolist()[:4] == [81.28, 82.24, 80.37, 78.50]
    assert means.round(4).tolist()[4:] == [0.2777, 0.3117, 0.0115, 0.0457]


def test_rank_sums_are_those_of_66_sets_or_of_65_where_one_is_equal():
    table = published("dobscv_table5_wilcoxon")
    assert (table["r_plus"] + table["r_minus"]).isin([66 * 67 / 2, 65 * 66 / 2]).all()


def test_ranking_measures_have_ten_sets_in_each_of_four_experiments():
    assert published("berrar_table1").groupby("experiment").size().tolist() == [10, 10, 10, 10]


def test_the_tutorial_prints_an_average_for_each_of_four_learners_in_three_tables():
    averages = published("drift_flu_averages")
    assert averages.groupby("table").size().to_dict() == {"definitions": 4, "missing": 4, "populations": 4}
    lines = published("drift_flu_tables")
    assert lines.groupby("table").size().to_dict() == {"definitions": 6 * 4, "missing": 10 * 4}
    assert set(lines["learner"]) == set(averages["learner"])


@pytest.mark.parametrize("name", [name for name in NAMES if name not in OWN])
def test_tables_are_those_that_were_copied_from_the_papers(name):
    path = Path(__file__).resolve().parents[3] / "shared" / "oracles" / f"{name}.csv"
    if not path.is_file():
        pytest.skip("the published tables (../shared/oracles) are not here")
    pd.testing.assert_frame_equal(published(name), pd.read_csv(path))
