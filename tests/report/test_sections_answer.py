"""Tests of `fairtrial.report.sections.answer`."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairtrial import compare, gate, judge
from fairtrial._narrative import render_headline
from fairtrial._text import format_p_value
from fairtrial.errors import InputError
from fairtrial.measures import auc, evaluate
from fairtrial.report.cache import compute_verdict
from fairtrial.report.report import build_sections
from fairtrial.report.sections import answer, checks, data_sets, ranks, scores, verdict
from fairtrial.report.sections.answer import build_section, count_leads, describe_leads
from fairtrial.report.sections.verdict import VerdictContext, compute_basis
from fairtrial.report.source import describe_source
from fairtrial.significance import auc_test
from fairtrial.study.archive import ConditionFacts
from tests.report.judgement.cases import judged, many_sets, sections, two_classes
from tests.report.report_numbers import check_numbers
from tests.report.result_cases import NOISE, build, cases, few_learners, list_verdicts, skilled_results
from tests.study.archives import CLEAN, real_results

# --- Answer ---
# The answer of a study: verdicts under its conditions, what was left out, and trials that did not succeed.


def build_answer(results):
    return answer.build_section(describe_source(results))


def list_texts(results):
    return [sentence.text for sentence in build_answer(results).sentences]


@pytest.mark.parametrize("name", cases())
def test_numbers_of_the_answer_are_in_tables(name):
    sections = [build(module, name) for module in (answer, scores, verdict, ranks, data_sets, checks)]
    assert check_numbers([section for section in sections if section is not None], verdicts=list_verdicts(name)) > 0
    assert build(answer, name).sentences


def list_titles(results):
    return [highlight.title for highlight in build_answer(results).highlights]


def test_answer_has_the_verdict_and_what_changes_under_noise():
    results = cases()["two apart"]
    main, noise = VerdictContext.list_for_study(results)
    assert (main.verdict.order, noise.verdict.order) == (("good", "poor"), ("poor", "good"))
    texts = list_texts(results)
    assert texts[0] == main.verdict.summarize(scope=main.scope)
    p = f"p = {2 / 2**8:.2g}"  # the Wilcoxon test of eight differences with the same sign
    assert texts[2] == (
        f"Under class-noise 0.2, poor ranks first and good ranks second; the difference between the two is significant ({p})."
    )


@pytest.mark.parametrize("name", cases())
def test_answer_has_at_most_three_texts(name):
    assert 1 <= len(list_texts(cases()[name])) <= 3


def test_kept_rank_is_reported():
    skills = {"good": {"clean": 0.95, "class-noise": 0.9}, "poor": {"clean": 0.6, "class-noise": 0.55}}
    results = skilled_results(skills, conditions=(CLEAN, NOISE), declaration={"measures": ["accuracy"]})
    assert list_texts(results)[-1] == "good also ranks first under class-noise 0.2."


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("apart", ["answer-critical-difference", "answer-means"]),
        ("two apart", ["answer-differences", "answer-wins"]),
        ("two learners", ["answer-differences", "answer-density"]),
        ("many classes", ["answer-means", "answer-differences"]),
        ("one learner", ["answer-means"]),
        ("all failed", []),
    ],
)
def test_headline_figures_depend_on_learners_and_data_sets(name, keys):
    assert [figure.key for figure in build_answer(cases()[name]).figures] == keys


def test_intervals_of_the_headline_figures_are_t_intervals():
    wide = cases()["apart"].wide("accuracy")
    means = build_answer(cases()["apart"]).figures[1].frame.set_index("learner")
    for name, values in wide.items():
        low, high = stats.t.interval(0.95, len(values) - 1, values.mean(), values.sem())
        assert means.loc[name, ["estimate", "low", "high"]].tolist() == pytest.approx([values.mean(), low, min(high, 1)])
    assert means["shaded"].to_dict() == {"good": True, "fair": True, "poor": False}
    wide = cases()["two apart"].wide("error_rate")
    difference = build_answer(cases()["two apart"]).figures[0].frame.iloc[0]
    differences = np.sort(wide["poor"] - wide["good"])
    averages = np.sort([(one + other) / 2 for i, one in enumerate(differences) for other in differences[i:]])
    assert difference["estimate"] == pytest.approx(np.median(averages))
    # With 8 differences, the fourth smallest and the fourth largest average are the 95 % limits (Hollander and Wolfe 1999).
    assert (difference["low"], difference["high"]) == pytest.approx((averages[3], averages[-4]))
    assert difference["p"] == pytest.approx(stats.wilcoxon(wide["poor"], wide["good"], method="exact").pvalue)


def test_interval_of_two_learners_agrees_with_the_wilcoxon_test():
    old = np.linspace(0.6, 0.8, 12)
    gains = np.array([0.004, 0.005, 0.006, 0.007, 0.008, 0.009, 0.01, 0.011, 0.012, 0.013, 0.014, 0.3])
    section = build_answer(compare(pd.DataFrame({"new": old + gains, "old": old}), rows="datasets", measure="accuracy"))
    assert stats.ttest_1samp(gains, 0).confidence_interval().low < 0  # the t interval contradicts p < 0.001
    assert "p < 0.001" in section.sentences[0].text
    averages = np.sort([(one + other) / 2 for i, one in enumerate(gains) for other in gains[i:]])
    low, high = averages[13], averages[-14]  # the table of the signed-rank test has 13 for n = 12 and 0.05
    assert section.figures[0].frame.iloc[0][["low", "high"]].tolist() == pytest.approx([-high, -low])
    assert f"95 % CI {low:.3g} to {high:.3g}" in section.sentences[1].text
    assert "The differences are strongly asymmetric" in [highlight.title for highlight in section.highlights]


def test_certainty_of_a_rank_test_is_a_difference_of_mean_ranks():
    results = cases()["apart"]
    mean_ranks = results.wide("accuracy").rank(axis=1, ascending=False).mean()
    text = build_answer(results).sentences[1].text
    assert text.startswith(
        f"The mean rank of good is {mean_ranks['fair'] - mean_ranks['good']:.3g} better than that of fair (adjusted p = "
    )
    assert f"and {mean_ranks['poor'] - mean_ranks['good']:.3g} better than that of poor (adjusted p " in text
    assert text.count("data sets") == 1


def test_data_of_the_critical_difference_diagram_are_ranks_and_groups():
    section = build_answer(cases()["apart"])
    frame = section.figures[0].frame
    assert list(frame.columns) == ["learner", "mean rank", "group"]
    shared = set(frame["group"].iloc[0].split()) & set(frame["group"].iloc[1].split())
    assert shared
    assert not shared & set(frame["group"].iloc[2].split())
    assert section.figures[0].title == "Critical-difference diagram: accuracy"


def test_answer_of_a_comparison_has_figures_and_what_was_left_out():
    scores = pd.DataFrame({"a": [0.9, 0.8, 0.9, 0.7], "b": [0.8, 0.7, np.nan, 0.6], "c": [0.7, 0.75, 0.7, 0.5]})
    section = build_answer(compare(scores, rows="datasets", measure="accuracy"))
    assert [figure.key for figure in section.figures] == ["answer-critical-difference", "answer-means"]
    assert ["Left out 1 data set" in highlight.title for highlight in section.highlights] == [True]


def test_excluded_data_sets_are_named():
    failing = {("iris", "tree"), ("wine", "tree")}
    results = real_results(lambda dataset, _, learner, *__: "error" if (dataset, learner) in failing else None)
    main = VerdictContext.list_for_study(results)[0]
    excluded = {finding.kind: finding for finding in main.exclusions}["failed_datasets_excluded"]
    assert set(excluded["datasets"]) == {"iris", "wine"}
    assert main.basis.datasets == ("cancer",)
    assert any("iris" in title and "wine" in title for title in list_titles(results))
    check_numbers([module.build_section(describe_source(results)) for module in (answer, verdict, checks)])


def test_missing_splits_and_data_sets_are_counted():
    results = real_results(lambda dataset, _, __, ___, fold: "missing" if (dataset, fold) == ("wine", 2) else None)
    basis = VerdictContext.list_for_study(results)[0].basis
    assert (basis.splits, basis.splits_left_out, basis.left_out) == (15, 1, ())
    basis = VerdictContext.list_for_study(real_results(lambda dataset, *_: "missing" if dataset == "wine" else None))[0].basis
    assert basis.left_out == ("wine",)


def test_trials_that_failed_or_have_not_run_are_counted():
    (table,) = build_answer(cases()["failures"]).tables
    assert table.frame["trials"].to_dict() == {"succeeded": 110, "error": 2, "not run": 8, "all": 120}
    titles = list_titles(cases()["failures"])
    assert titles[0] == "Of 120 trials, 2 failed (error) and 8 did not run"
    assert [title.split()[0] for title in titles[-2:]] == ["FT009", "FT011"]
    (table,) = build_answer(cases()["all failed"]).tables
    assert table.frame["trials"].to_dict() == {"crash": 120, "all": 120}
    assert build_answer(cases()["several"]).tables == ()


def test_single_learner_has_its_mean():
    results = few_learners(["tree"], ["iris"])
    assert f"{results.wide('accuracy').iloc[0, 0]:.3f}" in list_texts(results)[0]


def test_highest_level_represents_a_condition():
    levels = [ConditionFacts("class-noise", level, "", {"condition": "class-noise"}) for level in (0.3, 0.1)]
    results = skilled_results({"good": 0.95, "poor": 0.6}, conditions=(CLEAN, *levels))
    assert "class-noise 0.3" in list_texts(results)[-1]
    assert not any("class-noise 0.1" in text for text in list_texts(results))


# --- Basis ---
# Data sets and splits that a verdict is computed from.


@pytest.mark.parametrize("policy", ["exclude", "worst-rank"])
def test_failures_exclude_a_data_set_only_if_declared(policy):
    results = real_results(
        lambda dataset, _, learner, __, fold: "error" if (dataset, learner, fold) == ("iris", "tree", 1) else None,
        declaration={"verdict": {"failures": policy}},
    )
    basis = compute_basis(results, results.verdict(), "accuracy", CLEAN)
    if policy == "exclude":
        assert basis.left_out == ("iris",)
        assert set(basis.datasets) == {"cancer", "wine"}
    else:
        assert basis.facts() == {}


def test_complete_study_leaves_nothing_out():
    results = real_results()
    basis = compute_basis(results, results.verdict(), "accuracy", CLEAN)
    assert (len(basis.datasets), basis.splits, basis.left_out, basis.facts()) == (3, 15, (), {})


# --- No verdict ---
# Why there is no verdict.


def explain(results, *args):
    verdict, reason = compute_verdict(results, *args)
    assert verdict is None
    return reason


def test_each_cause_has_its_own_reason():
    only_tree = real_results(lambda _, __, learner, *___: None if learner == "tree" else "error")
    failing_tree = real_results(lambda _, __, learner, ___, fold: "error" if (learner, fold) == ("tree", 0) else None)
    reasons = [
        explain(few_learners(["tree"])),
        explain(real_results(lambda *_: "crash")),
        explain(real_results(lambda *_: "missing")),
        explain(only_tree),
        explain(failing_tree),
    ]
    assert len(set(reasons)) == 5
    assert "tree" in reasons[3]
    assert "(tree)" in reasons[4]
    assert "failures" in reasons[4]


def test_infinite_values_are_a_reason():
    results = real_results()
    assert "infinite" in explain(results, "log_loss")


# --- Answer ---
# The answer of a judgement: the ranking on each data set, and the comparison over data sets or splits.


def rank(table, **options):
    """Judge predictions of one data set and return the ranking of the answer."""
    source = describe_source(judge(table, resamples=20, **options))
    (ranking,) = source.rankings
    assert build_section(source).sentences[0].text == render_headline(ranking, "model")
    return ranking


def test_ranking_is_by_the_main_measure():
    (ranking,), table = judged("labels only").findings, two_classes()
    accuracies = {name: np.mean((table[f"{name}_proba"] > 0.5) == (table["truth"] == "yes")) for name in ("forest", "tree")}
    assert dict(zip(ranking.names, ranking.values, strict=True)) == pytest.approx(accuracies)
    assert ranking.pairs[0].difference == pytest.approx(accuracies["forest"] - accuracies["tree"])
    assert (ranking.best, ranking.worse) == (("forest",), ("tree",))


def test_interval_of_a_single_model_is_that_of_evaluate():
    table = two_classes(spreads=(("only", 0.8),))
    interval = evaluate((table["truth"] == "yes").astype(int), y_score=table["only_proba"], measures=["auc"]).intervals[0]
    ranking = rank(table)
    assert ranking.values == pytest.approx([interval.estimate])
    assert ranking.interval == pytest.approx((interval.low, interval.high))
    assert ranking.chance == 0.5


def test_model_without_a_significant_difference_is_not_worse():
    table = two_classes()[["row", "truth", "tree_proba", "rule_proba"]]
    p = auc_test(table["truth"] == "yes", table["tree_proba"], table["rule_proba"], positive=True).p_value
    ranking = rank(table)
    assert ranking.pairs[0].p_adjusted == pytest.approx(p)
    assert p > 0.05
    assert (ranking.best, ranking.not_worse, ranking.worse) == (("tree",), ("rule",), ())


def test_equal_models_share_the_best_value():
    table = two_classes()[["row", "truth", "forest_proba", "tree_proba"]]
    ranking = rank(table.assign(twin_proba=table["forest_proba"]))
    assert ranking.best == ("forest", "twin")
    assert ranking.worse == ("tree",)


def test_models_may_change_order_on_the_common_rows():
    """The first model is better over all rows, but worse on those that the second predicts."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 400)
    early = np.arange(400) < 100
    first = np.where(early & (rng.random(400) < 0.4), 1 - truth, truth)
    rows = pd.DataFrame({"row": np.arange(400), "truth": truth})
    second = np.where(np.arange(400) % 7 == 0, 1 - truth, truth)
    assert (first == truth).mean() > (second == truth)[early].mean() > (first == truth)[early].mean()
    long = pd.concat([rows.assign(model="a", prediction=first), rows[early].assign(model="b", prediction=second[early])])
    ranking = rank(long.reset_index(drop=True))
    assert ranking.names == ("a", "b")
    assert ranking.pairs[0].is_reversed


def test_leads_are_counted_over_data_sets():
    table, wins = many_sets(), 0
    for _, rows in table.groupby("dataset"):
        values = {name: auc(rows["truth"] == "yes", rows[f"{name}_proba"]) for name in ("forest", "tree")}
        wins += values["forest"] > values["tree"]
    assert count_leads(judged("many sets")).loc["forest", "best"] == wins
    assert f"{wins} of 5 data sets" in describe_leads(judged("many sets"))[0]
    assert sections("many sets")["answer"].tables[0].frame.loc["forest", "best"] == wins


def test_comparison_over_splits_follows_the_ranking():
    texts = [sentence.text for sentence in sections("folded")["answer"].sentences]
    verdict = judged("folded").verdict
    assert verdict.unit == "split"
    assert texts[2] == verdict.summarize("model", "over all splits")
    assert len(texts) == 3


def test_scores_of_the_other_class_are_noted():
    table = two_classes()[["row", "truth", "forest_proba", "tree_proba"]]
    one_turned = table.assign(tree_proba=1 - table["tree_proba"])
    turned = one_turned.assign(forest_proba=1 - table["forest_proba"])

    def list_titles(table, **options):
        return [each.title for each in build_section(describe_source(judge(table, resamples=20, **options))).highlights]

    assert (list_titles(table), list_titles(turned, positive="no")) == ([], [])
    assert list_titles(one_turned) == ["The AUC of tree is below chance"]
    with pytest.raises(InputError, match="positive"):
        judge(turned, resamples=20)


def test_the_answer_states_the_ranking_then_its_certainty():
    (ranking,), texts = judged("two classes").findings, [each.text for each in sections("two classes")["answer"].sentences]
    assert texts[0].startswith("forest has the highest AUC (")
    assert texts[0].endswith(" It beats tree and rule.")
    assert "%" not in texts[0]
    pair = ranking.find_pair("forest", ranking.names[1])
    certainty = f"The AUC of forest is {pair.difference:.3g} higher than that of {ranking.names[1]} (simultaneous 95 % CI "
    assert texts[1].startswith(f"{certainty}{pair.low:.3g} to ")
    assert texts[1].endswith("adjusted DeLong test, Holm over 3 pairs, 160 rows).")
    assert len(texts) == 2, "a gap that is not significant is not part of the answer"


def test_the_figures_of_the_answer_are_the_values_and_the_differences_from_the_best():
    table = two_classes()
    values = {name: auc(table["truth"] == "yes", table[f"{name}_proba"]) for name in ("forest", "tree", "rule")}
    ranked = sorted(values, key=values.get, reverse=True)
    forest, differences = sections("two classes")["answer"].figures
    assert (forest.title, forest.size, differences.title, differences.size) == (
        "AUC",
        "half",
        "Difference in AUC from forest",
        "half",
    )
    assert forest.frame["label"].tolist() == ranked
    assert forest.frame["estimate"].tolist() == pytest.approx([values[name] for name in ranked])
    assert differences.frame["label"].tolist() == ranked[1:]
    assert differences.frame["estimate"].tolist() == pytest.approx([values[name] - values["forest"] for name in ranked[1:]])
    assert (differences.frame["low"] < differences.frame["high"]).all()
    p = judged("two classes").pairs.set_index(["first", "second"])["p_adjusted"]
    assert differences.frame["text"].tolist() == [format_p_value(p["forest", name]) for name in ranked[1:]]
    assert all(name in differences.alt for name in ranked[1:])


def test_models_that_are_not_significantly_worse_are_shaded():
    table = two_classes().assign(twin_proba=lambda frame: (0.98 * frame["forest_proba"] + 0.01 * frame["tree_proba"]).round(4))
    judgement = judge(table, resamples=20, measures="auc")
    (ranking,) = judgement.findings
    forest = build_section(describe_source(judgement)).figures[0]
    assert ranking.not_worse
    assert set(forest.frame[forest.frame["shaded"]]["label"]) == {*ranking.best, *ranking.not_worse}
    assert "shaded" in forest.chart.to_dict()["title"]["subtitle"][0]


def test_twelve_of_many_models_are_drawn():
    spreads = tuple((f"m{number}", 0.5 + number / 4) for number in range(14))
    judgement = judge(two_classes(100, spreads=spreads), measures="auc", resamples=20)
    answer = build_section(describe_source(judgement))
    (ranking,), (forest, differences) = judgement.findings, answer.figures
    assert forest.frame["label"].tolist() == list(ranking.names[:12])
    assert "the 12 best of 14 models" in forest.chart.to_dict()["title"]["subtitle"][0]
    assert len(differences.frame) == 11
    assert len(answer.sentences[0].text.split()) < 30, "a headline names few models"


def test_one_model_has_a_forest_of_its_measures():
    (figure,) = sections("one model")["answer"].figures
    table = two_classes()
    assert figure.frame["label"].iloc[0] == "AUC"
    assert figure.frame["estimate"].iloc[0] == pytest.approx(auc(table["truth"] == "yes", table["forest_proba"]))
    assert len(figure.frame) == 6


def test_each_data_set_has_a_forest_and_the_verdict_leads():
    answer = sections("many sets")["answer"]
    assert [figure.when["dataset"] for figure in answer.figures if figure.key.startswith("answer-forest")] == [
        f"set {number}" for number in range(5)
    ]
    assert not answer.figures[0].when
    assert sections("many sets")["answer"].sentences[0].text.startswith("Over all data sets, ")
    keys = list(sections("many sets"))
    assert keys.index("verdict") < keys.index("pairs")


def test_a_significant_gap_in_the_main_measure_is_the_third_sentence():
    table = two_classes(400)
    wrong = table["sex"] == "m"
    table.loc[wrong, "forest_proba"] = 1 - table.loc[wrong, "forest_proba"]
    texts = [each.text for each in build_section(describe_source(judge(table, resamples=20))).sentences]
    assert "AUC differs significantly between a subgroup and the rest: sex = m (forest, -0." in texts[2]


def test_smallest_possible_p_value_is_an_upper_bound():
    """With 12,000 permutations, there is no p-value below 1 / 12,001."""
    judgement = judge(two_classes()[["row", "truth", "forest_proba", "tree_proba"]], measures="ks", resamples=12_000)
    pair = judgement.findings[0].pairs[0]
    assert pair.p_adjusted == pytest.approx(1 / 12_001)
    assert pair.p_is_bound


def test_a_check_that_changes_the_conclusion_is_in_the_answer():
    skills = {"a": {"clean": 0.95, "class-noise": 0.8}, "b": {"clean": 0.6, "class-noise": 0.8}}
    results = skilled_results(skills, sets=6, conditions=(CLEAN, NOISE), declaration={"measures": ["accuracy"]})
    (p_noise,) = [context.verdict.p_value for context in VerdictContext.list_for_study(results)[1:]]
    assert p_noise >= 2 / 2**6, "the smallest p-value of six data sets"
    (badge,) = [highlight for highlight in build_answer(results).highlights if highlight.title.startswith("FT015")]
    assert badge.section == "checks"
    (warning,) = checks.build_section(describe_source(results)).highlights[:1]
    assert (
        f"{2 * 2 / 2**6:.3g} after adjustment" in warning.text
    )  # Holm: twice the p-value of six differences with the same sign
    # The text of the results has the same lines as the command line.
    answer = str(results).split("\n\n")[0]
    assert "\n! FT015: " in answer
    assert f"{2 * 2 / 2**6:.3g} after adjustment" in " ".join(answer.split())
    assert "! FT015: " in results.summary().format_short()
    assert "FT015" in results._repr_html_()


def test_imbalanced_classes_are_in_the_answer_of_a_judgement_on_console_and_page():
    y_true = np.repeat(["a", "b"], [150, 50])
    table = pd.DataFrame({"id": range(200), "y_true": y_true, "tree": np.roll(y_true, 3), "rule": np.roll(y_true, 9)})
    judgement = judge(table, measures="accuracy")
    titles = [(each.title, each.section) for each in build_answer(judgement).highlights]
    assert titles == [("FT002 Accuracy on imbalanced data", "checks")]
    assert "75 %" in str(judgement)
    assert build_answer(judge(table, measures="kappa")).highlights == ()


def test_gate_has_a_figure_for_each_measure_and_says_how_it_was_done():
    rng = np.random.default_rng(0)
    y_true = rng.integers(0, 2, 400)
    old = 1 / (1 + np.exp(1 - 2 * (y_true + rng.normal(0, 1, 400))))
    table = pd.DataFrame({"y_true": y_true, "old": old, "new": np.clip(old + rng.normal(0, 0.02, 400), 0.001, 0.999)})
    result = gate(table, candidate="new", baseline="old", margin={"auc": 0.05, "brier": 0.05})
    found = {section.key: section for section in build_sections(result)}
    assert [figure.key for figure in found["answer"].figures] == ["gate-margins-auc", "gate-margins-brier"]
    for figure, measure in zip(found["answer"].figures, ("auc", "brier"), strict=True):
        assert figure.frame["measure"].tolist() == [measure]
    assert found["answer"].sentences[0].text.startswith("The gate passes. new is ")
    assert [table.key for table in found["comparison"].tables] == ["gate-decisions", "gate-tests"]
    assert (found["predictions"].question, found["references"].question) == ("how", "how")
    assert "400 rows" in found["predictions"].sentences[0].text


def test_comparison_says_how_it_was_done():
    scores = pd.DataFrame({"a": [0.9, 0.8, 0.9, 0.7], "b": [0.8, 0.9, 0.7, 0.6], "c": [0.7, 0.6, 0.7, 0.8]})
    found = {section.key: section for section in build_sections(compare(scores, rows="datasets"))}
    assert "3 learners on 4 data sets: Friedman test" in found["setup"].sentences[0].text
