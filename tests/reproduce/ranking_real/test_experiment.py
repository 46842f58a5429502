"""The whole experiment at its smallest scale, with a user's measure; its page and figures; error rates near the paper's."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.reproduce import Reproduction, load_experiments, reproduce
from fairtrial.reproduce.experiment import Request
from fairtrial.reproduce.page import write_page
from fairtrial.reproduce.ranking_errors import MEASURES
from fairtrial.reproduce.ranking_real import datasets as module
from fairtrial.reproduce.ranking_real.cells import ALTERNATIVES, CHOSEN, compute_cell
from fairtrial.reproduce.ranking_real.datasets import load_encoded_datasets
from fairtrial.reproduce.ranking_real.experiment import draw_agreement, draw_means, summarise
from fairtrial.reproduce.ranking_real.tables import EXPERIMENT_TITLES, compare_cells, compare_interpretations
from tests.reproduce.ranking_real.conftest import PUBLISHED, copy_published, make_cell


@pytest.fixture
def no_datasets(monkeypatch):
    monkeypatch.delenv("FAIRTRIAL_DATA", raising=False)
    monkeypatch.setattr(module, "CATALOGUE_NAMES", {"Sonar": ["no-such-set"]})
    monkeypatch.setattr(module, "SPECT_NAMES", {"train": ["no-such-set"], "test": ["no-such-set"]})


@pytest.mark.usefixtures("no_datasets")
def test_smoke_runs_without_the_papers_data_sets(tmp_path):
    reproduction = reproduce(
        "ranking-real", scale="smoke", out=tmp_path, jobs=2, progress=False, measures=["average_precision"]
    )
    table = reproduction.frame("table1")
    assert table["data set"].unique().tolist() == ["wdbc"]
    assert "average_precision" in table.columns
    assert "average_precision" in reproduction.frame("means")["measure"].tolist()
    assert set(reproduction.skipped) == {"Sonar", "Spect"}
    page = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert "nothing can be compared" in page
    assert "average_precision: its mean error over all cells with noise is" in page


@pytest.mark.usefixtures("no_datasets")
def test_larger_scales_need_the_data_sets(tmp_path):
    with pytest.raises(InputError, match="FAIRTRIAL_DATA"):
        reproduce("ranking-real", scale="quick", out=tmp_path, jobs=1, progress=False)


def test_bad_paths_are_refused_before_anything_runs(tmp_path):
    with pytest.raises(InputError, match=r"no measure can be imported as 'nowhere\.at_all'"):
        reproduce("ranking-real", scale="full", out=tmp_path, progress=False, measures=["nowhere.at_all"])


def test_smoke_runs_on_all_ten_data_sets(shared_data, monkeypatch, tmp_path):
    monkeypatch.setenv("FAIRTRIAL_DATA", str(shared_data))
    reproduction = reproduce("ranking-real", scale="smoke", out=tmp_path, jobs=2, progress=False)
    assert len(reproduction.frame("cells")) == 240
    assert len(reproduction.frame("readings")) == 2
    assert len(reproduction.figures) == 2
    assert len(list((tmp_path / "cells").iterdir())) == 90 + 12
    assert reproduction.frame("cylinder")["variant"].nunique() == 4
    assert all(claim.reproduced is None for claim in reproduction.claims)
    means = reproduction.frame("means")
    assert means["low"].min() == 0
    assert reproduction.skipped == {}


def test_error_rates_on_liver_are_near_the_papers(shared_data, monkeypatch, tmp_path):
    """Sampling alone: a mean distance of 400 and 1,000 repeats over 24 cells, and sAUC above one half throughout."""
    monkeypatch.setenv("FAIRTRIAL_DATA", str(shared_data))
    liver = load_encoded_datasets()[0]["Liver"]
    results = [compute_cell(liver, experiment, CHOSEN, 400, 3, tmp_path) for experiment in (1, 2, 3, 4)]
    cells = compare_cells(results)
    assert cells["difference"].abs().mean() < 5
    assert (cells.loc[cells["measure"] == "sauc", "ours"] > 55).all()
    assert (cells.loc[cells["measure"] != "sauc", "ours"] < 35).all()
    assert np.isfinite(cells["low"]).all()


@pytest.mark.usefixtures("no_datasets")
def test_a_measure_without_values_is_reported_and_warned_of(tmp_path, monkeypatch):
    (tmp_path / "of_my_own_holes.py").write_text("def never(y, s):\n    return float('nan')\n")
    monkeypatch.chdir(tmp_path)
    with pytest.warns(UndefinedMeasureWarning, match="never is undefined in 20 of 20 comparisons"):
        reproduction = reproduce(
            "ranking-real", scale="smoke", out=tmp_path / "out", jobs=1, progress=False, measures=["of_my_own_holes.never"] * 2
        )
    assert reproduction.frame("table1")["never"].tolist() == ["undefined"] * 4
    cells = reproduction.frame("cells")
    assert len(cells) == 28
    assert cells.loc[cells["measure"] == "never", "ours"].isna().all()
    assert "never is undefined in all 20 comparisons" in (tmp_path / "out" / "index.md").read_text(encoding="utf-8")


def render(results, folder, repeats=1000, interpretations=None):
    if interpretations is None:
        interpretations = compare_interpretations({CHOSEN: results})
    values = summarise(compare_cells(results), interpretations, repeats)
    values |= {"n_datasets": 10, "repeats": repeats, "user_results": [], "cylinder_variants": {}}
    request = Request("full", folder)
    return write_page(load_experiments()["ranking-real"], request, Reproduction(values, ()), [1.0]).read_text(encoding="utf-8")


def test_the_page_reports_full_agreement(tmp_path):
    page = render([copy_published(experiment, dataset) for experiment, dataset in PUBLISHED.index], tmp_path)
    assert "240 of 240 cells agree with the paper within sampling error and 0 do not" in page
    assert "This meets the target of this reproduction, three in four (180 of 240)." in page
    assert not any(text in page for text in ("Cylinder:", "House:", "cannot show", "interpretations"))


def test_the_page_reports_which_cells_differ(tmp_path):
    page = render([make_cell(experiment, "Cylinder", [0] * 6, 400) for experiment in (1, 2, 3, 4)], tmp_path, 400)
    assert "Cylinder: sAUC differs in 4 of 4 experiments (0.00 to 0.00 % here, 2.50 to 7.90 % published)" in page
    assert "In 0 of them the error here is the higher one" in page
    assert "With 400 repeats, fewer than the paper's 1,000" in page
    assert "cannot show whether the target of this reproduction, three in four (18 of 24), is met" in page
    assert "This m" not in page
    page = render([make_cell(1, "Liver", [0] * 6)], tmp_path)
    assert "0 of 6 cells" in page
    assert "This misses the target" in page


def test_the_row_of_house_is_compared_with_experiment_1(tmp_path):
    page = render([copy_published(1, "House"), make_cell(2, "House", [0] * 6)], tmp_path)
    assert "agrees with ours of #2 in 3 of 6 cells, and with ours of #1 in 6 of 6" in page


def test_the_page_names_the_best_alternative(tmp_path):
    names = [interpretation.description for interpretation in (CHOSEN, *ALTERNATIVES[:2])]
    counts = {"within": [4, 3, 5], "cells": 6, "mean distance": 1.0, "largest distance": 2.0}
    page = render([copy_published(1, "Pima")], tmp_path, interpretations=pd.DataFrame({"interpretation": names, **counts}))
    assert "within sampling error: stratified folds (5 of 6 cells, compared with 4)" in page


def collect_rows(chart):
    return [row for values in chart.to_dict()["datasets"].values() for row in values]


def test_a_point_for_each_cell():
    lines = [(1, "Sonar", measure, 10.0 + i, 9.0, 8.0, 12.0) for i, measure in enumerate(MEASURES)]
    cells = pd.DataFrame(lines, columns=["experiment", "dataset", "measure", "ours", "published", "lowest", "highest"])
    points = {row["ours"] for row in collect_rows(draw_agreement(cells, 100)) if "dataset" in row}
    assert points == {10.0, 11.0, 12.0, 13.0, 14.0, 15.0}


def test_a_panel_for_each_experiment_with_all_measures():
    lines = [(title, measure, 5.0, 4.0, 6.0, 5.5) for title in EXPERIMENT_TITLES.values() for measure in MEASURES]
    lines += [(title, "package.mine", 7.0, 6.0, 8.0, float("nan")) for title in EXPERIMENT_TITLES.values()]
    means = pd.DataFrame(lines, columns=["experiment", "measure", "value", "low", "high", "published"])
    rows = collect_rows(draw_means(means))
    assert {row["experiment"] for row in rows} == set(EXPERIMENT_TITLES.values())
    further = [row for row in rows if row["learner"] == "package.mine"]
    assert [row["value"] for row in further] == [7.0] * 4
    assert all(row["published"] is None for row in further)
