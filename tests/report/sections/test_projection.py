"""The section of all measures at once."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.measures import efficiency, projection
from fairtrial.report.figures.projection import compute_confusion_tables
from fairtrial.report.sections.projection import build_section
from fairtrial.report.selection import get_main_condition
from fairtrial.report.source import describe_source
from tests.report.report_numbers import check_numbers
from tests.report.result_cases import cases, few_learners, skilled_results


@pytest.mark.parametrize("name", sorted(cases()))
def test_section_is_built_for_any_results(name):
    found = build_section(describe_source(cases()[name]))
    if found is not None:
        assert check_numbers([found]) >= 1


@pytest.mark.parametrize("name", ["one learner", "all failed"])
def test_no_section_with_fewer_than_two_learners(name):
    assert build_section(describe_source(cases()[name])) is None


def test_points_are_those_of_the_projection():
    results = cases()["several"]
    expected = projection(compute_confusion_tables(results, get_main_condition(results)).tables, normalise=True)
    found = build_section(describe_source(results))
    frame = found.tables[0].frame
    assert np.allclose(frame.loc[expected.points.index, ["x", "y"]], expected.points)
    nearest = expected.distance_to_ideal.idxmin()
    assert found.sentences[0].names[0] == nearest
    assert found.sentences[0].numbers[0].value == pytest.approx(expected.distance_to_ideal.min())
    assert nearest in found.figures[0].alt


def test_data_sets_left_out_are_named():
    assert "iris and wine" in " ".join(build_section(describe_source(cases()["failures"])).notes)


def test_efficiency_needs_measures_of_both_directions():
    results = few_learners(["bayes", "tree", "near"], declaration={"measures": ["accuracy", "auc", "brier"]})
    found = build_section(describe_source(results))
    means = pd.DataFrame({name: results.wide(name).mean() for name in ("accuracy", "auc", "brier")})
    expected = efficiency(means).frame()
    frame = found.tables[-1].frame
    assert frame["efficiency"].to_dict() == pytest.approx(expected["efficiency"].to_dict())
    full = [name for name in frame.index if frame.loc[name, "efficiency"] > 1 - 1e-9]
    assert all(name in found.sentences[-1].text for name in full)
    assert len(build_section(describe_source(few_learners(["bayes", "tree"]))).tables) == 2


MEANS = {  # the efficient learner is the best in none of the outputs
    "accuracy": {"nb": 0.950000, "tree": 0.943333, "chi": 0.943333},
    "auc": {"nb": 0.994987, "tree": 0.957423, "chi": 0.987205},
    "brier": {"nb": 0.074004, "tree": 0.120000, "chi": 0.071685},
}


def with_values(monkeypatch, tables):
    """Make results with these scores."""
    results = skilled_results(dict.fromkeys(("nb", "tree", "chi"), 0.8), 4, declaration={"measures": list(MEANS)})
    monkeypatch.setattr(type(results), "wide", lambda _, measure, *__: tables[measure])
    return results


def test_inefficient_learner_may_be_best_in_single_measures(monkeypatch):
    tables = {name: pd.DataFrame([line] * 4, index=[f"set{i}" for i in range(4)]) for name, line in MEANS.items()}
    found = build_section(describe_source(with_values(monkeypatch, tables)))
    efficient, best_in_single_measures = found.sentences[-1].names
    assert efficient == "chi"
    assert best_in_single_measures == "nb has the best accuracy and AUC"
    check_numbers([found])
    assert [table.key for table in found.tables] == ["projection-points", "projection-fit", "projection-efficiency"]


def test_data_sets_of_the_efficiency_are_counted(monkeypatch):
    tables = {name: pd.DataFrame([line] * 4, index=[f"set{i}" for i in range(4)]) for name, line in MEANS.items()}
    tables["auc"].loc["set1", "chi"] = np.nan
    tables["brier"].loc["set2", "tree"] = np.inf
    found = build_section(describe_source(with_values(monkeypatch, tables)))
    assert found.tables[-2].frame["number"].tolist() == [2, 4]
    assert "2 of 4 data sets" in found.tables[-1].note
    check_numbers([found])
