"""Runs share the guards of a process: each ends its own, and no other run notices."""

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import psutil
import pytest

from fairtrial.data import Dataset
from fairtrial.errors import InputError
from fairtrial.study.records import DataRequest
from fairtrial.study.run import pool as pool_module
from fairtrial.study.run.engine import create_run_id
from fairtrial.study.run.pool import SupervisorPool, end_run, run_chunk
from tests.study.chunks import chunk_of, dataset, is_gone, is_right, told
from tests.study.trouble import Trouble


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
    with pytest.raises(InputError, match="dataset must be"):
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
