"""The section of the verdict."""

import pandas as pd
import pytest

from fairtrial import compare
from fairtrial.report.sections import verdict
from fairtrial.report.sections.verdict import VerdictContext
from fairtrial.report.source import describe_source
from fairtrial.significance.names import get_display_name
from fairtrial.significance.posthoc import POSTHOC_METHODS
from tests.report.report_numbers import check_numbers, list_figures, list_tables
from tests.report.result_cases import build, cases, list_verdicts, skilled_results
from tests.report.test_drawn_verdicts import count_drawings


def build_section(results):
    return verdict.build_section(describe_source(results))


@pytest.mark.parametrize("name", cases())
def test_numbers_of_the_text_are_in_tables(name):
    section = build(verdict, name)
    check_numbers([section], names=["class-noise 0.2"], verdicts=list_verdicts(name))
    keys = [table.key for table in list_tables([section])] + [figure.key for figure in list_figures([section])]
    assert len(keys) == len(set(keys))


def test_ranking_separates_worse_learners_from_others():
    results = cases()["apart"]
    pairs = results.verdict().pairs().query("significant")[["first", "second"]].to_numpy()
    assert {tuple(pair) for pair in pairs} == {("good", "poor"), ("fair", "poor")}
    ranking = results.verdict().ranking
    assert (ranking.best, ranking.not_worse, ranking.worse) == (("good",), ("fair",), ("poor",))
    assert build_section(results).sentences[0].text == results.verdict().summarize()


def test_each_condition_has_a_subsection():
    section = build(verdict, "two apart")
    main, noise = VerdictContext.list_for_study(cases()["two apart"])
    assert section.sentences[0].text == main.verdict.summarize(scope=main.scope)
    assert [part.key for part in section.subsections] == ["verdict-class-noise-0-2"]
    assert section.subsections[0].sentences[0].text == noise.verdict.summarize(scope=noise.scope)


@pytest.mark.filterwarnings("ignore::fairtrial.errors.UndefinedMeasureWarning")
def test_control_is_better_or_worse_than_the_others():
    skills = {"good": 0.97, "middling": 0.8, "poor": 0.55}
    results = skilled_results(skills, sets=12, declaration={"verdict": {"control": "middling"}})
    ranking = results.verdict().ranking
    assert ranking.control == "middling"
    assert {(pair.better, pair.other) for pair in ranking.significant_pairs} == {("good", "middling"), ("middling", "poor")}


def test_figures_are_those_of_the_comparison():
    keys = [figure.key for figure in list_figures([build(verdict, "two apart")])]
    assert keys[:3] == ["verdict-critical-difference", "verdict-pairs", "verdict-simplex"]
    assert keys[3:] == ["verdict-class-noise-0-2-critical-difference"]
    assert "verdict-density" in [figure.key for figure in list_figures([build(verdict, "two learners")])]


@pytest.mark.parametrize("name", ["several", "two apart", "two learners"])
def test_only_figures_of_the_section_are_drawn(name, monkeypatch):
    calls = count_drawings(monkeypatch)
    figures = list_figures([build_section(cases()[name])])
    assert len(calls) == len(figures) > 0
    assert "ranks" not in calls  # a table has the ranks


def test_learners_without_scores_are_named():
    context = VerdictContext.list_for_study(cases()["no probabilities"])[0]
    assert any("ridge" in finding.values.values() or ("ridge",) in finding.values.values() for finding in context.exclusions)
    assert any("ridge" in sentence.text for sentence in build(verdict, "no probabilities").sentences)


def test_effect_is_that_of_the_pair_with_the_smallest_p():
    results = cases()["many classes"]
    pairs = results.verdict().pairs()
    smallest = pairs.loc[pairs["p_raw"].idxmin()]
    finding = next(finding for finding in results.verdict().findings if finding.kind.startswith("effect_size"))
    assert {finding["first"], finding["second"]} == {smallest["first"], smallest["second"]}
    assert finding["estimate"] == pytest.approx(abs(smallest["difference"]))
    assert build_section(results).tables[0].frame.loc["effect", "value"] == pytest.approx(finding["estimate"])


def test_effect_is_positive_for_the_better_learner():
    results = cases()["two apart"]
    assert results.verdict().order == ("good", "poor")
    assert build_section(results).tables[0].frame.loc["effect", "value"] == 1


@pytest.mark.parametrize("name", ["all failed", "one learner"])
def test_without_a_verdict_the_section_has_the_reason(name):
    context = VerdictContext.list_for_study(cases()[name])[0]
    assert [sentence.text for sentence in build(verdict, name).sentences] == [context.reason]


def test_scores_are_shown_once():
    assert "verdict-scores" not in [table.key for table in build(verdict, "several").tables]
    assert "verdict-scores" in [table.key for table in build(verdict, "failures").tables]


def test_choice_is_described_by_display_names():
    assert verdict.describe_choice("mine + yours") == "mine, pairs by yours"
    assert not [name for name in POSTHOC_METHODS if verdict.describe_choice(f"wilcoxon + {name}").endswith(f" by {name}")]
    assert get_display_name("correlated_t") in verdict.describe_choice("correlated_t + holm")


def test_numbers_of_a_comparison_keep_their_side_of_alpha():
    scores = {"A": [0.9, 0.8, 0.9, 0.6, 0.7, 0.8], "B": [0.8, 0.75, 0.7, 0.5, 0.64, 0.6]}
    section = verdict.build_section(describe_source(compare(pd.DataFrame(scores), alpha=0.03124999)))  # p is 2 / 2**6
    number_format = section.tables[0].formats["value"]
    assert float(number_format.format(0.03125)) > float(number_format.format(0.03124999))
