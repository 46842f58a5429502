"""The command line."""

import io
import re

import pandas as pd
import pytest
from typer.testing import CliRunner

from fairtrial import __version__
from fairtrial.cli import app
from fairtrial.measures import registry


@pytest.fixture
def run():
    return lambda *words: CliRunner().invoke(app, list(words))


def test_measures_are_listed(run):
    result = run("measures")
    assert result.exit_code == 0
    assert all(name in result.output for name in registry)


def test_measures_as_csv(run):
    frame = pd.read_csv(io.StringIO(run("measures", "--needs", "scores", "--csv").output))
    assert set(frame["measure"]) == {each.name for each in registry.values() if each.facts.needs == "scores"}


def test_one_measure_in_full(run):
    result = run("measures", "h_measure")
    assert "severity_ratio" in result.output
    assert "Hand 2009" in result.output


def test_a_wrong_name_gets_one_sentence_and_code_2(run):
    result = run("measures", "h_mesure")
    assert result.exit_code == 2
    assert result.stderr == "fairtrial: no measure is called 'h_mesure': did you mean 'h_measure'?\n"


def test_version(run):
    assert run("--version").output == f"fairtrial {__version__}\n"


TABLE = "dataset,tree,bayes,rule\n" + "\n".join(f"set {i},0.{90 - i},0.{80 - i},0.{70 - i}" for i in range(8)) + "\n"


@pytest.fixture
def table(tmp_path):
    (tmp_path / "scores.csv").write_text(TABLE)
    return tmp_path / "scores.csv"


def test_compare_prints_the_verdict_and_writes_tables_and_figures(run, table, tmp_path):
    result = run("compare", str(table), "--measure", "accuracy", "--out", str(tmp_path / "out"), "--format", "svg,html")
    assert result.exit_code == 0, result.output
    assert "friedman (iman_davenport) + bergmann" in result.output
    assert "tree from rule" in result.output
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"table.tex", "table.md", "verdict.txt", "pairs.csv", "critical-difference.svg", "critical-difference.html"} <= names
    assert all(f"written: {tmp_path / 'out' / name}" in result.output for name in names)
    assert (tmp_path / "out" / "verdict.txt").read_text().strip() in result.output


def test_compare_hands_its_options_on(run, table):
    words = ("compare", str(table), "--out", "none", "--measure-direction", "min", "--control", "bayes", "--alpha", "0.01")
    result = run(*words, "--posthoc", "finner")
    assert result.exit_code == 0, result.output
    assert "alpha 0.01" in result.output
    assert "+ finner" in result.output
    assert "rule 1.00" in result.output
    assert "written" not in result.output
    two = table.with_name("two.csv")
    pd.read_csv(table).drop(columns="rule").to_csv(two, index=False)
    assert "practically equal (within 0.01)" in run("compare", str(two), "--out", "none", "--rope", "0.01").output
    assert "A parametric test was asked for" in run("compare", str(two), "--out", "none", "--parametric").output


def test_compare_takes_the_test_fraction(run, tmp_path):
    file = tmp_path / "holdout.csv"
    file.write_text("repeat,a,b\n1,0.8,0.7\n2,0.82,0.75\n3,0.79,0.74\n4,0.85,0.77\n")
    assert run("compare", str(file), "--out", "none").exit_code == 2
    assert "corrected_resampled_t" in run("compare", str(file), "--out", "none", "--test-fraction", "0.3").output


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nowhere.csv"], "fairtrial: scores must be a file that exists, got 'nowhere.csv': check the path\n"),
        (
            ["--control", "tre"],
            "fairtrial: control must be one of ['tree', 'bayes', 'rule'], got 'tre': did you mean 'tree'?\n",
        ),
        (["--measure", "acuracy"], "fairtrial: no measure is called 'acuracy': did you mean 'accuracy'?\n"),
        (["--measure-direction", "up"], "fairtrial: better must be one of ['max', 'min'], got 'up'\n"),
    ],
)
def test_compare_refuses_in_one_sentence(run, table, words, sentence):
    words = words if words[0].endswith(".csv") else [str(table), *words]
    result = run("compare", *words, "--out", "none")
    assert result.exit_code == 2
    assert result.stderr == sentence


def test_compare_says_in_words_what_would_be_a_warning(run, tmp_path):
    file = tmp_path / "equal.csv"
    file.write_text("fold,a,b\n1,0.5,0.4\n2,0.6,0.5\n3,0.7,0.6\n")
    result = run("compare", str(file), "--out", "none")
    assert result.exit_code == 0
    assert "p is undefined" in result.output
    assert result.stderr == ""


@pytest.mark.parametrize("width", [80, 120, 200])
def test_a_terminal_of_any_width_shows_names_and_facts_in_full(width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("FORCE_COLOR", "1")
    text = re.sub(r"\x1b\[[0-9;]*m", "", CliRunner().invoke(app, ["measures"]).output)
    header, *lines = text.splitlines()
    assert header.split()[:5] == ["measure", "needs", "better", "range", "chance"]
    assert len(lines) == len(registry)
    assert all(len(line) <= width for line in lines)
    line = next(line for line in lines if line.startswith("positive_likelihood_ratio"))
    assert "labels         higher  0 to inf     1" in line


@pytest.fixture
def rows_file(tmp_path):
    lines = [f"{(7 * i) % 40},{i % 3},{'uv'[i % 2]}" for i in range(40)]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,kind", *lines]))
    return tmp_path / "rows.csv"


def test_audit_says_what_it_found_and_writes_a_picture(run, rows_file):
    picture = rows_file.with_name("audit.svg")
    result = run("audit", str(rows_file), "--scheme", "stratified", "--n-splits", "4", "--picture", str(picture))
    assert result.exit_code == 0, result.output
    assert "no fault found" in result.output
    assert "fold 4" in result.output
    assert f"written: {picture}" in result.output
    assert picture.read_text().startswith("<svg")


def test_audit_ends_in_1_if_there_are_faults(run, rows_file):
    splits = rows_file.with_name("splits.csv")
    splits.write_text("row,fold\n" + "\n".join(f"{i},{i % 4}" for i in range(39)))
    result = run("audit", str(rows_file), "--splits", str(splits), "--permutations", "19")
    assert result.exit_code == 1, result.output
    assert "fault: 1 of 40 rows are never tested" in result.output


def test_audit_as_csv(run, rows_file):
    result = run("audit", str(rows_file), "--scheme", "dob-scv", "--assign", "literal", "--csv", "--seed", "2")
    frame = pd.read_csv(io.StringIO(result.stdout))
    assert {"in train and test", "energy distance", "outlying"} <= set(frame["check"])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--scheme", "kfld"], "scheme must be one of"),
        (["--scheme", "kfold", "--n-splits", "1"], "n_splits must be at least 2, got 1"),
        (["--splits", "nowhere.csv"], "splits must be a file that exists, got 'nowhere.csv'"),
        (["--scheme", "kfold", "--alpha", "2"], "alpha must lie between 0 and 1, got 2.0"),
        ([], "has no folds of its own: pass splits"),
    ],
)
def test_audit_refuses_in_one_sentence(run, rows_file, words, sentence):
    result = run("audit", str(rows_file), *words)
    assert result.exit_code == 2
    assert result.stderr.startswith("fairtrial: ")
    assert sentence in result.stderr


def test_data_sets_are_listed(run, monkeypatch):
    monkeypatch.delenv("FAIRTRIAL_DATA", raising=False)
    result = run("data", "list")
    assert result.exit_code == 0, result.output
    assert re.search(r"^digits +scikit-learn +1797 +64 +10 *$", result.output, re.MULTILINE)
    frame = pd.read_csv(io.StringIO(run("data", "list", "--csv").output)).set_index("name")
    assert frame.loc["iris", "rows"] == 150


def test_a_data_set_is_shown(run):
    result = run("data", "show", "iris")
    assert result.exit_code == 0, result.output
    assert "sepal length (cm)  numeric  4.3 to 7.9  0" in result.output
    assert "virginica  50 (33.3%)" in result.output


def test_a_damaged_data_set_is_told_beside_it(run, tmp_path, monkeypatch):
    (tmp_path / "rows.csv").write_text(",size,kind\n0,1.5,a\n1,2.5,b\n")
    monkeypatch.setenv("FAIRTRIAL_DATA", str(tmp_path))
    result = run("data", "show", "rows")
    assert result.exit_code == 0
    assert result.stderr.startswith("fairtrial: warning: the first column of")


def test_a_data_set_is_written(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("data", "get", "iris").output == "written: iris.csv\n"
    assert pd.read_csv("iris.csv").shape == (150, 5)
    assert run("data", "get", "iris", "--out", "other.parquet").exit_code == 0
    assert len(pd.read_parquet("other.parquet")) == 150
    assert run("data", "get", "iris", "--format", "arff").output == "written: iris.arff\n"
    refused = run("data", "get", "iris")
    assert refused.exit_code == 2
    assert refused.stderr.startswith("fairtrial: iris.csv exists already")
    assert "--force" in refused.stderr
    assert run("data", "get", "iris", "--force").exit_code == 0
    assert "must be a file, got a folder" in run("data", "get", "iris", "--out", ".").stderr
    assert "other.arff must end in .csv" in run("data", "get", "iris", "--out", "other.arff", "--format", "csv").stderr
    assert "it is a file: fairtrial.data.read('iris.csv')" in run("data", "show", "iris.csv").stderr


def test_a_wrong_data_set_gets_one_sentence_and_code_2(run):
    for words in (("show", "digitz"), ("get", "digitz")):
        result = run("data", *words)
        assert result.exit_code == 2
        assert result.stderr == "fairtrial: no data set is called 'digitz': did you mean 'digits'?\n"
    assert run("data", "get", "iris", "--format", "xlsx").exit_code == 2


def test_learners_are_listed(run):
    told = run("learners")
    assert told.exit_code == 0
    for name in ("c45", "ripper", "random-forest", "logistic-regression"):
        assert f"\n{name} " in told.stdout
    assert "name,class,from,prepared,parameters" in run("learners", "--csv").stdout


def test_one_learner_with_its_parameters(run):
    told = run("learners", "c45")
    assert "confidence = 0.25" in told.stdout
    assert run("learners", "c54").exit_code == 2


def test_audit_looks_at_the_picture_before_the_folds(run, rows_file):
    told = run("audit", str(rows_file), "--scheme", "stratified", "--picture", "out.gif")
    assert told.exit_code == 2
    assert "must end in one of" in told.stderr
    assert not told.stdout
