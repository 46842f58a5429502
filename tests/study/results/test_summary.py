"""The summary of a study."""

import numpy as np
import pandas as pd

from fairtrial.study.results.summary import ResultSummary, format_means
from tests.study.archives import real_results

DECLARED = {"measures": ["accuracy", "brier"], "verdict": {"measure": "accuracy"}}


def test_means_without_some_data_sets_have_an_asterisk():
    table = pd.DataFrame({"a": [0.5, 1.0], "b": [0.25, np.nan], "c": [np.nan, np.nan]})
    assert format_means({"clean": table}, 2)["clean"].tolist() == ["0.7500", "0.2500*", "-*"]


def test_summary_has_answer_title_means_and_notes():
    results = real_results(lambda *place: "crash" if place[0] == "wine" and place[2] == "tree" else None, declaration=DECLARED)
    summary = results.summary()
    page = str(summary)
    assert summary.title == "example: 3 data sets, 2 conditions, 4 learners, 120 trials"
    assert f"\n\n{summary.title}\n\naccuracy\n" in page
    assert summary.answer == results.verdict().summarize(scope="on clean data")
    assert page.splitlines()[0] in summary.answer
    wide = results.wide("accuracy", "class-noise")
    assert f"{wide['bayes'].mean():.4f}" in page
    assert f"{wide['tree'].mean():.4f}*" in page
    assert list(summary.notes) == list(results.notes)
    assert summary.notes[0] in page
    assert ResultSummary.from_results(results).title == ResultSummary.format_title(results)


def test_without_a_verdict_the_reason_is_given():
    results = real_results(lambda *place: "crash" if place[2] == "tree" and place[4] == 0 else None, declaration=DECLARED)
    assert results.summary().answer.startswith("No verdict: failures must not be 'exclude'")
    assert results.summary().details == []


def test_leaders_under_other_conditions_are_named():
    results = real_results(declaration=DECLARED)
    leader = results.verdict(condition="class-noise").ranking.best[0]
    test, other = results.summary().details
    assert "Friedman" in test
    assert "class-noise 0.2" in other
    assert leader in other


def test_short_form_has_at_most_nine_lines_of_eighty_columns():
    def fail(dataset, _, __, ___, fold):
        return "error" if dataset == "wine" and fold == 0 else None

    summary = real_results(fail, declaration=DECLARED | {"verdict": {"failures": "worst-rank"}}).summary()
    lines = summary.format_short().splitlines()
    assert len(summary.notes) == 4
    assert len(lines) <= 9
    assert max(map(len, lines)) <= 80
    assert lines[0] == str(summary).splitlines()[0]
    assert "accuracy\n" not in summary.format_short()
    assert sum(line.startswith("! ") for line in lines) >= 1


def test_html_is_escaped():
    table = pd.DataFrame({"<clean>": ["0.5"]}, index=["<tree>"])
    page = ResultSummary("<title>", "<answer>", ["<detail>"], {"<m>": table}, ["<note>"])._repr_html_()
    for word in ("title", "m", "note", "answer", "detail", "tree", "clean"):
        assert f"&lt;{word}&gt;" in page
        assert f"<{word}>" not in page
