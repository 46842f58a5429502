"""Results as a whole."""

import dataclasses
import gc

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, recall_score, roc_auc_score

from fairtrial._findings import Finding
from fairtrial.errors import InputError, StoreError, UndefinedMeasureWarning
from fairtrial.study.results.results import Results, open_results
from fairtrial.study.store.store import open_store
from fairtrial.study.study import Study
from tests.study.archives import real_archive, real_results

DECLARED = {"measures": ["accuracy", "auc"], "verdict": {"measure": "accuracy"}}


def lost(dataset, condition, learner, _, fold):
    if (dataset, condition.name, learner) == ("wine", "clean", "tree"):
        return {1: "timeout", 3: "missing"}.get(fold)
    return None


def test_scores_are_tidy_and_those_of_scikit_learn():
    archive = real_archive(declaration=DECLARED)
    found = Results(archive).scores()
    assert list(found.columns) == ["dataset", "condition", "level", "learner", "repeat", "fold", "measure", "value", "status"]
    assert len(found) == 2 * 120
    by_hand = {"accuracy": lambda one: accuracy_score(one.y_true, one.prediction), "auc": area}
    for name, of in by_hand.items():
        expected = [of(one) for one in archive.kept]
        np.testing.assert_allclose(found[found["measure"] == name]["value"], expected)
    assert Results(archive).frame().equals(found)


def area(one):
    if one.scores.shape[1] == 2:
        return roc_auc_score(one.y_true == 0, one.scores[:, 0])
    return np.mean([roc_auc_score(one.y_true == code, one.scores[:, code]) for code in range(3)])


def test_names_may_be_categories_or_plain_text():
    plain = real_archive(lost, declaration=DECLARED)
    plain.lines[["dataset", "condition", "learner", "status"]] = plain.lines[
        ["dataset", "condition", "learner", "status"]
    ].astype(object)
    for make in (
        Results.scores,
        Results.robustness,
        Results.wide,
        Results.times,
        Results.failures,
        lambda one: one.verdict().frame(),
    ):
        first, second = make(Results(plain)), make(real_results(lost, declaration=DECLARED))
        pd.testing.assert_frame_equal(first, second, check_dtype=False, check_categorical=False)
    assert str(Results(plain)) == str(real_results(lost, declaration=DECLARED))


def test_failed_and_missing_trials_keep_their_lines():
    results = real_results(lost)
    found = results.scores("accuracy")
    assert found["status"].value_counts().to_dict() == {"ok": 118, "timeout": 1, "missing": 1}
    assert found[found["status"] != "ok"]["value"].isna().all()
    assert (results.complete, results.missing) == (False, 1)
    failures = results.failures()
    assert failures[["dataset", "learner", "fold", "status", "error"]].to_numpy().tolist() == [
        ["wine", "tree", 1, "timeout", "ValueError"]
    ]
    assert (results.findings[0].kind, results.findings[0]["missing"]) == ("trials_missing", 1)
    assert len(results.trials()) == 120


def test_one_warning_says_what_evidence_cannot_give():
    with pytest.warns(UndefinedMeasureWarning) as caught:
        found = real_results().scores(["brier", "log_loss", "accuracy"])
    assert len(caught) == 1
    findings = caught[0].message.findings
    assert [(finding["measure"], finding["undefined"], finding["trials"]) for finding in findings] == [
        ("brier", 30, 120),
        ("log_loss", 30, 120),
    ]
    assert caught[0].filename == __file__
    assert set(found[found["value"].isna()]["learner"]) == {"ridge"}


def test_pooled_scores_have_a_line_for_each_repeat():
    found = real_results(lost).scores("accuracy", pooled=True)
    assert len(found) == 24
    assert set(found["fold"]) == {-1}
    assert found[found["status"] == "timeout"]["value"].isna().tolist() == [True]


def test_measures_after_the_fact_with_parameters_and_positive_classes():
    results = real_results(names=["cancer"])
    assert not results.scores("taks")["value"].isna().any()
    assert (results.scores("f_score", beta=2.0)["value"] != results.scores("f_score")["value"]).any()
    assert results.scores("recall", positive={"cancer": "benign"})["value"].equals(results.scores("specificity")["value"])
    with pytest.raises(InputError, match="did you mean 'malignant'"):
        results.scores("recall", positive="malignent")


def test_a_wide_table_is_of_one_condition():
    results = real_results()
    scores = results.scores("kappa")
    own = scores[scores["condition"] == "class-noise"]
    expected = own.pivot_table(index="dataset", columns="learner", values="value", observed=True)
    wide = results.wide("kappa", "class-noise", 0.2)
    np.testing.assert_allclose(wide, expected.loc[wide.index, wide.columns])
    assert wide.index.tolist() == ["iris", "wine", "cancer"]
    with pytest.raises(InputError, match="level must be one of"):
        results.wide("kappa", "class-noise", 0.3)
    with pytest.raises(InputError, match=r"measure must be .*, got accuracy, kappa"):
        results.wide(["accuracy", "kappa"])


def test_results_are_frozen_and_hand_out_copies():
    results = real_results(declaration=DECLARED)
    with pytest.raises(dataclasses.FrozenInstanceError):
        results.archive = None
    for make in (results.trials, results.frame, results.times, results.failures, lambda: results.wide("accuracy")):
        before = make()
        spoilt = make()
        spoilt[spoilt.columns[-1]] = None
        del spoilt[spoilt.columns[0]]
        pd.testing.assert_frame_equal(make(), before)


def test_it_shows_itself():
    results = real_results(declaration=DECLARED)
    assert repr(results) == "<Results of example: 3 data sets, 2 conditions, 4 learners, 120 trials>"
    assert str(results) == str(results.summary())
    assert "<table" in results._repr_html_()
    assert results.measures == ("accuracy", "auc")


def test_a_store_gives_the_results_back_and_is_closed_with_them(tmp_path):
    from fairtrial.study.plan.plan import plan_study
    from fairtrial.study.run.coordinator import add_plan
    from fairtrial.study.store.store import open_store
    from fairtrial.study.study import Study

    study = Study(name="kept", data=["iris"], learners=["c45", "naive-bayes"], resampling={"folds": 3}, measures=["kappa"])
    with open_store(tmp_path / "kept.fairtrial", write=True, create=True) as store:
        add_plan(store, plan_study(study.resolve()))
    results = open_results(tmp_path / "kept.fairtrial")
    assert (results.missing, results.complete, results.measures) == (6, False, ("kappa",))
    assert [(finding.kind, finding["missing"]) for finding in results.findings] == [("trials_missing", 6)]
    assert results.scores()["value"].isna().all()
    assert "No verdict" in str(results)
    file = results.archive.file
    del results
    gc.collect()
    with pytest.raises(StoreError, match="closed"), file.read_connection() as connection:
        connection.execute("SELECT 1")
    with pytest.raises(InputError, match="kept"):
        open_results(tmp_path / "kept.fairtrial", "keep")


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(StoreError, match=r"nothing\.fairtrial"):
        open_results(tmp_path / "nothing.fairtrial")


FUZZY = {
    "name": "fuzzy",
    "data": ["iris", "breast_cancer"],
    "learners": {"chi": {"learner": "chi", "parameters": {"labels": 7}}, "bayes": "gaussian-nb"},
    "conditions": {
        "class-noise": [0, 0.2],
        "worn": {"condition": "attribute-noise", "level": 0.1, "part": "test"},
        "worn-all": {"condition": "attribute-noise", "level": 0.1, "part": "all"},
    },
    "resampling": {"scheme": "stratified", "folds": 3},
    "seed": 1,
}


def test_a_study_of_a_learner_that_abstains_gives_all_results(tmp_path):
    paths = [tmp_path / "a.fairtrial", tmp_path / "b.fairtrial"]
    results, _ = (Study(**FUZZY).run(path, jobs=1, progress=False) for path in paths)
    with open_store(paths[0]) as one, open_store(paths[1]) as other:
        assert one.compute_digest() == other.compute_digest()
    assert len(results.failures()) == 0
    trials = results.trials().query("learner == 'chi'")
    evidence = list(results.archive.predictions(trials["trial"].tolist()))
    silent = [int((one.prediction == -1).sum()) for one in evidence]
    rows = sum(len(one.y_true) for one, some in zip(evidence, silent, strict=True) if some)
    some = sum(each > 0 for each in silent)
    assert some > 0
    assert trials["abstentions"].tolist() == silent
    counts = {"learner": "chi", "trials": 24, "abstaining": some, "rows": rows, "abstained": sum(silent)}
    assert results.findings[0] == Finding("abstentions", counts)
    assert results.notes[0] in str(results).splitlines()
    scores = results.scores(["accuracy", "balanced_accuracy"]).query("learner == 'chi'")
    expected = [accuracy_score(one.y_true, one.prediction) for one in evidence]
    np.testing.assert_allclose(scores.query("measure == 'accuracy'")["value"], expected)
    recalls = [recall_score(one.y_true, one.prediction, labels=np.unique(one.y_true), average="macro") for one in evidence]
    np.testing.assert_allclose(scores.query("measure == 'balanced_accuracy'")["value"], recalls)
    assert results.robustness("class-noise")["ela"].notna().all()
    with pytest.warns(UndefinedMeasureWarning, match="trivial classifier"):
        assert results.deterioration()["error"].notna().all()
    assert set(results.curves("roc", dataset="breast_cancer")["learner"]) == {"chi", "bayes"}
    assert results.scores("auc", pooled=True)["value"].notna().all()
    assert results.verdict("g_mean", failures="trivial").frame()["mean"].notna().all()
