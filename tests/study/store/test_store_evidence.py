"""Lines of evidence."""

import hashlib

import pytest
import zstandard

from fairtrial.errors import StoreError
from fairtrial.study.records import Evidence
from fairtrial.study.store.store import Store
from fairtrial.study.store.store_evidence import evidence_hashes, mean_times, put_evidence, refuse_damaged
from tests.study.small_store import SmallStudy

STUDY = SmallStudy()
LINKS = STUDY.links()


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "a.fairtrial", write=True, create=True) as store:
        STUDY.plan_into(store)
        yield store


def test_every_field_is_kept(store):
    everything = Evidence(
        b"k" * 16, "ok", b"p", b"s", "decision", b"r", b"t", 0.1, 2, 0.3, 4, 0.5, 0.6, 0.7, 0.8, 9, "n", "e", "m", "tb", "l"
    )
    with store.writing() as connection:
        put_evidence(connection, [(everything, (1, 2, 3, 1))], 7, None)
        trial = connection.execute("SELECT * FROM trial").fetchone()
        evidence = connection.execute("SELECT * FROM evidence").fetchone()
    assert trial[1:11] == (b"k" * 16, 1, 2, 3, 1, 7, 1, None, "ok", 1)
    assert trial[11:] == (0.1, 2, 0.3, 4, 0.5, 0.6, 0.7, 0.8, 9, "n", "e", "m", "tb", "l")
    assert evidence[:-1] == (1, b"p", b"s", "decision", b"r", b"t")


def test_a_failure_leaves_no_columns(store):
    store.add([(STUDY.failure(LINKS[0]), LINKS[0])])
    with store.reading() as connection:
        assert connection.execute("SELECT count(*) FROM evidence").fetchone() == (0,)


def test_hashes_come_in_the_order_of_keys_and_for_the_keys_asked_for(store):
    store.add([(STUDY.success(link), link) for link in LINKS])
    with store.reading() as connection:
        found = dict(evidence_hashes(connection))
        some = dict(evidence_hashes(connection, [STUDY.key(LINKS[3]), b"unknown"]))
        assert list(evidence_hashes(connection, [])) == []
    assert list(found) == sorted(STUDY.key(link) for link in LINKS)
    assert some == {STUDY.key(LINKS[3]): found[STUDY.key(LINKS[3])]}
    assert len(set(found.values())) == 48
    assert store.evidence_digest() == hashlib.sha256(b"".join(found.values())).hexdigest()


def test_trials_without_times_do_not_enter_the_mean(store):
    store.add([(STUDY.success(LINKS[0], fit_time=None), LINKS[0])])
    with store.reading() as connection:
        assert mean_times(connection) == {}


def test_evidence_that_is_not_as_it_was_written_is_refused(store):
    store.add([(STUDY.success(link), link) for link in LINKS[:3]])
    with store.writing() as connection:
        refuse_damaged(connection)
        other = zstandard.ZstdCompressor().compress(b"something else")
        connection.execute("UPDATE evidence SET prediction = ? WHERE trial = 2", (other,))
        with pytest.raises(StoreError, match="evidence of trial 2 is damaged"):
            refuse_damaged(connection)
