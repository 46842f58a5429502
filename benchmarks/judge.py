"""Judge 100 million predictions within 2 GB of memory and three times the time that DuckDB needs to sort the scores.

Run by `python benchmarks/judge.py [ROWS]` (default 100,000,000; 10,000,000 takes seconds); writes benchmarks/JUDGE.md.
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

HERE = Path(__file__).parent
LIMIT_MB, LIMIT_TIMES = 2000, 3.0
MEMORY = "512MB"


def write_file(path: Path, rows: int) -> None:
    """Write nearly distinct scores, the hardest case, and labels with the threshold 0.7."""
    with duckdb.connect() as connection:
        connection.execute("SELECT setseed(0.5)")
        connection.execute(
            "COPY (SELECT y_true, (score > 0.7)::INT AS prediction, score FROM "
            "(SELECT y_true, (0.4 * y_true + u + v) / 2.4 AS score "
            "FROM (SELECT CAST(random() < 0.3 AS INT) AS y_true, random() AS u, random() AS v "
            f"FROM range({rows})))) TO '{path}'"
        )


def sort_scores(path: Path) -> None:
    """Child process: DuckDB reads true labels and scores and sorts by score, batch by batch, under the same limit."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as spill, duckdb.connect() as connection:
        connection.execute(
            f"SET memory_limit = '{MEMORY}'; SET temp_directory = '{spill}'; SET preserve_insertion_order = false"
        )
        reader = connection.sql(f"SELECT score, y_true FROM '{path}' ORDER BY score DESC").to_arrow_reader(1 << 18)
        rows = sum(batch.num_rows for batch in reader)
    _print_measurement(rows, time.perf_counter() - start)


def judge_file(path: Path) -> None:
    """Child process: judge the file."""
    from fairtrial import judge

    start = time.perf_counter()
    judgement = judge(path, stream=True)
    _print_measurement(int(judgement.scores["rows"].max()), time.perf_counter() - start)


def _print_measurement(rows: int, seconds: float) -> None:
    print(rows, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def run_child(task: str, path: Path) -> tuple[int, float, float]:
    """Run a child process; return rows, seconds and peak memory in MB."""
    process = subprocess.run([sys.executable, __file__, task, str(path)], capture_output=True, text=True, check=True)
    rows, seconds, peak = process.stdout.split()
    return int(rows), float(seconds), float(peak)


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "predictions.parquet"
        write_file(path, rows)
        _, sort_s, sort_mb = run_child("sort", path)
        judged, judge_s, judge_mb = run_child("judge", path)
        megabytes = path.stat().st_size / 1e6
    times = judge_s / sort_s
    text = (
        "# Judge a large file\n\n"
        f"Written by `python benchmarks/judge.py {rows}` on {date.today()}, {platform.machine()}, {os.cpu_count()} cores.\n\n"
        f"{judged:,} rows ({megabytes:,.0f} MB of Parquet), all scores distinct: judged in {judge_s:.1f} s with a peak of "
        f"{judge_mb:,.0f} MB (limit {LIMIT_MB:,} MB: {'met' if judge_mb <= LIMIT_MB else '**missed**'}). "
        f"Reading and sorting the scores in DuckDB alone takes {sort_s:.1f} s and {sort_mb:,.0f} MB; "
        f"the judge takes {times:.2f} times as long "
        f"(limit {LIMIT_TIMES:g}: {'met' if times <= LIMIT_TIMES else '**missed**'}).\n"
    )
    (HERE / "JUDGE.md").write_text(text)
    print(text)


if __name__ == "__main__":
    children = {"sort": sort_scores, "judge": judge_file}
    children[sys.argv[1]](Path(sys.argv[2])) if len(sys.argv) > 2 else main()
