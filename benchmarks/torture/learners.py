"""Hostile learners, each beside two innocent learners whose stored predictions must not change."""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import gc
import locale
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from benchmarks.torture import Case, call_in_child, count_cases
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

_BATCH_SIZE = 15
_INNOCENT = {
    "bayes": GaussianNB(),
    "forest": RandomForestClassifier(n_estimators=5),
}


def run(scale: float) -> Iterator[Case]:
    """Run each hostile learner in a study of its own."""
    names = list(HOSTILE)
    chosen = random.Random(0).sample(names, count_cases(len(names), min(scale, 1.0)))
    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        expected_path = Path(folder, "innocent.fairtrial")
        outcome, detail = call_in_child(lambda: _run_study(dict(_INNOCENT), expected_path), 120)
        if outcome != "done":
            raise RuntimeError(f"the innocent learners failed: {detail}")
        expected = _read_predictions(expected_path)
        chosen.sort(key=names.index)
        for start in range(0, len(chosen), _BATCH_SIZE):
            batch = chosen[start : start + _BATCH_SIZE]
            outcome, detail = call_in_child(lambda batch=batch: _attack_all(batch, Path(folder), expected), 60.0 * len(batch))
            if outcome == "batch":
                answers = [answer.split("\t", 1) for answer in detail.split("\x1e")]
            else:  # the process was lost: find the learner
                answers = [call_in_child(lambda name=name: _attack(name, Path(folder), expected), 120) for name in batch]
            for name, (outcome, detail) in zip(batch, answers, strict=True):
                yield Case("learners", name, names.index(name), outcome, detail)


def _attack_all(batch: list[str], folder: Path, expected: dict[Any, bytes]) -> str:
    """Run several studies in this process, whose fork servers stay."""
    answers = []
    for name in batch:
        try:
            answers.append(_attack(name, folder, expected))
        except BaseException:
            answers.append(f"crash\t{traceback.format_exc()[-1500:]}")
    return "batch\t" + "\x1e".join(answer if "\t" in answer else f"{answer}\t" for answer in answers)


def _attack(name: str, folder: Path, expected: dict[Any, bytes]) -> str:
    path = folder / "hostile.fairtrial"
    path.unlink(missing_ok=True)
    learners = {"bayes": _INNOCENT["bayes"], "hostile": HOSTILE[name](), "forest": _INNOCENT["forest"]}
    outcome = _run_study(learners, path)
    if outcome.startswith("refused"):
        return outcome
    stored = _read_predictions(path)
    missing = expected.keys() - stored.keys()
    if missing:
        return f"different\t{len(missing)} trials of innocent learners failed"
    changed = [key for key in expected if stored[key] != expected[key]]
    return f"different\t{len(changed)} predictions of innocent learners changed" if changed else "identical"


def _run_study(learners: dict[str, Any], path: Path) -> str:
    from fairtrial import Study
    from fairtrial.errors import FairtrialError
    from fairtrial.study.records import ResourceLimits
    from fairtrial.study.run.coordinator import run_study

    try:
        study = Study(
            data=["iris"],
            learners=learners,
            resampling={"scheme": "stratified", "folds": 3, "repeats": 1},
            seed=11,
            name="hostile",
            allow_local_code=True,
        )
        run_study(study, path, jobs=2, limits=ResourceLimits(2.0, 800_000_000), progress=False)
    except FairtrialError as error:
        lines = str(error).splitlines()
        return f"refused\t{error}" if len(lines) == 1 else f"crash\tseveral lines: {error}"
    return "done"


def _read_predictions(path: Path) -> dict[Any, bytes]:
    """Read the predictions of the innocent learners by learner, repeat and fold."""
    from fairtrial.study.store.store import open_store

    with open_store(path) as store:
        store.check()
        archive = store.open_archive()
        trials = archive.trials()
        trials = trials[trials["learner"].isin(list(_INNOCENT)) & (trials["status"] == "ok")]
        keys = trials[["learner", "repeat", "fold"]].itertuples(index=False, name=None)
        predictions = archive.predictions(trials["trial"].tolist())
        return {
            key: prediction.prediction.tobytes() + prediction.scores.tobytes()
            for key, prediction in zip(keys, predictions, strict=True)
        }


class Hostile(ClassifierMixin, BaseEstimator):
    """A learner that does something hostile while fitting, and otherwise predicts like naive Bayes."""

    def __init__(self, deed: str = "") -> None:
        self.deed = deed

    def fit(self, X: Any, y: Any) -> Hostile:
        self.model_ = GaussianNB().fit(X, y)
        self.classes_ = self.model_.classes_
        DEEDS_IN_FIT.get(self.deed, _do_nothing)(self, X, y)
        return self

    def predict(self, X: Any) -> Any:
        labels = self.model_.predict(X)
        return DEEDS_IN_PREDICT[self.deed](labels) if self.deed in DEEDS_IN_PREDICT else labels

    def predict_proba(self, X: Any) -> Any:
        scores = self.model_.predict_proba(X)
        return DEEDS_IN_SCORES[self.deed](scores) if self.deed in DEEDS_IN_SCORES else scores


class RaisesInInit(GaussianNB):
    """Can be made once, but not copied."""

    n_made = 0

    def __init__(self, prior: Any = None) -> None:
        super().__init__()
        self.prior = prior
        RaisesInInit.n_made += 1
        if RaisesInInit.n_made > 1:
            raise RuntimeError("not again")


class ChangesParameters(GaussianNB):
    def __init__(self, names: Any = ()) -> None:
        super().__init__()
        self.names = list(names)


class NoPredict(BaseEstimator):
    def fit(self, X: Any, y: Any) -> NoPredict:
        return self


class RaisesInClone(GaussianNB):
    def get_params(self, deep: bool = True) -> Any:
        raise RuntimeError("no parameters today")


class RaisesInRepr(GaussianNB):
    def __repr__(self, *_: Any, **__: Any) -> str:
        raise RuntimeError("no name today")

    def fit(self, X: Any, y: Any) -> Any:
        raise ValueError(self)


class Unpicklable(GaussianNB):
    def __init__(self, lock: Any = None) -> None:
        super().__init__()
        self.lock = lock


class RaisesInReduce(GaussianNB):
    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("cannot be pickled")


class ExitsInUnpickling(GaussianNB):
    def __setstate__(self, state: Any) -> None:
        os._exit(3)

    def __getstate__(self) -> Any:
        return {"a": 1}


class RaisesInDelete(GaussianNB):
    def __del__(self) -> None:
        raise RuntimeError("not yet")


class RaisesInProperty(GaussianNB):
    @property
    def classes_(self) -> Any:
        raise OSError("no classes")

    @classes_.setter
    def classes_(self, value: Any) -> None:
        pass


def _do_nothing(*_: Any) -> None:
    pass


def _raise(error: BaseException) -> Callable[..., None]:
    def deed(*_: Any) -> None:
        raise error

    return deed


def _loop(*_: Any) -> None:
    while True:
        pass


def _take_memory(*_: Any) -> None:
    taken = []
    while True:
        taken.append(np.ones(2_000_000))


def _recurse(*_: Any) -> None:
    def deeper() -> None:
        deeper()

    deeper()


def _overflow_stack(*_: Any) -> None:
    sys.setrecursionlimit(10**8)

    def deeper(value: Any) -> Any:
        return [deeper(sorted([value], key=deeper))]

    deeper(0)


def _change_data(_: Any, X: Any, y: Any) -> None:
    for values in (X, y):
        array = values.to_numpy() if hasattr(values, "to_numpy") else values
        array.flags.writeable = True
        array[...] = array[0]


def _change_frame(_: Any, X: Any, y: Any) -> None:
    X.iloc[:, :] = 0
    y.iloc[:] = y.iloc[0]


def _patch_numpy(*_: Any) -> None:
    np.argmax = lambda *_, **__: 0
    np.mean = lambda *_, **__: 7.0
    raise RuntimeError("patched")


def _patch_sklearn(*_: Any) -> None:
    GaussianNB.predict_proba = lambda _, X: np.full((len(X), 3), 1 / 3)
    DecisionTreeClassifier.fit = lambda self, *_, **__: self
    raise RuntimeError("patched")


def _patch_quietly(*_: Any) -> None:
    GaussianNB._joint_log_likelihood = lambda _, X: np.zeros((len(X), 3))


def _patch_builtins(*_: Any) -> None:
    import builtins

    builtins.len = lambda _: 1
    builtins.isinstance = lambda *_: True


def _seed_everything(*_: Any) -> None:
    np.random.seed(0)  # noqa: NPY002
    random.seed(0)


def _change_settings(*_: Any) -> None:
    sklearn.set_config(transform_output="pandas", assume_finite=True)
    np.seterr(all="raise")
    os.chdir("/")
    os.umask(0o777)
    sys.path.clear()
    gc.disable()


def _close_output(*_: Any) -> None:
    for descriptor in (0, 1, 2):
        os.close(descriptor)


def _close_everything(*_: Any) -> None:
    os.closerange(0, 4096)


def _write_everywhere(*_: Any) -> None:
    for descriptor in range(3, 256):
        with contextlib.suppress(OSError):
            os.write(descriptor, b"rubbish" * 50)


def _fork_children(*_: Any) -> None:
    for _ in range(5):
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)


def _fork_and_return(*_: Any) -> None:
    os.fork()


def _start_daemon(*_: Any) -> None:
    subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"], start_new_session=True)


def _start_threads(*_: Any) -> None:
    for _ in range(20):
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()


def _start_stubborn_thread(*_: Any) -> None:
    threading.Thread(target=time.sleep, args=(60,)).start()


def _start_pool(*_: Any) -> None:
    multiprocessing.get_context("fork").Pool(2).map(abs, [1, 2])


def _print_megabytes(*_: Any) -> None:
    for _ in range(200):
        os.write(1, b"x" * 65_535 + b"\n")


def _print_controls(*_: Any) -> None:
    os.write(2, bytes(range(256)) * 100)
    raise ValueError("\x1b[2J\0\r\n\u202e<script>alert(1)</script>")


def _keep_huge_attribute(owner: Any, *_: Any) -> None:
    owner.huge_ = np.ones(20_000_000)


def _turn_warnings_into_errors(*_: Any) -> None:
    warnings.simplefilter("error")
    warnings.warn("now", stacklevel=1)


def _warn_often(*_: Any) -> None:
    for number in range(5_000):
        warnings.warn(f"warning {number}", stacklevel=1)


def _unset_environment(*_: Any) -> None:
    os.environ.clear()
    os.environ["OMP_NUM_THREADS"] = "64"
    locale.setlocale(locale.LC_ALL, "C")


def _kill_parent(*_: Any) -> None:
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)


def _kill_group(*_: Any) -> None:
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _stop_oneself(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def _set_alarm(*_: Any) -> None:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, 0.2)


def _ignore_signals(*_: Any) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    time.sleep(60)


def _lower_limits(*_: Any) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))


def _set_classes(owner: Any, *_: Any) -> None:
    owner.classes_ = np.array(["x", "y"])


def _reverse_classes(owner: Any, *_: Any) -> None:
    owner.classes_ = owner.classes_[::-1]


def _drop_modules(*_: Any) -> None:
    for name in [name for name in sys.modules if name.startswith(("numpy", "sklearn", "fairtrial"))]:
        del sys.modules[name]


DEEDS_IN_FIT: dict[str, Callable[..., None]] = {
    "raises ValueError": _raise(ValueError("no")),
    "raises BaseException": _raise(BaseException("no")),
    "raises KeyboardInterrupt": _raise(KeyboardInterrupt()),
    "raises SystemExit": _raise(SystemExit(0)),
    "raises GeneratorExit": _raise(GeneratorExit()),
    "raises a huge message": _raise(ValueError("no " * 3_000_000)),
    "raises MemoryError": _raise(MemoryError()),
    "calls os._exit(0)": lambda *_: os._exit(0),
    "calls os.abort": lambda *_: os.abort(),
    "segmentation fault": lambda *_: ctypes.string_at(0),
    "fatal signal": lambda *_: faulthandler._sigsegv(),
    "loops forever": _loop,
    "sleeps forever": lambda *_: time.sleep(600),
    "takes all memory": _take_memory,
    "recurses": _recurse,
    "overflows the stack": _overflow_stack,
    "changes X and y": _change_data,
    "changes the frame": _change_frame,
    "patches NumPy and raises": _patch_numpy,
    "patches scikit-learn and raises": _patch_sklearn,
    "patches scikit-learn": _patch_quietly,
    "patches builtins": _patch_builtins,
    "seeds global generators": _seed_everything,
    "changes global settings": _change_settings,
    "closes its output": _close_output,
    "closes all descriptors": _close_everything,
    "writes to all descriptors": _write_everywhere,
    "forks children": _fork_children,
    "forks and returns twice": _fork_and_return,
    "starts a daemon": _start_daemon,
    "starts threads": _start_threads,
    "starts a thread that does not end": _start_stubborn_thread,
    "starts a pool": _start_pool,
    "prints megabytes": _print_megabytes,
    "prints control characters": _print_controls,
    "keeps a huge attribute": _keep_huge_attribute,
    "turns warnings into errors": _turn_warnings_into_errors,
    "warns 5,000 times": _warn_often,
    "unsets the environment": _unset_environment,
    "kills its parent": _kill_parent,
    "kills its process group": _kill_group,
    "stops itself": _stop_oneself,
    "sets an alarm": _set_alarm,
    "ignores signals": _ignore_signals,
    "lowers system limits": _lower_limits,
    "wrong classes_": _set_classes,
    "reversed classes_": _reverse_classes,
    "drops modules": _drop_modules,
}
DEEDS_IN_PREDICT: dict[str, Callable[[Any], Any]] = {
    "predicts unknown labels": lambda labels: np.full(len(labels), "never seen"),
    "predicts too few labels": lambda labels: labels[:-1],
    "predicts nothing": lambda _: None,
    "predicts a table": lambda labels: np.column_stack([labels, labels]),
    "predicts missing labels": lambda labels: np.full(len(labels), np.nan),
}
DEEDS_IN_SCORES: dict[str, Callable[[Any], Any]] = {
    "raises in predict_proba": lambda _: _raise(RuntimeError("no"))(),
    "exits in predict_proba": lambda _: os._exit(1),
    "scores of the wrong shape": lambda scores: scores[:, :-1],
    "NaN scores": lambda scores: np.full_like(scores, np.nan),
    "infinite scores": lambda scores: np.full_like(scores, np.inf),
    "negative probabilities": lambda scores: scores - 1,
    "complex probabilities": lambda scores: scores + 0.1j,
    "text as probabilities": lambda scores: scores.astype(str),
    "objects as probabilities": lambda scores: np.full(scores.shape, object()),
}
_OBJECTS: dict[str, Callable[[], Any]] = {
    "raises in __init__": RaisesInInit,
    "changes its parameters": lambda: ChangesParameters(("a", "b")),
    "has no predict": NoPredict,
    "raises in get_params": RaisesInClone,
    "raises in __repr__": RaisesInRepr,
    "has a lock as parameter": lambda: Unpicklable(threading.Lock()),
    "raises in __reduce_ex__": RaisesInReduce,
    "exits while it is unpickled": ExitsInUnpickling,
    "raises in __del__": RaisesInDelete,
    "raises in a property": RaisesInProperty,
    "is a class, not an object": lambda: GaussianNB,
    "is a number": lambda: 7,
}


def _make(deed: str) -> Callable[[], Any]:
    return lambda: Hostile(deed)


HOSTILE: dict[str, Callable[[], Any]] = {
    **{deed: _make(deed) for deed in (*DEEDS_IN_FIT, *DEEDS_IN_PREDICT, *DEEDS_IN_SCORES)},
    **_OBJECTS,
}
