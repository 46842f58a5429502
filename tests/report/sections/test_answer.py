"""The answer: its sentences rest on the tables of the other sections, and say what the numbers say."""

import pytest

from fairtrial.report.sections import answer, data_sets, ranks, scores, verdict
from fairtrial.report.source import describe_source
from tests.report.report_numbers import check_numbers
from tests.report.result_cases import build, cases, few_learners, skilled_results
from tests.study.archives import real_results


def sections_of(name):
    found = [build(module, name) for module in (answer, scores, verdict, ranks, data_sets)]
    return [each for each in found if each is not None]


def texts(results):
    return [each.text for each in answer.build_section(describe_source(results)).sentences]


@pytest.mark.parametrize("name", cases())
def test_every_number_of_a_report_is_a_cell(name):
    assert check_numbers(sections_of(name)) > 0
    assert build(answer, name).sentences


def test_who_is_ahead_how_sure_and_whether_it_holds():
    results = cases()["two apart"]
    first, sure, elsewhere = texts(results)
    assert first.startswith("By error rate on clean data, good is ahead of poor. good has the best mean error rate, ")
    mean = results.wide("error_rate")["good"].mean()
    assert f"good has the best mean error rate, {mean:.3f}, and the best mean rank, 1.00." in first
    p = results.verdict().p_value
    test = "Wilcoxon's signed-rank test"
    assert sure.startswith(
        f"The test ({test}) over 8 data sets gives p = {p:.3g}, at most alpha 0.05. The Bayesian signed-rank"
    )
    now = results.wide("error_rate", "class-noise", 0.2)["poor"].mean()
    ahead = f"with the best mean rank, 1.00, and the best mean error rate, {now:.3f}, ahead of good."
    assert elsewhere == f"Under class-noise 0.2, poor now comes first, {ahead}"


def test_the_best_mean_and_the_best_mean_rank_may_be_of_different_learners():
    results = cases()["several"]
    assert results.wide("accuracy").mean().idxmax() == "bayes"
    assert results.verdict().mean_ranks.index[0] == "ridge"
    assert texts(results)[0].endswith("bayes has the best mean accuracy, 0.949, but ridge and near the best mean rank, 2.17.")


def test_who_comes_first_by_mean_rank_is_not_said_to_have_the_best_mean():
    results = cases()["several"]
    means = results.wide("accuracy", "class-noise", 0.2).mean()
    lead = results.verdict(condition="class-noise").order[0]
    told = texts(results)[2]
    assert (
        f"{lead} still comes first, with the best mean rank, " in told
        or f"{lead} now comes first, with the best mean rank, " in told
    )
    assert ("the best mean accuracy" in told) == (means.idxmax() == lead)


def test_data_sets_that_are_left_out_are_named_with_the_reason():
    bad = {("iris", "tree"), ("wine", "tree")}
    results = real_results(lambda dataset, _, learner, *__: "error" if (dataset, learner) in bad else None)
    first = texts(results)[0]
    assert first.startswith(
        "On cancer alone: iris and wine are left out because tree failed there. By accuracy on clean data, "
    )
    assert "Over the splits that are left, " in first
    check_numbers([answer.build_section(describe_source(results)), verdict.build_section(describe_source(results))])


def test_splits_that_have_not_run_are_counted():
    results = real_results(lambda dataset, _, __, ___, fold: "missing" if (dataset, fold) == ("wine", 2) else None)
    assert texts(results)[0].startswith("Of the 15 splits 1 is left out, for not all learners have a value there.")
    some = real_results(lambda dataset, *_: "missing" if dataset == "wine" else None)
    assert texts(some)[0].startswith("On 2 of 3 data sets: wine is left out because trials there have not run.")


def test_failures_and_what_has_not_run_are_counted():
    assert texts(cases()["failures"])[-1] == "Of 120 trials 2 failed (error), 8 have not run: what is said rests on the others."
    assert texts(cases()["all failed"])[-1] == "Of 120 trials 120 failed (crash)."
    assert answer.build_section(describe_source(cases()["several"])).tables == ()


def test_one_learner_has_its_mean_and_interval():
    results = few_learners(["tree"], ["iris"])
    told = texts(results)[0]
    assert told.startswith(
        "There is one learner, so nothing is compared. "
        f"tree has a mean accuracy of {results.wide('accuracy').iloc[0, 0]:.3f} on clean data, with an interval"
    )


def test_no_other_condition_is_said_to_be_missing():
    assert texts(cases()["apart"])[-1].startswith("No other condition was tried")


def test_the_highest_level_stands_for_a_condition():
    from fairtrial.study.archive import ConditionFacts
    from tests.study.archives import CLEAN

    levels = [ConditionFacts("class-noise", level, "", {"condition": "class-noise"}) for level in (0.3, 0.1)]
    told = texts(skilled_results({"good": 0.95, "poor": 0.6}, conditions=(CLEAN, *levels)))[-1]
    assert told.startswith("Under class-noise 0.3, good still comes first")
    assert "0.1" not in told
