"""Simulate the type I error of every test and the coverage of every interval.

`make calibration` runs this script, which writes docs/data/calibration.csv and docs/calibration.md. Pass
`--runs 200 --only delong` to run and print a part.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import re
import time
import warnings
import zlib
from collections import Counter
from datetime import date
from importlib.metadata import PackageNotFoundError, version

import numpy as np
from calibration_page import PAGE, RATES, Rate, write_page, write_rates
from experiments import EXPERIMENTS, Experiment
from experiments.registry import SEED_TEXTS

PARTS = 20


def compute_seed(chosen: Experiment) -> int:
    """Compute the seed of an experiment from its name."""
    text = f"{chosen.group}/{chosen.setting}/{chosen.draw.__name__}"
    for current, earlier in SEED_TEXTS:
        text = text.replace(current, earlier)
    return zlib.crc32(text.encode())


def run_part(task: tuple[int, int, int]) -> tuple[int, Counter[str], Counter[str], list[str]]:
    """Run a part of one experiment; count for each procedure how often it applied, and how often it rejected or covered."""
    number, index, runs = task
    chosen = EXPERIMENTS[number]
    rng = np.random.default_rng([compute_seed(chosen), index])
    counted, hits, names = Counter[str](), Counter[str](), dict[str, None]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(runs):
            for name, hit in chosen.draw(rng).items():
                names[name] = None
                counted[name] += hit is not None
                hits[name] += bool(hit)
    return number, counted, hits, list(names)


def simulate(chosen: list[int], runs: int) -> list[Rate]:
    """Simulate the chosen experiments in two processes. The result does not depend on the order of the tasks."""
    tasks = []
    for number in chosen:
        own = max(PARTS, round(runs * EXPERIMENTS[number].share))
        tasks += [(number, index, len(each)) for index, each in enumerate(np.array_split(np.arange(own), PARTS))]
    counted: dict[int, Counter[str]] = {number: Counter() for number in chosen}
    hits: dict[int, Counter[str]] = {number: Counter() for number in chosen}
    names: dict[int, list[str]] = {}
    os.environ["FAIRTRIAL_THREADS"] = "1"
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for done, (number, more, hit, order) in enumerate(pool.imap_unordered(run_part, tasks), 1):
            counted[number].update(more)
            hits[number].update(hit)
            names.setdefault(number, order)
            if done % (10 * PARTS) == 0:
                print(f"{done // PARTS} of {len(chosen)} experiments", flush=True)
    rates = []
    for number in chosen:
        group, setting, nominal = EXPERIMENTS[number].group, EXPERIMENTS[number].setting, EXPERIMENTS[number].nominal
        rates += [Rate(group, name, setting, counted[number][name], hits[number][name], nominal) for name in names[number]]
    return rates


def describe_run(runs: int, seconds: float) -> str:
    """Describe how the rates were simulated: date, runs, time and versions."""
    names = ("fairtrial", "numpy", "scipy", "autorank", "scikit-posthocs", "statsmodels")
    packages = ", ".join(f"{name} {_version(name)}" for name in names)
    return (
        f"Simulated by `make calibration` on {date.today()}: {runs:,} runs (fewer if a run is slow), fixed seeds, two "
        f"processes, {seconds / 60:.1f} minutes. Python {platform.python_version()}, {packages}."
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=10_000)
    options.add_argument("--only", default="", help="regular expression that selects experiments by group, setting or function")
    given = options.parse_args()
    chosen = [
        number
        for number, each in enumerate(EXPERIMENTS)
        if re.search(given.only, f"{each.group} {each.setting} {each.draw.__name__}", re.IGNORECASE)
    ]
    start = time.perf_counter()
    rates = simulate(chosen, given.runs)
    if given.only:
        for rate in rates:
            print(f"{100 * rate.value:.2f} %, {rate.verdict}: {rate.procedure} [{rate.setting}], {rate.runs:,} runs")
        return
    write_rates(describe_run(given.runs, time.perf_counter() - start), rates)
    write_page()
    print(f"written: docs/{PAGE.name} and docs/data/{RATES.name}")


if __name__ == "__main__":
    main()
