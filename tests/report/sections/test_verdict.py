"""The section of the verdict."""

import numpy as np
import pandas as pd
import pytest

from fairtrial import compare
from fairtrial.report.sections import verdict
from fairtrial.report.sections.verdict import VerdictContext
from fairtrial.report.source import describe_source
from tests.report.report_numbers import check_numbers, list_figures, list_sentences, list_tables
from tests.report.result_cases import build, cases, skilled_results
from tests.report.test_drawn_verdicts import count_drawings


@pytest.mark.parametrize("name", cases())
def test_every_result_has_the_section_and_its_prose_holds(name):
    found = build(verdict, name)
    check_numbers([found], names=["class-noise 0.2"])
    keys = [table.key for table in list_tables([found])] + [figure.key for figure in list_figures([found])]
    assert len(keys) == len(set(keys))


def test_the_leader_is_ahead_of_those_told_apart_and_not_of_the_others():
    results = cases()["apart"]
    found = verdict.build_section(describe_source(results))
    ahead = {tuple(pair) for pair in results.verdict().pairs().query("significant")[["first", "second"]].to_numpy()}
    assert ahead == {("good", "poor"), ("fair", "poor")}
    assert found.sentences[0].text == "By accuracy on clean data, good is ahead of poor; good cannot be told from fair."


def test_each_condition_has_its_part():
    found = build(verdict, "two apart")
    assert found.sentences[0].text == "By error rate on clean data, good is ahead of poor."
    assert [part.key for part in found.subsections] == ["verdict-class-noise-0-2"]
    assert found.subsections[0].sentences[0].text == "By error rate under class-noise 0.2, poor is ahead of good."


def test_nothing_told_apart_is_not_called_equal():
    results = skilled_results({"one": 0.8, "other": 0.8}, sets=4)
    assert results.verdict().p_value > 0.05
    told = verdict.build_section(describe_source(results)).sentences[0].text
    assert told.endswith("cannot be told apart. That does not show that they are equal.")


def test_a_control_is_what_the_others_are_compared_with():
    skills = {"good": 0.97, "middling": 0.8, "poor": 0.55}
    results = skilled_results(skills, sets=12, declaration={"verdict": {"control": "middling"}})
    told = verdict.build_section(describe_source(results)).sentences[0].text
    assert told == "By accuracy on clean data, middling is ahead of poor; good is ahead of middling."


def test_figures_are_those_of_the_comparison():
    keys = [figure.key for figure in list_figures([build(verdict, "two apart")])]
    assert keys[:3] == ["verdict-critical-difference", "verdict-pairs", "verdict-simplex"]
    assert keys[3:] == ["verdict-class-noise-0-2-critical-difference"]
    assert "verdict-density" in [figure.key for figure in list_figures([build(verdict, "two learners")])]


@pytest.mark.parametrize("name", ["several", "two apart", "two learners"])
def test_no_figure_is_drawn_that_the_section_does_not_show(name, monkeypatch):
    calls = count_drawings(monkeypatch)
    shown = list_figures([verdict.build_section(describe_source(cases()[name]))])
    assert len(calls) == len(shown) > 0
    assert "ranks" not in calls  # a table has the ranks


def test_learners_without_scores_are_named():
    told = build(verdict, "no probabilities").sentences[0].text
    assert told.endswith("For want of scores nothing is said of ridge.")


def test_the_pair_of_the_effect_is_that_of_the_smallest_p():
    results = cases()["many classes"]
    pairs = results.verdict().pairs()
    least = pairs.loc[pairs["p_raw"].idxmin()]
    ahead, behind = (least["first"], least["second"])[:: 1 if least["difference"] > 0 else -1]
    texts = [each.text for each in list_sentences([verdict.build_section(describe_source(results))])]
    told = f"(mean difference, {ahead} over {behind}) is {abs(least['difference']):.3g}, "
    assert any(told in text and "the pair with the smallest p" in text for text in texts)


def test_an_effect_is_positive_in_favour_of_the_one_ahead():
    results = cases()["two apart"]
    assert results.verdict().order == ("good", "poor")
    texts = [each.text for each in verdict.build_section(describe_source(results)).sentences]
    assert any("(rank biserial correlation, good over poor) is 1" in text for text in texts)


def test_without_a_verdict_the_reason_is_said_plainly():
    found = build(verdict, "all failed").sentences[0].text
    assert found == "There is no verdict on accuracy on clean data. No trial succeeded, so there is nothing to judge."
    alone = build(verdict, "one learner").sentences[0].text
    assert alone == "There is no verdict on accuracy on clean data. There is one learner, so nothing is compared."


def test_p_below_alpha_without_a_pair_apart_is_resolved_in_one_breath():
    rng = np.random.default_rng(1)
    for _ in range(300):
        table = pd.DataFrame(rng.normal([0, 0.1, 0.2, 0.9], size=(12, 4)), columns=list("abcd"))
        found = compare(table, posthoc="nemenyi")
        if found.p_value <= 0.05 and all(p > 0.05 for *_, p in found.comparisons):
            break
    told = VerdictContext.from_scores(found).describe_finding("score").text
    assert told.endswith("are not all equally good, but the data do not suffice to say which of them differ.")


def test_two_learners_without_a_rope_are_told_what_a_bayesian_test_needs():
    texts = [each.text for each in build(verdict, "one split").sentences]
    assert any("needs a region of practical equivalence ([verdict] rope)" in text for text in texts)
    assert not any("rope" in each.text for each in build(verdict, "two apart").sentences)


def test_scores_are_shown_once():
    keys = [table.key for table in build(verdict, "several").tables]
    assert "verdict-scores" not in keys
    assert "verdict-scores" in [table.key for table in build(verdict, "failures").tables]
