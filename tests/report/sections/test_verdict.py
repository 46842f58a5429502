"""The section of the verdict."""

import pytest

from fairtrial.report.page import figures_of, tables_of
from fairtrial.report.sections import verdict
from tests.report.prose import check_prose, sentences_of
from tests.report.result_cases import cases, made, skilled_results


@pytest.mark.parametrize("name", cases())
def test_every_result_has_the_section_and_its_prose_holds(name):
    found = made(verdict, name)
    check_prose([found])
    keys = [table.key for table in tables_of([found])] + [figure.key for figure in figures_of([found])]
    assert len(keys) == len(set(keys))


def test_the_leader_is_ahead_of_those_told_apart_and_not_of_the_others():
    results = cases()["apart"]
    found = verdict.section(results)
    ahead = {tuple(pair) for pair in results.verdict().pairs().query("different")[["first", "second"]].to_numpy()}
    assert ahead == {("good", "poor"), ("fair", "poor")}
    assert found.sentences[0].text == "By accuracy on clean data, good is ahead of poor; good cannot be told from fair."


def test_each_condition_has_its_part():
    found = made(verdict, "two apart")
    assert found.sentences[0].text == "By error rate on clean data, good is ahead of poor."
    assert [part.key for part in found.parts] == ["verdict-class-noise-0-2"]
    assert found.parts[0].sentences[0].text == "By error rate under class-noise 0.2, poor is ahead of good."


def test_nothing_told_apart_is_not_called_equal():
    results = skilled_results({"one": 0.8, "other": 0.8}, sets=4)
    assert results.verdict().p_value > 0.05
    told = verdict.section(results).sentences[0].text
    assert told.endswith("cannot be told apart. That does not show that they are equal.")


def test_a_control_is_what_the_others_are_compared_with():
    skills = {"good": 0.97, "middling": 0.8, "poor": 0.55}
    results = skilled_results(skills, sets=12, declaration={"verdict": {"control": "middling"}})
    told = verdict.section(results).sentences[0].text
    assert told == "By accuracy on clean data, middling is ahead of poor; good is ahead of middling."


def test_figures_are_those_of_the_comparison():
    keys = [figure.key for figure in figures_of([made(verdict, "two apart")])]
    assert keys[:4] == ["verdict-critical-difference", "verdict-ranks", "verdict-pairs", "verdict-simplex"]
    assert keys[4:] == ["verdict-class-noise-0-2-critical-difference"]
    assert "verdict-density" in [figure.key for figure in figures_of([made(verdict, "two learners")])]


def test_learners_without_scores_are_named():
    told = made(verdict, "no probabilities").sentences[0].text
    assert told.endswith("For want of scores nothing is said of ridge.")


def test_the_pair_of_the_effect_is_that_of_the_smallest_p():
    results = cases()["many classes"]
    pairs = results.verdict().pairs()
    least = pairs.loc[pairs["p_adjusted"].idxmin()]
    texts = [each.text for each in sentences_of([verdict.section(results)])]
    assert any(f"(mean difference, {least['first']} against {least['second']})" in text for text in texts)


def test_without_a_verdict_the_reason_is_a_note():
    found = made(verdict, "all failed")
    assert found.sentences[0].text == "There is no verdict on accuracy on clean data."
    assert found.notes[0].startswith("failures must not be 'exclude'")
