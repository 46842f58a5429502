"""The command line: mistakes in the command, files and values, and shell completion."""

import pandas as pd
import pytest
from typer.testing import CliRunner

from fairtrial import gate
from fairtrial.cli import app
from fairtrial.errors import InputError


@pytest.mark.parametrize(
    "command",
    [
        "judge DIR",
        "compare DIR",
        "gate DIR --candidate a --baseline b --margin 0.1",
        "threshold DIR --recall 0.9",
        "plan-test --pilot DIR --margin 0.1",
        "plan-test --scores DIR --margin 0.1",
        "figure roc DIR",
        "table scores DIR",
        "run DIR",
        "status DIR",
        "results DIR",
        "report DIR",
        "check DIR",
        "audit iris --splits DIR",
        "audit DIR --scheme kfold",
    ],
)
def test_a_folder_is_refused_in_the_same_way(run, tmp_path, command):
    result = run(*(tmp_path if word == "DIR" else word for word in command.split()))
    assert result.exit_code == 2
    assert f"fairtrial: {tmp_path} is a folder: pass a file" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "refusal"),
    [
        ("judge", "FILE must be given, e.g. fairtrial judge predictions.csv"),
        ("compare", "SCORES must be given, e.g. fairtrial compare scores.csv"),
        ("judge FILE --level abc", "--level must be a number, got 'abc'"),
        ("judge FILE --seed 1.5", "--seed must be a whole number, got '1.5'"),
        ("judge FILE --margin", "option '--margin' requires an argument: see "),
        ("gate FILE --candidate a --baseline b --margin", "option '--margin' requires an argument: see "),
        ("data get iris --out", "option '--out' requires an argument: see root data get --help"),
        ("judge FILE --all=yes", "option '--all' does not take a value: see "),
        ("judge FILE --measure accuracy,auc", "repeat the option (--measure accuracy --measure auc)"),
        ("judge FILE --postive yes", "no option is called '--postive': did you mean '--positive'"),
        ("compare FILE --rows fold", "rows must be one of 'datasets', 'folds' or 'seeds', got 'fold': did you mean 'folds'?"),
        ("audit iris", "iris has no folds: pass --splits FILE (a CSV table) or --scheme NAME (kfold, stratified,"),
        ("run FILE", "pass a study file (*.toml); fairtrial judge reads predictions"),
        ("judge EMPTY", "got an empty file: check the path"),
        ("compare HEADER", "got only 1 row in 'header.csv': check that the file is complete"),
        ("judge README", "must have at most 2 cells, got 3: pass a CSV file"),
    ],
)
def test_a_mistake_is_refused_in_one_sentence_with_a_remedy(run, tmp_path, monkeypatch, command, refusal):
    monkeypatch.chdir(tmp_path)
    texts = {"FILE": "y_true,tree,bayes\nyes,yes,no\n", "EMPTY": "", "HEADER": "dataset,a,b\n", "README": "a,b\n1,2\n1,2,3\n"}
    for name, text in texts.items():
        (tmp_path / f"{name.lower()}.csv").write_text(text)
    result = run(*(f"{word.lower()}.csv" if word in texts else word for word in command.split()))
    assert result.exit_code == 2
    assert result.stderr.startswith("fairtrial: ")
    assert refusal in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_condition_with_several_levels_names_the_option(run, study_file, tmp_path):
    study, store = tmp_path / "levels.toml", tmp_path / "levels.fairtrial"
    study.write_text(study_file.read_text().replace("class-noise = [0, 0.2]", "class-noise = [0, 0.1, 0.2]"))
    assert run("run", study, "--store", store, "--jobs", "1").exit_code == 0
    result = run("results", store, "--condition", "class-noise")
    assert "the condition 'class-noise' has the levels 0.1 and 0.2: pass e.g. --level 0.1" in result.stderr


def test_the_hints_of_run_name_commands_that_work(run, finished):
    _, process = finished
    hints = [line.partition("fairtrial ")[2] for line in process.stdout.splitlines() if "fairtrial results" in line]
    assert len(hints) >= 2
    for hint in hints:
        words = [str(finished[0]) if word.endswith(".fairtrial") else word for word in hint.split()]
        assert run(*words).exit_code == 0


@pytest.mark.parametrize("command", ["compare", "judge"])
def test_a_written_page_is_named_once_and_not_advertised(run, tmp_path, command):
    file, page = tmp_path / "table.csv", tmp_path / "page.html"
    if command == "compare":
        file.write_text("dataset,a,b\n" + "".join(f"d{i},0.{90 - i},0.{70 + i}\n" for i in range(8)))
    else:
        file.write_text("y_true,a,b\n" + "yes,yes,no\nno,no,no\n" * 20)
    assert "--report page.html" in run(command, file).stdout
    result = run(command, file, "--report", page)
    assert "--report page.html" not in result.stdout
    assert f"written: {page}\n" in result.stdout


def test_gate_in_python_names_the_missing_margin():
    with pytest.raises(InputError, match="margin must be given"):
        gate(pd.DataFrame({"y_true": [0, 1], "old": [0, 1], "new": [0, 1]}))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("fairtrial judge --measure bri", "brier_miscalibration"),
        ("fairtrial measures h_", "h_measure"),
        ("fairtrial compare --rows ", "folds"),
        ("fairtrial figure critical", "critical-difference"),
        ("fairtrial table sc", "scores"),
        ("fairtrial results --show robust", "robustness"),
        ("fairtrial data show ir", "iris"),
    ],
)
def test_the_shell_completes_names(line, expected):
    words = line.split(" ")
    environment = {"_FAIRTRIAL_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    result = CliRunner().invoke(app, [], prog_name="fairtrial", env=environment)
    completions = result.stdout.split()
    assert expected in completions
    assert all(name.startswith(words[-1]) for name in completions)
