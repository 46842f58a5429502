"""Judge 100 million predictions within 2 GB of memory and three times the time that DuckDB needs to sort the scores.

Three more figures: `judge` of two models on 2 million rows in memory, `gate` of two models on 1 million rows, and the threshold
table of 1 million rows.

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
LIMIT_JUDGE_S, JUDGED_ROWS, GATED_ROWS = 8.0, 2_000_000, 1_000_000
LIMIT_TABLE_TIMES, TABLE_THRESHOLDS = 5.0, 19
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


def write_two_models(path: Path, rows: int) -> None:
    """Write the probabilities of two similar models."""
    with duckdb.connect() as connection:
        connection.execute("SELECT setseed(0.5)")
        connection.execute(
            "COPY (SELECT id, y_true, (0.5 * y_true + u + 0.2 * v) / 1.7 AS old_proba, (0.5 * y_true + u + 0.2 * w) / 1.7 AS "
            "new_proba FROM (SELECT range AS id, CAST(random() < 0.3 AS INT) AS y_true, random() AS u, random() AS v, random() "
            f"AS w FROM range({rows}))) TO '{path}'"
        )


def judge_two(path: Path) -> None:
    """Child process: judge two models in memory, after a small judgement has loaded the kernels."""
    from fairtrial import judge

    small = path.with_name("small.parquet")
    write_two_models(small, 60_000)
    judge(small)
    start = time.perf_counter()
    judgement = judge(path)
    _print_measurement(int(judgement.scores["rows"].max()), time.perf_counter() - start)


def gate_two(path: Path) -> None:
    """Child process: print how many times as long as reading a file a gate takes, alternating; the minimum of 5 each."""
    from fairtrial import gate
    from fairtrial.predictions import read_predictions

    seconds: dict[str, list[float]] = {"read": [], "gate": []}
    for _ in range(6):
        start = time.perf_counter()
        read_predictions(path)
        middle = time.perf_counter()
        result = gate(path, candidate="new", baseline="old", measure="auc", margin=0.01)
        seconds["read"].append(middle - start)
        seconds["gate"].append(time.perf_counter() - middle)
    read_s, gate_s = (min(values[1:]) for values in seconds.values())
    print(result.comparisons[0].rows, gate_s, read_s)


def build_table(path: Path) -> None:
    """Child process: print how long the threshold table takes, and the tally of its scores; the minimum of 5 each."""
    import numpy as np

    from fairtrial.measures import ScoreTally, get_measure
    from fairtrial.predictions.alerts import Goal, ScoredCases
    from fairtrial.predictions.read import read_predictions
    from fairtrial.predictions.statistics import InMemoryModels, JudgeSettings
    from fairtrial.predictions.thresholds import TABLE_MEASURES, build_threshold_table

    model = InMemoryModels(read_predictions(path), 1).models[0]
    cases, measures = ScoredCases.from_model(model), [get_measure(name) for name in TABLE_MEASURES]
    scores = np.ascontiguousarray(model.scores[:, model.positive])
    thresholds = np.linspace(0.05, 0.95, TABLE_THRESHOLDS).tolist()
    seconds: dict[str, list[float]] = {"tally": [], "table": []}
    for _ in range(6):
        start = time.perf_counter()
        tally = ScoreTally.from_scores(cases.is_positive, scores)
        middle = time.perf_counter()
        object.__setattr__(cases, "tally", tally)
        build_threshold_table(cases, thresholds, measures, Goal("costs"), JudgeSettings())
        seconds["tally"].append(middle - start)
        seconds["table"].append(time.perf_counter() - middle)
    tally_s, table_s = (min(values[1:]) for values in seconds.values())
    print(len(scores), table_s, tally_s)


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
        two, smaller = Path(folder) / "two.parquet", Path(folder) / "smaller.parquet"
        write_two_models(two, JUDGED_ROWS)
        write_two_models(smaller, GATED_ROWS)
        _, two_s, _ = run_child("judge-two", two)
        _, gate_s, read_s = run_child("gate", smaller)
        _, table_s, tally_s = run_child("table", smaller)
    times = judge_s / sort_s
    text = (
        "# Judge a large file\n\n"
        f"Written by `python benchmarks/judge.py {rows}` on {date.today()}, {platform.machine()}, {os.cpu_count()} cores.\n\n"
        f"{judged:,} rows ({megabytes:,.0f} MB of Parquet), all scores distinct: judged in {judge_s:.1f} s with a peak of "
        f"{judge_mb:,.0f} MB (limit {LIMIT_MB:,} MB: {'met' if judge_mb <= LIMIT_MB else '**missed**'}). "
        f"Reading and sorting the scores in DuckDB alone takes {sort_s:.1f} s and {sort_mb:,.0f} MB; "
        f"the judge takes {times:.2f} times as long "
        f"(limit {LIMIT_TIMES:g}: {'met' if times <= LIMIT_TIMES else '**missed**'}).\n\n"
        f"{JUDGED_ROWS:,} rows of two models in memory: judged in {two_s:.1f} s (limit {LIMIT_JUDGE_S:g} s: "
        f"{'met' if two_s <= LIMIT_JUDGE_S else '**missed**'}).\n\n"
        f"`gate` by AUC on {GATED_ROWS:,} rows of two models takes {gate_s:.2f} s, {gate_s / read_s:.1f} times as long as "
        f"reading the file, {read_s:.2f} s (limit {LIMIT_TIMES:g}: "
        f"{'met' if gate_s <= LIMIT_TIMES * read_s else '**missed**'}).\n\n"
        f"The threshold table of {GATED_ROWS:,} rows (four measures, alert rate and cost at {TABLE_THRESHOLDS} thresholds, "
        f"with intervals) takes {table_s:.2f} s, {table_s / tally_s:.1f} times as long as the tally of the scores, "
        f"{tally_s:.2f} s (limit {LIMIT_TABLE_TIMES:g}: {'met' if table_s <= LIMIT_TABLE_TIMES * tally_s else '**missed**'}).\n"
    )
    (HERE / "JUDGE.md").write_text(text)
    print(text)


if __name__ == "__main__":
    children = {"sort": sort_scores, "judge": judge_file, "judge-two": judge_two, "gate": gate_two, "table": build_table}
    children[sys.argv[1]](Path(sys.argv[2])) if len(sys.argv) > 2 else main()
