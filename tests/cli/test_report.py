"""The command line: reports."""

import os


def test_a_report_with_its_tables(run, finished, tmp_path):
    page, tables = tmp_path / "small.html", tmp_path / "tables"
    told = run("report", finished[0], "--out", page, "--tables", tables, "--title", "Iris & wine")
    assert told.exit_code == 0, told.output
    assert told.stderr == ""
    assert told.stdout.splitlines()[0] == f"written: {page}"
    assert told.stdout.splitlines()[1] == f"written: {tables} ({len(os.listdir(tables))} files)"
    assert "<title>Iris &amp; wine</title>" in page.read_text(encoding="utf-8")


def test_a_report_is_refused_in_one_sentence(run, finished, tmp_path):
    told = run("report", finished[0], "--out", tmp_path / "x.pdf")
    assert told.exit_code == 2
    assert told.stderr.startswith("fairtrial: the output file must end in .html")
    told = run("report", finished[0], "--out", tmp_path / "x.html", "--figures", tmp_path / "f", "--format", "svg,bmp")
    assert told.exit_code == 2
    assert "bmp" in told.stderr
    told = run("report", tmp_path / "none.fairtrial")
    assert told.exit_code == 2
    assert "Traceback" not in told.output
    told = run("report", finished[0], "--out", tmp_path / "x.html", "--study", "another")
    assert told.exit_code == 2
    assert os.listdir(tmp_path) == ["f"] or os.listdir(tmp_path) == []
