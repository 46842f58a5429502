"""The command plan-test: answers, exit codes, and what is refused."""

import io

import numpy as np
import pandas as pd
import pytest

from fairtrial.predictions import plan_test
from fairtrial.significance import plan_auc_test, plan_datasets, plan_interval, plan_margin


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y_true = (rng.random(300) < 0.3).astype(int)
    scores = 1.5 * y_true + rng.normal(size=300) + 0.3 * rng.normal(size=(2, 300))
    old, new = (1 / (1 + np.exp(1 - scores))).round(4)
    pd.DataFrame({"y_true": y_true, "old_proba": old, "new_proba": new, "patient": np.arange(300) // 2}).to_csv(
        "pilot.csv", index=False
    )
    pd.DataFrame({"dataset": list("abcdef"), "new": rng.random(6).round(3), "old": rng.random(6).round(3)}).to_csv(
        "scores.csv", index=False
    )
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "plan"),
    [
        (
            "--pilot pilot.csv --margin 0.06 --measure auc --power 0.7",
            lambda: plan_test("pilot.csv", margin=0.06, candidate="old", measure="auc", power=0.7),
        ),
        (
            "--pilot pilot.csv --width 0.1 --candidate new --measure accuracy --cluster patient",
            lambda: plan_test("pilot.csv", width=0.1, candidate="new", measure="accuracy", cluster="patient"),
        ),
        ("--width 0.05 --measure accuracy --expected 0.8", lambda: plan_interval("accuracy", 0.05, expected=0.8)),
        ("--width 0.05 --alpha 0.1", lambda: plan_interval("accuracy", 0.05, level=0.9)),
        ("--measure auc --expected 0.7 --prevalence 0.2", lambda: plan_auc_test(0.7, prevalence=0.2)),
        ("--margin 0.02 --discordant 0.1 --equivalent", lambda: plan_margin(0.02, discordant=0.1, equivalent=True)),
        ("--margin 0.02 --sd 0.05 --difference 0.01", lambda: plan_margin(0.02, sd=0.05, difference=0.01)),
        ("--scores scores.csv --margin 0.2", lambda: plan_datasets("scores.csv", 0.2)),
    ],
)
def test_the_answer_comes_first_and_is_short(run, words, plan):
    result, expected = run("plan-test", *words.split()), plan()
    assert result.exit_code == 0
    assert result.stdout.rstrip("\n") == str(expected)
    lines = result.stdout.splitlines()
    assert len(lines) <= 12
    assert max(map(len, lines)) <= 80
    assert f"{expected.unit}s" in lines[0]


def test_csv_has_one_row(run):
    table = pd.read_csv(io.StringIO(run("plan-test", "--width", "0.05", "--expected", "0.8", "--csv").stdout))
    assert table["n"].tolist() == [plan_interval("accuracy", 0.05, expected=0.8).n]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "--margin, --width, or --measure auc with --expected must be given"),
        ("--margin 0.01", "pass --pilot FILE"),
        ("--margin 0.01 --measure auc --discordant 0.1", "--measure must be accuracy without a pilot"),
        ("--pilot pilot.csv --margin 0 --candidate new", "margin must be greater than 0"),
        ("--pilot pilot.csv --candidate new", "pass --margin 0.01 or --width 0.05"),
        ("--pilot pilot.csv --margin 0.01 --candidate nwe --baseline old", "did you mean 'new'"),
        ("--pilot pilot.csv --margin 0.01 --candidate new --power 1.2", "power must lie between 0 and 1"),
        ("--pilot pilot.csv --margin 0.01 --candidate new --expected 0.8", "--expected is not used with --pilot"),
        ("--pilot pilot.csv --scores scores.csv --margin 0.01", "either --pilot or --scores"),
        ("--pilot missing.csv --margin 0.01 --candidate new", "missing.csv"),
        ("--scores scores.csv", "--margin must be given with --scores"),
        ("--scores scores.csv --margin 0.1 --candidate nwe", "did you mean 'new'"),
        ("--width 0.05 --cluster patient", "--cluster is not used with --width"),
        ("--width 0.05 --measure brier", "use a pilot (--pilot FILE)"),
        ("--width 0.05 --alpha 2", "alpha must lie between 0 and 1"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(run, words, message):
    result = run("plan-test", *words.split())
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("fairtrial: ")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
