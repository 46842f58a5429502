"""Measure the time and memory of a trial, and restore the settings of its process."""

from __future__ import annotations

import gc
import locale
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

_RESET_PEAK = b"5"  # resets the peak resident set size; see proc(5)
_LOAD_INTERVAL, _LOAD_DELAY = 5.0, 30.0
_STEAL_FIELD = 7
_USAGE_UNIT = 1 if sys.platform == "darwin" else 1024


class Meter:
    """A meter of one trial: the seconds that `fit` and `predict` take, and the memory in bytes.

    CPU time includes all threads of the process. Memory is the growth of the peak resident memory after the meter was created.
    When the meter is created, freed memory is returned to the system. Otherwise, a trial that reuses freed memory would seem to
    need none. On systems other than Linux, memory is None, because the peak cannot be reset.

    >>> meter = Meter()
    >>> with meter.time_stage("fit"):
    ...     _ = sum(range(1000))
    >>> meter.figures["fit_time"] > 0, sorted(meter.figures)
    (True, ['fit_cpu', 'fit_time'])
    """

    def __init__(self) -> None:
        self.figures: dict[str, float] = {}
        _return_free_memory()
        self._is_measurable = _reset_peak()
        self._start = measure_resident_peak()

    @contextmanager
    def time_stage(self, name: str) -> Iterator[None]:
        """Measure the wall-clock and CPU time of a stage, even if it fails."""
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            self.figures[f"{name}_time"] = time.perf_counter() - wall
            self.figures[f"{name}_cpu"] = time.process_time() - cpu

    def measure_memory(self) -> int | None:
        """Return the growth of the peak memory in bytes, or None if no growth can be measured."""
        growth = measure_resident_peak() - self._start
        return growth if self._is_measurable and growth > 0 else None


def measure_resident_peak() -> int:
    """Measure the peak resident memory of this process in bytes since the last reset."""
    return _read_status_peak() or _read_usage_peak()  # `getrusage` is faster but rounds to 128 KiB


def _read_usage_peak() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _USAGE_UNIT


def _read_status_peak() -> int:
    """Read the peak memory that Linux reports. Return 0 on other systems."""
    content = _use_system_file("/proc/self/status", os.O_RDONLY, lambda file: os.read(file, 8192))
    start = content.find(b"VmHWM:")
    return 0 if start < 0 else 1024 * int(content[start + 6 : content.index(b"kB", start)])


def _reset_peak() -> bool:
    """Reset the peak memory. Return whether this succeeded."""
    return bool(_use_system_file("/proc/self/clear_refs", os.O_WRONLY, lambda file: os.write(file, _RESET_PEAK)))


def _return_free_memory() -> None:
    """Return freed memory to the system if the C library supports this."""
    trim = _find_trim_function()
    if trim is not None:
        trim(0)


@cache
def _find_trim_function() -> Callable[[int], int] | None:
    import ctypes

    return getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None


def _use_system_file(path: str, flags: int, action: Callable[[int], Any]) -> Any:
    """Open a system file and call `action` with its descriptor. Return b"" if the operating system reports an error."""
    # The file is opened each time. If it stayed open across a fork, it would still describe the parent process.
    try:
        file = os.open(path, flags)
    except OSError:
        return b""
    try:
        return action(file)
    except OSError:
        return b""
    finally:
        os.close(file)


class LoadMeter:
    """Measures the load of the machine during a run, including the load from other programs.

    >>> meter = LoadMeter()
    >>> meter.sample()
    >>> sorted(meter.describe()) in ([], ["load"], ["steal"], ["load", "steal"])
    True
    """

    def __init__(self) -> None:
        self._started = self._sampled = time.monotonic()
        self._loads: list[float] = []
        self._times = _read_processor_times()

    def sample(self) -> None:
        """Record the load average, at most once every 5 seconds.

        The first 30 seconds are skipped, because the load average then still reflects the time before the run.
        """
        now = time.monotonic()
        if now - self._sampled >= _LOAD_INTERVAL and now - self._started >= _LOAD_DELAY and hasattr(os, "getloadavg"):
            self._sampled = now
            self._loads.append(os.getloadavg()[0])

    def describe(self) -> dict[str, float]:
        """Return the mean load average (`load`) and the proportion of stolen CPU time (`steal`), if known.

        CPU time is stolen if the host assigns it to other virtual machines.
        """
        facts = {"load": sum(self._loads) / len(self._loads)} if self._loads else {}
        elapsed = [after - before for before, after in zip(self._times, _read_processor_times(), strict=False)]
        if len(elapsed) > _STEAL_FIELD and sum(elapsed) > 0:
            facts["steal"] = elapsed[_STEAL_FIELD] / sum(elapsed)
        return facts


def _read_processor_times() -> list[int]:
    """Read the CPU times: user, nice, system, idle, iowait, irq, softirq and steal. The list is empty except on Linux."""
    line = _use_system_file("/proc/stat", os.O_RDONLY, lambda file: os.read(file, 4096)).split(b"\n")[0]
    return [int(value) for value in line.split()[1:9]]


class ProcessSettings:
    """A snapshot of the settings of the process, NumPy and scikit-learn that can be restored later.

    >>> import numpy as np
    >>> settings = ProcessSettings()
    >>> before = np.seterr(all="raise")
    >>> settings.restore()
    >>> np.geterr() == before
    True
    """

    def __init__(self) -> None:
        self._saved = [(setting, setting.read()) for setting in _list_settings()]

    def restore(self) -> None:
        """Restore the settings that have changed."""
        for setting, saved in self._saved:
            if setting.read() != saved:
                setting.write(saved)


class _ProcessSetting(NamedTuple):
    read: Callable[[], Any]
    write: Callable[[Any], object]


def _list_settings() -> list[_ProcessSetting]:
    import numpy as np
    import sklearn

    return [
        _ProcessSetting(np.geterr, lambda saved: np.seterr(**saved)),
        _ProcessSetting(np.geterrcall, np.seterrcall),
        _ProcessSetting(sklearn.get_config, lambda saved: sklearn.set_config(**saved)),
        _make_environment_setting(),
        _make_path_setting(),
        _ProcessSetting(os.getcwd, os.chdir),
        _ProcessSetting(lambda: locale.setlocale(locale.LC_ALL), lambda saved: locale.setlocale(locale.LC_ALL, saved)),
        _ProcessSetting(sys.getrecursionlimit, sys.setrecursionlimit),
        _ProcessSetting(gc.isenabled, lambda saved: gc.enable() if saved else gc.disable()),
        _ProcessSetting(gc.get_threshold, lambda saved: gc.set_threshold(*saved)),
    ]


def _make_environment_setting() -> _ProcessSetting:
    """Build the setting for environment variables. To save time, the variables are read as bytes and not decoded."""
    variables, current = os.environb, os.environb._data  # type: ignore[attr-defined]

    def write(saved: dict[bytes, bytes]) -> None:
        for name in current.keys() - saved.keys():
            del variables[name]
        for name, value in saved.items():
            if current.get(name) != value:
                variables[name] = value

    return _ProcessSetting(current.copy, write)


def _make_path_setting() -> _ProcessSetting:
    path = sys.path

    def write(saved: list[str]) -> None:
        sys.path, path[:] = path, saved

    return _ProcessSetting(lambda: list(sys.path), write)
