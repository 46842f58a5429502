import os
import time

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from fairtrial.errors import InputError
from fairtrial.study.plan.plan import plan_study
from fairtrial.study.records import ResourceLimits
from fairtrial.study.run import dry_run
from fairtrial.study.run.dry_run import estimate
from tests.study.small_studies import rows, study

PLAN = plan_study(
    study(
        {"large": rows(60, seed=1), "small": rows(20, seed=2), "middle": rows(30, seed=3)},
        {"bayes": GaussianNB(), "near": KNeighborsClassifier(3)},
    )
)
EVERYTHING = PLAN.count(PLAN.iter_missing())
LARGE, SMALL, MIDDLE = (each.hash for each in PLAN.data)
BAYES, NEAR = (each.hash for each in PLAN.learners)


def test_stored_times_are_added_up_and_shared_by_the_jobs():
    times = {(LARGE, BAYES): (2.0, 5), (SMALL, BAYES): (1.0, 5), (MIDDLE, BAYES): (3.0, 1)}
    times |= {(LARGE, NEAR): (0.5, 1), (SMALL, NEAR): (0.25, 1), (MIDDLE, NEAR): (0.25, 9)}
    found = estimate(PLAN, EVERYTHING, times, 2)
    assert found.seconds == pytest.approx(6 * (6 + 1) / 2)
    assert "21 s with 2 jobs" in found.summary
    assert "bayes and near" in found.summary


def test_a_data_set_without_a_time_takes_one_in_proportion_to_its_rows():
    times = {(LARGE, BAYES): (6.0, 1), (LARGE, NEAR): (0.6, 1)}
    assert estimate(PLAN, EVERYTHING, times).seconds == pytest.approx(6 * 1.1 * (60 + 20 + 30) / 10)


def test_only_what_is_missing_counts():
    missing = np.zeros_like(EVERYTHING)
    missing[1, 0] = 3
    found = estimate(PLAN, missing, {(SMALL, BAYES): (2.0, 4)})
    assert found.seconds == pytest.approx(6.0)
    assert "6 s with 1 job" in found.summary
    assert "near" not in found.summary


def test_nothing_to_do():
    assert estimate(PLAN, np.zeros_like(EVERYTHING), {}).seconds == 0


def test_no_time_and_no_try_is_no_estimate():
    found = estimate(PLAN, EVERYTHING, {(LARGE, BAYES): (1.0, 1)}, tries=False)
    assert found.seconds is None
    assert "near" in found.summary
    assert found.frame()["seconds"].isna().all()


def test_learners_without_a_time_are_tried_on_the_data_set_of_median_size():
    found = estimate(PLAN, EVERYTHING, {(LARGE, BAYES): (54.0, 1)})
    bayes = 6 * 54 * (60 + 20 + 30) / 60
    assert bayes < found.seconds < bayes + 18 * 10
    assert found.summary.endswith("one trial of near on middle (30 rows)")
    assert str(found) == found.summary
    assert found._repr_html_() == f"<p>{found.summary}</p>"


class Slow(GaussianNB):
    def fit(self, X, y):
        time.sleep(600)


class Broken(GaussianNB):
    def fit(self, X, y):
        raise ValueError("no")


class Deadly(GaussianNB):
    def fit(self, X, y):
        os._exit(3)


def test_learners_that_fail_are_told_and_hold_nobody_up(monkeypatch):
    monkeypatch.setattr(dry_run, "_TRY_SECONDS", 1.0)
    odd = plan_study(study(learners={"slow": Slow(), "broken": Broken(), "deadly": Deadly(), "bayes": GaussianNB()}))
    begun = time.monotonic()
    found = estimate(odd, odd.count(odd.iter_missing()), {}, jobs=2)
    assert time.monotonic() - begun < 60
    assert 6 * 1.0 / 2 <= found.seconds < 20
    assert "slow did not finish in 1 s" in found.summary
    assert "time limit 1 min" in found.summary
    assert "broken failed (ValueError: no)" in found.summary
    assert "deadly failed (ProcessEnded: exited with code 3" in found.summary
    assert "one trial of slow, broken, deadly and bayes on first (30 rows)" in found.summary


def test_a_trial_is_not_tried_for_longer_than_the_limit_which_stops_it_in_the_run():
    data = {"large": rows(90, seed=1), "small": rows(20, seed=2), "middle": rows(30, seed=3)}
    odd = plan_study(study(data, {"slow": Slow()}, limits=ResourceLimits(1.5)))
    found = estimate(odd, odd.count(odd.iter_missing()), {})
    assert found.seconds == pytest.approx(6 * (1.5 + 1.0 + 1.5), rel=1e-9)
    assert "slow exceeded the time limit (1.5 s)" in found.summary


def test_no_trial_is_taken_to_last_longer_than_the_limit():
    limited = plan_study(study({"large": rows(60, seed=1), "small": rows(20, seed=2)}, limits=ResourceLimits(3.0)))
    times = {(limited.data[1].hash, limited.learners[0].hash): (2.0, 4)}
    assert estimate(limited, limited.count(limited.iter_missing()), times).seconds == pytest.approx(6 * (2.0 + 3.0))


def test_no_job_is_refused():
    with pytest.raises(InputError, match="jobs must be at least 1"):
        estimate(PLAN, EVERYTHING, {}, 0)
