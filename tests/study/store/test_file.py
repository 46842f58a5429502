"""Files that are no stores, or not whole ones, are refused at once and in words."""

import os
import shutil
import sqlite3

import pytest

from fairtrial.errors import StoreError
from fairtrial.study.store.file import translate_errors
from fairtrial.study.store.store import open_store
from tests.study.small_store import SmallStudy, without_privileges

STUDY = SmallStudy()
LINKS = STUDY.links()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return STUDY.filled(tmp_path_factory.mktemp("whole") / "whole.fairtrial").read_bytes()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cut.fairtrial"


def test_a_file_cut_anywhere_is_refused(path, whole):
    cuts = {1, 10, 15, 16, 50, 99, 100, 101, 511, 512, 4095, 4096, 4097, len(whole) - 1, len(whole) - 4095, len(whole) - 4096}
    cuts |= set(range(512, len(whole), 2048 + 7))
    for size in sorted(cuts):
        path.write_bytes(whole[:size])
        for write in (False, True):
            with pytest.raises(StoreError, match=r"truncated|corrupted|not a results file"):
                open_store(path, write=write, create=write)
        assert path.stat().st_size == size
    path.write_bytes(whole)
    open_store(path).close()


def test_a_cut_is_noticed_although_newer_pages_lie_ahead(path, whole):
    path.write_bytes(whole)
    with open_store(path, write=True) as store:
        store.add_records([(STUDY.failure(LINKS[0], log="x" * 20_000), LINKS[0])])
        store.add_records([(STUDY.failure(LINKS[0]), LINKS[0])])
        extra = SmallStudy(seed=5, name="extra")
        extra.plan_into(store)
        store.add_records([(extra.success(link), link) for link in extra.links()])
        store.add_records([(extra.success(extra.links()[0], log="y" * 20_000, prediction=None), extra.links()[0])])
        killed = path.with_name("killed.fairtrial")
        for ending in ("", "-wal"):
            shutil.copy(f"{path}{ending}", f"{killed}{ending}")
    wal = killed.with_name("killed.fairtrial-wal").read_bytes()
    size = killed.stat().st_size
    assert len(wal) > 4096
    refused = 0
    for cut in range(4096, size, 4096):
        killed.write_bytes(whole[:cut])
        killed.with_name("killed.fairtrial-wal").write_bytes(wal)
        missing = set(range(cut // 4096 + 1, size // 4096 + 1)) - ahead(wal)
        if missing:
            for write in (False, True):
                with pytest.raises(StoreError, match=r"truncated|corrupted"):
                    open_store(killed, write=write)
            assert killed.read_bytes() == whole[:cut]
            assert killed.with_name("killed.fairtrial-wal").read_bytes() == wal
            refused += 1
    assert refused > 3
    killed.write_bytes(whole)
    killed.with_name("killed.fairtrial-wal").write_bytes(wal)
    with open_store(killed) as store:
        store.check()
        assert store.count_by_status() == {"ok": 96}


def ahead(wal):
    return {int.from_bytes(wal[at : at + 4], "big") for at in range(32, len(wal), 4096 + 24)}


@pytest.mark.parametrize("content", [b"S", b"no store", b"name,value\n" * 500, b"SQLite format 2\0" * 300, bytes(5000)])
def test_what_is_no_sqlite_file_is_refused_and_left_alone(path, content):
    path.write_bytes(content)
    for write in (False, True):
        with pytest.raises(StoreError, match="not a results file"):
            open_store(path, write=write, create=write)
    assert path.read_bytes() == content
    assert os.listdir(path.parent) == [path.name]


def test_an_empty_file_is_new_only_where_one_is_to_be_made(path):
    path.touch()
    for write in (False, True):
        with pytest.raises(StoreError, match="is empty"):
            open_store(path, write=write)
    with open_store(path, write=True, create=True) as store:
        assert store.count_by_status() == {}


def test_a_folder_a_missing_file_and_a_missing_folder_are_told(tmp_path):
    for path, told in (
        (tmp_path, "is a folder"),
        (tmp_path / "no" / "a.fairtrial", "folder .*no does not exist"),
    ):
        for write in (False, True):
            with pytest.raises(StoreError, match=told):
                open_store(path, write=write, create=write)
    for write in (False, True):
        with pytest.raises(StoreError, match="does not exist"):
            open_store(tmp_path / "none.fairtrial", write=write)
    assert os.listdir(tmp_path) == []
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be opened"):
        open_store(tmp_path / "file" / "a.fairtrial")


def test_names_with_odd_characters_and_links_work(tmp_path, whole):
    for name in ("a b?c#d%20.fairtrial", "käse.fairtrial"):
        (tmp_path / name).write_bytes(whole)
        with open_store(tmp_path / name, write=True) as store:
            assert store.count_by_status() == {"ok": 48}
        (tmp_path / "link").symlink_to(tmp_path / name)
        with open_store(tmp_path / "link", write=True), pytest.raises(StoreError, match="is being written by process"):
            open_store(tmp_path / name, write=True)
        (tmp_path / "link").unlink()
    assert len(os.listdir(tmp_path)) == 2


def test_permissions_are_told(whole):
    with without_privileges() as folder:
        path = folder / "mine.fairtrial"
        path.write_bytes(whole)
        path.chmod(0o000)
        with pytest.raises(StoreError, match="permissions"):
            open_store(path)
        path.chmod(0o444)
        with pytest.raises(StoreError, match="permissions"):
            open_store(path, write=True)
        with open_store(path) as store:
            assert store.count_by_status() == {"ok": 48}
        folder.chmod(0o555)
        with pytest.raises(StoreError, match=r"mine\.fairtrial\.lock .*\(Permission denied\)"):
            open_store(path, write=True)
        with pytest.raises(StoreError, match=r"Permission denied|Read-only"):
            open_store(folder / "new.fairtrial", write=True, create=True)
        folder.chmod(0o000)
        with pytest.raises(StoreError, match="Permission denied"):
            open_store(path)


def test_a_file_that_waits_for_its_readers_can_be_read_where_nothing_can_be_written(path, whole):
    path.write_bytes(whole)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    ahead_of_readers = path.read_bytes()
    assert ahead_of_readers != whole
    with without_privileges() as folder:
        (folder / "a.fairtrial").write_bytes(ahead_of_readers)
        folder.chmod(0o555)
        with open_store(folder / "a.fairtrial") as store:
            assert store.count_by_status() == {"ok": 48}
            assert len(list(store.open_archive().predictions([1, 2]))) == 2
        assert os.listdir(folder) == ["a.fairtrial"]


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (sqlite3.SQLITE_BUSY, "locked by another program"),
        (sqlite3.SQLITE_READONLY, "not writable"),
        (sqlite3.SQLITE_READONLY_DIRECTORY, "not writable"),
        (sqlite3.SQLITE_IOERR_WRITE, "stored trials are kept"),
        (sqlite3.SQLITE_FULL, "disk is full"),
        (sqlite3.SQLITE_TOOBIG, r"cannot be used \(odd\)"),
    ],
)
def test_each_refusal_of_sqlite_has_words(path, code, told):
    error = sqlite3.OperationalError("odd")
    error.sqlite_errorcode = code
    with pytest.raises(StoreError, match=told), translate_errors(path):
        raise error


def test_a_store_that_another_program_has_locked_is_told(path, whole, monkeypatch):
    monkeypatch.setattr("fairtrial.study.store.file._BUSY_SECONDS", 0.1)
    path.write_bytes(whole)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    for write in (False, True):
        with pytest.raises(StoreError, match="is locked by another program"):
            open_store(path, write=write)
    other.close()
    open_store(path, write=True).close()
