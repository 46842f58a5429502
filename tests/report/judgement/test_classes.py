import pytest

from fairtrial import judge
from fairtrial.measures.intervals import compute_wilson_limits
from fairtrial.report.sections.classes import build_judgement_section
from fairtrial.report.source import describe_source
from tests.report.judgement.cases import labels_only, many_classes, sections, text_of, two_classes


def test_recall_precision_and_limits_are_counted():
    frame, table = sections("labels only")["classes"].tables[0].frame, labels_only()
    line = frame[(frame["model"] == "tree") & (frame["class"] == "yes")].iloc[0]
    hits = int(((table["tree"] == "yes") & (table["truth"] == "yes")).sum())
    true, named = int((table["truth"] == "yes").sum()), int((table["tree"] == "yes").sum())
    assert [line["rows"], line["predicted rows"]] == [true, named]
    assert [line["recall"], line["precision"]] == pytest.approx([hits / true, hits / named])
    assert (line["recall, low"], line["recall, high"]) == pytest.approx(compute_wilson_limits(hits, true, 0.95))


def test_the_class_found_least_often():
    table = many_classes()
    good = table[table["model"] == "good"]
    named = good[["p_a", "p_b", "p_c"]].to_numpy().argmax(axis=1)
    recalls = {label: float((named[good["truth"] == label] == "abc".index(label)).mean()) for label in "abc"}
    low, high = min(recalls, key=recalls.get), max(recalls, key=recalls.get)
    told = text_of(sections("many classes")["classes"])
    assert told == (
        f"good finds the class {low} least often, with a recall of {recalls[low]:.3f}, "
        f"and {high} most often, with {recalls[high]:.3f}."
    )


def test_each_data_set_is_named():
    assert "On set 0, forest finds the class " in text_of(sections("many sets")["classes"])


def test_perfect_labels_find_all_classes_alike():
    table = labels_only(60)
    found = build_judgement_section(describe_source(judge(table.assign(forest=table["truth"]), resamples=20)))
    assert text_of(found) == "forest finds all classes equally often: recall 1.000."


def test_weights_and_missing_labels_are_said(tmp_path):
    assert "sums of weights" in sections("weighted")["classes"].tables[0].note
    path = tmp_path / "p.csv"
    two_classes(60)[["row", "truth"]].assign(score=two_classes(60)["forest_proba"] + 1).to_csv(path, index=False)
    found = build_judgement_section(describe_source(judge(str(path), resamples=20)))
    assert text_of(found) == "No model has labels, so that precision and recall do not exist."
