import numpy as np
import pandas as pd
import pytest

from fairtrial.report.compared import judged_scores, sections_of_verdict, subtitle_of_verdict, verdict_section
from fairtrial.report.page import render
from fairtrial.report.report import write_report
from fairtrial.significance import advise, iman_davenport
from tests.report.prose import check_prose


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
    found = sections_of_verdict(advise(scores(learners), **options))
    assert [section.key for section in found] == ["answer", "verdict", "references"]
    assert check_prose(found) > 3
    assert "<h1>Scores</h1>" in render(found, "Scores")


def test_words_follow_the_numbers():
    table = scores()
    verdict = advise(table, measure="accuracy")
    told = str(sections_of_verdict(verdict)[0].sentences[0])
    assert told.startswith(
        "By accuracy over the data sets, learner0 is ahead of learner1 and learner2. learner0 has the best mean "
    )
    mean = table["learner0"].mean()
    assert told.endswith(f"mean accuracy, {mean:.3f}, and the best mean rank, 1.00.")
    assert "By the scores over the data sets, learner2 " in str(
        sections_of_verdict(advise(table, better="min"))[0].sentences[0]
    )
    equal = advise(scores(gap=0.0), measure="accuracy")
    assert "cannot be told apart" in str(sections_of_verdict(equal)[0].sentences[0])
    facts = verdict_section(verdict).tables[0].frame
    assert facts.loc["p", "value"] == iman_davenport(table.set_index("dataset")).p_value
    assert facts.loc["told apart", "value"] == sum(p <= 0.05 for *_, p in verdict.comparisons)


def test_splits_of_one_data_set():
    table = scores(2, 10).rename(columns={"dataset": "fold"}).assign(fold=range(10))
    verdict = advise(table, measure="accuracy")
    assert judged_scores(verdict).where == "over the splits"
    assert subtitle_of_verdict(verdict) == "2 learners, 10 splits, accuracy"
    assert "on clean data" not in " ".join(map(str, sections_of_verdict(verdict)[0].sentences))


def test_a_report_is_written_of_a_verdict(tmp_path):
    page = write_report(advise(scores(), measure="accuracy"), tmp_path / "x.html")
    assert "<h1>Comparison of learners</h1>" in page.read_text(encoding="utf-8")
