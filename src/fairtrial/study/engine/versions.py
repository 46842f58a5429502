"""The packages that decide what a trial leaves: a worker that has others than the coordinator is refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from fairtrial.errors import InputError

if TYPE_CHECKING:
    from fairtrial.data import Dataset
    from fairtrial.study.records import Chunk, Evidence, Needs

DECISIVE = ("fairtrial", "numpy", "scipy", "scikit-learn", "numba")
_ABSENT = "not installed"


def versions_here(packages: Iterable[str] = DECISIVE) -> dict[str, str]:
    """The version of each package in this process.

    >>> versions_here(["numpy", "no-such-package"])["no-such-package"]
    'not installed'
    """
    return {name: _version(name) for name in packages}


@lru_cache(maxsize=256)
def _version(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return _ABSENT


def differences(wanted: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    """What differs, in words: one entry for each package.

    >>> differences({"numpy": "2.3.1"}, {"numpy": "2.0.0"})
    ['numpy 2.0.0 instead of 2.3.1']
    """
    return [
        f"{name} {found.get(name, _ABSENT)} instead of {version}" if found.get(name, _ABSENT) != _ABSENT else f"no {name}"
        for name, version in wanted.items()
        if found.get(name, _ABSENT) != version
    ]


def refuse_differences(where: str, wanted: Mapping[str, str], found: Mapping[str, str]) -> None:
    """Raise where a worker has other versions: its evidence would differ."""
    wrong = differences(wanted, found)
    if wrong:
        raise InputError(
            f"{where} must have the packages of the coordinator, got {', '.join(wrong)}: "
            "install the same versions on every machine, for evidence must not depend on the machine"
        )


def run_checked_chunk(
    wanted: Mapping[str, str], run: str, chunk: Chunk, dataset: Dataset | None = None
) -> list[Evidence] | Needs:
    """`run_chunk` in a process that may be anywhere, once its packages are known to be those of the coordinator."""
    import socket

    from fairtrial.study.guard.guard_pool import run_chunk

    refuse_differences(f"the worker on {socket.gethostname()}", wanted, versions_here(wanted))
    return run_chunk(run, chunk, dataset)
