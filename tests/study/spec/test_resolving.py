"""All mistakes of meaning are told together."""

import pytest

from fairtrial.errors import SpecError
from fairtrial.resampling import KFold
from fairtrial.study.records import ResourceLimits
from fairtrial.study.spec.models import StudySpec
from fairtrial.study.spec.toml import SpecSource

GOOD = {"data": ["iris"], "learners": ["c45", "svc"]}


def resolve(spec, **options):
    return SpecSource({}, **options).resolve(spec)


def problems(change, **options):
    with pytest.raises(SpecError) as caught:
        resolve(StudySpec.from_mapping(GOOD | change), **options)
    return [(each.location, each.message) for each in caught.value.problems]


def test_what_is_resolved():
    change = {
        "name": "x",
        "seed": 3,
        "measures": ["auc", "f1"],
        "verdict": {"control": "svc", "rope": 0.01, "failures": "trivial"},
    }
    found = resolve(StudySpec.from_mapping(GOOD | change | {"limits": {"time": "2 min", "memory": "1 GB"}}))
    assert (found.name, found.seed, found.measures) == ("x", 3, ("auc", "f1"))
    assert (found.verdict.measure, found.verdict.control, found.verdict.rope) == ("auc", "svc", 0.01)
    assert found.limits == ResourceLimits(120.0, 1_000_000_000)
    assert found.declaration["learners"] == {"c45": {"learner": "c45"}, "svc": {"learner": "svc"}}


@pytest.mark.parametrize(
    ("change", "place", "told"),
    [
        ({"measures": ["auc", "acuracy"]}, "measures[1]", "'accuracy'"),
        ({"measures": ["auc", "roc_auc"]}, "measures[1]", "roc_auc and auc"),
        ({"measures": ["regression.rmse"]}, "measures[0]", "regression.rmse"),
        ({"verdict": {"measure": "acuracy"}}, "verdict.measure", "'accuracy'"),
        (
            {"verdict": {"control": "c46"}},
            "verdict.control",
            "control must be",
        ),
        ({"resampling": {"scheme": "kfol"}}, "resampling.scheme", "'kfold'"),
        ({"resampling": {"shuffle": True}}, "resampling.shuffle", "'shuffle'"),
        (
            {"resampling": {"scheme": "leave-one-out", "repeats": 3}},
            "resampling.repeats",
            "repeats must be 1 for leave-one-out",
        ),
        (
            {"resampling": {"folds": 60}},
            "data.sets[0]",
            "50 in iris",
        ),
        ({"resampling": "given"}, "data.sets[0]", "'given'"),
    ],
)
def test_mistakes(change, place, told):
    [(where, message)] = problems(change)
    assert where == place
    assert told in message


def test_everything_that_is_wrong_is_told_at_once():
    change = {
        "data": ["irs", "iris"],
        "learners": {"a": "c46", "b": {"learner": "c45", "sampler": "smoote"}},
        "conditions": {"clas-noise": [0.1]},
        "resampling": "kfol",
        "measures": ["acuracy"],
        "verdict": {"control": "c"},
    }
    assert [place for place, _ in problems(change)] == [
        "data.sets[0]",
        "learners.a.learner",
        "learners.b.sampler",
        "conditions.clas-noise.condition",
        "resampling.scheme",
        "measures[0]",
        "verdict.control",
    ]


def test_a_splitter_object_takes_the_place_of_the_declared_scheme():
    found = resolve(StudySpec.from_mapping(GOOD), objects={("resampling",): KFold(4)})
    assert repr(found.resampling.splitter) == "KFold(n_splits=4)"
    assert problems({}, objects={("resampling",): KFold(4, random_state=1)})[0][0] == "resampling"


def test_no_limits():
    assert StudySpec.from_mapping(GOOD | {"limits": {"time": "none"}}).limits.to_resource_limits() == ResourceLimits(None, None)
