"""Work is cut into chunks that cover everything once, in order, on any number of threads."""

import threading

import pytest
from hypothesis import given, strategies as st

from fairtrial.kernels import compiling


@pytest.mark.parametrize("count", ["1", "3"])
@given(n=st.integers(0, 40), chunk=st.integers(-1, 50))
def test_chunks_cover_the_range_once_and_in_order(count, n, chunk):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAIRTRIAL_THREADS", count)
        parts = compiling.run_in_chunks(lambda start, stop: list(range(start, stop)), n, chunk)
    assert [i for part in parts for i in part] == list(range(n))
    assert all(len(part) <= max(1, chunk) for part in parts)


def test_threads_run_side_by_side(monkeypatch):
    monkeypatch.setenv("FAIRTRIAL_THREADS", "2")
    meeting = threading.Barrier(2, timeout=10)
    assert len(compiling.run_in_chunks(lambda _start, _stop: meeting.wait(), 2, 1)) == 2


def test_work_inside_work_does_not_wait_for_its_own_pool(monkeypatch):
    """Run apart, with a limit: were the pool to wait for itself, this would never end."""
    monkeypatch.setenv("FAIRTRIAL_THREADS", "2")

    def inner(_start, _stop):
        return compiling.run_in_chunks(lambda start, stop: stop - start, 4, 1)

    found = []
    outside = threading.Thread(target=lambda: found.extend(compiling.run_in_chunks(inner, 6, 1)), daemon=True)
    outside.start()
    outside.join(20)
    assert found == [[1, 1, 1, 1]] * 6


def test_one_thread_stays_in_the_callers_thread(monkeypatch):
    monkeypatch.setenv("FAIRTRIAL_THREADS", "1")
    assert set(compiling.run_in_chunks(lambda _start, _stop: threading.get_ident(), 5, 1)) == {threading.get_ident()}


@pytest.mark.parametrize("count", ["1", "2"])
def test_an_error_in_a_chunk_reaches_the_caller(monkeypatch, count):
    monkeypatch.setenv("FAIRTRIAL_THREADS", count)
    with pytest.raises(ZeroDivisionError):
        compiling.run_in_chunks(lambda start, _stop: 1 // (start - 2), 5, 1)


def test_environment_sets_the_number_of_threads(monkeypatch):
    monkeypatch.setenv("FAIRTRIAL_THREADS", "5")
    assert compiling.count_threads() == 5


@pytest.mark.parametrize("nonsense", ["", "0", "many", "-2"])
def test_nonsense_in_the_environment_means_all_cores(monkeypatch, nonsense):
    monkeypatch.delenv("FAIRTRIAL_THREADS", raising=False)
    usual = compiling.count_threads()
    monkeypatch.setenv("FAIRTRIAL_THREADS", nonsense)
    assert compiling.count_threads() == usual >= 1
