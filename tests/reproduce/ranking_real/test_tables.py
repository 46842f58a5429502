"""Tables of our cells beside the published ones."""

import math

import numpy as np
import pytest

from fairtrial.reproduce.published import published
from fairtrial.reproduce.ranking.cells import CHOSEN, OTHERS, Outcome
from fairtrial.reproduce.ranking.measure_words import MEASURES
from fairtrial.reproduce.ranking.real_tables import cells_beside, differing, mean_errors, readings_table, shown

PRINTED = published("berrar_table1").set_index(["experiment", "dataset"])


def made(experiment, dataset, percents, repeats=1000):
    """A cell with these error rates, whose repeats have nothing to do with those of other cells."""
    errors = np.zeros((repeats, len(percents)))
    for place, percent in enumerate(percents):
        errors[: round(percent * repeats / 100), place] = 1
    np.random.default_rng([experiment, *dataset.encode()]).shuffle(errors)
    return Outcome(dataset, experiment, errors, np.zeros(len(percents)), np.zeros(len(percents)))


def as_printed(experiment, dataset):
    return made(experiment, dataset, PRINTED.loc[experiment, dataset])


def test_the_printed_table_agrees_with_itself():
    outcomes = [as_printed(experiment, dataset) for experiment, dataset in PRINTED.index]
    cells = cells_beside(outcomes)
    assert len(cells) == 240
    assert cells["within"].all()
    assert cells["difference"].abs().max() <= 0.051  # halves of a repeat cannot be made of whole errors
    assert cells["dataset"].drop_duplicates().tolist() == list(PRINTED.loc[1].index)
    assert len(differing(cells)) == 0


def test_cells_that_differ_are_starred_and_listed():
    ours = PRINTED.loc[1, "Sonar"].to_numpy(copy=True)
    ours[3] = 50.0
    cells = cells_beside([made(1, "Sonar", ours)])
    assert cells["within"].tolist() == [True, True, True, False, True, True]
    assert shown(cells, MEASURES)["sAUC"].tolist() == ["50.00 (10.70) *"]
    assert shown(cells, MEASURES)["AUC"].tolist() == ["8.80 (8.80)"]
    listed = differing(cells)
    assert listed[["experiment", "measure", "difference"]].to_numpy().tolist() == [["#1", "sAUC", pytest.approx(39.3)]]


def test_a_measure_that_joined_has_no_published_rate():
    cells = cells_beside([made(2, "Pima", [0, 0, 0, 0, 0, 0, 12.5])], measures=[*MEASURES, "mine"])
    assert shown(cells, [*MEASURES, "mine"])["mine"].tolist() == ["12.50"]
    assert len(differing(cells)) == 0


def test_a_set_that_the_paper_has_not_stays_alone():
    cells = cells_beside([made(1, "wdbc", [1, 2, 3, 4, 5, 6])])
    assert cells["published"].isna().all()
    assert shown(cells, MEASURES)["KS"].tolist() == ["5.00"]


def test_means_are_over_the_sets_that_are_there():
    outcomes = [made(experiment, dataset, [10] * 6) for experiment in (1, 2, 3, 4) for dataset in ("Sonar", "Spect")]
    means = mean_errors(outcomes)
    assert means["value"].tolist() == pytest.approx([10.0] * 24)
    first = means.iloc[0]
    assert first["published"] == pytest.approx((10.30 + 13.90) / 2)
    half = 1.96 * math.sqrt(2 * 0.1 * 0.9 / 1000) / 2  # of two independent shares
    assert (first["low"], first["high"]) == pytest.approx((10 - 100 * half, 10 + 100 * half), abs=0.1)


def test_readings_are_counted():
    good, bad = as_printed(1, "Liver"), made(1, "Liver", [0] * 6)
    table = readings_table({CHOSEN: [good], OTHERS[0]: [bad]})
    assert table["within"].tolist() == [6, 0]
    assert table["of"].tolist() == [6, 6]
    assert table["largest distance"].tolist() == pytest.approx([0, 70.2])


def with_joined(experiment, dataset, own):
    """A cell of the six without errors, and a joined measure with these."""
    errors = np.column_stack([np.zeros((len(own), 6)), own])
    return Outcome(dataset, experiment, errors, np.zeros(7), np.zeros(7))


def test_whether_cells_lie_within_is_not_told_without_published_ones():
    names = [*MEASURES, "mine"]
    cells = cells_beside([made(2, "Pima", [0] * 7), made(2, "wdbc", [0] * 7)], measures=names)
    assert cells["within"].isna().tolist() == [False] * 6 + [True] * 8
    assert cells.to_csv(index=False).count(",\n") == 8  # the last field is empty


def test_an_undefined_rate_stays_in_the_table_and_is_no_number():
    names = [*MEASURES, "mine"]
    cells = cells_beside([with_joined(1, "Sonar", [np.nan] * 4), with_joined(1, "Pima", [1, np.nan, 0.5, 0])], measures=names)
    assert len(cells) == 14
    assert shown(cells, names)["mine"].tolist() == ["undefined", "50.00"]
    assert cells.loc[cells["measure"] == "mine", "repeats"].tolist() == [0, 3]
    assert len(differing(cells[cells["measure"] == "mine"])) == 0


def test_means_hold_what_joined_and_their_limits_are_rates():
    outcomes = [with_joined(experiment, "Sonar", [0, 0, 0, 1]) for experiment in (1, 2, 3, 4)]
    means = mean_errors(outcomes, measures=[*MEASURES, "mine"])
    own = means[means["measure"] == "mine"]
    assert own["value"].tolist() == [25.0] * 4
    assert own["low"].tolist() == [0.0] * 4  # Student's would be below
    assert own["high"].tolist() == [100.0] * 4
    assert own["published"].isna().all()
