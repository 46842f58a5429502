"""What planning is given."""

import numpy as np

from fairtrial.study.declare.declaration import Declaration
from fairtrial.study.declare.resolved import Resolved, VerdictPlan
from fairtrial.study.declare.resolving import resolve
from fairtrial.study.records import Limits


def test_splits_of_a_repeat_depend_on_the_generator_alone():
    found = resolve(Declaration.of({"data": ["iris"], "learners": ["c45"], "resampling": {"folds": 3, "repeats": 2}}))
    assert isinstance(found, Resolved)
    [entry] = found.data
    first, again, other = (found.splits_of(entry, 1, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first.content_hash == again.content_hash != other.content_hash
    assert {part.repeat for part in first} == {1}
    assert found.repeats == 2
    assert found.scheme == "{'n_splits': 3, 'scheme': 'stratified'}"


def test_defaults():
    found = resolve(Declaration.of({"data": ["iris"], "learners": ["c45"]}))
    assert found.verdict == VerdictPlan("accuracy", None, 0.05, None, "exclude")
    assert found.limits == Limits(3600.0, None)
    assert [(each.name, each.level) for each in found.conditions] == [("clean", 0.0)]
