import numpy as np
import pandas as pd
import pytest

from fairtrial import compare
from fairtrial.report.page import render
from fairtrial.report.report import build_sections, write_report
from fairtrial.report.sections.verdict import VerdictContext, build_comparison_section
from fairtrial.report.source import describe_source
from fairtrial.significance import iman_davenport
from tests.report.report_numbers import check_numbers


def scores(learners=3, sets=12, gap=0.05):
    rng = np.random.default_rng(2)
    base = rng.uniform(0.6, 0.8, sets)
    columns = {f"learner{i}": base + gap * (learners - i) + rng.normal(0, 0.03, sets) for i in range(learners)}
    return pd.DataFrame({"dataset": [f"set {i}" for i in range(sets)], **columns})


@pytest.mark.parametrize(
    ("learners", "options"),
    [(3, {"measure": "accuracy"}), (2, {"rope": 0.01}), (4, {"control": "learner1"}), (2, {"better": "min"})],
)
def test_every_number_in_the_prose_is_a_cell(learners, options):
    found = build_sections(compare(scores(learners), **options))
    assert [section.key for section in found] == ["answer", "verdict", "references"]
    assert check_numbers(found) > 3
    assert "<h1>Scores</h1>" in render(found, "Scores")


def test_words_follow_the_numbers():
    table = scores()
    verdict = compare(table, measure="accuracy")
    told = str(build_sections(verdict)[0].sentences[0])
    assert told.startswith(
        "By accuracy over the data sets, learner0 is ahead of learner1 and learner2. learner0 has the best mean "
    )
    mean = table["learner0"].mean()
    assert told.endswith(f"mean accuracy, {mean:.3f}, and the best mean rank, 1.00.")
    assert "By the scores over the data sets, learner2 " in str(build_sections(compare(table, better="min"))[0].sentences[0])
    equal = compare(scores(gap=0.0), measure="accuracy")
    assert "cannot be told apart" in str(build_sections(equal)[0].sentences[0])
    facts = build_comparison_section(describe_source(verdict)).tables[0].frame
    assert facts.loc["p", "value"] == iman_davenport(table.set_index("dataset")).p_value
    assert facts.loc["significantly different", "value"] == sum(p <= 0.05 for *_, p in verdict.comparisons)


def test_splits_of_one_data_set():
    table = scores(2, 10).rename(columns={"dataset": "fold"}).assign(fold=range(10))
    verdict = compare(table, measure="accuracy")
    assert VerdictContext.from_scores(verdict).where == "over the splits"
    assert describe_source(verdict).subtitle == "2 learners, 10 splits, accuracy"
    assert "on clean data" not in " ".join(map(str, build_sections(verdict)[0].sentences))


def test_a_report_is_written_of_a_verdict(tmp_path):
    page = write_report(compare(scores(), measure="accuracy"), tmp_path / "x.html")
    assert "<h1>Comparison of learners</h1>" in page.read_text(encoding="utf-8")


def test_what_is_left_out_is_said_first():
    table = scores(4, 10)
    table.loc[3, "learner1"] = np.nan
    verdict = compare(table)
    found = build_sections(verdict)
    told = found[0].sentences[0].text
    assert told.startswith(
        "On 9 of 10 data sets: set 3 is left out because not every learner has a score there. By the scores "
    )
    assert "Over the data sets that are left, learner0 has the best mean score" in told
    assert describe_source(verdict).subtitle == "4 learners, 9 of 10 data sets"
    check_numbers(found, describe_source(verdict).subtitle, ["set 3"])
    assert "left out" not in str(build_sections(compare(scores(4, 10)))[0].sentences[0])


def test_learners_and_splits_left_out_are_said():
    table = scores(3, 10)
    table.loc[2:8, "learner2"] = np.nan
    told = build_sections(compare(table))[0].sentences[0].text
    assert "For want of scores nothing is said of learner2." in told
    folds = scores(2, 10).rename(columns={"dataset": "fold"}).assign(fold=range(10))
    folds.loc[4, "learner0"] = np.nan
    found = build_sections(compare(folds, test_fraction=0.1))
    assert found[0].sentences[0].text.startswith("Of the 10 splits 1 is left out, for not all learners have a value there. ")
    check_numbers(found)


def test_one_data_set_that_is_left_is_named():
    lines = [(name, fold, 0.7 + 0.01 * fold, 0.6 + 0.02 * (fold % 3)) for name in ("iris", "wine") for fold in range(6)]
    table = pd.DataFrame(lines, columns=["dataset", "fold", "tree", "bayes"])
    table.loc[table["dataset"] == "wine", "bayes"] = np.nan
    found = build_sections(compare(table))
    assert found[0].sentences[0].text.startswith("On iris alone: wine is left out because not every learner has a score there.")
    check_numbers(found)


def test_the_rope_is_named_as_a_comparison_calls_it():
    told = " ".join(map(str, build_sections(compare(scores(2)))[0].sentences))
    assert "region of practical equivalence (--rope, in Python rope=)" in told
    assert "[verdict]" not in render(build_sections(compare(scores(2))), "Scores")


def test_the_numbers_of_the_verdict_keep_their_side_of_alpha():
    wins = pd.DataFrame({"A": [0.9, 0.8, 0.9, 0.6, 0.7, 0.8], "B": [0.8, 0.75, 0.7, 0.5, 0.64, 0.6]})
    verdict = compare(wins, alpha=0.03124999)  # p is 2 / 2**6
    answer, part, _ = build_sections(verdict)
    assert "gives p = 0.03125, above alpha 0.03124999." in answer.sentences[1].text
    form = part.tables[0].formats["value"]
    assert float(form.format(0.03125)) > float(form.format(0.03124999))
