import numpy as np
import pandas as pd
import pytest

from fairtrial import judge
from fairtrial.measures import auc, evaluate
from fairtrial.report.sections.answer import build_judgement_section, count_leads
from fairtrial.report.source import describe_source
from fairtrial.significance import delong
from tests.report.judgement.cases import judged, many_sets, sections, text_of, two_classes


def test_one_data_set_the_best_and_whom_it_is_ahead_of():
    told, table = text_of(sections("labels only")["answer"]), two_classes()
    right = np.mean((table["forest_proba"] > 0.5) == (table["truth"] == "yes"))
    assert told.startswith(f"forest has the best accuracy, {right:.4g}, with a 95 % interval from ")
    other = np.mean((table["tree_proba"] > 0.5) == (table["truth"] == "yes"))
    assert f"It is ahead of tree (difference {right - other:.4g}, interval from " in told
    assert told.endswith("This is by McNemar's test at alpha 0.05.")


def test_the_interval_is_that_of_evaluate():
    table = two_classes()
    only = evaluate((table["truth"] == "yes").astype(int), y_score=table["forest_proba"], measures=["auc"]).intervals[0]
    told = text_of(sections("two classes")["answer"])
    assert f"forest has the best auc, {only.estimate:.4g}, with a 95 % interval from {only.low:.4g} to {only.high:.4g}." in told


def test_what_cannot_be_told_apart_is_not_said_to_be_ahead():
    table = two_classes()[["row", "truth", "tree_proba", "rule_proba"]]
    found = build_judgement_section(describe_source(judge(table, resamples=20)))
    p = delong(table["truth"] == "yes", table["tree_proba"], table["rule_proba"], positive=True).p_value
    assert p > 0.05
    assert "It cannot be told apart from rule" in text_of(found)
    assert f"p = {p:.2g})" in text_of(found)
    assert "ahead" not in text_of(found)


@pytest.mark.parametrize(("spread", "word"), [(0.8, "better"), (40.0, "not surely better")])
def test_one_model_against_guessing(spread, word):
    table = two_classes(spreads=(("only", spread),))
    found = text_of(build_judgement_section(describe_source(judge(table, resamples=20))))
    value = auc(table["truth"] == "yes", table["only_proba"])
    assert found.startswith(f"only has auc {value:.4g}, with a 95 % interval")
    assert f"That is {word} than guessing, which gives 0.5." in found


def test_equal_models_share_the_lead():
    table = two_classes(60)[["row", "truth", "forest_proba"]]
    found = text_of(build_judgement_section(describe_source(judge(table.assign(twin_proba=table["forest_proba"]), resamples=20))))
    assert found.startswith("forest and twin have the best auc, ")
    assert "twin (difference" not in found
    assert "It " not in found
    three = two_classes(60)[["row", "truth", "forest_proba", "tree_proba"]]
    found = text_of(build_judgement_section(describe_source(judge(three.assign(twin_proba=three["forest_proba"]), resamples=20))))
    assert "forest is ahead of tree (difference " in found
    assert "It " not in found


def test_many_models_are_named_without_numbers():
    spreads = (("best", 0.3), *((f"poor{i}", 9.0) for i in range(6)))
    found = text_of(build_judgement_section(describe_source(judge(two_classes(spreads=spreads), measures="accuracy", resamples=20))))
    assert "It is ahead of " in found
    assert "(difference" not in found


def test_models_may_change_places_on_the_common_rows():
    """The first is perfect, but on rows that the second has not; on the common ones it is worse."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 400)
    early = np.arange(400) < 100
    first = np.where(early & (rng.random(400) < 0.4), 1 - truth, truth)
    rows = pd.DataFrame({"row": np.arange(400), "truth": truth})
    second = np.where(np.arange(400) % 7 == 0, 1 - truth, truth)
    assert (first == truth).mean() > (second == truth)[early].mean() > (first == truth)[early].mean()
    long = pd.concat([rows.assign(model="a", prediction=first), rows[early].assign(model="b", prediction=second[early])])
    found = text_of(build_judgement_section(describe_source(judge(long.reset_index(drop=True), resamples=20))))
    assert found.startswith("a has the best accuracy")
    assert "On the rows that both predict it is behind b (difference -" in found


def test_data_sets_are_counted_and_the_verdict_comes_first():
    found, table = sections("many sets")["answer"], many_sets()
    told = text_of(found)
    assert told.startswith("By auc over the data sets, ")
    wins = 0
    for _, own in table.groupby("dataset"):
        values = {name: auc(own["truth"] == "yes", own[f"{name}_proba"]) for name in ("forest", "tree")}
        wins += values["forest"] > values["tree"]
    assert f"forest has the best auc alone on {wins} of 5 data sets." in told
    assert count_leads(judged("many sets")).loc["forest", "best"] == wins


def test_without_a_verdict_that_is_said(tmp_path):
    path = tmp_path / "p.csv"
    many_sets(2, 40).to_csv(path, index=False)
    assert text_of(build_judgement_section(describe_source(judge(str(path), stream=True, resamples=20)))).startswith(
        "There is no verdict over the data sets."
    )


def test_folds_have_a_verdict_over_splits():
    assert (
        "By auc over the splits, forest is ahead of tree. The test (the corrected resampled t test) over 5 splits"
        in text_of(sections("folded")["answer"])
    )


def test_scores_of_the_other_class_are_suspected():
    table = two_classes()[["row", "truth", "forest_proba", "tree_proba"]]
    turned = table.assign(forest_proba=1 - table["forest_proba"], tree_proba=1 - table["tree_proba"])
    told = text_of(build_judgement_section(describe_source(judge(turned, resamples=20))))
    assert (
        "By auc forest and tree are worse than guessing: perhaps the scores are those of the other class; pass --positive no."
        in told
    )
    assert "worse than guessing" not in text_of(build_judgement_section(describe_source(judge(table, resamples=20))))
    assert "worse than guessing" not in text_of(build_judgement_section(describe_source(judge(turned, positive="no", resamples=20))))


def test_a_p_value_at_its_floor_is_at_most_that():
    """With 60 resamples the bootstrap cannot go below 2/61."""
    table = two_classes()[["row", "truth", "forest_proba", "tree_proba"]]
    told = text_of(build_judgement_section(describe_source(judge(table, measures="ks", resamples=60))))
    assert f"p at most {2 / 61:.2g})" in told


def test_an_interval_without_zero_that_does_not_decide_is_explained():
    """Three labellers on 100 rows, of which one is better by 7 rows: alone p = 0.016, over three pairs 0.047 at alpha 0.02."""
    truth = np.array([0, 1] * 50)
    wrong = lambda rows: np.where(np.isin(np.arange(100), rows), 1 - truth, truth)  # noqa: E731
    table = pd.DataFrame({"truth": truth, "a": wrong([]), "b": wrong(range(7)), "c": wrong(range(7, 14))})
    told = text_of(build_judgement_section(describe_source(judge(table, alpha=0.02, resamples=20))))
    assert "intervals are of each pair alone" in told
    assert "The interval of the difference from b and c excludes zero, but p, once adjusted for the number of pairs" in told
