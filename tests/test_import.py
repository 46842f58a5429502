"""Importing fairtrial is quick, because what is heavy waits until it is needed."""

import subprocess
import sys

import pytest

import fairtrial

HEAVY = ["numba", "numpy", "pandas", "scipy", "sklearn", "altair", "duckdb"]


def modules_after(statement):
    listing = f"{statement}; import sys; print(*sorted(sys.modules))"
    return subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True).stdout.split()


def test_import_fairtrial_leaves_heavy_packages_out():
    loaded = modules_after("import fairtrial")
    assert "fairtrial" in loaded
    assert not set(HEAVY) & set(loaded)


def test_the_command_line_leaves_heavy_packages_out_until_a_command_runs():
    loaded = modules_after("import fairtrial.cli")
    assert not {*HEAVY, "pydantic", "pyarrow"} & set(loaded)


def test_measures_come_without_tables_figures_and_learners():
    loaded = modules_after("import fairtrial.measures")
    assert not {"pandas", "sklearn", "altair", "duckdb"} & set(loaded)


def test_the_list_of_measures_comes_without_tables():
    loaded = modules_after(
        "from typer.testing import CliRunner; from fairtrial.cli import app; "
        "assert 'auc' in CliRunner().invoke(app, ['measures']).output"
    )
    assert not {"pandas", "sklearn", "altair", "duckdb"} & set(loaded)


def test_parts_are_there_when_asked_for():
    assert fairtrial.measures.accuracy([1, 0], [1, 0]) == 1.0
    assert "measures" in dir(fairtrial)
    assert fairtrial.__version__


def test_a_part_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'fairtrial' has no attribute 'nonsense'"):
        fairtrial.nonsense  # noqa: B018
