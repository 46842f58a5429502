"""Tests of `fairtrial.study.store.schema`."""

import datetime
import hashlib
import json
import math
import sqlite3
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import zstandard
from hypothesis import given, strategies as st

import fairtrial
from fairtrial.errors import InputError, StoreError
from fairtrial.study.records import ABSTAINED, CODES, TrialRecord, pack
from fairtrial.study.run.coordinator import run_study
from fairtrial.study.store import codec as values, schema
from fairtrial.study.store.checksums import compute_predictions_checksum
from fairtrial.study.store.codec import (
    StoreIds,
    insert_records,
    iter_record_hashes,
    put_study,
    query_mean_times,
    read_header,
)
from fairtrial.study.store.integrity import check_links, check_predictions, refuse_corrupted_predictions
from fairtrial.study.store.store import open_store
from fairtrial.study.store.transfer import export, merge
from fairtrial.study.study import Study
from tests.study.small_store import SmallStudy, reseal

# --- Schema ---
# Versions of the tables: older files are migrated, newer files and files of other programs are refused.


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


def test_field_lists_equal_the_columns_of_the_tables(path):
    assert tuple(columns(path, "trial")) == schema.TRIAL_FIELDS
    assert tuple(columns(path, "evidence")) == schema.PREDICTION_FIELDS


LATEST = schema.VERSION

STEPS = {
    LATEST: lambda connection: connection.execute("ALTER TABLE run ADD COLUMN host TEXT"),
    LATEST + 1: lambda connection: connection.execute("UPDATE run SET host = 'here'"),
}


def test_writer_upgrades_an_older_file_and_keeps_a_copy(path, monkeypatch):
    with open_store(path) as store:
        digest = store.compute_digest()
    monkeypatch.setattr(schema, "VERSION", LATEST + 2)
    monkeypatch.setattr(schema, "MIGRATIONS", STEPS)
    with pytest.raises(StoreError, match=f"schema {LATEST}, this one reads {LATEST + 2}"):
        open_store(path)
    with open_store(path, write=True) as store:
        assert store.compute_digest() == digest
    with open_store(path) as store:
        assert store.compute_digest() == digest
    assert columns(path, "run")[-1] == "host"
    copy = path.with_name(f"old.fairtrial.schema-{LATEST}")
    assert columns(copy, "run")[-1] != "host"
    monkeypatch.undo()
    with open_store(copy) as store:
        assert store.compute_digest() == digest


def test_failed_migration_leaves_the_file_unchanged(path, monkeypatch):
    steps = {**STEPS, LATEST + 1: lambda connection: connection.execute("UPDATE nothing SET host = 1")}
    with monkeypatch.context() as patch:
        patch.setattr(schema, "VERSION", LATEST + 2)
        patch.setattr(schema, "MIGRATIONS", steps)
        with pytest.raises(StoreError, match=f"schema-{LATEST}"):
            open_store(path, write=True)
    assert "host" not in columns(path, "run")
    with open_store(path, write=True) as store:
        assert store.count_by_status() == {"ok": 48}


def test_version_without_a_migration_is_refused(path, monkeypatch):
    monkeypatch.setattr(schema, "VERSION", LATEST + 1)
    with pytest.raises(StoreError, match=f"schema {LATEST}"):
        open_store(path, write=True)


@pytest.mark.parametrize("write", [False, True])
def test_newer_file_is_refused(path, monkeypatch, write):
    monkeypatch.setattr(schema, "VERSION", 0)
    with pytest.raises(StoreError, match=f"schema {LATEST}"):
        open_store(path, write=write)


@pytest.mark.parametrize("script", ["CREATE TABLE other (a)", "PRAGMA application_id = 7", "PRAGMA user_version = 1"])
def test_file_of_another_program_is_refused_and_unchanged(tmp_path, script):
    path = tmp_path / "foreign.db"
    connection = sqlite3.connect(path)
    connection.execute(script)
    connection.commit()
    connection.close()
    before = path.read_bytes()
    for write in (False, True):
        with pytest.raises(StoreError, match=r"foreign\.db"):
            open_store(path, write=write, create=write)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_interrupted_creation_is_completed(tmp_path):
    path = tmp_path / "begun.fairtrial"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    assert path.stat().st_size > 0
    with pytest.raises(StoreError, match=r"begun\.fairtrial"):
        open_store(path)
    with open_store(path, write=True, create=True) as store:
        assert store.count_by_status() == {}


# Version 1: abstentions are in the first line of the notes, and checksums cover the predictions only.


def downgrade_to_1(path):
    """Give a file the layout and content that version 1 wrote."""
    connection = sqlite3.connect(path, isolation_level=None)
    query = "SELECT id, abstentions, notes, prediction, scores, test_rows, truth FROM trial JOIN evidence ON trial = id"
    for trial, abstentions, notes, *blobs in connection.execute(query).fetchall():
        if abstentions:
            n_rows = len(fairtrial.study.records.unpack(blobs[0], CODES))
            note = f"abstained on {abstentions} of {n_rows} test row{'s' * (n_rows != 1)}: counted as errors"
            connection.execute("UPDATE trial SET notes = ? WHERE id = ?", ("\n".join(filter(None, [note, notes])), trial))
        checksum = 0
        for blob in blobs:
            checksum = zlib.crc32(blob or b"", checksum)
        connection.execute("UPDATE evidence SET checksum = ? WHERE trial = ?", (checksum, trial))
    connection.execute("ALTER TABLE trial DROP COLUMN abstentions")
    drop_columns_of_3(connection)
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    return path


def downgrade_to_2(path):
    """Give a file the layout of version 2, whose checksums covered the predictions and the number of abstentions."""
    connection = sqlite3.connect(path, isolation_level=None)
    query = "SELECT id, abstentions, prediction, scores, test_rows, truth FROM trial JOIN evidence ON trial = id"
    for trial, abstentions, *blobs in connection.execute(query).fetchall():
        checksum = zlib.crc32(b"".join(blob or b"" for blob in blobs))
        checksum = zlib.crc32(str(abstentions).encode(), checksum)
        connection.execute("UPDATE evidence SET checksum = ? WHERE trial = ?", (checksum, trial))
    drop_columns_of_3(connection)
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    return path


def drop_columns_of_3(connection):
    connection.execute("ALTER TABLE trial DROP COLUMN tuning")
    for table in ("study", "dataset", "condition", "learner", "split", "run", "trial"):
        connection.execute(f"ALTER TABLE {table} DROP COLUMN checksum")


def fill_abstaining(path, links=None):
    """Fill a store with trials, some of which abstain; some of these have other notes, too."""
    records = []
    for index, link in enumerate(STUDY.links() if links is None else links):
        prediction = STUDY.arrays(link)[2].copy()
        prediction[: index % 3] = ABSTAINED
        notes = "UserWarning: late" if index % 2 else None
        record = STUDY.success(
            link, prediction=pack(prediction, CODES), abstentions=int((prediction == ABSTAINED).sum()), notes=notes
        )
        records.append((record, link))
    with open_store(path, write=True, create=True) as store:
        STUDY.plan_into(store)
        store.add_records(records)
    return path


def read_everything(path):
    """Digest, trials, scores and notes of a file that passes all checks."""
    with open_store(path) as store:
        store.check()
        digest = store.compute_digest()
    results = fairtrial.open_results(path)
    return digest, results.trials(), results.scores("accuracy"), results.notes


def assert_same_content(first, second):
    assert first[0] == second[0]
    pd.testing.assert_frame_equal(first[1], second[1])
    pd.testing.assert_frame_equal(first[2], second[2])
    assert first[3] == second[3]


@pytest.fixture
def expected(tmp_path):
    return read_everything(fill_abstaining(tmp_path / "new.fairtrial"))


@pytest.fixture
def version_1(tmp_path):
    return downgrade_to_1(fill_abstaining(tmp_path / "version-1.fairtrial"))


def test_reader_of_version_1_sees_the_current_layout_and_writes_nothing(version_1, expected):
    before = version_1.read_bytes()
    assert_same_content(read_everything(version_1), expected)
    assert version_1.read_bytes() == before
    assert not list(version_1.parent.glob("version-1.fairtrial?*"))


def test_writer_migrates_version_1(version_1, expected):
    before = version_1.read_bytes()
    open_store(version_1, write=True).close()
    assert set(columns(version_1, "trial")) == set(schema.TRIAL_FIELDS)
    assert_same_content(read_everything(version_1), expected)
    copy = version_1.with_name("version-1.fairtrial.schema-1")
    assert columns(copy, "trial") == [name for name in schema.TRIAL_FIELDS if name not in ("abstentions", "tuning", "checksum")]
    assert len(copy.read_bytes()) == len(before)


def test_file_of_version_2_is_read_and_migrated(tmp_path, expected):
    path = downgrade_to_2(fill_abstaining(tmp_path / "version-2.fairtrial"))
    before = path.read_bytes()
    assert_same_content(read_everything(path), expected)
    assert path.read_bytes() == before
    open_store(path, write=True).close()
    assert_same_content(read_everything(path), expected)
    assert path.with_name("version-2.fairtrial.schema-2").exists()


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize(
    "change", ["evidence SET prediction = x'00' WHERE trial = 3", "trial SET abstentions = 5 WHERE id = 3"]
)
def test_migration_does_not_hide_corrupted_records(tmp_path, change, write):
    path = downgrade_to_2(fill_abstaining(tmp_path / "version-2.fairtrial"))
    connection = sqlite3.connect(path)
    connection.execute(f"UPDATE {change}")
    connection.commit()
    connection.close()
    if write:
        open_store(path, write=True).close()
    with open_store(path) as store, pytest.raises(StoreError, match="trial 3 are corrupted"):
        store.check()


def test_reader_follows_a_migration(version_1, expected):
    with open_store(version_1) as reader:
        first = reader.open_archive().trials()
        with open_store(version_1, write=True):
            pass
        reader.check()
        pd.testing.assert_frame_equal(reader.open_archive().trials(), first)
        pd.testing.assert_frame_equal(first, expected[1])


def test_trials_of_version_1_are_not_rerun(version_1):
    with open_store(version_1, write=True) as store:
        assert store.find_done() == {STUDY.key(link) for link in STUDY.links()}


@pytest.mark.parametrize("old_first", [True, False])
def test_merge_of_version_1_and_2(tmp_path, expected, old_first):
    links = STUDY.links()
    parts = [fill_abstaining(tmp_path / "part-1", links[:30]), fill_abstaining(tmp_path / "part-2", links[:30] + links[30:])]
    old = downgrade_to_1(parts[0])
    before = old.read_bytes()
    merge(tmp_path / "merged", parts if old_first else parts[::-1])
    content = read_everything(tmp_path / "merged")
    assert content[0] == expected[0]
    assert content[1]["abstentions"].sum() == expected[1]["abstentions"].sum() > 0
    assert content[3] == expected[3]
    assert old.read_bytes() == before


def test_merge_into_version_1(tmp_path, version_1, expected):
    merged = merge(version_1, [fill_abstaining(tmp_path / "part")])
    assert merged.frame()["unchanged"].tolist() == [48]
    assert_same_content(read_everything(version_1), expected)


def test_export_of_version_1_is_the_same(tmp_path, version_1):
    contents = set()
    for number, path in enumerate([version_1, tmp_path / "new.fairtrial"]):
        if not path.exists():
            fill_abstaining(path)
        with open_store(path) as store:
            export(store.open_archive(), tmp_path / f"{number}.csv")
        contents.add((tmp_path / f"{number}.csv").read_bytes())
    assert len(contents) == 1


@pytest.mark.parametrize("write", [False, True])
def test_corrupted_predictions_of_version_1_are_still_refused(version_1, write):
    connection = sqlite3.connect(version_1)
    changed = pack(np.zeros(6), CODES)
    connection.execute("UPDATE evidence SET prediction = ? WHERE trial = 1", (changed,))
    connection.commit()
    connection.close()
    if write:
        open_store(version_1, write=True).close()
    with open_store(version_1) as store, pytest.raises(StoreError, match="trial 1 "):
        store.check()


def test_checksum_covers_abstentions(tmp_path):
    path = fill_abstaining(tmp_path / "a.fairtrial")
    connection = sqlite3.connect(path)
    connection.execute("UPDATE trial SET abstentions = 5 WHERE id = 2")
    connection.commit()
    connection.close()
    with open_store(path) as store:
        with pytest.raises(StoreError, match="trial 2 "):
            store.check()
        with pytest.raises(StoreError, match="trial 2 "):
            list(store.open_archive().predictions([2]))


def test_study_resumes_in_a_file_of_version_1(tmp_path):
    def build_study(**sections):
        resampling = {"scheme": "stratified", "folds": 2}
        return Study(data=["wine"], resampling=resampling, seed=1, name="chi-study", **sections)

    path = tmp_path / "chi-study.fairtrial"
    run_study(build_study(learners={"chi": "chi"}), path, jobs=1, progress=False)
    trials = fairtrial.open_results(path).trials()
    assert (trials["abstentions"] > 0).all()
    assert not trials["notes"].str.contains("abstain").any()
    downgrade_to_1(path)
    summary = run_study(build_study(learners={"chi": "chi", "c45": "c45"}), path, jobs=1, progress=False)
    assert (summary.stored, summary.done, summary.failed) == (2, 2, 0)
    resumed = fairtrial.open_results(path).trials()
    pd.testing.assert_frame_equal(
        resumed[resumed["learner"] == "chi"].drop(columns="learner"), trials.drop(columns="learner"), check_categorical=False
    )
    with open_store(path) as store:
        store.check()


# --- Codec ---
# Values come back as they were, with their types, and nothing is unpickled.


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(plain)
def test_plain_values_come_back(value):
    text = values.to_json(value)
    text.encode()
    assert values.from_json(text) == value


def test_what_is_nearly_plain_is_made_plain():
    odd = {"a": np.float64(0.5), "b": np.arange(2), "c": {"z", "y"}, "d": (1, 2), "e": values.from_json, "f": math.nan}
    back = values.from_json(values.to_json(odd))
    assert (back["a"], back["b"], back["c"], back["d"]) == (0.5, [0, 1], ["y", "z"], [1, 2])
    assert back["e"].startswith("<function from_json")
    assert math.isnan(back["f"])


def test_damaged_text_is_refused():
    for text in ("{", "", None):
        with pytest.raises(StoreError, match="not JSON"):
            values.from_json(text)


@pytest.mark.parametrize("labels", [("a", "b"), (0, 1), (False, True), (0.5, 1.5), ("0", "1"), (2**70, -1), ("\ud800", "é")])
def test_labels_keep_their_type(labels):
    back = values.from_json(values.encode_labels(labels))
    assert back == list(labels)
    assert [type(each) for each in back] == [type(each) for each in labels]


def test_labels_of_numpy_become_those_of_python_and_others_are_refused():
    assert values.from_json(values.encode_labels(np.array([3, 1]))) == [3, 1]
    with pytest.raises(InputError, match="class labels must be"):
        values.encode_labels([datetime.date(2020, 1, 1)])


@pytest.mark.parametrize(
    "ids",
    [
        np.arange(5),
        np.arange(5, dtype=np.int32),
        np.arange(1, 6),
        np.array([7, 3], dtype=">i4"),
        np.array([2**63, 1], dtype=np.uint64),
        np.array([0.5, -0.0]),
        np.array(["a", "", "ccc", "é"]),
        np.array(["a", 1, 2.5, True, None], dtype=object),
        np.array(["2020-01-01", "2021-05-05"], dtype="datetime64[D]"),
        np.array([], dtype=np.int64),
        np.array([[1, 2], [3, 4]])[:, 0],
    ],
    ids=str,
)
def test_row_ids_keep_their_type(ids):
    back = values.unpack_ids(*values.pack_ids(ids), len(ids))
    assert back.dtype == ids.dtype
    assert back.tolist() == ids.tolist()


def test_row_ids_of_unknown_type_are_refused():
    with pytest.raises(StoreError, match="'nonsense'"):
        values.unpack_ids("nonsense", b"", 3)
    with pytest.raises(StoreError, match="corrupted"):
        values.unpack_ids("<i8", b"not compressed", 3)


@given(st.integers(1, 12).flatmap(lambda n: st.tuples(st.just(n), *[st.lists(st.integers(0, n - 1), max_size=15)] * 2)))
def test_positions_come_back_in_order_and_as_often_as_they_were(drawn):
    n, train, test = drawn
    for pair in ((train, test), (sorted(set(range(n)) - set(test)), test)):
        first, second = (np.array(each, dtype=np.intp) for each in pair)
        packed_test, packed_train = values.pack_rows(first, second, n)
        found, back = values.unpack_split(packed_test, packed_train, n)
        assert (found.tolist(), back.tolist()) == (first.tolist(), second.tolist())
        assert (packed_train is None) == (pair[0] == sorted(set(range(n)) - set(test)))


def test_seeds_of_any_size():
    assert [values.to_storable_seed(each) for each in (5, 2**63 - 1, 2**63, -(2**63))] == [5, 2**63 - 1, str(2**63), -(2**63)]


def test_a_checksum_tells_a_changed_bit_and_a_moved_column():
    blobs = [b"abc", None, b"d", None]
    facts = {"abstentions": 2, "key": b"k", "score_kind": "decision"}
    kept = compute_predictions_checksum(blobs, **facts)
    refuse_corrupted_predictions(3, blobs, **facts, expected=kept)
    moved, changed = [b"ab", None, b"cd", None], [b"abb", None, b"d", None]
    for other in (moved, changed, [b"abc", b"", b"d", None]):
        with pytest.raises(StoreError, match="trial 3 are corrupted"):
            refuse_corrupted_predictions(3, other, **facts, expected=kept)
    for change in ({"abstentions": 1}, {"key": b"l"}, {"score_kind": None}):
        with pytest.raises(StoreError, match="trial 3 are corrupted"):
            refuse_corrupted_predictions(3, blobs, **{**facts, **change}, expected=kept)


# --- Header ---
# A header that was damaged is refused with a sentence, wherever the damage is.


TEXT = json.dumps(STUDY.header)
HERE = Path("a.fairtrial")


def test_a_whole_header_comes_back():
    assert read_header(TEXT, HERE) == json.loads(TEXT)


@pytest.mark.parametrize("what", ["name", "declaration", "seed", "data", "conditions", "learners", "splits"])
def test_what_is_missing_is_named(what):
    lacking = {name: each for name, each in STUDY.header.items() if name != what}
    with pytest.raises(StoreError, match=rf"a\.fairtrial is corrupted .*'{what}'"):
        read_header(json.dumps(lacking), HERE)


ODD = [("splits", 3), ("seed", "x"), ("data", [["a"]]), ("data", 1), ("conditions", [["a", "b", "c"]]), ("learners", [[1]])]


@pytest.mark.parametrize(("what", "value"), ODD)
def test_what_is_of_another_kind_is_refused(what, value):
    with pytest.raises(StoreError, match=r"a\.fairtrial is corrupted"):
        read_header(json.dumps({**STUDY.header, what: value}), HERE)


def _hashes():
    data, split = STUDY.splits[0][0], STUDY.splits[0][1].hex()
    return [data, STUDY.conditions[1][0], split, STUDY.learners[0][0]]


@pytest.mark.parametrize("own", _hashes(), ids=["data", "condition", "split", "learner"])
@pytest.mark.parametrize("other", ["0", "g"])
def test_a_changed_character_of_a_hash_is_no_missing_trial(tmp_path, own, other):
    path = STUDY.filled(tmp_path / "a.fairtrial")
    with open_store(path, write=True) as store:
        with store.file.write_transaction() as connection:
            (text,) = connection.execute("SELECT header FROM study").fetchone()
            digit = other if own[5] != other else "1"
            connection.execute("UPDATE study SET header = ?", (text.replace(own, own[:5] + digit + own[6:]),))
        with pytest.raises(StoreError, match="is corrupted"):
            store.open_archive().trials()
        with pytest.raises(StoreError, match="is corrupted"):
            store.check()


# --- Plan rows ---
# Lines of a plan: by hash, once, with the latest names.


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "a.fairtrial", write=True, create=True) as store:
        STUDY.plan_into(store)
        yield store


def test_ids_find_what_a_trial_is_about(store):
    with store.file.read_connection() as connection:
        ids = StoreIds.from_connection(connection)
    numbers = [ids.resolve_link(link, store.path) for link in STUDY.links()]
    assert len(set(numbers)) == len(STUDY.links()) == 48
    assert [len({each[place] for each in numbers}) for place in range(4)] == [2, 3, 8, 2]
    wrong = STUDY.links()[0]._replace(split=b"none")
    with pytest.raises(StoreError, match=r"\(1, b'none'\)"):
        ids.resolve_link(wrong, store.path)


def test_the_same_split_of_two_data_sets_is_kept_for_each(store):
    (data, own, rows), other = STUDY.splits[0], STUDY.data[1].content_hash
    small = replace(rows, train=np.array([0, 1]), test=np.array([2]))
    store.add_plan(STUDY.header, [], [], [], [(other, own, small), (data, own, rows)])
    with store.file.read_connection() as connection:
        assert connection.execute("SELECT count(*) FROM split WHERE hash = ?", (own,)).fetchone() == (2,)


def test_a_split_of_an_unknown_data_set_is_refused(store):
    with pytest.raises(StoreError, match="data set nowhere"):
        store.add_plan(STUDY.header, [], [], [], [("nowhere", *STUDY.splits[0][1:])])


def test_the_latest_names_and_row_ids_stay(store):
    renamed = replace(STUDY.data[0], name="blossoms", row_ids=np.array([f"row {i}" for i in range(12)]))
    header = {**STUDY.header, "data": [("blossoms", renamed.content_hash), STUDY.header["data"][1]]}
    learner, facts = STUDY.learners[0]
    store.add_plan(header, [renamed], [], [(learner, replace(facts, name="wood"))], [])
    archive = store.open_archive()
    assert archive.datasets[0].name == "blossoms"
    assert archive.datasets[0].row_ids[3] == "row 3"
    with store.file.read_connection() as connection:
        assert connection.execute("SELECT id, name FROM learner ORDER BY id").fetchall() == [(1, "wood"), (2, "forest")]


def test_a_study_is_told_whether_it_changes(store):
    with store.file.write_transaction() as connection:
        header = connection.execute("SELECT header FROM study").fetchone()[0]
        assert not put_study(connection, "small", header, 1)
        assert not put_study(connection, "other", "{}", 1)
        assert put_study(connection, "small", "{}", 1)
        found = connection.execute("SELECT name, header FROM study ORDER BY turn").fetchall()
        assert found == [("other", "{}"), ("small", "{}")]


def test_names_that_no_file_can_hold_are_refused(store):
    header, odd = {**STUDY.header, "name": "half \ud83d"}, "half \ud83d"
    (condition, about), (learner, facts) = STUDY.conditions[0], STUDY.learners[0]
    plans = {
        "study": (header, [], [], [], []),
        "data set": (STUDY.header, [replace(STUDY.data[0], name=odd)], [], [], []),
        "condition": (STUDY.header, [], [(condition, replace(about, name=odd))], [], []),
        "learner": (STUDY.header, [], [], [(learner, replace(facts, name=odd))], []),
    }
    for what, plan in plans.items():
        with pytest.raises(InputError, match=rf"name of a {what} must .*, got 'half \\ud83d'"):
            store.add_plan(*plan)


def test_the_latest_row_ids_count_for_all_studies_of_the_same_data(store):
    renamed = replace(STUDY.data[0], row_ids=np.arange(12) + 100)
    store.add_plan({**STUDY.header, "name": "later"}, [renamed], [], [], [])
    assert store.open_archive("small").datasets[0].row_ids.tolist() == list(range(100, 112))


# --- Record rows ---
# Lines of evidence.


LINKS = STUDY.links()


def test_every_field_is_kept(store):
    everything = TrialRecord(
        b"k" * 16,
        "ok",
        b"p",
        b"s",
        "decision",
        b"r",
        b"t",
        0.1,
        2,
        0.3,
        4,
        7,
        0.5,
        0.6,
        0.7,
        0.8,
        9,
        "tuned",
        "n",
        "e",
        "m",
        "tb",
        "l",
    )
    with store.file.write_transaction() as connection:
        insert_records(connection, [(everything, (1, 2, 3, 1))], 7, None)
        trial = connection.execute("SELECT * FROM trial").fetchone()
        evidence = connection.execute("SELECT * FROM evidence").fetchone()
    assert trial[1:11] == (b"k" * 16, 1, 2, 3, 1, 7, 1, None, "ok", 1)
    assert trial[11:-1] == (0.1, 2, 0.3, 4, 7, 0.5, 0.6, 0.7, 0.8, 9, "tuned", "n", "e", "m", "tb", "l")
    assert evidence[:-1] == (1, b"p", b"s", "decision", b"r", b"t")


def test_a_failure_leaves_no_columns(store):
    store.add_records([(STUDY.failure(LINKS[0]), LINKS[0])])
    with store.file.read_connection() as connection:
        assert connection.execute("SELECT count(*) FROM evidence").fetchone() == (0,)


def test_hashes_are_those_of_the_keys_asked_for_and_the_digest_sorts_them_by_key(store):
    store.add_records([(STUDY.success(link), link) for link in LINKS])
    with store.file.read_connection() as connection:
        found = dict(iter_record_hashes(connection))
        some = dict(iter_record_hashes(connection, [STUDY.key(LINKS[3]), b"unknown"]))
        assert list(iter_record_hashes(connection, [])) == []
    assert set(found) == {STUDY.key(link) for link in LINKS}
    assert some == {STUDY.key(LINKS[3]): found[STUDY.key(LINKS[3])]}
    assert len(set(found.values())) == 48
    assert store.compute_digest() == hashlib.sha256(b"".join(found[key] for key in sorted(found))).hexdigest()


def test_trials_without_times_do_not_enter_the_mean(store):
    store.add_records([(STUDY.success(LINKS[0], fit_time=None), LINKS[0])])
    with store.file.read_connection() as connection:
        assert query_mean_times(connection) == {}


def test_evidence_that_is_not_as_it_was_written_is_refused(store):
    store.add_records([(STUDY.success(link), link) for link in LINKS[:3]])
    with store.file.write_transaction() as connection:
        check_predictions(connection)
        other = zstandard.ZstdCompressor().compress(b"something else")
        connection.execute("UPDATE evidence SET prediction = ? WHERE trial = 2", (other,))
        with pytest.raises(StoreError, match="trial 2 are corrupted"):
            check_predictions(connection)


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
    with pytest.raises(StoreError, match="has a wrong checksum"):
        store.check()
    with store.file.write_transaction() as connection:
        reseal(connection)
    with pytest.raises(StoreError, match=r"trial \d is corrupted"):
        store.check()


def test_rows_of_a_split_and_a_status_that_were_changed_are_refused(store):
    store.add_records([(STUDY.success(link), link) for link in LINKS[:5]])
    with store.file.write_transaction() as connection:
        kept = connection.execute("SELECT test FROM split WHERE id = 1").fetchone()
        connection.execute("UPDATE split SET test = (SELECT test FROM split WHERE id = 2) WHERE id = 1")
        with pytest.raises(StoreError, match="split 1 is corrupted"):
            check_links(connection)
        connection.execute("UPDATE split SET test = ? WHERE id = 1", kept)
        check_links(connection)
        connection.execute("UPDATE trial SET status = 'oj' WHERE id = 3")
        with pytest.raises(StoreError, match="trial 3 is corrupted"):
            check_links(connection)
    with pytest.raises(StoreError, match="trial 3 has a wrong checksum"):
        store.open_archive().trials()
    with store.file.write_transaction() as connection:
        reseal(connection)
    with pytest.raises(StoreError, match="invalid status"):
        store.open_archive().trials()


ODD_RECORD_ROWS = [
    "trial SET fit_time = 'soon'",
    "trial SET learner = -1",
    "learner SET parameters = '{'",
    "dataset SET classes = '['",
]
ODD_RECORD_ROWS += ["dataset SET row_id_type = 'odd'", "condition SET description = ''", "run SET facts = '{'"]


@pytest.mark.parametrize("change", ODD_RECORD_ROWS)
def test_what_cannot_be_read_does_not_pass_the_check(store, change):
    store.start_run({})
    store.add_records([(STUDY.success(link), link) for link in LINKS[:5]])
    store.check()
    with store.file.write_transaction() as connection:
        connection.execute(f"UPDATE {change}")
    with pytest.raises(StoreError, match="corrupted"):
        store.check()
    with pytest.raises(StoreError, match="corrupted"):
        store.open_archive().trials()
    with store.file.write_transaction() as connection:
        reseal(connection)
    with pytest.raises(StoreError, match="corrupted"):
        store.check()
    archive = store.open_archive()
    with pytest.raises(StoreError, match="corrupted"):
        _ = archive.trials(), archive.datasets, archive.learners, archive.conditions, archive.runs


def test_a_corrupted_version_is_refused_at_once(tmp_path):
    path = tmp_path / "study.fairtrial"
    with open_store(path, write=True, create=True):
        pass
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = -1600000000")
    connection.close()
    with pytest.raises(StoreError, match="schema -1600000000"):
        open_store(path, write=True)
