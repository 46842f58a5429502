"""Tests of `fairtrial.report.sections.verdict`."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, rankdata, wilcoxon

from fairtrial import compare, judge
from fairtrial.report.judgement import build_tests_frame, order_pairs_best_first, rank_judged_models
from fairtrial.report.report import build_sections as report_sections
from fairtrial.report.section import Section
from fairtrial.report.sections import pairs, ranks, verdict
from fairtrial.report.sections.pairs import build_dataset_section, build_judgement_section
from fairtrial.report.sections.verdict import (
    VerdictContext,
    build_comparisons_frame,
    build_facts_table,
    build_further_tables,
    build_learners_table,
    build_verdict_facts,
)
from fairtrial.report.source import describe_source
from fairtrial.significance import adjust, auc_test
from fairtrial.significance.names import get_display_name
from fairtrial.significance.posthoc import POSTHOC_METHODS
from tests.report.judgement.cases import judged, many_sets, sections, two_classes
from tests.report.report_numbers import check_numbers, list_figures, list_sentences, list_tables
from tests.report.result_cases import NOISE, build, cases, few_learners, list_verdicts, skilled_results
from tests.report.test_figures import count_drawings
from tests.study.archives import CLEAN

# --- Verdict ---
# The section of the verdict.


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
    section = build_section(results)
    pairs = "2 of 3 pairs of learners are significantly different: good and fair beat poor."
    assert section.sentences[0].text == f"In accuracy, {pairs}"
    first, second = section.subsections[0].sentences[:2]
    assert first.text == pairs
    assert second.text == results.verdict().summarize()


def test_each_condition_has_a_subsection():
    section = build(verdict, "two apart")
    main, noise = VerdictContext.list_for_study(cases()["two apart"])
    assert section.sentences[0].text == main.verdict.summarize(scope=main.scope)
    assert [part.key for part in section.subsections] == ["verdict-main", "verdict-class-noise-0-2"]
    assert section.subsections[1].sentences[0].text == noise.verdict.summarize(scope=noise.scope)
    assert [part.when for part in section.subsections] == [{"condition": "clean"}, {"condition": "class-noise 0.2"}]
    assert {figure.key: figure.when for figure in section.figures}["verdict-class-noise-0-2-pairs"] == section.subsections[
        1
    ].when


def test_findings_and_figures_follow_the_measure_and_the_condition():
    results = few_learners(["bayes", "tree", "near"])
    section = build_section(results)
    measures, conditions = ["accuracy", "AUC"], [condition.name for condition in results.archive.conditions]
    whens = [sentence.when for sentence in section.sentences]
    assert len(whens) == len(measures) * len(conditions)
    assert {when["measure"] for when in whens} == set(measures)
    pairs = {figure.key: figure for figure in section.figures if figure.key.endswith("-pairs")}
    for measure in ("accuracy", "auc"):
        display_name = {"accuracy": "accuracy", "auc": "AUC"}[measure]
        figure = next(each for each in pairs.values() if each.when == {"measure": display_name, "condition": "clean"})
        assert figure.title == f"Pairwise differences: {display_name}, clean"
        expected = results.wide(measure).mean()
        line = figure.frame.iloc[0]
        assert line["difference"] == pytest.approx(expected[line["first"]] - expected[line["second"]])
    others = [part for part in section.subsections if part.when["measure"] == "AUC"]
    assert all("exploratory" in part.notes[0] for part in others)


def test_finding_under_noise_is_that_of_the_noise():
    good = {"clean": 0.95, "class-noise": 0.75}
    skills = {"good": good, "fair": {"clean": 0.75, "class-noise": 0.75}, "poor": {"clean": 0.6, "class-noise": 0.75}}
    results = skilled_results(skills, sets=10, conditions=(CLEAN, NOISE))
    findings = {sentence.when["condition"]: sentence for sentence in reversed(build_section(results).sentences)}
    clean, noisy = findings["clean"], findings["class-noise 0.2"]
    significant = results.verdict(condition="class-noise", level=0.2).pairs()["significant"].sum()
    assert "good beats fair and poor" in clean.text
    assert not significant
    assert "under class-noise 0.2, no pair of learners is significantly different" in noisy.text


def test_many_alternatives_leave_only_the_measure_of_the_verdict(monkeypatch):
    monkeypatch.setattr(verdict, "MAX_ALTERNATIVES", 2)
    section = build_section(few_learners(["bayes", "tree", "near"]))
    assert all("measure" not in sentence.when for sentence in section.sentences)
    assert all("accuracy" in figure.title for figure in section.figures)


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
    assert keys[3:] == [key.replace("verdict", "verdict-class-noise-0-2") for key in keys[:3]]
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
    assert any("ridge" in sentence.text for sentence in list_sentences([build(verdict, "no probabilities")]))


def test_effect_is_that_of_the_pair_with_the_smallest_p():
    results = cases()["many classes"]
    pairs = results.verdict().pairs()
    smallest = pairs.loc[pairs["p_raw"].idxmin()]
    finding = next(finding for finding in results.verdict().findings if finding.kind.startswith("effect_size"))
    assert {finding["first"], finding["second"]} == {smallest["first"], smallest["second"]}
    assert finding["estimate"] == pytest.approx(abs(smallest["difference"]))
    assert list_tables([build_section(results)])[0].frame.loc["effect", "value"] == pytest.approx(finding["estimate"])


def test_effect_is_positive_for_the_better_learner():
    results = cases()["two apart"]
    assert results.verdict().order == ("good", "poor")
    assert list_tables([build_section(results)])[0].frame.loc["effect", "value"] == 1


@pytest.mark.parametrize("name", ["all failed", "one learner"])
def test_without_a_verdict_the_section_has_the_reason(name):
    context = VerdictContext.list_for_study(cases()[name])[0]
    assert [sentence.text for sentence in build(verdict, name).sentences] == [context.reason]


def test_scores_are_shown_once():
    assert "verdict-scores" not in [table.key for table in list_tables([build(verdict, "several")])]
    assert "verdict-scores" in [table.key for table in list_tables([build(verdict, "failures")])]


def test_figures_of_many_learners_show_the_best():
    skills = {f"learner{i:02}": 0.6 + 0.015 * i for i in range(22)}
    (figure,) = list_figures([build_section(skilled_results(skills, sets=4, declaration={"measures": ["accuracy"]}))])
    order = skilled_results(skills, sets=4).verdict("accuracy").order
    assert set(figure.frame["first"]) | set(figure.frame["second"]) == set(order[:12])


def test_pairs_that_differ_are_counted_or_the_reason_is_given():
    assert build(verdict, "several").sentences[0].text == (
        "In accuracy on clean data, with 3 data sets, no pair of learners can differ significantly."
    )
    scores = pd.DataFrame({"a": [0.9, 0.8, 0.7, 0.6] * 3, "b": [0.8, 0.9, 0.6, 0.7] * 3, "c": [0.85, 0.85, 0.65, 0.65] * 3})
    section = verdict.build_section(describe_source(compare(scores, rows="datasets")))
    assert section.sentences[0].text.startswith(
        "No pair of learners is significantly different (0 of 3, smallest adjusted p = "
    )


def test_choice_is_described_by_display_names():
    assert verdict.describe_choice("mine + yours") == "mine, pairs by yours"
    assert not [name for name in POSTHOC_METHODS if verdict.describe_choice(f"wilcoxon + {name}").endswith(f" by {name}")]
    assert get_display_name("correlated_t") in verdict.describe_choice("correlated_t + holm")


def test_numbers_of_a_comparison_keep_their_side_of_alpha():
    scores = {"A": [0.9, 0.8, 0.9, 0.6, 0.7, 0.8], "B": [0.8, 0.75, 0.7, 0.5, 0.64, 0.6]}
    comparison = compare(pd.DataFrame(scores), alpha=0.03124999, rows="datasets")  # p is 2 / 2**6
    section = verdict.build_section(describe_source(comparison))
    number_format = section.tables[0].formats["value"]
    assert float(number_format.format(0.03125)) > float(number_format.format(0.03124999))


# --- Verdict tables ---
# Tables of a verdict contain the numbers of its findings.


@pytest.mark.parametrize("name", ["several", "many classes", "two learners", "apart", "two apart", "failures", "worst rank"])
def test_every_number_of_the_findings_is_in_a_table(name):
    results = cases()[name]
    found = VerdictContext.from_study(results, results.verdict().measure, CLEAN)
    tables = (build_facts_table(found), build_learners_table(found), *build_further_tables(found))
    assert check_numbers([Section("verdict", "The verdict", found.describe(), tables=tables)]) > 0


def test_facts_are_those_of_the_test():
    results = cases()["two apart"]
    found = build_verdict_facts(results.verdict())["value"]
    wide = results.wide("error_rate")
    assert found["p"] == pytest.approx(wilcoxon(wide["poor"], wide["good"], method="exact").pvalue)
    assert (found["learners"], found["data sets"], found["significantly different"], found["comparisons"]) == (2, 8, 1, 1)
    whole = [found[f"probability that {name} is better"] for name in ("poor", "good")]
    assert sum(whole) + found["probability of practical equality"] == pytest.approx(1)
    assert found["region of practical equivalence"] == 0.01


def test_missing_verdict_has_a_reason():
    found = VerdictContext.from_study(cases()["one learner"], "accuracy", CLEAN)
    assert found.verdict is None
    assert found.reason


def test_significant_pairs_are_marked():
    verdict = cases()["apart"].verdict()
    frame = build_comparisons_frame(verdict)
    is_significant = frame.set_index(["first", "second"])["significantly different"]
    assert is_significant["good", "poor"] == "yes"
    assert np.array_equal(frame["adjusted p"] <= 0.05, frame["significantly different"] == "yes")


# --- Ranks ---
# The section of ranks.


@pytest.mark.parametrize("name", cases())
def test_section_needs_two_learners_and_its_numbers_are_in_tables(name):
    results = cases()[name]
    found = build(ranks, name)
    assert (found is None) == (len(results.archive.learners) == 1)
    if found is not None:
        check_numbers([found])


def test_measure_that_is_finite_on_few_data_sets_has_no_rank():
    results = few_learners(["bayes", "tree", "near"])
    wide = results.wide("log_loss")
    assert np.isfinite(wide).all(axis=1).sum() < len(wide) / 2
    means, left_out = ranks.compute_measure_means(results, ["accuracy", "log_loss"])
    assert (list(means.index), left_out) == (["accuracy"], ["log_loss"])
    section = ranks.build_section(describe_source(results))
    counted = next(table for table in section.tables if table.key == "ranks-means").frame["data sets"]
    assert counted["accuracy"] == len(wide)


def test_ranks_are_those_of_the_means():
    results = cases()["several"]
    table = next(each for each in list_tables([build(ranks, "several")]) if each.key == "ranks-measures").frame
    assert table.loc["accuracy"].tolist() == rankdata(-results.wide("accuracy").mean(), method="min").tolist()
    given = results.wide("brier").mean().drop("ridge")
    assert table.loc["Brier score"].drop("ridge").tolist() == rankdata(given, method="min").tolist()
    assert np.isnan(table.loc["Brier score", "ridge"])
    assert "log loss" not in table.index


def test_learners_that_rank_first_are_counted():
    frame = pd.DataFrame({"tree": [1, 2, 1], "bayes": [2, 1, 1], "rule": [3, 3, 3]}, index=["auc", "brier", "mcc"])
    facts, firsts = ranks.build_rank_facts(frame), ranks.count_firsts(frame)
    assert facts["value"].to_dict() == {"learners": 3, "measures": 3, "learners that rank first under at least one measure": 2}
    assert firsts["first under"].to_dict() == {"tree": 2, "bayes": 2, "rule": 0}


def test_infinite_measures_are_explained_and_colours_distinguish_best_and_worst():
    results = cases()["several"]
    endless = [name for name in results.wide("log_loss") if np.isinf(results.wide("log_loss")[name]).all()]
    told = ranks.explain_infinite_measures(results, ["log_loss", "accuracy"])
    assert set(told) <= {"log_loss"}
    assert all(name in told["log_loss"] for name in endless)
    shade = build(ranks, "several").figures[0].chart.to_dict()["layer"][0]["encoding"]["color"]["scale"]["range"]
    red, blue = (int(shade[0][i : i + 2], 16) - int(shade[-1][i : i + 2], 16) for i in (1, 5))
    assert red < -60 < 60 < blue


def test_undefined_values_are_not_infinite(monkeypatch):
    inf, nan = np.inf, np.nan
    columns = {"tree": [inf, inf, inf], "chi": [inf, nan, nan], "bayes": [0.4, inf, nan], "ridge": [nan, nan, nan]}
    table = pd.DataFrame(columns, index=["iris", "wine", "glass"])
    results = cases()["several"]
    monkeypatch.setattr(type(results), "wide", lambda *_: table)
    explanation = ranks.explain_infinite_measures(results, ["log_loss"])["log_loss"]
    infinite, undefined = explanation.split("undefined")
    assert "tree" in infinite
    assert "chi on iris" in infinite
    assert "bayes" not in explanation
    assert "ridge" not in explanation
    assert "wine and glass" in undefined


def test_learner_that_ranks_first_under_all_measures():
    results = skilled_results({"good": 0.95, "poor": 0.6})
    found = ranks.build_section(describe_source(results))
    assert "good" in found.sentences[0].names
    assert [number.cell.line for number in found.sentences[0].numbers] == ["measures"]
    assert "AUC" in found.notes[0]


def test_mean_rank_is_over_measures_of_all_learners():
    frame = pd.DataFrame({"tree": [1.0, 2.0], "bayes": [2.0, 1.0], "ridge": [3.0, np.nan]}, index=["auc", "brier"])
    assert ranks.compute_mean_ranks(frame).to_dict() == {"tree": 1.0, "bayes": 2.0, "ridge": 3.0}


def test_figure_has_a_tile_for_each_rank():
    results = few_learners(["bayes", "ridge"], ["iris"])
    found = ranks.build_section(describe_source(results))
    table = next(each for each in found.tables if each.key == "ranks-measures").frame
    chart = found.figures[0].chart.to_dict()
    rows = chart["datasets"][chart["data"]["name"]]
    assert len(rows) == int(table.notna().to_numpy().sum())


# --- Pairs ---


PAIRS = [("forest", "tree"), ("forest", "rule"), ("tree", "rule")]


def test_the_better_model_comes_first():
    found = judged("two classes")
    assert rank_judged_models(found, "data") == ["forest", "tree", "rule"]
    table = two_classes()[["row", "truth", "rule_proba", "forest_proba"]]
    other = judge(table, resamples=20)
    assert other.pairs["first"].unique().tolist() == ["rule"]
    frame = order_pairs_best_first(other)
    assert frame["first"].unique().tolist() == ["forest"]
    ranks = auc_test(table["truth"] == "yes", table["forest_proba"], table["rule_proba"], positive=True)
    assert frame["test"].tolist() == ["auc_test"]
    own = frame.iloc[0]
    assert [own["difference"], own["low"], own["high"]] == pytest.approx(
        [ranks.effect.estimate, ranks.effect.low, ranks.effect.high]
    )
    assert own["p_value"] == pytest.approx(ranks.p_value)


def test_p_values_are_those_of_the_tests_adjusted():
    frame, table = build_tests_frame(judged("two classes")), two_classes()
    labels = {name: (table[f"{name}_proba"] > 0.5).map({True: "yes", False: "no"}) for name in ("forest", "tree", "rule")}
    is_correct = {name: predicted == table["truth"] for name, predicted in labels.items()}
    wins = [[int((is_correct[a] & ~is_correct[b]).sum()) for a, b in (pair, pair[::-1])] for pair in PAIRS]
    raw = [binomtest(first, first + second).pvalue for first, second in wins]
    own = frame[frame["test"] == "McNemar test"].set_index(["first", "second"])
    assert [own.loc[pair, "p"] for pair in PAIRS] == pytest.approx(raw)
    assert [own.loc[pair, "adjusted p"] for pair in PAIRS] == pytest.approx(list(adjust(raw, "holm")))
    assert [own.loc[pair, "significant"] for pair in PAIRS] == ["yes", "yes", "no"]


def test_significant_pairs_are_counted():
    found = sections("two classes")["pairs"]
    assert found.sentences[0].text.startswith("2 of 3 pairs of models differ significantly in AUC")
    (described,) = [sentence for sentence in found.sentences if sentence.numbers]
    assert described.names == ("Adjusted DeLong test", "AUC")
    assert [number.value for number in described.numbers] == [3, 2, 0.05]
    counts = next(table for table in found.tables if table.key == "pairs-counts").frame
    assert counts.loc["adjusted DeLong test", "primary"] == "yes"
    assert counts.loc["McNemar test", "primary"] == "no"
    assert found.figures[0].frame[["first", "second"]].to_numpy().tolist() == [list(pair) for pair in PAIRS]


def test_only_the_primary_test_is_described():
    found = sections("many sets")["pairs"]
    assert found.tables[1].frame["test"].nunique() == 2
    for case, expected in (("many sets", ("Adjusted DeLong test", "AUC")), ("labels only", ("McNemar test", "accuracy"))):
        assert [sentence.names for sentence in sections(case)["pairs"].sentences if sentence.numbers] == [expected]


def test_pairs_that_cannot_be_decided_are_counted():
    table = pd.concat([two_classes(60).assign(dataset="large"), two_classes(5).assign(dataset="small")], ignore_index=True)
    judgement = judge(table[["dataset", "row", "truth", "forest_proba", "tree_proba"]], measures="accuracy", resamples=20)
    found = next(section for section in report_sections(judgement) if section.key == "pairs")
    frame = found.tables[1].frame.query("primary == 'yes'").set_index("data set")
    assert judgement.pairs["outcome"].tolist()[1] == frame.loc["small", "significant"] == "cannot be decided"
    assert frame["note"].tolist() == judgement.pairs["note"].tolist()
    assert found.tables[0].frame.loc["McNemar test", "undecided"] == 1
    assert any("1 cannot be decided" in sentence.text for sentence in found.sentences)


def test_one_model_has_no_pairs():
    assert build_judgement_section(describe_source(judged("one model"))) is None


def test_models_that_cannot_be_paired(tmp_path):
    path = tmp_path / "p.csv"
    long = two_classes(40).melt(["truth"], ["forest_proba", "tree_proba"], "model", "score")
    long.to_csv(path, index=False)
    found = build_judgement_section(describe_source(judge(str(path), stream=True, resamples=20)))
    assert (found.tables, len(found.sentences)) == ((), 1)


def test_title_counts_the_drawn_pairs(monkeypatch):
    source = describe_source(judged("two classes"))
    assert len(build_judgement_section(source).figures[0].frame) == 3
    monkeypatch.setattr(pairs, "_MAX_DRAWN", 2)
    assert len(build_judgement_section(source).figures[0].frame) == 2


def test_pairs_on_several_data_sets_are_drawn_by_data_set():
    figures = build_dataset_section(describe_source(judge(many_sets(8), resamples=20))).figures
    assert [figure.when["dataset"] for figure in figures] == [f"set {i}" for i in range(len(figures))]


def test_p_values_are_adjusted_over_all_data_sets():
    frame = build_tests_frame(judged("many sets"))
    for _, part in frame.groupby("test"):
        assert len(part) == 5
        assert part["adjusted p"].tolist() == pytest.approx(list(adjust(part["p"].to_numpy(), "holm")))


def test_permutation_test_has_the_interval_of_the_bootstrap():
    frame = build_tests_frame(judged("weighted"))
    assert set(frame["test"]) == {"permutation test"}
    assert ((frame["low"] < frame["difference"]) & (frame["difference"] < frame["high"])).all()
    assert frame["p at minimum"].tolist() == ["at most", "at most", ""]
