"""The whole experiment at its smallest scale, with a measure that joins; and error rates near the paper's on one set."""

import numpy as np
import pytest

from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.reproduce.experiments import reproduce
from fairtrial.reproduce.ranking import real_sets as module
from fairtrial.reproduce.ranking.cells import CHOSEN, outcome
from fairtrial.reproduce.ranking.real_sets import real_sets
from fairtrial.reproduce.ranking.real_tables import cells_beside


@pytest.fixture
def no_sets(monkeypatch):
    monkeypatch.delenv("FAIRTRIAL_DATA", raising=False)
    monkeypatch.setattr(module, "PLACES", {"Sonar": ["no-such-set"]})
    monkeypatch.setattr(module, "_SPECT", {"train": ["no-such-set"], "test": ["no-such-set"]})


@pytest.mark.usefixtures("no_sets")
def test_smoke_runs_without_the_papers_sets(tmp_path):
    found = reproduce("ranking-real", scale="smoke", out=tmp_path, jobs=2, progress=False, measures=["average_precision"])
    table = found.table("table1")
    assert table["data set"].unique().tolist() == ["wdbc"]
    assert "average_precision" in table.columns
    assert "average_precision" in found.table("means")["measure"].tolist()
    assert "average_precision: its mean error over all cells with noise is" in " ".join(found.words)
    assert set(found.left_out) == {"Sonar", "Spect"}
    assert "nothing can be compared" in (tmp_path / "index.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("no_sets")
def test_larger_scales_need_the_sets(tmp_path):
    with pytest.raises(InputError, match="FAIRTRIAL_DATA"):
        reproduce("ranking-real", scale="quick", out=tmp_path, jobs=1, progress=False)


def test_bad_paths_are_refused_before_anything_runs(tmp_path):
    with pytest.raises(InputError, match=r"no measure can be imported as 'nowhere\.at_all'"):
        reproduce("ranking-real", scale="full", out=tmp_path, progress=False, measures=["nowhere.at_all"])


def test_smoke_runs_on_all_ten_sets(shared_data, monkeypatch, tmp_path):
    monkeypatch.setenv("FAIRTRIAL_DATA", str(shared_data))
    found = reproduce("ranking-real", scale="smoke", out=tmp_path, jobs=2, progress=False)
    assert len(found.table("cells")) == 240
    assert len(found.table("readings")) == 2
    assert len(found.figures) == 2
    assert len(list((tmp_path / "cells").iterdir())) == 90 + 12
    assert found.table("cylinder")["reading"].nunique() == 4
    assert all(claim.holds is None for claim in found.claims)
    means = found.table("means")
    assert means["low"].min() == 0
    assert found.left_out == {}


def test_liver_comes_near_the_paper(shared_data, monkeypatch, tmp_path):
    """Sampling alone: a mean distance of 400 and 1,000 repeats over 24 cells, and sAUC above one half throughout."""
    monkeypatch.setenv("FAIRTRIAL_DATA", str(shared_data))
    liver = real_sets()[0]["Liver"]
    outcomes = [outcome(liver, experiment, CHOSEN, 400, 3, tmp_path) for experiment in (1, 2, 3, 4)]
    cells = cells_beside(outcomes)
    assert cells["difference"].abs().mean() < 5
    assert (cells.loc[cells["measure"] == "sauc", "ours"] > 55).all()
    assert (cells.loc[cells["measure"] != "sauc", "ours"] < 35).all()
    assert np.isfinite(cells["low"]).all()


@pytest.mark.usefixtures("no_sets")
def test_a_measure_without_values_is_told_and_warned_of(tmp_path, monkeypatch):
    (tmp_path / "of_my_own_holes.py").write_text("def never(y, s):\n    return float('nan')\n")
    monkeypatch.chdir(tmp_path)
    with pytest.warns(UndefinedMeasureWarning, match="never is undefined in 20 of 20 comparisons"):
        found = reproduce(
            "ranking-real", scale="smoke", out=tmp_path / "out", jobs=1, progress=False, measures=["of_my_own_holes.never"] * 2
        )
    assert found.table("table1")["never"].tolist() == ["undefined"] * 4
    cells = found.table("cells")
    assert len(cells) == 28
    assert cells.loc[cells["measure"] == "never", "ours"].isna().all()
    assert "never is undefined in all 20 comparisons" in " ".join(found.words)
