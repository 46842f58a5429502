"""Tests of `fairtrial.study.store.transfer`."""

import itertools
import os
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError, StoreError
from fairtrial.study.records import CODES, pack
from fairtrial.study.store import schema, transfer
from fairtrial.study.store.store import open_store
from fairtrial.study.store.transfer import export, merge
from tests.study.small_store import SmallStudy, without_privileges

# --- Merge ---
# Merging: any order, any number of times, the same evidence.


STUDY = SmallStudy()
LINKS = STUDY.links()


def digest(path):
    with open_store(path) as store:
        store.check()
        return store.compute_digest()


def store_of(path, *evidence, study=STUDY):
    with open_store(path, write=True, create=True) as store:
        study.plan_into(store)
        store.start_run({"engine": "local"})
        for each, link in evidence:
            store.add_records([(each, link)])
    return path


@pytest.fixture
def shards(tmp_path):
    """Shards that share some trials: one fails where another succeeds, some fail alike, some fail differently."""
    failing, other = LINKS[30], LINKS[31]
    first = [(STUDY.success(link), link) for link in LINKS[:20]] + [(STUDY.failure(failing), failing)]
    second = [(STUDY.success(link), link) for link in LINKS[15:32] if link != other] + [(STUDY.failure(other, "crash"), other)]
    third = [(STUDY.failure(link, "timeout"), link) for link in (failing, other, LINKS[33])]
    return [store_of(tmp_path / f"part-{i}", *each) for i, each in enumerate((first, second, third))]


def test_shards_together_are_the_whole(tmp_path):
    whole = STUDY.filled(tmp_path / "whole")
    parts = [STUDY.filled(tmp_path / f"part-{i}", LINKS[i::3]) for i in range(3)]
    before = [part.read_bytes() for part in parts]
    merged = merge(tmp_path / "merged", parts)
    assert digest(tmp_path / "merged") == digest(whole)
    assert (
        merged.frame()[["trials", "added", "replaced", "unchanged", "different"]].to_numpy().tolist() == [[16, 16, 0, 0, 0]] * 3
    )
    assert merged.notes == ()
    assert str(merged).startswith(f"{tmp_path / 'merged'}: 48 trials")
    assert [part.read_bytes() for part in parts] == before
    with open_store(tmp_path / "merged") as store, open_store(whole) as other:
        first, second = store.open_archive(), other.open_archive()
        left, right = (each.trials().drop(columns="trial") for each in (first, second))
        assert left.equals(right)
        predicted = [
            [each.scores.tolist() for each in archive.predictions(archive.trials()["trial"])] for archive in (first, second)
        ]
        assert predicted[0] == predicted[1]
        assert first.split("people", 1, 0)[0].tolist() == second.split("people", 1, 0)[0].tolist()


def test_any_order_gives_the_same_and_twice_changes_nothing(tmp_path, shards):
    found = set()
    for number, order in enumerate(itertools.permutations(shards)):
        target = tmp_path / f"merged-{number}"
        merge(target, order)
        found.add(digest(target))
        contents = table(target)
        merge(target, order)
        merge(target, [order[0]])
        assert table(target) == contents
    assert len(found) == 1
    one_by_one = tmp_path / "one-by-one"
    for shard in shards:
        merge(one_by_one, [shard])
    assert found == {digest(one_by_one)}
    with open_store(one_by_one) as store:
        assert store.count_by_status()["ok"] == 31
        assert len(store.find_done()) == 33
        assert len(store.open_archive().runs) == 3


def table(path):
    with open_store(path) as store, store.file.read_connection() as connection:
        names = ("study", "dataset", "condition", "learner", "split", "run", "trial", "evidence")
        return [connection.execute(f"SELECT * FROM {name}").fetchall() for name in names]


def test_a_success_wins_over_a_failure_in_both_directions(tmp_path):
    good, bad = store_of(tmp_path / "good", (STUDY.success(LINKS[0]), LINKS[0])), tmp_path / "bad"
    store_of(bad, *[(STUDY.failure(LINKS[0]), LINKS[0])] * 3)
    for name, order, replaced in (("a", [good, bad], [0, 0]), ("b", [bad, good], [0, 1])):
        merged = merge(tmp_path / name, order)
        assert merged.frame()["replaced"].tolist() == replaced
        with open_store(tmp_path / name) as store:
            assert store.count_by_status() == {"ok": 1}
            assert len(next(iter(store.open_archive().predictions([1]))).prediction) == 6
    assert digest(tmp_path / "a") == digest(tmp_path / "b") == digest(good)


def test_different_successes_are_told_and_one_is_kept_in_any_order(tmp_path):
    one = STUDY.success(LINKS[0])
    paths = [store_of(tmp_path / f"{i}", (replace(one, prediction=pack([i] * 6, CODES)), LINKS[0])) for i in range(3)]
    found = set()
    for number, order in enumerate(itertools.permutations(paths)):
        merged = merge(tmp_path / f"merged-{number}", order)
        found.add(digest(tmp_path / f"merged-{number}"))
        assert merged.frame()["different"].tolist() == [0, 1, 1]
        assert any(note.startswith(f"{order[2].name} ") and "of 1 trial:" in note for note in merged.notes)
        assert all(note in str(merged) and f"<br>{note}" in merged._repr_html_() for note in merged.notes)
    assert len(found) == 1
    assert found < {digest(path) for path in paths}


def test_studies_of_one_name_that_differ_are_told_and_the_last_is_kept(tmp_path):
    first = STUDY.filled(tmp_path / "first")
    wider = SmallStudy(learners=("tree", "forest", "stump"))
    second = wider.filled(tmp_path / "second", wider.links()[-4:])
    merged = merge(tmp_path / "merged", [first, second])
    (note,) = merged.notes
    assert "'small'" in note
    assert "second" in note
    with open_store(tmp_path / "merged") as store:
        frame = store.open_archive().trials()
    assert len(frame) == 72
    assert (frame["status"] == "ok").sum() == 52


def test_what_cannot_be_merged_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    part = STUDY.filled(tmp_path / "part")
    for sources, told in (
        ([], r"sources must .*, got \[\]"),
        (str(part), "sources must"),
        ([part, tmp_path / "target"], "sources must not contain"),
    ):
        with pytest.raises(InputError, match=told):
            merge(tmp_path / "target", sources)
    with pytest.raises(StoreError, match="does not exist"):
        merge(tmp_path / "target", [part, tmp_path / "none"])
    newer = shutil.copy(part, tmp_path / "newer")
    latest = schema.VERSION
    monkeypatch.setattr(schema, "VERSION", latest + 1)
    with open_store(tmp_path / "other", write=True, create=True) as store, store.file.write_transaction() as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (latest + 1,)
    with pytest.raises(StoreError, match=f"schema {latest}"):
        merge(tmp_path / "target", [newer])
    monkeypatch.setattr(schema, "VERSION", latest)
    with pytest.raises(StoreError, match=f"schema {latest + 1}"):
        merge(tmp_path / "target", [part, tmp_path / "other"])
    assert not (tmp_path / "target").exists()
    with (
        open_store(tmp_path / "target", write=True, create=True),
        pytest.raises(StoreError, match="process"),
    ):
        merge(tmp_path / "target", [part])


def test_a_shard_that_is_being_written_can_be_merged(tmp_path):
    with open_store(tmp_path / "part", write=True, create=True) as store:
        STUDY.plan_into(store)
        store.add_records([(STUDY.success(link), link) for link in LINKS[:10]])
        assert merge(tmp_path / "target", [tmp_path / "part"]).files[0].added == 10
        store.add_records([(STUDY.success(link), link) for link in LINKS[10:]])
    assert merge(tmp_path / "target", [tmp_path / "part"]).files[0].added == 38
    assert digest(tmp_path / "target") == digest(tmp_path / "part")


# --- Export ---
# A table of predictions for other tools: what is read back gives what the store gives.


SETTING = ["dataset", "condition", "level", "learner", "repeat", "fold"]


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """All trials but the last three; one without scores."""
    path = STUDY.filled(tmp_path_factory.mktemp("export") / "a.fairtrial", LINKS[1:-3])
    with open_store(path, write=True) as store:
        store.add_records([(STUDY.success(LINKS[0], scores=None, score_kind=None), LINKS[0])])
        store.add_records([(STUDY.failure(LINKS[-1]), LINKS[-1])])
    with open_store(path) as store:
        yield store.open_archive()


def read(path):
    exact = {} if int(pd.__version__.split(".")[0]) >= 3 else {"float_precision": "round_trip"}
    return pd.read_csv(path, **exact) if path.suffix == ".csv" else pd.read_parquet(path)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("at_once", [1, 17, 100_000])
def test_what_is_read_back_is_what_was_stored(archive, tmp_path, monkeypatch, ending, at_once):
    monkeypatch.setattr(transfer, "_MAX_ROWS", at_once)
    path = tmp_path / f"predictions.{ending}"
    n_rows = export(archive, path)
    frame = read(path)
    assert os.listdir(tmp_path) == [path.name]
    assert list(frame.columns) == [*SETTING, "row", "y_true", "prediction"] + [
        f"score[{each}]" for each in ("a", "b", "c", "0", "1")
    ]
    assert len(frame) == n_rows == sum(len(STUDY.arrays(link)[1].test) for link in LINKS[:-3])
    start = 0
    for place, link in enumerate(LINKS[:-3]):
        data, rows, prediction, scores = STUDY.arrays(link)
        part = frame.iloc[start : start + len(rows.test)]
        start += len(rows.test)
        assert part["row"].tolist() == [str(each) for each in data.row_ids[rows.test]]
        assert part["y_true"].tolist() == [str(data.classes[each]) for each in data.codes[rows.test]]
        assert part["prediction"].tolist() == [str(data.classes[each]) for each in prediction]
        own = [f"score[{each}]" for each in data.classes]
        if place == 0:
            assert part[own].isna().all(axis=None)
        else:
            np.testing.assert_array_equal(part[own], scores)
        assert part.drop(columns=own).filter(like="score[").isna().all(axis=None)
        assert (part[["repeat", "fold"]] == [rows.repeat, rows.fold]).all(axis=None)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_accuracy_of_the_table_is_that_of_the_predictions(archive, tmp_path, ending):
    export(archive, tmp_path / f"all.{ending}")
    frame = read(tmp_path / f"all.{ending}")
    found = (frame["y_true"] == frame["prediction"]).groupby([frame[name] for name in SETTING], sort=False).mean()
    trials = archive.trials().query("status == 'ok'")
    expected = [np.mean(each.y_true == each.prediction) for each in archive.predictions(trials["trial"])]
    assert found.tolist() == expected


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_an_abstention_has_no_prediction(tmp_path, ending):
    link = LINKS[0]
    _, rows, prediction, _ = STUDY.arrays(link)
    prediction[1] = -1
    path = STUDY.filled(tmp_path / "a.fairtrial", [])
    with open_store(path, write=True) as store:
        store.add_records([(STUDY.success(link, prediction=pack(prediction, CODES)), link)])
    with open_store(path) as store:
        found = store.open_archive()
        kept = next(found.predictions(found.trials().query("status == 'ok'")["trial"]))
        assert kept.prediction.tolist() == prediction.tolist()
        assert export(found, tmp_path / f"a.{ending}") == len(rows.test)
    frame = read(tmp_path / f"a.{ending}")
    assert frame["prediction"].isna().tolist() == [place == 1 for place in range(len(rows.test))]
    assert frame["y_true"].notna().all()


def test_labels_and_ids_of_one_kind_keep_their_type(tmp_path):
    study = SmallStudy()
    study.data = [
        STUDY.data[1].__class__("people", STUDY.data[1].content_hash, (0, 1), STUDY.data[1].codes, np.arange(9) + 100)
    ]
    study.header = {**STUDY.header, "data": STUDY.header["data"][1:]}
    study.splits = [each for each in STUDY.splits if each[0] == STUDY.data[1].content_hash]
    with open_store(study.filled(tmp_path / "a.fairtrial")) as store:
        for ending in ("csv", "parquet"):
            export(store.open_archive(), tmp_path / f"a.{ending}")
            frame = read(tmp_path / f"a.{ending}")
            assert [frame[name].dtype for name in ("row", "y_true", "prediction")] == [np.int64] * 3
            assert set(frame["row"]) == set(range(100, 109))


def test_names_with_commas_and_quotes_come_back(tmp_path):
    name = 'a "b", c\nd'
    study = SmallStudy(learners=("tree", name))
    with open_store(study.filled(tmp_path / "a.fairtrial")) as store:
        export(store.open_archive(), tmp_path / "a.csv")
    assert set(read(tmp_path / "a.csv")["learner"]) == {"tree", name}


def test_nothing_succeeded_yet(tmp_path):
    with open_store(STUDY.filled(tmp_path / "a.fairtrial", [])) as store:
        for ending in ("csv", "parquet"):
            assert export(store.open_archive(), tmp_path / f"a.{ending}") == 0
            assert len(read(tmp_path / f"a.{ending}")) == 0


def test_files_that_are_there_are_kept_unless_told_otherwise(archive, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("mine")
    with pytest.raises(InputError, match="overwrite=True"):
        export(archive, path)
    assert path.read_text() == "mine"
    assert export(archive, path, overwrite=True) == len(read(path))


def test_formats_are_told_by_the_ending_or_by_name(archive, tmp_path):
    with pytest.raises(InputError, match=r"must end in .csv or .parquet, got '.txt'"):
        export(archive, tmp_path / "a.txt")
    with pytest.raises(InputError, match="format must be one of"):
        export(archive, tmp_path / "a.txt", format="xls")
    export(archive, tmp_path / "a.txt", format="parquet")
    assert (tmp_path / "a.txt").read_bytes()[:4] == b"PAR1"
    with pytest.raises(InputError, match=r"folder .* does not exist"):
        export(archive, tmp_path / "no" / "a.csv")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_an_export_that_fails_leaves_nothing(archive, tmp_path, monkeypatch, ending):
    monkeypatch.setattr(transfer, "_MAX_ROWS", 20)
    real, calls = transfer._ExportLayout.build_table, []

    def fails_later(*arguments):
        calls.append(1)
        if len(calls) > 3:
            raise OSError(28, "No space left on device")
        return real(*arguments)

    monkeypatch.setattr(transfer._ExportLayout, "build_table", fails_later)
    (tmp_path / f"a.{ending}").write_text("before")
    with pytest.raises(InputError, match="No space left on device"):
        export(archive, tmp_path / f"a.{ending}", overwrite=True)
    assert os.listdir(tmp_path) == [f"a.{ending}"]
    assert (tmp_path / f"a.{ending}").read_text() == "before"


def test_a_folder_that_cannot_be_written_to_is_told(archive):
    with without_privileges() as folder:
        folder.chmod(0o555)
        with pytest.raises(InputError, match=r"a\.csv cannot be written"):
            export(archive, folder / "a.csv")


def test_classes_that_read_alike_are_refused():
    data = STUDY.data[1].__class__("odd", "hash", (1, "1"), np.array([0, 1]), np.arange(2))
    with pytest.raises(InputError, match="classes of odd must differ as text"):
        transfer._ExportLayout.from_datasets([data])
