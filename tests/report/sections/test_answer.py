"""The answer of a study: verdicts under its conditions, what was left out, and trials that did not succeed."""

import pytest

from fairtrial.report.sections import answer, data_sets, ranks, scores, verdict
from fairtrial.report.sections.verdict import VerdictContext
from fairtrial.report.source import describe_source
from fairtrial.study.archive import ConditionFacts
from tests.report.report_numbers import check_numbers
from tests.report.result_cases import build, cases, few_learners, list_verdicts, skilled_results
from tests.study.archives import CLEAN, real_results


def build_answer(results):
    return answer.build_section(describe_source(results))


def list_texts(results):
    return [sentence.text for sentence in build_answer(results).sentences]


@pytest.mark.parametrize("name", cases())
def test_numbers_of_the_answer_are_in_tables(name):
    sections = [build(module, name) for module in (answer, scores, verdict, ranks, data_sets)]
    assert check_numbers([section for section in sections if section is not None], verdicts=list_verdicts(name)) > 0
    assert build(answer, name).sentences


def test_answer_has_the_verdict_under_each_condition():
    results = cases()["two apart"]
    main, noise = VerdictContext.list_for_study(results)
    assert (main.verdict.order, noise.verdict.order) == (("good", "poor"), ("poor", "good"))
    texts = list_texts(results)
    assert texts[0] == main.verdict.summarize(scope=main.scope)
    assert texts[-1] == noise.verdict.summarize(scope=noise.scope)


def test_excluded_data_sets_are_named():
    failing = {("iris", "tree"), ("wine", "tree")}
    results = real_results(lambda dataset, _, learner, *__: "error" if (dataset, learner) in failing else None)
    main = VerdictContext.list_for_study(results)[0]
    excluded = {finding.kind: finding for finding in main.exclusions}["failed_datasets_excluded"]
    assert set(excluded["datasets"]) == {"iris", "wine"}
    assert main.basis.datasets == ("cancer",)
    assert any("iris" in text and "wine" in text for text in list_texts(results))
    check_numbers([build_answer(results), verdict.build_section(describe_source(results))])


def test_missing_splits_and_data_sets_are_counted():
    results = real_results(lambda dataset, _, __, ___, fold: "missing" if (dataset, fold) == ("wine", 2) else None)
    basis = VerdictContext.list_for_study(results)[0].basis
    assert (basis.splits, basis.splits_left_out, basis.left_out) == (15, 1, ())
    basis = VerdictContext.list_for_study(real_results(lambda dataset, *_: "missing" if dataset == "wine" else None))[0].basis
    assert basis.left_out == ("wine",)


def test_trials_that_failed_or_have_not_run_are_counted():
    (table,) = build_answer(cases()["failures"]).tables
    assert table.frame["trials"].to_dict() == {"succeeded": 110, "error": 2, "not run": 8, "all": 120}
    assert list_texts(cases()["failures"])[-1].startswith("Of 120 trials, ")
    (table,) = build_answer(cases()["all failed"]).tables
    assert table.frame["trials"].to_dict() == {"crash": 120, "all": 120}
    assert build_answer(cases()["several"]).tables == ()


def test_single_learner_has_its_mean():
    results = few_learners(["tree"], ["iris"])
    assert f"{results.wide('accuracy').iloc[0, 0]:.3f}" in list_texts(results)[1]


def test_highest_level_represents_a_condition():
    levels = [ConditionFacts("class-noise", level, "", {"condition": "class-noise"}) for level in (0.3, 0.1)]
    results = skilled_results({"good": 0.95, "poor": 0.6}, conditions=(CLEAN, *levels))
    assert "class-noise 0.3" in list_texts(results)[-1]
    assert not any("class-noise 0.1" in text for text in list_texts(results))
