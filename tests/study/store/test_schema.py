"""Versions of the tables: older ones are brought up to date with a copy kept, newer and foreign ones are refused."""

import sqlite3

import pytest

from fairtrial.errors import StoreError
from fairtrial.study.store import schema
from fairtrial.study.store.store import open_store
from tests.study.small_store import SmallStudy

STUDY = SmallStudy()


@pytest.fixture
def path(tmp_path):
    return STUDY.filled(tmp_path / "old.fairtrial")


def columns(path, table):
    connection = sqlite3.connect(path)
    try:
        return [line[1] for line in connection.execute(f"PRAGMA table_info({table})")]
    finally:
        connection.close()


def test_the_lists_of_columns_are_those_of_the_tables(path):
    assert tuple(columns(path, "trial")) == schema.TRIAL_FIELDS
    assert tuple(columns(path, "evidence")) == schema.PREDICTION_FIELDS


def test_an_older_file_is_brought_up_to_date_and_a_copy_is_kept(path, monkeypatch):
    with open_store(path) as store:
        digest = store.compute_digest()
    steps = {
        1: lambda connection: connection.execute("ALTER TABLE run ADD COLUMN host TEXT"),
        2: lambda connection: connection.execute("UPDATE run SET host = 'here'"),
    }
    monkeypatch.setattr(schema, "VERSION", 3)
    monkeypatch.setattr(schema, "MIGRATIONS", steps)
    with pytest.raises(StoreError, match=r"older fairtrial \(schema 1, this one reads 3\): bring it up to date"):
        open_store(path)
    with open_store(path, write=True) as store:
        assert store.compute_digest() == digest
    with open_store(path) as store:
        assert store.compute_digest() == digest
    assert columns(path, "run")[-1] == "host"
    copy = path.with_name("old.fairtrial.schema-1")
    assert columns(copy, "run")[-1] != "host"
    monkeypatch.undo()
    with open_store(copy) as store:
        assert store.compute_digest() == digest


def test_a_step_that_fails_leaves_the_file_as_it_was(path, monkeypatch):
    steps = {
        1: lambda connection: connection.execute("ALTER TABLE run ADD COLUMN host TEXT"),
        2: lambda connection: connection.execute("UPDATE nothing SET host = 1"),
    }
    with monkeypatch.context() as patch:
        patch.setattr(schema, "VERSION", 3)
        patch.setattr(schema, "MIGRATIONS", steps)
        with pytest.raises(
            StoreError, match=r"could not be brought from schema 1 to 3 .*it is as before, its copy is .*schema-1"
        ):
            open_store(path, write=True)
    assert "host" not in columns(path, "run")
    with open_store(path, write=True) as store:
        assert store.count_by_status() == {"ok": 48}


def test_a_file_without_a_way_up_is_refused(path, monkeypatch):
    monkeypatch.setattr(schema, "VERSION", 2)
    with pytest.raises(StoreError, match="schema 1, which this fairtrial cannot bring up to date"):
        open_store(path, write=True)


@pytest.mark.parametrize("write", [False, True])
def test_a_newer_file_is_refused(path, monkeypatch, write):
    monkeypatch.setattr(schema, "VERSION", 0)
    with pytest.raises(StoreError, match=r"written by a newer fairtrial \(schema 1, this one knows 0\): upgrade"):
        open_store(path, write=write)


@pytest.mark.parametrize("script", ["CREATE TABLE other (a)", "PRAGMA application_id = 7", "PRAGMA user_version = 1"])
def test_an_sqlite_file_of_another_program_is_refused_and_left_alone(tmp_path, script):
    path = tmp_path / "foreign.db"
    connection = sqlite3.connect(path)
    connection.execute(script)
    connection.commit()
    connection.close()
    before = path.read_bytes()
    for write in (False, True):
        with pytest.raises(StoreError, match="SQLite file of another program, not a fairtrial store: choose another file"):
            open_store(path, write=write, create=write)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_creation_that_broke_off_is_taken_up(tmp_path):
    path = tmp_path / "begun.fairtrial"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    assert path.stat().st_size > 0
    with pytest.raises(StoreError, match="is empty: check the path, or run a study first"):
        open_store(path)
    with open_store(path, write=True, create=True) as store:
        assert store.count_by_status() == {}
