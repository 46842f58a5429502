"""The page that shows a study."""

import numpy as np
import pandas as pd

from fairtrial.study.results.summary import ResultSummary, format_means
from tests.study.archives import real_results

DECLARED = {"measures": ["accuracy", "brier"], "verdict": {"measure": "accuracy"}}


def test_means_are_over_data_sets_and_holes_are_starred():
    table = pd.DataFrame({"a": [0.5, 1.0], "b": [0.25, np.nan], "c": [np.nan, np.nan]})
    assert format_means({"clean": table}, 2)["clean"].tolist() == ["0.7500", "0.2500*", "-*"]


def test_the_page_has_everything():
    results = real_results(lambda *place: "crash" if place[0] == "wine" and place[2] == "tree" else None, declaration=DECLARED)
    page = str(results.summary())
    assert page.startswith("example: 3 data sets, 2 conditions, 4 learners, 120 trials\n\naccuracy\n")
    wide = results.wide("accuracy", "class-noise")
    assert f"{wide['bayes'].mean():.4f}" in page
    assert f"{wide['tree'].mean():.4f}*" in page
    assert "* Data sets on which a trial of this learner failed, or on which it has no mean, are left out." in page
    assert "tree failed in 10 trials (10 crash) on 1 data set" in page
    assert results.verdict().summary in page
    assert ResultSummary.from_results(results).title == ResultSummary.format_title(results)


def test_without_a_verdict_the_reason_is_given():
    results = real_results(lambda *place: "crash" if place[2] == "tree" and place[4] == 0 else None, declaration=DECLARED)
    assert "No verdict\nfailures must not be 'exclude'" in str(results)


def test_html_is_escaped():
    table = pd.DataFrame({"<clean>": ["0.5"]}, index=["<tree>"])
    page = ResultSummary("<title>", {"<m>": table}, ["<note>"], "<about>", "<words>")._repr_html_()
    for word in ("title", "m", "note", "about", "words", "tree", "clean"):
        assert f"&lt;{word}&gt;" in page
        assert f"<{word}>" not in page
