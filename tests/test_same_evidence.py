"""Whole studies on real engines: the same evidence byte for byte on any of them, whatever is killed on the way."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
import uuid
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from sklearn.naive_bayes import GaussianNB

from fairtrial.study.run.coordinator import run_study
from fairtrial.study.store.store import open_store

from .study.loopback import loopback
from .study.small_study import Watching
from .study.whole_study import TRIALS, Careless, Patient, Sleepy, Trusting, harmful_study, whole_study

ROOT = Path(__file__).resolve().parents[1]


def digest(path):
    with open_store(path) as store:
        return store.compute_digest()


def counts(path):
    with open_store(path) as store:
        return store.count_by_status()


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    """The digest of the evidence of one worker."""
    path = tmp_path_factory.mktemp("one") / "one.fairtrial"
    summary = run_study(whole_study(), path, jobs=1, progress=False)
    assert (summary.done, summary.failed) == (TRIALS, 0)
    return digest(path)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with loopback(tmp_path_factory.mktemp("dask"), 2) as here:
        yield here


@pytest.mark.parametrize(("engine", "jobs"), [("local", 4), ("dask", 3)])
def test_any_number_of_workers_leaves_the_same_evidence(tmp_path, evidence, engine, jobs):
    summary = run_study(whole_study(), tmp_path / "a.fairtrial", engine=engine, jobs=jobs, progress=False)
    assert (summary.done, summary.failed) == (TRIALS, 0)
    assert digest(tmp_path / "a.fairtrial") == evidence


def test_a_careless_neighbour_changes_nothing_for_the_others(tmp_path):
    """The learner that trusts its surroundings answers as it does alone, in every trial."""
    together, alone = tmp_path / "together.fairtrial", tmp_path / "alone.fairtrial"
    run_study(whole_study(learners={"careless": Careless(), "trusting": Trusting()}), together, jobs=1, progress=False)
    run_study(whole_study(learners={"trusting": Trusting()}), alone, jobs=1, progress=False)
    with open_store(together) as both, open_store(alone) as single:
        beside, expected = (predictions_of(store, "trusting") for store in (both, single))
    assert len(beside) == TRIALS // 6
    assert beside == expected
    assert len({tuple(each) for each in beside.values()}) > 1


def predictions_of(store, learner):
    archive = store.open_archive()
    trials = archive.trials()
    chosen = trials[trials["learner"] == learner]
    assert set(chosen["status"]) == {"ok"}
    names = chosen.set_index("trial")[["dataset", "condition", "level", "repeat", "fold"]]
    found = archive.predictions(list(chosen["trial"]))
    return {tuple(names.loc[trial]): each.prediction.tolist() for trial, each in zip(chosen["trial"], found, strict=True)}


@pytest.mark.parametrize("engine", ["local", "cluster"])
def test_a_study_that_ends_or_is_stopped_leaves_those_beside_it_alone(tmp_path, request, engine):
    """A learner waits until two other studies have run beside its own, on the same workers."""
    where = {"jobs": 1} if engine == "local" else {"engine": request.getfixturevalue("crowded").address}
    folder, stop, summaries = tmp_path / "folder", threading.Event(), []
    folder.mkdir()
    small = {"data": ["iris"], "conditions": None, "resampling": {"scheme": "stratified", "folds": 2}}
    patient = whole_study(learners={"patient": Patient(str(folder)), "bayes": GaussianNB()}, **small)
    thread = threading.Thread(
        target=lambda: summaries.append(run_study(patient, tmp_path / "a.fairtrial", progress=False, **where))
    )
    thread.start()
    begun = wait_for(folder)
    short = whole_study(learners={"sleepy": Sleepy()}, **small)
    assert run_study(short, tmp_path / "b.fairtrial", progress=False, **where).done == 2
    stopped = run_study(short, tmp_path / "c.fairtrial", progress=Watching(1, stop.set), stop=stop, **where)
    assert stopped.failed == 0
    assert [psutil.pid_exists(each) for each in begun] == [True] * len(begun)
    (folder / "end").touch()
    thread.join(120)
    assert [(each.done, each.failed) for each in summaries] == [(4, 0)]


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """One worker process that runs several chunks at once."""
    with loopback(tmp_path_factory.mktemp("crowded"), 1, "--nthreads", "4") as here:
        yield here


def wait_for(folder):
    """The processes in which trials wait, once there is one."""
    until = time.monotonic() + 60
    while not (begun := [int(each.name) for each in folder.iterdir()]):
        assert time.monotonic() < until
        time.sleep(0.02)
    return begun


def coordinator(path, mark):
    """The coordinator as a process, which has begun to store evidence."""
    command = [sys.executable, "-m", "tests.study.whole_study", str(path), "local", "1"]
    environment = {**os.environ, "FAIRTRIAL_TEST_MARK": mark}
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True)


def processes_with(mark):
    """Processes that descend from the coordinator, whoever their parent is now."""
    found = []
    for each in psutil.process_iter():
        try:
            if each.environ().get("FAIRTRIAL_TEST_MARK") == mark and each.status() != psutil.STATUS_ZOMBIE:
                found.append(each)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def nobody_is_left(mark):
    until = time.monotonic() + 20
    while processes_with(mark):
        assert time.monotonic() < until, f"still there: {processes_with(mark)}"
        time.sleep(0.05)


def test_two_kills_of_the_coordinator_lose_nothing_and_change_nothing(tmp_path, evidence):
    path, mark, chance, before = tmp_path / "a.fairtrial", uuid.uuid4().hex, random.Random(5), 0
    for _ in range(2):
        with coordinator(path, mark) as process:
            told = int(process.stdout.readline())
            time.sleep(chance.random() * 0.1)
            assert process.poll() is None
            process.kill()
        nobody_is_left(mark)
        stored = counts(path)
        assert set(stored) == {"ok"}
        assert before < told <= stored["ok"] < TRIALS, "what was told to be stored is stored, and there is more to do"
        before = stored["ok"]
    summary = run_study(whole_study(), path, progress=False)
    assert (summary.stored, summary.done) == (before, TRIALS - before)
    assert digest(path) == evidence


def test_ctrl_c_in_a_terminal_which_reaches_all_processes_stops_cleanly(tmp_path, evidence):
    path, mark = tmp_path / "a.fairtrial", uuid.uuid4().hex
    with coordinator(path, mark) as process:
        process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        lines = process.stdout.read().splitlines()
        assert process.wait(20) == 0
    stored = counts(path)
    assert set(stored) == {"ok"}
    assert lines[-1].startswith(f"stopped: {stored['ok']} of {TRIALS} trials stored")
    nobody_is_left(mark)
    run_study(whole_study(), path, progress=False)
    assert digest(path) == evidence


def test_a_child_that_is_killed_costs_its_trial_alone_which_can_be_tried_again(tmp_path, evidence):
    path = tmp_path / "a.fairtrial"
    summary = run_study(whole_study(), path, jobs=2, progress=Watching(20, kill_child))
    assert summary.done == TRIALS
    assert summary.failed <= 1
    assert set(summary.failures) <= {"crash"}
    again = run_study(whole_study(), path, jobs=1, retry=["crash"], progress=False)
    assert (again.done, again.failed) == (summary.failed, 0)
    assert digest(path) == evidence


def test_a_warden_that_is_killed_costs_nothing(tmp_path, evidence):
    path = tmp_path / "a.fairtrial"
    summary = run_study(whole_study(), path, jobs=1, progress=Watching(20, kill_warden))
    assert (summary.done, summary.failed) == (TRIALS, 0)
    assert digest(path) == evidence


def find_fork_server():
    """Find a fork server with a child in which learners run. A child may be replaced at any moment, so try again."""
    while True:
        for process in psutil.Process().children():
            if "fork_server" in " ".join(process.cmdline()) and (children := process.children()):
                return process, children[0]


def kill_warden():
    find_fork_server()[0].kill()


def kill_child():
    with suppress(psutil.NoSuchProcess):  # it was replaced at this moment: kill its successor
        return find_fork_server()[1].kill()
    return kill_child()


def test_a_dask_worker_that_is_killed_costs_nothing(tmp_path, evidence, cluster):
    victim, path = cluster.worker(), tmp_path / "a.fairtrial"
    summary = run_study(whole_study(), path, engine=cluster.address, progress=Watching(20, victim.kill))
    assert victim.wait(10) == -signal.SIGKILL
    assert (summary.done, summary.failed) == (TRIALS, 0)
    assert digest(path) == evidence


def test_learners_that_kill_hang_or_take_all_memory_fail_alone(tmp_path, cluster):
    with_dask, alone = tmp_path / "dask.fairtrial", tmp_path / "local.fairtrial"
    run_study(harmful_study(), with_dask, engine=cluster.address, progress=False)
    run_study(harmful_study(), alone, jobs=2, progress=False)
    with open_store(with_dask) as store:
        trials = store.open_archive().trials()
    found = {learner: set(group) for learner, group in trials.groupby("learner", observed=True)["status"]}
    assert found == {"bayes": {"ok"}, "kill": {"crash"}, "hang": {"timeout"}, "hog": {"memory"}}
    assert len(trials) == 8
    assert digest(with_dask) == digest(alone)
    assert cluster_is_alive(cluster)


def cluster_is_alive(cluster):
    from distributed import Client

    with Client(cluster.address.replace("dask://", "tcp://"), set_as_default=False) as client:
        return len(client.nthreads()) == 2
