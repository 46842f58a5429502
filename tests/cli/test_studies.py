"""The command line: studies."""

import io
import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import accuracy_score

from fairtrial.study.results.results import open_results
from fairtrial.study.store.store import Store

from .conftest import TRIALS


def test_a_run_ends_with_the_verdict_and_the_path_of_the_evidence(finished):
    store, told = finished
    assert told.exit_code == 0, told.output
    assert f"all {TRIALS} trials are stored" in told.stdout
    assert "Verdict on accuracy" in told.stdout
    assert told.stdout.rstrip().endswith(f"evidence: {store}")


def test_the_same_command_again_has_nothing_to_do(run, finished, study_file):
    store, _ = finished
    again = run("run", study_file, "--store", store)
    assert again.exit_code == 0
    assert f"all {TRIALS} trials were stored before: nothing to do" in again.stdout


def test_a_dry_run_tells_what_is_stored_and_starts_nothing(run, finished, study_file, tmp_path):
    store, _ = finished
    assert (
        f"{TRIALS} of {TRIALS} trials are stored, 0 are to be run"
        in run("run", study_file, "--store", store, "--dry-run").stdout
    )
    larger = study_file.with_name("larger.toml")
    larger.write_text(study_file.read_text().replace("[0, 0.2]", "[0, 0.1, 0.2]").replace("seed", 'name = "small"\nseed'))
    told = run("run", larger, "--store", store, "--dry-run", "--jobs", "2").stdout
    assert f"{TRIALS} of {TRIALS * 3 // 2} trials are stored" in told
    assert "by the stored times of gaussian-nb and tree" in told
    nowhere = tmp_path / "new.fairtrial"
    assert f"0 of {TRIALS} trials are stored" in run("run", study_file, "--store", nowhere, "--dry-run").stdout
    assert not nowhere.exists()


def test_mistakes_of_the_file_are_told_with_their_lines_and_nothing_runs(run, study_file, tmp_path):
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(study_file.read_text().replace("gaussian-nb", "gausian-nb").replace('"wine"', '"wein"'))
    store = tmp_path / "wrong.fairtrial"
    told = run("run", wrong, "--store", store)
    assert told.exit_code == 2
    assert "wrong.toml:5" in told.stderr
    assert "did you mean 'gaussian-nb'?" in told.stderr
    assert "did you mean 'wine'?" in told.stderr
    assert not store.exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--shard", "4/3"], "shard must be I/N"),
        (["--retry", "errors"], "retry must be one of"),
        (["--limit-time", "soon"], "time must be seconds above 0"),
        (["--limit-memory", "12"], "memory must be at least 1 MB"),
        (["--engine", "ray"], "engine must be"),
        (["--jobs", "0"], "jobs must be at least 1, got 0"),
    ],
)
def test_wrong_options_are_refused_in_one_sentence(run, study_file, tmp_path, words, sentence):
    told = run("run", study_file, "--store", tmp_path / "x.fairtrial", *words)
    assert told.exit_code == 2, told.output
    assert sentence in told.stderr
    assert len(told.stderr.strip().splitlines()) == 1


def test_shards_merge_to_the_whole(run, finished, study_file, tmp_path):
    parts = [tmp_path / f"part-{i}.fairtrial" for i in (1, 2)]
    for number, part in enumerate(parts, 1):
        told = run("run", study_file, "--store", part, "--shard", f"{number}/2", "--jobs", "1")
        assert told.exit_code == 0, told.output
    whole = tmp_path / "whole.fairtrial"
    assert run("merge", whole, *parts).exit_code == 0
    with Store.open(whole) as merged, Store.open(finished[0]) as one:
        assert merged.evidence_digest() == one.evidence_digest()


def test_how_far_a_study_is(run, finished):
    told = run("status", finished[0])
    assert told.exit_code == 0
    assert f"small: {TRIALS} of {TRIALS} trials are stored, 0 of them failed" in told.stdout
    assert "gaussian-nb" in told.stdout


def test_results_of_any_measure_afterwards(run, finished):
    frame = pd.read_csv(io.StringIO(run("results", finished[0], "--measure", "taks", "--show", "scores", "--csv").stdout))
    assert len(frame) == TRIALS
    assert set(frame["measure"]) == {"taks"}
    table = run("results", finished[0], "--show", "table").stdout
    assert "iris" in table
    assert "tree" in table
    assert "Verdict on accuracy" in run("results", finished[0]).stdout
    assert "ela" in run("results", finished[0], "--show", "robustness", "--csv").stdout
    assert "fit_time" in run("results", finished[0], "--show", "times", "--csv").stdout
    assert run("results", finished[0], "--show", "verdicts").exit_code == 2


def test_the_accuracy_is_that_of_the_exported_predictions(run, finished, tmp_path):
    file = tmp_path / "rows.csv"
    assert run("export", finished[0], "--csv", file).exit_code == 0
    rows = pd.read_csv(file)
    own = rows[(rows["dataset"] == "iris") & (rows["condition"] == "clean") & (rows["learner"] == "tree")]
    names = load_iris().target_names[load_iris().target]
    assert (own["truth"].to_numpy() == names[own["row"].to_numpy()]).all()
    folds = [accuracy_score(each["truth"], each["prediction"]) for _, each in own.groupby(["repeat", "fold"])]
    wide = open_results(finished[0]).wide("accuracy")
    assert wide.loc["iris", "tree"] == pytest.approx(sum(folds) / len(folds), abs=1e-12)


def test_ctrl_c_stops_cleanly_and_tells_how_to_go_on(tmp_path):
    file, store = tmp_path / "slow.toml", tmp_path / "slow.fairtrial"
    file.write_text(
        'data = ["digits"]\nlearners = { forest = { learner = "random-forest", parameters = { n_estimators = 300 } } }\n'
        "[resampling]\nfolds = 5\nrepeats = 20\n"
    )
    command = [sys.executable, "-m", "fairtrial", "run", str(file), "--store", str(store), "--jobs", "1"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        _wait_for(lambda: store.exists() and _stored(store) > 0, process)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "run the same command again to go on" in told
    assert "Traceback" not in told
    assert 0 < _stored(store) < 100
    assert not [name for name in os.listdir(tmp_path) if name.endswith(("-wal", "-shm"))]


def _stored(store):
    try:
        with Store.open(store) as kept:
            return sum(kept.counts().values())
    except Exception:
        return 0


def _wait_for(there, process):
    for _ in range(600):
        if there():
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    raise AssertionError("nothing was stored within a minute")
