"""The section of data sets."""

import numpy as np
import pytest

from fairtrial.report.sections import data_sets
from fairtrial.report.source import describe_source
from fairtrial.study.archive import DataFacts
from tests.report.report_numbers import check_numbers, list_tables
from tests.report.result_cases import build, cases, skilled_results
from tests.study.archives import real_results, real_sources


@pytest.mark.parametrize("name", cases())
def test_numbers_of_the_text_are_in_tables(name):
    check_numbers([build(data_sets, name)], names=["class-noise 0.2"])


def facts(name, codes, classes, **known):
    return DataFacts(name, name, classes, np.array(codes), np.arange(len(codes)), known)


def test_facts_on_data_sets():
    given = [
        facts("one", [0, 0, 0, 1], ("a", "b"), numeric=3, nominal=1, missing=7, notes=["rows doubled", "old"]),
        facts("two", [0, 1, 3, 3], ("a", "b", "never", "d"), notes="known by its predictions alone"),
    ]
    frame = data_sets.build_facts_frame(given)
    assert frame.loc["one", ["rows", "attributes", "missing", "classes", "smallest class"]].tolist() == [4, 4, 7, 2, 1]
    assert frame["imbalance ratio"].tolist() == [3.0, 2.0]
    assert frame["classes"].tolist() == [2, 3]
    assert frame["notes"].tolist() == ["rows doubled old", "known by its predictions alone"]
    assert "attributes" not in data_sets.build_facts_frame(given[1:])


def test_best_learner_of_each_data_set_has_the_best_mean():
    results = cases()["several"]
    tables = {table.key: table for table in list_tables([data_sets.build_section(describe_source(results))])}
    best = tables["data-sets-best"].frame
    wide = results.wide("accuracy")
    own = best[best["measure"] == "accuracy"].set_index("data set")
    for name, line in wide.iterrows():
        near = line[np.isclose(line, line.max(), atol=1e-12)]
        assert own.loc[name, "best"].split(", ") == list(near.index)
        assert own.loc[name, "mean"] == pytest.approx(line.max())
        assert own.loc[name, "ahead by"] == pytest.approx(line.max() - line.drop(near.index).max())
    assert tables["data-sets-accuracy"].frame.equals(wide.rename_axis(index="data set"))
    assert tables["data-sets-log-loss"].best == "min"
    assert own.loc["cancer", "best"] == "ridge, near"


def test_class_counts_are_those_of_the_data():
    frame = data_sets.build_facts_frame(real_results().archive.datasets)
    for name, (_, y, _) in real_sources().items():
        sizes = np.bincount(y)
        assert frame.loc[name, ["rows", "classes", "smallest class"]].tolist() == [len(y), len(sizes), sizes.min()]
        assert frame.loc[name, "imbalance ratio"] == pytest.approx(sizes.max() / sizes.min())


def test_a_smaller_loss_is_better():
    results = cases()["two apart"]
    best = next(each for each in data_sets.build_section(describe_source(results)).tables if each.key == "data-sets-best").frame
    assert set(best["best"]) == {"good"}
    assert (best["ahead by"] > 0).all()


def test_single_learner_has_no_table_of_learners():
    keys = [table.key for table in build(data_sets, "one learner").tables]
    assert keys == ["data-sets-facts", "data-sets-best"]


def test_balanced_data_sets_have_no_imbalance_ratio_in_the_text():
    first, second = data_sets.build_section(describe_source(skilled_results({"a": 0.9, "b": 0.8}, sets=3))).sentences
    assert [number.value for number in first.numbers] == [120]
    assert (second.numbers, second.names) == ((), ())
