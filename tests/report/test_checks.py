"""Tests of `fairtrial.report.checks`."""

import re
import runpy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import wilcoxon
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.model_selection import KFold, LeaveOneOut

from fairtrial import _registry, compare, judge
from fairtrial.data import read_keel
from fairtrial.data.faults import KNOWN_FAULTS
from fairtrial.errors import InputError, SuspectInputWarning
from fairtrial.measures import calibration_error
from fairtrial.report import cache
from fairtrial.report.check import run_checks as run_checks_checks, run_checks as run_checks_methodology
from fairtrial.report.checks import (
    Check,
    check,
    measures,
    registry,
    report_not_applicable,
    report_passed,
    report_raised,
    resampling,
    run_checks,
)
from fairtrial.report.checks.failures import list_warnings
from fairtrial.report.checks.measures import compute_areas_between, compute_standard_error
from fairtrial.report.page import render
from fairtrial.report.sections import checks
from fairtrial.report.sections.checks import build_section
from fairtrial.report.sections.sources import read_bibliography, split_citation
from fairtrial.report.selection import get_main_condition
from fairtrial.report.source import describe_source
from fairtrial.study import Results
from fairtrial.study.archive import ConditionFacts, LearnerFacts
from tests.report.checks.made_results import changed, halves, labelled, of_a_file, stopped_study
from tests.report.judgement.cases import judged, sections
from tests.report.pages import IMAGE, SCRIPT as SCRIPT_CHECKS, hostile_results
from tests.report.report_numbers import check_numbers, list_tables
from tests.report.result_cases import build, cases, few_learners, skilled_results
from tests.study.archives import CLEAN, Predictions, real_archive, real_results

# --- Check ---
# Checks keep their numbers, are registered once, and never break a report.


TITLES = {
    "FT001": "Folds used as independent samples",
    "FT002": "Accuracy on imbalanced data",
    "FT003": "Tiny classes",
    "FT004": "Leaks between training and test rows",
    "FT005": "Known corrupted data files",
    "FT006": "DOB-SCV optimism",
    "FT007": "Tuning on the test set",
    "FT008": "Too few data sets for the test",
    "FT009": "Failures imputed or data sets excluded",
    "FT010": "ROC curves that cross",
    "FT011": "Incomplete study",
    "FT012": "Rows never tested, or tested unequally often",
    "FT013": "Learners without the scores that a measure needs",
    "FT014": "Badly calibrated probabilities that no measure evaluates",
    "FT015": "Several measures or conditions tested without adjustment",
    "FT016": "No repeat",
    "FT017": "Noise in the labels of the test set",
    "FT018": "Learners with warnings",
    "FT019": "Oversubscribed timing",
    "FT020": "Baseline missing or not beaten",
    "FT021": "Measures undefined in many folds",
    "FT022": "Versions that differ between runs",
    "FT023": "Few rows",
    "FT024": "Best learner depends on few data sets",
}
"""Papers cite the numbers: a number is never removed or reused."""

VERDICT = compare([[0.9, 0.8], [0.8, 0.6], [0.7, 0.6]], rows="datasets")
TEXTS = {"passed": "fine.", "raised": "not fine.", "not applicable": "nothing to check."}


def made(number, look):
    return Check(number, "title", "looks", "why", "remedy", "", TEXTS, look)


@pytest.fixture
def own_registry(monkeypatch):
    monkeypatch.setattr(registry, "_items", dict(registry._items))
    return registry


def test_numbers_and_titles_stay():
    assert {number: registry[number].title for number in registry if number.startswith("FT")} == TITLES


def test_every_check_is_documented():
    for number in TITLES:
        one = registry[number]
        assert all([one.looks_for, one.why, one.remedy, one.cite])


@pytest.mark.parametrize("number", ["FT1", "ft001", "001", "LAB0001", ""])
def test_other_numbers_are_refused(number):
    with pytest.raises(InputError, match="number"):
        made(number, lambda _results: report_passed())


def test_a_number_is_registered_once(own_registry):
    with pytest.raises(InputError, match="FT001"):

        @check("FT001", title="mine", looks_for="", why="", remedy="", cite="", texts=TEXTS)
        def mine(_results):
            return report_passed()

    assert own_registry["FT001"].title == TITLES["FT001"]
    assert own_registry["FT001"](few_learners(["bayes", "near"], ["wine"])).text.startswith("The cases are overlapping splits")


def test_registering_again_from_a_notebook_replaces_a_check(own_registry):
    def cell(title):
        @check("LAB001", title=title, looks_for="", why="", remedy="", cite="", texts=TEXTS)
        def mine(_results):
            return report_passed()

    cell("old")
    cell("new")
    assert own_registry["LAB001"].title == "new"


def test_raised_checks_come_first():
    outcomes = {"LAB003": report_passed, "LAB001": report_not_applicable, "LAB004": report_raised, "LAB002": report_raised}
    checks = [made(number, lambda _results, how=how: how()) for number, how in outcomes.items()]
    assert [one.check.number for one in run_checks(VERDICT, checks)] == ["LAB002", "LAB004", "LAB003", "LAB001"]


def test_a_check_that_raises_an_exception_does_not_stop_the_others():
    def broken(_results):
        raise ZeroDivisionError("one over 0.")

    first, second = run_checks(VERDICT, [made("LAB001", lambda _results: report_passed()), made("LAB002", broken)])
    assert first.finding.outcome == "failed to run"
    assert dict(first.finding.finding.values) == {"error": "ZeroDivisionError", "message": "one over 0"}
    assert second.finding.outcome == "passed"


def test_third_parties_add_checks_by_entry_points(own_registry, monkeypatch):
    def load():
        @check("LAB007", title="theirs", looks_for="", why="", remedy="", cite="", texts=TEXTS)
        def theirs(_results):
            return report_passed()

    def points(group):
        return [SimpleNamespace(load=load)] if group == "fairtrial.checks" else []

    monkeypatch.setattr(_registry, "entry_points", points)
    monkeypatch.setattr(own_registry, "_loaded", False)
    assert own_registry["LAB007"].title == "theirs"


# --- Kept ---
# What checks ask for together is right, and computed once.


def test_each_thing_is_computed_once_for_each_results():
    calls, results, other = [], real_results(), real_results()
    for one in (results, results, other):
        cache.get_cached(one, "thing", lambda: calls.append(1))
    assert len(calls) == 2


def test_splits_are_counted_row_by_row():
    splits = {(0, 0): (np.array([0, 1, 2, 2]), np.array([2, 3])), (0, 1): (np.array([0, 1]), np.array([3, 4]))}
    results = labelled([0, 1, 0, 1, 0], splits)
    lines = resampling.build_split_lines(results)
    assert lines[["training rows", "test rows", "in both"]].to_numpy().tolist() == [[3, 2, 1], [2, 2, 0]]
    assert resampling.build_test_count_lines(results).iloc[0].tolist() == ["made", 5, 2, 0, 2]


def test_what_learners_give_is_read_off_their_predictions():
    kinds = dict(measures.find_score_kinds(real_results()).itertuples(index=False, name=None))
    assert kinds == {"bayes": "probability", "tree": "probability", "ridge": "decision", "near": "probability"}
    assert set(measures.find_score_kinds(labelled([0, 1] * 4, halves(8)))["gives"]) == {"none"}


def test_a_verdict_or_the_reason_why_there_is_none():
    verdict, reason = cache.compute_verdict(real_results())
    assert verdict.measure == "accuracy"
    assert reason == ""
    nothing, why = cache.compute_verdict(real_results(lambda *_: "crash"))
    assert nothing is None
    assert why


def test_a_study_without_clean_is_judged_under_its_first_condition():
    noise = ConditionFacts("class-noise", 0.2, "", {})
    assert get_main_condition(labelled([0, 1] * 4, halves(8), conditions=(noise,))) == noise


def test_the_class_inside_the_preparation_is_the_learner():
    inner = {"class": "sklearn.svm.SVC", "parameters": {"C": 2.0}}
    assert cache.unwrap_estimator(LearnerFacts("svc", "Prepared", {"learner": inner}, {})) == ("sklearn.svm.SVC", {"C": 2.0})
    assert cache.unwrap_estimator(LearnerFacts("svc", "mine.SVC", {"C": 1}, {})) == ("mine.SVC", {"C": 1})


def test_models_of_a_file_have_no_class():
    assert cache.has_only_predictions(of_a_file())
    assert not cache.has_only_predictions(real_results())


def test_lines_of_a_condition_without_a_level():
    archive = real_archive(levels=(0.0,))
    lines = archive.lines.assign(level=np.nan)
    results = Results(replace(archive, lines=lines, conditions=(ConditionFacts("clean", float("nan"), "", {}),)))
    assert len(cache.select_condition(results.trials(), get_main_condition(results))) == len(lines)
    assert cache.select_condition(real_results().trials(), ConditionFacts("clean", 0.5, "", {})).empty


def test_declared_parts_that_are_missing_are_empty():
    results = changed(real_results(), declaration={"resampling": None})
    assert cache.get_declared_section(results, "resampling") == {}
    assert cache.get_resampling_scheme(results) == ""


# --- Documenting ---
# The manual's page is what the checks say of themselves.


SCRIPT = runpy.run_path(str(Path(__file__).resolve().parents[2] / "docs" / "make_checks_page.py"))
PAGE, render_checks_page = SCRIPT["PAGE"], SCRIPT["render_checks_page"]
BUILT_IN = SCRIPT["list_checks"]()


def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == render_checks_page(), "run python docs/make_checks_page.py"


@pytest.mark.parametrize("check", BUILT_IN, ids=lambda check: check.number)
def test_every_check_has_a_page_with_an_example_that_raises_it(check):
    """tests/test_docs.py runs the examples."""
    text, example = SCRIPT["get_page"](check).read_text(encoding="utf-8"), SCRIPT["read_example"](check)
    assert text == SCRIPT["render_check_page"](check, example), "run python docs/make_checks_page.py"
    assert f"\n{check.number} raised: " in example
    assert f"](checks/{check.number.lower()}.md)" in render_checks_page()


def test_every_work_that_a_check_cites_is_in_the_bibliography():
    cited = {work for number in registry if number.startswith("FT") for work in split_citation(registry[number].cite)}
    assert cited <= set(read_bibliography())


def test_the_example_of_an_own_check_runs(monkeypatch):
    monkeypatch.setattr(registry, "_items", dict(registry._items))
    names = {"__name__": "page"}
    exec(re.search("^```py\n(.*?)^```$", render_checks_page(), re.M | re.S)[1], names)
    assert registry["LAB001"](real_results()).outcome == "raised"


# --- Data ---
# Imbalance, tiny classes and known damage are seen, and only where they are.


RARE = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1] * 10


def test_accuracy_on_imbalance_is_raised_with_the_share_of_the_largest_class():
    found = registry["FT002"](labelled(RARE, halves(100)))
    assert found.outcome == "raised"
    assert found.details.iloc[0].tolist() == ["made", 100, 20, 4.0, 0.8]
    assert found.finding["proportion"] == 0.8


@pytest.mark.parametrize("measure", ["kappa", "balanced_accuracy", "g_mean"])
def test_other_measures_may_judge_imbalanced_data(measure):
    assert registry["FT002"](labelled(RARE, halves(100), {"verdict": {"measure": measure}})).outcome == "passed"


def test_accuracy_will_do_where_classes_are_nearly_equal():
    assert registry["FT002"](real_results()).outcome == "passed"


def test_classes_smaller_than_the_folds_are_tiny():
    codes = np.array([0] * 36 + [1] * 14)
    splits = {(0, fold): part for fold, part in enumerate(KFold(25).split(codes))}
    found = registry["FT003"](labelled(codes, splits))
    assert found.outcome == "raised"
    assert found.details.to_numpy().tolist() == [["made", "yes", 14, 25]]


def test_classes_of_a_few_cases_are_tiny_however_few_the_folds():
    found = registry["FT003"](labelled([0] * 31 + [1] * 9, halves(40)))
    assert (found.finding["label"], found.finding["worst"], found.finding["rows"]) == ("yes", "made", 9)


def test_leaving_one_out_makes_no_class_tiny():
    codes = np.array([0, 1] * 10)
    splits = {(0, fold): part for fold, part in enumerate(LeaveOneOut().split(codes))}
    assert registry["FT003"](labelled(codes, splits)).outcome == "passed"
    assert registry["FT003"](real_results()).outcome == "passed"


def replace_facts(**facts):
    results = real_results()
    return changed(results, datasets=tuple(replace(dataset, **facts) for dataset in results.archive.datasets))


@pytest.mark.parametrize("fault", KNOWN_FAULTS[:3], ids=lambda fault: fault.name)
def test_a_stored_fault_is_raised(fault):
    finding = registry["FT005"](replace_facts(facts={"notes": ["version 1"], "corrupted": fault.facts}))
    assert finding.outcome == "raised"
    assert finding.details["KEEL file"].tolist() == [fault.name] * 3
    assert finding.details["problem"].tolist() == [fault.problem] * 3


def test_older_files_without_a_stored_fault_are_recognised_by_content_hash(shared_data):
    with pytest.warns(SuspectInputWarning):
        heart = read_keel(shared_data / "keel-standard" / "heart.dat")
    finding = registry["FT005"](replace_facts(facts={"notes": []}, content_hash=heart.content_hash))
    assert finding.details["KEEL file"].tolist() == ["heart"] * 3


def test_other_notes_are_not_faults_and_unknown_data_are_not_judged():
    assert registry["FT005"](replace_facts(facts={"notes": ["version 1"]})).outcome == "passed"
    assert registry["FT005"](real_results()).outcome == "not applicable"
    assert registry["FT005"](of_a_file()).outcome == "not applicable"


# --- Failures ---
# Failures, gaps, warnings, times and versions are told, and nothing where all went well.


def _some(status):
    return lambda dataset, _condition, learner, _repeat, fold: (
        status if (dataset, learner, fold) == ("iris", "tree", 1) else None
    )


@pytest.mark.parametrize(
    ("policy", "kind"), [(None, "FT009/exclude"), ("worst-rank", "FT009/worst-rank"), ("trivial", "FT009/trivial")]
)
def test_failures_are_counted_and_their_policy_is_reported(policy, kind):
    found = registry["FT009"](real_results(_some("timeout"), declaration={"verdict": {"failures": policy}}))
    assert found.outcome == "raised"
    assert found.details.to_numpy().tolist() == [["tree", "iris", "timeout", 2]]
    assert found.finding.kind == kind


def test_no_failure_no_gap():
    assert registry["FT009"](real_results()).outcome == "passed"
    assert registry["FT009"](real_results(_some("missing"))).outcome == "passed"
    assert registry["FT011"](real_results(_some("error"))).outcome == "passed"


def test_what_has_not_run_is_counted():
    found = registry["FT011"](real_results(_some("missing")))
    assert found.outcome == "raised"
    counts = found.details.set_index("learner")["not run"].to_dict()
    assert counts == {"bayes": 0, "tree": 2, "ridge": 0, "near": 0, "all": 2}
    assert (found.finding["waiting"], found.finding["planned"]) == (2, 120)


def test_a_learner_that_did_not_converge_is_named():
    found = registry["FT018"](stopped_study())
    assert found.outcome == "raised"
    assert found.details["learner"].tolist() == ["stopped"]
    assert found.details["warning"].iloc[0].startswith("ConvergenceWarning: lbfgs failed to converge")
    assert found.details[["trials", "data sets"]].to_numpy().tolist() == [[2, 1]]


def test_no_warning_where_none_was_given_and_a_file_tells_of_none():
    assert registry["FT018"](real_results()).outcome == "passed"
    assert registry["FT018"](of_a_file()).outcome == "not applicable"


def test_counts_of_a_warning_do_not_make_it_another_one():
    trials = real_results().trials().head(3).assign(notes=["UserWarning: so (2 times)", "a note\nUserWarning: so", None])
    assert list_warnings(trials)["warning"].tolist() == ["UserWarning: so", "UserWarning: so"]


def test_warnings_of_a_condition_are_not_blamed_on_learners():
    results = real_results()
    said = "SuspectInputWarning: wine: values are constant"
    lines = results.archive.lines
    noisy = results.trials()["condition"].to_numpy() != "clean"
    found = registry["FT018"](changed(results, lines=lines.assign(notes=np.where(noisy, said, None))))
    assert found.outcome == "passed"
    assert (found.finding["conditions"], found.finding["warning"]) == (("class-noise",), said)
    one = noisy & (results.trials()["learner"].to_numpy() == "tree")
    found = registry["FT018"](changed(results, lines=lines.assign(notes=np.where(one, said, None))))
    assert (found.outcome, found.details["learner"].tolist()) == ("raised", ["tree"])


def timed(wall, cpu):
    results = real_results(names=["iris"])
    return changed(results, lines=results.archive.lines.assign(fit_time=wall, fit_cpu=cpu))


def test_times_far_above_cpu_times_are_told():
    found = registry["FT019"](timed(2.0, 0.5))
    assert found.outcome == "raised"
    assert len(found.details) == 4
    assert (found.finding["wall"], found.finding["cpu"]) == (2, 0.5)
    assert registry["FT019"](timed(0.5, 0.5)).outcome == "passed"
    assert registry["FT019"](timed(0.1, 0.01)).outcome == "passed"
    assert "--jobs" not in registry["FT019"].remedy
    assert registry["FT019"](timed(np.nan, np.nan)).outcome == "not applicable"


def test_versions_that_differ_between_runs_are_listed():
    runs = ({"versions": {"numpy": "2.0", "scipy": "1.1"}}, {"versions": {"numpy": "2.1", "scipy": "1.1"}})
    found = registry["FT022"](changed(real_results(), runs=runs))
    assert found.outcome == "raised"
    assert found.details.to_numpy().tolist() == [["numpy", "2.0, 2.1"]]
    assert registry["FT022"](stopped_study()).outcome == "passed"
    assert registry["FT022"](real_results()).outcome == "not applicable"


# --- Learners ---
# Settings side by side, and learners that learn nothing, are seen.


def with_learners(*learners, declaration=None):
    results = real_results(names=["iris"])
    return changed(results, learners=learners, declaration=declaration or {})


def near(name, k):
    inner = {"class": "sklearn.neighbors.KNeighborsClassifier", "parameters": {"n_neighbors": k, "weights": "uniform"}}
    return LearnerFacts(name, "fairtrial.learners.prepared.Prepared", {"learner": inner}, {})


def test_settings_of_one_class_side_by_side_are_named():
    found = registry["FT007"](with_learners(near("few", 1), near("many", 9), LearnerFacts("tree", "a.Tree", {}, {})))
    assert found.outcome == "raised"
    assert found.details[["learner", "parameters"]].to_numpy().tolist() == [["few", "n_neighbors=1"], ["many", "n_neighbors=9"]]


def test_tuning_inside_the_fold_passes_by_name():
    declared = {"learners": {"few": {"tune": {"grid": {"n_neighbors": [1, 3]}}}, "many": {}}}
    found = registry["FT007"](with_learners(near("few", 1), near("many", 9), declaration=declared))
    assert found.outcome == "passed"
    assert (found.finding.kind, found.finding["learners"]) == ("FT007/tuned", ("few",))


def test_one_setting_of_each_class_passes_and_a_file_tells_nothing():
    assert registry["FT007"](real_results()).outcome == "passed"
    assert registry["FT007"](with_learners(near("one", 3), near("same", 3))).outcome == "passed"
    assert registry["FT007"](of_a_file()).outcome == "not applicable"


def always(learner, truth, _condition):
    return truth * 0 if learner == "first" else 1 - truth


def test_data_on_which_guessing_is_as_good_are_named():
    found = registry["FT020"](labelled([0, 0, 0, 1, 1, 1] * 10, halves(60), predict=always))
    assert found.outcome == "raised"
    assert found.details.to_numpy().tolist() == [["made", "first", 0.5, 0.5]]
    assert registry["FT020"](skilled_results({"good": 0.9, "fair": 0.8})).outcome == "passed"


@pytest.mark.parametrize(("measure", "value"), [("kappa", 0.0), ("balanced_accuracy", 0.5), ("error_rate", 0.5)])
def test_measures_with_a_known_value_of_guessing(measure, value):
    found = registry["FT020"](labelled([0, 0, 0, 1, 1, 1] * 10, halves(60), {"verdict": {"measure": measure}}, predict=always))
    assert found.details["trivial"].tolist() == [value]


def test_a_trivial_learner_is_the_baseline_where_there_is_one():
    results = labelled([0, 0, 0, 1, 1, 1] * 10, halves(60), {"verdict": {"measure": "f_score"}}, predict=always)
    unknown = registry["FT020"](results)
    assert unknown.outcome == "raised"
    assert unknown.finding.kind == "FT020/no baseline"
    dummy = LearnerFacts("first", "sklearn.dummy.DummyClassifier", {}, {})
    other = LearnerFacts("second", "a.Tree", {}, {})
    judged = changed(results, learners=(dummy, other), declaration={"verdict": {"measure": "accuracy"}})
    assert registry["FT020"](judged).details.to_numpy().tolist() == [["made", "second", 0.0, 0.5]]


def test_no_score_no_baseline():
    assert registry["FT020"](real_results(lambda *_: "error")).outcome == "not applicable"


# --- Measures ---
# Crossing curves, missing scores, bad probabilities and undefined measures are seen.


def points(truth, scores):
    fpr, tpr, _ = roc_curve(truth, scores, drop_intermediate=False)
    return np.column_stack([fpr, tpr])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([2, 4, 1000]))
def test_areas_differ_by_the_difference_of_aucs_and_agree_with_a_fine_grid(seed, values):
    rng = np.random.default_rng(seed)
    truth = np.r_[0, 1, rng.integers(0, 2, 30)]
    first, second = rng.integers(0, values, (2, 32)).astype(float)
    above, below = compute_areas_between(points(truth, first), points(truth, second))
    assert above - below == pytest.approx(roc_auc_score(truth, first) - roc_auc_score(truth, second), abs=1e-12)
    x = (np.arange(20000) + 0.5) / 20000
    heights = [np.interp(x, *points(truth, each).T) for each in (first, second)]
    assert above == pytest.approx(np.maximum(heights[0] - heights[1], 0).mean(), abs=1e-3)


def crossing(learner, truth, _condition):
    """The first learner ranks half of the positives above all others and half below; the second ranks nothing."""
    if learner == "second":
        return np.full(len(truth), 0.4)
    scores, yes = np.full(len(truth), 0.5), np.flatnonzero(truth)
    scores[yes[: len(yes) // 2]], scores[yes[len(yes) // 2 :]] = 0.9, 0.1
    return scores


def test_curves_that_cross_are_named_with_their_areas():
    found = registry["FT010"](labelled([0, 0, 1, 1] * 20, halves(80), predict=crossing))
    assert found.outcome == "raised"
    assert found.details.iloc[0, :3].tolist() == ["made", "first", "second"]
    # (0, 1/2) to (1, 1/2) against the diagonal: two triangles of 1/2 x 1/2 x 1/2.
    assert found.details.iloc[0, 3:].tolist() == pytest.approx([0.125, 0.125])


def test_the_same_crossing_of_few_cases_may_be_chance():
    # Eight cases of each class: the areas are 0.125 as above, the standard error of guessing is sqrt(17 / 768) = 0.149.
    results = labelled([0, 0, 1, 1] * 4, halves(16), predict=crossing)
    first, second = (own[["fpr", "tpr"]].to_numpy() for _, own in results.curves("roc").groupby("learner"))
    assert compute_areas_between(first, second) == pytest.approx((0.125, 0.125))
    assert registry["FT010"](results).outcome == "passed"


@pytest.mark.parametrize(("positives", "negatives"), [(5, 9), (40, 40)])
def test_the_standard_error_of_guessing_is_that_of_mann_and_whitney(positives, negatives):
    expected = np.sqrt((positives + negatives + 1) / (12 * positives * negatives))
    assert compute_standard_error(0.5, positives, negatives) == pytest.approx(expected)
    assert compute_standard_error(1.0, positives, negatives) == 0


def test_curves_of_which_one_dominates_do_not_cross():
    results = labelled(
        [0, 0, 1, 1] * 20, halves(80), predict=lambda name, truth, _: np.where(name == "first", truth, 0.5) * 1.0
    )
    assert registry["FT010"](results).outcome == "passed"
    assert registry["FT010"](real_results(declaration={"measures": ["accuracy"]})).outcome == "not applicable"
    assert registry["FT010"](real_results(names=["iris"])).outcome == "not applicable"


def test_learners_without_probabilities_are_named_with_the_measure():
    found = registry["FT013"](real_results(declaration={"measures": ["accuracy", "auc", "log_loss"]}))
    assert found.outcome == "raised"
    assert found.details.to_numpy().tolist() == [["ridge", "decision", "log_loss", "probabilities"]]
    labels = registry["FT013"](labelled([0, 1] * 10, halves(20), {"measures": ["accuracy", "auc"]}))
    assert labels.details[["learner", "measure"]].to_numpy().tolist() == [["first", "auc"], ["second", "auc"]]


def test_learners_that_give_enough_pass_and_none_ran_is_no_answer():
    assert registry["FT013"](real_results(declaration={"measures": ["accuracy", "auc"]})).outcome == "passed"
    assert registry["FT013"](real_results(lambda *_: "error")).outcome == "not applicable"


def boasting(learner, truth, _condition):
    return np.where(learner == "first", 0.95, 0.5) + 0.0 * truth


def test_probabilities_that_are_off_are_seen_where_no_measure_sees_them():
    found = registry["FT014"](labelled([0, 0, 1, 1] * 20, halves(80), predict=boasting))
    assert found.outcome == "raised"
    assert found.details["learner"].tolist() == ["first"]
    assert found.details["calibration error"].tolist() == pytest.approx([calibration_error([0, 1] * 40, [0.95] * 80)])


def test_a_declared_measure_of_probabilities_is_enough():
    results = labelled([0, 0, 1, 1] * 20, halves(80), {"measures": ["accuracy", "brier"]}, boasting)
    assert registry["FT014"](results).outcome == "passed"
    assert registry["FT014"](real_results()).outcome == "passed"
    assert registry["FT014"](labelled([0, 1] * 10, halves(20))).outcome == "not applicable"


def test_measures_undefined_in_folds_of_one_class_are_seen():
    scored = {"predict": lambda _name, truth, _condition: 0.25 + 0.5 * truth, "declaration": {"measures": ["accuracy", "auc"]}}
    found = registry["FT021"](labelled([0, 0, 0, 1] * 10, halves(40), **scored))  # even rows are all of one class
    assert found.outcome == "raised"
    assert found.details.to_numpy().tolist() == [["auc", "first", 1, 2, 0.5], ["auc", "second", 1, 2, 0.5]]
    assert registry["FT021"](labelled([0, 0, 1, 1] * 10, halves(40), **scored)).outcome == "passed"


def test_learners_without_scores_are_left_to_their_own_check():
    assert registry["FT021"](labelled([0, 0, 1, 1] * 10, halves(40), {"measures": ["auc"]})).outcome == "passed"
    assert registry["FT021"](real_results(lambda *_: "error")).outcome == "not applicable"


# --- Resampling ---
# Leaks, schemes, rows left out and single partitions are seen in the splits.


def twice(n):
    """Two repeats of two folds: even and odd rows, the first and the last half."""
    first, last = np.arange(n // 2), np.arange(n // 2, n)
    return halves(n) | {(1, 0): (last, first), (1, 1): (first, last)}


def test_rows_in_both_parts_are_a_leak():
    splits = halves(40)
    train, test = splits[0, 1]
    splits[0, 1] = np.concatenate([train, test[:3]]), test
    found = registry["FT004"](labelled([0, 1] * 20, splits))
    assert found.outcome == "raised"
    assert found.details.to_numpy().tolist() == [["made", 0, 1, 23, 20, 3]]
    assert (found.finding["both"], found.finding["rows"]) == (3, 20)


def test_no_leak_where_parts_are_apart_and_what_cannot_be_seen_is_said():
    found = registry["FT004"](real_results())
    assert found.outcome == "passed"
    assert registry["FT004"](of_a_file()).outcome == "not applicable"


@pytest.mark.parametrize(
    ("scheme", "outcome"),
    [("dob-scv", "raised"), ("stratified", "passed"), ("given", "not applicable"), (None, "not applicable")],
)
def test_the_scheme_decides_about_optimism(scheme, outcome):
    results = real_results(declaration={"resampling": {"scheme": scheme}} if scheme else {})
    assert registry["FT006"](results).outcome == outcome


def test_rows_that_no_fold_tests_are_seen():
    splits = halves(40)
    train, test = splits[0, 0]
    splits[0, 0] = train, np.concatenate([test[:15], test[:1]])
    found = registry["FT012"](labelled([0, 0, 1, 1] * 10, splits))
    assert found.outcome == "raised"
    assert found.details.to_numpy().tolist() == [["made", 40, 5, 0, 2]]
    assert (found.finding["rows"], found.finding["never"], found.finding["most"]) == (40, 5, 2)


def test_every_row_tested_equally_often_passes_and_drawn_tests_promise_nothing():
    assert registry["FT012"](real_results()).outcome == "passed"
    assert registry["FT012"](labelled([0, 0, 1, 1] * 10, twice(40))).outcome == "passed"
    one = {(0, 0): halves(40)[0, 0]}
    drawn = labelled([0, 0, 1, 1] * 10, one, {"resampling": {"scheme": "holdout"}})
    assert registry["FT012"](drawn).outcome == "not applicable"
    assert registry["FT012"](labelled([0, 0, 1, 1] * 10, one)).outcome == "raised"


def test_one_partition_is_no_repeat():
    assert registry["FT016"](real_results()).outcome == "raised"
    assert registry["FT016"](labelled([0, 0, 1, 1] * 10, twice(40))).outcome == "passed"


@pytest.mark.parametrize("scheme", ["leave-one-out", "given"])
def test_what_cannot_be_repeated_need_not_be(scheme):
    assert registry["FT016"](real_results(declaration={"resampling": {"scheme": scheme}})).outcome == "not applicable"


# --- Robustness ---
# Scores measured against changed classes are seen in the evidence.


NOISE = ConditionFacts("class-noise", 0.25, "", {})


def swapped(_learner, truth, condition):
    """Under noise a quarter of the test rows have the other class."""
    wrong = np.arange(len(truth)) % 4 == 0 if condition.name == "class-noise" else np.zeros(len(truth), dtype=bool)
    return Predictions(None, np.where(wrong, 1 - truth, truth), truth, None, None)


def test_changed_classes_of_test_rows_are_counted():
    found = registry["FT017"](labelled([0, 0, 1, 1] * 10, halves(40), predict=swapped, conditions=(CLEAN, NOISE)))
    assert found.outcome == "raised"
    assert found.details.to_numpy().tolist() == [["class-noise 0.25", "made", 20, 5, 0.25]]


def test_noise_in_the_training_part_leaves_the_truth_as_it_is():
    assert registry["FT017"](real_results()).outcome == "passed"
    assert registry["FT017"](real_results(levels=(0.0,))).outcome == "not applicable"


# --- Tests ---
# What counts as a case, how many there are, and how many questions were asked.


def test_splits_of_one_data_set_pass_if_the_test_allows_for_overlap():
    found = registry["FT001"](few_learners(["bayes", "near"], ["wine"]))
    assert found.outcome == "passed"
    assert found.finding.kind == "FT001/corrected"


def test_data_sets_are_independent_cases():
    assert registry["FT001"](real_results()).outcome == "passed"
    for number in ("FT001", "FT008"):
        assert registry[number](few_learners(["tree"])).outcome == "not applicable"
        assert registry[number](real_results(lambda *_: "crash")).outcome == "not applicable"


@pytest.mark.parametrize(
    ("skills", "sets", "outcome"),
    [
        ({"a": 0.9, "b": 0.6}, 5, "raised"),
        ({"a": 0.9, "b": 0.6}, 6, "passed"),
        ({"a": 0.9, "b": 0.8, "c": 0.6}, 5, "raised"),
        ({"a": 0.9, "b": 0.8, "c": 0.6}, 6, "passed"),
        ({f"l{i}": 0.8 for i in range(11)}, 10, "raised"),
        ({"a": 0.9, "b": 0.6}, 1, "not applicable"),
    ],
)
def test_data_sets_needed_for_a_test(skills, sets, outcome):
    assert registry["FT008"](skilled_results(skills, sets=sets)).outcome == outcome


@pytest.mark.parametrize(
    ("scores", "outcome", "rival", "removed"),
    [
        # mean ranks of a, b, c: 1.6, 1.8, 2.6; without the first data set a has 1.75 and b 1.75, without two of them b leads
        ([[3, 1, 2], [3, 2, 1], [3, 2, 1], [2, 3, 1], [2, 3, 1]], "passed", None, None),
        # a has 1.4 and b 1.6 over five data sets; without the first, which has b last, both have 1.5 and c leads nowhere
        ([[3, 1, 2], [3, 2, 1], [2, 3, 1], [2, 3, 1], [3, 2, 1]], "passed", None, None),
        # 1.6 and 1.6 are tied: no single best
        ([[3, 2, 1], [3, 2, 1], [2, 3, 1], [2, 3, 1]], "not applicable", None, None),
        # rank sums 8 and 9 of six data sets: without the first (1 and 3), b leads with 6 against 7
        ([[3, 1, 2], [3, 2, 1], [3, 2, 1], [2, 3, 1], [2, 3, 1], [2, 3, 1]], "raised", "b", ("d0",)),
    ],
)
def test_data_sets_that_decide_which_learner_is_best(scores, outcome, rival, removed):
    frame = pd.DataFrame(scores, columns=["a", "b", "c"], index=[f"d{i}" for i in range(len(scores))])
    found = registry["FT024"](compare(frame, rows="datasets"))
    assert found.outcome == outcome
    if outcome == "raised":
        assert (found.finding["rival"], found.finding["datasets"]) == (rival, removed)
        assert found.details[["data set", "a", "b"]].to_numpy().tolist() == [["d0", 3, 1]]


def test_more_data_sets_may_be_left_out_of_many():
    """At most two of 21 data sets are left out: with 11 wins of a, b then has 10 wins against 9; with 12, a still leads."""
    for wins, outcome in ((11, "raised"), (12, "passed")):
        frame = pd.DataFrame({"a": [0.9 if i < wins else 0.8 for i in range(21)], "b": 0.85, "c": 0.1})
        found = registry["FT024"](compare(frame, rows="datasets"))
        assert found.outcome == outcome
    assert registry["FT024"](compare(frame.iloc[[0, 20]], rows="datasets")).outcome == "not applicable"


@given(st.lists(st.integers(-20, 20), min_size=3, max_size=9))
def test_leaving_out_the_largest_difference_is_the_best_choice(gaps):
    """All single data sets are tried, by Wilcoxon's signed ranks."""
    from scipy.stats import rankdata

    def lead(kept):
        kept = np.array([gap for gap in kept if gap])
        return (np.sign(kept) * rankdata(np.abs(kept))).sum() if len(kept) else 0

    if lead(gaps) <= 0:
        return
    frame = pd.DataFrame({"a": 50.0 + np.array(gaps), "b": 50.0})
    changes = any(lead(gaps[:i] + gaps[i + 1 :]) < 0 for i in range(len(gaps)))
    assert registry["FT024"](compare(frame, rows="datasets")).outcome == ("raised" if changes else "passed")


def holm(p):
    order = np.argsort(p)
    steps = np.maximum.accumulate(np.minimum(1, p[order] * np.arange(len(p), 0, -1)))
    return steps[np.argsort(order)]


def test_verdicts_that_do_not_survive_their_number_are_named():
    results = real_results(names=["iris"])
    found = registry["FT015"](results)
    assert found.outcome == "raised"
    where = {"clean": None, "class-noise 0.2": "class-noise"}
    p = np.array(
        [results.verdict(m, condition=where[c]).p_value for m, c in found.details[["measure", "condition"]].to_numpy()]
    )
    assert len(p) == 4
    assert found.details["p"].to_numpy() == pytest.approx(p)
    assert found.details["p adjusted"].to_numpy() == pytest.approx(holm(p))
    assert ((p <= 0.05) & (holm(p) > 0.05)).any()


def test_clear_verdicts_and_single_ones_need_no_adjustment():
    skills = {"good": 0.95, "fair": 0.8, "poor": 0.6}
    declared = {"measures": ["accuracy", "kappa"]}
    assert registry["FT015"](skilled_results(skills, sets=12, declaration=declared)).outcome == "passed"
    assert registry["FT015"](skilled_results(skills, declaration={"measures": ["accuracy"]})).outcome == "not applicable"


@pytest.mark.parametrize(("alpha", "sets", "outcome"), [(0.01, 7, "raised"), (0.01, 8, "passed"), (0.1, 5, "passed")])
def test_how_many_data_sets_wilcoxon_needs_depends_on_the_level_of_the_study(alpha, sets, outcome):
    results = skilled_results({"a": 0.95, "b": 0.55}, sets=sets, declaration={"verdict": {"alpha": alpha}})
    found = registry["FT008"](results)
    assert found.outcome == outcome
    smallest = wilcoxon(np.arange(1.0, sets + 1), method="exact").pvalue
    assert (smallest <= alpha) == (outcome == "passed")


# --- Checks ---
# The section of checks has a row for every check, raised ones first, each with its table, reason and remedy.


@pytest.mark.parametrize("name", cases())
def test_every_check_has_a_row_and_every_raised_one_a_subsection(name):
    section = build(checks, name)
    frame = section.tables[0].frame
    assert set(frame["number"]) <= set(registry)
    raised = frame[frame["outcome"] == "raised"]
    assert raised.index.tolist() == list(range(len(raised)))
    assert [part.title.split()[0] for part in section.subsections] == raised["number"].tolist()
    assert not (frame["outcome"] == "failed to run").any()
    assert (raised["remedy"] != "").all()
    assert all(len(part.notes) == 2 and not part.sentences for part in section.subsections)


@pytest.mark.parametrize("name", cases())
def test_numbers_of_the_text_are_in_tables(name):
    assert check_numbers([build(checks, name)]) >= 1


def test_counts_are_those_of_the_outcomes():
    section = build(checks, "failures")
    frame, counts = (table.frame for table in section.tables)
    for outcome, rows in frame.groupby("outcome"):
        assert counts.loc[outcome, "checks"] == len(rows)
    assert counts.loc["all", "checks"] == len(run_checks_checks(describe_source(cases()["failures"])))
    raised = frame.loc[frame["outcome"] == "raised", "number"]
    assert section.sentences[0].text.startswith(f"{len(raised)} of {len(frame)} checks")
    assert [highlight.title.split()[0] for highlight in section.highlights] == raised.tolist()
    remedies = frame.loc[frame["outcome"] == "raised", "remedy"]
    assert all(highlight.text.endswith(remedy) for highlight, remedy in zip(section.highlights, remedies, strict=True))


def test_table_keys_are_unique_and_names_are_escaped():
    section = checks.build_section(describe_source(hostile_results()))
    keys = [table.key for table in list_tables([section])]
    assert len(set(keys)) == len(keys)
    text = render([section], "Checks")
    assert SCRIPT_CHECKS not in text
    assert IMAGE not in text


# --- Methodology ---
# Methodology checks of a judgement.


def list_raised(judgement):
    return {
        result.check.number
        for result in run_checks_methodology(describe_source(judgement))
        if result.finding.outcome == "raised"
    }


def test_constant_classifier_on_imbalanced_classes_raises_checks():
    """95 of 100 rows have the class no: always predicting no has an accuracy of 0.95."""
    truth = ["no"] * 95 + ["yes"] * 5
    table = pd.DataFrame({"truth": truth, "always": ["no"] * 100, "coin": ["no", "yes"] * 50})
    judgement = judge(table, resamples=20)
    assert {"FT002", "FT003"} <= list_raised(judgement)
    section = build_section(describe_source(judgement))
    assert any("0.95" in highlight.text or "95 %" in highlight.text for highlight in section.highlights)
    assert check_numbers([section]) > 0


def test_no_check_is_raised_without_problems():
    assert list_raised(judged("two classes")) == set()
    assert len(sections("two classes")["checks"].sentences) == 1


def test_few_data_sets_raise_a_check():
    assert "FT008" in list_raised(judged("many sets"))
