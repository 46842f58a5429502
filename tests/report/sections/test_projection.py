"""The section of all measures at once."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.measures import efficiency, projection
from fairtrial.report.confusion_tables import confusion_tables
from fairtrial.report.places import main_condition
from fairtrial.report.sections.projection import section
from tests.report.prose import check_prose
from tests.report.result_cases import cases, few_learners


@pytest.mark.parametrize("name", sorted(cases()))
def test_it_is_written_for_any_results(name):
    found = section(cases()[name])
    if found is not None:
        assert check_prose([found]) >= 1


@pytest.mark.parametrize("name", ["one learner", "all failed"])
def test_there_is_none_for_fewer_than_two(name):
    assert section(cases()[name]) is None


def test_points_are_those_of_the_projection_of_shares():
    results = cases()["several"]
    expected = projection(confusion_tables(results, main_condition(results)).tables, normalise=True)
    found = section(results)
    frame = found.tables[0].frame
    assert np.allclose(frame.loc[expected.points.index, ["x", "y"]], expected.points)
    nearest = expected.distance_to_ideal.idxmin()
    assert found.sentences[0].text.startswith(f"{nearest} lies nearest to Ideal ({expected.distance_to_ideal.min():.3f})")
    assert nearest in found.figures[0].alt


def test_what_is_left_out_is_said():
    assert "iris, wine" in " ".join(section(cases()["failures"]).notes)


def test_efficiency_comes_with_measures_of_both_directions():
    results = few_learners(["bayes", "tree", "near"], declaration={"measures": ["accuracy", "auc", "brier"]})
    found = section(results)
    means = pd.DataFrame({name: results.wide(name).mean() for name in ("accuracy", "auc", "brier")})
    expected = efficiency(means).frame()
    frame = found.tables[-1].frame
    assert frame["efficiency"].to_dict() == pytest.approx(expected["efficiency"].to_dict())
    full = [name for name in frame.index if frame.loc[name, "efficiency"] > 1 - 1e-9]
    assert all(name in found.sentences[-1].text for name in full)
    assert len(section(few_learners(["bayes", "tree"])).tables) == 2
