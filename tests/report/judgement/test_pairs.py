import pytest

from fairtrial import judge
from fairtrial.report.judgement import build_pairs_frame, order_pairs_best_first, rank_judged_models
from fairtrial.report.sections import pairs
from fairtrial.report.sections.pairs import build_judgement_section
from fairtrial.report.source import describe_source
from fairtrial.significance import adjust, delong, mcnemar
from tests.report.judgement.cases import judged, many_sets, sections, two_classes

PAIRS = [("forest", "tree"), ("forest", "rule"), ("tree", "rule")]


def test_the_better_model_comes_first():
    found = judged("two classes")
    assert rank_judged_models(found, "data") == ["forest", "tree", "rule"]
    table = two_classes()[["row", "truth", "rule_proba", "forest_proba"]]
    other = judge(table, resamples=20)
    assert other.pairs["first"].unique().tolist() == ["rule"]
    frame = order_pairs_best_first(other)
    assert frame["first"].unique().tolist() == ["forest"]
    ranks = delong(table["truth"] == "yes", table["forest_proba"], table["rule_proba"], positive=True)
    own = frame[frame["test"] == "delong"].iloc[0]
    assert [own["difference"], own["low"], own["high"]] == pytest.approx(
        [ranks.effect.estimate, ranks.effect.low, ranks.effect.high]
    )
    assert own["p_value"] == pytest.approx(ranks.p_value)


def test_p_values_are_those_of_the_tests_adjusted():
    frame, table = build_pairs_frame(judged("two classes")), two_classes()
    labels = {name: (table[f"{name}_proba"] > 0.5).map({True: "yes", False: "no"}) for name in ("forest", "tree", "rule")}
    raw = [mcnemar(table["truth"], labels[first], labels[second]).p_value for first, second in PAIRS]
    own = frame[frame["test"] == "McNemar test"].set_index(["first", "second"])
    assert [own.loc[pair, "p"] for pair in PAIRS] == pytest.approx(raw)
    assert [own.loc[pair, "adjusted p"] for pair in PAIRS] == pytest.approx(list(adjust(raw, "holm")))
    assert [own.loc[pair, "significant"] for pair in PAIRS] == ["yes", "yes", "no"]


def test_significant_pairs_are_counted():
    found = sections("two classes")["pairs"]
    assert found.sentences[0].names == ("DeLong test", "AUC")
    assert [number.value for number in found.sentences[0].numbers] == [3, 2, 0.05]
    counts = next(table for table in found.tables if table.key == "pairs-counts").frame
    assert counts.loc["DeLong test", "primary"] == "yes"
    assert counts.loc["McNemar test", "primary"] == "no"
    assert found.figures[0].frame[["first", "second"]].to_numpy().tolist() == [list(pair) for pair in PAIRS]


def test_pairs_on_which_tests_disagree_are_named():
    # With 60 resamples, no p-value is below 1 / 61, and Holm's procedure multiplies it by 3.
    assert sections("two classes")["pairs"].sentences[-1].names == ("AUC", "forest vs tree and forest vs rule")
    assert sections("labels only")["pairs"].sentences[-1].names == ("accuracy",)


def test_one_model_has_no_pairs():
    assert build_judgement_section(describe_source(judged("one model"))) is None


def test_models_that_cannot_be_paired(tmp_path):
    path = tmp_path / "p.csv"
    long = two_classes(40).melt(["truth"], ["forest_proba", "tree_proba"], "model", "score")
    long.to_csv(path, index=False)
    found = build_judgement_section(describe_source(judge(str(path), stream=True, resamples=20)))
    assert (found.tables, len(found.sentences)) == ((), 1)


def test_title_counts_the_drawn_pairs(monkeypatch):
    judgement = judge(many_sets(8), resamples=20)
    assert len(build_judgement_section(describe_source(judgement)).figures[0].frame) == 8
    monkeypatch.setattr(pairs, "_MAX_DRAWN", 5)
    assert build_judgement_section(describe_source(judgement)).figures[0].title.endswith("5 of 8 pairs)")


def test_pairs_on_which_tests_disagree_have_their_data_set():
    sentence = build_judgement_section(describe_source(judge(many_sets(2, 80), resamples=20))).sentences[-1]
    assert sentence.names[1].startswith("forest vs tree on set ")


def test_the_permutation_test_has_no_interval():
    frame = build_pairs_frame(judged("two classes")).set_index("test")
    assert frame.loc["permutation test", ["low", "high"]].isna().all().all()
    assert frame.loc["permutation test", "difference"].notna().all()
