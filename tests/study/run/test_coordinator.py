"""The coordinator with executors that answer without learning: what is sent out, kept, told, and when it stops."""

import os
import signal
import threading
from types import SimpleNamespace

import pytest

from fairtrial.conditions import PriorShift
from fairtrial.errors import InputError, SpecError, StoreError
from fairtrial.study.plan.plan import plan_study
from fairtrial.study.records import DataRequest, ResourceLimits, TrialRecord
from fairtrial.study.run import engine as engines
from fairtrial.study.run.coordinator import run_study
from fairtrial.study.store.sqlite import SQLiteStore
from fairtrial.study.store.store import open_store
from tests.study.small_study import Answering, Watching, small_study


@pytest.fixture
def path(tmp_path):
    return tmp_path / "small.fairtrial"


def stored(path):
    with open_store(path) as store:
        return store.count_by_status()


def all_keys(study):
    planned = plan_study(study)
    return {planned.get_keys(i)[where].tobytes() for i in range(2) for where in np_places(planned.get_keys(i))}


def np_places(keys):
    return [(s, c, a) for s in range(keys.shape[0]) for c in range(keys.shape[1]) for a in range(keys.shape[2])]


def test_every_trial_goes_out_once_and_is_kept_and_told(path):
    executor, watching = Answering(), Watching()
    summary = run_study(small_study(), path, engine=executor, progress=watching)
    assert sorted(executor.trials) == sorted(all_keys(small_study()))
    assert (summary.planned, summary.stored, summary.done, summary.left, summary.interrupted) == (24, 0, 24, 0, False)
    assert stored(path) == {"ok": 24}
    [(name, learners, planned, before, where)] = watching.started
    assert (name, learners, planned, before) == ("small", ("bayes", "tree"), 24, 0)
    assert "Answering" in where
    assert (watching.names.count("bayes"), watching.names.count("tree")) == (12, 12)
    assert watching.summaries == [summary]


def test_a_finished_study_opens_no_engine(path, monkeypatch):
    run_study(small_study(), path, engine=Answering(), progress=False)
    monkeypatch.setattr(engines, "open_engine", lambda *_: pytest.fail("an engine was opened"))
    watching = Watching()
    summary = run_study(small_study(), path, progress=watching)
    assert (summary.planned, summary.stored, summary.done, summary.interrupted) == (24, 24, 0, False)
    assert (summary.stored, summary.done, summary.left) == (24, 0, 0)
    assert watching.summaries == [summary]


def test_a_study_that_grew_runs_only_what_is_new(path):
    study = small_study()
    run_study(small_study(conditions=study.conditions[:1]), path, engine=Answering(), progress=False)
    executor = Answering()
    summary = run_study(study, path, engine=executor, progress=False)
    assert (summary.stored, summary.done, len(executor.trials)) == (12, 12, 12)
    assert {condition.name for chunk in executor.said for condition in chunk.conditions} == {"class-noise"}


def ask(how, stop):
    if how == "event":
        stop.set()
    else:
        os.kill(os.getpid(), how)


@pytest.mark.parametrize("how", ["event", signal.SIGINT, signal.SIGTERM], ids=["event", "SIGINT", "SIGTERM"])
def test_stop_and_go_on(path, how):
    stop = threading.Event()
    watching = Watching(5, lambda: ask(how, stop))
    summary = run_study(small_study(), path, jobs=1, engine=Answering(), progress=watching, stop=stop)
    assert summary.interrupted
    assert 5 <= summary.done < 24
    assert stored(path) == {"ok": summary.done}
    assert summary.left == 24 - summary.done
    executor = Answering()
    rest = run_study(small_study(), path, engine=executor, progress=False)
    assert (rest.stored, rest.done, len(executor.trials)) == (summary.done, summary.left, summary.left)


@pytest.mark.usefixtures("interruptible")
def test_a_second_ctrl_c_ends_at_once_and_what_was_kept_stays(path):
    def twice():
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    watching = Watching(5, twice)
    with pytest.raises(KeyboardInterrupt, match=r"stopped: \d+ of 24 trials stored"):
        run_study(small_study(), path, jobs=1, engine=Answering(), progress=watching)
    assert watching.summaries == [None]
    assert stored(path) == {"ok": len(watching.evidence)}


def test_failures_are_done_unless_they_are_to_be_tried_again(path):
    def failing(chunk):
        kinds = {0: "timeout", 1: "error"}
        return [TrialRecord(task.key, kinds.get(task.key[0] % 4, "ok")) for task in chunk.tasks]

    keys = sorted(all_keys(small_study()))
    timeouts, errors = ([key for key in keys if key[0] % 4 == kind] for kind in (0, 1))
    first = run_study(small_study(), path, engine=Answering(failing), progress=False)
    assert timeouts
    assert errors
    assert first.failures == {"error": len(errors), "timeout": len(timeouts)}
    assert run_study(small_study(), path, progress=False).done == 0
    executor = Answering()
    again = run_study(small_study(), path, engine=executor, retry=["timeout"], progress=False)
    assert sorted(executor.trials) == timeouts
    assert (again.done, again.failed) == (len(timeouts), 0)
    assert stored(path) == {"ok": 24 - len(errors), "error": len(errors)}


def test_shards_share_the_trials_out(tmp_path):
    parts = [Answering() for _ in range(3)]
    for i, executor in enumerate(parts, start=1):
        summary = run_study(small_study(), tmp_path / f"{i}.fairtrial", engine=executor, shard=(i, 3), progress=False)
        assert summary.planned == summary.done == len(executor.trials)
    assert sorted(key for executor in parts for key in executor.trials) == sorted(all_keys(small_study()))
    again = run_study(small_study(), tmp_path / "1.fairtrial", shard=(1, 3), progress=False)
    assert (again.planned, again.stored, again.done) == (len(parts[0].trials), len(parts[0].trials), 0)


def test_a_store_that_cannot_be_written_ends_the_run_and_loses_nothing(path, monkeypatch):
    add, batches = SQLiteStore.add_records, []

    def full(self, batch):
        batches.append(list(batch))
        if len(batches) == 3:
            raise StoreError("the disk is full")
        add(self, batches[-1])

    monkeypatch.setattr(SQLiteStore, "add_records", full)
    kept = lambda: len(batches[0]) + len(batches[1])  # noqa: E731
    with pytest.raises(StoreError, match="the disk is full") as told:
        run_study(small_study(), path, jobs=1, engine=Answering(), progress=False)
    assert f"{kept()} of 24 trials" in str(told.value)
    assert stored(path) == {"ok": kept()}
    monkeypatch.undo()
    assert run_study(small_study(), path, engine=Answering(), progress=False).done == 24 - kept()


def test_a_failure_of_the_engine_is_raised_with_what_came_before_kept(path):
    def breaking(chunk):
        if len(executor.said) == 4:
            raise TypeError("the engine is broken")
        return [TrialRecord(task.key, "ok") for task in chunk.tasks]

    executor = Answering(breaking)
    with pytest.raises(TypeError, match="the engine is broken"):
        run_study(small_study(), path, jobs=1, engine=executor, progress=False)
    assert stored(path)["ok"] >= sum(len(chunk.tasks) for chunk in executor.said[:3])


def test_limits_of_the_run_take_the_place_of_those_of_the_study(path):
    executor = Answering()
    run_study(small_study(), path, engine=executor, limits=ResourceLimits(7.0, 10**9), progress=False)
    assert {chunk.limits for chunk in executor.said} == {ResourceLimits(7.0, 10**9)}


def test_a_worker_gets_the_data_set_that_it_needs(path):
    class Forgetful(Answering):
        def submit(self, function, chunk, dataset):
            given.append(None if dataset is None else dataset.content_hash == chunk.data)
            self._answer = lambda each: (
                DataRequest(each.data) if dataset is None else [TrialRecord(t.key, "ok") for t in each.tasks]
            )
            return super().submit(function, chunk, dataset)

    given = []
    assert run_study(small_study(), path, engine=Forgetful(), progress=False).done == 24
    assert given.count(None) == given.count(True) == len(given) // 2


def test_the_run_is_noted(path):
    run_study(small_study(), path, jobs=2, engine=Answering(), progress=False)
    with open_store(path) as store:
        [noted] = store.open_archive().runs
    assert (noted["engine"], noted["jobs"], noted["done"], noted["left"]) == ("Answering", 2, 24, 0)
    assert {"numpy", "scikit-learn", "fairtrial", "python"} <= set(noted["versions"])


def test_an_unknown_kind_of_failure(path):
    with pytest.raises(InputError, match=r"retry must be .*'timout'"):
        run_study(small_study(), path, retry=["timout"])
    assert not path.exists()


def test_limits_of_another_kind(path):
    with pytest.raises(InputError, match=r"limits must be .* got \{'time': 5\}"):
        run_study(small_study(), path, limits={"time": 5})


@pytest.mark.parametrize(
    ("wrong", "sentence"), [({"jobs": 0}, "jobs must be at least 1"), ({"engine": "sparc"}, "engine must be")]
)
def test_engine_and_jobs_are_checked_where_nothing_is_to_do(path, wrong, sentence):
    run_study(small_study(), path, engine=Answering(), progress=False)
    with pytest.raises(InputError, match=sentence):
        run_study(small_study(), path, progress=False, **wrong)
    assert run_study(small_study(), path, progress=False, engine="dask://nohost:99").done == 0


HOPELESS = SimpleNamespace(name="rare", level=1.0, condition=PriorShift(priors={"nobody": 0.1}))


def test_a_condition_that_fits_no_data_set_is_refused_and_leaves_no_file(path):
    study = small_study()
    with pytest.raises(SpecError, match=r"conditions\.rare: .*nobody"):
        run_study(small_study(conditions=(*study.conditions, HOPELESS)), path, engine=Answering(), progress=False)
    assert not path.exists()


def test_a_refused_study_does_not_become_the_last_one_of_a_file(path):
    study = small_study()
    run_study(study, path, engine=Answering(), progress=False)
    with pytest.raises(SpecError):
        run_study(small_study(name="other", conditions=(*study.conditions, HOPELESS)), path, engine=Answering(), progress=False)
    with open_store(path) as store:
        assert store.open_archive().name == "small"
