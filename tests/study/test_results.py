"""Tests of `fairtrial.study.results`."""

import dataclasses
import gc
import subprocess
import sys
from math import nan

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, recall_score, roc_auc_score

from fairtrial._findings import Finding
from fairtrial._narrative import render_all
from fairtrial.errors import InputError, StoreError, UndefinedMeasureWarning
from fairtrial.study.archive import ConditionFacts, describe_process
from fairtrial.study.results.results import Results, open_results
from fairtrial.study.results.selection import (
    choose_condition,
    choose_dataset,
    choose_names,
    format_condition,
    is_same_level,
    mask_condition,
)
from fairtrial.study.results.summary import (
    ResultSummary,
    StudyProgress,
    collect_findings,
    compute_progress,
    describe_wide_table,
    find_oversubscription,
    find_slow_fits,
    format_means,
    summarise_times,
)
from fairtrial.study.store.store import open_store
from fairtrial.study.study import Study
from tests.study.archives import real_archive, real_results
from tests.study.small_store import SmallStudy

# --- Results ---
# Results as a whole.


DECLARED = {"measures": ["accuracy", "auc"], "verdict": {"measure": "accuracy"}}


def lost(dataset, condition, learner, _, fold):
    if (dataset, condition.name, learner) == ("wine", "clean", "tree"):
        return {1: "timeout", 3: "missing"}.get(fold)
    return None


def test_scores_are_tidy_and_those_of_scikit_learn():
    archive = real_archive(declaration=DECLARED)
    found = Results(archive).scores()
    keys = ["dataset", "condition", "level", "resampling", "learner", "repeat", "fold"]
    assert list(found.columns) == [*keys, "measure", "value", "status"]
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
    with pytest.raises(InputError, match=r"level must be 0\.2 for"):
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


# --- Selection ---
# Which condition, data set or learner is meant.


CONDITIONS = [
    ConditionFacts(name, level, "", {}) for name, level in [("clean", 0.0), ("noise", 0.1), ("noise", 0.3), ("gap", nan)]
]


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ((), 0),
        (("clean",), 0),
        (("noise", 0.3), 2),
        (("noise", 0.1 + 0.2), 2),
        (("gap",), 3),
        (("gap", nan), 3),
        ((None, 0), 0),
    ],
)
def test_conditions_are_found_by_name_and_level(given, place):
    assert choose_condition(CONDITIONS, *given) is CONDITIONS[place]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("nois",), "condition must be .*'nois': .*'noise'"),
        (("noise",), r"'noise' has the levels 0.1 and 0.3: pass e.g. level=0.1"),
        (("noise", 0.2), r"level must be one of 0.1 or 0.3"),
        ((None, 0.1), "condition must be given"),
    ],
)
def test_conditions_that_are_not_there_are_refused(given, words):
    with pytest.raises(InputError, match=words):
        choose_condition(CONDITIONS, *given)


def test_without_clean_a_condition_must_be_named_unless_there_is_only_one():
    assert choose_condition(CONDITIONS[3:]) is CONDITIONS[3]
    with pytest.raises(InputError, match=r"condition must be given.*noise, gap"):
        choose_condition(CONDITIONS[1:])


def test_lines_of_a_condition():
    frame = pd.DataFrame({"condition": ["clean", "noise", "noise", "gap"], "level": [0.0, 0.1, 0.3, nan]})
    for place, condition in enumerate(CONDITIONS):
        assert mask_condition(frame, condition).nonzero()[0].tolist() == [place]


def test_levels_and_names():
    assert is_same_level(0.1 + 0.2, 0.3)
    assert not is_same_level(nan, 0.1)
    assert format_condition(CONDITIONS[3]) == "gap"
    assert choose_names("learner", ["a", "b"], None) == ["a", "b"]
    assert choose_names("learner", ["a", "b"], "b") == ["b"]
    with pytest.raises(InputError, match=r"learner must be .* got 'tre': .*'tree'"):
        choose_names("learner", ["tree"], ["tre"])


def test_the_only_data_set_need_not_be_named():
    assert choose_dataset(["iris"], None) == "iris"
    assert choose_dataset(["iris", "wine"], "wine") == "wine"
    with pytest.raises(InputError, match=r"dataset must be given.*iris, wine"):
        choose_dataset(["iris", "wine"], None)
    with pytest.raises(InputError, match=r"dataset must be .* got 'iriss': .*'iris'"):
        choose_dataset(["iris", "wine"], "iriss")


def test_a_condition_without_a_level_is_called_by_its_name_alone():
    moved = ConditionFacts("moved", 1.0, "", {"condition": "prior-shift", "priors": [0.2, 0.8]})
    assert format_condition(moved) == "moved"
    assert format_condition(ConditionFacts("noise", 1.0, "", {"condition": "class-noise", "level": 1.0})) == "noise 1"


# --- Summary ---
# The summary of a study.


DECLARED_SUMMARY = {"measures": ["accuracy", "brier"], "verdict": {"measure": "accuracy"}}


def test_means_without_some_data_sets_have_an_asterisk():
    table = pd.DataFrame({"a": [0.5, 1.0], "b": [0.25, np.nan], "c": [np.nan, np.nan]})
    assert format_means({"clean": table}, 2)["clean"].tolist() == ["0.7500", "0.2500*", "-*"]


def test_summary_has_answer_title_means_and_notes():
    results = real_results(
        lambda *place: "crash" if place[0] == "wine" and place[2] == "tree" else None, declaration=DECLARED_SUMMARY
    )
    summary = results.summary()
    page = str(summary)
    assert summary.title == "example: 3 data sets, 2 conditions, 4 learners, 120 trials"
    assert f"\n\n{summary.title}\n\naccuracy\n" in page
    assert summary.answer == results.verdict().summarize(scope="on clean data")
    assert page.splitlines()[0] in summary.answer
    wide = results.wide("accuracy", "class-noise")
    assert f"{wide['bayes'].mean():.4f}" in page
    assert f"{wide['tree'].mean():.4f}*" in page
    assert list(summary.notes) == [*render_all(results.verdict().caveats), *results.notes]
    assert summary.notes[0] in page
    assert ResultSummary.from_results(results).title == ResultSummary.format_title(results)


def test_without_a_verdict_the_reason_is_given():
    results = real_results(
        lambda *place: "crash" if place[2] == "tree" and place[4] == 0 else None, declaration=DECLARED_SUMMARY
    )
    assert results.summary().answer.startswith("No verdict: failures must not be 'exclude'")
    assert results.summary().details == []


def test_leaders_under_other_conditions_are_named():
    results = real_results(declaration=DECLARED_SUMMARY)
    leader = results.verdict(condition="class-noise").ranking.best[0]
    test, other = results.summary().details
    assert "Friedman" in test
    assert "class-noise 0.2" in other
    assert leader in other


def test_short_form_has_at_most_nine_lines_of_eighty_columns():
    def fail(dataset, _, __, ___, fold):
        return "error" if dataset == "wine" and fold == 0 else None

    results = real_results(fail, declaration=DECLARED_SUMMARY | {"verdict": {"failures": "worst-rank"}})
    warnings = [f"warning {number} of many words that take some room on the line of a terminal" for number in range(3)]
    summary = dataclasses.replace(ResultSummary.from_results(results), raised_checks=warnings)
    lines = summary.format_short().splitlines()
    assert len(summary.notes) == 1
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


def test_a_table_names_its_measure_and_condition_and_explains_blank_cells():
    def lose(dataset, condition, learner, _, fold):
        if dataset != "iris" or condition.name != "class-noise":
            return None
        return "missing" if learner == "ridge" else "error" if learner == "tree" and fold < 2 else None

    title, table = describe_wide_table(real_results(lose), "accuracy", "class-noise", 0.2)
    assert title == "Mean accuracy under class-noise 0.2"
    assert table.loc["iris", "tree"] == "2 failed"
    assert table.loc["iris", "ridge"] == "5 not run"
    assert describe_wide_table(real_results(), "accuracy")[0] == "Mean accuracy on clean data"


# --- Oversubscription ---


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"jobs": 8, "cores": 2, "cpus": 64}, "8 workers on 2 cores"),
        ({"jobs": 2, "cores": 2, "cpus": 2, "load": 7.25}, "mean load 7.2 on 2 cores"),
        ({"jobs": 2, "cores": 2, "cpus": 2, "steal": 0.31}, "31% of the processor time went to other virtual machines"),
    ],
)
def test_an_oversubscribed_machine_is_noted(facts, text):
    trials = real_archive().trials().assign(fit_time=1.0, fit_cpu=1.0)
    (finding,) = find_oversubscription([{"engine": "local", **facts}], trials)
    assert finding.kind == "machine_oversubscribed"
    assert finding["causes"] == (text,)
    assert find_oversubscription([{"engine": "dask://host:1", **facts}], trials) == []


def test_a_learner_with_many_threads_is_noted_if_there_are_too_few_cores():
    trials = real_archive().trials().assign(fit_time=1.0, fit_cpu=1.0)
    trials.loc[trials["learner"] == "tree", "fit_cpu"] = 4.0
    busy = {"engine": "local", "jobs": 2, "cores": 2, "cpus": 2}
    (finding,) = find_oversubscription([busy], trials)
    assert finding["causes"] == ("tree used 4.0 threads per worker",)
    assert find_oversubscription([busy | {"cores": 16, "cpus": 16}], trials) == []


def test_memory_that_was_not_measured_is_not_shown():
    trials = real_archive().trials().assign(memory=0.0)
    assert summarise_times(trials)["memory"].isna().all()


# --- Progress ---
# Progress of a study.


def test_trials_are_counted_by_learner_and_status(tmp_path):
    study, other = SmallStudy(), SmallStudy(seed=1, name="other", learners=("tree", "stump"))
    links = study.links()
    with open_store(other.filled(tmp_path / "two.fairtrial"), write=True) as store:
        study.plan_into(store)
        store.add_records([(study.success(link), link) for link in links[:30]])
        store.add_records([(study.failure(link, "timeout"), link) for link in links[30:33]])
    results = open_results(tmp_path / "two.fairtrial", "small")
    trials, progress = results.trials(), compute_progress(results.archive)
    frame = progress.frame().set_index("learner")
    assert frame.index.tolist() == ["tree", "forest"]
    expected = trials.groupby(["learner", "status"], observed=True).size().unstack(fill_value=0)
    assert frame.drop(columns="planned").to_dict() == expected.reindex(frame.index)[["ok", "timeout", "missing"]].to_dict()
    assert frame["planned"].tolist() == [24, 24]
    assert str(progress).startswith("small: not started, 33 of 48 trials stored, 3 failed")


def test_trials_of_several_schemes_are_counted(tmp_path):
    schemes = [{"folds": 2}, {"scheme": "kfold", "folds": 3}]
    study = Study(["iris"], ["gaussian-nb"], resampling=schemes, measures=["accuracy"], name="two")
    results = study.run(tmp_path / "two.fairtrial", jobs=1, progress=False)
    assert compute_progress(results.archive).frame().to_dict("list") == {"learner": ["gaussian-nb"], "planned": [5], "ok": [5]}


def test_large_numbers_are_written_alike():
    table = pd.DataFrame({"learner": ["tree"], "planned": [1152], "ok": [1151], "error": [1]})
    told = str(StudyProgress("wear", table, ()))
    assert told.startswith("wear: finished, 1,152 of 1,152 trials stored, 1 failed")
    assert "1152" not in told
    assert "1,151" in told
    one = pd.DataFrame({"learner": ["tree"], "planned": [1], "ok": [1]})
    assert str(StudyProgress("wear", one, ())).startswith("wear: finished, 1 of 1 trial stored")


def make_progress(missing, *runs):
    table = pd.DataFrame({"learner": ["tree"], "planned": [4], "ok": [4 - missing], "missing": [missing]})
    return StudyProgress("wear", table, runs)


def make_run(finished=None, **facts):
    return {"started": "2026-11-16T07:00", "engine": "local", "finished": finished, **facts}


def test_progress_distinguishes_running_interrupted_and_finished_studies():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        process = describe_process()
        ended = {**process, "id": other.pid, "start": "an earlier process with this id"}
        other.communicate(b"\n")
    live, killed, stopped = make_run(process=process), make_run(process=ended), make_run("07:05", left=3, process=process)
    elsewhere = make_run(process={**process, "host": "another computer"})
    assert make_progress(3).state == "not started"
    assert make_progress(3, killed, live).state == "running"
    assert make_progress(3, killed).state == make_progress(3, stopped).state == "interrupted"
    assert make_progress(3, elsewhere).state == "incomplete"
    assert make_progress(0, killed, make_run("07:09", left=0)).state == "finished"
    lines = str(make_progress(3, killed, stopped, live, elsewhere)).splitlines()[-4:]
    endings = ["interrupted", "interrupted 07:05", f"running (process {process['id']} on {process['host']})"]
    assert [line.split("engine local, ")[1] for line in lines[:3]] == endings
    assert lines[3].endswith(f"running or interrupted (process {process['id']} on another computer)")


def test_progress_lists_all_runs():
    runs = [make_run("07:09", left=0) for _ in range(30)]
    assert str(make_progress(0, *runs)).count("run started") == 30


def test_progress_reports_abstentions(tmp_path):
    study = SmallStudy()
    first, *links = study.links()
    with open_store(study.filled(tmp_path / "small.fairtrial", links), write=True) as store:
        store.add_records([(dataclasses.replace(study.success(first), abstentions=3), first)])
    progress = compute_progress(open_results(tmp_path / "small.fairtrial").archive)
    assert progress.notes[0].startswith("tree abstained on 3 of 6 test rows in 1 of 24 trials")
    assert progress.notes[0] in str(progress).splitlines()


# --- Notes ---
# Findings about the trials of a study, and the notes rendered from them.


def find(archive, trials=None):
    return collect_findings(archive, archive.trials() if trials is None else trials)


def test_nothing_to_report():
    assert find(real_archive()) == ()


def test_missing_failed_and_warned_trials_are_reported_by_cause():
    def lost(dataset, _, learner, __, fold):
        if learner == "tree" and fold < 2:
            return ("timeout", "error")[fold]
        return "missing" if dataset == "iris" and fold == 4 else None

    archive = real_archive(lost)
    trials = archive.trials()
    trials.loc[trials["learner"] == "near", "notes"] = "ConvergenceWarning:\n  too early"
    missing, failed, warned = find(archive, trials)
    assert (missing.kind, missing["missing"], missing["trials"]) == ("trials_missing", 8, 120)
    assert (failed.kind, failed["learners"], failed["failed"], failed["datasets"]) == ("trials_failed", ("tree",), 12, 3)
    assert failed["causes"] == ("6 timeout", "6 error")
    assert failed["reason"] == "ValueError: no such luck"
    assert (warned.kind, warned["learners"], warned["warned"]) == ("learner_warnings", ("near",), 28)
    assert warned["reason"] == "ConvergenceWarning: too early"


def test_abstentions_are_separate_from_warnings():
    archive = real_archive()
    trials = archive.trials()
    trials["notes"] = trials["notes"].astype(object)
    own = trials.index[trials["learner"] == "near"]
    trials.loc[own[:2], "abstentions"] = 3
    trials.loc[own[2:3], "abstentions"] = 1
    trials.loc[own[2:3], "notes"] = "UserWarning: late"
    abstained, warned = find(archive, trials)
    assert (abstained.kind, abstained["learner"], abstained["abstained"], abstained["abstaining"]) == (
        "abstentions",
        "near",
        7,
        3,
    )
    assert (abstained["trials"], abstained["rows"]) == (len(own), 3 * 30)
    assert (warned.kind, warned["warned"], warned["reason"]) == ("learner_warnings", 1, "UserWarning: late")


def test_notes_render_the_findings():
    results = Results(real_archive(lambda *where: "missing" if where[0] == "iris" and where[2:] == ("tree", 0, 0) else None))
    (finding,) = results.findings
    assert finding["missing"] == 2
    assert len(results.notes) == 1
    assert "2 of 120 trials have" in results.notes[0]


def test_long_message_is_cut_after_a_word():
    archive = real_archive(lambda _, __, learner, ___, fold: "error" if learner == "tree" and fold == 0 else None)
    trials = archive.trials()
    trials["message"] = trials["message"].astype(object)
    trials.loc[trials["status"] == "error", "message"] = "the matrix is singular " * 20
    (finding,) = find(archive, trials)
    reason = finding["reason"]
    assert reason.startswith("ValueError: the matrix is singular the")
    assert reason.removesuffix("…").split()[-1] in {"the", "matrix", "is", "singular"}
    assert 100 < len(reason) <= 120
    assert reason.endswith("…")


PRIORS = "priors must name classes of y, got 'malignant': known: setosa, versicolor, virginica"


def refuse(trials, which, message=PRIORS):
    """Mark trials as failed with an InputError, as a worker reports it."""
    trials[["error", "message", "status"]] = trials[["error", "message", "status"]].astype(object)
    trials.loc[which, ["status", "error", "message"]] = ["error", "fairtrial.errors.InputError", message]
    return trials


@pytest.fixture
def archive():
    return real_archive()


def test_condition_that_cannot_be_applied_is_reported_once(archive):
    trials = archive.trials()
    trials = refuse(trials, (trials["condition"] == "class-noise") & trials["dataset"].isin(["iris", "wine"]))
    (finding,) = find(archive, trials)
    assert finding.kind == "condition_not_applied"
    assert (finding["conditions"], finding["datasets"], finding["reason"]) == (("class-noise 0.2",), ("iris", "wine"), PRIORS)


def test_splits_on_which_a_condition_cannot_be_applied_are_counted(archive):
    trials = archive.trials()
    trials = refuse(trials, (trials["condition"] == "class-noise") & (trials["dataset"] == "wine") & (trials["fold"] < 2))
    (finding,) = find(archive, trials)
    assert finding["datasets"] == ("wine (2 of 5 splits)",)


def test_learner_that_fails_alone_or_with_another_message_failed_itself(archive):
    trials = archive.trials()
    wine = (trials["condition"] == "class-noise") & (trials["dataset"] == "wine")
    (alone,) = find(archive, refuse(trials.copy(), wine & (trials["learner"] == "tree")))
    assert (alone.kind, alone["learners"], alone["failed"], alone["causes"]) == ("trials_failed", ("tree",), 5, ("5 error",))
    assert alone["reason"].startswith("fairtrial.errors.InputError")
    other_message = refuse(refuse(trials.copy(), wine), wine & (trials["learner"] == "tree"), "another message")
    assert [finding["learners"] for finding in find(archive, other_message)] == [("bayes", "ridge", "near"), ("tree",)]
    clean = refuse(trials.copy(), (trials["condition"] == "clean") & (trials["dataset"] == "wine"))
    assert [(finding.kind, finding["failed"]) for finding in find(archive, clean)] == [("trials_failed", 20)]


# --- Times ---
# Times of trials.


def test_medians_leave_failures_out():
    trials = real_archive(lambda *place: "error" if place[4] == 0 else None).trials()
    wine = (trials["dataset"] == "wine") & (trials["learner"] == "tree") & (trials["status"] == "ok")
    trials.loc[wine, "fit_time"] = np.arange(wine.sum()) / 100.0
    found = summarise_times(trials).set_index(["dataset", "learner"])
    assert len(found) == 12
    assert found.loc[("wine", "tree"), "fit_time"] == 0.035
    assert found.loc[("iris", "tree"), "memory"] == 1000


def test_a_wait_is_noted():
    trials = real_archive().trials()
    assert find_slow_fits(trials) == []
    assert set(summarise_times(trials)["note"]) == {""}
    trials.loc[trials["learner"] == "near", "fit_time"] = 0.08
    (finding,) = find_slow_fits(trials)
    assert (finding.kind, finding["learners"], finding["datasets"]) == ("slow_fits", ("near",), 3)
    notes = summarise_times(trials).set_index("learner")["note"]
    assert (notes["near"] != "").all()
    assert (notes.drop("near") == "").all()


def test_times_that_were_not_taken_say_nothing():
    trials = real_archive().trials()
    trials[["fit_time", "fit_cpu"]] = None
    assert find_slow_fits(trials) == []
    assert summarise_times(trials)["fit_time"].isna().all()


def test_a_learner_without_a_success_has_a_line():
    trials = real_archive(lambda *place: "error" if place[0] == "wine" and place[2] == "tree" else None).trials()
    found = summarise_times(trials)
    assert len(found) == 12
    assert found.columns.tolist() == [
        "dataset",
        "learner",
        "fit_time",
        "predict_time",
        "fit_cpu",
        "predict_cpu",
        "memory",
        "note",
    ]
    line = found.set_index(["dataset", "learner"]).loc[("wine", "tree")]
    assert line.drop("note").isna().all()
    assert line["note"] == ""


def test_slow_data_sets_are_counted():
    trials = real_archive().trials()
    trials.loc[(trials["learner"] == "near") & (trials["dataset"] == "iris"), "fit_time"] = 0.08
    (finding,) = find_slow_fits(trials)
    assert (finding["learners"], finding["datasets"]) == (("near",), 1)
