"""What learners set for the whole process is put back, and costs next to nothing where nobody did."""

import gc
import locale
import os
import subprocess
import sys
import timeit

import numpy as np
import pytest
import sklearn

from fairtrial.study.run.meter import ProcessSettings


def set_environment():
    os.environ["FAIRTRIAL_TEST_NEW"] = "1"
    os.environ["HOME"] = "elsewhere"
    del os.environ["PATH"]


def set_locale():
    other = "C" if locale.setlocale(locale.LC_ALL) != "C" else "C.UTF-8"
    locale.setlocale(locale.LC_ALL, other)


def set_path():
    sys.path = ["elsewhere"]


def collect_no_more():
    gc.disable()
    gc.set_threshold(1, 2, 3)


def environment_of_a_child():
    return subprocess.check_output([sys.executable, "-S", "-c", "import os; print(sorted(os.environ.items()))"])


CASES = {
    "NumPy's errors": (np.geterr, lambda: np.seterr(all="raise")),
    "NumPy's way to tell them": (np.geterrcall, lambda: np.seterrcall(print)),
    "scikit-learn": (sklearn.get_config, lambda: sklearn.set_config(transform_output="pandas", assume_finite=True)),
    "environment": (lambda: dict(os.environ), set_environment),
    "environment of C": (environment_of_a_child, set_environment),
    "folder": (os.getcwd, lambda: os.chdir("/")),
    "locale": (lambda: locale.setlocale(locale.LC_ALL), set_locale),
    "path": (lambda: list(sys.path), set_path),
    "path in place": (lambda: list(sys.path), lambda: sys.path.insert(0, "elsewhere")),
    "recursion": (sys.getrecursionlimit, lambda: sys.setrecursionlimit(54321)),
    "garbage": (lambda: (gc.isenabled(), gc.get_threshold()), collect_no_more),
}


@pytest.mark.parametrize("case", CASES)
def test_what_was_set_is_put_back(case):
    read, change = CASES[case]
    path, settings, before = sys.path, ProcessSettings(), read()
    try:
        change()
        assert read() != before
    finally:
        settings.restore()
    assert read() == before
    assert sys.path is path


def test_it_costs_little_where_nothing_was_set():
    settings = ProcessSettings()
    fastest = min(timeit.repeat(settings.restore, number=200, repeat=20)) / 200
    assert fastest < 2e-4  # some 6 microseconds on an idle machine
