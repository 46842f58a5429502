"""Lines of evidence."""

import hashlib

import pytest
import zstandard

from fairtrial.errors import StoreError
from fairtrial.study.records import TrialRecord
from fairtrial.study.store.codec import (
    insert_records,
    iter_record_hashes,
    query_mean_times,
    refuse_corrupted_records,
    refuse_wrong_links,
)
from fairtrial.study.store.store import open_store
from tests.study.small_store import SmallStudy

STUDY = SmallStudy()
LINKS = STUDY.links()


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "a.fairtrial", write=True, create=True) as store:
        STUDY.plan_into(store)
        yield store


def test_every_field_is_kept(store):
    everything = TrialRecord(
        b"k" * 16, "ok", b"p", b"s", "decision", b"r", b"t", 0.1, 2, 0.3, 4, 7, 0.5, 0.6, 0.7, 0.8, 9, "n", "e", "m", "tb", "l"
    )
    with store.file.write_transaction() as connection:
        insert_records(connection, [(everything, (1, 2, 3, 1))], 7, None)
        trial = connection.execute("SELECT * FROM trial").fetchone()
        evidence = connection.execute("SELECT * FROM evidence").fetchone()
    assert trial[1:11] == (b"k" * 16, 1, 2, 3, 1, 7, 1, None, "ok", 1)
    assert trial[11:] == (0.1, 2, 0.3, 4, 7, 0.5, 0.6, 0.7, 0.8, 9, "n", "e", "m", "tb", "l")
    assert evidence[:-1] == (1, b"p", b"s", "decision", b"r", b"t")


def test_a_failure_leaves_no_columns(store):
    store.add_records([(STUDY.failure(LINKS[0]), LINKS[0])])
    with store.file.read_connection() as connection:
        assert connection.execute("SELECT count(*) FROM evidence").fetchone() == (0,)


def test_hashes_come_in_the_order_of_keys_and_for_the_keys_asked_for(store):
    store.add_records([(STUDY.success(link), link) for link in LINKS])
    with store.file.read_connection() as connection:
        found = dict(iter_record_hashes(connection))
        some = dict(iter_record_hashes(connection, [STUDY.key(LINKS[3]), b"unknown"]))
        assert list(iter_record_hashes(connection, [])) == []
    assert list(found) == sorted(STUDY.key(link) for link in LINKS)
    assert some == {STUDY.key(LINKS[3]): found[STUDY.key(LINKS[3])]}
    assert len(set(found.values())) == 48
    assert store.compute_digest() == hashlib.sha256(b"".join(found.values())).hexdigest()


def test_trials_without_times_do_not_enter_the_mean(store):
    store.add_records([(STUDY.success(LINKS[0], fit_time=None), LINKS[0])])
    with store.file.read_connection() as connection:
        assert query_mean_times(connection) == {}


def test_evidence_that_is_not_as_it_was_written_is_refused(store):
    store.add_records([(STUDY.success(link), link) for link in LINKS[:3]])
    with store.file.write_transaction() as connection:
        refuse_corrupted_records(connection)
        other = zstandard.ZstdCompressor().compress(b"something else")
        connection.execute("UPDATE evidence SET prediction = ? WHERE trial = 2", (other,))
        with pytest.raises(StoreError, match="trial 2 are corrupted"):
            refuse_corrupted_records(connection)


CHANGES = {
    "learner": "UPDATE trial SET learner = 3 - learner WHERE id = 2",
    "data set": "UPDATE trial SET dataset = 3 - dataset WHERE id = 2",
    "condition": "UPDATE trial SET condition = 2 WHERE id = 2",
    "split": "UPDATE trial SET split = 4 WHERE id = 2",
    "nothing that is there": "UPDATE trial SET learner = 77 WHERE id = 2",
    "seed": "UPDATE trial SET seed = 99 WHERE id = 2",
    "no seed": "UPDATE trial SET seed = 'x' WHERE id = 2",
    "protocol": "UPDATE trial SET protocol = 0 WHERE id = 2",
    "hash of a learner": "UPDATE learner SET hash = 'x' WHERE id = 1",
    "hashes of conditions": "UPDATE condition SET hash = CASE id WHEN 1 THEN 'y' ELSE hash END",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_trial_that_is_linked_to_something_else_is_refused_and_changes_the_digest(store, change):
    store.add_records([(STUDY.success(link), link) for link in LINKS[:5]])
    before = store.compute_digest()
    store.check()
    with store.file.write_transaction() as connection:
        connection.execute(change)
    assert store.compute_digest() != before
    with pytest.raises(StoreError, match=r"trial \d is corrupted"):
        store.check()


def test_rows_of_a_split_and_a_status_that_were_changed_are_refused(store):
    store.add_records([(STUDY.success(link), link) for link in LINKS[:5]])
    with store.file.write_transaction() as connection:
        kept = connection.execute("SELECT test FROM split WHERE id = 1").fetchone()
        connection.execute("UPDATE split SET test = (SELECT test FROM split WHERE id = 2) WHERE id = 1")
        with pytest.raises(StoreError, match="split 1 is corrupted"):
            refuse_wrong_links(connection)
        connection.execute("UPDATE split SET test = ? WHERE id = 1", kept)
        refuse_wrong_links(connection)
        connection.execute("UPDATE trial SET status = 'oj' WHERE id = 3")
        with pytest.raises(StoreError, match="trial 3 is corrupted"):
            refuse_wrong_links(connection)
    with pytest.raises(StoreError, match="trial 3 is corrupted"):
        store.open_archive().trials()


ODD = ["trial SET fit_time = 'soon'", "trial SET learner = -1", "learner SET parameters = '{'", "dataset SET classes = '['"]
ODD += ["dataset SET row_id_type = 'odd'", "condition SET description = ''", "run SET facts = '{'"]


@pytest.mark.parametrize("change", ODD)
def test_what_cannot_be_read_does_not_pass_the_check(store, change):
    store.start_run({})
    store.add_records([(STUDY.success(link), link) for link in LINKS[:5]])
    store.check()
    with store.file.write_transaction() as connection:
        connection.execute(f"UPDATE {change}")
    with pytest.raises(StoreError, match="corrupted"):
        store.check()
    archive = store.open_archive()
    with pytest.raises(StoreError, match="corrupted"):
        _ = archive.trials(), archive.datasets, archive.learners, archive.conditions, archive.runs
