"""Corrupt results files at random. Every command must give the intact result, refuse the file, or rerun what is lost."""

from __future__ import annotations

import random
import resource
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.torture import Case, call_in_child, count_cases

CASES = 510
_PAGE = 4096
_MEMORY = 9_000_000 * 1024
_BATCH_SIZE = 10
_KINDS = ("flip", "flips", "zero pages", "random pages", "swapped pages", "truncation", "header")
_COMMANDS = ("status {}", "results {}", "check {}", "results {} --show times --csv")


def run(scale: float) -> Iterator[Case]:
    """Attack a results file with every kind of corruption, one after the other."""
    n_cases = count_cases(CASES, scale)
    with tempfile.TemporaryDirectory(prefix="torture-") as name:
        bench = _StoreBench(Path(name))
        for start in range(0, n_cases, _BATCH_SIZE):
            seeds = list(range(start, min(n_cases, start + _BATCH_SIZE)))
            outcome, detail = call_in_child(lambda seeds=seeds: bench.attack_all(seeds), 60.0 * len(seeds))
            if outcome == "batch":
                for seed, line in zip(seeds, detail.split("\x1e"), strict=True):
                    yield Case("stores", _KINDS[seed % len(_KINDS)], seed, *line.split("\t", 1))
            else:  # the process was lost: find the case
                for seed in seeds:
                    outcome, detail = call_in_child(lambda seed=seed: bench.attack(seed), 60.0)
                    yield Case("stores", _KINDS[seed % len(_KINDS)], seed, outcome, detail)


class KnownAnswers(Executor):
    """An engine that fits nothing: predictions depend only on the key of the trial."""

    def __init__(self) -> None:
        self.n_trials = 0

    def submit(self, function: Any, chunk: Any, dataset: Any = None) -> Future[Any]:  # type: ignore[override]
        from fairtrial.study.records import CODES, NUMBERS, TrialRecord, pack

        records = []
        for task in chunk.tasks:
            rng = np.random.default_rng(list(task.key))
            scores = rng.dirichlet(np.ones(2), len(chunk.splits[task.split].test))
            packed = {"prediction": pack(scores.argmax(axis=1), CODES), "scores": pack(scores, NUMBERS)}
            times = {"fit_time": 0.5, "predict_time": 0.1, "fit_cpu": 0.5, "predict_cpu": 0.1, "memory": 5}
            records.append(TrialRecord(task.key, "ok", **packed, score_kind="probability", **times))
        self.n_trials += len(records)
        future: Future[Any] = Future()
        future.set_result(records)
        return future


class _StoreBench:
    """An intact results file, what every command prints for it, and attacks on copies of it."""

    def __init__(self, folder: Path) -> None:
        from sklearn.tree import DecisionTreeClassifier
        from typer.testing import CliRunner

        from fairtrial import Study
        from fairtrial.cli import app
        from fairtrial.study.run.coordinator import run_study

        rng = np.random.default_rng(0)
        labels = np.arange(60) % 2
        first, second = (rng.normal(size=(60, 2)) + labels[:, None] for _ in range(2))
        self._study = Study(
            data={"first": (first, labels), "second": (second, labels)},
            learners={f"tree-{depth}": DecisionTreeClassifier(max_depth=depth) for depth in range(1, 5)},
            resampling={"scheme": "stratified", "folds": 3, "repeats": 5},
            name="torture",
        ).resolve()
        self._run_study, self._runner, self._app = run_study, CliRunner(), app
        self._folder = folder
        base = folder / "base.fairtrial"
        run_study(self._study, base, engine=KnownAnswers(), progress=False)
        self._content = base.read_bytes()
        self._digest = compute_digest(base)
        self._expected = {command: self._call(command, base)[1] for command in _COMMANDS}
        self._invoke("export", base, "--csv", folder / "base.csv")
        self._csv = (folder / "base.csv").read_bytes()

    def _invoke(self, *words: object) -> Any:
        return self._runner.invoke(self._app, [str(word) for word in words])

    def _call(self, command: str, path: Path) -> tuple[Any, str]:
        result = self._invoke(*command.format(path).split())
        return result, result.output.replace(str(path), "PATH")

    def attack_all(self, seeds: list[int]) -> str:
        """Run several cases in this process; their outcomes are separated by a record separator."""
        answers = [self.attack(seed) for seed in seeds]
        return "batch\t" + "\x1e".join(answer if "\t" in answer else f"{answer}\t" for answer in answers)

    def attack(self, seed: int) -> str:
        """Corrupt a copy of the file, and call every command on it."""
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        rng = random.Random(seed)
        corrupted = corrupt(self._content, _KINDS[seed % len(_KINDS)], rng)
        with tempfile.TemporaryDirectory(dir=self._folder) as name:
            try:
                outcomes = set(self._attack_copies(Path(name), corrupted))
            except _BadOutcomeError as error:
                return f"{error.args[0]}\t{error.args[1]}"
        return "repaired" if "repaired" in outcomes else "refused" if "refused" in outcomes else "identical"

    def _attack_copies(self, folder: Path, corrupted: bytes) -> Iterator[str]:
        path = folder / "base.fairtrial"
        for command, expected in self._expected.items():
            _write_copy(path, corrupted)
            result, output = self._call(command, path)
            yield _judge(command, result, output == expected)
        _write_copy(path, corrupted)
        target = folder / "out.csv"
        result = self._invoke("export", path, "--csv", target)
        yield _judge("export", result, target.exists() and target.read_bytes() == self._csv, leftover=target)
        _write_copy(path, corrupted)
        target = folder / "merged.fairtrial"
        result = self._invoke("merge", path, "--store", target)
        same = result.exit_code == 0 and compute_digest(target) == self._digest
        yield _judge("merge", result, same, leftover=target)
        yield self._attack_run(path, corrupted)

    def _attack_run(self, path: Path, corrupted: bytes) -> str:
        from fairtrial.errors import FairtrialError

        _write_copy(path, corrupted)
        engine = KnownAnswers()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                summary = self._run_study(self._study, path, engine=engine, progress=False)
        except FairtrialError as error:
            if "\n" in str(error):
                raise _BadOutcomeError("crash", f"run: several lines: {error}") from None
            return "refused"
        except Exception:
            raise _BadOutcomeError("crash", f"run: {traceback.format_exc()[-1500:]}") from None
        if compute_digest(path) != self._digest or summary.done != engine.n_trials:
            raise _BadOutcomeError("different", f"run: {summary}")
        if self._call("results {}", path)[1] != self._expected["results {}"]:
            raise _BadOutcomeError("different", "results after run")
        return "repaired" if engine.n_trials else "identical"


class _BadOutcomeError(Exception):
    """A silent difference or a crash, with a detail."""


def _judge(command: str, result: Any, same: bool, leftover: Path | None = None) -> str:
    """Return the outcome of a command on a corrupted file."""
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        trace = "".join(traceback.format_exception(result.exception))
        raise _BadOutcomeError("crash", f"{command}: {trace[-1500:]}")
    if result.exit_code == 0:
        if not same:
            raise _BadOutcomeError("different", f"{command}: {result.output[-300:]}")
        return "identical"
    if result.exit_code != 2 or len(result.output.strip().splitlines()) != 1:
        raise _BadOutcomeError("crash", f"{command}: exit code {result.exit_code}: {result.output[-300:]}")
    if leftover is not None and leftover.exists():
        raise _BadOutcomeError("different", f"{command} refused the file, but wrote {leftover.name}")
    return "refused"


def _write_copy(path: Path, content: bytes) -> None:
    for other in path.parent.iterdir():
        other.unlink()
    path.write_bytes(content)


def compute_digest(path: Path) -> str:
    """Check a results file in full, and compute its digest."""
    from fairtrial.study.store.store import open_store

    with open_store(path) as store:
        store.check()
        return str(store.compute_digest())


def corrupt(content: bytes, kind: str, rng: random.Random) -> bytes:
    """Corrupt the content of a results file."""
    changed, n_pages = bytearray(content), len(content) // _PAGE
    if kind == "flip":
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    elif kind == "flips":
        for _ in range(rng.randrange(2, 60)):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    elif kind in ("zero pages", "random pages"):
        for _ in range(rng.randrange(1, 6)):
            start = rng.randrange(0 if rng.random() < 0.1 else 1, n_pages) * _PAGE
            changed[start : start + _PAGE] = bytes(_PAGE) if kind == "zero pages" else rng.randbytes(_PAGE)
    elif kind == "swapped pages":
        target, source = rng.randrange(1, n_pages) * _PAGE, rng.randrange(1, n_pages) * _PAGE
        changed[target : target + _PAGE] = content[source : source + _PAGE]
    elif kind == "truncation":
        del changed[rng.randrange(len(changed)) :]
    else:
        changed[rng.randrange(100)] = rng.randrange(256)
    return bytes(changed)
