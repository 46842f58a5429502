"""Tests of `fairtrial.study.run.engine`."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import BrokenExecutor, CancelledError, Executor, ThreadPoolExecutor

import numba
import numpy as np
import psutil
import pytest
import scipy
import sklearn

import fairtrial
from fairtrial.data import Dataset
from fairtrial.errors import InputError
from fairtrial.study.records import DataRequest
from fairtrial.study.run import dask, pool as pool_module
from fairtrial.study.run.engine import (
    CheckedWork,
    Engine,
    check_engine,
    count_usable_cores,
    create_run_id,
    engines,
    find_version_differences,
    get_versions,
    open_engine,
    register_engine,
)
from fairtrial.study.run.pool import DatasetCache, SupervisorPool, end_run, run_chunk
from tests.study.chunks import chunk_of, dataset, is_gone, is_right, told
from tests.study.loopback import loopback
from tests.study.trouble import Trouble

# --- Engine ---


def test_the_local_engine_runs_as_many_chunks_as_jobs_are_asked_for():
    engine = open_engine("local", 3)
    try:
        assert (engine.name, engine.workers()) == ("local", 3)
        assert engine.executor._max_workers == 3
        assert 3 < engine.slots <= 6
    finally:
        engine.close()
    with pytest.raises(RuntimeError, match="shutdown"):
        engine.executor.submit(int)


def test_by_default_there_are_as_many_jobs_as_cores_that_may_be_used():
    engine = open_engine()
    engine.close()
    assert engine.workers() == count_usable_cores()
    assert (
        1 <= count_usable_cores() <= len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count()))
    )


def test_an_executor_of_ones_own_is_taken_and_stays_open():
    with ThreadPoolExecutor(5) as own:
        engine = open_engine(own)
        assert (engine.name, engine.executor, engine.workers()) == ("ThreadPoolExecutor", own, 5)
        engine.close()
        assert own.submit(int).result(10) == 0
        assert open_engine(own, jobs=2).workers() == 2


def test_an_executor_that_does_not_tell_its_size_gets_as_many_chunks_as_there_are_cores():
    class Own(Executor):
        pass

    assert open_engine(Own()).workers() == count_usable_cores()


@pytest.mark.parametrize("engine", ["loca", "Dask", "slurm", 3, None])
def test_an_unknown_engine(engine):
    with pytest.raises(InputError, match=r"engine must be one of \['local', 'dask', 'dask://host:port'\] or an executor, got"):
        open_engine(engine)


@pytest.mark.parametrize("jobs", [0, -1, 1.5, "2"])
def test_jobs_must_be_a_whole_number(jobs):
    with pytest.raises(InputError, match="jobs must be"):
        open_engine("local", jobs)


@pytest.mark.parametrize("error", [BrokenExecutor(), CancelledError(), ConnectionResetError(), EOFError()])
def test_lost_work_is_told_from_mistakes(error):
    engine = Engine("any", Executor(), print, lambda: 1, lambda: None)
    assert engine.is_loss(error)
    assert not engine.is_loss(TypeError())
    assert not engine.is_loss(InputError())


def test_slots_follow_the_workers_that_there_are_now():
    counts = iter([0, 2, 100])
    engine = Engine("any", Executor(), print, lambda: next(counts), lambda: None)
    assert [engine.slots, engine.slots, engine.slots] == [2, 4, 151]


@pytest.fixture
def registered(monkeypatch):
    """Two engines that another package defines."""
    check_engine("dask")  # the engines of this package are there before
    monkeypatch.setattr(engines, "_items", dict(engines._items))

    def make(engine, jobs, packages):
        return Engine(engine, ThreadPoolExecutor(1), packages, lambda: jobs or 7, lambda: None)

    register_engine("slurm")(make)
    register_engine("slurm://partition")(make)


@pytest.mark.usefixtures("registered")
def test_an_engine_that_registers_itself_is_opened_by_name_or_address():
    engine = open_engine("slurm", 3, ["xgboost"])
    assert (engine.name, engine.workers(), engine.work) == ("slurm", 3, ("xgboost",))
    assert open_engine("slurm://large").name == "slurm://large"
    check_engine("slurm://other", 2)
    with pytest.raises(InputError, match="got 'slurn': did you mean 'slurm'"):
        open_engine("slurn")


def test_dask_is_not_imported_unless_it_is_used():
    code = (
        "import sys; from fairtrial.study.run.engine import check_engine; check_engine('dask', 2); "
        "print('dask' in sys.modules, 'distributed' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split() == ["False", "False"]


# --- Versions ---


def test_versions_are_those_that_the_packages_tell_of_themselves():
    assert get_versions() == {
        "fairtrial": fairtrial.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "numba": numba.__version__,
    }


def test_each_difference_is_named():
    wanted = {"fairtrial": "1.0", "numpy": "2.3.1", "xgboost": "3.0", "scikit-learn": "1.7"}
    found = {"fairtrial": "1.0", "numpy": "2.0.0", "xgboost": "not installed"}
    assert find_version_differences(wanted, found) == ["numpy 2.0.0 instead of 2.3.1", "no xgboost", "no scikit-learn"]


def test_a_package_that_is_absent_on_both_sides_is_no_difference():
    assert find_version_differences({"mine": "not installed"}, {"mine": "not installed"}) == []


def test_a_worker_with_other_packages_is_refused_by_name():
    CheckedWork("run", {"numpy": "2"}).refuse_differences("the worker", {"numpy": "2"})
    with pytest.raises(InputError, match=r"node7 must have .* got numpy 1 instead of 2"):
        CheckedWork("run", {"numpy": "2"}).refuse_differences("the worker on node7", {"numpy": "1"})


# --- Dask ---
# With real schedulers and workers on loopback: what is refused, what is lost, what comes and goes.


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with loopback(tmp_path_factory.mktemp("dask")) as here:
        yield here


def test_a_worker_that_dies_loses_its_work_and_the_next_work_runs():
    engine = open_engine("dask", 1)
    try:
        assert (engine.name, engine.workers()) == ("dask", 1)
        first = engine.executor.submit(os.getpid).result(30)
        assert first != os.getpid()
        with pytest.raises(Exception, match="died while running it") as lost:
            engine.executor.submit(os.kill, first, signal.SIGKILL).result(30)
        assert engine.is_loss(lost.value)
        assert engine.executor.submit(os.getpid).result(30) != first
        with pytest.raises(ZeroDivisionError) as own:
            engine.executor.submit(divmod, 1, 0).result(30)
        assert not engine.is_loss(own.value)
    finally:
        engine.close()


def test_two_clusters_on_one_machine_do_not_want_the_same_port():
    first, second = open_engine("dask", 1), open_engine("dask", 1)  # a warning, which is an error here, if they did
    try:
        assert first.executor.submit(os.getpid).result(30) != second.executor.submit(os.getpid).result(30)
    finally:
        first.close()
        second.close()


def test_ctrl_c_in_the_terminal_does_not_reach_the_workers():
    engine = open_engine("dask", 1)
    try:
        pid = engine.executor.submit(os.getpid).result(30)
        os.kill(pid, signal.SIGINT)
        assert engine.executor.submit(os.getpid).result(30) == pid
    finally:
        engine.close()


def test_no_workers_is_told_while_waiting_and_refused_in_the_end(cluster, monkeypatch, capsys):
    monkeypatch.setattr(dask, "WORKER_SECONDS", 0.2)
    with pytest.raises(InputError, match="at least 1 worker"):
        open_engine(cluster.address)
    assert capsys.readouterr().err == f"{cluster.address} has no workers yet: waiting up to 0.2 s\n"


def test_workers_come_and_go(cluster, monkeypatch):
    monkeypatch.setattr(dask, "REFRESH_SECONDS", 0.0)
    worker = cluster.worker()
    engine = open_engine(cluster.address)
    try:
        assert (engine.name, engine.workers(), engine.slots) == (cluster.address, 1, 2)
        worker.kill()
        wait_until(lambda: engine.workers() == 0)
        assert engine.slots == 2  # so that something is out when a worker comes
    finally:
        engine.close()


def wait_until(holds):
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("preload", "message"),
    [
        ("import sys; sys.modules['fairtrial'] = None", "must have fairtrial"),
        (
            "import fairtrial.study.run.engine as there; there._get_version = lambda name: '0.0.1'",
            r"got fairtrial 0.0.1 instead of .*, numpy 0.0.1 ",
        ),
    ],
)
def test_a_worker_with_other_packages_is_refused(cluster, preload, message):
    worker = cluster.worker("--preload", preload)
    try:
        with pytest.raises(InputError, match=message):
            open_engine(cluster.address)
    finally:
        worker.kill()
        worker.wait(10)


def test_an_address_where_nothing_answers(monkeypatch):
    monkeypatch.setattr(dask, "CONNECT_SECONDS", 0.3)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        with pytest.raises(InputError, match=r"127\.0\.0\.1:\d+"):
            open_engine(f"dask://127.0.0.1:{free.getsockname()[1]}")


@pytest.mark.parametrize("address", ["dask://", "dask://host", "dask://host:port", "dask://:8786"])
def test_an_address_of_another_form(address):
    with pytest.raises(InputError, match="engine must"):
        open_engine(address)


def test_the_jobs_of_a_cluster_are_its_own():
    with pytest.raises(InputError, match=r"jobs must .*dask://host:8786.* got 4"):
        open_engine("dask://host:8786", jobs=4)


def test_without_dask_the_remedy_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r'"fairtrial\[cluster\]"'):
        open_engine("dask")


# --- Pool ---
# Runs share the guards of a process: each ends its own, and no other run notices.


@pytest.fixture
def pool():
    made = SupervisorPool()
    yield made
    made.close()


@pytest.fixture
def notes(tmp_path):
    """Files in which learners say in which process they are."""
    return [str(tmp_path / f"{number}") for number in range(4)]


@pytest.fixture
def threads():
    with ThreadPoolExecutor(4) as made:
        yield made


def teller(note, deed="tell"):
    return chunk_of(Trouble(deed, note=note))


def test_a_run_that_ends_stops_its_own_chunks_alone(pool, threads, notes, tmp_path):
    """The learner of the run that stays waits until the other run has ended."""
    release = tmp_path / "release"
    chunk = chunk_of("nothing", Trouble("tell and wait", note=notes[0], folder=str(release)), "nothing")
    staying = threads.submit(pool.run, "staying", chunk, dataset())
    ending = threads.submit(
        pool.run, "ending", chunk_of("nothing", Trouble("tell and sleep", note=notes[1]), "nothing"), dataset()
    )
    its_own, others = told(notes[1])["pid"], told(notes[0])["pid"]
    pool.end("ending")
    assert [is_right(each) for each in ending.result(60)] == [True]
    assert is_gone(its_own)
    assert psutil.pid_exists(others)
    release.touch()
    assert [is_right(each) for each in staying.result(60)] == [True] * 3


def test_a_chunk_that_comes_after_the_end_of_its_run_gives_nothing(pool):
    pool.end("ended")
    assert pool.run("ended", chunk_of("nothing"), dataset()) == []


def test_chunks_of_a_run_share_a_process(pool, notes):
    for note in notes[:2]:
        pool.run("one", teller(note), dataset())
    assert told(notes[0])["pid"] == told(notes[1])["pid"]


def test_the_next_run_has_a_process_of_its_own_that_is_there_at_once(pool, notes):
    pool.run("one", teller(notes[0]), dataset())
    pool.end("one")
    assert is_gone(told(notes[0])["pid"])
    pool.run("two", teller(notes[1]), dataset())
    first, second = told(notes[0]), told(notes[1])
    assert first["pid"] != second["pid"]
    assert first["warden"] == second["warden"]


def test_a_run_beside_another_never_meets_its_process(pool, notes):
    for run, note in zip(("one", "two", "one"), notes, strict=False):
        pool.run(run, teller(note), dataset())
    assert len({told(note)["pid"] for note in notes[:3]}) == 3


def test_a_guard_that_was_started_in_another_environment_is_not_handed_on(pool, notes, monkeypatch):
    pool.run("one", teller(notes[0]), dataset())
    pool.end("one")
    monkeypatch.setenv("FAIRTRIAL_TEST_WORD", "new")
    pool.run("two", teller(notes[1]), dataset())
    assert told(notes[1])["environment"]["FAIRTRIAL_TEST_WORD"] == "new"
    assert is_gone(told(notes[0])["warden"])


def test_a_chunk_gets_the_guard_that_holds_its_data(pool, threads, notes, tmp_path):
    rng = np.random.default_rng(1)
    other = Dataset.from_table(rng.normal(size=(60, 2)), np.repeat(["a", "b"], 30), name="other")
    release = str(tmp_path / "release")
    both = [
        threads.submit(pool.run, "one", chunk_of(Trouble("tell and wait", note=notes[place], folder=release), data=data), data)
        for place, data in enumerate((dataset(), other))
    ]
    processes = [told(note)["pid"] for note in notes[:2]]
    (tmp_path / "release").touch()
    assert [each.result(60)[0].status for each in both] == ["ok", "ok"]
    for place, data in ((3, other), (2, dataset())):
        pool.run("one", chunk_of(Trouble("tell", note=notes[place]), data=data), data)
    assert [told(note)["pid"] for note in notes[2:]] == processes


def test_guards_that_nobody_uses_end_after_a_while(pool, notes, monkeypatch):
    monkeypatch.setattr(pool_module, "IDLE_SECONDS", 0.3)
    pool.run("one", teller(notes[0]), dataset())
    assert is_gone(told(notes[0])["warden"])
    assert not [each for each in threading.enumerate() if each.name == "fairtrial-idle" and _ends_not(each)]
    pool.run("one", teller(notes[1]), dataset())
    assert is_gone(told(notes[1])["warden"]), "they are watched again"
    pool.run("one", teller(notes[2]), dataset())
    pool.end("one")
    assert is_gone(told(notes[2])["warden"])


def _ends_not(thread):
    thread.join(10)
    return thread.is_alive()


@pytest.mark.usefixtures("notes")
def test_guards_in_use_do_not_end(pool, monkeypatch):
    monkeypatch.setattr(pool_module, "IDLE_SECONDS", 0.1)
    assert is_right(pool.run("one", chunk_of("linger"), dataset())[0])


def test_a_forked_copy_begins_with_nothing():
    pool = SupervisorPool()
    pool.end("a run")
    pool._lock.acquire()
    pool.forget()
    assert is_right(pool.run("a run", chunk_of("nothing"), dataset())[0])
    pool.close()


@pytest.fixture
def no_data_held(monkeypatch):
    monkeypatch.setattr(pool_module, "dataset_cache", pool_module.DatasetCache())


@pytest.mark.usefixtures("no_data_held")
def test_a_chunk_asks_once_for_its_data():
    run, chunk = create_run_id(), chunk_of("nothing")
    assert run_chunk(run, chunk) == DataRequest(dataset().content_hash)
    assert is_right(run_chunk(run, chunk, dataset())[0])
    assert is_right(run_chunk(run, chunk)[0])
    end_run(run)
    assert run_chunk(run, chunk) == []


@pytest.mark.usefixtures("no_data_held")
def test_another_data_set_than_the_chunks_is_refused():
    other = Dataset.from_table(np.zeros((4, 1)), ["a", "b", "a", "b"], name="other")
    with pytest.raises(InputError, match="data set must be"):
        run_chunk(create_run_id(), chunk_of("nothing"), other)


def test_names_of_runs_are_never_the_same():
    assert len({create_run_id() for _ in range(100)}) == 100


WARM = """
import sys
from tests.study.chunks import chunk_of, dataset
from tests.study.trouble import Trouble
from fairtrial.study.run.pool import end_run, run_chunk
run_chunk("a run", chunk_of(Trouble("tell", note=sys.argv[1])), dataset())
end_run("a run")
"""


def test_a_process_that_ends_does_not_wait_for_its_warm_guards(notes):
    subprocess.run([sys.executable, "-c", WARM, notes[0]], check=True, timeout=60)
    ended = time.monotonic()
    assert is_gone(told(notes[0])["warden"])
    assert time.monotonic() - ended < pool_module.IDLE_SECONDS / 2


# --- Dataset cache ---
# Data sets stay by their contents, as many as there is room for.


def small(number, rows=4):
    return Dataset.from_table(np.full((rows, 1), float(number)), ["a", "b"] * (rows // 2), name=f"set {number}")


def test_a_set_is_found_by_its_contents():
    cache, one, two = DatasetCache(), small(1), small(2)
    cache.add(one)
    assert cache.find(one.content_hash) is one
    assert cache.find(two.content_hash) is None


def test_the_same_contents_are_held_once():
    cache, first, second = DatasetCache(), small(1), small(1)
    cache.add(first)
    cache.add(second)
    assert cache.find(first.content_hash) is first
    assert len(list(cache)) == 1


def test_the_set_that_was_not_used_for_longest_goes_first():
    cache = DatasetCache(max_datasets=2)
    one, two, three = small(1), small(2), small(3)
    cache.add(one)
    cache.add(two)
    cache.find(one.content_hash)
    cache.add(three)
    assert list(cache) == [one.content_hash, three.content_hash]


def test_large_sets_push_out_others_but_never_themselves():
    cache = DatasetCache(max_bytes=8 * 5)
    cache.add(small(1))
    cache.add(small(2, rows=20))
    assert list(cache) == [small(2, rows=20).content_hash]
    cache.add(small(3))
    assert list(cache) == [small(3).content_hash]
