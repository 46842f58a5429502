"""Predicted labels that are not classes count as errors, as in studies, and do not affect other models."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

import fairtrial
from fairtrial import judge
from fairtrial._findings import Finding
from fairtrial.measures import get_measure
from fairtrial.predictions.statistics import allow_unknown_labels, count_unknown_as_errors, prepare_table
from fairtrial.study.records import ABSTAINED
from fairtrial.study.store.transfer import export

MEASURES = ["accuracy", "balanced_accuracy", "f_score", "recall", "precision", "kappa"]


def example(classes="np", n=120, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.choice(list(classes), n)
    good, odd = (np.where(rng.random(n) < 0.8, truth, rng.choice(list(classes), n)) for _ in range(2))
    return pd.DataFrame({"id": range(n), "truth": truth, "good": good, "odd": odd})


def estimates(found, model):
    return found.scores[found.scores["model"] == model].set_index("measure")["estimate"]


@pytest.fixture
def judged(judge_table):
    return partial(judge_table, measures=MEASURES, prediction={"good": "good", "odd": "odd"})


@pytest.mark.parametrize("classes", ["np", "abc"])
@pytest.mark.parametrize("cell", ["?", None])
def test_the_other_models_are_judged_as_without_it(judged, classes, cell):
    table = example(classes)
    expected = judged(table)
    table.loc[[3, 7], "odd"] = cell
    found = judged(table)
    pd.testing.assert_series_equal(estimates(found, "good"), estimates(expected, "good"))
    assert estimates(found, "odd").notna().all()
    assert set(found.classes["class"]) == set(classes)


@pytest.mark.parametrize("cell", ["?", None])
def test_of_two_classes_it_is_the_other_one(judged, cell):
    table = example()
    table.loc[:9, "odd"] = cell
    truth = table["truth"] == "p"
    wrong = np.where(table["odd"].isin(["n", "p"]), table["odd"] == "p", ~truth)
    found = judged(table, positive="p")
    own = estimates(found, "odd")
    assert own["f_score"] == pytest.approx(metrics.f1_score(truth, wrong))
    assert own["precision"] == pytest.approx(metrics.precision_score(truth, wrong))
    assert own["recall"] == pytest.approx(metrics.recall_score(truth, wrong))
    assert own["balanced_accuracy"] == pytest.approx(metrics.balanced_accuracy_score(truth, wrong))
    assert own["accuracy"] == pytest.approx((table["truth"] == table["odd"]).mean())
    assert own["kappa"] == pytest.approx(metrics.cohen_kappa_score(table["truth"], table["odd"].fillna("?")))
    line = found.classes.set_index(["model", "class"]).loc[("odd", "p")]
    assert line["f_score"] == pytest.approx(metrics.f1_score(truth, wrong))
    lines = found.scores[found.scores["model"] == "odd"].set_index("measure")
    assert ((lines["low"] <= lines["estimate"]) & (lines["estimate"] <= lines["high"])).all()


def test_of_more_classes_means_are_over_the_classes(judged):
    table = example("abc")
    table.loc[:9, "odd"] = None
    own, labels = estimates(judged(table), "odd"), table["odd"].fillna("?")
    options = {"labels": list("abc"), "average": "macro"}
    assert own["f_score"] == pytest.approx(metrics.f1_score(table["truth"], labels, **options))
    assert own["precision"] == pytest.approx(metrics.precision_score(table["truth"], labels, **options))
    assert own["balanced_accuracy"] == pytest.approx(metrics.recall_score(table["truth"], labels, **options))


@pytest.mark.parametrize("main", ["balanced_accuracy", "f_score", "kappa"])
def test_the_difference_of_two_models_is_that_of_their_values(judged, main):
    table = example()
    table.loc[:9, "odd"] = "?"
    found = judged(table, measures=[main])
    line = found.pairs[found.pairs["test"] == "bootstrap_difference"].iloc[0]
    values = [estimates(found, line[name])[main] for name in ("first", "second")]
    assert line["difference"] == pytest.approx(values[0] - values[1])


def test_missing_and_unknown_labels_are_noted(judged):
    table = example()
    table.loc[[3, 7], "odd"] = None
    assert Finding.of("missing_labels", models=("odd",), missing=2, rows=120) in judged(table).notes
    table["odd"] = table["odd"].fillna("?")
    assert Finding.of("unknown_label", models=("odd",), label="?") in judged(table).notes


@pytest.mark.parametrize("stream", [False, True])
def test_an_export_with_abstentions_has_the_scores_of_its_study(tmp_path, stream):
    learners = {"chi": {"learner": "chi", "parameters": {"labels": 7}}, "nb": "gaussian-nb"}
    study = fairtrial.Study(name="s", data=["iris"], learners=learners, resampling={"scheme": "holdout"}, seed=1)
    results = study.run(tmp_path / "s.fairtrial", progress=False)
    assert "abstained" in results.notes[0]
    path = tmp_path / "s.csv"
    export(results.archive, path)
    found = judge(path, stream=stream, measures=["balanced_accuracy", "kappa", "f_score", "auc"], resamples=20)
    for measure in ("balanced_accuracy", "kappa", "f_score"):
        wide = results.wide(measure).iloc[0]
        for model in learners:
            assert estimates(found, model)[measure] == pytest.approx(wide[model])
    assert {note.kind for note in found.notes if note.values.get("models") == ("chi",)} >= {"missing_labels", "zero_scores"}


def test_tables_without_unknown_labels_are_not_changed():
    plain, recall = get_measure("auc"), get_measure("recall")
    assert allow_unknown_labels(plain) is plain
    table = get_measure("recall").read_rows([0, 1, 1], [0, 1, 0]).confusion()
    assert prepare_table(recall, table) is table
    assert allow_unknown_labels(recall).of(table) == recall.of(table) == 0.5


def test_an_unknown_label_is_never_correct():
    rows = get_measure("recall").read_rows([0, 1, 2, 2], [0, ABSTAINED, ABSTAINED, 2], labels=[0, 1, 2, ABSTAINED])
    assert count_unknown_as_errors(rows.confusion()).hits.tolist() == [1, 0, 1]
    assert count_unknown_as_errors(rows.confusion()).total == 4
