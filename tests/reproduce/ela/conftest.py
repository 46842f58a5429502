"""Cells with known numbers, and the results of a small study."""

import pytest

from fairtrial.data import load
from fairtrial.reproduce.ela.datasets import PaperDatasets
from fairtrial.reproduce.ela.experiment import run_curves, run_study
from fairtrial.reproduce.ela.tables import RLA, read_published_cells
from fairtrial.reproduce.experiment import Request


@pytest.fixture
def published_cells():
    """Cells as if our numbers were the paper's, each with an interval of 0.01 to either side."""
    cells = read_published_cells()
    return cells.assign(low=cells["value"] - 0.01, high=cells["value"] + 0.01)


@pytest.fixture
def shifted_cells(published_cells):
    """The same cells, two points (ELA: 0.019) higher, except RLA."""
    shift = published_cells["quantity"].map(
        lambda quantity: 2.0 if "accuracy" in quantity else 0.0 if quantity == RLA else 0.019
    )
    return published_cells.assign(**{column: published_cells[column] + shift for column in ("value", "low", "high")})


@pytest.fixture(scope="session")
def smoke_request(tmp_path_factory):
    return Request("smoke", tmp_path_factory.mktemp("ela"), jobs=1, progress=False)


@pytest.fixture(scope="session")
def small_datasets():
    return PaperDatasets({"iris": load("iris"), "wine": load("wine")}, {})


@pytest.fixture(scope="session")
def small_results(smoke_request, small_datasets):
    """The paper's study on two small data sets with two folds."""
    return run_study(smoke_request, "study", small_datasets.data, name="small")


@pytest.fixture(scope="session")
def curve_results(smoke_request, small_datasets):
    return run_curves(smoke_request, small_datasets)
