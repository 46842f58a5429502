"""Shared code of both ranking experiments: names of measures, intervals of error rates, tasks in threads."""

import math
import threading

import pytest

from fairtrial.reproduce.experiment import read_published
from fairtrial.reproduce.ranking_errors import (
    DISPLAY_NAMES,
    MEASURES,
    compute_difference_limits,
    compute_joint_level,
    compute_percent_limits,
    estimate_rate,
    index_measure,
    join_measures,
    run_tasks,
)


def test_measures_are_the_columns_of_table_1():
    assert list(MEASURES) == list(read_published("berrar_table1").columns[2:])
    assert list(DISPLAY_NAMES) == list(MEASURES)
    assert [index_measure(measure) for measure in MEASURES] == list(range(6))


def test_joined_names():
    assert join_measures(["auc"]) == "AUC"
    assert join_measures(["auc", "mine"]) == "AUC and mine"


def test_limits_without_repeats_are_undefined():
    assert math.isnan(compute_percent_limits(math.nan, 0)[0])


def test_newcombes_published_intervals():
    # Newcombe 1998 (Statistics in Medicine 17, 873-890), Table II, method 10: 56/70 - 48/80, 9/10 - 3/10, 10/10 - 0/20.
    assert compute_difference_limits(80.0, 60.0, 70, 80) == pytest.approx((5.24, 33.39), abs=0.005)
    assert compute_difference_limits(90.0, 30.0, 10, 10) == pytest.approx((17.05, 80.90), abs=0.005)
    assert compute_difference_limits(100.0, 0.0, 10, 20) == pytest.approx((67.91, 100.0), abs=0.005)
    assert compute_difference_limits(0.0, 0.0, 1000)[0] < 0 < compute_difference_limits(0.0, 0.0, 1000)[1]
    assert math.isnan(compute_difference_limits(math.nan, 1.0, 1000)[0])


def test_higher_levels_are_wider():
    narrow, wide = (compute_difference_limits(80.0, 60.0, 70, 80, level) for level in (0.95, compute_joint_level(50)))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]
    assert compute_joint_level(50) == pytest.approx(0.999)


def test_four_errors_of_four_do_not_show_that_most_are_errors():
    """By the closed form the lower limit is the fourth root of 0.025; Wilson's, 51 %, would decide."""
    assert estimate_rate(1.0, 4).low == pytest.approx(100 * 0.025**0.25)
    assert estimate_rate(1.0, 4).subtract(50).is_positive is None
    assert estimate_rate(0.7, 1000).subtract(50).is_positive is True


def test_results_come_in_the_order_of_tasks():
    gate = threading.Event()

    def work(task):
        if task == 0:
            assert gate.wait(10)  # the first task ends last
        if task == 5:
            gate.set()
        return -task

    assert run_tasks(work, range(6), jobs=2) == [0, -1, -2, -3, -4, -5]


def test_a_line_is_printed_after_each_quarter(capsys):
    run_tasks(str, range(8), jobs=1, name="things", progress=None)
    assert capsys.readouterr().err.splitlines() == [f"things: {done} of 8" for done in (2, 4, 6, 8)]


def test_bar_and_silence(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    assert run_tasks(str, range(3), jobs=1, name="things", progress=True) == ["0", "1", "2"]
    assert "things" in capsys.readouterr().err
    run_tasks(str, range(3), jobs=1, name="things", progress=False)
    assert capsys.readouterr().err == ""


def test_a_failure_stops_what_has_not_begun():
    begun = []

    def work(task):
        begun.append(task)
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        run_tasks(work, range(200), jobs=1)
    assert len(begun) < 200
