"""Failures, gaps, warnings, times and versions are told, and nothing where all went well."""

import numpy as np
import pytest

from fairtrial.report.checks import registry
from fairtrial.report.checks.failures import list_warnings
from tests.report.checks.made_results import changed, of_a_file, stopped_study
from tests.study.archives import real_results


def _some(status):
    return lambda dataset, _condition, learner, _repeat, fold: (
        status if (dataset, learner, fold) == ("iris", "tree", 1) else None
    )


@pytest.mark.parametrize(
    ("policy", "kind"), [(None, "FT009/exclude"), ("worst-rank", "FT009/worst-rank"), ("trivial", "FT009/trivial")]
)
def test_failures_are_counted_and_their_policy_is_reported(policy, kind):
    found = registry["FT009"](real_results(_some("timeout"), declaration={"verdict": {"failures": policy}}))
    assert found.outcome == "raised"
    assert found.details.to_numpy().tolist() == [["tree", "iris", "timeout", 2]]
    assert found.finding.kind == kind


def test_no_failure_no_gap():
    assert registry["FT009"](real_results()).outcome == "passed"
    assert registry["FT009"](real_results(_some("missing"))).outcome == "passed"
    assert registry["FT011"](real_results(_some("error"))).outcome == "passed"


def test_what_has_not_run_is_counted():
    found = registry["FT011"](real_results(_some("missing")))
    assert found.outcome == "raised"
    counts = found.details.set_index("learner")["not run"].to_dict()
    assert counts == {"bayes": 0, "tree": 2, "ridge": 0, "near": 0, "all": 2}
    assert (found.finding["waiting"], found.finding["planned"]) == (2, 120)


def test_a_learner_that_did_not_converge_is_named():
    found = registry["FT018"](stopped_study())
    assert found.outcome == "raised"
    assert found.details["learner"].tolist() == ["stopped"]
    assert found.details["warning"].iloc[0].startswith("ConvergenceWarning: lbfgs failed to converge")
    assert found.details[["trials", "data sets"]].to_numpy().tolist() == [[2, 1]]


def test_no_warning_where_none_was_given_and_a_file_tells_of_none():
    assert registry["FT018"](real_results()).outcome == "passed"
    assert registry["FT018"](of_a_file()).outcome == "not applicable"


def test_counts_of_a_warning_do_not_make_it_another_one():
    trials = real_results().trials().head(3).assign(notes=["UserWarning: so (2 times)", "a note\nUserWarning: so", None])
    assert list_warnings(trials)["warning"].tolist() == ["UserWarning: so", "UserWarning: so"]


def test_warnings_of_a_condition_are_not_blamed_on_learners():
    results = real_results()
    said = "SuspectInputWarning: wine: values are constant"
    lines = results.archive.lines
    noisy = results.trials()["condition"].to_numpy() != "clean"
    found = registry["FT018"](changed(results, lines=lines.assign(notes=np.where(noisy, said, None))))
    assert found.outcome == "passed"
    assert (found.finding["conditions"], found.finding["warning"]) == (("class-noise",), said)
    one = noisy & (results.trials()["learner"].to_numpy() == "tree")
    found = registry["FT018"](changed(results, lines=lines.assign(notes=np.where(one, said, None))))
    assert (found.outcome, found.details["learner"].tolist()) == ("raised", ["tree"])


def timed(wall, cpu):
    results = real_results(names=["iris"])
    return changed(results, lines=results.archive.lines.assign(fit_time=wall, fit_cpu=cpu))


def test_times_far_above_cpu_times_are_told():
    found = registry["FT019"](timed(2.0, 0.5))
    assert found.outcome == "raised"
    assert len(found.details) == 4
    assert (found.finding["wall"], found.finding["cpu"]) == (2, 0.5)
    assert registry["FT019"](timed(0.5, 0.5)).outcome == "passed"
    assert registry["FT019"](timed(0.1, 0.01)).outcome == "passed"
    assert "--jobs" not in registry["FT019"].remedy
    assert registry["FT019"](timed(np.nan, np.nan)).outcome == "not applicable"


def test_versions_that_differ_between_runs_are_listed():
    runs = ({"versions": {"numpy": "2.0", "scipy": "1.1"}}, {"versions": {"numpy": "2.1", "scipy": "1.1"}})
    found = registry["FT022"](changed(real_results(), runs=runs))
    assert found.outcome == "raised"
    assert found.details.to_numpy().tolist() == [["numpy", "2.0, 2.1"]]
    assert registry["FT022"](stopped_study()).outcome == "passed"
    assert registry["FT022"](real_results()).outcome == "not applicable"
