"""Faults in running studies, on this computer and on a dask cluster. After resuming, the digest must not differ."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.torture import Case, count_cases, end_session
from benchmarks.torture.stores import compute_digest

FAULTS = 330
DASK_CASES = 14
_RUN_SECONDS = 120.0
_STORE = "torture.fairtrial"


def run(scale: float) -> Iterator[Case]:
    """Inject random faults into studies on this computer until there are enough of them."""
    n_faults, n_done, seed = count_cases(FAULTS, scale), 0, 0
    with tempfile.TemporaryDirectory(prefix="torture-") as name, _Disk(Path(name)) as disk:
        bench = _StudyBench(disk)
        try:
            while n_done < n_faults:
                kinds, outcome, detail = bench.attack(seed)
                yield from (Case("faults", kind, seed, outcome, detail) for kind in kinds)
                n_done += len(kinds)
                seed += 1
        finally:
            bench.close()


def run_dask(scale: float) -> Iterator[Case]:
    """Kill workers and schedulers of dask clusters."""
    with tempfile.TemporaryDirectory(prefix="torture-") as name:
        bench = _StudyBench(Path(name))
        try:
            for seed in range(count_cases(DASK_CASES, scale)):
                kind = "scheduler killed" if seed % 2 else "workers killed"
                yield Case("dask", kind, seed, *bench.attack_cluster(seed, kind))
        finally:
            bench.close()


class _Disk:
    """A small file system in memory that can be filled. Without the right to mount it, an ordinary folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "disk"
        self._folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(self._folder)]
        self._mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0

    def __enter__(self) -> Path:
        return self._folder

    def __exit__(self, *_: object) -> None:
        if self._mounted:
            subprocess.run(["umount", "-l", str(self._folder)], check=False)


class _StudyBench:
    """A small study, its undisturbed digest, and attacks on runs of it."""

    def __init__(self, folder: Path) -> None:
        from fairtrial import Study

        self._folder = folder
        self._study = Study(
            data=["iris", "wine"],
            learners={
                "bayes": "gaussian-nb",
                "tree": {"learner": "sklearn.tree.DecisionTreeClassifier", "parameters": {"max_depth": 3}},
                "logistic": {"learner": "sklearn.linear_model.LogisticRegression", "parameters": {"max_iter": 2000}},
                "forest": {"learner": "sklearn.ensemble.RandomForestClassifier", "parameters": {"n_estimators": 10}},
            },
            resampling={"scheme": "stratified", "folds": 5, "repeats": 6},
            seed=5,
            name="torture",
        ).resolve()
        self._resumer = _Resumer(self._study)
        base = folder / "base.fairtrial"
        self._resumer.resume(base)
        self._digest = compute_digest(base)
        base.unlink()

    def close(self) -> None:
        """End the process that resumes studies."""
        self._resumer.close()

    def attack(self, seed: int) -> tuple[list[str], str, str]:
        """Inject faults into one run, resume it, and compare. Return the kinds of faults, the outcome and a detail."""
        rng = random.Random(seed)
        with _make_folder(self._folder) as folder:
            path = folder / _STORE
            study_run = _StudyRun(self._study, path)
            faults = [rng.choice(_PASSING) for _ in range(rng.randrange(2, 8))] + [rng.choice(_FINAL)]
            if rng.random() > 0.15:  # otherwise, faults also hit the start of the run
                study_run.wait_for_workers()
            kinds = []
            for fault in faults:
                time.sleep(rng.random() * 0.2)
                if not study_run.running:
                    break
                if fault(study_run, rng):
                    kinds.append(_name_fault(fault))
            return kinds, *self._finish(study_run, path)

    def attack_cluster(self, seed: int, kind: str) -> tuple[str, str]:
        """Run the study on a dask cluster, kill parts of the cluster, resume, and compare."""
        from tests.study.loopback import loopback

        rng = random.Random(seed)
        with _make_folder(self._folder) as folder, loopback(folder, workers=2) as cluster:
            path = folder / _STORE
            study_run = _StudyRun(self._study, path, engine=cluster.address)
            scheduler, *workers = cluster._processes
            study_run.wait_for_records()
            time.sleep(rng.random())
            if kind == "scheduler killed":
                scheduler.kill()
            else:
                workers[0].kill()
                if rng.random() < 0.5:
                    cluster.worker()
                    time.sleep(rng.random() * 2)
                    workers[1].kill()
            return self._finish(study_run, path)

    def _finish(self, study_run: _StudyRun, path: Path) -> tuple[str, str]:
        answer, detail = study_run.wait()
        if answer == "crash":
            return answer, detail
        _set_immutable(path.parent, False)
        (path.parent / "filler").unlink(missing_ok=True)
        _restore_moved(path)
        resumed, problem = self._resumer.resume(path)
        if resumed is None:
            return "crash", f"resume: {problem}"
        if compute_digest(path) != self._digest:
            return "different", f"first run: {answer} {detail}; resumed: {resumed} trials"
        if answer == "refused":
            return "refused", detail
        return ("repaired" if resumed else "identical"), ""


class _StudyRun:
    """A run of a study in a process of its own."""

    def __init__(self, study: Any, path: Path, engine: str = "local") -> None:
        self.path = path
        self.log = path.with_name("log")
        self.child = os.fork()
        if self.child == 0:
            _redirect_output(self.log)
            _run_and_exit(study, path, engine)

    @property
    def running(self) -> bool:
        """Whether the process has not ended."""
        return os.waitid(os.P_PID, self.child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def wait_for_workers(self) -> None:
        """Wait until the first worker process exists."""
        self._wait_until(lambda: bool(self.list_workers()))

    def wait_for_records(self) -> None:
        """Wait until the results file exists and has grown beyond the plan."""
        self._wait_until(lambda: self.path.exists() and self.path.with_name(f"{_STORE}-wal").exists())

    def _wait_until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 30
        while self.running and not condition() and time.monotonic() < deadline:
            time.sleep(0.01)

    def list_servers(self) -> list[int]:
        """List the fork servers."""
        return _list_children(self.child)

    def list_workers(self) -> list[int]:
        """List the worker processes."""
        return [worker for server in self.list_servers() for worker in _list_children(server)]

    def wait(self) -> tuple[str, str]:
        """Wait for the end of the run; a run that hangs is a crash."""
        deadline = time.monotonic() + _RUN_SECONDS
        while self.running and time.monotonic() < deadline:
            time.sleep(0.01)
        hangs = self.running
        end_session(self.child)
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        if hangs:
            return "crash", f"the run did not end within {_RUN_SECONDS:g} s: {text[-500:]}"
        if "Traceback (most recent call last)" in text and "KeyboardInterrupt" not in text:
            return "crash", text[-2000:]
        last_line = text.strip().splitlines()[-1] if text.strip() else ""
        return ("refused", last_line) if last_line.startswith("refused: ") else ("ended", last_line)


def _redirect_output(log: Path) -> None:
    os.setsid()
    descriptor = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)


def _run_and_exit(study: Any, path: Path, engine: str) -> None:
    from fairtrial.errors import FairtrialError
    from fairtrial.study.run.coordinator import run_study

    try:
        jobs = 2 if engine == "local" else None
        print(run_study(study, path, jobs=jobs, engine=engine, progress=False), flush=True)
    except FairtrialError as error:
        print(f"refused: {error}", flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    except BaseException:
        traceback.print_exc()
    os._exit(0)


class _Resumer:
    """A process that resumes studies. It is started before any fault and keeps its fork servers."""

    def __init__(self, study: Any) -> None:
        requests, self._requests = os.pipe()
        self._answers, answers = os.pipe()
        self._process = os.fork()
        if self._process == 0:
            os.setsid()
            os.close(self._requests)
            _serve_resumes(study, requests, answers)
        os.close(requests)
        os.close(answers)
        self._reader = os.fdopen(self._answers)

    def resume(self, path: Path) -> tuple[int | None, str]:
        """Resume a study, and return the number of trials that ran, or None and an error message."""
        os.write(self._requests, f"{path}\n".encode())
        number, _, problem = self._reader.readline().rstrip("\n").partition("\t")
        return (int(number) if number else None), problem

    def close(self) -> None:
        """End the process."""
        end_session(self._process)
        os.close(self._requests)
        self._reader.close()


def _serve_resumes(study: Any, requests: int, answers: int) -> None:
    from fairtrial.study.run.coordinator import run_study

    for line in os.fdopen(requests):
        try:
            summary = run_study(study, line.rstrip("\n"), jobs=2, retry=("crash", "error"), progress=False)
            answer = f"{summary.done}\t" if not summary.left and not summary.failed else f"\t{summary}"
        except BaseException:
            answer = "\t" + " | ".join(traceback.format_exc()[-1500:].splitlines())
        os.write(answers, f"{answer}\n".encode())
    os._exit(0)


@contextlib.contextmanager
def _make_folder(parent: Path) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(dir=parent))
    try:
        yield folder
    finally:
        _set_immutable(folder, False)
        shutil.rmtree(folder)


def _list_children(process: int) -> list[int]:
    try:
        tasks = [Path(f"/proc/{process}/task/{task}/children") for task in os.listdir(f"/proc/{process}/task")]
        return [int(child) for task in tasks for child in task.read_text().split()]
    except OSError:
        return []


def _send(process: int, number: int) -> bool:
    try:
        os.kill(process, number)
    except ProcessLookupError:
        return False
    return True


def _pause(process: int, rng: random.Random) -> bool:
    paused = _send(process, signal.SIGSTOP)
    time.sleep(rng.random() * 0.4)
    _send(process, signal.SIGCONT)
    return paused


def worker_killed(study_run: _StudyRun, rng: random.Random) -> bool:
    workers = study_run.list_workers()
    return bool(workers) and _send(rng.choice(workers), signal.SIGKILL)


def worker_terminated(study_run: _StudyRun, rng: random.Random) -> bool:
    workers = study_run.list_workers()
    return bool(workers) and _send(rng.choice(workers), signal.SIGTERM)


def all_workers_killed(study_run: _StudyRun, _: random.Random) -> bool:
    sent = [_send(worker, signal.SIGKILL) for worker in study_run.list_workers()]
    return any(sent)


def worker_paused(study_run: _StudyRun, rng: random.Random) -> bool:
    workers = study_run.list_workers()
    return bool(workers) and _pause(rng.choice(workers), rng)


def fork_server_killed(study_run: _StudyRun, rng: random.Random) -> bool:
    servers = study_run.list_servers()
    return bool(servers) and _send(rng.choice(servers), signal.SIGKILL)


def fork_server_paused(study_run: _StudyRun, rng: random.Random) -> bool:
    servers = study_run.list_servers()
    return bool(servers) and _pause(rng.choice(servers), rng)


def run_paused(study_run: _StudyRun, rng: random.Random) -> bool:
    return _pause(study_run.child, rng)


def run_killed(study_run: _StudyRun, _: random.Random) -> bool:
    return _send(study_run.child, signal.SIGKILL)


def all_processes_killed(study_run: _StudyRun, rng: random.Random) -> bool:
    processes = [study_run.child, *study_run.list_servers(), *study_run.list_workers()]
    rng.shuffle(processes)
    sent = [_send(process, signal.SIGKILL) for process in processes]
    return any(sent)


def run_interrupted(study_run: _StudyRun, _: random.Random) -> bool:
    return _send(study_run.child, signal.SIGINT)


def run_interrupted_twice(study_run: _StudyRun, rng: random.Random) -> bool:
    sent = _send(study_run.child, signal.SIGINT)
    time.sleep(rng.random() * 0.05)
    return _send(study_run.child, signal.SIGINT) or sent


def run_terminated(study_run: _StudyRun, _: random.Random) -> bool:
    return _send(study_run.child, signal.SIGTERM)


def results_file_renamed(study_run: _StudyRun, _: random.Random) -> bool:
    if not study_run.path.exists():
        return False
    study_run.path.rename(study_run.path.with_name("moved"))
    return True


def results_file_replaced(study_run: _StudyRun, rng: random.Random) -> bool:
    if not results_file_renamed(study_run, rng):
        return False
    study_run.path.write_bytes(b"another file" * 1000)
    return True


def results_file_deleted(study_run: _StudyRun, _: random.Random) -> bool:
    study_run.path.unlink(missing_ok=True)
    return True


def folder_read_only(study_run: _StudyRun, _: random.Random) -> bool:
    return _set_immutable(study_run.path.parent, True)


def disk_full(study_run: _StudyRun, rng: random.Random) -> bool:
    """Fill a small file system, except for a few random bytes. An ordinary disk is not filled."""
    folder = study_run.path.parent
    free = shutil.disk_usage(folder).free
    if free > 100 * 2**20:
        return False
    with contextlib.suppress(OSError), (folder / "filler").open("wb", buffering=0) as file:
        file.write(bytes(max(0, free - rng.choice([0, 0, 20_000, 100_000]))))
    return True


def _set_immutable(folder: Path, immutable: bool) -> bool:
    """Forbid or allow changes in a folder, also to root."""
    command = ["chattr", "+i" if immutable else "-i", str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _restore_moved(path: Path) -> None:
    """Do what the message of the run says: use the recovered file, or move the renamed file back."""
    moved = path.with_name("moved")
    recovered = sorted(path.parent.glob(f"{path.stem}.recovered*{path.suffix}"))
    for candidate in (*recovered[:1], moved):
        if candidate.exists():
            for ending in ("-wal", "-shm"):
                path.with_name(f"{path.name}{ending}").unlink(missing_ok=True)
            os.replace(candidate, path)
            return


_PASSING = (
    *(worker_killed, worker_killed, worker_terminated, all_workers_killed, worker_paused),
    *(fork_server_killed, fork_server_paused, run_paused),
)
_FINAL = (
    *(run_killed, run_killed, all_processes_killed, run_interrupted, run_interrupted_twice, run_terminated),
    *(results_file_renamed, results_file_replaced, results_file_deleted, folder_read_only, disk_full, disk_full),
)


def _name_fault(fault: Callable[..., bool]) -> str:
    return fault.__name__.replace("_", " ")
