"""The fault campaign (`make torture`): attack studies, learners, files and results files, and count the outcomes."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass

OUTCOMES = ("identical", "refused", "repaired", "different", "crash")


@dataclass(frozen=True)
class Case:
    """One attack: its campaign, its kind, its seed, the outcome, and a detail if the outcome is bad."""

    campaign: str
    kind: str
    seed: int
    outcome: str
    detail: str = ""


def count_cases(full: int, scale: float) -> int:
    """Return the number of cases at a scale, at least one."""
    return max(1, round(full * scale))


def call_in_child(function: Callable[[], str], seconds: float) -> tuple[str, str]:
    """Run a function in a forked process, and return its outcome and a detail. A hang or a lost process is a crash.

    The function returns its outcome, optionally followed by a tab and a detail.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        os.close(reader)
        try:
            answer = function()
        except BaseException:
            answer = f"crash\t{traceback.format_exc()[-1500:]}"
        os.write(writer, answer.encode("utf-8", "replace")[:60_000])
        os._exit(0)
    os.close(writer)
    chunks = []
    deadline = time.monotonic() + seconds
    while select.select([reader], [], [], max(0.0, deadline - time.monotonic()))[0]:
        chunk = os.read(reader, 65_536)
        if not chunk:
            break
        chunks.append(chunk)
    else:
        chunks = [f"crash\tno answer within {seconds:g} s".encode()]
    os.close(reader)
    end_session(child)
    answer = b"".join(chunks).decode("utf-8", "replace") or "crash\tthe process ended without an answer"
    outcome, _, detail = answer.partition("\t")
    return outcome, detail


def end_session(child: int) -> None:
    """Kill a forked process and everything in its process group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
