import pytest

from fairtrial import judge
from fairtrial.report.judgement import build_pairs_frame, order_pairs_best_first, rank_judged_models
from fairtrial.report.sections import pairs
from fairtrial.report.sections.pairs import build_judgement_section
from fairtrial.report.source import describe_source
from fairtrial.significance import adjust, delong, mcnemar
from tests.report.judgement.cases import judged, many_sets, sections, text_of, two_classes

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
    own = frame[frame["test"] == "McNemar's test"].set_index(["first", "second"])
    assert [own.loc[pair, "p"] for pair in PAIRS] == pytest.approx(raw)
    assert [own.loc[pair, "adjusted p"] for pair in PAIRS] == pytest.approx(list(adjust(raw, "holm")))
    assert [own.loc[pair, "significant"] for pair in PAIRS] == ["yes", "yes", "no"]


def test_words_count_the_pairs():
    found = sections("two classes")["pairs"]
    assert "By auc, DeLong's test decides. It tells 2 of 3 pairs apart at alpha 0.05." in text_of(found)
    counts = next(table for table in found.tables if table.key == "pairs-counts").frame
    assert counts.loc["DeLong's test", "primary"] == "yes"
    assert counts.loc["McNemar's test", "primary"] == "no"
    assert found.figures[0].frame[["first", "second"]].to_numpy().tolist() == [list(pair) for pair in PAIRS]


def test_whether_tests_agree_is_said():
    # Sixty resamples cannot give a p value below 1/61, which Holm's procedure triples.
    assert "The tests of auc do not all agree on forest and tree, forest and rule" in text_of(sections("two classes")["pairs"])
    assert "The other tests of accuracy agree with it on every pair." in text_of(sections("labels only")["pairs"])


def test_one_model_has_no_pairs():
    assert build_judgement_section(describe_source(judged("one model"))) is None


def test_models_that_cannot_be_paired(tmp_path):
    path = tmp_path / "p.csv"
    long = two_classes(40).melt(["truth"], ["forest_proba", "tree_proba"], "model", "score")
    long.to_csv(path, index=False)
    found = build_judgement_section(describe_source(judge(str(path), stream=True, resamples=20)))
    assert text_of(found) == "No pair of models could be tested: no column tells the rows apart."


def test_all_pairs_are_drawn_or_it_is_said_how_many(monkeypatch):
    judgement = judge(many_sets(8), resamples=20)
    assert len(build_judgement_section(describe_source(judgement)).figures[0].frame) == 8
    monkeypatch.setattr(pairs, "_MAX_DRAWN", 5)
    assert build_judgement_section(describe_source(judgement)).figures[0].title.endswith("(the first 5 of 8 pairs)")


def test_tests_that_disagree_name_the_data_set():
    told = text_of(build_judgement_section(describe_source(judge(many_sets(2, 80), resamples=20))))
    assert "do not all agree on forest and tree on set " in told


def test_the_permutation_test_has_no_interval():
    frame = build_pairs_frame(judged("two classes")).set_index("test")
    assert frame.loc["permutation test", ["low", "high"]].isna().all().all()
    assert frame.loc["permutation test", "difference"].notna().all()
