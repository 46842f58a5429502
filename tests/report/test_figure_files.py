"""Figures become files."""

import json
from dataclasses import replace

import pytest

from fairtrial.errors import InputError
from fairtrial.measures import roc_curve
from fairtrial.report.figures.curves import draw_roc
from fairtrial.report.files import write_figures
from fairtrial.report.section import Figure, Section


def section(*keys):
    chart = draw_roc({"tree": roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])})
    figures = [Figure(key, key, chart, "one curve") for key in keys]
    return Section("s", "S", figures=tuple(figures[:1]), subsections=(Section("p", "P", figures=tuple(figures[1:])),))


def test_every_figure_comes_in_every_format_once(tmp_path):
    found = write_figures([section("one", "two")], tmp_path / "new" / "folder", "svg, JSON,.svg")
    assert [path.name for path in found] == ["one.svg", "one.json", "two.svg", "two.json"]
    assert found[0].read_text().startswith("<svg")


@pytest.mark.parametrize("key", ["../up", "Upper", "", "a b"])
def test_keys_that_are_no_file_names_are_refused_before_anything_is_written(tmp_path, key):
    with pytest.raises(InputError, match="key"):
        write_figures([section("good", key)], tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_unknown_formats_and_files_for_folders_are_refused(tmp_path):
    with pytest.raises(InputError, match="formats"):
        write_figures([section("one")], tmp_path, ["gif"])
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="folder"):
        write_figures([section("one")], tmp_path / "file")


def test_a_figure_alone_says_what_it_is_about(tmp_path):
    figures = tuple(replace(each, title=f"ROC of {each.key}") for each in section("iris", "wine").figures)
    whole = Section("s", "S", figures=figures)
    for path in write_figures([whole], tmp_path, "json"):
        title = json.loads(path.read_text())["title"]
        assert title["text"] == f"ROC of {path.stem}"
        assert title["subtitle"]  # the explanation stays
    assert figures[0].chart.to_dict()["title"]["text"] == "ROC curve"
