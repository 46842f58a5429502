"""Tables of the setup agree with the archive."""

import numpy as np
import pytest

from fairtrial.report.sections import run
from fairtrial.study.archive import LearnerFacts
from tests.report.checks.made_results import changed, stopped_study
from tests.report.result_cases import cases
from tests.study.archives import real_results


def test_counts_of_the_real_study():
    counts = run.build_counts_frame(cases()["failures"])["count"].to_dict()
    # Three data sets, four learners, two conditions, five folds; one learner fails on a fold, one fold has not run.
    assert counts == {
        "data sets": 3,
        "learners": 4,
        "conditions": 2,
        "splits": 15,
        "trials": 120,
        "trials that succeeded": 110,
        "trials that failed": 2,
        "trials not run": 8,
    }


def test_learners_are_described_by_their_estimator():
    frame = run.build_learners_frame(stopped_study()).set_index("learner")
    assert frame.loc["bayes", "class"] == "sklearn.naive_bayes.GaussianNB"
    assert "max_iter=2" in frame.loc["stopped", "parameters"]
    assert "random_state" not in frame.loc["stopped", "parameters"]
    assert list(frame.columns) == ["class", "parameters"]


def test_samplers_and_tuning_have_columns_if_used():
    sampled = LearnerFacts("bayes", "B", {"sampler": {"class": "imblearn.SMOTE", "parameters": {}}}, {})
    results = changed(real_results(), learners=(sampled,), declaration={"learners": {"bayes": {"tune": {"grid": {}}}}})
    frame = run.build_learners_frame(results)
    assert frame[["sampler", "tuned in the fold"]].to_numpy().tolist() == [["imblearn.SMOTE", "yes"]]


def test_conditions_have_their_realised_level():
    results = real_results()
    noisy = (results.archive.lines["level"] > 0).to_numpy()
    frame = run.build_conditions_frame(
        changed(results, lines=results.archive.lines.assign(realised_level=np.where(noisy, 0.19, np.nan)))
    )
    assert frame["realised"].to_numpy() == pytest.approx([np.nan, 0.19], nan_ok=True)
    assert frame["effect"].tolist()[1] == "0.2 class noise"


def test_settings_runs_and_versions_of_a_store():
    results = stopped_study()
    settings = run.build_settings_frame(results).set_index("setting")["value"]
    assert settings["seed"] == "3"
    assert settings["resampling"] == "scheme=stratified, folds=2, repeats=1"
    assert settings["measures"] == "accuracy, Cohen's kappa, AUC, Brier score"
    runs = run.build_runs_frame(results)
    assert runs[["jobs", "trials", "failed"]].to_numpy().tolist() == [[1, 4, 0]]
    versions = run.build_versions_frame(results).set_index("package")["version"]
    assert versions["numpy"] == np.__version__


def test_unfinished_runs_and_different_versions():
    runs = ({"started": "now", "finished": None, "versions": {"numpy": "1"}}, {"versions": {"numpy": "2"}})
    results = changed(real_results(), runs=runs)
    assert run.build_runs_frame(results)["finished"].tolist() == ["not finished", "not finished"]
    assert run.build_versions_frame(results).to_numpy().tolist() == [["numpy", "1, 2"]]


def test_status_of_trials_and_first_failures():
    results = cases()["failures"]
    frame = run.build_status_frame(results).set_index("learner")
    assert frame.columns[0] == "succeeded"
    assert frame.loc["tree"].to_dict() == {"succeeded": 26, "error": 2, "not run": 2}
    assert frame.loc["bayes"].to_dict() == {"succeeded": 28, "error": 0, "not run": 2}
    failures = run.build_failures_frame(results)
    assert failures.to_numpy().tolist() == [["tree", "error", "ValueError", 2, 1, "no such luck"]]


def test_abstentions_by_learner():
    frame = run.build_abstentions_frame(cases()["abstaining"])
    assert frame.to_dict("records") == [
        {"learner": "near", "abstentions": 144, "of test rows": 720, "in trials": 24, "of trials": 30}
    ]
    assert run.build_abstentions_frame(cases()["several"]).empty
