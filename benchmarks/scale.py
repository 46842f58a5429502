"""Compute AUC, KS and H of a Parquet file of 100 million rows within 2 GB, and compare a sample with the in-memory result.

Run by `make scale [ROWS=100000000]`; writes its finding to benchmarks/SCALE.md.
"""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

import duckdb
import numpy as np

HERE = Path(__file__).parent
NAMES = ("auc", "ks", "h_measure")
LIMIT_MB = 2000


def write_file(path: Path, rows: int) -> None:
    """Write nearly distinct scores, the hardest case for a tally."""
    with duckdb.connect() as connection:
        connection.execute("SELECT setseed(0.5)")
        connection.execute(
            f"COPY (SELECT truth, 0.4 * truth + u + v AS score FROM (SELECT CAST(random() < 0.3 AS INT) AS truth, "
            f"random() AS u, random() AS v FROM range({rows}))) TO '{path}'"
        )


def judge(path: Path) -> None:
    """Child process: compute the tally, the measures and the peak memory."""
    from fairtrial.measures import ScoreTally, registry

    start = time.perf_counter()
    tally = ScoreTally.from_parquet(path)
    counted = time.perf_counter()
    values = [registry[name].of(tally) for name in NAMES]
    done = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(len(tally.values), *values, counted - start, done - counted, peak)


def same_on_a_sample(path: Path, folder: Path) -> float:
    """Compute the largest difference between streamed and in-memory results on 1 % of the rows."""
    from fairtrial.measures import ScoreTally, registry

    sample = folder / "sample.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT * FROM '{path}' USING SAMPLE 1 PERCENT (bernoulli, 7)) TO '{sample}'")
        columns = connection.execute(f"SELECT truth, score FROM '{sample}'").fetchnumpy()
    tally = ScoreTally.from_parquet(sample)
    return max(abs(registry[name].of(tally) - registry[name](columns["truth"], np.asarray(columns["score"]))) for name in NAMES)


def main() -> None:
    rows = int(os.environ.get("ROWS", "100000000"))
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "predictions.parquet"
        write_file(path, rows)
        child = subprocess.run([sys.executable, __file__, str(path)], capture_output=True, text=True, check=True).stdout.split()
        off = same_on_a_sample(path, Path(name))
        megabytes = path.stat().st_size / 1e6
    distinct, *values, count_s, measure_s, peak = (float(text) for text in child)
    told = ", ".join(f"{name} {value:.6f}" for name, value in zip(NAMES, values, strict=True))
    text = (
        "# A file larger than memory\n\n"
        f"Written by `make scale` on {date.today()}, {platform.machine()}, {os.cpu_count()} cores.\n\n"
        f"{rows:,} rows ({megabytes:,.0f} MB of Parquet), {int(distinct):,} distinct scores: counted in {count_s:.1f} s; "
        f"{told} computed in {measure_s:.1f} s; peak memory {peak:,.0f} MB "
        f"(limit {LIMIT_MB} MB: {'met' if peak <= LIMIT_MB else '**missed**'}). "
        f"On a sample of 1 %, streamed and in-memory results differ by at most {off:.1g}.\n"
    )
    (HERE / "SCALE.md").write_text(text)
    print(text)


if __name__ == "__main__":
    judge(Path(sys.argv[1])) if len(sys.argv) > 1 else main()
