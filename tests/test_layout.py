"""Tests lie where their sources lie."""

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SOURCES = TESTS.parent / "src" / "fairtrial"
MODULES = sorted(path.relative_to(SOURCES) for path in SOURCES.rglob("*.py") if path.name != "__init__.py")


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_every_module_has_its_tests(module):
    assert (TESTS / module.parent / f"test_{module.name.lstrip('_')}").is_file()
