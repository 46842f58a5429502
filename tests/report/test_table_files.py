"""Tables become files."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.report.files import write_tables
from fairtrial.report.section import ReportTable, Section
from fairtrial.report.sections import data_sets, scores
from fairtrial.report.source import describe_source
from tests.report.report_numbers import list_tables
from tests.report.result_cases import cases


def section_of(*tables):
    return Section("all", "All", (), (), tables[:1], (), (Section("part", "Part", (), (), tables[1:]),))


@pytest.fixture
def wide():
    return pd.DataFrame({"tree": [1 / 3, 0.5], "R&D": [0.25, np.nan]}, index=pd.Index(["iris", "a_b"], name="data set"))


def test_csv_has_full_precision_and_parts_are_written_too(tmp_path, wide):
    tidy = pd.DataFrame({"learner": ["tree"], "p": [1e-17]})
    paths = write_tables(
        [section_of(ReportTable("wide", "W", wide), ReportTable("tidy", "T", tidy))], tmp_path / "new" / "folder"
    )
    assert [path.name for path in paths] == [f"{key}.{end}" for key in ("wide", "tidy") for end in ("csv", "md", "tex")]
    assert paths[0].read_text() == f"data set,tree,R&D\niris,{1 / 3!r},0.25\na_b,0.5,\n"
    assert paths[3].read_text() == "learner,p\ntree,1e-17\n"


def test_the_best_is_bold_where_a_direction_is_given(tmp_path, wide):
    write_tables([section_of(ReportTable("least", "Least", wide, best="min"), ReportTable("plain", "Plain", wide))], tmp_path)
    latex = (tmp_path / "least.tex").read_text()
    assert r"iris & 0.3333 & \textbf{0.2500} \\" in latex
    assert r"R\&D" in latex
    assert r"\caption{Least}" in latex
    assert r"\label{tab:least}" in latex
    assert "**0.2500**" in (tmp_path / "least.md").read_text()
    assert "textbf" not in (tmp_path / "plain.tex").read_text()


def test_only_the_formats_asked_for_each_once(tmp_path, wide):
    paths = write_tables([section_of(ReportTable("wide", "W", wide))], tmp_path, [".MD", "md"])
    assert [path.name for path in paths] == ["wide.md"]
    with pytest.raises(InputError, match="formats"):
        write_tables([], tmp_path, ["xlsx"])


def test_a_table_without_lines_is_a_csv_alone(tmp_path):
    empty = pd.DataFrame({"learner": [], "mean": []})
    paths = write_tables([section_of(ReportTable("none", "None", empty))], tmp_path)
    assert [path.name for path in paths] == ["none.csv"]
    assert paths[0].read_text() == "learner,mean\n"


def test_a_file_in_the_way_is_told(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(InputError, match="folder"):
        write_tables([], tmp_path / "taken")


@pytest.mark.parametrize("name", ["several", "failures", "all failed"])
def test_every_table_of_real_sections_is_written(tmp_path, name):
    found = [scores.build_section(describe_source(cases()[name])), data_sets.build_section(describe_source(cases()[name]))]
    write_tables(found, tmp_path)
    for table in list_tables(found):
        assert (tmp_path / f"{table.key}.csv").read_text().count("\n") == len(table.frame) + 1
        assert (tmp_path / f"{table.key}.tex").exists()
