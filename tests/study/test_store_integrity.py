"""Tests of corrupted results files: `check`, repair by `run`, and the commands that refuse them."""

import os
import random
import shutil
import sqlite3
import warnings
from concurrent.futures import Executor, Future
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
import zstandard
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

from fairtrial import open_results
from fairtrial.cli import app
from fairtrial.errors import FairtrialError, FairtrialWarning, InputError, StoreError
from fairtrial.study import check_results, export, forget_trials, open_store, repair_results
from fairtrial.study.records import CODES, INDICES, NUMBERS, TrialRecord, pack, unpack
from fairtrial.study.run.coordinator import run_study
from fairtrial.study.store import sqlite as sqlite_module
from fairtrial.study.store.schema import create_tables
from tests.study.small_store import SmallStudy, without_privileges
from tests.study.small_studies import rows, study

PAGE = 4096
LEARNERS = {"bayes": GaussianNB(), **{f"tree-{depth}": DecisionTreeClassifier(max_depth=depth) for depth in (1, 2, 3)}}
STUDY = study(data={"first": rows(60, 0), "second": rows(90, 1)}, learners=LEARNERS, folds=3, repeats=5)
N_TRIALS = 120


class Answering(Executor):
    """Answers with predictions drawn from the key of a trial, so a repeated trial has the same record."""

    def __init__(self, then=None):
        self.keys, self._then = [], then

    def submit(self, function, chunk, dataset):
        records = []
        for task in chunk.tasks:
            scores = np.random.default_rng(list(task.key)).dirichlet(np.ones(2), len(chunk.splits[task.split].test))
            columns = {"prediction": pack(scores.argmax(axis=1), CODES), "scores": pack(scores, NUMBERS)}
            times = {"fit_time": 9.0, "predict_time": 1.0, "fit_cpu": 9.0, "predict_cpu": 1.0, "memory": 100}
            records.append(TrialRecord(task.key, "ok", **columns, score_kind="probability", **times))
        self.keys += [record.key for record in records]
        if self._then is not None and len(self.keys) > N_TRIALS // 2:
            self._then()
            self._then = None
        future = Future()
        future.set_result(records)
        return future


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def compute_digest(path):
    with open_store(path) as store:
        store.check()
        return store.compute_digest()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "small.fairtrial"
    run_study(STUDY, path, engine=Answering(), progress=False)
    return path


@pytest.fixture(scope="module")
def expected(whole):
    """What the commands print about the intact file."""
    call("export", whole, "--csv", whole.with_suffix(".csv"))
    outputs = {name: call(name, whole).output.replace(str(whole), "FILE") for name in ("status", "results", "check")}
    return {**outputs, "digest": compute_digest(whole), "csv": whole.with_suffix(".csv").read_bytes()}


@pytest.fixture
def path(tmp_path, whole):
    return shutil.copy(whole, tmp_path / "small.fairtrial")


# --- Random corruption ---


def corrupt(content, seed):
    """Flip bits, overwrite bytes, zero, randomise or swap pages, truncate, or change the header."""
    rng = random.Random(seed)
    changed, pages = bytearray(content), len(content) // PAGE
    kind = ("flip", "bytes", "zero", "random", "swap", "truncate", "header")[seed % 7]
    if kind == "flip":
        changed[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    elif kind == "bytes":
        for _ in range(rng.randrange(2, 60)):
            changed[rng.randrange(len(content))] = rng.randrange(256)
    elif kind in ("zero", "random"):
        for _ in range(rng.randrange(1, 6)):
            start = PAGE * rng.randrange(1, pages)
            changed[start : start + PAGE] = bytes(PAGE) if kind == "zero" else rng.randbytes(PAGE)
    elif kind == "swap":
        first, second = (PAGE * rng.randrange(1, pages) for _ in range(2))
        changed[first : first + PAGE] = content[second : second + PAGE]
    elif kind == "truncate":
        changed = changed[: rng.randrange(len(content))]
    else:
        changed[rng.randrange(100)] = rng.randrange(256)
    return bytes(changed)


def is_refusal(result):
    return result.exit_code == 2 and result.output.startswith("fairtrial: ") and len(result.output.splitlines()) == 1


@pytest.mark.parametrize("seed", [*range(14), 48, 101])
def test_no_command_silently_uses_a_corrupted_file(tmp_path, whole, expected, seed):
    content = corrupt(whole.read_bytes(), seed)
    path = tmp_path / "small.fairtrial"
    for name in ("status", "results", "check"):
        path.write_bytes(content)
        result = call(name, path)
        assert is_refusal(result) or result.output.replace(str(path), "FILE") == expected[name], result.output
    path.write_bytes(content)
    result = call("export", path, "--csv", tmp_path / "out.csv")
    assert is_refusal(result) or (tmp_path / "out.csv").read_bytes() == expected["csv"]
    path.write_bytes(content)
    result = call("merge", path, "--store", tmp_path / "merged.fairtrial")
    assert is_refusal(result) != (tmp_path / "merged.fairtrial").exists()
    assert is_refusal(result) or compute_digest(tmp_path / "merged.fairtrial") == expected["digest"]
    path.write_bytes(content)
    assert_run_completes_or_refuses(path, content, expected)


def test_export_in_python_refuses_a_corrupted_file(tmp_path, whole):
    path = tmp_path / "small.fairtrial"
    path.write_bytes(whole.read_bytes())
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:  # export does not read the times
        connection.execute("UPDATE trial SET fit_time = fit_time + 1 WHERE id = (SELECT max(id) FROM trial)")
    with pytest.raises(StoreError, match="corrupted"):
        export(open_results(path).archive, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def assert_run_completes_or_refuses(path, content, expected):
    engine = Answering()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FairtrialWarning)
            summary = run_study(STUDY, path, engine=engine, progress=False)
    except FairtrialError as error:
        refusal = str(error)
    else:
        refusal = None
    if refusal is not None:
        assert "\n" not in refusal
        assert path.read_bytes() == content
        return
    assert summary.done == len(engine.keys) == N_TRIALS - summary.stored
    assert compute_digest(path) == expected["digest"]
    assert call("results", path).output.replace(str(path), "FILE") == expected["results"]
    copies = list(path.parent.glob("small.corrupted*"))
    assert len(copies) == (len(engine.keys) > 0 or len(copies))


def test_run_repeats_exactly_the_trials_on_corrupted_pages(path, expected):
    """Which trials a page has is read from the intact file: pages of trials and predictions are overwritten."""
    connection = sqlite3.connect(path)
    pages = [page for (page,) in connection.execute("SELECT pageno FROM dbstat WHERE name = 'trial' AND pagetype = 'leaf'")]
    connection.close()
    content = bytearray(path.read_bytes())
    for page in pages[1:3]:
        content[PAGE * (page - 1) : PAGE * page] = os.urandom(PAGE)
    path.write_bytes(content)
    assert "corrupted" in call("check", path).output
    lost = N_TRIALS - count_readable(path)
    assert 0 < lost < N_TRIALS
    engine = Answering()
    with pytest.warns(FairtrialWarning, match=f"{N_TRIALS - lost} intact trials recovered"):
        summary = run_study(STUDY, path, engine=engine, progress=False)
    assert (summary.stored, summary.done) == (N_TRIALS - lost, lost)
    assert compute_digest(path) == expected["digest"]
    copy = path.with_name("small.corrupted.fairtrial").read_bytes()
    assert copy[PAGE:] == bytes(content[PAGE:])


def count_readable(path):
    """Count the trials that SQLite can still read one by one."""
    connection = sqlite3.connect(path)
    readable = 0
    for number in range(1, N_TRIALS + 1):
        try:
            readable += connection.execute("SELECT * FROM trial NOT INDEXED WHERE id = ?", (number,)).fetchone() is not None
        except sqlite3.Error:
            continue
    connection.close()
    return readable


# --- Every column ---


def list_columns():
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        create_tables(connection)
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return [(table, line[1]) for table in tables for line in connection.execute(f"PRAGMA table_info({table})")]


@pytest.mark.parametrize(("table", "column"), list_columns(), ids=".".join)
def test_checksums_cover_every_column(tmp_path, table, column):
    small = SmallStudy()
    path = small.filled(tmp_path / "a.fairtrial", small.links()[:4])
    with open_store(path, write=True) as store:
        store.finish_run(store.start_run({"engine": "local"}), {})
    connection = sqlite3.connect(path)
    (value,) = connection.execute(f"SELECT {column} FROM {table} LIMIT 1").fetchone()
    new = {type(None): 7, int: 77, float: 0.125, str: "other", bytes: b"other"}[type(value)]
    key = "trial" if table == "evidence" else "id"
    connection.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = (SELECT min({key}) FROM {table})", (new,))
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="corrupted"):
        check_results(path)


def test_decompression_is_bounded():
    bomb = zstandard.ZstdCompressor().compress(bytes(2**28 + 2**20))
    assert len(bomb) < 2**16
    with pytest.raises(StoreError, match="corrupted"):
        unpack(bomb, CODES)
    claim = bytearray(pack(np.zeros(300), CODES))
    parameters = zstandard.get_frame_parameters(bytes(claim))
    assert parameters.content_size == 600
    honest = np.zeros(5_000_000)
    assert len(unpack(pack(honest, NUMBERS), NUMBERS)) == len(honest)


def test_large_file_is_checked_without_its_predictions_before_a_resume(path, expected, monkeypatch):
    connection = sqlite3.connect(path)
    connection.execute("UPDATE evidence SET prediction = x'00' WHERE trial = 5")
    connection.commit()
    connection.close()
    monkeypatch.setattr(sqlite_module, "_MAX_QUICK_BYTES", 0)
    engine = Answering()
    assert run_study(STUDY, path, engine=engine, progress=False).done == 0
    assert is_refusal(call("results", path))
    repair = repair_results(path)
    assert repair.recovered == N_TRIALS - 1
    assert repair_results(path) is None
    assert run_study(STUDY, path, engine=engine, progress=False).done == 1
    assert compute_digest(path) == expected["digest"]


def test_check_command_repairs_on_request(path):
    assert call("check", path).output.startswith(f"{path} is intact: 120 trials")
    content = bytearray(path.read_bytes())
    content[-100] ^= 1
    path.write_bytes(content)
    refused = call("check", path)
    assert is_refusal(refused)
    assert "--repair" in refused.output
    repaired = call("check", path, "--repair")
    assert repaired.exit_code == 0
    assert "must run again" in repaired.output
    assert call("check", path).exit_code == 0
    copy = path.with_name("small.corrupted.fairtrial").read_bytes()
    assert copy[PAGE:] == bytes(content[PAGE:])


def test_check_reports_missing_trials(tmp_path):
    small = SmallStudy()
    path = small.filled(tmp_path / "a.fairtrial", small.links()[:40])
    assert check_results(path).frame().to_numpy().tolist() == [["small", 48, 40, 8]]
    assert "40 of 48 planned trials stored, 8 missing" in call("check", path).output


# --- Deleted or renamed during a run ---


@pytest.mark.parametrize("how", ["delete", "delete everything", "rename", "replace"])
def test_results_file_that_disappears_stops_the_run_and_is_recovered(tmp_path, how):
    path = tmp_path / "small.fairtrial"

    def remove():
        if how == "rename":
            path.rename(tmp_path / "renamed.fairtrial")
        elif how == "delete everything":
            for file in tmp_path.iterdir():
                file.unlink()
        else:
            path.unlink()
        if how == "replace":
            path.write_bytes(b"other")

    engine = Answering(then=remove)
    with pytest.raises(StoreError, match=r"small\.fairtrial was deleted, renamed or replaced .* the run stops") as stopped:
        run_study(STUDY, path, engine=engine, progress=False)
    recovered = tmp_path / "small.recovered.fairtrial"
    with open_store(recovered) as store:
        store.check()
        (n_trials,) = store.count_by_status().values()
    assert n_trials >= N_TRIALS // 2
    assert f"{recovered} contains its {n_trials} trials" in str(stopped.value)
    assert path.exists() == (how == "replace")
    summary = run_study(STUDY, recovered, engine=Answering(), progress=False)
    assert (summary.stored, summary.left) == (n_trials, 0)


# --- Forget and rerun ---


def test_forgotten_trials_run_again(path, expected):
    with pytest.raises(InputError, match=r"no learner called 'baies'.*bayes"):
        forget_trials(path, "baies")
    with pytest.raises(InputError, match="no data set called 'third'"):
        forget_trials(path, "bayes", dataset="third")
    assert forget_trials(path, "bayes", dataset="second") == 15
    result = call("forget", path, "--learner", "tree-1")
    assert "30 trials of tree-1 deleted; fairtrial run repeats them" in result.output
    engine = Answering()
    assert run_study(STUDY, path, engine=engine, progress=False).done == 45
    assert compute_digest(path) == expected["digest"]
    assert "0 trials" in call("forget", path, "--learner", "bayes", "--dataset", "first").output.replace(
        "15 trials", "0 trials"
    )


def test_rerun_repeats_the_trials_of_a_learner(path, expected):
    engine = Answering()
    with pytest.raises(InputError, match="no learner called 'tree'"):
        run_study(STUDY, path, engine=engine, rerun=["tree"], progress=False)
    assert compute_digest(path) == expected["digest"]
    summary = run_study(STUDY, path, engine=engine, rerun=["tree-1", "tree-2"], progress=False)
    assert (summary.forgotten, summary.done, summary.stored) == (60, 60, 60)
    assert "60 trials forgotten and rerun" in str(summary)
    assert compute_digest(path) == expected["digest"]


# --- Exports ---


def test_formulas_are_escaped_in_csv_and_kept_in_parquet(tmp_path):
    names = ("=HYPERLINK(1)", "@tree", "-1", "+1.5e3", "-cmd")
    small = SmallStudy(learners=names)
    path = small.filled(tmp_path / "a.fairtrial")
    assert call("export", path, "--csv", tmp_path / "a.csv", "--parquet", tmp_path / "a.parquet").exit_code == 0
    learners = list(dict.fromkeys(pd.read_csv(tmp_path / "a.csv", dtype=str)["learner"]))
    assert learners == ["'=HYPERLINK(1)", "'@tree", "-1", "+1.5e3", "'-cmd"]
    assert tuple(dict.fromkeys(pd.read_parquet(tmp_path / "a.parquet")["learner"])) == names


@pytest.mark.parametrize(
    "change", [{"prediction": pack([0, 1, 9, 0, 1, 2], CODES)}, {"rows": pack([0, 1, 2, 3, 4, 99], INDICES)}]
)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_class_or_row_out_of_range_is_refused(tmp_path, change, ending):
    small = SmallStudy()
    link = small.links()[0]
    path = small.filled(tmp_path / "a.fairtrial", [])
    with open_store(path, write=True) as store:
        store.add_records([(small.success(link, **change), link)])
    result = call("export", path, f"--{ending}", tmp_path / f"a.{ending}")
    assert is_refusal(result)
    assert "out of range" in result.output
    assert not (tmp_path / f"a.{ending}").exists()


def test_every_transaction_is_flushed_to_the_disk(path):
    with open_store(path, write=True) as store, store.file.read_connection() as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)


@pytest.mark.parametrize(
    ("name", "corrupted"),
    [(b"CREATE TABLE split", b"CREATE TABL\xf9 split"), (b"CREATE TABLE study", b"CREATE TABLE [tudy")],
    ids=["not UTF-8", "several lines"],
)
def test_a_corrupted_schema_is_refused_in_one_sentence(tmp_path, name, corrupted):
    path = tmp_path / "a.fairtrial"
    open_store(path, write=True, create=True).close()
    content = path.read_bytes()
    assert name in content
    path.write_bytes(content.replace(name, corrupted))
    for command in ("status", "check", "results"):
        result = CliRunner().invoke(app, [command, str(path)])
        assert result.exit_code == 2
        assert len(result.stderr.splitlines()) == 1


def test_a_folder_that_becomes_read_only_does_not_prevent_closing():
    with without_privileges() as folder:
        store = open_store(folder / "a.fairtrial", write=True, create=True)
        folder.chmod(0o555)
        store.close()
        folder.chmod(0o755)
        open_store(folder / "a.fairtrial", write=True).close()  # the lock file that is left does no harm
