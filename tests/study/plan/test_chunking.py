import pickle
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
from fairtrial.study.plan.schedule import Chunker
from fairtrial.study.randomness import derive_seed
from fairtrial.study.records import ResourceLimits
from fairtrial.study.run.trial_data import TrialData, apply_condition
from tests.study.small_studies import CLEAN, rows, study

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
            expected = derive_seed(1, "learner", *names, PLAN.learners[learner].hash, *number) % (2**32 - 1)
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
