import pytest

from fairtrial.study.plan.plan import PendingTrials, TrialIndex, plan_study
from fairtrial.study.plan.schedule import Chunker
from tests.study.small_study import small_study


def test_each_trial_is_found_where_the_plan_has_its_key():
    planned = plan_study(small_study())
    places, chunker, keys = PendingTrials(planned), Chunker(planned), []
    while (chunk := chunker.take_chunk()) is not None:
        places.mark_sent(chunk)
        keys += [task.key for task in chunk.tasks]
    assert len(keys) == planned.n_trials == 24
    found = [places.mark_done(key) for key in reversed(keys)]
    with pytest.raises(KeyError):
        places.mark_done(keys[0])
    for key, place in zip(reversed(keys), found, strict=True):
        assert planned.get_keys(place.data)[place.split, place.condition, place.learner].tobytes() == key
    assert set(found) == {TrialIndex(d, s, c, a) for d in range(2) for s in range(3) for c in range(2) for a in range(2)}
