"""Simulate the type I error of every test and the coverage of every interval.

`make calibration` runs this script, which writes docs/calibration.md. `--runs 200 --only delong` runs and prints a part.
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
from experiments.registry import GROUPS, SEED_TEXTS

PAGE = Path(__file__).parents[1] / "docs" / "calibration.md"
PARTS = 20
BAND = 3
# Probability of a rate beyond three standard errors.
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
        rate, error = (f"{100 * value:.2f}" if self.runs else "" for value in (self.rate, self.error))
        nominal, verdict = f"{100 * self.experiment.nominal:.4g}", self.verdict
        marked = f"**{verdict}**" if verdict == LIBERAL else verdict
        return f"| {self.what} | {self.experiment.setting} | {self.runs:,} | {nominal} | {rate} | {error} | {marked} |"


def compute_seed(chosen: Experiment) -> int:
    """Compute the seed of an experiment from its name."""
    text = f"{chosen.group}/{chosen.setting}/{chosen.draw.__name__}"
    for current, earlier in SEED_TEXTS:
        text = text.replace(current, earlier)
    return zlib.crc32(text.encode())


def part(task: tuple[int, int, int]) -> tuple[int, Counter[str], Counter[str], list[str]]:
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


def simulate(chosen: list[int], runs: int) -> list[Line]:
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
    head = (
        "| procedure | setting | runs | nominal, % | rate, % | standard error, % | verdict |\n|---|---|---|---|---|---|---|\n"
    )
    groups = [group for group in GROUPS if any(line.experiment.group == group for line in lines)]
    return "\n".join(
        f"## {group}\n\n{head}" + "\n".join(line.row() for line in lines if line.experiment.group == group) + "\n"
        for group in groups
    )


def closing(lines: list[Line]) -> str:
    """List every rate outside its band with the reason."""
    outside = [line for line in lines if line.verdict in (LIBERAL, "conservative")]
    inside = sum(line.verdict == "nominal" for line in lines)
    paragraphs = [
        f"{inside} of {len(lines)} rates lie within their bands. If all were exactly nominal, about {CHANCE * len(lines):.1f} "
        "would lie outside by chance."
    ]
    for verdict, heading in ((LIBERAL, "Too liberal"), ("conservative", "Conservative")):
        by_reason: dict[str, list[str]] = {}
        for line in (line for line in outside if line.verdict == verdict):
            why = reason(line.what, line.experiment.setting, verdict == LIBERAL)
            by_reason.setdefault(why, []).append(f"{line.what} [{line.experiment.setting}] ({100 * line.rate:.2f} %)")
        paragraphs.append(f"### {heading}")
        paragraphs += [f"**{why}.** Rates: {'; '.join(names)}." for why, names in by_reason.items()]
    return "\n\n".join(paragraphs)


def page(lines: list[Line], runs: int, seconds: float) -> str:
    names = ("fairtrial", "numpy", "scipy", "autorank", "scikit-posthocs", "statsmodels")
    packages = ", ".join(f"{name} {_version(name)}" for name in names)
    return (
        "# Calibration\n\n"
        "This page reports how often the tests of fairtrial reject a true hypothesis, and how often its confidence intervals "
        "contain the true value. Use it to judge whether you can rely on a procedure at your sample size. Each row simulates "
        "data with known properties:\n\n"
        "| procedure | rate |\n|---|---|\n"
        "| test | type I error: p is at most 0.05 although nothing differs |\n"
        "| family of tests | family-wise error: any two equal learners differ significantly |\n"
        "| interval | coverage: the 95 % interval contains the true value |\n\n"
        "| verdict | meaning |\n|---|---|\n"
        f"| nominal | within {BAND} standard errors of the nominal rate |\n"
        "| conservative | outside on the safe side: fewer errors than nominal, with less power or wider intervals |\n"
        f"| {LIBERAL} | outside on the other side: more errors than nominal |\n\n"
        "Rows with the same setting use the same data. Procedures without the name of another package are those of fairtrial. "
        "[Outside the band](#outside-the-band) gives the reason for every rate outside its band.\n\n"
        f"Written by `make calibration`, {date.today()}: {runs:,} runs (fewer if a run is slow, as shown), fixed seeds, "
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
    options.add_argument("--only", default="", help="regular expression that selects experiments by group, setting or function")
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
