import os
import subprocess
import sys
from concurrent.futures import BrokenExecutor, CancelledError, Executor, ThreadPoolExecutor

import pytest

from fairtrial.errors import InputError
from fairtrial.study.run.engine import Engine, check_engine, count_usable_cores, engines, open_engine, register_engine


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
