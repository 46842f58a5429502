"""The public API: what each package lists in `__all__` exists, is documented, and has one import path."""

import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

PACKAGES = [
    "fairtrial",
    "fairtrial.conditions",
    "fairtrial.data",
    "fairtrial.data.simulate",
    "fairtrial.errors",
    "fairtrial.learners",
    "fairtrial.measures",
    "fairtrial.predictions",
    "fairtrial.report",
    "fairtrial.report.checks",
    "fairtrial.reproduce",
    "fairtrial.resampling",
    "fairtrial.significance",
    "fairtrial.study",
    "fairtrial.testing",
]
PUBLIC = [(package, name) for package in PACKAGES for name in import_module(package).__all__]
API_PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "api.rst"


def test_the_top_level_has_exactly_the_entry_points():
    assert import_module("fairtrial").__all__ == [
        *("Study", "compare", "draw", "gate", "judge", "open_results", "write_report"),
    ]


@pytest.mark.parametrize(("package", "name"), PUBLIC, ids=[".".join(item) for item in PUBLIC])
def test_every_name_exists_and_is_documented(package, name):
    public = getattr(import_module(package), name)
    assert (getattr(public, "__doc__", None) or "").strip()


@pytest.mark.parametrize("package", PACKAGES)
def test_names_are_listed_once_and_by_dir(package):
    module = import_module(package)
    assert len(set(module.__all__)) == len(module.__all__)
    assert set(module.__all__) <= set(dir(module))


def test_no_name_is_exported_by_two_packages():
    counts = Counter(name for _, name in PUBLIC)
    assert {name: count for name, count in counts.items() if count > 1} == {}


def test_the_api_page_lists_public_names_only():
    public, package, unknown = set(PUBLIC), "", []
    for line in API_PAGE.read_text().splitlines():
        if line.startswith((".. currentmodule:: ", ".. automodule:: ")):
            package = line.split(":: ")[1].strip()
        elif line.startswith("   ") and line.strip().isidentifier() and (package, line.strip()) not in public:
            unknown.append(f"{package}.{line.strip()}")
    assert unknown == []


def test_importing_fairtrial_is_light():
    code = "import fairtrial, sys; print(*{'numpy', 'pandas', 'numba', 'sklearn', 'altair'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == ""
