"""Reports are built from sections and written as one file."""

import os
import re
import sys
from importlib import import_module
from importlib.resources import files
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import fairtrial
from fairtrial import __version__, _registry, compare, judge
from fairtrial.errors import FairtrialWarning, InputError, UnknownNameError
from fairtrial.report import report
from fairtrial.report.check import registry as checks
from fairtrial.report.figures.registry import figures
from fairtrial.report.files import check_targets
from fairtrial.report.page import render
from fairtrial.report.report import build_sections, list_section_builders, write_files, write_page, write_report
from fairtrial.report.section import Section, builders, section
from fairtrial.report.selection import Selection, get_main_condition, list_changed_conditions, map_unique_keys
from fairtrial.report.source import describe_source
from fairtrial.study.archive import ConditionFacts
from fairtrial.study.results.selection import format_condition, mask_condition
from tests.report import pages
from tests.report.drifting import drifting
from tests.report.judgement.cases import TABLES, judged, sections, streamed
from tests.report.report_numbers import check_numbers, list_figures, list_sentences, list_tables
from tests.report.result_cases import cases, skilled_results
from tests.study.archives import real_results

# --- Report ---
# Reports are built from sections and written as one file.


@pytest.fixture(scope="module")
def results():
    return real_results(names=("iris", "cancer"))


@pytest.fixture(scope="module")
def gathered(results):
    return build_sections(results)


def broken(monkeypatch, error, kind="study", key="scores"):
    """Make the builder of a section raise."""

    def build(_results):
        raise error

    builder = next(builder for builder in list_section_builders(kind) if builder.key == key)
    monkeypatch.setattr(builder, "function", build)


def test_sections_come_in_order_with_their_registered_key_and_title(gathered):
    registered = {builder.key: builder.title for builder in list_section_builders("study")}
    keys = [section.key for section in gathered]
    assert keys == [key for key in registered if key in keys]
    assert {"answer", "what-was-run", "scores", "verdict", "checks", "references"} <= set(keys)
    assert all(section.title == registered[section.key] for section in gathered)


@pytest.mark.parametrize("kind", ["study", "judgement", "comparison"])
def test_every_kind_of_report_begins_with_the_answer_and_ends_with_the_references(kind):
    registered = list_section_builders(kind)
    assert (registered[0].key, registered[-1].key) == ("answer", "references")
    assert len({builder.order for builder in registered}) == len(registered)


def test_a_section_is_added_by_its_decorator_alone(monkeypatch):
    monkeypatch.setattr(builders, "_items", dict(builders._items))

    @section("mine", title="Mine", order=15, serves=("study",))
    def build_my_section(_results):
        return Section("mine", "Mine")

    assert [builder.key for builder in list_section_builders("study")][:3] == ["answer", "mine", "what-was-run"]
    assert "mine" not in [builder.key for builder in list_section_builders("judgement")]
    with pytest.raises(InputError, match="study/mine"):
        section("mine", title="Mine too", order=16, serves=("study",))(lambda _results: None)


def test_third_parties_add_sections_by_entry_points(monkeypatch):
    def load():
        section("theirs", title="Theirs", order=1, serves=("comparison",))(lambda _verdict: Section("theirs", "Theirs"))

    def points(group):
        return [SimpleNamespace(load=load)] if group == "fairtrial.sections" else []

    monkeypatch.setattr(builders, "_items", dict(builders._items))
    monkeypatch.setattr(builders, "_loaded", False)
    monkeypatch.setattr(_registry, "entry_points", points)
    assert list_section_builders("comparison")[0].title == "Theirs"


def test_figures_and_tables_have_keys_titles_and_alternative_texts(gathered):
    for each in [*list_figures(gathered), *list_tables(gathered)]:
        assert re.fullmatch(r"[a-z0-9][a-z0-9-]*", each.key)
        assert each.title
    assert all(len(figure.alt) > 20 for figure in list_figures(gathered))


def test_numbers_of_sentences_are_in_tables(gathered):
    frames = {table.key: table.frame for table in list_tables(gathered)}
    numbers = [number for sentence in list_sentences(gathered) for number in sentence.numbers]
    assert numbers
    for number in numbers:
        value = frames[number.cell.table].loc[number.cell.line, number.cell.column]
        assert float(value) == pytest.approx(number.value, nan_ok=True), number


def test_file_is_complete_and_the_only_one(results, gathered, tmp_path, monkeypatch):
    monkeypatch.setattr(report, "build_sections", lambda _results: gathered)
    path = write_report(results, tmp_path / "x.html", title="My <title>")
    text = path.read_text(encoding="utf-8")
    assert text.rstrip().endswith("</html>")
    assert "<title>My &lt;title&gt;</title>" in text
    assert describe_source(results).subtitle == "2 data sets, 2 conditions, 4 learners, 80 trials"
    assert os.listdir(tmp_path) == ["x.html"]
    assert "could not be built" not in text


def test_top_level_names_are_those_of_the_report(results):
    assert fairtrial.write_report is write_report
    assert fairtrial.draw(results, "roc", dataset="cancer").to_dict()["$schema"].startswith("https://vega.github.io")
    assert callable(fairtrial.open_results)
    assert {"Study", "draw", "open_results", "write_report"} <= set(dir(fairtrial))


def test_failing_section_warns_and_the_others_are_built(results, monkeypatch):
    broken(monkeypatch, ZeroDivisionError("no <b>luck</b>"))
    with pytest.warns(FairtrialWarning, match="'Scores'.* ZeroDivisionError: no <b>luck</b>"):
        found = {part.key: part for part in build_sections(results)}
    assert {"answer", "verdict", "ranks", "references"} <= set(found)
    assert str(found["scores"].sentences[0]).endswith("ZeroDivisionError: no <b>luck</b>")


@pytest.mark.parametrize(
    ("kind", "key", "title"), [("judgement", "measures", "Measures"), ("comparison", "verdict", "The verdict")]
)
def test_failing_section_of_a_judgement_or_a_comparison(monkeypatch, kind, key, title):
    sources = {
        "judgement": lambda: judge(pd.DataFrame({"y_true": [0, 1] * 9, "tree": [0, 1, 1] * 6}), resamples=20),
        "comparison": lambda: compare([[0.9, 0.8], [0.8, 0.6], [0.7, 0.6], [0.9, 0.5], [0.8, 0.7]], rows="datasets"),
    }
    broken(monkeypatch, ZeroDivisionError("no luck"), kind, key)
    with pytest.warns(FairtrialWarning, match=f"'{title}'"):
        found = {part.key: part for part in build_sections(sources[kind]())}
    assert {"answer", "references"} <= set(found)
    assert str(found[key].sentences[0]).endswith("ZeroDivisionError: no luck")


def test_warning_of_a_failing_section_keeps_the_error(results, monkeypatch):
    broken(monkeypatch, ZeroDivisionError("no luck"))
    with pytest.raises(FairtrialWarning) as caught:
        build_sections(results)
    assert isinstance(caught.value.__context__, ZeroDivisionError)


def test_interrupts_are_not_caught(results, monkeypatch):
    broken(monkeypatch, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        build_sections(results)


def test_old_file_stays_if_the_new_one_cannot_be_written(tmp_path, monkeypatch):
    target = tmp_path / "x.html"
    target.write_text("old")

    def full(_path, _target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(InputError, match=r"x\.html cannot be written .*No space left on device"):
        write_page(pages.sections()[:1], target, "x")
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["x.html"]


@pytest.mark.parametrize(
    ("name", "rule"),
    [("x.pdf", r"path .*x\.pdf"), ("no/x.html", r"path .*no/x\.html"), ("dir.html", r"path .*dir\.html")],
)
def test_invalid_path_is_refused_before_sections_are_built(results, tmp_path, monkeypatch, name, rule):
    (tmp_path / "dir.html").mkdir()
    monkeypatch.setattr(report, "build_sections", lambda _results: pytest.fail("work was done"))
    with pytest.raises(InputError, match=rule):
        write_report(results, tmp_path / name)


def test_other_objects_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"results .*DataFrame"):
        write_report(pages.small_table().frame, tmp_path / "x.html")


def test_figures_and_tables_are_written_beside_the_page(results, tmp_path, monkeypatch):
    monkeypatch.setattr(report, "build_sections", lambda _results: pages.sections())
    written = write_files(results, tmp_path / "x.html", figures=tmp_path / "f", formats="svg,json", tables=tmp_path / "t")
    assert written == {tmp_path / "x.html": None, tmp_path / "f": 6, tmp_path / "t": 9}
    assert "curves-roc.json" in os.listdir(tmp_path / "f")
    assert "small.tex" in os.listdir(tmp_path / "t")
    with pytest.raises(InputError, match="formats"):
        write_files(results, tmp_path / "y.html", figures=tmp_path / "f", formats="bmp")
    assert not (tmp_path / "y.html").exists()


def test_checking_targets_creates_nothing(tmp_path):
    check_targets(tmp_path / "x.html", tmp_path / "a" / "figures", "svg", tmp_path / "tables")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("option", ["figures", "tables"])
def test_invalid_folder_is_refused_before_sections_are_built(results, tmp_path, monkeypatch, option):
    (tmp_path / "file").write_text("x")
    monkeypatch.setattr(report, "build_sections", lambda _results: pytest.fail("work was done"))
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(InputError, match="folder"):
            write_files(results, tmp_path / "x.html", **{option: folder})
    assert os.listdir(tmp_path) == ["file"]


def test_all_charts_are_valid_although_they_are_not_validated_while_built(results, monkeypatch):
    from altair.utils import schemapi

    builder, checked = builders["study/answer"], []
    function = builder.function
    monkeypatch.setattr(builder, "function", lambda given: checked.append(schemapi.DEBUG_MODE) or function(given))
    sections = build_sections(results)
    assert checked == [False]
    assert schemapi.DEBUG_MODE  # charts that are made elsewhere still are
    for figure in list_figures(sections):
        figure.chart.to_dict(validate=True)


def test_long_names_become_files(tmp_path):
    long = skilled_results({"x" * 300: 0.9, "x" * 299 + "y": 0.7}, sets=3, names=["d" * 300, "d" * 299 + "e", "../" * 90])
    written = write_files(long, None, figures=tmp_path / "figures", formats="json", tables=tmp_path / "tables")
    assert list(written.values()) == [len(list((tmp_path / name).iterdir())) for name in ("figures", "tables")]
    assert min(written.values()) > 3


# --- Discovery ---
# Modules of a package register what they define; nothing else lists them.


def test_a_module_in_the_package_is_enough(tmp_path, monkeypatch):
    package = tmp_path / "shapes"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "registry.py").write_text(
        "from fairtrial._registry import Registry\nshapes = Registry('shape', group='example.shapes', package='shapes')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    registry = import_module("shapes.registry").shapes
    (package / "square.py").write_text("from shapes.registry import shapes\nshapes.add('square', 4)\n")
    try:
        assert registry["square"] == 4
        assert list(registry) == ["square"]
        with pytest.raises(UnknownNameError, match="no shape is called 'sqare': did you mean 'square'"):
            registry["sqare"]
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "shapes"]:
            del sys.modules[name]


@pytest.mark.parametrize(
    ("registry", "folder", "decorator"),
    [(builders, "sections", "@section("), (figures, "figures", "@register_figure("), (checks, "checks", "@check(")],
)
def test_every_module_with_a_decorator_is_found(registry, folder, decorator):
    texts = {
        path.name[:-3]: path.read_text(encoding="utf-8")
        for path in files("fairtrial.report").joinpath(folder).iterdir()
        if path.name.endswith(".py")
    }
    expected = {f"fairtrial.report.{folder}.{name}" for name, text in texts.items() if f"\n{decorator}" in text}
    assert {item.__module__ for item in registry.values()} >= expected
    assert expected


# --- Places ---
# Where figures and sections look.


def test_the_main_condition_is_clean_or_the_first():
    assert get_main_condition(cases()["several"]).name == "clean"
    assert get_main_condition(cases()["noise alone"]).name == "class-noise"


def test_a_selection_names_its_data_set_condition_and_class():
    results = cases()["several"]
    with pytest.raises(InputError, match="dataset"):
        Selection().find_dataset(results)
    with pytest.raises(InputError, match="'iris'"):
        Selection(dataset="irs").check_dataset(results)
    cancer = Selection(dataset="cancer").find_dataset(results)
    assert Selection().find_condition(results).name == "clean"
    assert Selection(condition="class-noise").find_condition(results).level == 0.2
    assert Selection().find_positive(results, cancer) == "malignant"
    assert Selection(positive="benign").find_positive(results, cancer) == "benign"
    assert Selection(positive={"cancer": "benign"}).find_positive(results, cancer) == "benign"


def test_conditions_of_the_test_part_alone_are_apart():
    assert list(list_changed_conditions(drifting(), test_only=True)) == ["worn"]
    assert list(list_changed_conditions(drifting(), test_only=False)) == ["worn-all"]


@pytest.mark.parametrize(("level", "expected"), [(0.1, [True, False, False]), (float("nan"), [False, False, True])])
def test_lines_of_a_condition_with_and_without_a_level(level, expected):
    frame = pd.DataFrame({"condition": pd.Categorical(["a", "b", "a"]), "level": [0.1 + 1e-15, 0.1, np.nan]})
    assert mask_condition(frame, ConditionFacts("a", level, "", {})).tolist() == expected


def test_a_condition_without_a_level_is_told_by_its_name():
    assert format_condition(ConditionFacts("gap", float("nan"), "", {})) == "gap"


def test_keys_are_plain_and_no_two_alike():
    keys = map_unique_keys(["<script>", "script", "Ünïcode", "日本"])
    assert len(set(keys.values())) == 4
    assert all(set(key) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for key in keys.values())


def test_long_names_give_keys_that_a_file_may_have_and_no_two_alike():
    names = ["x" * 300, "x" * 299 + "y", "é" * 300, "a b " * 100]
    keys = map_unique_keys(names)
    assert len(set(keys.values())) == 4
    assert max(map(len, keys.values())) <= 90
    assert not any(key.endswith("-") for key in keys.values())


# --- Sections ---


ALWAYS = ["answer", "predictions", "measures", "classes", "checks", "reproduce", "references"]
MORE = {
    "two classes": ["pairs", "subgroups", "calibration", "curves", "decision-curves", "thresholds"],
    "labels only": ["pairs"],
    "many classes": ["pairs", "calibration", "curves"],
    "many sets": ["pairs", "verdict", "calibration", "curves", "decision-curves", "thresholds"],
    "folded": ["pairs", "verdict", "calibration", "curves", "decision-curves", "thresholds"],
    "weighted": ["pairs", "subgroups", "calibration", "curves", "decision-curves", "thresholds"],
    "one model": ["calibration", "curves", "decision-curves", "thresholds"],
    "decisions": ["pairs", "curves"],
}
# A streamed file has no comparison over splits and no thresholds; with weights, it has no decision curves.
COUNTED = {name: [key for key in keys if key not in ("verdict", "thresholds")] for name, keys in MORE.items()}
COUNTED["weighted"].remove("decision-curves")


def list_verdicts(judgement):
    return [] if judgement.verdict is None else [judgement.verdict]


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("streamed")


@pytest.mark.parametrize("name", TABLES)
def test_numbers_of_the_text_are_in_tables(name):
    found = sections(name)
    assert set(found) == {*ALWAYS, *MORE[name]}
    assert next(iter(found)) == "answer"
    assert list(found)[-1] == "references"
    assert check_numbers(list(found.values()), names=[__version__], verdicts=list_verdicts(judged(name))) > 5


@pytest.mark.parametrize("name", TABLES)
def test_streamed_files_have_the_same_sections(name, folder):
    found = build_sections(streamed(name, folder))
    assert {section.key for section in found} == {*ALWAYS, *COUNTED[name]}
    assert check_numbers(found, names=[__version__]) > 5
    assert "streamed_file" in [note.kind for note in streamed(name, folder).notes]


def test_names_are_escaped():
    from fairtrial import judge

    table = TABLES["labels only"]().rename(columns={"tree": "<script>x</script>", "forest": '"><img src=x>'})
    found = build_sections(judge(table.replace({"yes": "<b>yes</b>"}), resamples=20))
    page = render(found, "<i>")
    assert "<script>x" not in page
    assert "<img src=x" not in page
    assert "<b>yes" not in page
    assert "&lt;script&gt;x" in page


def test_subtitle_counts_models_data_sets_and_rows():
    assert describe_source(judged("many sets")).subtitle == "2 models, 5 data sets, 200 rows"
    assert describe_source(judged("one model")).subtitle == "1 model, 1 data set, 160 rows"


def test_report_of_a_judgement_in_memory_and_streamed(tmp_path):
    from fairtrial import judge, write_report

    page = write_report(judged("labels only"), tmp_path / "held.html")
    assert f"<title>{describe_source(judged('labels only')).title}</title>" in page.read_text(encoding="utf-8")
    path = tmp_path / "labels.csv"
    TABLES["labels only"]().to_csv(path, index=False)
    page = write_report(judge(str(path), stream=True), tmp_path / "counted.html", title="Counted")
    assert "<title>Counted</title>" in page.read_text(encoding="utf-8")
