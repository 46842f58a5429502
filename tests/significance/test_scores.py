"""Scores: design, tidy and wide forms, and splits that not all learners have."""

import numpy as np
import pytest

from fairtrial._findings import Finding
from fairtrial.significance.scores import Design, Scores

SPLITS = (("iris", 1, 1), ("iris", 1, 2), ("wine", 1, 1), ("wine", 1, 2))


def scores(cells):
    return Scores(np.array(cells, dtype=float), SPLITS, ("a", "b"))


def test_design():
    found = scores([[1, 2], [3, 4], [5, 6], [7, 8]]).design
    assert found == Design(("a", "b"), ("iris", "wine"), repeats=1, folds=2)


def test_means_over_folds():
    wide = scores([[1, 2], [3, 4], [5, 6], [7, 10]]).to_wide()
    assert wide.loc["iris"].tolist() == [2, 3]
    assert wide.loc["wine"].tolist() == [6, 8]


def test_a_split_that_one_learner_lacks_is_left_out_for_all():
    """Otherwise the mean of the easy folds would be compared with the mean of all folds."""
    wide = scores([[1, 2], [3, np.nan], [5, 6], [7, 10]]).to_wide()
    assert wide.loc["iris"].tolist() == [1, 2]


def test_a_learner_without_a_data_set_has_a_missing_value():
    wide = scores([[1, np.nan], [3, np.nan], [5, 6], [7, 10]]).to_wide()
    assert wide.loc["iris", "a"] == 2
    assert np.isnan(wide.loc["iris", "b"])


def test_a_data_set_without_common_splits_is_missing_for_all():
    wide = scores([[1, np.nan], [np.nan, 3], [5, 6], [7, 10]]).to_wide()
    assert np.isnan(wide.loc["iris"]).all()
    assert wide.loc["wine"].tolist() == [6, 8]


def test_tidy_omits_missing_scores():
    tidy = scores([[1, np.nan], [3, 4], [5, 6], [7, 10]]).tidy
    assert len(tidy) == 7
    assert tidy.columns.tolist() == ["dataset", "learner", "repeat", "fold", "value"]
    assert tidy.loc[0].tolist() == ["iris", "a", 1, 1, 1.0]


def test_html_is_escaped():
    hostile = Scores(np.eye(2), (("<b>", 1, 1), ("x", 1, 1)), ("<i>", "y"), (Finding.of("wide_table", column="<u>"),))
    page = hostile._repr_html_()
    assert not any(tag in page for tag in ("<b>", "<i>", "<u>"))


def test_frozen():
    with pytest.raises(AttributeError):
        scores([[1, 2]] * 4).learners = ()
