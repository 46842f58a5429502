"""A real dask scheduler and real workers, as processes of their own on this machine."""

import contextlib
import json
import subprocess
import sys
import time
from pathlib import Path

QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


class Loopback:
    """A scheduler on a port that is free; `worker()` starts a worker and gives its process."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "scheduler.json"
        self._processes: list[subprocess.Popen] = []
        self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show")
        deadline = time.monotonic() + 30
        while not (self._file.exists() and self._file.read_text()):
            assert time.monotonic() < deadline, "the scheduler did not start"
            time.sleep(0.05)

    @property
    def address(self) -> str:
        """dask://host:port."""
        return json.loads(self._file.read_text())["address"].replace("tcp://", "dask://")

    def worker(self, *options: str) -> subprocess.Popen:
        """Start a worker without a nanny: it is one process, and nobody starts it again."""
        return self._start("worker", "--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1", *options)

    def _start(self, what: str, *options: str) -> subprocess.Popen:
        command = [sys.executable, "-m", "dask", what, "--scheduler-file", str(self._file), *options]
        self._processes.append(subprocess.Popen(command, **QUIET, cwd=self._file.parent))
        return self._processes[-1]

    def close(self) -> None:
        """End them all."""
        for process in reversed(self._processes):
            process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)


@contextlib.contextmanager
def loopback(folder: Path, workers: int = 0, *options: str):
    """A scheduler with so many workers, ended with the block."""
    here = Loopback(folder)
    try:
        for _ in range(workers):
            here.worker(*options)
        yield here
    finally:
        here.close()
