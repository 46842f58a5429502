import pytest

from fairtrial import judge
from fairtrial.measures.intervals import compute_wilson_limits
from fairtrial.report.sections.classes import build_judgement_section
from fairtrial.report.source import describe_source
from tests.report.judgement.cases import labels_only, many_classes, sections, two_classes


def test_recall_precision_and_limits_are_counted():
    frame, table = sections("labels only")["classes"].tables[0].frame, labels_only()
    line = frame[(frame["model"] == "tree") & (frame["class"] == "yes")].iloc[0]
    hits = int(((table["tree"] == "yes") & (table["truth"] == "yes")).sum())
    true, named = int((table["truth"] == "yes").sum()), int((table["tree"] == "yes").sum())
    assert [line["rows"], line["predicted rows"]] == [true, named]
    assert [line["recall"], line["precision"]] == pytest.approx([hits / true, hits / named])
    assert (line["recall, low"], line["recall, high"]) == pytest.approx(compute_wilson_limits(hits, true, 0.95))


def test_lowest_and_highest_recall_are_named():
    table = many_classes()
    good = table[table["model"] == "good"]
    named = good[["p_a", "p_b", "p_c"]].to_numpy().argmax(axis=1)
    recalls = {label: float((named[good["truth"] == label] == "abc".index(label)).mean()) for label in "abc"}
    low, high = min(recalls, key=recalls.get), max(recalls, key=recalls.get)
    (sentence,) = sections("many classes")["classes"].sentences
    assert sentence.names == ("good", low, high)
    assert [number.value for number in sentence.numbers] == pytest.approx([recalls[low], recalls[high]])


def test_each_data_set_has_a_sentence():
    assert [sentence.names[0] for sentence in sections("many sets")["classes"].sentences] == [f"set {i}" for i in range(5)]


def test_perfect_labels_have_equal_recall():
    table = labels_only(60)
    found = build_judgement_section(describe_source(judge(table.assign(forest=table["truth"]), resamples=20)))
    assert found.sentences[0].names == ("forest",)
    assert [number.value for number in found.sentences[0].numbers] == [1.0]


def test_weights_and_missing_labels_are_noted(tmp_path):
    assert sections("weighted")["classes"].tables[0].note != sections("two classes")["classes"].tables[0].note
    assert sections("weighted")["classes"].tables[0].frame["recall, low"].isna().all()
    path = tmp_path / "p.csv"
    two_classes(60)[["row", "truth"]].assign(score=two_classes(60)["forest_proba"] + 1).to_csv(path, index=False)
    found = build_judgement_section(describe_source(judge(str(path), resamples=20)))
    assert found.tables[0].frame[["precision", "recall"]].isna().all(axis=None)
    assert [(sentence.names, sentence.numbers) for sentence in found.sentences] == [((), ())]
