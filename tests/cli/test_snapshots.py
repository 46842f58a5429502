"""What each command prints, word for word. Other tests of commands assert values, files and exit codes."""

import re
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from packaging.version import Version
from typer.main import get_command

from fairtrial.cli import app
from tests.cli.conftest import STUDY
from tests.snapshots import assert_snapshot

SNAPSHOTS = Path(__file__).with_name("snapshots")
MISTAKES = """
[data]
sets = ["iris", "wine"]
[learners]
bayes = {learner = "gaussian-nb"}
tree = {learner = "decision-tre"}
[resampling]
folds = 1
"""


def list_commands(command=None, path=()):
    """Yield the words of every command of the application."""
    command = get_command(app) if command is None else command
    yield path
    for name, subcommand in getattr(command, "commands", {}).items():
        yield from list_commands(subcommand, (*path, name))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def write_scores(path, offsets, seed=1, rows=14):
    rng = np.random.default_rng(seed)
    values = {name: (0.8 + offset + rng.normal(0, 0.03, rows)).round(4) for name, offset in offsets.items()}
    pd.DataFrame({"dataset": [f"set{i}" for i in range(rows)], **values}).to_csv(path, index=False)


def write_predictions(path, rows=400, seed=2):
    rng = np.random.default_rng(seed)
    y_true = (rng.random(rows) < 0.2).astype(int)
    scores = {
        name: y_true * shift + rng.normal(size=rows) for name, shift in {"boosting": 2.0, "forest": 1.9, "logreg": 0.9}.items()
    }
    columns = {f"{name}_proba": (1 / (1 + np.exp(-values))).round(4) for name, values in scores.items()}
    pd.DataFrame({"y_true": y_true, **columns}).to_csv(path, index=False)


def record(run, *arguments):
    """Run a command and format the command line with its output."""
    result = run(*arguments)
    output = "\n".join(filter(None, [f"$ fairtrial {' '.join(map(str, arguments))}", result.stdout, result.stderr]))
    code = f"[exit code {result.exit_code}]" if result.exit_code else ""
    masked = output.replace(f"{Path.cwd()}/", "").rstrip() + "\n" + code
    masked = re.sub(r"\d{4}-\d\d-\d\dT[\d:+]+", "DATE", masked)
    return re.sub(r"\d+(\.\d+)? (ms|s|min)\b", "TIME", masked)


@pytest.mark.skipif(Version(version("typer")) < Version("0.29"), reason="older versions of typer lay out help differently")
@pytest.mark.parametrize("words", [pytest.param(words, id=" ".join(words) or "fairtrial") for words in list_commands()])
@pytest.mark.usefixtures("folder")
def test_help(run, words):
    assert_snapshot(record(run, *words, "--help"), SNAPSHOTS / "help" / f"{'-'.join(words) or 'fairtrial'}.txt")


@pytest.mark.usefixtures("folder")
def test_compare(run):
    write_scores("many.csv", {"forest": 0.06, "boosting": 0.05, "bayes": 0.0, "logreg": -0.02})
    write_scores("equal.csv", {"forest": 0.0, "boosting": 0.0, "bayes": 0.0}, rows=6)
    write_scores("two.csv", {"forest": 0.03, "bayes": 0.0})
    outputs = [
        record(run, "compare", "many.csv", "--measure", "accuracy"),
        record(run, "compare", "many.csv", "--control", "bayes"),
        record(run, "compare", "equal.csv"),
        record(run, "compare", "two.csv", "--rope", "0.01", "--explain"),
        record(run, "compare", "many.csv", "--explain"),
        record(run, "compare", "missing.csv"),
        record(run, "compare", "many.csv", "--control", "tree"),
    ]
    assert_snapshot("\n".join(outputs), SNAPSHOTS / "compare.txt")


@pytest.mark.usefixtures("folder")
def test_judge(run):
    write_predictions("churn.csv")
    outputs = [
        record(run, "judge", "churn.csv", "--resamples", "200"),
        record(run, "judge", "churn.csv", "--resamples", "200", "--measure", "accuracy"),
        record(run, "judge", "churn.csv", "--resamples", "200", "--explain", "--all"),
        record(run, "judge", "churn.csv", "--y-true", "label"),
        record(run, "judge", "missing.csv"),
    ]
    assert_snapshot("\n".join(outputs), SNAPSHOTS / "judge.txt")


@pytest.mark.usefixtures("folder")
def test_study(run, monkeypatch):
    for name in ("find_slow_fits", "find_oversubscription"):  # a busy machine adds notes
        monkeypatch.setattr(f"fairtrial.study.results.summary.{name}", lambda *_: [])
    Path("small.toml").write_text(STUDY)
    Path("mistakes.toml").write_text(MISTAKES)
    outputs = [
        record(run, "run", "small.toml", "--dry-run", "--jobs", "1"),
        record(run, "run", "small.toml", "--jobs", "1", "--quiet"),
        record(run, "run", "small.toml", "--jobs", "1", "--quiet"),
        record(run, "status", "small.fairtrial"),
        record(run, "results", "small.fairtrial"),
        record(run, "results", "small.fairtrial", "--measure", "kappa"),
        record(run, "run", "mistakes.toml"),
        record(run, "status", "missing.fairtrial"),
    ]
    assert_snapshot("\n".join(outputs), SNAPSHOTS / "study.txt")
