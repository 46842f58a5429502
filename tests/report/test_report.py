"""A report gathers its sections and becomes one file."""

import os
import re
from importlib import import_module
from importlib.resources import files

import pytest

import fairtrial
from fairtrial.errors import FairtrialWarning, InputError
from fairtrial.report import report
from fairtrial.report.page import iterate_figures, iterate_tables
from fairtrial.report.report import SECTIONS, build_sections, format_study_subtitle, write_files, write_page, write_report
from tests.report import pages
from tests.report.result_cases import skilled_results
from tests.study.archives import real_results


@pytest.fixture(scope="module")
def results():
    return real_results(names=("iris", "cancer"))


@pytest.fixture(scope="module")
def gathered(results):
    return build_sections(results)


def broken(monkeypatch, error):
    module = import_module("fairtrial.report.sections.scores")

    def section(_results):
        raise error

    monkeypatch.setattr(module, "section", section)
    monkeypatch.setattr(report, "SECTIONS", {"scores": "Scores", "ranks": "Ranks"})


def test_every_section_has_its_module_and_every_module_of_a_section_its_place():
    folder = files("fairtrial.report").joinpath("sections")
    with_section = [each.name[:-3] for each in folder.iterdir() if re.search(r"^def section\(", _text(each), re.MULTILINE)]
    assert sorted(with_section) == sorted(SECTIONS)


def _text(path):
    return path.read_text(encoding="utf-8") if path.name.endswith(".py") else ""


def test_sections_come_in_order_with_keys_of_their_own(gathered):
    order = [name.replace("_", "-") for name in SECTIONS]
    keys = [section.key for section in gathered]
    assert keys == [key for key in order if key in keys]
    assert {"answer", "what-was-run", "scores", "verdict", "checks", "references"} <= set(keys)
    assert all(section.title == SECTIONS[section.key.replace("-", "_")] for section in gathered)


def test_every_figure_and_table_has_a_key_words_and_a_title(gathered):
    for each in [*iterate_figures(gathered), *iterate_tables(gathered)]:
        assert re.fullmatch(r"[a-z0-9][a-z0-9-]*", each.key)
        assert each.title
    assert all(len(figure.alt) > 20 for figure in iterate_figures(gathered))


def test_every_number_in_the_prose_is_that_of_a_table(gathered):
    frames = {table.key: table.frame for table in iterate_tables(gathered)}
    numbers = [number for section in _all(gathered) for said in section.sentences for number in said.numbers]
    assert numbers
    for number in numbers:
        value = frames[number.cell.table].loc[number.cell.line, number.cell.column]
        assert float(value) == pytest.approx(number.value, nan_ok=True), number


def _all(sections):
    for section in sections:
        yield section
        yield from _all(section.parts)


def test_the_file_is_whole_and_alone(results, gathered, tmp_path, monkeypatch):
    monkeypatch.setattr(report, "sections_of", lambda _results: gathered)
    path = write_report(results, tmp_path / "x.html", title="My <title>")
    text = path.read_text(encoding="utf-8")
    assert text.rstrip().endswith("</html>")
    assert "<h1>My &lt;title&gt;</h1>" in text
    assert format_study_subtitle(results) == "2 data sets, 2 conditions, 4 learners, 80 trials"
    assert os.listdir(tmp_path) == ["x.html"]
    assert "could not be made" not in text


def test_top_level_names_are_those_of_the_report(results):
    assert fairtrial.write_report is write_report
    assert fairtrial.draw(results, "roc", dataset="cancer").to_dict()["$schema"].startswith("https://vega.github.io")
    assert fairtrial.open_results is fairtrial.study.open_results
    assert {"Study", "draw", "open_results", "write_report"} <= set(dir(fairtrial))


def test_a_section_that_cannot_be_made_says_so_and_the_others_stay(results, monkeypatch):
    broken(monkeypatch, ZeroDivisionError("no <b>luck</b>"))
    with pytest.warns(FairtrialWarning, match="section 'Scores' of the report: .* ZeroDivisionError: no <b>luck</b>"):
        found = build_sections(results)
    assert [section.key for section in found] == ["scores", "ranks"]
    assert str(found[0].sentences[0]) == "This section could not be made: ZeroDivisionError: no <b>luck</b>"


def test_in_tests_such_a_section_is_an_error(results, monkeypatch):
    broken(monkeypatch, ZeroDivisionError("no luck"))
    with pytest.raises(FairtrialWarning) as caught:
        build_sections(results)
    assert isinstance(caught.value.__context__, ZeroDivisionError)


def test_who_interrupts_is_obeyed(results, monkeypatch):
    broken(monkeypatch, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        build_sections(results)


def test_an_old_file_stays_when_the_new_one_cannot_be_written(tmp_path, monkeypatch):
    target = tmp_path / "x.html"
    target.write_text("old")

    def full(_path, _target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(InputError, match=r"path must be one that can be written, got .*No space left on device"):
        write_page(pages.sections()[:1], target, "x")
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["x.html"]


@pytest.mark.parametrize(
    ("name", "rule"),
    [("x.pdf", "must end in .html"), ("no/x.html", "must lie in a folder that exists"), ("dir.html", "must be a file")],
)
def test_a_path_that_will_not_do_is_refused_before_the_work(results, tmp_path, monkeypatch, name, rule):
    (tmp_path / "dir.html").mkdir()
    monkeypatch.setattr(report, "sections_of", lambda _results: pytest.fail("work was done"))
    with pytest.raises(InputError, match=rule):
        write_report(results, tmp_path / name)


def test_what_is_no_result_is_refused(tmp_path):
    with pytest.raises(InputError, match="results must be those of a study, got DataFrame"):
        write_report(pages.small_table().frame, tmp_path / "x.html")


def test_figures_and_tables_are_written_beside_the_page(results, tmp_path, monkeypatch):
    monkeypatch.setattr(report, "sections_of", lambda _results: pages.sections())
    written = write_files(results, tmp_path / "x.html", figures=tmp_path / "f", formats="svg,json", tables=tmp_path / "t")
    assert written == {tmp_path / "x.html": None, tmp_path / "f": 6, tmp_path / "t": 9}
    assert "curves-roc.json" in os.listdir(tmp_path / "f")
    assert "small.tex" in os.listdir(tmp_path / "t")
    with pytest.raises(InputError, match="formats"):
        write_files(results, tmp_path / "y.html", figures=tmp_path / "f", formats="bmp")
    assert not (tmp_path / "y.html").exists()


def test_every_chart_of_a_report_is_valid_though_it_is_not_checked_while_it_is_made(results, monkeypatch):
    from altair.utils import schemapi

    checked, made = [], report.build_sections
    monkeypatch.setattr(report, "sections_of", lambda given: checked.append(schemapi.DEBUG_MODE) or made(given))
    sections = report.collect_sections(results)[0]
    assert checked == [False]
    assert schemapi.DEBUG_MODE  # charts that are made elsewhere still are
    for figure in iterate_figures(sections):
        figure.chart.to_dict(validate=True)


def test_names_of_any_length_become_files(tmp_path):
    long = skilled_results({"x" * 300: 0.9, "x" * 299 + "y": 0.7}, sets=3, names=["d" * 300, "d" * 299 + "e", "../" * 90])
    written = write_files(long, None, figures=tmp_path / "figures", formats="json", tables=tmp_path / "tables")
    assert list(written.values()) == [len(list((tmp_path / name).iterdir())) for name in ("figures", "tables")]
    assert min(written.values()) > 3
