"""How long an experiment took, over all runs into its folder: one that was stopped and went on is told with all its parts."""

from __future__ import annotations

import csv
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FILE = "runs.log"


@contextmanager
def clocked(folder: Path, command: str) -> Iterator[None]:
    """Note in the folder how long this run of the command took, also where it is stopped or fails."""
    start = time.perf_counter()
    try:
        yield
    finally:
        with (folder / _FILE).open("a", newline="", encoding="utf-8") as file:
            csv.writer(file).writerow([command, f"{time.perf_counter() - start:.1f}"])


def times(folder: Path, command: str) -> list[float]:
    """Seconds of every run of the command into the folder."""
    with (folder / _FILE).open(newline="", encoding="utf-8") as file:
        return [float(seconds) for noted, seconds in csv.reader(file) if noted == command]
