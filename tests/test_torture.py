"""A small fault campaign: benchmarks/torture."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("campaign", ["files", "stores"])
def test_a_small_campaign_ends_without_a_silent_difference_or_a_crash(campaign):
    command = [sys.executable, "-m", "benchmarks.torture", "--scale", "0.002", "--only", campaign]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert f"{campaign}: " in result.stdout


def test_the_page_shows_five_campaigns_without_a_silent_difference_or_a_crash():
    lines = (ROOT / "docs" / "torture.md").read_text(encoding="utf-8").splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith("| campaign |")) + 2
    rows = [[cell.strip().replace(",", "") for cell in line.strip("|").split("|")] for line in lines[start : start + 5]]
    assert [row[0] for row in rows] == [
        *("faults in running studies", "hostile learners", "mutated files"),
        *("corrupted results files", "faults in dask clusters"),
    ]
    for row in rows:
        n_cases, *outcomes = map(int, row[1:])
        assert n_cases == sum(outcomes) > 0
        assert outcomes[-2:] == [0, 0]
