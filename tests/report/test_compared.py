"""Reports of comparisons."""

import numpy as np
import pandas as pd
import pytest

from fairtrial import compare
from fairtrial.report.page import render
from fairtrial.report.report import build_sections, write_report
from fairtrial.report.sections.verdict import VerdictContext, build_section
from fairtrial.report.source import describe_source
from fairtrial.significance import iman_davenport
from tests.report.report_numbers import check_numbers


def make_scores(learners=3, sets=12, gap=0.05):
    rng = np.random.default_rng(2)
    base = rng.uniform(0.6, 0.8, sets)
    columns = {f"learner{i}": base + gap * (learners - i) + rng.normal(0, 0.03, sets) for i in range(learners)}
    return pd.DataFrame({"dataset": [f"set {i}" for i in range(sets)], **columns})


@pytest.mark.parametrize(
    ("learners", "options"),
    [(3, {"measure": "accuracy"}), (2, {"rope": 0.01}), (4, {"control": "learner1"}), (2, {"better": "min"})],
)
def test_numbers_of_the_text_are_in_tables(learners, options):
    verdict = compare(make_scores(learners), **options)
    sections = build_sections(verdict)
    assert [section.key for section in sections] == ["answer", "verdict", "checks", "references"]
    assert check_numbers(sections, verdicts=[verdict]) > 3
    assert "<h1>Scores</h1>" in render(sections, "Scores")


def test_answer_and_facts_are_those_of_the_verdict():
    table = make_scores()
    verdict = compare(table, measure="accuracy")
    assert (verdict.ranking.best, verdict.ranking.worse) == (("learner0",), ("learner1", "learner2"))
    assert build_sections(verdict)[0].sentences[0].text == verdict.summarize("learner", "")
    facts = build_section(describe_source(verdict)).tables[0].frame
    assert facts.loc["p", "value"] == iman_davenport(table.set_index("dataset")).p_value
    assert facts.loc["significantly different", "value"] == sum(p <= 0.05 for *_, p in verdict.comparisons)


def test_splits_of_one_data_set():
    table = make_scores(2, 10).rename(columns={"dataset": "fold"}).assign(fold=range(10))
    verdict = compare(table, measure="accuracy")
    assert verdict.unit == "split"
    assert describe_source(verdict).subtitle == "2 learners, 10 splits, accuracy"


def test_report_of_a_verdict_is_written(tmp_path):
    verdict = compare(make_scores(), measure="accuracy")
    page = write_report(verdict, tmp_path / "x.html")
    assert f"<h1>{describe_source(verdict).title}</h1>" in page.read_text(encoding="utf-8")


def test_excluded_data_sets_are_named():
    table = make_scores(4, 10)
    table.loc[3, "learner1"] = np.nan
    verdict = compare(table)
    sections = build_sections(verdict)
    assert VerdictContext.from_scores(verdict).basis.left_out == ("set 3",)
    assert any("set 3" in sentence.text for sentence in sections[0].sentences)
    assert describe_source(verdict).subtitle == "4 learners, 9 of 10 data sets"
    check_numbers(sections, describe_source(verdict).subtitle, ["set 3"], [verdict])
    assert VerdictContext.from_scores(compare(make_scores(4, 10))).exclusions == ()


def test_excluded_learners_and_splits_are_named():
    table = make_scores(3, 10)
    table.loc[2:8, "learner2"] = np.nan
    assert any("learner2" in sentence.text for sentence in build_sections(compare(table))[0].sentences)
    folds = make_scores(2, 10).rename(columns={"dataset": "fold"}).assign(fold=range(10))
    folds.loc[4, "learner0"] = np.nan
    verdict = compare(folds, test_fraction=0.1)
    basis = VerdictContext.from_scores(verdict).basis
    assert (basis.splits, basis.splits_left_out) == (10, 1)
    check_numbers(build_sections(verdict), verdicts=[verdict])


def test_single_remaining_data_set_is_named():
    lines = [(name, fold, 0.7 + 0.01 * fold, 0.6 + 0.02 * (fold % 3)) for name in ("iris", "wine") for fold in range(6)]
    table = pd.DataFrame(lines, columns=["dataset", "fold", "tree", "bayes"])
    table.loc[table["dataset"] == "wine", "bayes"] = np.nan
    verdict = compare(table)
    basis = VerdictContext.from_scores(verdict).basis
    assert (basis.datasets, basis.left_out) == (("iris",), ("wine",))
    check_numbers(build_sections(verdict), verdicts=[verdict])
