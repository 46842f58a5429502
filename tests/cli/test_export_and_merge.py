"""The command line: files of evidence."""

import io

import pandas as pd


def test_export_writes_a_line_for_each_test_row(run, finished, tmp_path):
    csv, parquet = tmp_path / "rows.csv", tmp_path / "rows.parquet"
    told = run("export", finished[0], "--csv", csv, "--parquet", parquet)
    assert told.exit_code == 0, told.output
    lines = (150 + 178) * 2 * 2
    assert str(csv) in told.stdout
    rows = pd.read_csv(csv)
    assert len(rows) == len(pd.read_parquet(parquet)) == lines
    assert {"dataset", "condition", "level", "learner", "repeat", "fold", "row", "y_true", "prediction"} < set(rows)
    assert "score[setosa]" in rows


def test_export_refuses_in_one_sentence(run, finished, tmp_path):
    assert "--csv FILE or --parquet FILE" in run("export", finished[0]).stderr
    there = tmp_path / "there.csv"
    there.write_text("mine")
    told = run("export", finished[0], "--csv", there)
    assert told.exit_code == 2
    assert "--force" in told.stderr
    assert there.read_text() == "mine"
    assert run("export", finished[0], "--csv", there, "--force").exit_code == 0
    nowhere = run("export", tmp_path / "nowhere.fairtrial", "--csv", tmp_path / "x.csv")
    assert nowhere.exit_code == 2
    assert "Traceback" not in nowhere.output


def test_export_refuses_a_file_whose_ending_says_something_else(run, finished, tmp_path):
    for option, name, other in (("--csv", "x.parquet", "--parquet"), ("--parquet", "x.csv", "--csv")):
        told = run("export", finished[0], option, tmp_path / name)
        assert told.exit_code == 2
        assert f"use {other}" in told.stderr
    assert run("export", finished[0], "--csv", tmp_path / "x.txt").exit_code == 0
    assert {each.name for each in tmp_path.iterdir()} == {"x.txt"}


def test_merge_needs_a_target_and_names_it_as_an_option(run, finished, tmp_path):
    part = tmp_path / "part.fairtrial"
    part.write_bytes(finished[0].read_bytes())
    told = run("merge", part, finished[0])
    assert told.exit_code == 2
    assert "--store" in told.stderr
    assert part.read_bytes() == finished[0].read_bytes()
    whole = tmp_path / "whole.fairtrial"
    assert run("merge", part, finished[0], "--store", whole).stdout.startswith(f"{whole}: ")
    assert run("merge", part, whole, "--store", whole).exit_code == 2


def test_merge_refuses_what_is_no_store(run, finished, tmp_path):
    foreign = tmp_path / "foreign.fairtrial"
    foreign.write_text("no database")
    told = run("merge", finished[0], foreign, "--store", tmp_path / "all.fairtrial")
    assert told.exit_code == 2
    assert "foreign.fairtrial" in told.stderr


def test_csv_output_escapes_formulas_but_not_numbers(run, tmp_path):
    study = tmp_path / "formula.toml"
    study.write_text(
        'seed = 1\nmeasures = ["accuracy"]\n[data]\nsets = ["iris"]\n[resampling]\nfolds = 2\n'
        '[learners]\n"=cmd()" = { learner = "gaussian-nb" }\n"-1.5" = { learner = "decision-tree" }\n'
    )
    store = tmp_path / "formula.fairtrial"
    assert run("run", study, "--store", store, "--quiet", "--jobs", 1).exit_code == 0
    printed = run("results", store, "--show", "scores", "--csv").stdout
    assert set(pd.read_csv(io.StringIO(printed), dtype=str)["learner"]) == {"'=cmd()", "-1.5"}
    scores = tmp_path / "scores.csv"
    scores.write_text("dataset,=a(),b\n@one,0.5,-0.25\n+two,0.25,0.5\n\ttre,0.5,0.75\nfour,0.5,0.5\n")
    assert run("compare", scores, "--out", tmp_path / "out").exit_code == 0
    table = pd.read_csv(tmp_path / "out" / "scores.csv", index_col=0)
    assert list(table.columns) == ["'=a()", "b"]
    assert set(table.index) >= {"'@one", "'+two", "four"}
    assert table.loc["'@one", "b"] == -0.25
