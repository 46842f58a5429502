import pytest

from fairtrial import __version__
from fairtrial.report.page import render
from fairtrial.report.report import build_sections
from fairtrial.report.source import describe_source
from tests.report.judgement.cases import TABLES, judged, sections, streamed
from tests.report.report_numbers import check_numbers

ALWAYS = ["answer", "predictions", "measures", "classes", "checks", "reproduce", "references"]
MORE = {
    "two classes": ["pairs", "subgroups", "calibration", "curves"],
    "labels only": ["pairs"],
    "many classes": ["pairs", "calibration", "curves"],
    "many sets": ["pairs", "verdict", "calibration", "curves"],
    "folded": ["pairs", "verdict", "calibration", "curves"],
    "weighted": ["pairs", "subgroups", "calibration", "curves"],
    "one model": ["calibration", "curves"],
    "decisions": ["pairs", "curves"],
}
# A streamed file has no comparison over splits.
COUNTED = {name: [key for key in keys if key != "verdict"] for name, keys in MORE.items()}


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
    assert f"<h1>{describe_source(judged('labels only')).title}</h1>" in page.read_text(encoding="utf-8")
    path = tmp_path / "labels.csv"
    TABLES["labels only"]().to_csv(path, index=False)
    page = write_report(judge(str(path), stream=True), tmp_path / "counted.html", title="Counted")
    assert "<h1>Counted</h1>" in page.read_text(encoding="utf-8")
