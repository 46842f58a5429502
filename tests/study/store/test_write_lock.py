"""One writer at a time, and none that a dead process keeps out."""

import os
import threading
import time

import pytest

from fairtrial.errors import StoreError
from fairtrial.study.store import file as file_module
from fairtrial.study.store.file import WriteLock


@pytest.fixture
def store(tmp_path):
    return tmp_path / "a.fairtrial"


def test_the_lock_is_held_told_and_given_back(store):
    lock = WriteLock(store)
    assert lock.path.read_text() == str(os.getpid())
    with pytest.raises(StoreError, match=rf"a\.fairtrial .*process {os.getpid()} "):
        WriteLock(store)
    lock.release()
    lock.release()
    assert not lock.path.exists()
    WriteLock(store).release()


def test_a_lock_file_that_was_left_does_no_harm(store):
    left = store.with_name("a.fairtrial.lock")
    left.write_text("4711 and more than that")
    lock = WriteLock(store)
    assert left.read_text() == str(os.getpid())
    lock.release()


def test_a_holder_that_has_not_said_its_number_yet(store):
    lock = WriteLock(store)
    lock.path.write_text("")
    with pytest.raises(StoreError, match="another process"):
        WriteLock(store)
    lock.release()


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_forked_process_does_not_keep_the_lock(store):
    lock = WriteLock(store)
    (read, write), (released, says_so) = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        lock.release()  # it is not its own
        os.write(says_so, b"x")
        os.read(read, 1)
        os._exit(0)
    try:
        os.read(released, 1)
        assert lock.path.exists()
        with pytest.raises(StoreError, match="is being written"):
            WriteLock(store)
        file_module._locked_descriptors.discard(lock._descriptor)
        os.close(lock._descriptor)  # as when the parent is killed: the file of the lock stays
        WriteLock(store).release()
    finally:
        os.write(write, b"x")
        os.waitpid(child, 0)
        for each in (read, write, released, says_so):
            os.close(each)


def test_a_lock_whose_file_is_removed_meanwhile_is_taken_again(store, monkeypatch):
    real, times = file_module._is_same_file, []

    def removed_once(descriptor, path):
        if not times:
            path.unlink()
        times.append(real(descriptor, path))
        return times[-1]

    monkeypatch.setattr(file_module, "_is_same_file", removed_once)
    lock = WriteLock(store)
    assert times == [False, True]
    with pytest.raises(StoreError, match="is being written"):
        WriteLock(store)
    lock.release()


def test_only_one_of_many_holds_it_at_any_time(store):
    inside, most, entered = 0, 0, 0

    def come_and_go():
        nonlocal inside, most, entered
        for _ in range(60):
            try:
                lock = WriteLock(store)
            except StoreError:
                continue
            inside += 1
            most = max(most, inside)
            entered += 1
            time.sleep(0.0002)
            inside -= 1
            lock.release()

    threads = [threading.Thread(target=come_and_go) for _ in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert most == 1
    assert entered > 1
    assert os.listdir(store.parent) == []


def test_a_file_system_without_writing_or_locks_is_told(store, monkeypatch):
    def refuse(*_):
        raise OSError(30, "Read-only file system")

    with monkeypatch.context() as patch:
        patch.setattr("os.open", refuse)
        with pytest.raises(StoreError, match=r"a\.fairtrial\.lock .*\(Read-only file system\)"):
            WriteLock(store)
    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(StoreError, match=r"cannot lock files \(Read-only file system\)"):
        WriteLock(store)
