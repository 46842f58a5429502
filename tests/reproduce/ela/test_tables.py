"""Tables: our cells come from the study, and the paper's averages and counts from its own numbers."""

import pandas as pd
import pytest
from scipy.stats import binomtest, ttest_rel

from fairtrial.reproduce.ela.tables import (
    ANY_CLASS,
    C45,
    CLEAN,
    ELA,
    LEARNERS,
    NOISY,
    OTHER_CLASS,
    OURS,
    PAPER,
    RLA,
    SVM_LOGISTIC,
    SVM_VOTES,
    Table3,
    TableCells,
    WinCount,
    build_tables,
    compare_noise,
    count_best,
    read_published_cells,
    tabulate_averages,
    tabulate_by_dataset,
    tabulate_decisions,
    tabulate_disagreements,
)

PUBLISHED = Table3.published()
# The rows 'average' and 'best' of the paper's table 3.
AVERAGE = {(C45, CLEAN): 81.28, (C45, NOISY): 80.37, (C45, ELA): 0.2777, (C45, RLA): 0.0115}
AVERAGE |= {
    (SVM_LOGISTIC, CLEAN): 82.24,
    (SVM_LOGISTIC, NOISY): 78.50,
    (SVM_LOGISTIC, ELA): 0.3117,
    (SVM_LOGISTIC, RLA): 0.0457,
}
BEST = {CLEAN: (12, 20), NOISY: (16, 16), ELA: (16, 16), RLA: (23, 9)}
# Shaded grey in the paper, according to its text.
DIFFERENT = {"balance", "sonar", "flare", "lymphography", "vehicle", "ring", "newthyroid", "vowel", "magic", "yeast"}
DIFFERENT |= {"german", "glass", "contraceptive"}
KEYS = ["dataset", "learner", "quantity"]


def test_our_cells_are_the_means_and_losses_of_the_study(small_results):
    cells = TableCells.from_results(small_results).other_class.set_index(KEYS)
    scores = small_results.scores("accuracy")
    for dataset in ("iris", "wine"):
        for learner in LEARNERS:
            selected = scores[(scores["dataset"] == dataset) & (scores["learner"] == learner)]
            clean = 100 * selected[selected["condition"] == "clean"]["value"].mean()
            noisy = 100 * selected[selected["condition"] == OTHER_CLASS]["value"].mean()
            key = (dataset, learner)
            assert cells.loc[(*key, CLEAN), "value"] == pytest.approx(clean)
            assert cells.loc[(*key, NOISY), "value"] == pytest.approx(noisy)
            assert cells.loc[(*key, ELA), "value"] == pytest.approx((100 - noisy) / clean)
            assert cells.loc[(*key, RLA), "value"] == pytest.approx((clean - noisy) / clean)
    assert (cells["low"] <= cells["value"]).all()
    assert (cells["value"] <= cells["high"]).all()


def test_both_kinds_of_noise_have_the_same_clean_accuracies(small_results):
    cells = TableCells.from_results(small_results)
    other, any_class = (frame.set_index(KEYS)["value"] for frame in (cells.other_class, cells.any_class))
    assert other.xs(CLEAN, level=2).equals(any_class.xs(CLEAN, level=2))
    assert not other.xs(NOISY, level=2).equals(any_class.xs(NOISY, level=2))


def test_published_cells_are_the_numbers_of_table_3():
    cells = read_published_cells()
    assert len(cells) == 32 * 3 * 4
    zoo = cells[(cells["dataset"] == "zoo") & (cells["learner"] == SVM_VOTES)]
    assert zoo["value"].tolist() == [80.64, 73.08, 0.3338, 0.0938]


def test_versions_have_the_data_sets_with_all_numbers(published_cells):
    is_missing = (published_cells["dataset"] == "car") & (published_cells["learner"] == SVM_LOGISTIC)
    incomplete = published_cells[~(is_missing & (published_cells["quantity"] == RLA))]
    versions = TableCells(incomplete, published_cells).build_versions()
    assert all(len(table) == 31 and "car" not in table.frame.index for table in versions.values())
    assert versions[OURS].frame.index.tolist() == versions[PAPER].frame.index.tolist()
    assert versions[OURS].frame.equals(versions[PAPER].frame)


def test_averages_are_those_of_the_paper(published_cells):
    cells = TableCells(published_cells, published_cells)
    averages = tabulate_averages(cells.compare(OTHER_CLASS), "some").set_index(["learner", "quantity"])
    for key, value in AVERAGE.items():
        assert averages.loc[key, "paper"] == pytest.approx(value, abs=0.0051 if value > 1 else 0.000051)
    assert averages["difference"].abs().max() == 0
    assert (averages["data sets"] == 32).all()


def test_averages_of_shifted_numbers_show_the_shift(shifted_cells, published_cells):
    comparison = TableCells(published_cells, shifted_cells).compare(ANY_CLASS)
    averages = tabulate_averages(comparison, "some").set_index(["learner", "quantity"])
    assert averages.loc[(C45, CLEAN), ["difference", "low", "high", "mean distance"]].tolist() == pytest.approx([2.0] * 4)


def test_best_counts_are_those_of_the_paper():
    counts = count_best({PAPER: PUBLISHED}).set_index("quantity")
    assert {quantity: tuple(counts.loc[quantity, ["C4.5 best", "SVM best"]]) for quantity in BEST} == BEST


def test_ela_and_rla_differ_on_the_data_sets_that_the_paper_names():
    preferences = PUBLISHED.compare_preferences()
    assert set(preferences[preferences["differ"]].index) == DIFFERENT
    table = tabulate_disagreements({OURS: PUBLISHED, PAPER: PUBLISHED}).set_index("data set")
    assert set(table.index) == DIFFERENT
    assert table.loc["flare", "paper"] == "ELA C4.5, RLA SVM"


def test_a_row_by_data_set_has_both_numbers_and_the_interval(shifted_cells):
    comparison = TableCells(shifted_cells, shifted_cells).compare(OTHER_CLASS)
    row = tabulate_by_dataset(comparison, C45).set_index("data set").loc["iris"]
    assert row[CLEAN] == "97.07"
    assert row[f"{CLEAN}, paper"] == "95.07"
    assert row[f"{CLEAN}, difference"] == "+2.00 (+1.99 to +2.01)"


@pytest.mark.parametrize("quantity", ["acc0", "acc10", "ela", "rla"])
def test_differences_are_those_of_a_paired_t_test(quantity):
    test = ttest_rel(PUBLISHED.frame[f"{quantity}_c45"], PUBLISHED.frame[f"{quantity}_svm"])
    difference, interval = PUBLISHED.estimate_difference(quantity), test.confidence_interval(0.95)
    assert (difference.low, difference.high) == pytest.approx((interval.low, interval.high))
    assert (difference.sign != 0) == (test.pvalue < 0.05)


def test_only_rla_decides_in_the_papers_table():
    decisions = tabulate_decisions({PAPER: PUBLISHED}).set_index("quantity")
    assert decisions["mean significant"].tolist() == ["no", "no", "no", "yes"]
    assert decisions["count significant"].tolist() == ["no", "no", "no", "yes"]
    assert tabulate_decisions({OURS: PUBLISHED, PAPER: PUBLISHED})["table"].tolist() == [OURS] * 4 + [PAPER] * 4


def test_counts_are_tested_by_the_exact_binomial():
    """By RLA 23 of 32; without noise 12 to 20; noise changes the better learner on 4 data sets, always to C4.5."""
    assert PUBLISHED.count_c45_wins("rla") == WinCount(23, 9, pytest.approx(binomtest(23, 32).pvalue))
    assert PUBLISHED.count_c45_wins("rla").is_ahead is True
    assert PUBLISHED.count_c45_wins("acc0") == WinCount(12, 20, pytest.approx(binomtest(12, 32).pvalue))
    assert PUBLISHED.count_c45_wins("acc0").is_ahead is None
    before, after = (PUBLISHED.find_preferred(quantity).eq("C4.5").astype(float) for quantity in ("acc0", "acc10"))
    assert WinCount.of(after, before) == WinCount(4, 0, pytest.approx(0.125))


def test_fewer_wins_are_distinguished_from_more_and_ties_decide_nothing():
    assert WinCount.of(pd.Series([0.0] * 8), pd.Series([1.0] * 8)).is_ahead is False
    assert WinCount.of(pd.Series([1.0] * 8), pd.Series([1.0] * 8)) == WinCount(0, 0, 1.0)


def test_the_closer_noise_is_found(published_cells, shifted_cells):
    row = compare_noise(TableCells(shifted_cells, published_cells)).set_index("learner").loc[C45]
    assert row[["bias, other", "distance, other", "bias, any", "distance, any"]].tolist() == pytest.approx([2, 2, 0, 0])
    assert (row["any closer"], row["data sets"]) == (32, 32)
    assert row["p, sign test"] == pytest.approx(2 * 0.5**32)


def test_equal_noise_has_no_test_and_a_missing_learner_no_row(published_cells):
    same = compare_noise(TableCells(published_cells, published_cells))
    assert same["p, sign test"].isna().all()
    assert same["any closer"].tolist() == [0, 0, 0]
    only_c45 = published_cells[published_cells["learner"] == C45]
    assert compare_noise(TableCells(only_c45, only_c45))["learner"].tolist() == [C45]


def test_tables_have_unique_names(published_cells, shifted_cells):
    tables = {table.name: table for table in build_tables(TableCells(published_cells, shifted_cells))}
    learners = [f"table3-{learner}-{noise}" for noise in ("stated", "any") for learner in (C45, SVM_LOGISTIC, SVM_VOTES)]
    assert list(tables) == ["averages", "decided", "best", "differently", *learners, "differences", "noise"]
    assert len(tables["differences"].frame) == 2 * 32 * 3 * 4
    assert not tables["differences"].on_page


def test_the_paper_is_shown_with_all_data_sets_if_only_some_were_run(published_cells):
    few = published_cells[published_cells["dataset"].isin(["iris", "wine"])]
    for cells, has_all in ((few, True), (published_cells, False)):
        tables = {table.name: table.frame for table in build_tables(TableCells(cells, cells))}
        assert ("paper, all 32 data sets" in set(tables["decided"]["table"])) is has_all
        assert ("differently" in tables) is not has_all  # ELA and RLA agree on iris and wine
