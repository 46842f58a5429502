"""Figures of splits, audits, projections and times by name."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.measures import projection
from fairtrial.report.figures.projection import compute_confusion_tables
from fairtrial.report.figures.registry import draw
from fairtrial.report.selection import get_main_condition
from tests.report.result_cases import cases, real_results
from tests.study.archives import real_sources


def test_the_projection_is_that_of_the_confusion_tables():
    results = cases()["several"]
    tables = compute_confusion_tables(results, get_main_condition(results), ["wine"]).tables
    chart = draw(results, "projection", dataset="wine", distance="L1").to_dict()
    points = next(pd.DataFrame(rows) for rows in chart["datasets"].values() if "learner" in rows[0]).set_index("learner")
    expected = projection(tables, distance="L1").points
    assert np.allclose(points.loc[expected.index, ["x", "y"]], expected)


def test_a_projection_needs_a_whole_data_set():
    with pytest.raises(InputError, match="all learners have run"):
        draw(cases()["all failed"], "projection")


def test_rows_that_test_are_the_archives():
    results = cases()["two classes"]
    chart = draw(results, "splits").to_dict()
    rows = pd.DataFrame(max(chart["datasets"].values(), key=len))
    assert (rows["role"] == "tests").sum() == 150
    order = np.argsort(results.archive.datasets[0].codes, kind="stable")
    first = rows[(rows["split"] == 1) & (rows["role"] == "tests")]["row"].astype(int)
    assert set(order[first]) == set(results.archive.split("cancer", 0, 0)[1])


def test_a_repeat_that_does_not_exist_is_refused():
    with pytest.raises(InputError, match=r"repeat must be one of \[0\]"):
        draw(cases()["two classes"], "splits", repeat=3)


def test_the_audit_takes_the_data():
    X, y, _ = real_sources()["iris"]
    results = real_results(names=["iris"])
    assert draw(results, "audit", data=(X, y), n_permutations=19).to_dict()["title"]["text"] == "Fold audit: iris"


def test_the_audit_says_what_it_lacks():
    with pytest.raises(InputError, match="must be the one of the study"):  # the study has other rows of it
        draw(cases()["many classes"], "audit")
    with pytest.raises(InputError, match="needs the attributes of 'cancer'"):
        draw(cases()["two classes"], "audit")


def test_times_of_one_data_set():
    chart = draw(cases()["several"], "times", dataset="wine").to_dict()
    assert {row["dataset"] for rows in chart["datasets"].values() for row in rows if "dataset" in row} == {"wine"}
    with pytest.raises(InputError, match="times need trials"):
        draw(cases()["all failed"], "times")
    with pytest.raises(InputError, match="did you mean 'wine'"):
        draw(cases()["several"], "times", dataset="wien")
