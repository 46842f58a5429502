"""The command line: comparing."""

import io

import pandas as pd
import pytest

from fairtrial import compare
from fairtrial.significance.names import get_display_name

TABLE = "dataset,tree,bayes,rule\n" + "\n".join(f"set {i},0.{90 - i},0.{80 - i},0.{70 - i}" for i in range(8)) + "\n"


@pytest.fixture
def table(tmp_path):
    (tmp_path / "scores.csv").write_text(TABLE)
    return tmp_path / "scores.csv"


def test_compare_prints_the_verdict_and_writes_tables_and_figures(run, table, tmp_path):
    result = run("compare", str(table), "--measure", "accuracy", "--out", str(tmp_path / "out"), "--format", "svg,html")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("tree ")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"table.tex", "table.md", "verdict.txt", "pairs.csv", "critical-difference.svg", "critical-difference.html"} <= names
    assert str(tmp_path / "out") in result.output
    assert (tmp_path / "out" / "verdict.txt").read_text().splitlines()[0].split(" (")[0] in result.stdout.replace("\n", " ")


@pytest.fixture
def calls(monkeypatch):
    """The arguments with which the command calls `compare`."""
    recorded = []

    def record(scores, **options):
        recorded.append(options)
        return compare(scores, **options)

    monkeypatch.setattr("fairtrial.significance.compare.compare", record)
    return recorded


def test_compare_passes_its_options_on(run, table, calls):
    words = ("compare", str(table), "--out", "none", "--measure-direction", "min", "--control", "bayes", "--alpha", "0.01")
    assert run(*words, "--posthoc", "finner").exit_code == 0
    assert (calls[0]["better"], calls[0]["control"], calls[0]["alpha"]) == ("min", "bayes", 0.01)
    assert calls[0]["posthoc"] == "finner"
    assert run("compare", str(table), "--better", "min", "--out", "none").exit_code == 0
    assert calls[1]["better"] == "min"
    two = table.with_name("two.csv")
    pd.read_csv(table).drop(columns="rule").to_csv(two, index=False)
    assert run("compare", str(two), "--out", "none", "--rope", "0.01", "--parametric").exit_code == 0
    assert (calls[2]["rope"], calls[2]["parametric"]) == (0.01, True)


@pytest.mark.parametrize(
    ("name", "procedure"),
    [
        ("bergmann", "bergmann"),
        ("Bergmann-Hommel", "bergmann"),
        ("bergmann_hommel", "bergmann"),
        ("bergmann hommel", "bergmann"),
        ("Nemenyi", "nemenyi"),
        ("HOLM", "holm"),
        ("shaffer", "shaffer"),
    ],
)
def test_compare_takes_the_names_of_papers(run, table, name, procedure):
    result = run("compare", table, "--out", "none", "--posthoc", name)
    assert result.exit_code == 0, result.output
    assert f"pairs by {get_display_name(procedure)}" in result.output


def test_compare_takes_the_test_fraction(run, tmp_path):
    file = tmp_path / "holdout.csv"
    file.write_text("repeat,a,b\n1,0.8,0.7\n2,0.82,0.75\n3,0.79,0.74\n4,0.85,0.77\n")
    assert run("compare", str(file), "--out", "none").exit_code == 2
    assert run("compare", str(file), "--out", "none", "--test-fraction", "0.3").exit_code == 0


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (["nowhere.csv"], "'nowhere.csv'"),
        (["--control", "tre"], "'tree'"),
        (["--measure", "acuracy"], "'accuracy'"),
        (["--measure-direction", "up"], "'up'"),
    ],
)
def test_compare_refuses_in_one_sentence(run, table, words, value):
    words = words if words[0].endswith(".csv") else [str(table), *words]
    result = run("compare", *words, "--out", "none")
    assert result.exit_code == 2
    assert result.stderr.startswith("fairtrial: ")
    assert value in result.stderr
    assert result.stderr.count("\n") == 1


def test_compare_reports_an_undefined_p_value_without_a_warning(run, tmp_path):
    file = tmp_path / "equal.csv"
    file.write_text("fold,a,b\n1,0.5,0.4\n2,0.6,0.5\n3,0.7,0.6\n")
    result = run("compare", str(file), "--out", "none")
    assert result.exit_code == 0
    assert result.stderr == ""


def test_compare_writes_the_report(run, table, tmp_path):
    page = tmp_path / "page.html"
    result = run("compare", table, "--measure", "accuracy", "--out", "none", "--report", page)
    assert result.exit_code == 0, result.output
    assert str(page) in result.output
    text = page.read_text(encoding="utf-8")
    assert "<h1>Comparison on scores.csv</h1>" in text
    assert "tree has the best mean rank" in text
    result = run("compare", table, "--out", "none", "--report", tmp_path / "page.pdf")
    assert result.exit_code == 2
    assert result.stderr.startswith("fairtrial: path must end in .html")


def test_compare_asks_what_unnamed_rows_are(run, tmp_path):
    file = tmp_path / "scores.csv"
    pd.read_csv(io.StringIO(TABLE)).drop(columns="dataset").to_csv(file, index=False)
    result = run("compare", file, "--out", "none")
    assert result.exit_code == 2
    assert "pass --rows datasets" in result.stderr
    assert "--rows folds" in result.stderr
    assert result.stderr.count("\n") == 1
    by_set, by_fold = (run("compare", file, "--out", "none", "--rows", rows) for rows in ("datasets", "folds"))
    assert "Friedman" in by_set.stdout
    assert "orrected resampled t test" in by_fold.stdout
    assert run("compare", file, "--out", "none", "--rows", "rows").exit_code == 2


def test_compare_names_judge_if_the_file_has_predictions(run, tmp_path):
    file = tmp_path / "predictions.csv"
    pd.DataFrame({"y_true": [0, 1] * 10, "tree_proba": [0.2, 0.7] * 10, "bayes_proba": [0.4, 0.6] * 10}).to_csv(
        file, index=False
    )
    result = run("compare", file, "--out", "none")
    assert result.exit_code == 2
    assert "got predictions with true labels in column 'y_true': use judge" in result.stderr
    assert run("judge", file, "--resamples", "20").exit_code == 0
