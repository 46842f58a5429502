"""Measure the speed of DOB-SCV up to a million rows, and compare its folds with an exhaustive search.

`python benchmarks/dob_scv.py` writes benchmarks/DOB_SCV.md and docs/pictures/dob-scv-growth.svg. Nothing else should run on the
machine meanwhile. `--quick` goes to ten thousand rows and prints only; `--picture PATH` puts the picture elsewhere.
"""

from __future__ import annotations

import argparse
import platform
import statistics
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from side_by_side import seconds

from fairtrial.kernels.compiling import count_threads
from fairtrial.report.figures.base import build_chart, build_title, encode_colour, style_chart
from fairtrial.report.files import save
from fairtrial.resampling.dob_scv import DBSCV, DOBSCV, as_cases, split_rows_by_class

HERE = Path(__file__).parent
PICTURE = HERE.parent / "docs" / "pictures" / "dob-scv-growth.svg"
FOLDS = 5
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
# Seconds of KEEL's partitioner (Java) by number of rows, measured on two cores, not here.
KEEL = {10_000: 4.8, 30_000: 49.0}


@dataclass(frozen=True)
class Table:
    """A kind of table: its name, its columns and the maximum number of rows."""

    name: str
    columns: int
    nominal: int
    most: int

    def rows(self, n: int) -> tuple[Any, np.ndarray]:
        """Draw two Gaussian classes of equal size, one standard deviation apart in each column."""
        rng = np.random.default_rng(n)
        y = rng.integers(0, 2, n)
        X = rng.normal(size=(n, self.columns)) + y[:, None]
        if not self.nominal:
            return X, y
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(self.columns)])
        for j in range(self.nominal):
            frame[f"c{j}"] = pd.Categorical(rng.choice(list("abcd"), n))
        return frame.mask(rng.random(frame.shape) < 0.02), y


TABLES = (
    Table("2 numeric", 2, 0, 1_000_000),
    Table("10 numeric", 10, 0, 300_000),
    Table("50 numeric", 50, 0, 100_000),
    Table("5 numeric, 5 nominal, missing values", 5, 5, 100_000),
)


def growth(sizes: tuple[int, ...], rounds: int, splitter: Any = DOBSCV) -> pd.DataFrame:
    """Measure the median seconds by table and number of rows."""
    found = []
    for table in TABLES:
        splitter(FOLDS, random_state=0).freeze(*table.rows(2_000))  # compiled before the clock starts
        for n in (size for size in sizes if size <= table.most):
            X, y = table.rows(n)
            times = [seconds(lambda: splitter(FOLDS, random_state=0).freeze(X, y)) for _ in range(rounds if n < 10**5 else 1)]  # noqa: B023
            found.append({"learner": table.name, "rows": n, "seconds": statistics.median(times)})
            print(f"{splitter.__name__}, {table.name}, {n:,} rows: {found[-1]['seconds']:.3g} s", flush=True)
    return pd.DataFrame(found)


def equal_to_every_pair(table: Table, n: int) -> bool:
    """Return whether the literal folds equal those of an exhaustive search."""
    X, y = table.rows(n)
    found = np.empty(n, int)
    for fold, (_, test) in enumerate(DOBSCV(FOLDS, assign="literal", random_state=1).split(X, y)):
        found[test] = fold
    rng, points = np.random.default_rng(1), as_cases(X).points
    classes = split_rows_by_class(y)
    for rows, order in [(rows, rng.permutation(len(rows))) for rows in classes]:
        taken = every_pair(points[rows], order)
        if not np.array_equal(found[rows[taken]], np.arange(len(rows)) % FOLDS):
            return False
    return True


def every_pair(points: np.ndarray, seeds: np.ndarray) -> list[int]:
    """Find groups of neighbours by an exhaustive search, for numeric columns."""
    left, taken, gone = np.arange(len(points)), [], np.zeros(len(points), bool)
    columns = np.ascontiguousarray(points.T)
    for seed in seeds:
        if gone[seed]:
            continue
        far = np.zeros(len(left))
        for column, value in zip(columns, points[seed], strict=True):
            far += (column - value) ** 2
        far[np.searchsorted(left, seed)] = -1.0
        limit = np.partition(far, min(FOLDS, len(far)) - 1)[min(FOLDS, len(far)) - 1]
        near = np.flatnonzero(far <= limit)
        group = left[near[np.argsort(far[near], kind="stable")][:FOLDS]]
        gone[group] = True
        taken += group.tolist()
        kept = ~gone[left]
        left, columns = left[kept], np.ascontiguousarray(columns[:, kept])
    return taken


def picture(found: pd.DataFrame) -> Any:
    """Draw seconds against rows on logarithmic scales."""
    import altair as alt

    keel = pd.DataFrame({"learner": "KEEL (Java)", "rows": list(KEEL), "seconds": list(KEEL.values())})
    rows = pd.concat([found, keel], ignore_index=True)
    chart = build_chart(rows.to_dict("records"))
    x = alt.X(
        "rows:Q", title="rows", scale=alt.Scale(type="log"), axis=alt.Axis(format="~s", values=[10**p for p in range(3, 7)])
    )
    y = alt.Y(
        "seconds:Q",
        title="seconds",
        scale=alt.Scale(type="log"),
        axis=alt.Axis(format="~g", values=[10.0**p for p in range(-3, 3)]),
    )
    names = rows["learner"].unique().tolist()
    lines = chart.mark_line(strokeWidth=2.2).encode(x, y, encode_colour(names)) + chart.mark_point(filled=True, size=45).encode(
        x, y, encode_colour(names)
    )
    title = build_title("Seconds for five DOB-SCV folds", f"two classes, {count_threads()} threads; KEEL on another computer")
    return style_chart(lines.properties(width=460, height=340, title=title))


def report(found: pd.DataFrame, walk: pd.DataFrame, equal: dict[str, bool]) -> str:
    at = found.set_index(["learner", "rows"])["seconds"]
    targets = [
        ("100,000 rows, 10 numeric: at most 10 s", at["10 numeric", 100_000], at["10 numeric", 100_000] <= 10),
        ("1,000,000 rows, 2 numeric: at most 5 s", at["2 numeric", 1_000_000], at["2 numeric", 1_000_000] <= 5),
        (
            "10,000 rows, 10 numeric: at most 1/15 of KEEL's 4.8 s",
            at["10 numeric", 10_000],
            at["10 numeric", 10_000] <= KEEL[10_000] / 15,
        ),
    ]
    packages = ", ".join(f"{name} {version(name)}" for name in ("fairtrial", "numpy", "numba"))
    return (
        "# Speed of DOB-SCV\n\n"
        "Written by `python benchmarks/dob_scv.py`. Seconds for five folds of two Gaussian classes, including reading the "
        "table, without compilation. KEEL's times were measured on another computer with two cores.\n\n"
        f"{date.today()}, {platform.machine()}, {count_threads()} threads, Python {platform.python_version()}, {packages}.\n\n"
        "| target | seconds | met |\n|---|---|---|\n"
        + "".join(f"| {what} | {took:.3g} | {'yes' if met else '**no**'} |\n" for what, took, met in targets)
        + "\n| folds compared with an exhaustive search | equal |\n|---|---|\n"
        + "".join(f"| {what} | {'yes' if same else '**no**'} |\n" for what, same in equal.items())
        + f"\nDOB-SCV, seconds:\n\n{grid(found)}\nDB-SCV (one step of the path per row), seconds:\n\n{grid(walk)}"
    )


def grid(found: pd.DataFrame) -> str:
    wide = found.pivot_table(index="rows", columns="learner", values="seconds", sort=False)
    head = f"| rows | {' | '.join(wide.columns)} |\n|---|{'---|' * len(wide.columns)}\n"
    cells = [["" if np.isnan(each) else f"{each:.3g}" for each in row] for row in wide.to_numpy()]
    return head + "".join(f"| {n:,} | {' | '.join(row)} |\n" for n, row in zip(wide.index, cells, strict=True))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true")
    options.add_argument("--picture", type=Path, default=PICTURE)
    given = options.parse_args()
    sizes = SIZES[:3] if given.quick else SIZES
    found = growth(sizes, 1 if given.quick else 5)
    walk = growth(sizes[:2] if given.quick else SIZES[:5], 1 if given.quick else 3, DBSCV)
    checks = [
        (TABLES[0], sizes[-1] // 10),
        (TABLES[1], 1_000 if given.quick else 100_000),
        (TABLES[2], 1_000 if given.quick else 20_000),
    ]
    equal = {f"{table.name}, {n:,} rows": equal_to_every_pair(table, n) for table, n in checks}
    if given.quick:
        print(grid(found), grid(walk), equal, sep="\n")
        if given.picture != PICTURE:
            save(picture(found), given.picture)
        return
    (HERE / "DOB_SCV.md").write_text(report(found, walk, equal))
    save(picture(found), given.picture)
    print(f"written: {HERE.name}/DOB_SCV.md, {given.picture.name}")


if __name__ == "__main__":
    main()
