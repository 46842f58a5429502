"""What a run would do."""

import pytest

from fairtrial.errors import SpecError
from fairtrial.study.records import ResourceLimits
from fairtrial.study.run.coordinator import run_study
from fairtrial.study.run.dry_run import dry_run
from fairtrial.study.study import Study

COMMON = {"data": ["iris", "wine"], "resampling": {"folds": 3}}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("dry") / "some.fairtrial"
    run_study(Study(**COMMON, learners=["gaussian-nb"]), path, jobs=1, progress=False)
    return path


def test_what_is_stored_is_not_planned_again(store):
    found = dry_run(Study(**COMMON, learners=["gaussian-nb", "decision-tree"]), store)
    frame = found.frame().set_index(["dataset", "learner"])
    assert frame["planned"].eq(3).all()
    assert frame.xs("gaussian-nb", level="learner")["missing"].eq(0).all()
    assert frame.xs("decision-tree", level="learner")["stored"].eq(0).all()
    assert "6 of 12 trials stored, 6 missing" in str(found)
    assert found.estimate.seconds is not None


def test_nothing_is_left_of_a_finished_study(store):
    found = dry_run(Study(**COMMON, learners=["gaussian-nb"]), store)
    assert found.estimate.seconds == 0
    assert int(found.missing.sum()) == 0


def test_shards_share_the_work(store):
    study = Study(**COMMON, learners=["gaussian-nb", "decision-tree"])
    parts = [dry_run(study, store, shard=(number, 2)) for number in (1, 2)]
    assert sum(int(part.planned.sum()) for part in parts) == 12
    assert sum(int(part.missing.sum()) for part in parts) == 6


def test_a_store_that_is_not_there_is_not_made(tmp_path):
    found = dry_run(Study(**COMMON, learners=["gaussian-nb"]), tmp_path / "new.fairtrial")
    assert int(found.missing.sum()) == 6
    assert list(tmp_path.iterdir()) == []


def test_limits_that_are_told_go_before_those_of_the_study(tmp_path):
    study = Study(**COMMON, learners=["gaussian-nb"], limits={"time": "1 min"})
    found = dry_run(study, tmp_path / "new.fairtrial", limits=ResourceLimits(2.0))
    assert found.plan.study.limits == ResourceLimits(2.0)


def test_a_condition_that_fits_no_data_set_is_refused(tmp_path):
    shift = {"rare": {"condition": "prior-shift", "priors": {"nobody": 0.1}}}
    study = Study(**COMMON, learners=["gaussian-nb"], conditions=shift)
    with pytest.raises(SpecError, match=r"conditions\.rare: .*nobody"):
        dry_run(study, tmp_path / "new.fairtrial")
