"""What results read from a store: facts, trials, predictions, splits."""

import sqlite3

import numpy as np
import pytest

from fairtrial.errors import InputError, StoreError
from fairtrial.study.records import CODES, INDICES, NUMBERS, pack
from fairtrial.study.store import archive as archive_module
from fairtrial.study.store.archive import StoreArchive
from fairtrial.study.store.store import open_store
from tests.study.small_store import SmallStudy

STUDY = SmallStudy()
LINKS = STUDY.links()


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    with open_store(STUDY.filled(tmp_path_factory.mktemp("archive") / "a.fairtrial")) as store:
        yield store.open_archive()


def test_facts_come_back(archive):
    assert (archive.name, archive.seed, archive.declaration) == ("small", 0, STUDY.header["declaration"])
    for found, given in zip(archive.datasets, STUDY.data, strict=True):
        assert (found.name, found.content_hash, found.classes, dict(found.facts)) == (
            given.name,
            given.content_hash,
            given.classes,
            dict(given.facts),
        )
        assert found.codes.tolist() == given.codes.tolist()
        assert found.row_ids.tolist() == given.row_ids.tolist()
        assert found.row_ids.dtype == given.row_ids.dtype
        assert [type(each) for each in found.classes] == [type(each) for each in given.classes]
    assert archive.conditions == tuple(facts for _, facts in STUDY.conditions)
    assert archive.learners == tuple(facts for _, facts in STUDY.learners)
    assert archive.runs == ()


def test_splits_come_back_exactly(archive):
    for data, _, rows in STUDY.splits:
        (name,) = (name for name, own in STUDY.header["data"] if own == data)
        train, test = archive.split(name, rows.repeat, rows.fold)
        assert train.tolist() == rows.train.tolist()
        assert test.tolist() == rows.test.tolist()


def test_unknown_names_are_told(archive):
    with pytest.raises(InputError, match=r"'flower': .*'flowers'"):
        archive.split("flower", 0, 0)
    with pytest.raises(InputError, match="repeat 9 and fold 0"):
        archive.split("flowers", 9, 0)
    with pytest.raises(InputError, match=r"'smal': .*'small'"):
        StoreArchive.from_file(archive.file, "smal")


def test_predictions_come_in_the_order_asked_for(archive, monkeypatch):
    monkeypatch.setattr(archive_module, "_PREDICTION_BATCH_SIZE", 7)
    trials = archive.trials()["trial"].to_numpy()
    order = np.random.default_rng(0).permutation(len(LINKS))
    order = np.concatenate([order, order[:3]])
    for place, found in zip(order, archive.predictions(trials[order]), strict=True):
        data, rows, prediction, scores = STUDY.arrays(LINKS[place])
        assert found.rows.tolist() == rows.test.tolist()
        assert found.y_true.tolist() == data.codes[rows.test].tolist()
        assert found.prediction.tolist() == prediction.tolist()
        assert found.scores.tolist() == scores.tolist()
        assert found.score_kind == "probability"
        assert {found.rows.dtype, found.y_true.dtype, found.prediction.dtype} == {np.dtype(np.intp)}


def test_rows_and_truth_of_their_own_are_used(tmp_path):
    data = STUDY.data[0]
    rows, truth, prediction = np.array([5, 5, 1]), np.array([2, 0, 1]), np.array([1, 1, 0])
    cases = [
        ({"rows": pack(rows, INDICES)}, rows, data.codes[rows]),
        ({"rows": pack(rows, INDICES), "y_true": pack(truth, CODES)}, rows, truth),
    ]
    with open_store(tmp_path / "a.fairtrial", write=True, create=True) as store:
        STUDY.plan_into(store)
        changes = {"prediction": pack(prediction, CODES), "scores": None, "score_kind": None}
        store.add_records(
            [(STUDY.success(link, **changes, **given), link) for link, (given, *_) in zip(LINKS, cases, strict=False)]
        )
        own = STUDY.splits[0][2].test
        store.add_records([(STUDY.success(LINKS[8], y_true=pack(np.zeros(len(own)), CODES)), LINKS[8])])
        found = list(store.open_archive().predictions([1, 2, 3]))
    for each, (_, expected_rows, expected_truth) in zip(found, cases, strict=False):
        assert each.rows.tolist() == expected_rows.tolist()
        assert each.y_true.tolist() == expected_truth.tolist()
        assert each.scores is None
        assert each.score_kind is None
    assert found[2].rows.tolist() == own.tolist()
    assert not found[2].y_true.any()


def test_a_trial_without_predictions_is_told(tmp_path):
    with open_store(tmp_path / "a.fairtrial", write=True, create=True) as store:
        STUDY.plan_into(store)
        store.add_records([(STUDY.failure(LINKS[0]), LINKS[0])])
        for trial in (1, 99):
            with pytest.raises(InputError, match=f"trial {trial} has no predictions"):
                list(store.open_archive().predictions([trial]))


def test_evidence_that_does_not_fit_its_rows_is_refused(tmp_path):
    with open_store(tmp_path / "a.fairtrial", write=True, create=True) as store:
        STUDY.plan_into(store)
        store.add_records([(STUDY.success(LINKS[0], prediction=pack([0, 1], CODES)), LINKS[0])])
        store.add_records([(STUDY.success(LINKS[1], scores=pack([0.5], NUMBERS)), LINKS[1])])
        for trial in (1, 2):
            with pytest.raises(StoreError, match=f"trial {trial} .* 6 test rows"):
                list(store.open_archive().predictions([trial]))


def test_a_store_without_a_study_says_so(tmp_path):
    store = open_store(tmp_path / "a.fairtrial", write=True, create=True)
    with store, pytest.raises(StoreError, match="no study yet"):
        store.open_archive()


def test_a_store_that_lacks_parts_is_refused_in_words(tmp_path):
    path = STUDY.filled(tmp_path / "a.fairtrial")
    parts = {
        "trial SET split = 99": "a split is missing",
        "split SET hash = x'00' WHERE repeat = 0 AND fold = 1": "'flowers', repeat 0 and fold 1",
        "dataset SET hash = 'other' WHERE name = 'people'": "'people'",
    }
    for change, told in parts.items():
        connection = sqlite3.connect(path)
        connection.execute(f"UPDATE {change}")
        connection.commit()
        connection.close()
        with open_store(path) as store, pytest.raises(StoreError, match=told):
            list(store.open_archive().predictions([1]))


def test_new_evidence_is_seen_by_an_archive_that_is_open(tmp_path):
    path = STUDY.filled(tmp_path / "a.fairtrial", LINKS[:3])
    with open_store(path) as reader, open_store(path, write=True) as writer:
        archive = reader.open_archive()
        assert (archive.trials()["status"] == "ok").sum() == 3
        writer.add_records([(STUDY.success(link), link) for link in LINKS[3:10]])
        assert (archive.trials()["status"] == "ok").sum() == 10


def test_few_splits_are_kept_where_they_are_large(archive, monkeypatch):
    monkeypatch.setattr(archive_module, "_MAX_CACHED_BYTES", 100)
    small = StoreArchive.from_file(archive.file)
    trials = archive.trials()["trial"].tolist()
    for first, second in zip(small.predictions(trials), archive.predictions(trials), strict=True):
        assert first.rows.tolist() == second.rows.tolist()
    assert len(small._test_rows) < 8
