"""Shared by all tests: where the published figures and the data sets lie."""

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def oracles() -> Path:
    """The folder of published tables; tests that need it skip where it is absent."""
    folder = SHARED / "oracles"
    if not folder.is_dir():
        pytest.skip("the published tables (../shared/oracles) are not here")
    return folder
