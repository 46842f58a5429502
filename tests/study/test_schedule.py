"""Tests of `fairtrial.study`: schedule."""

import os
import pickle
import time
from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from fairtrial.conditions import ClassNoise, PriorShift
from fairtrial.errors import InputError
from fairtrial.study.plan.plan import plan_study
from fairtrial.study.plan.schedule import Chunker, TimeModel
from fairtrial.study.randomness import derive_seed
from fairtrial.study.records import ResourceLimits
from fairtrial.study.run import dry_run
from fairtrial.study.run.dry_run import estimate
from fairtrial.study.run.trial_data import TrialData, apply_condition
from tests.study.small_studies import CLEAN, rows, study

# --- Chunking ---


PLAN = plan_study(
    study(
        {"small": rows(12, seed=1), "large": rows(48, seed=2), "middle": rows(24, seed=3)},
        {"bayes": GaussianNB(), "one": KNeighborsClassifier(1), "three": KNeighborsClassifier(3)},
        (CLEAN, ("class-noise", 0.1, ClassNoise(level=0.1)), ("class-noise", 0.2, ClassNoise(level=0.2))),
    )
)
LIMITED = replace(PLAN, study=replace(PLAN.study, limits=ResourceLimits(5.0, 10**9)))
PLACES = {key.tobytes(): (data, *place) for data in range(len(PLAN.data)) for place, key in np.ndenumerate(PLAN.get_keys(data))}


def learnt(chunker, seconds):
    """Every learner is known on every data set."""
    for learner, each in enumerate(seconds):
        for data in range(len(PLAN.data)):
            chunker.learn(learner, data, each)
    return chunker


def chunks_of(chunker):
    return list(iter(chunker.take_chunk, None))


def places(chunk):
    return [PLACES[task.key] for task in chunk.tasks]


TOLD = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.floats(0, 5)), max_size=3)


@settings(max_examples=40, deadline=None)
@given(st.data(), st.sampled_from([0.01, 0.3, 1.0, 20.0]), st.integers(1, 5), st.integers(0, 10**6))
def test_every_missing_trial_is_handed_out_once_whatever_is_learnt(data, seconds, slots, seed):
    done = {key for key, place in PLACES.items() if np.random.default_rng([seed, *place]).random() < 0.3}
    chunker = Chunker(PLAN, seconds, blocks=PLAN.iter_missing(done), slots=slots)
    handed: Counter[bytes] = Counter()
    while True:
        for told in data.draw(TOLD):
            chunker.learn(*told)
        expected = {place: chunker.predict_seconds(place) for place in range(3)}
        chunk = chunker.take_chunk()
        if chunk is None:
            break
        found = places(chunk)
        handed.update(task.key for task in chunk.tasks)
        assert len({place[0] for place in found}) == 1
        assert found == sorted(found)
        times = [expected[d][a] for d, _, _, a in found]
        assert len(times) == 1 or sum(times) <= seconds + 1e-9  # NaN, a time that is not known, is not below
    assert set(handed) == set(PLACES) - done
    assert set(handed.values()) <= {1}


def test_a_chunk_says_what_its_tasks_are():
    chunker = learnt(Chunker(LIMITED, 0.9, blocks=PLAN.iter_missing()), [0.1, 0.1, 0.1])
    for chunk in chunks_of(chunker):
        assert chunk.limits == ResourceLimits(5.0, 10**9)
        for task in chunk.tasks:
            data, split, condition, learner = PLACES[task.key]
            of = PLAN.data[data]
            assert chunk.data == of.hash
            rows_of = chunk.splits[task.split]
            np.testing.assert_array_equal(rows_of.train, of.splits[split].train)
            np.testing.assert_array_equal(rows_of.test, of.splits[split].test)
            assert (rows_of.repeat, rows_of.fold) == of.splits.numbers[split]
            assert chunk.conditions[task.condition] == PLAN.conditions[condition].condition
            found = pickle.loads(chunk.learners[task.learner])
            assert repr(found) == repr(PLAN.learners[learner].estimator)
            names = (of.hash, PLAN.conditions[condition].condition.content_hash)
            number = of.splits.numbers[split]
            assert task.condition_seed == derive_seed(1, "condition", *names, *number)
            expected = derive_seed(1, "learner", *names, PLAN.learners[learner].draws_hash, *number) % (2**32 - 1)
            assert task.learner_seed == expected
        assert [(task.split, task.condition) for task in chunk.tasks] == sorted(
            (task.split, task.condition) for task in chunk.tasks
        )
        assert len(chunk.splits) == len({task.split for task in chunk.tasks})
        assert len(chunk.conditions) == len({task.condition for task in chunk.tasks})
        assert len(chunk.learners) == len({task.learner for task in chunk.tasks})


def test_a_learner_that_nothing_is_known_of_travels_alone():
    chunker = Chunker(PLAN)
    assert [len(chunker.take_chunk().tasks) for _ in range(5)] == [1] * 5


def test_known_learners_do_not_wait_for_an_unknown_one():
    chunker = Chunker(PLAN)
    chunker.learn(0, 0, 0.01)
    chunker.learn(2, 0, 0.01)
    assert [place[3] for place in places(chunker.take_chunk())] == [0, 2]
    assert [place[3] for place in places(chunker.take_chunk())] == [1]


def test_all_learners_of_a_context_stay_together_where_they_fit():
    chunker = learnt(Chunker(PLAN, 1.0), [0.2, 0.2, 0.2])
    for chunk in chunks_of(chunker):
        contexts = Counter(place[:3] for place in places(chunk))
        assert set(contexts.values()) == {3}


def test_where_they_do_not_fit_the_slow_one_goes_alone_and_the_others_together():
    chunker = learnt(Chunker(PLAN, 1.0), [0.2, 5.0, 0.2])
    learners = [[place[3] for place in places(chunk)] for chunk in chunks_of(chunker)]
    assert learners == [[0, 2], [1]] * 54


def test_many_splits_share_a_chunk_of_fast_trials():
    chunks = chunks_of(learnt(Chunker(PLAN, 1.0), [0.001] * 3))
    assert [len(chunk.tasks) for chunk in chunks] == [54, 54, 54]  # one for each data set
    assert [len(chunk.splits) for chunk in chunks] == [6, 6, 6]


def test_chunks_are_smaller_where_times_come_from_another_data_set():
    chunker = Chunker(PLAN, 1.0)
    for learner in range(3):
        chunker.learn(learner, 0, 0.01)
    sizes = {chunk.data: len(chunk.tasks) for chunk in chunks_of(chunker)}
    assert sizes[PLAN.data[0].hash] == 54
    # 48 rows instead of 12 make 0.04 s of 0.01 s; 2 contexts of 3 trials last 0.24 s, which is below a quarter of a second
    assert sizes[PLAN.data[1].hash] == 6


def test_towards_the_end_chunks_become_smaller():
    sizes = [len(chunk.tasks) for chunk in chunks_of(learnt(Chunker(PLAN, 10.0, slots=3), [0.1] * 3))]
    assert sizes[0] > 2 * sizes[-1]
    left = 162
    for size in sizes:
        assert size == 1 or size <= left / 6 + 1e-9 or size * 0.1 <= 0.02
        left -= size
    assert left == 0


def test_a_chunk_does_not_carry_more_positions_than_are_good(monkeypatch):
    from fairtrial.study.plan import schedule

    monkeypatch.setattr(schedule, "_MAX_POSITIONS", 24)
    chunks = chunks_of(learnt(Chunker(PLAN, 10.0), [0.001] * 3))
    assert {chunk.data: len(chunk.splits) for chunk in chunks} == {
        PLAN.data[0].hash: 2,  # 24 of 12 rows each
        PLAN.data[1].hash: 1,
        PLAN.data[2].hash: 1,
    }


def test_what_is_left_in_seconds():
    chunker = Chunker(PLAN)
    assert np.isnan(chunker.remaining_seconds)
    learnt(chunker, [0.1, 0.2, 0.3])
    assert chunker.remaining_seconds == pytest.approx(54 * 0.6)
    chunks_of(chunker)
    assert chunker.remaining_seconds == 0.0
    assert chunker.take_chunk() is None


def test_nothing_missing_is_no_chunk():
    assert Chunker(PLAN, blocks=[]).take_chunk() is None


@pytest.mark.parametrize("wrong", [{"seconds": 0}, {"seconds": float("nan")}, {"slots": 0}], ids=str)
def test_senseless_arguments_are_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        Chunker(PLAN, **wrong)


@pytest.mark.parametrize(
    "kind", [partial(ClassNoise, 0.3), partial(PriorShift, priors={"a": 0.8, "b": 0.2})], ids=["noise", "shift"]
)
def test_a_condition_changes_the_test_part_alike_whether_declared_for_it_or_for_all(kind):
    conditions = tuple((part, 1.0, kind(part=part)) for part in ("test", "all"))
    data = rows(60, seed=4)
    chunker = Chunker(plan_study(study({"one": data}, {"bayes": GaussianNB()}, conditions)), 100.0)
    chunker.learn(0, 0, 0.0)
    (chunk,) = chunks_of(chunker)
    assert len({task.key for task in chunk.tasks}) == len(chunk.tasks)
    found = {}
    for task in chunk.tasks:
        own = apply_condition(
            TrialData.from_dataset(data), chunk.splits[task.split], chunk.conditions[task.condition], task.condition_seed
        ).test
        found.setdefault(task.split, []).append((own.rows.tolist(), own.codes.tolist()))
    assert all(test == of_all for test, of_all in found.values())
    plain = [(rows_of.test.tolist(), TrialData.from_dataset(data).codes[rows_of.test].tolist()) for rows_of in chunk.splits]
    assert all(found[split][0] != plain[split] for split in found)


# --- Estimating ---


PLAN_ESTIMATING = plan_study(
    study(
        {"large": rows(60, seed=1), "small": rows(20, seed=2), "middle": rows(30, seed=3)},
        {"bayes": GaussianNB(), "near": KNeighborsClassifier(3)},
    )
)
EVERYTHING = PLAN_ESTIMATING.count(PLAN_ESTIMATING.iter_missing())
LARGE, SMALL, MIDDLE = (each.hash for each in PLAN_ESTIMATING.data)
BAYES, NEAR = (each.hash for each in PLAN_ESTIMATING.learners)


def test_stored_times_are_added_up_and_shared_by_the_jobs():
    times = {(LARGE, BAYES): (2.0, 5), (SMALL, BAYES): (1.0, 5), (MIDDLE, BAYES): (3.0, 1)}
    times |= {(LARGE, NEAR): (0.5, 1), (SMALL, NEAR): (0.25, 1), (MIDDLE, NEAR): (0.25, 9)}
    found = estimate(PLAN_ESTIMATING, EVERYTHING, times, 2, tries=False)
    assert found.seconds == pytest.approx(6 * (6 + 1) / 2)
    assert "21 s with 2 jobs" in found.summary
    assert "bayes and near" in found.summary


def test_a_data_set_without_a_time_takes_one_in_proportion_to_its_rows():
    times = {(LARGE, BAYES): (6.0, 1), (LARGE, NEAR): (0.6, 1)}
    found = estimate(PLAN_ESTIMATING, EVERYTHING, times, tries=False)
    assert found.seconds == pytest.approx(6 * 1.1 * (60 + 20 + 30) / 10)


def test_only_what_is_missing_counts():
    missing = np.zeros_like(EVERYTHING)
    missing[1, 0] = 3
    found = estimate(PLAN_ESTIMATING, missing, {(SMALL, BAYES): (2.0, 4)}, tries=False)
    assert found.seconds == pytest.approx(6.0)
    assert "6 s with 1 job" in found.summary
    assert "near" not in found.summary


def test_nothing_to_do():
    assert estimate(PLAN_ESTIMATING, np.zeros_like(EVERYTHING), {}).seconds == 0


def test_no_time_and_no_try_is_no_estimate():
    found = estimate(PLAN_ESTIMATING, EVERYTHING, {(LARGE, BAYES): (1.0, 1)}, tries=False)
    assert found.seconds is None
    assert "near" in found.summary
    assert found.frame()["seconds"].isna().all()


def test_learners_without_a_time_are_tried_on_the_data_set_of_median_size():
    found = estimate(PLAN_ESTIMATING, EVERYTHING, {(LARGE, BAYES): (54.0, 1)})
    bayes = 6 * 54 * (60 + 20 + 30) / 60
    assert bayes < found.seconds - found.start_seconds < bayes + 18 * 10
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
    assert 6 * 1.0 / 2 <= found.seconds - found.start_seconds < 20
    assert "slow did not finish in 1 s" in found.summary
    assert "time limit 1 min" in found.summary
    assert "broken failed (ValueError: no)" in found.summary
    assert "deadly failed (ProcessEnded: exited with code 3" in found.summary
    assert "one trial of slow, broken, deadly and bayes on first (30 rows)" in found.summary


def test_a_trial_is_not_tried_for_longer_than_the_limit_which_stops_it_in_the_run():
    data = {"large": rows(90, seed=1), "small": rows(20, seed=2), "middle": rows(30, seed=3)}
    odd = plan_study(study(data, {"slow": Slow()}, limits=ResourceLimits(1.5)))
    found = estimate(odd, odd.count(odd.iter_missing()), {})
    assert found.seconds - found.start_seconds == pytest.approx(6 * (1.5 + 1.0 + 1.5), rel=1e-9)
    assert "slow exceeded the time limit (1.5 s)" in found.summary


def test_no_trial_is_taken_to_last_longer_than_the_limit():
    limited = plan_study(study({"large": rows(60, seed=1), "small": rows(20, seed=2)}, limits=ResourceLimits(3.0)))
    times = {(limited.data[1].hash, limited.learners[0].hash): (2.0, 4)}
    found = estimate(limited, limited.count(limited.iter_missing()), times, tries=False)
    assert found.seconds == pytest.approx(6 * (2.0 + 3.0))


def test_the_time_to_start_the_workers_is_measured_and_included():
    times = {(data, learner): (0.001, 5) for data in (LARGE, SMALL, MIDDLE) for learner in (BAYES, NEAR)}
    for stored in (times, {}):  # with stored times, and with trial runs
        begun = time.monotonic()
        found = estimate(PLAN_ESTIMATING, EVERYTHING, stored)
        assert 0.1 < found.start_seconds < time.monotonic() - begun  # a new Python process imports NumPy and scikit-learn
        assert found.seconds > found.start_seconds
        assert "to start the workers), estimated from" in found.summary


def test_no_job_is_refused():
    with pytest.raises(InputError, match="jobs must be at least 1"):
        estimate(PLAN_ESTIMATING, EVERYTHING, {}, 0)


# --- Pace ---


def test_the_mean_of_what_was_learnt():
    pace = TimeModel([100, 300], 2)
    assert np.isnan(pace.seconds).all()
    pace.learn(0, 0, 1.0)
    pace.learn(0, 0, 2.0)
    pace.learn(0, 0, 6.0, trials=3)
    assert pace.seconds[0, 0] == (1 + 2 + 3 * 6) / 5
    assert np.isnan(pace.seconds[:, 1]).all()
    assert pace.seen.tolist() == [[True, False], [False, False]]


def test_another_data_set_in_proportion_to_its_rows():
    pace = TimeModel([100, 300, 50], 1)
    pace.learn(0, 0, 2.0)
    np.testing.assert_allclose(pace.seconds[:, 0], [2.0, 6.0, 1.0])
    pace.learn(0, 1, 2.0)  # 4 seconds for 400 rows in all
    np.testing.assert_allclose(pace.seconds[:, 0], [2.0, 2.0, 0.5])
