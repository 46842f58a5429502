"""The answer of a judgement: the ranking on each data set, and the comparison over data sets or splits."""

import numpy as np
import pandas as pd
import pytest

from fairtrial import judge
from fairtrial._narrative import render_ranking
from fairtrial.measures import auc, evaluate
from fairtrial.report.sections.answer import build_section, count_leads, describe_leads
from fairtrial.report.source import describe_source
from fairtrial.significance import delong
from tests.report.judgement.cases import judged, many_sets, sections, two_classes


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
    p = delong(table["truth"] == "yes", table["tree_proba"], table["rule_proba"], positive=True).p_value
    ranking = rank(table)
    assert ranking.pairs[0].p_adjusted == pytest.approx(p)
    assert p > 0.05
    assert (ranking.best, ranking.not_worse, ranking.worse) == (("tree",), ("rule",), ())


def test_equal_models_share_the_best_value():
    table = two_classes(60)[["row", "truth", "forest_proba", "tree_proba"]]
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
    turned = table.assign(forest_proba=1 - table["forest_proba"], tree_proba=1 - table["tree_proba"])

    def count_sentences(table, **options):
        return len(build_section(describe_source(judge(table, resamples=20, **options))).sentences)

    assert (count_sentences(table), count_sentences(turned), count_sentences(turned, positive="no")) == (1, 2, 1)


def test_smallest_possible_p_value_is_an_upper_bound():
    """With 60 resamples, the bootstrap has no p-value below 2 / 61."""
    judgement = judge(two_classes()[["row", "truth", "forest_proba", "tree_proba"]], measures="ks", resamples=60)
    pair = judgement.findings[0].pairs[0]
    assert pair.p_adjusted == pytest.approx(2 / 61)
    assert pair.p_is_bound
