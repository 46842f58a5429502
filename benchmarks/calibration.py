"""Simulated error rates and coverage of every test and interval, on data whose truth is known.

Run by `make calibration`; writes docs/calibration.md. `--runs 200 --only delong` tries a part quickly and prints it.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import platform
import re
import time
import warnings
import zlib
from collections import Counter
from dataclasses import dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from experiments import EXPERIMENTS, Experiment
from experiments.reasons import reason
from experiments.registry import GROUPS

PAGE = Path(__file__).parents[1] / "docs" / "calibration.md"
PARTS = 20
BAND = 3
# Beyond three standard errors on either side.
CHANCE = 0.0027
LIBERAL = "TOO LIBERAL"


@dataclass(frozen=True)
class Line:
    what: str
    experiment: Experiment
    runs: int
    hits: int

    @property
    def rate(self) -> float:
        return self.hits / self.runs if self.runs else float("nan")

    @property
    def error(self) -> float:
        return math.sqrt(self.rate * (1 - self.rate) / self.runs) if self.runs else float("nan")

    @property
    def verdict(self) -> str:
        if not self.runs:
            return "not installed"
        nominal = self.experiment.nominal
        away = (self.rate - nominal) / math.sqrt(nominal * (1 - nominal) / self.runs)
        if abs(away) <= BAND:
            return "nominal"
        return "conservative" if (away > 0) == self.experiment.coverage else LIBERAL

    def row(self) -> str:
        rate, error = (f"{100 * each:.2f}" if self.runs else "" for each in (self.rate, self.error))
        nominal, verdict = f"{100 * self.experiment.nominal:.4g}", self.verdict
        told = f"**{verdict}**" if verdict == LIBERAL else verdict
        return f"| {self.what} | {self.experiment.setting} | {self.runs:,} | {nominal} | {rate} | {error} | {told} |"


def part(task: tuple[int, int, int]) -> tuple[int, Counter[str], Counter[str], list[str]]:
    """One part of the runs of one experiment: how often each line applied, and how often it hit."""
    number, index, runs = task
    chosen = EXPERIMENTS[number]
    rng = np.random.default_rng([zlib.crc32(f"{chosen.group}/{chosen.setting}/{chosen.draw.__name__}".encode()), index])
    counted, hits, names = Counter[str](), Counter[str](), dict[str, None]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(runs):
            for name, hit in chosen.draw(rng).items():
                names[name] = None
                counted[name] += hit is not None
                hits[name] += bool(hit)
    return number, counted, hits, list(names)


def simulate(chosen: list[int], runs: int) -> list[Line]:
    """All lines of the chosen experiments, by two processes; the result does not depend on which takes what."""
    tasks = []
    for number in chosen:
        own = max(PARTS, round(runs * EXPERIMENTS[number].share))
        tasks += [(number, index, len(each)) for index, each in enumerate(np.array_split(np.arange(own), PARTS))]
    counted: dict[int, Counter[str]] = {number: Counter() for number in chosen}
    hits: dict[int, Counter[str]] = {number: Counter() for number in chosen}
    names: dict[int, list[str]] = {}
    os.environ["FAIRTRIAL_THREADS"] = "1"
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for done, (number, more, hit, order) in enumerate(pool.imap_unordered(part, tasks), 1):
            counted[number].update(more)
            hits[number].update(hit)
            names.setdefault(number, order)
            if done % (10 * PARTS) == 0:
                print(f"{done // PARTS} of {len(chosen)} experiments", flush=True)
    return [
        Line(name, EXPERIMENTS[number], counted[number][name], hits[number][name])
        for number in chosen
        for name in names[number]
    ]


def tables(lines: list[Line]) -> str:
    head = "| what | setting | runs | nominal, % | rate, % | standard error | verdict |\n|---|---|---|---|---|---|---|\n"
    groups = [group for group in GROUPS if any(line.experiment.group == group for line in lines)]
    return "\n".join(
        f"## {group}\n\n{head}" + "\n".join(line.row() for line in lines if line.experiment.group == group) + "\n"
        for group in groups
    )


def closing(lines: list[Line]) -> str:
    """Every line outside its band, with the reason that is known for it."""
    outside = [line for line in lines if line.verdict in (LIBERAL, "conservative")]
    inside = sum(line.verdict == "nominal" for line in lines)
    told = [
        f"{inside} of {len(lines)} lines lie within their bands. If all were exactly nominal, about {CHANCE * len(lines):.1f} "
        "would lie outside by chance."
    ]
    for verdict, opening in ((LIBERAL, "Too liberal"), ("conservative", "Conservative")):
        by_reason: dict[str, list[str]] = {}
        for line in (each for each in outside if each.verdict == verdict):
            why = reason(line.what, line.experiment.setting, verdict == LIBERAL)
            by_reason.setdefault(why, []).append(f"{line.what} [{line.experiment.setting}] ({100 * line.rate:.2f} %)")
        told += [f"**{opening}:** {'; '.join(names)}: {why}." for why, names in by_reason.items()]
    return "\n\n".join(told)


def page(lines: list[Line], runs: int, seconds: float) -> str:
    packages = ", ".join(f"{name} {_version(name)}" for name in ("fairtrial", "numpy", "scipy", "autorank", "scikit-posthocs"))
    return (
        "# Calibration\n\n"
        "Do the tests of fairtrial err as seldom as they say, and do its intervals hold the truth as often as they say? Each "
        "line simulates data whose truth is known and counts: for tests, how often p is at most 0.05 although nothing differs; "
        "for families of tests, how often any two learners of equal merit are told apart; for intervals, how often the 95 % "
        "interval holds the truth.\n\n"
        f"A line is *nominal* within {BAND} standard errors of what is promised, *conservative* on the safe side of that band "
        f"(it errs less often than it may, at the price of power or width) and *{LIBERAL}* on the other. Lines of one setting "
        "share their data. A test or interval without a name of another package is fairtrial's. Every line outside its band is "
        "named, with its reason, under [Outside the band](#outside-the-band).\n\n"
        f"Written by `make calibration`, {date.today()}: {runs:,} runs (fewer where one run is slow, as shown), fixed seeds, "
        f"two processes, {seconds / 60:.1f} minutes. Python {platform.python_version()}, {packages}.\n\n"
        f"{tables(lines)}\n## Outside the band\n\n{closing(lines)}\n"
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=10_000)
    options.add_argument("--only", default="", help="regular expression: experiments whose group, setting or function it finds")
    given = options.parse_args()
    chosen = [
        number
        for number, each in enumerate(EXPERIMENTS)
        if re.search(given.only, f"{each.group} {each.setting} {each.draw.__name__}", re.IGNORECASE)
    ]
    start = time.perf_counter()
    lines = simulate(chosen, given.runs)
    if given.only:
        print(tables(lines), closing(lines), sep="\n")
        return
    PAGE.write_text(page(lines, given.runs, time.perf_counter() - start))
    print(f"written: docs/{PAGE.name}; {', '.join(line.what for line in lines if line.verdict == LIBERAL)}: {LIBERAL}")


if __name__ == "__main__":
    main()
