"""The command line: comparing."""

import pandas as pd
import pytest

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
    assert f"+ {procedure}" in result.output


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


def test_compare_writes_the_report(run, table, tmp_path):
    page = tmp_path / "page.html"
    result = run("compare", table, "--measure", "accuracy", "--out", "none", "--report", page)
    assert result.exit_code == 0, result.output
    assert f"written: {page}" in result.output
    text = page.read_text(encoding="utf-8")
    assert "<h1>Comparison on scores.csv</h1>" in text
    # Mean ranks 1, 2 and 3 on 8 data sets: neighbours differ by z = 2, of which p is 0.0455, and Bergmann's procedure keeps it.
    assert "By accuracy over the data sets, tree is ahead of bayes and rule." in text
    result = run("compare", table, "--out", "none", "--report", tmp_path / "page.pdf")
    assert result.exit_code == 2
    assert result.stderr.startswith("fairtrial: path must end in .html")
