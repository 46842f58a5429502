"""Times and memory are those of what happens in between; warnings are counted, not shown."""

import mmap
import os
import time
import warnings

import numpy as np
import pytest

from fairtrial.study.run import meter as meter_module
from fairtrial.study.run.diagnostics import format_notes, record_warnings, to_plain_text
from fairtrial.study.run.meter import Meter, measure_resident_peak

MEGABYTE = 2**20


def test_sleep_takes_wall_time_and_no_cpu_time():
    meter = Meter()
    with meter.time_stage("fit"):
        time.sleep(0.05)
    assert 0.05 <= meter.figures["fit_time"] < 60
    assert 0 <= meter.figures["fit_cpu"] < meter.figures["fit_time"]


def test_work_takes_cpu_time():
    meter = Meter()
    with meter.time_stage("predict"):
        end = time.process_time() + 0.02
        while time.process_time() < end:
            pass
    assert 0.02 <= meter.figures["predict_cpu"] < 60


def test_a_stage_that_fails_is_timed_as_well():
    meter = Meter()
    with pytest.raises(KeyError), meter.time_stage("fit"):
        raise KeyError
    assert set(meter.figures) == {"fit_time", "fit_cpu"}


@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="the peak can be set back on Linux only")
@pytest.mark.parametrize("cheap", [True, False])
def test_memory_is_the_growth_since_the_start_each_time(monkeypatch, cheap):
    if not cheap:
        monkeypatch.setattr(meter_module, "_can_use_rusage", lambda _: False)
    for megabytes in (60, 20, 40):  # each alone: the peak before does not hide it
        meter = Meter()
        with mmap.mmap(-1, megabytes * MEGABYTE) as block:  # the allocator might hand out memory that it kept
            np.frombuffer(block, dtype=np.uint8)[:] = 1
        assert megabytes - 4 <= meter.measure_memory() / MEGABYTE <= megabytes + 10


def test_without_the_files_of_linux_the_peak_is_the_greatest_ever(monkeypatch):
    monkeypatch.setattr(meter_module, "_use_system_file", lambda *_: b"")
    monkeypatch.setattr(meter_module, "_can_use_rusage", meter_module._can_use_rusage.__wrapped__)
    block = np.ones(30 * MEGABYTE // 8)
    assert measure_resident_peak() > block.nbytes
    meter = Meter()
    assert meter.measure_memory() >= 0


def test_a_file_that_may_not_be_used_is_passed_over():
    def refuse(_):
        raise PermissionError

    assert meter_module._use_system_file(os.devnull, os.O_RDONLY, refuse) == b""
    assert meter_module._use_system_file("/no/such/file", os.O_RDONLY, refuse) == b""


def test_different_warnings_are_counted():
    with record_warnings() as caught:
        for name in ("first", "second", "first"):
            warnings.warn(name, RuntimeWarning, stacklevel=1)
        warnings.warn("for programmers", DeprecationWarning, stacklevel=1)
    assert format_notes(caught, None, "before") == "before\nRuntimeWarning: first (2 times)\nRuntimeWarning: second"


def test_no_warnings_are_no_notes():
    with record_warnings() as caught:
        pass
    assert format_notes(caught, None) is None


def test_notes_are_short():
    with record_warnings() as caught:
        for number in range(500):
            warnings.warn(f"trouble {number}", stacklevel=1)
    assert len(format_notes(caught)) == 1000


def test_filters_are_as_before():
    before = list(warnings.filters)
    with record_warnings():
        pass
    assert warnings.filters == before


def test_text_that_no_file_holds_is_written_out():
    assert to_plain_text("a\udc80b", 100) == "a\\udc80b"
    assert to_plain_text("abc", 2) == "ab"
