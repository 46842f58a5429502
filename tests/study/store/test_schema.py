"""Versions of the tables: older files are migrated, newer files and files of other programs are refused."""

import sqlite3
import zlib

import numpy as np
import pandas as pd
import pytest

import fairtrial
from fairtrial.errors import StoreError
from fairtrial.study.records import ABSTAINED, CODES, pack
from fairtrial.study.run.coordinator import run_study
from fairtrial.study.store import schema
from fairtrial.study.store.store import open_store
from fairtrial.study.store.transfer import export, merge
from fairtrial.study.study import Study
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


def test_field_lists_equal_the_columns_of_the_tables(path):
    assert tuple(columns(path, "trial")) == schema.TRIAL_FIELDS
    assert tuple(columns(path, "evidence")) == schema.PREDICTION_FIELDS


STEPS = {
    2: lambda connection: connection.execute("ALTER TABLE run ADD COLUMN host TEXT"),
    3: lambda connection: connection.execute("UPDATE run SET host = 'here'"),
}


def test_writer_upgrades_an_older_file_and_keeps_a_copy(path, monkeypatch):
    with open_store(path) as store:
        digest = store.compute_digest()
    monkeypatch.setattr(schema, "VERSION", 4)
    monkeypatch.setattr(schema, "MIGRATIONS", STEPS)
    with pytest.raises(StoreError, match="schema 2, this one reads 4"):
        open_store(path)
    with open_store(path, write=True) as store:
        assert store.compute_digest() == digest
    with open_store(path) as store:
        assert store.compute_digest() == digest
    assert columns(path, "run")[-1] == "host"
    copy = path.with_name("old.fairtrial.schema-2")
    assert columns(copy, "run")[-1] != "host"
    monkeypatch.undo()
    with open_store(copy) as store:
        assert store.compute_digest() == digest


def test_failed_migration_leaves_the_file_unchanged(path, monkeypatch):
    steps = {**STEPS, 3: lambda connection: connection.execute("UPDATE nothing SET host = 1")}
    with monkeypatch.context() as patch:
        patch.setattr(schema, "VERSION", 4)
        patch.setattr(schema, "MIGRATIONS", steps)
        with pytest.raises(StoreError, match="schema-2"):
            open_store(path, write=True)
    assert "host" not in columns(path, "run")
    with open_store(path, write=True) as store:
        assert store.count_by_status() == {"ok": 48}


def test_version_without_a_migration_is_refused(path, monkeypatch):
    monkeypatch.setattr(schema, "VERSION", 3)
    with pytest.raises(StoreError, match="schema 2"):
        open_store(path, write=True)


@pytest.mark.parametrize("write", [False, True])
def test_newer_file_is_refused(path, monkeypatch, write):
    monkeypatch.setattr(schema, "VERSION", 0)
    with pytest.raises(StoreError, match="schema 2"):
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
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    return path


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
    assert columns(copy, "trial") == [name for name in schema.TRIAL_FIELDS if name != "abstentions"]
    assert len(copy.read_bytes()) == len(before)


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
