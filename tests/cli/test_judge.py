"""The command line: judging."""

import io

import numpy as np
import pandas as pd
import pytest

from fairtrial.measures import auc
from tests.report.judgement.cases import many_classes, two_classes

FEW = ("--resamples", "20")


@pytest.fixture
def file(tmp_path):
    two_classes(80).drop(columns="rule_proba").to_csv(tmp_path / "predictions.csv", index=False)
    return tmp_path / "predictions.csv"


def written(table, tmp_path):
    table.to_csv(tmp_path / "bad.csv", index=False)
    return tmp_path / "bad.csv"


def test_judge_prints_words_and_tables_and_writes_the_report(run, file, tmp_path):
    page, figures, tables = tmp_path / "page.html", tmp_path / "figures", tmp_path / "tables"
    told = run(
        "judge", file, *FEW, "--report", page, "--figures", figures, "--tables", tables, "--format", "json", "--title", "A & B"
    )
    assert told.exit_code == 0, told.output
    assert told.stderr == ""
    assert "The file is wide" in told.stdout
    assert "forest has the best auc" in told.stdout
    assert "delong" in told.stdout
    assert f"written: {page}\n" in told.stdout
    text = page.read_text(encoding="utf-8")
    assert "<h1>A &amp; B</h1>" in text
    assert "forest has the best auc" in text
    assert f"written: {figures} ({len(list(figures.iterdir()))} files)" in told.stdout
    every = pd.read_csv(tables / "measures-all.csv")
    value = every.query("model == 'tree' and measure == 'auc'")["estimate"].item()
    table = two_classes(80)
    assert value == pytest.approx(auc(table["truth"] == "yes", table["tree_proba"]))
    assert (figures / "curves-roc-yes.json").is_file()


def test_judge_prints_csv(run, file):
    told = run("judge", file, *FEW, "--csv", "--measure", "accuracy", "--measure", "brier")
    assert told.exit_code == 0, told.output
    found = pd.read_csv(io.StringIO(told.stdout))
    assert found["measure"].tolist() == ["accuracy", "brier"] * 2
    assert "they are their most likely classes." in told.stderr


def test_columns_can_be_given(run, tmp_path):
    table = two_classes(80).set_axis(["n", "came", "club", "f", "t", "r"], axis=1).assign(w=1.0)
    path = written(table, tmp_path)
    words = (
        "--y-true",
        "came",
        "--row",
        "n",
        "--subgroup",
        "club",
        "--weight",
        "w",
        "--positive",
        "no",
        "--level",
        "0.8",
        "--alpha",
        "0.1",
    )
    told = run("judge", path, *FEW, *words, "--score", "forest=f", "--score", "tree=t", "--measure", "auc")
    assert told.exit_code == 0, told.output
    assert "y_true 'came'; row 'n'; weight 'w'; score 'f', 't'; subgroup 'club'." in told.stdout
    assert "80 % interval" in told.stdout
    assert "at level 0.1" in told.stdout
    assert "Left alone: 'r'" in told.stdout
    value = auc(table["came"] == "no", table["f"])
    assert f"{value:.4f}" in told.stdout
    labels = two_classes(80).assign(a="yes", b=two_classes(80)["truth"])[["row", "truth", "a", "b"]]
    told = run("judge", written(labels, tmp_path), *FEW, "--prediction", "a", "--prediction", "b", "--measure", "accuracy")
    assert "b has the best accuracy, 1 " in told.stdout
    told = run("judge", written(labels, tmp_path), *FEW, "--prediction", "b", "--csv", "--measure", "accuracy")
    assert pd.read_csv(io.StringIO(told.stdout))["estimate"].tolist() == [1.0]


def test_long_files_with_all_their_columns(run, tmp_path):
    table = many_classes(60).rename(columns={"model": "who", "p_a": "x", "p_b": "y", "p_c": "z"})
    table = table.assign(where=np.where(table["row"] < 30, "u", "v"), part=table["row"] % 3, time=0)
    roles = ("--model", "who", "--dataset", "where", "--fold", "part", "--repeat", "time")
    scores = ("--score", "a=x", "--score", "b=y", "--score", "c=z")
    told = run("judge", written(table, tmp_path), *FEW, *roles, *scores, "--measure", "accuracy")
    assert told.exit_code == 0, told.output
    assert "On u: good has the best accuracy" in told.stdout
    assert "Over the data sets:" in told.stdout


def test_streamed_and_several_files(run, file, tmp_path):
    told = run("judge", file, *FEW, "--stream", "--report", tmp_path / "page.html")
    assert told.exit_code == 0, told.output
    assert "counted and not held" in (tmp_path / "page.html").read_text(encoding="utf-8")
    halves = [tmp_path / "one.csv", tmp_path / "two.csv"]
    for path, part in zip(halves, np.array_split(np.arange(80), 2), strict=True):
        two_classes(80).drop(columns="rule_proba").iloc[part].to_csv(path, index=False)
    both = run("judge", *halves, *FEW, "--csv", "--measure", "accuracy").stdout
    assert both == run("judge", file, *FEW, "--csv", "--measure", "accuracy").stdout


def test_judge_reads_what_export_writes(run, finished, tmp_path):
    store = finished[0]
    assert run("export", store, "--parquet", tmp_path / "evidence.parquet").exit_code == 0
    told = run("judge", tmp_path / "evidence.parquet", *FEW, "--measure", "accuracy")
    assert told.exit_code == 0, told.output
    assert "On iris: gaussian-nb has" in told.stdout
    assert "The file holds 2 conditions: only the " in told.stdout
    assert "Over the data sets: " in told.stdout


def spoilt(change):
    """A file of predictions that something is wrong with."""
    table = two_classes(40)[["row", "truth", "sex", "forest_proba", "tree_proba"]]
    return change(table)


def long_table():
    table = spoilt(lambda each: each)
    long = table.melt(["row", "truth"], ["forest_proba", "tree_proba"], "model", "score")
    return long.assign(model=long["model"].str.removesuffix("_proba"))


REFUSED = {
    "missing column": (lambda: spoilt(lambda each: each), ("--y-true", "truht"), "got 'truht': did you mean 'truth'?"),
    "no truth": (lambda: spoilt(lambda each: each.drop(columns="truth")), (), "must have a column of true labels"),
    "no predictions": (lambda: spoilt(lambda each: each[["row", "truth"]]), (), "must have predicted labels or scores"),
    "sums": (
        lambda: pd.DataFrame({"truth": ["a", "b"] * 4, "p_a": [0.9, 0.9] * 4, "p_b": [0.1, 0.4] * 4}),
        (),
        "probabilities of model 'model' must sum to 1 in each row, got 1.3 at row 2",
    ),
    "missing scores": (
        lambda: spoilt(lambda each: each.assign(tree_proba=each["tree_proba"].where(each["row"] != 3))),
        (),
        "scores of model 'tree' must be finite numbers, got a missing score in column 'tree_proba' at row 3",
    ),
    "rows twice": (
        lambda: pd.concat([long_table(), long_table().head(1)]),
        (),
        "model 'forest' must predict each row once, got row 0 more than once",
    ),
    "no common row": (
        lambda: long_table().assign(row=lambda each: each["row"] + 100 * (each["model"] == "tree")),
        (),
        "models must predict the same rows to be compared, got none in common",
    ),
    "another label": (
        lambda: spoilt(lambda each: each.assign(rule="Yes")[["truth", "rule"]]),
        ("--prediction", "rule"),
        "got none: 'Yes' is not among yes, no",
    ),
    "measure": (lambda: spoilt(lambda each: each), ("--measure", "acuracy"), "did you mean 'accuracy'?"),
    "positive": (lambda: spoilt(lambda each: each), ("--positive", "maybe"), "got 'maybe'"),
    "level": (lambda: spoilt(lambda each: each), ("--level", "95"), "level must lie between 0 and 1"),
    "page": (lambda: spoilt(lambda each: each), ("--report", "page.pdf"), "path must end in .html"),
    "format": (lambda: spoilt(lambda each: each), ("--figures", "f", "--format", "bmp"), "bmp"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_used_is_refused_in_one_sentence(run, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    make, words, sentence = REFUSED[name]
    told = run("judge", written(make(), tmp_path), *FEW, *words)
    assert told.exit_code == 2, told.output
    assert told.stderr.startswith("fairtrial: ")
    assert told.stderr.count("\n") == 1
    assert sentence in told.stderr
    assert told.stdout == ""


def test_a_file_that_is_not_there(run):
    told = run("judge", "nowhere.csv")
    assert told.exit_code == 2
    assert "nowhere.csv" in told.stderr
    assert "Traceback" not in told.output


MENDED = {
    "never predicted": (
        lambda: pd.DataFrame({"truth": ["a", "b", "c"] * 10, "rule": ["a", "b", "b"] * 10}),
        "model 'rule' never predicts 'c': its precision does not exist",
    ),
    "rounding": (
        lambda: pd.DataFrame({"truth": ["a", "b"] * 10, "p_a": [0.91, 0.4] * 10, "p_b": [0.1, 0.6] * 10}),
        "sum to one only within rounding",
    ),
    "other rows": (
        lambda: long_table()[lambda each: (each["model"] == "forest") | (each["row"] < 30)],
        "predict different rows of 'data' (40 and 30): paired tests use the 30 that both predict",
    ),
}


@pytest.mark.parametrize("name", MENDED)
def test_what_is_mended_is_said_and_repeated_in_the_report(run, tmp_path, name):
    make, sentence = MENDED[name]
    page = tmp_path / "page.html"
    told = run("judge", written(make(), tmp_path), *FEW, "--measure", "accuracy", "--report", page)
    assert told.exit_code == 0, told.output
    assert sentence in told.stdout
    assert sentence in page.read_text(encoding="utf-8").replace("&#39;", "'")
