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


def test_svg_contains_text(chart, tmp_path):
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
def test_unknown_suffix_is_refused(chart, tmp_path, name):
    with pytest.raises(InputError, match=f"path.*{name}"):
        save(chart, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_missing_folder_is_refused(chart, tmp_path):
    with pytest.raises(InputError, match="path"):
        save(chart, tmp_path / "nowhere" / "roc.svg")


@pytest.mark.parametrize(("thing", "name"), [(None, "NoneType"), ("roc", "str"), ({"mark": "line"}, "dict")])
def test_other_objects_are_refused(thing, name, tmp_path):
    with pytest.raises(InputError, match=f"chart.*{name}"):
        save(thing, tmp_path / "roc.svg")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("formats", "expected"),
    [("svg", ["svg"]), (" SVG, .pdf,svg ", ["svg", "pdf"]), (["PNG", ".json"], ["png", "json"]), ((), [])],
)
def test_formats_are_parsed_from_texts_and_lists(formats, expected):
    assert parse_formats(formats) == expected


@pytest.mark.parametrize("formats", ["svg,", "gif", ["svg", "gif"], [3]])
def test_unknown_formats_are_refused(formats):
    with pytest.raises(InputError, match="formats"):
        parse_formats(formats)


def test_errors_of_the_operating_system_are_input_errors(chart, tmp_path):
    for write in (lambda path: save(chart, path), lambda path: save_text("x", path)):
        with pytest.raises(InputError, match="path"):
            write(tmp_path / f"{'x' * 300}.svg")
