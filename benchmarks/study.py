"""Measure the speed of the study engine and compare it with scikit-learn.

`python benchmarks/study.py` writes benchmarks/STUDY.md. Run nothing else on the computer meanwhile. `--quick` only prints.
"""

from __future__ import annotations

import argparse
import itertools
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from side_by_side import seconds
from sklearn.datasets import make_classification
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB

HERE = Path(__file__).parent
LEVEL = 0.1


class NoisyNB(GaussianNB):
    """Naive Bayes trained on labels of which 10 % are changed, to give scikit-learn the same noise."""

    def fit(self, X: Any, y: Any) -> Any:
        rng = np.random.default_rng(0)
        wrong = rng.permutation(len(y))[: round(LEVEL * len(y))]
        noisy = y.copy()
        noisy[wrong] = np.where(y[wrong] == "a", "b", "a")
        return super().fit(X, noisy)


def tables(count: int = 10) -> list[tuple[np.ndarray, np.ndarray]]:
    """Two classes, 300 to 1,200 rows, 10 to 30 columns."""
    found = []
    for seed in range(count):
        X, y = make_classification(300 + 100 * seed, 10 + 2 * seed, n_informative=6, random_state=seed)
        found.append((X, np.array(["a", "b"])[y]))
    return found


def study(repeats: int = 10, **changes: Any) -> Any:
    """GaussianNB, clean and with noise, 10 folds."""
    from fairtrial import Study
    from fairtrial.data import Dataset

    data = {f"set {number}": Dataset.from_table(X, y, name=f"set {number}") for number, (X, y) in enumerate(tables())}
    plan = {
        "data": data,
        "learners": ["gaussian-nb"],
        "conditions": {"class-noise": [0, LEVEL]},
        "resampling": {"scheme": "stratified", "folds": 10, "repeats": repeats},
        "seed": 1,
    }
    return Study(**{**plan, **changes})


def splits_of(plan: Any) -> list[list[tuple[np.ndarray, np.ndarray]]]:
    return [[(rows.train, rows.test) for rows in data.splits] for data in plan.data]


def peer(splits: list[Any], jobs: int = 2) -> None:
    """Run the same fits in scikit-learn, which stores one number per fit instead of every prediction."""
    for (X, y), cv in zip(tables(), splits, strict=True):
        for learner in (GaussianNB(), NoisyNB()):
            cross_validate(learner, X, y, cv=cv, n_jobs=jobs)


def ours(folder: Path, number: int, jobs: int = 2) -> Any:
    from fairtrial.study.run.coordinator import run_study

    return run_study(study(), folder / f"run-{number}.fairtrial", jobs=jobs, progress=False)


def against_cross_validate(folder: Path, rounds: int) -> list[tuple[str, str, str, bool]]:
    splits = splits_of(study().plan())
    cold = [cold_start(which, folder) for which in ("ours", "peer")]
    peer(splits), ours(folder, 0)
    pairs = [(seconds(lambda n=n: ours(folder, n)), seconds(lambda: peer(splits))) for n in range(1, rounds + 1)]
    mine, theirs = (statistics.median(each) for each in zip(*pairs, strict=True))
    ratio = statistics.median(two / one for one, two in pairs)
    told = f"{mine:.2f} s, cross_validate(n_jobs=2) {theirs:.2f} s, {ratio:.2f} times as fast"
    cold_told = f"{cold[0]:.2f} s, cross_validate {cold[1]:.2f} s, {cold[1] / cold[0]:.2f} times as fast"
    return [
        ("2,000 GaussianNB trials, warm workers", told, "no slower", ratio >= 1),
        ("the same in a new process, including imports and start of workers", cold_told, "no slower", cold[0] <= cold[1]),
    ]


def cold_start(which: str, folder: Path) -> float:
    """Measure the seconds of a new process, including the creation of the tables."""
    command = [sys.executable, __file__, "--cold", which, str(folder / f"cold-{which}.fairtrial")]
    return min(seconds(lambda: subprocess.run([*command[:-1], f"{command[-1]}{n}"], check=True)) for n in range(3))  # noqa: B023


def bare(splits: list[Any], share: int, shares: int) -> None:
    """Run clone, fit, predict and predict_proba in a plain loop over a subset of the trials."""
    from sklearn.base import clone

    from fairtrial.conditions import ClassNoise

    trials = [
        (X, y, *rows, noisy) for (X, y), cv in zip(tables(), splits, strict=True) for noisy in (False, True) for rows in cv
    ]
    for X, y, train, test, noisy in trials[share::shares]:
        labels = ClassNoise(LEVEL).apply(X[train], y[train], 0).y if noisy else y[train]
        learner = clone(GaussianNB()).fit(X[train], labels)
        learner.predict(X[test]), learner.predict_proba(X[test])


def bare_in_two(splits: list[Any]) -> None:
    """Run the plain loop in two processes that have the data already and return nothing."""
    children = []
    for share in (0, 1):
        child = os.fork()
        if child == 0:
            bare(splits, share, 2)
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


def overhead(folder: Path) -> list[tuple[str, str, str, bool]]:
    """Measure the overhead of a trial compared with the plain loop, both in two processes.

    The overhead is that of 4,000 additional trials, so planning and the start of the workers cancel out. The overhead of 2,000
    trials including both is reported as well.
    """
    numbers = itertools.count(100)

    def wall(repeats: int) -> float:
        stores = (folder / f"run-{next(numbers)}.fairtrial" for _ in itertools.repeat(None))
        return min(seconds(lambda: run_study(study(repeats), next(stores), jobs=2, progress=False)) for _ in range(3))

    from fairtrial.study.run.coordinator import run_study

    splits = splits_of(study().plan())
    bare(splits, 0, 10)
    plain = min(seconds(lambda: bare_in_two(splits)) for _ in range(5)) / 2000
    short, long = wall(10), wall(30)
    each, whole = (2e3 * (took - plain) for took in ((long - short) / 4000, short / 2000))
    told = f"{each:.2f} ms; {whole:.2f} ms including planning and start (plain loop: {2e3 * plain:.2f} ms)"
    return [("overhead of a trial with 2 workers compared with a plain loop in 2 processes", told, "below 0.5 ms", each < 0.5)]


def planning() -> list[tuple[str, str, str, bool]]:
    """Plan in a separate process to measure its memory."""
    told = subprocess.run([sys.executable, __file__, "--plan"], check=True, capture_output=True, text=True).stdout.split()
    took, peak = float(told[0]), float(told[1])
    return [("plan 1,000,000 trials, including keys", f"{took:.1f} s, {peak:.0f} MB", "20 s, 2 GB", took < 20 and peak < 2000)]


def plan_a_million() -> None:
    from fairtrial import Study
    from fairtrial.data import Dataset

    rng = np.random.default_rng(0)
    data = {f"set {n}": Dataset.from_table(rng.normal(size=(500, 5)), np.arange(500) % 2, name=f"set {n}") for n in range(100)}
    learners = {f"tree {n}": {"learner": "decision-tree", "parameters": {"max_depth": n + 1}} for n in range(10)}
    levels = [0, *(round(0.02 * n, 2) for n in range(1, 10))]
    declared = Study(data, learners, {"class-noise": levels}, {"scheme": "stratified", "folds": 10, "repeats": 10})
    start = time.perf_counter()
    plan = declared.plan()
    keys = sum(plan.get_keys(number).size for number in range(len(plan.data)))
    missing = sum(len(block.learners) for block in plan.iter_missing(set()))
    took = time.perf_counter() - start
    assert keys == missing == plan.n_trials == 1_000_000
    print(took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def hundred_thousand(folder: Path) -> list[tuple[str, str, str, bool]]:
    """Open and score a store of 100,000 trials with simulated predictions."""
    from fairtrial.study.results.results import open_results

    path = folder / "many.fairtrial"
    fill(path)
    subprocess.run([sys.executable, "-c", "from fairtrial.study.results.results import open_results"], check=True)

    def score() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frame = open_results(path).scores(["accuracy", "auc"])
        assert len(frame) == 200_000

    took = min(seconds(score) for _ in range(3))
    return [("open and score (accuracy, AUC) 100,000 trials of 30 rows", f"{took:.1f} s", "10 s", took < 10)]


def fill(path: Path) -> None:
    """50 data sets x 10 conditions x 10 learners x 20 splits."""
    from fairtrial import Study
    from fairtrial.data import Dataset

    rng = np.random.default_rng(0)
    data = {f"set {n}": Dataset.from_table(rng.normal(size=(120, 2)), np.arange(120) % 2, name=f"set {n}") for n in range(50)}
    learners = {f"tree {n}": {"learner": "decision-tree", "parameters": {"max_depth": n + 1}} for n in range(10)}
    levels = [0, *(round(0.02 * n, 2) for n in range(1, 10))]
    add_simulated_trials(
        path, Study(data, learners, {"class-noise": levels}, {"scheme": "stratified", "folds": 4, "repeats": 5}).plan()
    )


def add_simulated_trials(path: Path, plan: Any) -> None:
    """Store random predictions for all trials of a plan."""
    from fairtrial.study.records import CODES, NUMBERS, TrialRecord, pack
    from fairtrial.study.run.coordinator import add_plan, build_link
    from fairtrial.study.store.store import open_store

    rng = np.random.default_rng(0)
    with open_store(path, write=True, create=True) as store:
        add_plan(store, plan)
        for place, planned in enumerate(plan.data):
            keys = plan.get_keys(place)
            batch = []
            for split, condition, learner in np.ndindex(keys.shape):
                scores = rng.dirichlet(np.ones(len(planned.dataset.classes)), len(planned.splits[split].test))
                evidence = TrialRecord(
                    keys[split, condition, learner].tobytes(),
                    "ok",
                    pack(scores.argmax(axis=1), CODES),
                    pack(scores, NUMBERS),
                    "probability",
                    fit_time=0.001,
                    predict_time=0.001,
                )
                batch.append((evidence, build_link(plan, Placed(place, split, condition, learner))))
            store.add_records(batch)


def large_study(folder: Path) -> list[tuple[str, str, str, bool]]:
    """Time the commands on a finished study of 10 data sets x 20 learners x 1,000 splits, each in a new process."""
    from fairtrial import Study

    learners = "\n".join(
        f'tree{n} = {{ learner = "decision-tree", parameters = {{ max_depth = {n + 1} }} }}' for n in range(20)
    )
    sets = ["iris", "wine", "breast_cancer", "appendicitis", "bupa", "balance", "glass", "ecoli", "glass0", "heart"]
    file, path = folder / "large.toml", folder / "large.fairtrial"
    file.write_text(f"[data]\nsets = {sets!r}\n[resampling]\nfolds = 10\nrepeats = 100\n[learners]\n{learners}\n")
    with warnings.catch_warnings(action="ignore"):
        add_simulated_trials(path, Study.read(file).plan())
    call("run", str(file), "--store", str(path))  # stores the scores, as the end of a run does
    commands = {
        "status": (["status", str(path)], 2.0),
        "run (nothing to do)": (["run", str(file), "--store", str(path)], 2.0),
        "results": (["results", str(path)], 6.0),
        "measures": (["measures"], 0.8),
        "--help": (["--help"], 0.3),
    }
    lines = []
    for name, (words, target) in commands.items():
        took, memory = min(call(*words) for _ in range(3))
        task = f"`fairtrial {name}`" + (", 200,000 trials" if target > 1 else "")
        lines.append((task, f"{took:.2f} s, {memory:.0f} MB", f"{target:g} s", took <= target))
    return lines


def large_page(folder: Path) -> list[tuple[str, str, str, bool]]:
    """Time the page of a finished study of 20 data sets x 100 learners x 100 splits."""
    from fairtrial import Study

    learners = "\n".join(
        f'tree{n} = {{ learner = "decision-tree", parameters = {{ max_depth = {n + 1} }} }}' for n in range(100)
    )
    sets = ["iris", "wine", "breast_cancer", "appendicitis", "bupa", "balance", "glass", "ecoli", "glass0", "glass1"]
    sets += ["heart", "haberman", "newthyroid", "ecoli1", "ecoli2", "ecoli3", "glass6", "yeast1", "yeast3", "wisconsin"]
    file, path = folder / "page.toml", folder / "page.fairtrial"
    file.write_text(f"[data]\nsets = {sets!r}\n[resampling]\nfolds = 10\nrepeats = 10\n[learners]\n{learners}\n")
    with warnings.catch_warnings(action="ignore"):
        add_simulated_trials(path, Study.read(file).plan())
    call("run", str(file), "--store", str(path))  # stores the scores, as the end of a run does
    took, memory = call("report", str(path), "--out", str(folder / "page.html"))
    size = (folder / "page.html").stat().st_size / 1e6
    task = "`fairtrial report`, 200,000 trials of 100 learners"
    lines = [(task, f"{took:.0f} s, {memory:.0f} MB, page {size:.1f} MB", "30 s, 600 MB", took <= 30 and memory <= 600)]
    return lines + time_in_browser("page of 200,000 trials", folder / "page.html")


def demo_page(folder: Path) -> list[tuple[str, str, str, bool]]:
    """Measure the page of the demo."""
    path, page = folder / "demo.fairtrial", folder / "demo.html"
    call("run", str(HERE.parent / "studies" / "quickstart.toml"), "--store", str(path))
    took, memory = call("report", str(path), "--out", str(page))
    size = page.stat().st_size / 1e6
    lines = [("`fairtrial report` of the demo", f"{took:.0f} s, {memory:.0f} MB, page {size:.2f} MB", "1.5 MB", size <= 1.5)]
    return lines + time_in_browser("page of the demo", page)


def time_in_browser(name: str, page: Path) -> list[tuple[str, str, str, bool]]:
    """Time the start of a page in Chromium: until its script has run, and until the figures on the first screen react."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        return []
    started, drawn = [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for _ in range(4):
            context = browser.new_context(viewport={"width": 1280, "height": 900})
            tab = context.new_page()
            tab.goto(page.as_uri())
            tab.locator(".answer [data-drawn]").first.wait_for()
            drawn.append(tab.evaluate("performance.now()") / 1000)
            # The script is part of the document.
            ended = "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
            started.append(tab.evaluate(ended) / 1000)
            context.close()
        browser.close()
    script, figure = (statistics.median(times[1:]) for times in (started, drawn))
    return [(f"{name}: interactive in Chromium", f"{script:.2f} s; first figure {figure:.2f} s", "1 s", script <= 1)]


def call(*words: str) -> tuple[float, float]:
    """Run a command in a new process, and return its seconds and its memory in MB."""
    code = (
        "import resource, subprocess, sys, time; start = time.perf_counter(); "
        "subprocess.run([sys.executable, '-m', 'fairtrial', *sys.argv[1:]], check=True, capture_output=True); "
        "print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)"
    )  # a small process, because the memory of a child includes that of the process that forked it
    output = subprocess.run([sys.executable, "-c", code, *words], check=True, capture_output=True, text=True).stdout
    took, memory = map(float, output.split())
    return took, memory


class Placed:
    def __init__(self, data: int, split: int, condition: int, learner: int) -> None:
        self.data, self.split, self.condition, self.learner = data, split, condition, learner


def resuming(folder: Path) -> list[tuple[str, str, str, bool]]:
    """Rerun a finished study of 2,000 trials."""
    ours(folder, 500)
    took = min(seconds(lambda: ours(folder, 500)) for _ in range(3))
    return [("rerun of a finished study of 2,000 trials", f"{took:.2f} s", "1 s", took < 1)]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true")
    options.add_argument("--plan", action="store_true")
    options.add_argument("--cold", nargs=2)
    options.add_argument("--large", action="store_true")
    given = options.parse_args()
    if given.plan:
        return plan_a_million()
    if given.large:
        with tempfile.TemporaryDirectory() as name:
            for line in [*large_study(Path(name)), *large_page(Path(name)), *demo_page(Path(name))]:
                print(*line, sep=" | ")
        return None
    if given.cold:
        which, path = given.cold
        if which == "ours":
            from fairtrial.study.run.coordinator import run_study

            run_study(study(), path, jobs=2, progress=False)
        else:
            peer(splits_of(study().plan()))
        return None
    lines = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in (
            lambda: against_cross_validate(folder, 1 if given.quick else 5),
            lambda: overhead(folder),
            planning,
            lambda: hundred_thousand(folder),
            lambda: resuming(folder),
            lambda: large_study(folder),
            lambda: large_page(folder),
            lambda: demo_page(folder),
        ):
            for line in part():
                print(*line, sep=" | ", flush=True)
                lines.append(line)
    if not given.quick:
        packages = ", ".join(f"{name} {version(name)}" for name in ("fairtrial", "numpy", "scikit-learn", "pandas"))
        rows = "".join(f"| {what} | {took} | {target} | {'yes' if met else '**no**'} |\n" for what, took, target, met in lines)
        (HERE / "STUDY.md").write_text(
            "# Speed of the study engine\n\nWritten by `python benchmarks/study.py`. Ten data sets of 300 to 1,200 rows, clean "
            "and 10 % class noise, 10 x 10 folds.\n\n"
            f"{date.today()}, {platform.machine()}, 2 cores, Python {platform.python_version()}, {packages}.\n\n"
            f"| task | result | target | met |\n|---|---|---|---|\n{rows}"
        )
        print("written: benchmarks/STUDY.md")
    return None


if __name__ == "__main__":
    main()
