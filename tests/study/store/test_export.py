"""A table of predictions for other tools: what is read back gives what the store gives."""

import os

import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.study.records import CODES, pack
from fairtrial.study.store import transfer
from fairtrial.study.store.store import open_store
from fairtrial.study.store.transfer import export
from tests.study.small_store import SmallStudy, without_privileges

STUDY = SmallStudy()
LINKS = STUDY.links()
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
