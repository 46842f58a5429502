"""Tests of `fairtrial.report.files`."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairtrial import compare as compare_scores, judge
from fairtrial.errors import InputError
from fairtrial.measures import roc_curve
from fairtrial.report import files
from fairtrial.report.figures.comparison import list_comparison_figures
from fairtrial.report.figures.curves import draw_roc
from fairtrial.report.files import SUFFIXES, parse_formats, save, save_text, write_comparison, write_figures, write_tables
from fairtrial.report.page import build_grid
from fairtrial.report.report import build_sections
from fairtrial.report.section import Figure, ReportTable, Section
from fairtrial.report.sections import data_sets, scores
from fairtrial.report.source import describe_source
from tests.report.report_numbers import list_tables
from tests.report.result_cases import cases

# --- Figure files ---
# Figures become files.


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


# --- Table files ---
# Tables become files.


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
    source = describe_source(cases()[name])
    found = list(filter(None, [scores.build_section(source), data_sets.build_section(source)]))
    write_tables(found, tmp_path)
    for table in list_tables(found):
        assert (tmp_path / f"{table.key}.csv").read_text().count("\n") == len(table.frame) + 1
        assert (tmp_path / f"{table.key}.tex").exists()


# --- Saving ---


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
        with pytest.raises(InputError, match="cannot be written"):
            write(tmp_path / f"{'x' * 300}.svg")


# --- Compare ---


ORACLES = Path(__file__).resolve().parents[1] / "oracles"
GARCIA = pd.read_csv(ORACLES / "garcia_herrera_2008_accuracy.csv", index_col=0)
DEMSAR = pd.read_csv(ORACLES / "demsar_2006_table6_auc.csv", index_col=0)
TEXTS = ["scores.csv", "pairs.csv", "ranks.csv", "table.tex", "table.md", "verdict.txt"]
FIGURES = ["critical-difference", "ranks", "pairs"]


@pytest.fixture(scope="module")
def garcia():
    return compare_scores(GARCIA)


@pytest.fixture(scope="module")
def written(garcia, tmp_path_factory):
    folder = tmp_path_factory.mktemp("garcia")
    return folder, write_comparison(garcia, folder)


def rows(chart):
    return [row for dataset in chart.to_dict()["datasets"].values() for row in dataset]


class TestFiles:
    def test_every_file_is_there_and_named(self, written):
        folder, paths = written
        assert [path.name for path in paths] == [*TEXTS, *(f"{name}.svg" for name in FIGURES)]
        assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in paths)
        assert all(path.stat().st_size for path in paths)

    def test_scores_come_back(self, written):
        read = pd.read_csv(written[0] / "scores.csv", index_col=0)
        pd.testing.assert_frame_equal(read, GARCIA, check_names=False, rtol=1e-15, atol=0)

    def test_pairs_and_ranks_are_those_of_the_verdict(self, written, garcia):
        read = pd.read_csv(written[0] / "pairs.csv")
        pd.testing.assert_frame_equal(read, garcia.pairs(), rtol=1e-13)
        ranks = pd.read_csv(written[0] / "ranks.csv", index_col=0)
        pd.testing.assert_frame_equal(ranks, garcia.ranks(), check_names=False, rtol=1e-13)
        # Garcia & Herrera 2008.
        assert ranks.mean().round(3).to_dict() == {
            "C4.5": 2.1, "k-NN(k=1)": 3.25, "NaiveBayes": 2.2, "Kernel": 4.333, "CN2": 3.117
        }  # fmt: skip

    def test_text_is_that_of_the_verdict(self, written, garcia):
        assert (written[0] / "verdict.txt").read_text(encoding="utf-8") == f"{garcia.summary}\n\n{garcia.explain()}\n"

    def test_tables_hold_the_mean_ranks_and_the_marks(self, written):
        text = (written[0] / "table.tex").read_text(encoding="utf-8")
        line = next(line for line in text.splitlines() if line.startswith("Mean rank"))
        marked = [r"\rlap" in cell for cell in line.split("&")[1:]]
        # Bergmann and Hommel (REFERENCE): C4.5 differs significantly from all but naive Bayes.
        assert marked == [False, True, False, True, True]
        assert re.findall(r"\d\.\d\d", line) == ["2.10", "3.25", "2.20", "4.33", "3.12"]
        notes = [line for line in (written[0] / "table.md").read_text(encoding="utf-8").splitlines() if line.startswith("●")]
        assert len(notes) == 1
        assert notes[0].endswith("C4.5")

    def test_every_format_and_a_folder_that_is_not_there_yet(self, tmp_path):
        verdict = compare_scores(DEMSAR)
        paths = write_comparison(verdict, str(tmp_path / "a" / "b"), formats=["PNG", ".pdf", "svg", "png", "html", "json"])
        figures = [path.name for path in paths if path.name not in TEXTS]
        assert figures == [f"{name}.{end}" for name in FIGURES for end in ("png", "pdf", "svg", "html", "json")]

    def test_one_format_may_be_a_word_and_none_draws_nothing(self, tmp_path, garcia):
        assert [path.name for path in write_comparison(garcia, tmp_path, formats=())] == TEXTS
        assert (tmp_path / "verdict.txt").exists()
        found = write_comparison(garcia, tmp_path, formats="json, .JSON")
        assert [path.name for path in found if path.name not in TEXTS] == [
            f"{name}.json" for name in list_comparison_figures(garcia)
        ]

    def test_an_unknown_format_is_refused_before_anything_is_written(self, tmp_path, garcia):
        with pytest.raises(InputError, match=r"formats.*'gif'"):
            write_comparison(garcia, tmp_path / "new", formats=("svg", "gif"))
        assert not (tmp_path / "new").exists()

    def test_a_folder_that_is_a_file_is_refused(self, tmp_path, garcia):
        (tmp_path / "file").write_text("x")
        with pytest.raises(InputError, match="folder"):
            write_comparison(garcia, tmp_path / "file")
        with pytest.raises(InputError, match=r"folder.*Not a directory"):
            write_comparison(garcia, tmp_path / "file" / "below")


class TestAgreement:
    """Texts, tables and figures agree with the verdict."""

    @pytest.mark.parametrize("scores", [GARCIA, DEMSAR], ids=["garcia", "demsar"])
    @pytest.mark.parametrize("posthoc", ["bergmann", "shaffer", "holm", "nemenyi"])
    def test_bars_are_the_groups_and_never_cover_what_is_different(self, scores, posthoc):
        verdict = compare_scores(scores, posthoc=posthoc)
        chart = list_comparison_figures(verdict)["critical-difference"]()
        bars = sorted((row["rank"], row["end"]) for row in rows(chart) if "solid" in row)
        ranks = verdict.mean_ranks
        assert bars == sorted((ranks[group].min(), ranks[group].max()) for group in map(list, verdict.groups) if len(group) > 1)
        apart = verdict.pairs().query("significant")
        for low, high in bars:
            under = set(ranks[(ranks >= low) & (ranks <= high)].index)
            assert not any({pair.first, pair.second} <= under for pair in apart.itertuples())
        cells = {
            frozenset((row["row"], row["column"]))
            for row in rows(list_comparison_figures(verdict)["pairs"]())
            if row.get("significant")
        }
        assert cells == {frozenset((pair.first, pair.second)) for pair in apart.itertuples()}

    def test_the_critical_difference_is_drawn_where_there_is_one(self):
        # Demsar 2006: CD = 1.25 (REFERENCE: 1.2536) at 0.05 for Nemenyi's test.
        text = list_comparison_figures(compare_scores(DEMSAR, posthoc="nemenyi"))["critical-difference"]()
        assert "CD = 1.254" in [row.get("text") for row in rows(text)]
        assert not [
            row
            for row in rows(list_comparison_figures(compare_scores(DEMSAR))["critical-difference"]())
            if "CD" in str(row.get("text"))
        ]

    @pytest.mark.parametrize("control", ["C4.5", "k-NN(k=1)", "Kernel"])
    def test_marks_against_a_control_follow_the_pairs(self, control):
        verdict = compare_scores(GARCIA, control=control)
        pairs = verdict.pairs()
        expected = {
            pair.second: "worse" if pair.rank_difference < 0 else "better" for pair in pairs.itertuples() if pair.significant
        }
        assert set(pairs["first"]) == {control}
        assert files.mark_learners(verdict) == expected
        assert f"than {control}" in files.format_comparison_files(verdict)["table.md"]

    @pytest.mark.parametrize("better", ["max", "min"])
    @pytest.mark.parametrize("control", ["C4.5", "Kernel", None])
    def test_marks_of_two_learners_agree_with_the_ranking(self, better, control):
        verdict = compare_scores(GARCIA[["Kernel", "C4.5"]], better=better, control=control)
        ((other, mark),) = files.mark_learners(verdict).items()
        reference = files.choose_reference(verdict)
        best, worst = (reference, other) if mark == "worse" else (other, reference)
        assert [(pair.better, pair.other) for pair in verdict.ranking.significant_pairs] == [(best, worst)]

    def test_smaller_may_be_better(self, garcia):
        errors = compare_scores((1 - GARCIA).round(3), better="min")
        assert files.mark_learners(errors) == files.mark_learners(garcia)
        assert (
            "**" in files.format_comparison_files(errors)["table.md"].splitlines()[2].split("|")[6]
        )  # Abalone: CN2 errs least


class TestPosteriors:
    def test_a_rope_gives_a_simplex(self, tmp_path):
        verdict = compare_scores(GARCIA[["C4.5", "NaiveBayes"]], rope=0.01)
        paths = write_comparison(verdict, tmp_path)
        assert paths[-1].name == "simplex.svg"
        text = paths[-1].read_text()
        assert "C4.5 better" in text
        assert f">{verdict.posterior.p_first:.3f}</text>" in text

    def test_folds_of_one_data_set_give_a_density_and_speak_of_splits(self, tmp_path):
        rng = np.random.default_rng(0)
        tidy = pd.DataFrame(
            [
                {"dataset": "iris", "learner": name, "fold": fold, "value": round(shift + rng.normal(0, 0.02), 3)}
                for name, shift in (("tree", 0.9), ("bayes", 0.86))
                for fold in range(10)
            ]
        )
        verdict = compare_scores(tidy, rope=0.01)
        paths = write_comparison(verdict, tmp_path)
        assert paths[-1].name == "density.svg"
        assert "Rank on a split (1 is the best)" in (tmp_path / "ranks.svg").read_text()
        assert (tmp_path / "scores.csv").read_text().startswith("split,tree,bayes\nfold 0,")


# --- p-values ---


def test_p_values_of_tables_have_one_format(tmp_path):
    """Of 4,000 rows, 3,900 favour a, so p is 2 / 2^3900 < 0.001; CSV files contain numbers."""
    y_true = np.arange(4000) % 2
    b = np.where(np.arange(4000) < 3900, 1 - y_true, y_true)
    judgement = judge(pd.DataFrame({"id": range(4000), "y_true": y_true, "a": y_true, "b": b}), measures="accuracy")
    sections = build_sections(judgement)
    write_tables(sections, tmp_path)
    (table,) = [table for table in list_tables(sections) if table.key == "pairs-all"]
    cells = dict(zip([head["text"] for head in build_grid(table)["heads"]], build_grid(table)["lines"][0], strict=True))
    assert cells["p"]["text"] == cells["adjusted p"]["text"] == "< 0.001"
    assert 0 < float(cells["p"]["value"]) < 1e-300
    line = pd.read_csv(tmp_path / "pairs-all.csv").iloc[0]
    assert 0 < line["p"] < 1e-300
    assert (tmp_path / "pairs-all.md").read_text().count("\\< 0.001") == 2
    assert (tmp_path / "pairs-all.tex").read_text().count(r"\textless{} 0.001") == 2
