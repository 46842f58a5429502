"""With real schedulers and workers on loopback: what is refused, what is lost, what comes and goes."""

import os
import signal
import socket
import sys
import time

import pytest

from fairtrial.errors import InputError
from fairtrial.study.run import dask
from fairtrial.study.run.engine import open_engine
from tests.study.loopback import loopback


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
