"""The study file and the commands of the section reproduce the study."""

import tomllib

import numpy as np
import pytest

from fairtrial import Study
from fairtrial.report.page import render
from fairtrial.report.sections import sources
from fairtrial.report.source import describe_source
from fairtrial.study import open_store
from tests.report.checks.made_results import changed, of_a_file, stopped_study
from tests.report.report_numbers import check_numbers
from tests.report.result_cases import cases


@pytest.fixture(scope="module")
def section():
    return sources.build_reproduction_section(describe_source(stopped_study()))


def test_study_file_declares_the_same_study(section, tmp_path):
    text = section.subsections[1].code
    assert tomllib.loads(text)["learners"]["stopped"]["parameters"] == {"max_iter": 2}
    (tmp_path / "stopped.toml").write_text(text, encoding="utf-8")
    assert Study.read(tmp_path / "stopped.toml").declaration.to_dict() == stopped_study().archive.declaration
    assert "stopped.toml" in section.subsections[1].sentences[0].text


def test_commands_install_the_versions_and_run_the_study(section):
    lines = section.subsections[0].code.splitlines()
    assert lines[1].startswith("pip install ")
    assert f"numpy=={np.__version__}" in lines[1].split()
    assert "python==" not in lines[1]
    assert lines[2:] == [
        "fairtrial run stopped.toml --store stopped.fairtrial",
        "fairtrial report stopped.fairtrial --out report.html",
    ]


def test_hashes_are_those_of_results_file_and_data(section):
    results = stopped_study()
    with open_store(results.archive.file.path) as store:
        digest = store.compute_digest()
    assert section.tables[0].frame.to_numpy().tolist() == [
        ["results", "stopped.fairtrial", digest],
        ["data set", "iris", results.archive.datasets[0].content_hash],
    ]


def test_study_that_cannot_be_written_has_a_reason():
    section = sources.build_reproduction_section(describe_source(cases()["several"]))
    assert section.subsections == ()
    assert len(section.notes) == 1


def test_names_are_quoted_for_the_shell():
    results = stopped_study()
    header = dict(results.archive.header) | {"name": "my; rm -rf"}
    code = sources.build_reproduction_section(describe_source(changed(results, header=header))).subsections[0].code
    assert "fairtrial run 'my; rm -rf.toml' --store 'my; rm -rf.fairtrial'" in code


def test_file_of_predictions_is_judged_again():
    found = sources.build_reproduction_section(describe_source(changed(of_a_file(), name="predictions of mine.csv")))
    assert found.code == "fairtrial judge 'predictions of mine.csv'\n"


def test_code_is_escaped():
    found = sources.build_reproduction_section(describe_source(changed(of_a_file(), name="<script>x</script>")))
    text = render([found], "Again")
    assert "<pre" in text
    assert "judge &#39;&lt;script&gt;x&lt;/script&gt;&#39;" in text


@pytest.mark.parametrize("name", cases())
def test_section_is_built_for_any_results(name):
    check_numbers([sources.build_reproduction_section(describe_source(cases()[name]))])
