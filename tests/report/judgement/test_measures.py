import numpy as np
import pytest

from fairtrial import judge
from fairtrial.measures import auc, log_loss
from fairtrial.report.sections.scores import build_judgement_section
from fairtrial.report.source import describe_source
from tests.report.judgement.cases import judged, sections, two_classes


def table_of(found, key):
    return next(table for table in found.tables if table.key == key)


def test_measures_by_model_with_the_best_marked():
    found, table = sections("two classes")["measures"], two_classes()
    wide = table_of(found, "measures-larger")
    assert wide.best == "max"
    expected = auc(table["truth"] == "yes", table["tree_proba"])
    assert wide.frame.loc["auc", "tree"] == pytest.approx(expected)
    assert "brier" in table_of(found, "measures-smaller").frame.index
    every = table_of(found, "measures-all").frame
    assert len(every) == 12 * 3
    assert "data set" not in every
    keys = [figure.key for figure in found.figures]
    assert keys[0] == "measures-intervals"
    assert "measures-intervals-log-loss" in keys


def test_data_sets_by_models():
    found = sections("many sets")["measures"]
    wide = table_of(found, "measures-main").frame
    assert wide.index.tolist() == [f"set {i}" for i in range(5)]
    own = two_classes(40, 3)
    assert wide.loc["set 3", "forest"] == pytest.approx(auc(own["truth"] == "yes", own["forest_proba"]))
    assert set(found.figures[0].frame["measure"]) == set(wide.index)


def test_infinite_loss_is_described():
    table = two_classes(60)
    table.loc[0, "tree_proba"] = 1.0 if table.loc[0, "truth"] == "no" else 0.0
    assert np.isinf(log_loss((table["truth"] == "yes").astype(int), table["tree_proba"]))
    found = build_judgement_section(describe_source(judge(table, resamples=20)))
    assert any({"log loss", "tree"} <= set(sentence.names) for sentence in found.sentences)
    assert "tree" not in set(next(f for f in found.figures if f.key == "measures-intervals-log-loss").frame["learner"])


def test_missing_measures_have_a_note():
    every = table_of(sections("decisions")["measures"], "measures-all").frame
    lacking = every[(every["model"] == "tree") & (every["measure"] == "auc")]
    assert lacking["note"].item() != ""


def test_many_models_get_one_figure_of_the_main_measure():
    spreads = tuple((f"m{i}", 1 + i / 10) for i in range(9))
    found = build_judgement_section(
        describe_source(judge(two_classes(60, spreads=spreads), measures=["accuracy", "auc"], resamples=20))
    )
    assert [figure.key for figure in found.figures] == ["measures-intervals-accuracy"]


def test_main_measure_is_described():
    found = build_judgement_section(describe_source(judge(two_classes(60), measures="brier", resamples=20)))
    assert "Brier score" in found.sentences[0].names
    assert "Smaller" in found.sentences[0].names
    assert judged("two classes").main == "auc"


def test_models_with_fewer_rows_are_noted():
    table = two_classes(60)
    long = table.melt(["row", "truth"], ["forest_proba", "tree_proba"], "model", "score")
    short = long[(long["model"] == "forest_proba") | (long["row"] < 40)].reset_index(drop=True)
    tables = build_judgement_section(describe_source(judge(short, resamples=20))).tables
    assert all("tree_proba" in each.note for each in tables)
    rows = tables[-1].frame.groupby("model")["rows"].max().to_dict()
    assert rows == {"forest_proba": 60, "tree_proba": 40}
    assert all(
        "tree_proba" not in each.note for each in build_judgement_section(describe_source(judge(long, resamples=20))).tables
    )
