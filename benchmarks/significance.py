"""Compare the speed of the tests with other packages.

Run by `make bench`; writes benchmarks/SIGNIFICANCE.md. Nothing else should run on the machine meanwhile. `--quick` takes one
round of each and prints only.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import platform
import statistics
import warnings
from datetime import date
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from autorank import autorank
from baycomp import SignedRankTest
from side_by_side import Line, seconds, side_by_side, tell

from fairtrial.kernels.compiling import count_threads
from fairtrial.significance import bayes_signed_rank, posthoc
from fairtrial.significance.compare import compare

HERE = Path(__file__).parent
# Seconds of scmamp (R) for nine learners, where it stops: measured on two cores, not here.
SCMAMP = 28.8
SIZES = range(9, 17)
SAMPLES = 50_000


def scores(learners: int, datasets: int, seed: int, skewed: bool = False) -> pd.DataFrame:
    """Draw scores of gradually better learners: some pairs differ clearly, most do not."""
    rng = np.random.default_rng(seed)
    shape = (datasets, learners)
    noise = 1 - rng.exponential(size=shape) if skewed else rng.normal(size=shape)
    table = 0.8 + 0.02 * np.linspace(0, 1, learners) + 0.02 * noise
    return pd.DataFrame(table, columns=[f"learner {i + 1}" for i in range(learners)])


def bergmann_hommel(rounds: int) -> dict[int, float]:
    """Measure a Bergmann-Hommel comparison in milliseconds: the slowest table for each number of learners."""
    found = {}
    for k in SIZES:
        tables = [scores(k, 30, seed) for seed in range(5)]
        posthoc(tables[0], "bergmann")
        times = [statistics.median(seconds(lambda: posthoc(table, "bergmann")) for _ in range(rounds)) for table in tables]  # noqa: B023
        found[k] = 1e3 * max(times)
        print(f"Bergmann-Hommel, {k} learners: {found[k]:.4g} ms", flush=True)
    return found


def quiet_autorank(table: pd.DataFrame) -> object:
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return autorank(table, alpha=0.05, verbose=False)


def measured(growth: dict[int, float], rounds: int) -> list[Line]:
    nine, twelve = growth[9], growth[12]
    published = [
        Line("Bergmann-Hommel, 9 learners, 30 data sets", "scmamp, published", nine, 1e3 * SCMAMP, 1e3 * SCMAMP / nine, 1),
        Line("Bergmann-Hommel, 12 learners, 30 data sets", "limit of 2 s", twelve, 2000, 2000 / twelve, 1),
    ]
    a, b = scores(2, 50, 0).to_numpy().T
    return [
        *(tell(line) for line in published),
        side_by_side(
            f"Bayesian signed rank, 50 data sets, {SAMPLES:,} samples, rope 0.01",
            lambda: bayes_signed_rank(a, b, rope=0.01, samples=SAMPLES),
            "baycomp",
            lambda: SignedRankTest.probs(a, b, rope=0.01, nsamples=SAMPLES),
            50,
            rounds,
        ),
        *(
            side_by_side(
                f"compare: 10 learners, 50 data sets, {name} scores, all pairs, summary",
                lambda table=table: compare(table, rows="datasets").summary,  # type: ignore[misc]
                f"autorank ({way})",
                lambda table=table: quiet_autorank(table),  # type: ignore[misc]
                10,
                2 * rounds,
            )
            for name, way, table in (
                ("normal", "analysis of variance, Tukey", scores(10, 50, 0)),
                ("skewed", "Friedman, Nemenyi", scores(10, 50, 0, skewed=True)),
            )
        ),
    ]


def report(lines: list[Line], growth: dict[int, float]) -> str:
    packages = ("fairtrial", "numpy", "numba", "scipy", "autorank", "baycomp")
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    rows = "\n".join(
        f"| {line.what} | {line.ours_ms:.4g} | {line.peer} | {line.peer_ms:.4g} | {line.ratio:.1f} | "
        f"{line.target:g} | {'yes' if line.met else '**no**'} |"
        for line in lines
    )
    steps = "\n".join(f"| {k} | {ms:.4g} |" for k, ms in growth.items())
    return (
        "# Speed of the tests\n\n"
        "Written by `make bench`. fairtrial and the peer run alternately in one process after an untimed round. "
        "Times and ratios are medians. The time of scmamp was measured on another computer with two cores; it supports up to "
        "nine learners.\n\n"
        f"{date.today()}, {platform.machine()}, {count_threads()} threads, Python {platform.python_version()}, {versions}.\n\n"
        "| task | fairtrial, ms | peer | peer, ms | speed-up | target | met |\n|---|---|---|---|---|---|---|\n"
        f"{rows}\n\n"
        "On skewed scores autorank does less: no exact post-hoc procedure, no text. The time of `compare` is spent on reading, "
        "Bergmann-Hommel and text.\n\n"
        "Exact Bergmann-Hommel procedure, whole comparison, slowest of five tables of 30 data sets:\n\n"
        "| learners | ms |\n|---|---|\n"
        f"{steps}\n"
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true")
    quick = options.parse_args().quick
    growth = bergmann_hommel(1 if quick else 5)
    text = report(measured(growth, 1 if quick else 9), growth)
    if quick:
        print(text)
        return
    (HERE / "SIGNIFICANCE.md").write_text(text)
    print(f"written: {HERE.name}/SIGNIFICANCE.md")


if __name__ == "__main__":
    main()
