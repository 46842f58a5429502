"""Settings side by side, and learners that learn nothing, are seen."""

import pytest

from fairtrial.report.checks import registry
from fairtrial.study.archive import LearnerFacts
from tests.report.checks.made_results import changed, halves, labelled, of_a_file
from tests.report.result_cases import skilled_results
from tests.study.archives import real_results


def with_learners(*learners, declaration=None):
    results = real_results(names=["iris"])
    return changed(results, learners=learners, declaration=declaration or {})


def near(name, k):
    inner = {"class": "sklearn.neighbors.KNeighborsClassifier", "parameters": {"n_neighbors": k, "weights": "uniform"}}
    return LearnerFacts(name, "fairtrial.learners.prepared.Prepared", {"learner": inner}, {})


def test_settings_of_one_class_side_by_side_are_named():
    found = registry["FT007"](with_learners(near("few", 1), near("many", 9), LearnerFacts("tree", "a.Tree", {}, {})))
    assert found.outcome == "raised"
    assert found.details[["learner", "parameters"]].to_numpy().tolist() == [["few", "n_neighbors=1"], ["many", "n_neighbors=9"]]


def test_tuning_inside_the_fold_passes_by_name():
    declared = {"learners": {"few": {"tune": {"grid": {"n_neighbors": [1, 3]}}}, "many": {}}}
    found = registry["FT007"](with_learners(near("few", 1), near("many", 9), declaration=declared))
    assert found.outcome == "passed"
    assert (found.finding.kind, found.finding["learners"]) == ("FT007/tuned", ("few",))


def test_one_setting_of_each_class_passes_and_a_file_tells_nothing():
    assert registry["FT007"](real_results()).outcome == "passed"
    assert registry["FT007"](with_learners(near("one", 3), near("same", 3))).outcome == "passed"
    assert registry["FT007"](of_a_file()).outcome == "not applicable"


def always(learner, truth, _condition):
    return truth * 0 if learner == "first" else 1 - truth


def test_data_on_which_guessing_is_as_good_are_named():
    found = registry["FT020"](labelled([0, 0, 0, 1, 1, 1] * 10, halves(60), predict=always))
    assert found.outcome == "raised"
    assert found.details.to_numpy().tolist() == [["made", "first", 0.5, 0.5]]
    assert registry["FT020"](skilled_results({"good": 0.9, "fair": 0.8})).outcome == "passed"


@pytest.mark.parametrize(("measure", "value"), [("kappa", 0.0), ("balanced_accuracy", 0.5), ("error_rate", 0.5)])
def test_measures_with_a_known_value_of_guessing(measure, value):
    found = registry["FT020"](labelled([0, 0, 0, 1, 1, 1] * 10, halves(60), {"verdict": {"measure": measure}}, predict=always))
    assert found.details["trivial"].tolist() == [value]


def test_a_trivial_learner_is_the_baseline_where_there_is_one():
    results = labelled([0, 0, 0, 1, 1, 1] * 10, halves(60), {"verdict": {"measure": "f_score"}}, predict=always)
    unknown = registry["FT020"](results)
    assert unknown.outcome == "raised"
    assert unknown.finding.kind == "FT020/no baseline"
    dummy = LearnerFacts("first", "sklearn.dummy.DummyClassifier", {}, {})
    other = LearnerFacts("second", "a.Tree", {}, {})
    judged = changed(results, learners=(dummy, other), declaration={"verdict": {"measure": "accuracy"}})
    assert registry["FT020"](judged).details.to_numpy().tolist() == [["made", "second", 0.0, 0.5]]


def test_no_score_no_baseline():
    assert registry["FT020"](real_results(lambda *_: "error")).outcome == "not applicable"
