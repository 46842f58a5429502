"""Tests of `fairtrial.study.store`."""

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fairtrial.errors import StoreError
from fairtrial.study.records import TrialRecord
from fairtrial.study.store import file as file_module
from fairtrial.study.store.file import WriteLock, translate_errors
from fairtrial.study.store.integrity import check_predictions
from fairtrial.study.store.sqlite import SQLiteStore
from fairtrial.study.store.store import open_store, stores
from tests.study.small_store import SmallStudy, without_privileges

# --- Store ---
# The store: what is added stays, whatever happens to the process, the disk or the file.


ROOT = Path(__file__).resolve().parents[2]
STUDY = SmallStudy()
LINKS = STUDY.links()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "small.fairtrial"


def planned(path):
    store = open_store(path, write=True, create=True)
    STUDY.plan_into(store)
    return store


def table(path, query):
    connection = sqlite3.connect(path)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def is_whole(store):
    """Pages and evidence; the keys may be made up."""
    with store.file.read_connection() as connection:
        check_predictions(connection)
        return connection.execute("PRAGMA quick_check").fetchone() == ("ok",)


def process(code, path):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", code, path], cwd=ROOT, text=True, **pipes)


def test_what_is_added_is_done_and_counted(path):
    with planned(path) as store:
        store.add_records([(STUDY.success(link), link) for link in LINKS[:5]])
        store.add_records([(STUDY.failure(LINKS[5], "timeout"), LINKS[5]), (STUDY.failure(LINKS[6], "crash"), LINKS[6])])
    with open_store(path) as store:
        assert store.count_by_status() == {"ok": 5, "crash": 1, "timeout": 1}
        assert store.find_done() == {STUDY.key(link) for link in LINKS[:7]}
        assert store.find_done(retry=["timeout"]) == {STUDY.key(link) for link in [*LINKS[:5], LINKS[6]]}
        assert store.find_done(retry=["timeout", "crash", "ok"]) == {STUDY.key(link) for link in LINKS[:5]}


def test_a_success_replaces_a_failure_and_is_never_replaced(path):
    link, wrong = LINKS[0], replace(STUDY.success(LINKS[0]), level=0.9)
    with planned(path) as store:
        for evidence in (STUDY.failure(link, "error"), STUDY.failure(link, "memory")):
            store.add_records([(evidence, link)])
        assert table(path, "SELECT status, attempts FROM trial") == [("memory", 2)]
        store.add_records([(STUDY.success(link), link)])
        store.add_records([(STUDY.failure(link), link), (wrong, link)])
    assert table(path, "SELECT status, attempts, level, error FROM trial") == [("ok", 3, 0.25, None)]
    assert table(path, "SELECT count(*) FROM evidence") == [(1,)]


def test_the_same_trial_twice_in_one_batch(path):
    with planned(path) as store:
        store.add_records(
            [(STUDY.failure(LINKS[0]), LINKS[0]), (STUDY.success(LINKS[0]), LINKS[0]), (STUDY.failure(LINKS[0]), LINKS[0])]
        )
    assert table(path, "SELECT id, status, attempts FROM trial") == [(1, "ok", 2)]


def test_a_batch_is_kept_whole_or_not_at_all(path):
    with planned(path) as store:
        store.add_records([(STUDY.success(LINKS[0]), LINKS[0])])
        unknown = LINKS[1]._replace(learner="nobody")
        with pytest.raises(StoreError, match="'nobody'"):
            store.add_records([(STUDY.success(LINKS[1]), LINKS[1]), (STUDY.success(LINKS[2]), unknown)])
        assert store.count_by_status() == {"ok": 1}
        store.add_records([(STUDY.success(LINKS[1]), LINKS[1])])
        assert store.count_by_status() == {"ok": 2}


def test_evidence_before_any_plan_is_refused(path):
    with open_store(path, write=True, create=True) as store, pytest.raises(StoreError, match="no study yet"):
        store.add_records([(STUDY.success(LINKS[0]), LINKS[0])])


def test_a_plan_twice_changes_nothing_and_the_latest_study_is_remembered(path):
    other = SmallStudy(seed=1, name="other")
    with planned(path) as store:
        before = {name: table(path, f"SELECT * FROM {name}") for name in ("study", "dataset", "condition", "learner", "split")}
        STUDY.plan_into(store)
        assert before == {name: table(path, f"SELECT * FROM {name}") for name in before}
        other.plan_into(store)
        assert store.open_archive().name == "other"
        STUDY.plan_into(store)
        assert store.open_archive().name == "small"
        assert store.open_archive("other").seed == 1


def test_runs_are_noted(path):
    with planned(path) as store:
        run = store.start_run({"engine": "local", "jobs": np.int64(2)})
        store.add_records([(STUDY.success(LINKS[0]), LINKS[0])])
        store.finish_run(run, {"trials": 1})
        store.start_run({"engine": "dask", "started": "3000-01-01T00:00:00+00:00"})
        first, second = store.open_archive().runs
        with pytest.raises(StoreError, match="no run 99"):
            store.finish_run(99, {})
    assert (first["engine"], first["jobs"], first["trials"]) == ("local", 2, 1)
    assert first["started"] <= first["finished"]
    assert (second["started"], second["finished"]) == ("3000-01-01T00:00:00+00:00", None)
    assert table(path, "SELECT run FROM trial") == [(run,)]


def test_mean_times_are_of_successes_by_data_set_and_learner(path):
    times = {link: (i + 1) / 10 for i, link in enumerate(LINKS)}
    with planned(path) as store:
        store.add_records([(STUDY.success(link, fit_time=times[link], predict_time=1.0), link) for link in LINKS[:-1]])
        store.add_records([(STUDY.failure(LINKS[-1], fit_time=1e6, predict_time=1.0), LINKS[-1])])
        found = store.compute_mean_times()
    expected = {}
    for link in LINKS[:-1]:
        expected.setdefault((link.data, link.learner), []).append(times[link] + 1.0)
    assert found == {pair: (pytest.approx(np.mean(own)), len(own)) for pair, own in expected.items()}


def test_digest_tells_evidence_and_ignores_times_order_and_compression(tmp_path):
    import zstandard

    def digest(name, *evidence):
        with planned(tmp_path / name) as store:
            for each, link in evidence:
                store.add_records([(each, link)])
            return store.compute_digest()

    good, bad = STUDY.success(LINKS[0]), STUDY.failure(LINKS[1])
    base = digest("a", (good, LINKS[0]), (bad, LINKS[1]))
    assert base == digest("b", (bad, LINKS[1]), (replace(good, fit_time=9.0, memory=5, notes="slow", log="x"), LINKS[0]))
    content = zstandard.ZstdDecompressor().decompress(good.prediction)
    harder = zstandard.ZstdCompressor(level=19, write_checksum=True).compress(content)
    assert base == digest("c", (replace(good, prediction=harder), LINKS[0]), (bad, LINKS[1]))
    changes = [{"prediction": good.scores}, {"scores": None}, {"y_true": good.prediction}, {"level": 0.26}, {"changed": 4}]
    changes += [{"rows": good.prediction}, {"score_kind": "decision"}, {"test_level": 0.0}, {"test_changed": 1}]
    others = [digest(f"d{i}", (replace(good, **each), LINKS[0]), (bad, LINKS[1])) for i, each in enumerate(changes)]
    others += [digest("e", (good, LINKS[0]), (replace(bad, status="crash"), LINKS[1])), digest("f", (good, LINKS[0]))]
    assert len({base, *others}) == len(others) + 1


def test_what_a_learner_prints_can_be_stored(path):
    told = "caf\u00e9 \udcff \x00 end"
    with planned(path) as store:
        store.add_records([(STUDY.failure(LINKS[0], message=told, changed=np.int64(3), log=""), LINKS[0])])
        line = store.open_archive().trials().iloc[0]
    assert (line["message"], line["changed"], line["log"]) == ("caf\u00e9 \\udcff \x00 end", 3, "")


def test_a_reader_cannot_write(path):
    STUDY.filled(path)
    with open_store(path) as store:
        with pytest.raises(StoreError, match="write=True"):
            store.add_records([(STUDY.success(LINKS[0]), LINKS[0])])
        with store.file.read_connection() as connection, pytest.raises(sqlite3.OperationalError, match="readonly"):
            connection.execute("DELETE FROM trial")


def test_a_closed_store_says_so(path):
    store = planned(path)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.count_by_status()


def test_a_second_writer_is_refused_with_the_process_of_the_first(path):
    with (
        planned(path),
        pytest.raises(StoreError, match=rf"process {os.getpid()} "),
    ):
        open_store(path, write=True)
    open_store(path, write=True).close()


def test_readers_and_a_writer_in_two_processes_see_each_other_and_leave_one_file(path):
    reader = "import sys; from fairtrial.study.store.store import open_store; s = open_store(sys.argv[1])\n"
    reader += "for line in sys.stdin:\n    ok = s.open_archive().trials().query('status == \"ok\"')\n"
    reader += "    print(len(ok), s.count_by_status(), flush=True)"
    with planned(path) as store:
        other = process(reader, path)
        for n, link in enumerate(LINKS[:5]):
            store.add_records([(STUDY.success(link), link)])
            other.stdin.write("now\n")
            other.stdin.flush()
            assert other.stdout.readline() == f"{n + 1} {{'ok': {n + 1}}}\n"
    with open_store(path, write=True) as store:  # with the reader still there
        store.add_records([(STUDY.success(LINKS[5]), LINKS[5])])
    assert other.communicate("now\n", timeout=60)[0] == "6 {'ok': 6}\n"
    assert os.listdir(path.parent) == [path.name]


def test_a_writer_in_another_process_is_read_from_here(path):
    writer = (
        "import sys; from tests.study.small_store import SmallStudy; from fairtrial.study.store.store import open_store\n"
        "study = SmallStudy(); store = open_store(sys.argv[1], write=True, create=True); study.plan_into(store)\n"
        "for link in study.links()[:4]:\n"
        "    sys.stdin.readline(); store.add_records([(study.success(link), link)]); print('added', flush=True)\n"
        "sys.stdin.readline(); store.close()"
    )
    open_store(path, write=True, create=True).close()
    other = process(writer, path)
    with open_store(path) as store:
        for n in range(4):
            other.stdin.write("next\n")
            other.stdin.flush()
            assert other.stdout.readline() == "added\n"
            assert store.count_by_status() == {"ok": n + 1}
        with pytest.raises(StoreError, match=f"process {other.pid}:"):
            open_store(path, write=True)
    other.communicate("end\n", timeout=60)
    assert os.listdir(path.parent) == [path.name]


def test_nothing_acknowledged_is_lost_when_the_writer_is_killed(path):
    writer = (
        "import sys, itertools; from tests.study.small_store import SmallStudy\n"
        "from fairtrial.study.store.store import open_store\n"
        "from dataclasses import replace\n"
        "study = SmallStudy(); link = study.links()[0]; one = study.success(link)\n"
        "store = open_store(sys.argv[1], write=True, create=True); study.plan_into(store)\n"
        "start = sum(store.count_by_status().values())\n"
        "for n in itertools.count(start, 20):\n"
        "    store.add_records([(replace(one, key=i.to_bytes(16, 'big')), link) for i in range(n, n + 20)])\n"
        "    print(n + 20, flush=True)\n"
    )
    acknowledged = 0
    for attempt in range(5):
        with process(writer, path) as other:
            for _ in range(3 + 40 * attempt):
                acknowledged = int(other.stdout.readline())
            other.send_signal(signal.SIGKILL)
            acknowledged = int([str(acknowledged), *other.stdout.read().split("\n")[:-1]][-1])
        with open_store(path) as store:
            stored = store.count_by_status()["ok"]
            assert stored in (acknowledged, acknowledged + 20)
            assert store.find_done() == {i.to_bytes(16, "big") for i in range(stored)}
            assert is_whole(store)
    with open_store(path, write=True) as store:  # the lock that was left does no harm
        assert store.count_by_status()["ok"] >= acknowledged
    assert os.listdir(path.parent) == [path.name]


def test_a_full_disk_is_told_and_what_was_stored_is_kept(path):
    with planned(path) as store:
        store.add_records([(STUDY.success(LINKS[0]), LINKS[0])])
        with store.file.read_connection() as connection:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count = {pages + 3}")
        large = TrialRecord(b"k" * 16, "ok", prediction=np.random.default_rng(0).bytes(100_000))
        with pytest.raises(StoreError, match="disk is full"):
            store.add_records([(STUDY.success(LINKS[1]), LINKS[1]), (large, LINKS[2])])
        assert store.count_by_status() == {"ok": 1}
    with open_store(path) as store:
        store.check()
        assert store.find_done() == {STUDY.key(LINKS[0])}


def test_a_quota_is_told_and_what_was_stored_is_kept(path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    added = 0
    try:
        with planned(path) as store:
            resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, before[1]))
            large = STUDY.success(LINKS[0], log="x" * 20_000)
            batches = [[(replace(large, key=i.to_bytes(16, "big")), LINKS[0])] for i in range(100)]
            with pytest.raises(StoreError, match="stored trials are kept"):
                list(map(store.add_records, batches))
            added = store.count_by_status()["ok"]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert added > 3
    with open_store(path, write=True) as store:
        assert is_whole(store)
        assert store.find_done() == {i.to_bytes(16, "big") for i in range(added)}
        store.add_records([(large, LINKS[0])])
        assert store.count_by_status() == {"ok": added + 1}


def test_damaged_evidence_is_noticed(path):
    STUDY.filled(path)
    marked = STUDY.success(LINKS[7]).scores
    content = path.read_bytes()
    place = content.index(marked[10:]) - 10
    path.write_bytes(content[: place + 12] + bytes([content[place + 12] ^ 1]) + content[place + 13 :])
    with open_store(path) as store:
        trial = int(store.open_archive().trials()["trial"].iloc[7])
        with pytest.raises(StoreError, match=f"trial {trial} are corrupted"):
            store.check()
        with pytest.raises(StoreError, match=f"trial {trial} are corrupted"):
            list(store.open_archive().predictions([trial]))


def test_damaged_pages_are_refused_when_they_are_read(path):
    STUDY.filled(path)
    content = bytearray(path.read_bytes())
    size = int.from_bytes(content[16:18], "big")
    for page in range(1, len(content) // size):
        broken = bytes(content[: page * size]) + b"\xa5" * size + bytes(content[(page + 1) * size :])
        path.write_bytes(broken)
        with pytest.raises(StoreError, match="corrupted"):
            opened_and_checked(path)


def opened_and_checked(path):
    with open_store(path) as store:
        store.check()


def test_a_forgotten_store_closes_itself(path):
    store = planned(path)
    store.add_records([(STUDY.success(LINKS[0]), LINKS[0])])
    del store
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_forked_process_leaves_the_file_to_its_parent(path):
    with planned(path) as store:
        child = os.fork()
        if child == 0:
            store.close()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert path.with_name(path.name + ".lock").exists()
        store.add_records([(STUDY.success(LINKS[0]), LINKS[0])])
    assert table(path, "SELECT count(*) FROM trial") == [(1,)]


@pytest.mark.parametrize("name", ["a.memory", "A.MEMORY"])
def test_a_backend_is_chosen_by_suffix(tmp_path, monkeypatch, name):
    open_store(tmp_path / "a.fairtrial", write=True, create=True).close()  # loads the backends of this package
    monkeypatch.setattr(stores, "_items", dict(stores._items))
    opened = []
    stores.add(".memory", lambda path, *, write, create: opened.append((path, write, create)))
    open_store(name, write=True)
    assert opened == [(name, True, False)]


@pytest.mark.parametrize("name", ["a", "a.fairtrial", "a.sqlite", "a.b.c"])
def test_sqlite_is_the_default(tmp_path, name):
    with open_store(tmp_path / name, write=True, create=True) as store:
        assert isinstance(store, SQLiteStore)


# --- File ---
# Files that are no stores, or not whole ones, are refused at once and in words.


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return STUDY.filled(tmp_path_factory.mktemp("whole") / "whole.fairtrial").read_bytes()


@pytest.fixture
def path_file(tmp_path):
    return tmp_path / "cut.fairtrial"


def test_a_file_cut_anywhere_is_refused(path_file, whole):
    cuts = {1, 10, 15, 16, 50, 99, 100, 101, 511, 512, 4095, 4096, 4097, len(whole) - 1, len(whole) - 4095, len(whole) - 4096}
    cuts |= set(range(512, len(whole), 2048 + 7))
    for size in sorted(cuts):
        path_file.write_bytes(whole[:size])
        for write in (False, True):
            with pytest.raises(StoreError, match=r"truncated|corrupted|not a results file"):
                open_store(path_file, write=write, create=write)
        assert path_file.stat().st_size == size
    path_file.write_bytes(whole)
    open_store(path_file).close()


def test_a_cut_is_noticed_although_newer_pages_lie_ahead(path_file, whole):
    path_file.write_bytes(whole)
    with open_store(path_file, write=True) as store:
        store.add_records([(STUDY.failure(LINKS[0], log="x" * 20_000), LINKS[0])])
        store.add_records([(STUDY.failure(LINKS[0]), LINKS[0])])
        extra = SmallStudy(seed=5, name="extra")
        extra.plan_into(store)
        store.add_records([(extra.success(link), link) for link in extra.links()])
        store.add_records([(extra.success(extra.links()[0], log="y" * 20_000, prediction=None), extra.links()[0])])
        killed = path_file.with_name("killed.fairtrial")
        for ending in ("", "-wal"):
            shutil.copy(f"{path_file}{ending}", f"{killed}{ending}")
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
def test_what_is_no_sqlite_file_is_refused_and_left_alone(path_file, content):
    path_file.write_bytes(content)
    for write in (False, True):
        with pytest.raises(StoreError, match="not a results file"):
            open_store(path_file, write=write, create=write)
    assert path_file.read_bytes() == content
    assert os.listdir(path_file.parent) == [path_file.name]


def test_an_empty_file_is_new_only_where_one_is_to_be_made(path_file):
    path_file.touch()
    for write in (False, True):
        with pytest.raises(StoreError, match="is empty"):
            open_store(path_file, write=write)
    with open_store(path_file, write=True, create=True) as store:
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


def test_a_file_that_waits_for_its_readers_can_be_read_where_nothing_can_be_written(path_file, whole):
    path_file.write_bytes(whole)
    connection = sqlite3.connect(path_file)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    ahead_of_readers = path_file.read_bytes()
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
def test_each_refusal_of_sqlite_has_words(path_file, code, told):
    error = sqlite3.OperationalError("odd")
    error.sqlite_errorcode = code
    with pytest.raises(StoreError, match=told), translate_errors(path_file):
        raise error


def test_a_store_that_another_program_has_locked_is_told(path_file, whole, monkeypatch):
    monkeypatch.setattr("fairtrial.study.store.file._BUSY_SECONDS", 0.1)
    path_file.write_bytes(whole)
    other = sqlite3.connect(path_file, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    for write in (False, True):
        with pytest.raises(StoreError, match="is locked by another program"):
            open_store(path_file, write=write)
    other.close()
    open_store(path_file, write=True).close()


# --- Write lock ---
# One writer at a time, and none that a dead process keeps out.


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
