"""Tests of scores that the results file of a large study contains, and of the quick answer that nothing is left to run."""

import os
import shutil
import sqlite3
import sys
from contextlib import closing

import pandas as pd
import pytest
from typer.testing import CliRunner

from fairtrial.cli import app
from fairtrial.study.results import stored
from fairtrial.study.results.results import open_results
from fairtrial.study.run import coordinator
from fairtrial.study.store.archive import StoreArchive
from fairtrial.study.store.store import open_store
from fairtrial.study.store.transfer import merge
from fairtrial.study.study import Study

STUDY = """
name = "large"
seed = 1
measures = ["accuracy", "auc"]
[data]
sets = ["iris"]
flowers = { file = "flowers.csv" }
[learners]
gaussian-nb = {}
tree = { learner = "decision-tree" }
[resampling]
folds = 3
"""


@pytest.fixture(autouse=True)
def small_studies_count_as_large(monkeypatch):
    monkeypatch.setattr(stored, "LARGE_STUDY", 1)


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """Folder of a study file, its data and its results file, written by the command line."""
    folder = tmp_path_factory.mktemp("large")
    (folder / "study.toml").write_text(STUDY)
    rows = [f"{i % 7},{i % 5},{'ab'[i % 7 > 3]}" for i in range(60)]
    (folder / "flowers.csv").write_text("\n".join(["x,y,class", *rows]) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored, "LARGE_STUDY", 1)
        assert run(folder).exit_code == 0
    return folder


@pytest.fixture
def folder(original, tmp_path):
    """A copy whose results file recognises the study in its new folder."""
    shutil.copytree(original, tmp_path / "copy")
    forget_inputs(tmp_path / "copy")
    assert run(tmp_path / "copy").exit_code == 0
    return tmp_path / "copy"


def run(folder, *options):
    words = ["run", folder / "study.toml", "--store", folder / "large.fairtrial", "--jobs", "1", "--quiet", *options]
    return CliRunner().invoke(app, [str(word) for word in words])


def forget_inputs(folder):
    with open_store(folder / "large.fairtrial", write=True) as store, store.file.write_transaction() as connection:
        connection.execute("DELETE FROM derived")


def compute_scores(path, monkeypatch):
    """Compute the scores from predictions."""
    with monkeypatch.context() as patch:
        patch.setattr(StoreArchive, "read_derived", lambda *_: None)
        return open_results(path).frame()


def refuse(monkeypatch, owner, name, message):
    def fail(*_):
        raise AssertionError(message)

    monkeypatch.setattr(owner, name, fail)


@pytest.fixture
def no_plan(folder, monkeypatch):  # noqa: ARG001  (the folder needs a plan)
    refuse(monkeypatch, coordinator, "plan_study", "the study was planned")


def test_stored_scores_are_those_of_the_predictions(original, monkeypatch):
    path = original / "large.fairtrial"
    computed = compute_scores(path, monkeypatch)
    monkeypatch.setattr(StoreArchive, "predictions", None)
    pd.testing.assert_frame_equal(open_results(path).frame(), computed)


def test_only_declared_measures_with_their_default_options_are_stored(original, monkeypatch):
    refuse(monkeypatch, StoreArchive, "predictions", "predictions were read")
    results = open_results(original / "large.fairtrial")
    for options in ({"measure": "kappa"}, {"pooled": True}, {"positive": {"flowers": "a"}}, {"average": "macro"}):
        with pytest.raises(AssertionError, match="predictions were read"):
            results.scores(**options)


def test_python_studies_store_scores_too(tmp_path, monkeypatch):
    study = Study(["iris"], ["gaussian-nb", "decision-tree"], resampling={"folds": 2}, measures=["accuracy"], name="mine")
    study.run(tmp_path / "mine.fairtrial", jobs=1, progress=False)
    monkeypatch.setattr(StoreArchive, "predictions", None)
    assert len(open_results(tmp_path / "mine.fairtrial").scores()) == 4


def test_scores_of_several_schemes_are_stored(tmp_path, monkeypatch):
    schemes = [{"folds": 2}, {"scheme": "kfold", "folds": 3}]
    study = Study(["iris"], ["gaussian-nb"], resampling=schemes, measures=["accuracy"], name="mine")
    results = study.run(tmp_path / "mine.fairtrial", jobs=1, progress=False)
    computed = {name: compute_scores_of(results, name, monkeypatch) for name in results.schemes}
    monkeypatch.setattr(StoreArchive, "predictions", None)
    reopened = open_results(tmp_path / "mine.fairtrial")
    for name, scores in computed.items():
        pd.testing.assert_frame_equal(reopened.for_resampling(name).frame(), scores)


def compute_scores_of(results, scheme, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(StoreArchive, "read_derived", lambda *_: None)
        return open_results(results.archive.file.path).for_resampling(scheme).frame()


def count_derived(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT count(*) FROM derived").fetchone()[0]


def test_changed_trials_delete_stored_scores(folder, monkeypatch):
    path = folder / "large.fairtrial"
    assert count_derived(path) == 3
    with open_store(path, write=True) as store:
        store.forget("tree", "iris")
    assert count_derived(path) == 0
    scores = open_results(path).frame()
    assert scores["value"].isna().sum() == 2 * 3
    assert run(folder).exit_code == 0
    assert count_derived(path) == 3
    pd.testing.assert_frame_equal(open_results(path).frame(), compute_scores(path, monkeypatch))
    shutil.copy(path, folder / "other.fairtrial")
    merge(path, [folder / "other.fairtrial"])
    assert count_derived(path) == 0


def test_incomplete_and_sharded_studies_store_no_scores(folder):
    path = folder / "shard.fairtrial"
    words = ["run", str(folder / "study.toml"), "--store", str(path), "--shard", "1/2", "--quiet"]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert count_derived(path) == 0


def test_a_changed_plan_does_not_use_stored_scores(folder, monkeypatch):
    path, study_file = folder / "large.fairtrial", folder / "study.toml"
    study_file.write_text(STUDY.replace("folds = 3", "folds = 2"))
    assert run(folder).exit_code == 0
    pd.testing.assert_frame_equal(open_results(path).frame(), compute_scores(path, monkeypatch))


@pytest.mark.parametrize(
    "damage", ["DROP TABLE derived", "UPDATE derived SET value = x'00'", "UPDATE derived SET value = zeroblob(90)"]
)
def test_absent_or_corrupted_scores_are_computed_again(folder, damage, monkeypatch):
    path = folder / "large.fairtrial"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(damage)
    pd.testing.assert_frame_equal(open_results(path).frame(), compute_scores(path, monkeypatch))


@pytest.mark.usefixtures("no_plan")
def test_an_unchanged_finished_study_is_recognised_without_planning_it(folder):
    told = run(folder)
    assert told.exit_code == 0
    assert "12 of 12 trials stored: nothing to run" in told.output
    assert f"answer: fairtrial results {folder / 'large.fairtrial'}" in told.output


CHANGES = {
    "study file": lambda folder: (folder / "study.toml").write_text(STUDY.replace("seed = 1", "seed = 2")),
    "data file": lambda folder: (folder / "flowers.csv").write_text((folder / "flowers.csv").read_text() + "1,1,a\n"),
    "data by name": lambda folder: (folder / "iris").write_text("x,class\n1,a\n2,b\n"),
    "folder of data sets": lambda folder: os.environ.update(FAIRTRIAL_DATA=str(folder)),
    "installed package": lambda folder: install(folder, "other-1.0.dist-info"),
    "editable package": lambda folder: install(folder, "__editable__other-1.0.pth"),
    "forgotten trials": lambda folder: forget(folder / "large.fairtrial"),
    "corrupted page": lambda folder: corrupt(folder / "large.fairtrial"),
}


def forget(path):
    with open_store(path, write=True) as store:
        store.forget("tree")


def install(folder, name):
    (folder / "site").mkdir()
    (folder / "site" / name).touch()
    sys.path.append(str(folder / "site"))


def corrupt(path):
    content = bytearray(path.read_bytes())
    content[4096 * 3 : 4096 * 3 + 64] = b"\xff" * 64
    path.write_bytes(content)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.usefixtures("no_plan")
def test_any_change_plans_the_study_again(folder, change, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("FAIRTRIAL_DATA", "")
    monkeypatch.delenv("FAIRTRIAL_DATA")
    CHANGES[change](folder)
    assert "the study was planned" in str(run(folder).exception)


@pytest.mark.parametrize("option", [("--retry", "error"), ("--rerun", "tree"), ("--shard", "1/2"), ("--dry-run",)])
@pytest.mark.usefixtures("no_plan")
def test_options_that_change_the_run_plan_the_study_again(folder, option):
    assert "nothing to run" not in run(folder, *option).output


def test_failed_trials_of_an_unchanged_study_keep_exit_code_1(tmp_path, monkeypatch):
    learner = 'bad = { learner = "svc", parameters = { kernel = "precomputed" } }\ngaussian-nb = {}'
    text = f'name = "large"\n[data]\nsets = ["iris"]\n[learners]\n{learner}\n[resampling]\nfolds = 2'
    (tmp_path / "study.toml").write_text(text)
    assert run(tmp_path).exit_code == 1
    monkeypatch.setattr(coordinator, "plan_study", None)
    told = run(tmp_path)
    assert told.exit_code == 1
    assert "2 trials failed" in told.output
