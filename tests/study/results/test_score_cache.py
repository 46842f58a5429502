"""Scores are computed once, and evidence is read once for all measures."""

import numpy as np

from fairtrial.study.results.scores import ScoreCache, ScoreRequest
from tests.study.archives import data_facts, real_archive

make_requests = ScoreRequest.from_measures


def test_evidence_is_read_once_for_measures_asked_for_together():
    archive = real_archive()
    book = ScoreCache(archive)
    book.build_table(make_requests(["accuracy", "auc"]), None, False)
    assert sorted(archive.asked) == list(range(120))
    book.build_table(make_requests("auc"), None, False)
    assert len(archive.asked) == 120
    book.build_table(make_requests(["auc", "taks"]), None, False)
    assert len(archive.asked) == 240
    book.build_table(make_requests("f_score", params={"beta": 2}), None, False)
    book.build_table(make_requests("f_score", params={"beta": 3}), None, False)
    assert len(archive.asked) == 480


def test_another_positive_class_is_another_score():
    book = ScoreCache(real_archive(names=["cancer"]))
    first, second = (book.build_table(make_requests("recall"), label, False)[0]["value"] for label in (None, "benign"))
    assert (first != second).any()
    assert book.build_table(make_requests("specificity"), "malignant", False)[0]["value"].equals(second)


def test_a_positive_class_may_be_declared():
    declared = {"data": {"cancer": {"file": "x.csv", "positive": "benign"}, "sets": ["iris"]}}
    book = ScoreCache(real_archive(declaration=declared))
    positives = [None if order.positive is None else order.names[order.positive] for order in book.get_class_orders(None)]
    assert positives == [None, None, "benign"]


def test_defaults_of_a_bare_declaration():
    book = ScoreCache(real_archive())
    assert book.measures == ("accuracy", "auc")
    assert book.verdict_measure == "accuracy"
    assert book.get_declared("verdict") == {}


def test_a_table_of_means_shows_the_holes():
    archive = real_archive(
        lambda *place: {0: "error", 1: "missing"}.get(place[4]) if place[2] == "tree" and place[0] == "iris" else None
    )
    frame, _ = ScoreCache(archive).build_table(make_requests("accuracy"), None, False)
    own = frame[frame["condition"] == "clean"]
    wide = ScoreCache(archive).build_wide_table(own)
    assert np.isnan(wide.loc["iris", "tree"])
    assert wide.loc["wine", "tree"] == own[(own["dataset"] == "wine") & (own["learner"] == "tree")]["value"].mean()
    assert wide.columns.tolist() == ["bayes", "tree", "ridge", "near"]
    assert wide.notna().sum().sum() == 11


def test_facts_without_rows_of_a_class_count_them():
    assert data_facts("x", [0, 2, 2], "abc").counts.tolist() == [1, 0, 2]
