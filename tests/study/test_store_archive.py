"""Tests of `fairtrial.study.store.archive`."""

import sqlite3

import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError, StoreError
from fairtrial.study.archive import TRIAL_COLUMNS
from fairtrial.study.records import CODES, INDICES, NUMBERS, pack
from fairtrial.study.store import archive as archive_module
from fairtrial.study.store.archive import PlannedTrials, StoreArchive
from fairtrial.study.store.store import open_store
from tests.study.small_store import SmallStudy, reseal

# --- Archive ---
# What results read from a store: facts, trials, predictions, splits.


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
        reseal(connection)
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


# --- Trials frame ---
# The table of trials: a line for each planned one, beside a twin that loops.


def twin(study, stored):
    """Names, numbers and status of each planned trial, by loops."""
    names = {own: name for name, own in study.header["data"]}
    return [
        (
            names[data],
            condition,
            level,
            learner,
            repeat,
            fold,
            stored.get((data, own, learner_hash, bytes.fromhex(split)), "missing"),
        )
        for _, data in study.header["data"]
        for condition, level, own in study.header["conditions"]
        for learner, learner_hash in study.header["learners"]
        for repeat, fold, split in study.header["splits"][data]
    ]


def table(frame):
    columns = ["dataset", "condition", "level", "learner", "repeat", "fold", "status"]
    return list(frame[columns].astype(object).itertuples(index=False, name=None))


def test_trials_are_those_of_the_header_with_what_is_stored(tmp_path):
    rng = np.random.default_rng(3)
    chosen = [LINKS[i] for i in rng.permutation(len(LINKS))[:30]]
    with open_store(tmp_path / "a.fairtrial", write=True, create=True) as store:
        STUDY.plan_into(store)
        assert table(store.open_archive().trials()) == twin(STUDY, {})
        good, bad = chosen[:25], chosen[25:]
        times = {link: float(i) for i, link in enumerate(good)}
        store.add_records([(STUDY.success(link, fit_time=times[link], notes=f"note {times[link]:g}"), link) for link in good])
        store.add_records(
            [(STUDY.failure(link, "memory", message=f"of {link.learner[:4]}", memory=2**40), link) for link in bad]
        )
        frame = store.open_archive().trials()
    assert tuple(frame.columns) == TRIAL_COLUMNS
    stored = {(link.data, link.condition, link.learner, link.split): "ok" for link in good}
    stored |= {(link.data, link.condition, link.learner, link.split): "memory" for link in bad}
    assert table(frame) == twin(STUDY, stored)
    for place, link in enumerate(LINKS):
        line = frame.iloc[place]
        if link in times:
            assert (line["fit_time"], line["notes"], line["realised_level"]) == (times[link], f"note {times[link]:g}", 0.25)
            assert line["error"] is None
        elif link in bad:
            assert (line["error"], line["message"], line["memory"]) == ("ValueError", f"of {link.learner[:4]}", 2**40)
            assert np.isnan(line["fit_time"])
        else:
            assert line["trial"] == -1
            assert line["error"] is None
    assert sorted(frame["trial"][frame["trial"] > 0]) == list(range(1, 31))
    assert all(isinstance(frame[name].dtype, pd.CategoricalDtype) for name in ("dataset", "condition", "learner", "status"))


def test_trials_of_another_seed_protocol_or_study_are_not_mixed_in(tmp_path):
    """Splits that are given do not depend on the seed: then only the keys of two studies differ."""
    other = SmallStudy(seed=2**80, name="other", learners=("forest", "stump"))
    other.data = STUDY.data
    with open_store(tmp_path / "a.fairtrial", write=True, create=True) as store:
        STUDY.plan_into(store)
        store.add_records([(STUDY.success(link), link) for link in LINKS])
        other.plan_into(store)
        shared = [link for link in other.links() if link.learner == other.learners[0][0]]
        store.add_records([(other.failure(link), link) for link in shared[:5]])
        assert store.open_archive("small").trials()["status"].value_counts()["ok"] == 48
        frame = store.open_archive("other").trials()
        assert frame["status"].value_counts().to_dict() == {"missing": 43, "error": 5} | dict.fromkeys(
            ["ok", "timeout", "memory", "crash"], 0
        )
        with store.file.write_transaction() as connection:
            connection.execute("UPDATE trial SET protocol = 99 WHERE status = 'error'")
            reseal(connection)
        assert (store.open_archive("other").trials()["status"] == "missing").all()


def test_numbers_that_the_header_does_not_know_have_no_line(tmp_path):
    with open_store(STUDY.filled(tmp_path / "a.fairtrial")) as store, store.file.read_connection() as connection:
        planned = PlannedTrials.from_header(connection, STUDY.header)
    known, unknown = np.array([1]), np.array([10_000])
    assert planned.locate_lines(known, known, known, known).tolist() == [0]
    for place in range(4):
        numbers = [known] * 4
        numbers[place] = unknown
        assert planned.locate_lines(*numbers).tolist() == [-1]
