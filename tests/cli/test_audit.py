"""The command line: auditing."""

import io

import pandas as pd
import pytest


@pytest.fixture
def rows_file(tmp_path):
    lines = [f"{(7 * i) % 40},{i % 3},{'uv'[i % 2]}" for i in range(40)]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,kind", *lines]))
    return tmp_path / "rows.csv"


def test_audit_writes_a_picture(run, rows_file):
    picture = rows_file.with_name("audit.svg")
    result = run("audit", str(rows_file), "--scheme", "stratified", "--n-splits", "4", "--picture", str(picture))
    assert result.exit_code == 0, result.output
    assert str(picture) in result.output
    assert picture.read_text().startswith("<svg")


def test_audit_ends_in_1_if_there_are_faults(run, rows_file):
    splits = rows_file.with_name("splits.csv")
    splits.write_text("row,fold\n" + "\n".join(f"{i},{i % 4}" for i in range(39)))
    result = run("audit", str(rows_file), "--splits", str(splits), "--permutations", "19")
    assert result.exit_code == 1, result.output


def test_audit_as_csv(run, rows_file):
    result = run("audit", str(rows_file), "--scheme", "dob-scv", "--assign", "literal", "--csv", "--seed", "2")
    frame = pd.read_csv(io.StringIO(result.stdout))
    assert {"in train and test", "energy distance", "outlying"} <= set(frame["check"])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--scheme", "kfld"], "kfld"),
        (["--scheme", "kfold", "--n-splits", "1"], "got 1"),
        (["--splits", "nowhere.csv"], "'nowhere.csv'"),
        (["--scheme", "kfold", "--alpha", "2"], "got 2.0"),
        ([], "splits"),
    ],
)
def test_audit_refuses_in_one_sentence(run, rows_file, words, sentence):
    result = run("audit", str(rows_file), *words)
    assert result.exit_code == 2
    assert result.stderr.startswith("fairtrial: ")
    assert sentence in result.stderr


def test_audit_looks_at_the_picture_before_the_folds(run, rows_file):
    told = run("audit", str(rows_file), "--scheme", "stratified", "--picture", "out.gif")
    assert told.exit_code == 2
    assert "out.gif" in told.stderr
    assert not told.stdout
