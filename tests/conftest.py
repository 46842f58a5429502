"""Shared by all tests: published tables, and kernels that are compiled once."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

import fairtrial

settings.register_profile("fairtrial", deadline=None)  # no test is timed: kernels may have to be compiled first
settings.load_profile("fairtrial")


def pytest_configure(config: pytest.Config) -> None:
    """Compile what most tests use before the workers start: they find it in numba's cache."""
    if not hasattr(config, "workerinput"):
        from fairtrial.learners import C45
        from fairtrial.measures import evaluate

        evaluate([0, 1, 0, 1, 1], y_score=[0.1, 0.6, 0.4, 0.8, 0.3], resamples=2, stratified=True)
        C45().fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]).predict([[1.5]])


ORACLES = Path(__file__).with_name("oracles")
PUBLISHED = Path(fairtrial.__file__).parent / "reproduce" / "published"


@pytest.fixture(scope="session")
def find_published() -> Callable[[str], Path]:
    """Find the file of a published table: those of the reproduced papers are in the package, others in tests/oracles."""

    def find_file(name: str) -> Path:
        folder = PUBLISHED if (PUBLISHED / f"{name}.csv").is_file() else ORACLES
        return folder / f"{name}.csv"

    return find_file


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets beside the repository."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not (folder / "index.csv").is_file():
        pytest.skip("the real data sets (../shared/data) are not here")
    return folder
