"""Our cells compared with the published ones."""

import math

import numpy as np
import pytest

from fairtrial.reproduce.ranking_errors import MEASURES
from fairtrial.reproduce.ranking_real.cells import ALTERNATIVES, CHOSEN, CellResult
from fairtrial.reproduce.ranking_real.tables import (
    build_cylinder_table,
    compare_cells,
    compare_interpretations,
    compute_mean_errors,
    format_cells,
    list_differing_cells,
)
from tests.reproduce.ranking_real.conftest import PUBLISHED, copy_published, make_cell


def test_the_published_table_agrees_with_itself():
    results = [copy_published(experiment, dataset) for experiment, dataset in PUBLISHED.index]
    cells = compare_cells(results)
    assert len(cells) == 240
    assert cells["within"].all()
    assert cells["difference"].abs().max() <= 0.051  # halves of a repeat cannot be made of whole errors
    assert cells["dataset"].drop_duplicates().tolist() == list(PUBLISHED.loc[1].index)
    assert len(list_differing_cells(cells)) == 0


def test_cells_that_differ_are_starred_and_listed():
    ours = PUBLISHED.loc[1, "Sonar"].to_numpy(copy=True)
    ours[3] = 50.0
    cells = compare_cells([make_cell(1, "Sonar", ours)])
    assert cells["within"].tolist() == [True, True, True, False, True, True]
    assert format_cells(cells, MEASURES)["sAUC"].tolist() == ["50.00 (10.70) *"]
    assert format_cells(cells, MEASURES)["AUC"].tolist() == ["8.80 (8.80)"]
    listed = list_differing_cells(cells)
    assert listed[["experiment", "measure", "difference"]].to_numpy().tolist() == [["#1", "sAUC", pytest.approx(39.3)]]


def test_a_further_measure_has_no_published_rate():
    cells = compare_cells([make_cell(2, "Pima", [0, 0, 0, 0, 0, 0, 12.5])], measures=[*MEASURES, "mine"])
    assert format_cells(cells, [*MEASURES, "mine"])["mine"].tolist() == ["12.50"]
    assert len(list_differing_cells(cells)) == 0


def test_a_data_set_that_is_not_in_the_paper_has_no_published_rate():
    cells = compare_cells([make_cell(1, "wdbc", [1, 2, 3, 4, 5, 6])])
    assert cells["published"].isna().all()
    assert format_cells(cells, MEASURES)["KS"].tolist() == ["5.00"]


def test_means_are_over_the_data_sets_that_exist():
    results = [make_cell(experiment, dataset, [10] * 6) for experiment in (1, 2, 3, 4) for dataset in ("Sonar", "Spect")]
    means = compute_mean_errors(results)
    assert means["value"].tolist() == pytest.approx([10.0] * 24)
    first = means.iloc[0]
    assert first["published"] == pytest.approx((10.30 + 13.90) / 2)
    half = 1.96 * math.sqrt(2 * 0.1 * 0.9 / 1000) / 2  # of two independent proportions
    assert (first["low"], first["high"]) == pytest.approx((10 - 100 * half, 10 + 100 * half), abs=0.1)


def test_cells_within_sampling_error_are_counted_by_interpretation():
    good, bad = copy_published(1, "Liver"), make_cell(1, "Liver", [0] * 6)
    table = compare_interpretations({CHOSEN: [good], ALTERNATIVES[0]: [bad]})
    assert table["within"].tolist() == [6, 0]
    assert table["cells"].tolist() == [6, 6]
    assert table["largest distance"].tolist() == pytest.approx([0, 70.2])


def add_measure(experiment, dataset, own):
    """Make a cell of the six without errors, and a further measure with these."""
    errors = np.column_stack([np.zeros((len(own), 6)), own])
    return CellResult(dataset, experiment, errors, np.zeros(7), np.zeros(7))


def test_within_is_missing_without_published_rates():
    names = [*MEASURES, "mine"]
    cells = compare_cells([make_cell(2, "Pima", [0] * 7), make_cell(2, "wdbc", [0] * 7)], measures=names)
    assert cells["within"].isna().tolist() == [False] * 6 + [True] * 8
    assert cells.to_csv(index=False).count(",\n") == 8  # the last field is empty


def test_an_undefined_rate_stays_in_the_table():
    names = [*MEASURES, "mine"]
    cells = compare_cells([add_measure(1, "Sonar", [np.nan] * 4), add_measure(1, "Pima", [1, np.nan, 0.5, 0])], measures=names)
    assert len(cells) == 14
    assert format_cells(cells, names)["mine"].tolist() == ["undefined", "50.00"]
    assert cells.loc[cells["measure"] == "mine", "repeats"].tolist() == [0, 3]
    assert len(list_differing_cells(cells[cells["measure"] == "mine"])) == 0


def test_means_contain_further_measures_and_their_limits_are_rates():
    results = [add_measure(experiment, "Sonar", [0, 0, 0, 1]) for experiment in (1, 2, 3, 4)]
    means = compute_mean_errors(results, measures=[*MEASURES, "mine"])
    own = means[means["measure"] == "mine"]
    assert own["value"].tolist() == [25.0] * 4
    assert own["low"].tolist() == [0.0] * 4  # Student's would be below
    assert own["high"].tolist() == [100.0] * 4
    assert own["published"].isna().all()


def test_variants_of_cylinder_are_compared(cylinder_variants):
    datasets = dict(zip(("near", "far"), cylinder_variants.values(), strict=False))
    results = {
        "near": [copy_published(e, "Cylinder") for e in (1, 2, 3, 4)],
        "far": [make_cell(e, "Cylinder", [0, 0, 0, 50, 0, 0]) for e in (1, 2, 3, 4)],
    }
    table = build_cylinder_table(results, datasets).frame
    assert table["variant"].tolist() == ["near"] * 4 + ["far"] * 4
    assert table[["rows", "columns"]].drop_duplicates().to_numpy().tolist() == [[5, 2], [3, 4]]
    assert table["sAUC"].str.endswith("*").tolist() == [False] * 4 + [True] * 4
