"""Folders of tests mirror the packages and modules that they test."""

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SOURCES = TESTS.parent / "src" / "fairtrial"
FOLDERS = sorted({path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")})
PACKAGES = sorted({path.parent.relative_to(SOURCES) for path in SOURCES.glob("*/*.py")})


@pytest.mark.parametrize("folder", FOLDERS, ids=str)
def test_every_folder_of_tests_is_about_a_package_or_module(folder):
    assert (SOURCES / folder).is_dir() or (SOURCES / folder).with_suffix(".py").is_file()


@pytest.mark.parametrize("package", PACKAGES, ids=str)
def test_every_package_has_tests(package):
    assert list((TESTS / package).rglob("test_*.py"))
