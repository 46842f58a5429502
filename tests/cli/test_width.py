"""The command line: every table and text fits 80 columns."""

import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer
from typer.main import get_command

from fairtrial.cli import app
from tests.cli.test_snapshots import list_commands

DATA = Path(__file__).resolve().parents[2] / "docs" / "data"
COMMANDS = """
judge churn.csv --resamples 99
judge churn.csv --resamples 99 --all
judge churn.csv --resamples 99 --explain
judge visits.csv --resamples 99 --cluster patient --explain
judge loans.csv --resamples 99 --subgroup region --explain
judge release.csv --resamples 99 --margin 0.01 --explain
compare scores.csv
compare scores.csv --explain
compare scores.csv --rope 0.01 --explain
compare scores.csv --margin 0.01 --control C4.5 --explain
compare scores.csv --control C4.5 --parametric --explain
gate release.csv --candidate new --baseline old --margin 0.01 --resamples 99
gate release.csv --candidate new --baseline old --margin auc=0.01 --margin accuracy=0.01 --resamples 99
gate visits.csv --candidate new --baseline old --margin 0.01 --cluster patient --resamples 99
threshold churn.csv --cost-fp 1 --cost-fn 10 --resamples 99
threshold churn.csv --recall 0.9 --at 0.2 --measure precision --resamples 99
plan-test --pilot pilot.csv --margin 0.01
plan-test --width 0.05
figure --list
table --list
table scores scores.csv
table ranks scores.csv
table pairs scores.csv
table wins scores.csv
run STUDY --dry-run
run STUDY --store STORE --jobs 1
status STORE
results STORE
results STORE --all
results STORE --explain
results STORE --measure kappa
results STORE --show scores
results STORE --show robustness
results STORE --show failures
results STORE --show times
results STORE --show generalisation
table pairs STORE
check STORE
data list
data show digits
audit iris --scheme dob-scv --permutations 19
measures
measures h_measure
learners
learners random-forest
reproduce
"""


@pytest.fixture
def data_folder(tmp_path, monkeypatch):
    for file in DATA.glob("*.csv"):
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize("command", COMMANDS.strip().splitlines())
def test_output_fits_80_columns(run, finished, study_file, command):
    words = {"STORE": finished[0], "STUDY": study_file}
    result = run(*(words.get(word, word) for word in command.split()))
    assert result.exit_code in (0, 1), result.stderr
    paths = str(study_file.parent)
    assert [line for line in result.stdout.splitlines() if len(line) > 80 and paths not in line] == []


@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize("words", [pytest.param(words, id=" ".join(words) or "fairtrial") for words in list_commands()])
def test_help_fits_80_columns_and_shows_examples_once(run, words):
    text = run(*words, "--help").stdout
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text
    assert not re.search(r"<\w+(\[\w+\])?>|\{|\}", text)
    assert "Example:" not in text
    assert run(*words, "-h").stdout == text


EXAMPLES = [
    line.strip()
    for words in list_commands()
    if len(words) == 1
    for line in (get_command(app).get_command(typer.Context(get_command(app)), words[0]).epilog or "").splitlines()[1:]
]
SLOW = ("fairtrial reproduce drift", "fairtrial reproduce ela --scale full --jobs 2")


def write_example_files(study_file, store):
    """Write the files that the examples of the help texts name."""
    rows = np.arange(240)
    is_positive = rows % 3 == 0
    frame = pd.DataFrame(
        {
            "row": rows,
            "y_true": np.where(is_positive, "yes", "no"),
            "old_proba": rows * 7 % 100 / 100,
            "new_proba": np.where(is_positive, 0.6, 0.2) + rows * 3 % 40 / 100,
            "patient": rows // 2,
            "region": np.where(rows % 2, "north", "south"),
        }
    )
    frame.to_csv("predictions.csv", index=False)
    frame.drop(columns=["old_proba", "patient", "region"]).to_parquet("new.parquet")
    frame.drop(columns=["new_proba", "patient", "region"]).to_parquet("old.parquet")
    answers = pd.DataFrame({"question": rows // 3, "sample": rows % 3, "y_true": rows // 3 % 2, "model": "llm"})
    answers.assign(prediction=np.where(rows % 5, answers["y_true"], 1 - answers["y_true"])).to_csv("answers.csv", index=False)
    pd.DataFrame({"size": rows % 7, "class": frame["y_true"]}).to_csv("data.csv", index=False)
    pd.DataFrame({"row": rows, "fold": rows // 3 % 5}).to_csv("folds.csv", index=False)
    scores = pd.read_csv(DATA / "scores.csv")
    scores.to_csv("scores.csv", index=False)
    scores.rename(columns={"C4.5": "baseline"}).to_csv("errors.csv", index=False)
    Path("study.toml").write_text(study_file.read_text().replace("gaussian-nb = {}", 'forest = { learner = "gaussian-nb" }'))
    for name in ("study", "part1", "part2"):
        shutil.copy(store, f"{name}.fairtrial")


@pytest.mark.parametrize("example", [example for example in EXAMPLES if example not in SLOW])
def test_examples_of_the_help_run(run, finished, study_file, tmp_path, monkeypatch, example):
    monkeypatch.chdir(tmp_path)
    write_example_files(study_file, finished[0])
    words = example.split()[1:]
    if words[0] == "run":  # the results file belongs to another study
        Path("study.fairtrial").unlink()
        Path("part1.fairtrial").unlink()
    if words[0] == "forget":
        words[words.index("forest")] = "tree"
    result = run(*words)
    assert result.exit_code == 0, result.stderr
