"""The command line: studies."""

import io
import os
import re
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import accuracy_score

from fairtrial.study.results.results import open_results
from fairtrial.study.store.store import open_store

from .conftest import TRIALS


def test_a_run_ends_with_the_answer_and_the_path_of_the_results_file(finished):
    store, told = finished
    assert told.exit_code == 0, told.output
    assert told.stderr.count(f"{TRIALS} of {TRIALS} trials") == 1
    assert f"{TRIALS} of {TRIALS} trials" not in told.stdout
    assert str(store) in told.stdout.splitlines()[-1]


def test_the_same_command_again_has_nothing_to_do(run, finished, study_file):
    store, _ = finished
    again = run("run", study_file, "--store", store)
    assert again.exit_code == 0
    assert again.stderr.count("\n") == 1
    assert str(TRIALS) in again.stderr
    assert run("run", study_file, "--store", store, "--quiet").stderr == ""


FAILING = """
data = ["iris"]
measures = ["accuracy"]
[learners]
bayes = { learner = "gaussian-nb", parameters = { priors = [2.0, 1.0, 1.0] } }
other = { learner = "gaussian-nb", parameters = { priors = [3.0, 1.0, 1.0] } }
tree = { learner = "decision-tree" }
[resampling]
folds = 2
"""


def test_a_run_with_failed_trials_exits_with_1_and_their_number(run, tmp_path):
    file, store = tmp_path / "failing.toml", tmp_path / "failing.fairtrial"
    file.write_text(FAILING)
    first = run("run", file, "--store", store, "--jobs", "1")
    assert first.exit_code == 1, first.output
    assert first.stderr.count("ValueError") == 1  # both learners fail for the same reason
    assert first.stdout.count("ValueError") == 1
    assert "bayes and other failed in 4 trials" in " ".join(first.stdout.split())
    again = run("run", file, "--store", store, "--quiet")
    assert again.exit_code == 1
    assert again.stderr == f"fairtrial: 4 trials failed: fairtrial results {store} --show failures\n"
    table = run("results", store, "--show", "table").stdout.splitlines()
    assert table[0] == "Mean accuracy on clean data"
    assert table[2].split()[:5] == ["iris", "2", "failed", "2", "failed"]


def test_a_shard_with_failed_trials_exits_with_1(run, tmp_path):
    file = tmp_path / "failing.toml"
    file.write_text(FAILING)
    told = run("run", file, "--store", tmp_path / "shard.fairtrial", "--jobs", "1", "--shard", "1/2", "--quiet")
    assert told.exit_code == 1
    assert told.stderr.startswith("fairtrial: 2 trials failed: ")


def test_status_lists_the_runs_of_all_merged_shards_and_says_that_the_study_is_finished(run, study_file, tmp_path):
    shards = [tmp_path / f"{part}.fairtrial" for part in range(1, 8)]
    for part, shard in enumerate(shards, start=1):
        assert run("run", study_file, "--store", shard, "--shard", f"{part}/7", "--jobs", "1", "--quiet").exit_code == 0
    assert run("status", shards[0]).stdout.startswith("small: incomplete, ")
    merged = tmp_path / "merged.fairtrial"
    run("merge", *shards, "--store", merged)
    told = run("status", merged).stdout
    assert told.startswith(f"small: finished, {TRIALS} of {TRIALS} trials stored")
    assert told.count("run started") == 7


@pytest.mark.parametrize(("words", "sentence"), [(["--jobs", "0"], "jobs"), (["--engine", "sparc"], "engine")])
@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_options_are_checked_where_nothing_is_to_do(run, finished, study_file, words, sentence, dry):
    told = run("run", study_file, "--store", finished[0], *words, *dry)
    assert told.exit_code == 2
    assert sentence in told.stderr


def test_a_limit_of_time_holds_for_a_dry_run(run, study_file, tmp_path):
    told = run("run", study_file, "--store", tmp_path / "x.fairtrial", "--dry-run", "--limit-time", "soon")
    assert told.exit_code == 2
    assert "'soon'" in told.stderr


SHIFTED = """
[data]
sets = ["iris", "wine"]
[learners]
gaussian-nb = {}
[conditions]
clean = {}
rare = { condition = "prior-shift", priors = { CLASS = 0.1 } }
[resampling]
folds = 2
"""


def test_a_condition_that_fits_no_data_set_is_refused_before_anything_is_written(run, tmp_path):
    file, store = tmp_path / "shifted.toml", tmp_path / "x.fairtrial"
    file.write_text(SHIFTED.replace("CLASS", "nobody"))
    told = run("run", file, "--store", store)
    assert told.exit_code == 2
    assert "conditions.rare: " in told.stderr
    assert "nobody" in told.stderr
    assert not store.exists()


def test_a_condition_that_fits_only_some_data_sets_is_reported_before_the_run(run, tmp_path):
    file, store = tmp_path / "shifted.toml", tmp_path / "x.fairtrial"
    file.write_text(SHIFTED.replace("CLASS", "setosa"))
    told = run("run", file, "--store", store, "--jobs", "1")
    assert told.exit_code == 1, told.output
    first, second, *_, summary, last = told.stderr.splitlines()
    assert first.startswith("fairtrial: warning: ")
    assert "rare" in first
    assert "wine" in first
    assert second.startswith("shifted: 8 trials")
    assert "2 failed (2 error)" in summary
    assert "2 trials failed" in last


def test_a_dry_run_tells_what_is_stored_and_starts_nothing(run, finished, study_file, tmp_path):
    store, _ = finished
    assert f"{TRIALS} of {TRIALS} trials" in run("run", study_file, "--store", store, "--dry-run").stdout
    larger = study_file.with_name("larger.toml")
    larger.write_text(study_file.read_text().replace("[0, 0.2]", "[0, 0.1, 0.2]").replace("seed", 'name = "small"\nseed'))
    told = run("run", larger, "--store", store, "--dry-run", "--jobs", "2").stdout
    assert f"{TRIALS} of {TRIALS * 3 // 2} trials" in told
    assert "gaussian-nb and tree" in told
    nowhere = tmp_path / "new.fairtrial"
    assert f"0 of {TRIALS} trials" in run("run", study_file, "--store", nowhere, "--dry-run").stdout
    assert not nowhere.exists()


def test_mistakes_of_the_file_are_reported_with_their_lines(run, study_file, tmp_path):
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
        (["--shard", "4/3"], "4/3"),
        (["--retry", "errors"], "'errors'"),
        (["--limit-time", "soon"], "'soon'"),
        (["--limit-memory", "12"], "12"),
        (["--engine", "ray"], "'ray'"),
        (["--jobs", "0"], "got 0"),
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
    assert run("merge", *parts).exit_code == 2  # the first one is not taken as the target
    told = run("merge", *parts, "--store", whole)
    assert told.exit_code == 0, told.output
    with open_store(whole) as merged, open_store(finished[0]) as one:
        assert merged.compute_digest() == one.compute_digest()


def test_status_counts_trials(run, finished):
    told = run("status", finished[0])
    assert told.exit_code == 0
    assert f"{TRIALS} of {TRIALS} trials" in told.stdout
    assert "gaussian-nb" in told.stdout


def test_results_of_any_measure_afterwards(run, finished):
    frame = pd.read_csv(io.StringIO(run("results", finished[0], "--measure", "taks", "--show", "scores", "--csv").stdout))
    assert len(frame) == TRIALS
    assert set(frame["measure"]) == {"taks"}
    table = run("results", finished[0], "--show", "table").stdout
    assert "iris" in table
    assert "tree" in table
    assert run("results", finished[0]).stdout.startswith("On clean data, ")
    assert "ela" in run("results", finished[0], "--show", "robustness", "--csv").stdout
    assert "fit_time" in run("results", finished[0], "--show", "times", "--csv").stdout
    assert run("results", finished[0], "--show", "verdicts").exit_code == 2


def test_tables_have_4_digits_and_units_and_csv_has_all_digits(run, finished, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")

    def shown(what, *more):
        return run("results", finished[0], "--show", what, *more).stdout

    exact = open_results(finished[0])
    for what in ("scores", "times", "robustness", "table"):
        assert not re.search(r"\d\.\d{7,}", shown(what)), what
    assert "fit (ms)" in shown("times")
    assert "memory (MB)" in shown("times")
    accuracy = exact.scores("accuracy")["value"]
    told = pd.read_csv(io.StringIO(shown("scores", "--measure", "accuracy", "--csv")), dtype=str)["value"]
    assert [float(text) for text in told] == accuracy.tolist()
    header, *lines = shown("robustness").splitlines()
    assert re.split(r"  +", header) == [
        *["condition", "level", "dataset", "learner", "clean", "noisy", "rla (low to high)", "ela (low to high)"]
    ]
    assert len(lines) == 2 * 2 + 2
    assert [re.split(r"  +", line)[2] for line in lines] == ["iris", "iris", "wine", "wine", "(over all)", "(over all)"]
    assert all(re.search(r"  -?[\d.e-]+ \(-?[\d.e-]+ to -?[\d.e-]+\)  ", line) for line in lines)


def test_the_accuracy_is_that_of_the_exported_predictions(run, finished, tmp_path):
    file = tmp_path / "rows.csv"
    assert run("export", finished[0], "--csv", file).exit_code == 0
    rows = pd.read_csv(file)
    own = rows[(rows["dataset"] == "iris") & (rows["condition"] == "clean") & (rows["learner"] == "tree")]
    names = load_iris().target_names[load_iris().target]
    assert (own["y_true"].to_numpy() == names[own["row"].to_numpy()]).all()
    folds = [accuracy_score(each["y_true"], each["prediction"]) for _, each in own.groupby(["repeat", "fold"])]
    wide = open_results(finished[0]).wide("accuracy")
    assert wide.loc["iris", "tree"] == pytest.approx(sum(folds) / len(folds), abs=1e-12)


def test_ctrl_c_stops_cleanly_names_the_way_to_resume_and_status_follows(run, tmp_path):
    file, store = tmp_path / "slow.toml", tmp_path / "slow.fairtrial"
    file.write_text(
        'data = ["digits"]\nlearners = { forest = { learner = "random-forest", parameters = { n_estimators = 300 } } }\n'
        "[resampling]\nfolds = 5\nrepeats = 20\n"
    )
    command = [sys.executable, "-m", "fairtrial", "run", str(file), "--store", str(store), "--jobs", "1"]
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=restore_interrupts,  # noqa: PLW1509
    )
    try:
        _wait_for(lambda: store.exists() and _stored(store) > 0, process)
        while_running = run("status", store).stdout
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert while_running.startswith("slow: running, ")
    assert f"running (process {process.pid} on " in " ".join(while_running.split())
    assert run("status", store).stdout.startswith("slow: interrupted, ")
    assert told.count("resume") == 1
    assert "Traceback" not in told
    assert 0 < _stored(store) < 100
    assert not [name for name in os.listdir(tmp_path) if name.endswith(("-wal", "-shm"))]


def test_ctrl_c_before_the_first_trial_says_so(run, study_file, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("fairtrial.study.study.Study.read", interrupted)
    told = run("run", study_file, "--store", tmp_path / "x.fairtrial")
    assert told.exit_code == 130
    assert told.stderr.startswith("fairtrial: stopped")
    assert told.stderr.count("\n") == 1


def test_ctrl_c_while_the_command_imports_what_it_needs(tmp_path, study_file):
    """The first heavy import of the command is caught in the act, whatever it is."""
    script = tmp_path / "interrupted.py"
    script.write_text(
        "import os, signal, sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'numpy':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "from fairtrial.cli import app\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        f"sys.argv = ['fairtrial', 'run', {str(study_file)!r}, '--store', {str(tmp_path / 'x.fairtrial')!r}]\n"
        "app()\n"
    )
    told = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=restore_interrupts,
    )
    assert told.returncode == 130, told.stderr
    assert told.stderr.startswith("fairtrial: stopped")
    assert told.stderr.count("\n") == 1


def test_ctrl_c_after_the_run_says_where_the_results_are(run, finished, study_file, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("fairtrial.study.results.results.open_results", interrupted)
    told = run("run", study_file, "--store", finished[0], "--quiet")
    assert told.exit_code == 130
    assert told.stderr.startswith("fairtrial: stopped")
    assert f"fairtrial results {finished[0]}" in told.stderr


def restore_interrupts():
    """Handle SIGINT in a child process even if the tests were started in the background, which ignores it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _stored(store):
    try:
        with open_store(store) as kept:
            return sum(kept.count_by_status().values())
    except Exception:
        return 0


def _wait_for(there, process):
    for _ in range(600):
        if there():
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    raise AssertionError("nothing was stored within a minute")


def test_a_raised_check_that_affects_the_answer_is_printed_with_it(run, tmp_path):
    file, store, page = (tmp_path / name for name in ("settings.toml", "settings.fairtrial", "page.html"))
    learners = [f'd{depth} = {{ learner = "decision-tree", parameters = {{ max_depth = {depth} }} }}\n' for depth in (1, 2)]
    file.write_text(f'data = ["iris"]\n[learners]\n{"".join(learners)}[resampling]\nfolds = 2\n')
    first = run("run", file, "--store", store, "--jobs", "1")
    assert run("report", store, "--out", page).exit_code == 0
    answer = page.read_text(encoding="utf-8").split('id="answer"')[1].split("<section")[0]
    for text in (first.stdout, run("results", store).stdout):
        assert "! FT007: d1 and d2 " in text
    assert re.search(r'<a href="#checks">FT007 ', answer)
