"""Tests that the library works on Windows, where only studies cannot run."""

import subprocess
import sys

# Third-party packages are imported before the platform is changed, because they would load parts for Windows.
WINDOWS = """
import asyncio, ctypes, multiprocessing, os, select, signal, socket, sqlite3, subprocess, sys, tempfile, threading
import cloudpickle, joblib, numba, numpy, pandas, pyarrow, pydantic, rich.console, rich.live, scipy.stats, sklearn.naive_bayes
import tomli_w, typer.testing, zstandard, sklearn.linear_model, sklearn.model_selection, sklearn.pipeline, imblearn, narwhals
for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None
for name in ("SIGUSR1", "SIGUSR2", "SIGKILL", "SIGALRM", "SIGCHLD", "SIGPIPE", "ITIMER_REAL", "setitimer"):
    delattr(signal, name)
for name in ("fork", "setsid", "killpg", "getpgrp", "waitid", "wait4", "register_at_fork", "environb", "getloadavg"):
    delattr(os, name)
for module, names in ((select, ["poll"]), (socket, ["send_fds", "recv_fds"])):
    for name in names:
        delattr(module, name)
sys.platform = "win32"
"""


def run_on_windows(code, *arguments):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WINDOWS + code, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def test_library_parts_work_on_windows():
    """All modules can be imported, except the code of the worker process, which only the fork server imports."""
    code = """
import importlib, pkgutil
import fairtrial
for module in pkgutil.walk_packages(fairtrial.__path__, "fairtrial."):
    if module.name not in ("fairtrial.study.run.worker", "fairtrial.__main__", "fairtrial.study.run.dask"):
        importlib.import_module(module.name)
frame = pandas.DataFrame({"y_true": ["a", "b"] * 20, "m1": ["a", "b"] * 20, "m2": ["a", "a"] * 20})
assert fairtrial.judge(frame) is not None
scores = pandas.DataFrame({"a": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], "b": [0.2, 0.3, 0.4, 0.5, 0.6, 0.8]})
assert fairtrial.compare(scores, rows="datasets") is not None
X, y = [[0.0], [0.0], [1.0], [1.0]], [0, 0, 1, 1]
print(fairtrial.measures.accuracy(y, fairtrial.learners.C45().fit(X, y).predict(X)))
"""
    assert run_on_windows(code).stdout.strip() == "1.0"


def test_run_and_dry_run_say_that_studies_need_linux_or_macos(tmp_path):
    study = tmp_path / "study.toml"
    study.write_text('[data]\nsets = ["iris"]\n[learners]\nbayes = "gaussian-nb"\n')
    code = """
from fairtrial.cli import app
for options in ([], ["--dry-run"]):
    result = typer.testing.CliRunner().invoke(app, ["run", *sys.argv[1:], *options])
    print(result.exit_code, result.stderr)
"""
    done = run_on_windows(code, str(study), "--store", str(tmp_path / "x.fairtrial"))
    lines = [line for line in done.stdout.splitlines() if line]
    assert len(lines) == 2
    assert all(line.startswith("2 fairtrial: studies need Linux or macOS, got Windows: ") for line in lines)
    assert not (tmp_path / "x.fairtrial").exists()
