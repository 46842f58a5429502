"""Compare the speed of the measures with other packages.

Run by `make bench`; writes benchmarks/RESULTS.md. Nothing else should run on the machine meanwhile.
"""

from __future__ import annotations

import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from datetime import date
from importlib.metadata import version
from pathlib import Path

import numpy as np
from hmeasure import h_score
from MLstatkit import Delong_test
from scipy.stats import bootstrap
from side_by_side import Line, side_by_side, tell
from sklearn.metrics import roc_auc_score

from fairtrial.kernels.compiling import count_threads
from fairtrial.measures import auc, batch, difference, h_measure, interval

SIX = ("auc", "auch", "sauc", "ks", "taks", "h_measure")
HERE = Path(__file__).parent
FIRST = "import time; t = time.perf_counter(); from {} as auc; auc([0, 1, 0, 1], [.1, .4, .3, .8]); "
OURS = FIRST.format("fairtrial.measures import auc")
PEERS = FIRST.format("sklearn.metrics import roc_auc_score")


def columns(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return y, 1 / (1 + np.exp(-rng.normal(size=n) - y))  # hmeasure takes no score above 1


def first_call(command: str, environment: dict[str, str]) -> float:
    """Measure the seconds from the first import to the first result in a new process."""
    run = subprocess.run(
        [sys.executable, "-c", command + "print(time.perf_counter() - t)"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(run.stdout)


def fresh_process() -> list[Line]:
    warm = dict(os.environ)
    first_call(OURS, warm)
    first_call(PEERS, warm)
    pairs = [(first_call(OURS, warm), first_call(PEERS, warm)) for _ in range(7)]
    ours, theirs = (1e3 * statistics.median(side) for side in zip(*pairs, strict=True))
    ratio = statistics.median(peer / mine for mine, peer in pairs)
    lines = [Line("first AUC in a new process, including imports, warm cache", "scikit-learn", ours, theirs, ratio, 1)]
    cache = tempfile.mkdtemp()
    cold = 1e3 * first_call(OURS, {**warm, "NUMBA_CACHE_DIR": cache})
    shutil.rmtree(cache)
    lines.append(Line("first AUC in a new process, cold cache", "limit of 15 s", cold, 15_000, 15_000 / cold, 1))
    for line in lines:
        tell(line)
    return lines


def measured() -> list[Line]:
    y, s = columns(1_000_000)
    noisier = s + 0.1 * np.random.default_rng(1).normal(size=len(s))
    y10, s10 = columns(10_000)
    y_small, _ = columns(100)
    many = np.random.default_rng(2).normal(size=(10_000, 100)) + y_small
    lines = [
        side_by_side("AUC, n = 1M", lambda: auc(y, s), "scikit-learn", lambda: roc_auc_score(y, s), 12, 15),
        side_by_side(
            "six ranking measures, n = 1M",
            lambda: batch(y, s[None], SIX),
            "scikit-learn, AUC only",
            lambda: roc_auc_score(y, s),
            4,
            15,
        ),
        side_by_side(
            "six ranking measures for each of 10,000 models, n = 100, per model",
            lambda: batch(y_small, many, SIX),
            "one roc_auc_score",
            lambda: roc_auc_score(y_small, many[0]),
            200,
            31,
            share=10_000,
        ),
        side_by_side("H-measure, n = 10k", lambda: h_measure(y10, s10), "hmeasure", lambda: h_score(y10, s10), 10, 31),
        side_by_side("H-measure, n = 1M", lambda: h_measure(y, s), "hmeasure", lambda: h_score(y, s), 10, 9),
        side_by_side(
            "DeLong, difference of two AUCs, n = 1M",
            lambda: difference("auc", y, s, noisier, method="delong"),
            "MLstatkit",
            lambda: Delong_test(y, s, noisier),
            20,
            7,
        ),
        side_by_side(
            "bootstrap interval of the AUC, n = 10k, 1,000 resamples, percentile",
            lambda: interval("auc", y10, s10, method="percentile", resamples=1000),
            "scipy.stats.bootstrap",
            lambda: bootstrap((y10, s10), roc_auc_score, paired=True, vectorized=False, n_resamples=1000, method="percentile"),
            100,
            4,
        ),
    ]
    return lines + fresh_process()


def report(lines: list[Line]) -> str:
    packages = ("fairtrial", "numpy", "numba", "scikit-learn", "scipy", "hmeasure", "MLstatkit")
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    rows = "\n".join(
        f"| {line.what} | {line.ours_ms:.4g} | {line.peer} | {line.peer_ms:.4g} | {line.ratio:.1f} | "
        f"{line.target:g} | {'yes' if line.met else '**no**'} |"
        for line in lines
    )
    return (
        "# Speed of the measures\n\n"
        "Written by `make bench`. fairtrial and the peer run alternately in one process after an untimed round. "
        "Times and ratios are medians.\n\n"
        f"{date.today()}, {platform.machine()}, {count_threads()} threads, Python {platform.python_version()}, {versions}.\n\n"
        "| task | fairtrial, ms | peer | peer, ms | speed-up | target | met |\n|---|---|---|---|---|---|---|\n"
        f"{rows}\n"
    )


if __name__ == "__main__":
    text = report(measured())
    (HERE / "RESULTS.md").write_text(text)
    print(f"written: {HERE.name}/RESULTS.md")
