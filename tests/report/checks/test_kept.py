"""What checks ask for together is right, and computed once."""

from dataclasses import replace

import numpy as np

from fairtrial.report import cache
from fairtrial.report.checks import measures, resampling
from fairtrial.report.selection import get_main_condition
from fairtrial.study import Results
from fairtrial.study.archive import ConditionFacts, LearnerFacts
from tests.report.checks.made_results import changed, halves, labelled, of_a_file
from tests.study.archives import real_archive, real_results


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
