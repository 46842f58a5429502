import pytest

from fairtrial.study.plan.chunking import Chunker
from fairtrial.study.plan.places import Place, Places
from fairtrial.study.plan.plan import plan
from tests.study.small_study import small_study


def test_each_trial_is_found_where_the_plan_has_its_key():
    planned = plan(small_study())
    places, chunker, keys = Places(planned), Chunker(planned), []
    while (chunk := chunker.next_chunk()) is not None:
        places.went_out(chunk)
        keys += [task.key for task in chunk.tasks]
    assert len(keys) == planned.n_trials == 24
    found = [places.came_back(key) for key in reversed(keys)]
    with pytest.raises(KeyError):
        places.came_back(keys[0])
    for key, place in zip(reversed(keys), found, strict=True):
        assert planned.keys(place.data)[place.split, place.condition, place.learner].tobytes() == key
    assert set(found) == {Place(d, s, c, a) for d in range(2) for s in range(3) for c in range(2) for a in range(2)}
