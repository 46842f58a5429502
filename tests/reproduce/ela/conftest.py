"""Cells whose numbers are known, and the results of a small study."""

import pytest

from fairtrial.data import load
from fairtrial.reproduce.ela.cells import RLA, their_cells
from fairtrial.reproduce.ela.running import run_study
from fairtrial.reproduce.reproduction import Request


@pytest.fixture
def printed():
    """Cells as if we had found the paper's numbers exactly, each with an interval of a hundredth to either side."""
    cells = their_cells()
    return cells.assign(low=cells["value"] - 0.01, high=cells["value"] + 0.01)


@pytest.fixture
def shifted(printed):
    """The same, two points (or 0.019) higher, but for RLA."""
    step = printed["quantity"].map(lambda quantity: 2.0 if "accuracy" in quantity else 0.0 if quantity == RLA else 0.019)
    return printed.assign(**{end: printed[end] + step for end in ("value", "low", "high")})


@pytest.fixture(scope="session")
def request_here(tmp_path_factory):
    return Request("smoke", tmp_path_factory.mktemp("ela"), jobs=1, progress=False)


@pytest.fixture(scope="session")
def small(request_here):
    """The paper's study on two small sets, two folds each."""
    return run_study(request_here, "study", {"iris": load("iris"), "wine": load("wine")}, name="small")
