import numpy as np
import pytest

from fairtrial import judge
from fairtrial.measures import auc, log_loss
from fairtrial.report.sections.scores import build_judgement_section
from fairtrial.report.source import describe_source
from tests.report.judgement.cases import judged, sections, text_of, two_classes


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


def test_an_infinite_loss_is_said():
    table = two_classes(60)
    table.loc[0, "tree_proba"] = 1.0 if table.loc[0, "truth"] == "no" else 0.0
    assert np.isinf(log_loss((table["truth"] == "yes").astype(int), table["tree_proba"]))
    found = build_judgement_section(describe_source(judge(table, resamples=20)))
    assert "The log loss of tree is infinite: a class that came true was given a probability of zero." in text_of(found)
    assert "tree" not in set(next(f for f in found.figures if f.key == "measures-intervals-log-loss").frame["learner"])


def test_what_a_model_lacks_is_said():
    assert "the table says why" in text_of(sections("decisions")["measures"])
    every = table_of(sections("decisions")["measures"], "measures-all").frame
    lacking = every[(every["model"] == "tree") & (every["measure"] == "auc")]
    assert lacking["note"].item() == "needs scores"


def test_many_models_get_one_figure_of_the_main_measure():
    spreads = tuple((f"m{i}", 1 + i / 10) for i in range(9))
    found = build_judgement_section(describe_source(judge(two_classes(60, spreads=spreads), measures=["accuracy", "auc"], resamples=20)))
    assert [figure.key for figure in found.figures] == ["measures-intervals-accuracy"]


def test_smaller_values_are_said_to_be_better():
    found = build_judgement_section(describe_source(judge(two_classes(60), measures="brier", resamples=20)))
    assert "The main measure is brier." in text_of(found)
    assert "Smaller values are better." in text_of(found)
    assert judged("two classes").main == "auc"


def test_models_with_fewer_rows_are_named_below_the_tables():
    table = two_classes(60)
    long = table.melt(["row", "truth"], ["forest_proba", "tree_proba"], "model", "score")
    short = long[(long["model"] == "forest_proba") | (long["row"] < 40)].reset_index(drop=True)
    tables = build_judgement_section(describe_source(judge(short, resamples=20))).tables
    assert all("Fewer rows than others have: tree_proba;" in each.note for each in tables)
    rows = tables[-1].frame.groupby("model")["rows"].max().to_dict()
    assert rows == {"forest_proba": 60, "tree_proba": 40}
    assert all("Fewer rows" not in each.note for each in build_judgement_section(describe_source(judge(long, resamples=20))).tables)
