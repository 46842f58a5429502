"""What planning is given."""

import numpy as np

from fairtrial.study.records import ResourceLimits
from fairtrial.study.spec.resolve import ResolvedStudy, VerdictPlan
from fairtrial.study.spec.toml import SpecSource


def resolve(values):
    source = SpecSource(values)
    return source.resolve(source.read_spec())


def test_splits_of_a_repeat_depend_on_the_generator_alone():
    found = resolve({"data": ["iris"], "learners": ["c45"], "resampling": {"folds": 3, "repeats": 2}})
    assert isinstance(found, ResolvedStudy)
    [entry] = found.data
    first, again, other = (found.draw_splits(entry, 1, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first.content_hash == again.content_hash != other.content_hash
    assert {part.repeat for part in first} == {1}
    assert found.repeats == 2
    assert found.scheme == "{'n_splits': 3, 'scheme': 'stratified'}"


def test_defaults():
    found = resolve({"data": ["iris"], "learners": ["c45"]})
    assert found.verdict == VerdictPlan("accuracy", None, 0.05, None, "exclude")
    assert found.limits == ResourceLimits(3600.0, None)
    assert [(each.name, each.level) for each in found.conditions] == [("clean", 0.0)]
