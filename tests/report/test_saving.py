import json

import pytest

from fairtrial.errors import InputError
from fairtrial.measures import roc_curve
from fairtrial.report.figures.curves import draw_roc
from fairtrial.report.files import SUFFIXES, parse_formats, save, save_text


@pytest.fixture(scope="module")
def chart():
    return draw_roc({"tree": roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])})


BEGINNINGS = {".svg": b"<svg", ".png": b"\x89PNG", ".pdf": b"%PDF", ".html": b"<!DOCTYPE html>", ".json": b"{"}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_each_suffix_gives_its_format(chart, tmp_path, suffix):
    path = save(chart, tmp_path / f"roc{suffix}")
    assert path == tmp_path / f"roc{suffix}"
    assert path.read_bytes().lstrip().startswith(BEGINNINGS[suffix])


def test_a_suffix_in_capitals_and_a_path_of_text(chart, tmp_path):
    assert save(chart, str(tmp_path / "roc.SVG")).read_text().startswith("<svg")


def test_svg_keeps_its_words(chart, tmp_path):
    text = save(chart, tmp_path / "roc.svg").read_text()
    assert ">False positive rate</text>" in text
    assert ">ROC curve</text>" in text


def test_html_works_offline(chart, tmp_path):
    text = save(chart, tmp_path / "roc.html").read_text()
    assert "<script src=" not in text
    assert "cdn.jsdelivr" not in text.split("<script", 1)[0]
    assert "False positive rate" in text


def test_json_describes_the_chart(chart, tmp_path):
    assert json.loads(save(chart, tmp_path / "roc.json").read_text()) == json.loads(json.dumps(chart.to_dict()))


@pytest.mark.parametrize("name", ["roc.gif", "roc", "svg"])
def test_an_unknown_suffix_is_refused_with_the_known_ones(chart, tmp_path, name):
    with pytest.raises(InputError, match=r"path must end in one of \.svg, \.png, \.pdf, \.html, \.json, got .*" + name):
        save(chart, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_does_not_exist_is_named(chart, tmp_path):
    with pytest.raises(InputError, match="must lie in a folder that exists"):
        save(chart, tmp_path / "nowhere" / "roc.svg")


@pytest.mark.parametrize(("thing", "name"), [(None, "NoneType"), ("roc", "str"), ({"mark": "line"}, "dict")])
def test_what_is_no_chart_is_refused(thing, name, tmp_path):
    with pytest.raises(InputError, match=f"chart must be a figure, got {name}: pass what a draw_ function gives"):
        save(thing, tmp_path / "roc.svg")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("formats", "expected"),
    [("svg", ["svg"]), (" SVG, .pdf,svg ", ["svg", "pdf"]), (["PNG", ".json"], ["png", "json"]), ((), [])],
)
def test_formats_are_read_alike_from_a_text_and_a_list(formats, expected):
    assert parse_formats(formats) == expected


@pytest.mark.parametrize("formats", ["svg,", "gif", ["svg", "gif"], [3]])
def test_formats_that_are_not_known_are_named(formats):
    with pytest.raises(InputError, match="formats must be one of"):
        parse_formats(formats)


def test_what_the_system_refuses_is_one_sentence(chart, tmp_path):
    for write in (lambda path: save(chart, path), lambda path: save_text("x", path)):
        with pytest.raises(InputError, match=r"path must be one that can be written, got .*: name another"):
            write(tmp_path / f"{'x' * 300}.svg")
