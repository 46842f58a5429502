"""Cells: ours from results, the paper's from its table."""

import pytest

from fairtrial.reproduce.ela.cells import (
    ANY,
    CLEAN,
    ELA,
    LEARNERS,
    LOGISTIC,
    NOISY,
    RLA,
    STATED,
    VOTES,
    as_printed,
    our_cells,
    their_cells,
)


def test_our_cells_are_the_means_and_losses_of_the_study(small):
    cells = our_cells(small).set_index(["dataset", "learner", "quantity"])
    scores = small.scores("accuracy")
    for dataset in ("iris", "wine"):
        for learner in LEARNERS:
            own = scores[(scores["dataset"] == dataset) & (scores["learner"] == learner)]
            clean = 100 * own[own["condition"] == "clean"]["value"].mean()
            noisy = 100 * own[own["condition"] == STATED]["value"].mean()
            place = (dataset, learner)
            assert cells.loc[(*place, CLEAN), "value"] == pytest.approx(clean)
            assert cells.loc[(*place, NOISY), "value"] == pytest.approx(noisy)
            assert cells.loc[(*place, ELA), "value"] == pytest.approx((100 - noisy) / clean)
            assert cells.loc[(*place, RLA), "value"] == pytest.approx((clean - noisy) / clean)
    assert (cells["low"] <= cells["value"]).all()
    assert (cells["value"] <= cells["high"]).all()


def test_the_other_noise_has_the_same_clean_accuracy_and_another_noisy_one(small):
    stated, other = (our_cells(small, noise).set_index(["dataset", "learner", "quantity"])["value"] for noise in (STATED, ANY))
    assert stated.xs(CLEAN, level=2).equals(other.xs(CLEAN, level=2))
    assert not stated.xs(NOISY, level=2).equals(other.xs(NOISY, level=2))


def test_their_cells_hold_each_number_of_table_3():
    cells = their_cells()
    assert len(cells) == 32 * 3 * 4
    assert cells[(cells["dataset"] == "zoo") & (cells["learner"] == VOTES)]["value"].tolist() == [80.64, 73.08, 0.3338, 0.0938]


def test_a_data_set_without_all_numbers_has_no_line(printed):
    lost = printed[~((printed["dataset"] == "car") & (printed["learner"] == LOGISTIC) & (printed["quantity"] == RLA))]
    assert "car" not in as_printed(lost, LOGISTIC).index
    assert len(as_printed(lost, VOTES)) == 32
