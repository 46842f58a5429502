"""Tests of `fairtrial.report.sections.answer`."""

import numpy as np
import pandas as pd
import pytest

from fairtrial import judge
from fairtrial._narrative import render_ranking
from fairtrial.errors import InputError
from fairtrial.measures import auc, evaluate
from fairtrial.report.cache import compute_verdict
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
    texts = list_texts(cases()["failures"])
    (count,) = [text for text in texts if text.startswith("Of 120 trials, ")]
    assert [text.split(":")[0] for text in texts[texts.index(count) + 1 :]] == ["FT009", "FT011"]
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
    assert build_section(source).sentences[0].text == render_ranking(ranking, "model")
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
    assert texts[1] == verdict.summarize("model", "over all splits")


def test_scores_of_the_other_class_are_noted():
    table = two_classes()[["row", "truth", "forest_proba", "tree_proba"]]
    one_turned = table.assign(tree_proba=1 - table["tree_proba"])
    turned = one_turned.assign(forest_proba=1 - table["forest_proba"])

    def list_sentences(table, **options):
        return [each.text for each in build_section(describe_source(judge(table, resamples=20, **options))).sentences]

    assert (len(list_sentences(table)), len(list_sentences(turned, positive="no"))) == (1, 1)
    _, note = list_sentences(one_turned)
    assert "tree" in note
    assert "forest" not in note
    with pytest.raises(InputError, match="positive"):
        judge(turned, resamples=20)


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
    (warning,) = [text for text in list_texts(results) if text.startswith("FT015")]
    assert f"adjusted {2 * 2 / 2**6:.3g}" in warning  # Holm: twice the p-value of six differences with the same sign
    # The text of the results has the same lines as the command line.
    answer = str(results).split("\n\n")[0]
    assert "\n! FT015: " in answer
    assert f"adjusted {2 * 2 / 2**6:.3g}" in " ".join(answer.split())
    assert "! FT015: " in results.summary().format_short()
    assert "FT015" in results._repr_html_()


def test_imbalanced_classes_are_in_the_answer_of_a_judgement_on_console_and_page():
    y_true = np.repeat(["a", "b"], [150, 50])
    table = pd.DataFrame({"id": range(200), "y_true": y_true, "tree": np.roll(y_true, 3), "rule": np.roll(y_true, 9)})
    judgement = judge(table, measures="accuracy")
    assert any(text.startswith("FT002") and "0.75" in text for text in list_texts(judgement))
    assert "75 %" in str(judgement)
    assert not any(text.startswith("FT002") for text in list_texts(judge(table, measures="kappa")))
