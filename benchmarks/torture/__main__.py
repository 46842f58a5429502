"""Run the fault campaign: `python -m benchmarks.torture [--scale 0.02] [--only CAMPAIGN]`.

A run at full scale updates docs/torture.md. The exit code is 1 if a case gave a silent difference or a crash.
"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
import time
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.torture import OUTCOMES, Case, faults, files, learners, stores

CAMPAIGNS = {
    "faults": faults.run,
    "learners": learners.run,
    "files": files.run,
    "stores": stores.run,
    "dask": faults.run_dask,
}
ROOT = Path(__file__).resolve().parents[2]
RESULTS, PAGE = ROOT / "benchmarks" / "torture" / "results.json", ROOT / "docs" / "torture.md"


def main() -> int:
    """Run the campaigns, print the outcomes, and write the page after a run at full scale."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.torture", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="fraction of the cases, e.g. 0.02")
    parser.add_argument("--only", choices=CAMPAIGNS, action="append", help="campaign to run; repeatable")
    parser.add_argument("--page", action="store_true", help="only write the page from the stored counts")
    options = parser.parse_args()
    n_bad = 0
    for name in [] if options.page else options.only or CAMPAIGNS:
        started = time.monotonic()
        cases: list[Case] = []
        for case in CAMPAIGNS[name](options.scale):
            cases.append(case)
            if case.outcome in ("different", "crash"):
                n_bad += 1
                print(f"{name} {case.kind} seed {case.seed}: {case.outcome}: {case.detail}", flush=True)
            if len(cases) % 50 == 0:
                _record(name, cases, started, options.scale)
        _record(name, cases, started, options.scale)
    if options.page or options.scale >= 1:
        PAGE.write_text(format_page(json.loads(RESULTS.read_text())), encoding="utf-8")
        print(f"written: {PAGE}")
    return 1 if n_bad else 0


def count_outcomes(cases: list[Case], seconds: float) -> dict[str, Any]:
    """Count the outcomes of a campaign, in total and by kind of attack."""
    kinds: dict[str, Counter[str]] = {}
    for case in cases:
        kinds.setdefault(case.kind, Counter())[case.outcome] += 1
    total = Counter(case.outcome for case in cases)
    return {
        "date": date.today().isoformat(),
        "seconds": round(seconds),
        "outcomes": {outcome: total[outcome] for outcome in OUTCOMES},
        "kinds": {kind: {outcome: counts[outcome] for outcome in OUTCOMES} for kind, counts in sorted(kinds.items())},
    }


def _record(name: str, cases: list[Case], started: float, scale: float) -> None:
    """Print the counts of a campaign so far. At full scale, store them, so an interrupted campaign is not lost."""
    counts = count_outcomes(cases, time.monotonic() - started)
    print(f"{name}: {len(cases)} cases in {counts['seconds']} s: {counts['outcomes']}", flush=True)
    if scale < 1:
        return
    stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    RESULTS.write_text(json.dumps({**stored, name: counts}, indent=1) + "\n", encoding="utf-8")


def format_page(stored: dict[str, Any]) -> str:
    """Format the page of the documentation from the stored counts."""
    names = [name for name in _TITLES if name in stored]
    runs = [f"{name} on {stored[name]['date']} in {_format_duration(stored[name]['seconds'])}" for name in names]
    parts = [
        _INTRODUCTION,
        _format_table("campaign", {_TITLES[name]: stored[name]["outcomes"] for name in names}),
        f"Dates and durations on 2 busy cores: {', '.join(runs)}.\n",
    ]
    for name in names:
        title, kinds = _TITLES[name], stored[name]["kinds"]
        parts += [f"## {title[0].upper()}{title[1:]}\n", _EXPLANATIONS[name]]
        if name == "learners":  # one case each
            parts.append(textwrap.fill(f"The learners: {'; '.join(kinds)}.", 125, break_on_hyphens=False) + "\n")
        else:
            parts.append(_format_table(_KINDS[name], kinds))
    return "\n".join(parts).rstrip("\n") + "\n"


def _format_table(head: str, rows: dict[str, dict[str, int]]) -> str:
    lines = [f"| {head} | cases | {' | '.join(_HEADINGS)} |", "|---|" + "---:|" * (len(_HEADINGS) + 1)]
    for label, counts in rows.items():
        numbers = [sum(counts.values()), *(counts[outcome] for outcome in OUTCOMES)]
        lines.append(f"| {label} | {' | '.join(f'{number:,}' for number in numbers)} |")
    return "\n".join(lines) + "\n"


def _format_duration(seconds: int) -> str:
    return f"{seconds} s" if seconds < 100 else f"{round(seconds / 60)} min"


_HEADINGS = ("same or normal result", "refused in one sentence", "repaired and rerun", "silent difference", "crash")
_TITLES = {
    "faults": "faults in running studies",
    "learners": "hostile learners",
    "files": "mutated files",
    "stores": "corrupted results files",
    "dask": "faults in dask clusters",
}
_KINDS = {"faults": "fault", "files": "file", "stores": "corruption", "dask": "fault"}
_EXPLANATIONS = {
    "faults": """Each study has 240 trials of four scikit-learn learners. It gets two to seven faults that a run must
survive, and one fault that may end the run. Then the study is resumed. If a message asks for an action, such as renaming a
recovered file, the campaign does it first. The digest of the results file must equal that of an undisturbed study. The
outcome of a study counts for each of its faults.
""",
    "learners": """Each hostile learner runs beside naive Bayes and a random forest, with limits of 2 s and 800 MB per trial.
The stored predictions of these two must equal those of a study without the hostile learner.
""",
    "files": """One to three random mutations are applied to a valid file: bit flips, truncation, duplicated or swapped
lines, NUL bytes, huge numbers, other encodings, other line endings. The reader must return a normal result or raise a fairtrial
error with a one-line message, within 10 seconds of CPU time. A message about a study file has one line per problem.
A mutation may turn a value into another valid value, which no reader can detect.
""",
    "stores": """Each case corrupts a results file of 120 trials and then calls `status`, `results`, `check`, `export`, `merge`
and `run`. Each command must give the same output as for the intact file, or refuse the file in one sentence and write
nothing. `run` must refuse the file, or rerun the lost trials until the digest equals that of the intact file. A case counts
as repaired if `run` repeated trials.
""",
    "dask": """A study runs on a dask cluster with two workers. Either one worker or, after a third one has started, both are
killed, or the scheduler is killed. Then the study is resumed on this computer, and the digests are compared.
""",
}
_INTRODUCTION = """# Fault campaign

<!-- Written by `make torture`; do not edit. -->

`make torture` injects faults into fairtrial in five ways and counts the outcomes. All cases are random but seeded, so a
failed case can be reproduced. The aim is zero silent differences and zero crashes. A crash is a Python traceback, an error
of another library, a lost process or a command that hangs. A silent difference is a wrong result without a message.

`python -m benchmarks.torture --scale 0.02` runs 2 % of the cases. `--only CAMPAIGN` runs one campaign: faults, learners,
files, stores or dask. See [Supervision](reference/supervision.md) for the rules that this campaign tests.
"""


if __name__ == "__main__":
    sys.exit(main())
