"""What a trial costs (time, memory), and the settings of its process that are put back after it."""

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

_RESET_PEAK = b"5"  # what proc(5) calls resetting the peak resident set size
_PEAK_TOLERANCE = 2**20  # the system counts pages of each processor apart, and adds them up now and then
_USAGE_UNIT = 1 if sys.platform == "darwin" else 1024


class Meter:
    """Times of the stages `fit` and `predict` of one trial, in seconds, and bytes of memory.

    CPU time counts all threads of the process. Memory is the growth of the peak of the resident memory since the start. Where
    the system cannot set the peak back (elsewhere than on Linux), only what exceeds the highest peak so far is seen.

    >>> meter = Meter()
    >>> with meter.time_stage("fit"):
    ...     _ = sum(range(1000))
    >>> meter.figures["fit_time"] > 0, sorted(meter.figures)
    (True, ['fit_cpu', 'fit_time'])
    """

    def __init__(self) -> None:
        self.figures: dict[str, float] = {}
        _reset_peak()
        self._start = measure_resident_peak()

    @contextmanager
    def time_stage(self, name: str) -> Iterator[None]:
        """Time what happens within, also when it fails."""
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            self.figures[f"{name}_time"] = time.perf_counter() - wall
            self.figures[f"{name}_cpu"] = time.process_time() - cpu

    def measure_memory(self) -> int:
        """Bytes by which the peak has grown."""
        return max(measure_resident_peak() - self._start, 0)


def measure_resident_peak() -> int:
    """The most resident memory that this process has had, in bytes, since it was last set back."""
    return _read_usage_peak() if _can_use_rusage(os.getpid()) else _read_status_peak()


@cache
def _can_use_rusage(_process: int) -> bool:
    """Whether the cheap call may be used: it may remember a higher peak, of the program that started this one."""
    _reset_peak()
    status_peak = _read_status_peak()
    return status_peak == 0 or _read_usage_peak() <= status_peak + _PEAK_TOLERANCE


def _read_usage_peak() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _USAGE_UNIT


def _read_status_peak() -> int:
    """The peak as Linux reports it, 0 elsewhere."""
    content = _use_system_file("/proc/self/status", os.O_RDONLY, lambda file: os.read(file, 8192))
    start = content.find(b"VmHWM:")
    return 0 if start < 0 else 1024 * int(content[start + 6 : content.index(b"kB", start)])


def _reset_peak() -> None:
    _use_system_file("/proc/self/clear_refs", os.O_WRONLY, lambda file: os.write(file, _RESET_PEAK))


def _use_system_file(path: str, flags: int, action: Callable[[int], Any]) -> Any:
    """The answer of a file of the system; nothing where there is no such file, or it may not be used."""
    # Opened anew each time: a file that stays open would be the parent's after a fork.
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


class ProcessSettings:
    """The settings as they are when this is made; those of NumPy and scikit-learn, too.

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
        """Set what differs; raises what a system raises that will not have it."""
        for setting, saved in self._saved:
            if setting.read() != saved:
                setting.write(saved)


class _ProcessSetting(NamedTuple):
    """How a setting is read, cheaply, and how it is set to what was read."""

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
    """The variables as the process has them, in bytes: `os.environ` would decode each of them every time."""
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
