"""What results need to know of a data set, and what any keeper of evidence has to offer."""

import numpy as np

from fairtrial.study.archive import TRIAL_COLUMNS, Archive, ConditionFacts, DataFacts, LearnerFacts
from fairtrial.study.records import TrialRecord


def test_counts_hold_classes_without_rows():
    facts = DataFacts("mine", "hash", ("a", "b", "c"), np.array([0, 2, 2, 0, 0]), np.arange(5))
    assert facts.counts.tolist() == [3, 0, 2]


def test_rows_without_a_class_do_not_count():
    facts = DataFacts("mine", "hash", ("a", "b"), np.array([0, -1, 1, -1]), np.arange(4))
    assert facts.counts.tolist() == [1, 1]


def test_facts_of_conditions_and_learners_are_equal_by_what_they_say():
    assert ConditionFacts("noise", 0.1, "words", {"level": 0.1}) == ConditionFacts("noise", 0.1, "words", {"level": 0.1})
    assert LearnerFacts("nb", "GaussianNB", {}, {}) != LearnerFacts("nb", "GaussianNB", {"a": 1}, {})


def test_the_table_of_trials_holds_all_of_the_evidence_but_the_columns_of_rows():
    own = {name for name in TrialRecord.__dataclass_fields__ if name in TRIAL_COLUMNS}
    columns = {"key", "prediction", "scores", "score_kind", "rows", "y_true", "level"}
    assert own == set(TrialRecord.__dataclass_fields__) - columns | {"level"}
    assert len(set(TRIAL_COLUMNS)) == len(TRIAL_COLUMNS)


def test_an_archive_offers_what_results_ask_for():
    offered = {name for name in vars(Archive) if not name.startswith("_")}
    assert {"name", "declaration", "seed", "datasets", "conditions", "learners", "runs"} <= offered
    assert {"trials", "predictions", "split"} <= offered
