"""Write docs/calibration.md from docs/data/calibration.csv, which lists every simulated rate.

Run `python benchmarks/calibration_page.py` after a change to this text or to the reasons. `make calibration` runs it, too.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.reasons import reason
from experiments.registry import GROUPS

DOCS = Path(__file__).parents[1] / "docs"
PAGE, RATES = DOCS / "calibration.md", DOCS / "data" / "calibration.csv"
COLUMNS = ("group", "procedure", "setting", "runs", "hits", "nominal", "rate", "standard_error", "verdict")
MAX_STANDARD_ERRORS = 3
# Probability of a rate beyond three standard errors.
CHANCE = 0.0027
NOMINAL, CONSERVATIVE, LIBERAL, MISSING = "nominal", "conservative", "too liberal", "not installed"
PEERS = ("autorank", "scikit-posthocs", "statsmodels")


@dataclass(frozen=True)
class Rate:
    """How often a procedure rejected a hypothesis or covered the true value in the runs of one setting."""

    group: str
    procedure: str
    setting: str
    runs: int
    hits: int
    nominal: float

    @property
    def value(self) -> float:
        return self.hits / self.runs if self.runs else math.nan

    @property
    def standard_error(self) -> float:
        return math.sqrt(self.value * (1 - self.value) / self.runs) if self.runs else math.nan

    @property
    def is_coverage(self) -> bool:
        return self.nominal > 0.5

    @property
    def verdict(self) -> str:
        if not self.runs:
            return MISSING
        distance = (self.value - self.nominal) / math.sqrt(self.nominal * (1 - self.nominal) / self.runs)
        if abs(distance) <= MAX_STANDARD_ERRORS:
            return NOMINAL
        return CONSERVATIVE if (distance > 0) == self.is_coverage else LIBERAL

    @property
    def is_peer(self) -> bool:
        return self.procedure.startswith(PEERS)

    @property
    def is_warning(self) -> bool:
        return "not recommended" in self.procedure

    def list_values(self) -> list[str]:
        """List the values of a line of the file; rates of packages that are not installed are empty."""
        numbers = [f"{number:.6g}" if self.runs else "" for number in (self.value, self.standard_error)]
        counts = [str(self.runs), str(self.hits), f"{self.nominal:.6g}"]
        return [self.group, self.procedure, self.setting, *counts, *numbers, self.verdict]


def read_rates() -> tuple[str, list[Rate]]:
    """Read how the rates were simulated, and the rates."""
    with RATES.open(encoding="utf-8", newline="") as file:
        origin = file.readline().removeprefix("# ").strip()
        rates = [
            Rate(row["group"], row["procedure"], row["setting"], int(row["runs"]), int(row["hits"]), float(row["nominal"]))
            for row in csv.DictReader(file)
        ]
    return origin, rates


def write_rates(origin: str, rates: Iterable[Rate]) -> None:
    """Write all rates, with a first line that states how they were simulated."""
    with RATES.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {origin}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rate.list_values() for rate in rates)


def write_page() -> None:
    """Write the page from the file of rates."""
    origin, rates = read_rates()
    PAGE.write_text(format_page(origin, rates), encoding="utf-8")


def format_page(origin: str, rates: Sequence[Rate]) -> str:
    groups = [group for group in GROUPS if any(rate.group == group for rate in rates)]
    parts = [
        "# Calibration",
        "This page reports how often the tests of fairtrial reject a true hypothesis, and how often its confidence intervals "
        "contain the true value. Use it to judge whether you can rely on a procedure at your sample size.",
        format_answer(rates),
        f"{origin} [Download all rates](data/calibration.csv), one line per procedure and setting.",
        "| procedure | rate |\n|---|---|\n"
        "| test | type I error: p is at most 0.05 although nothing differs |\n"
        "| family of tests | family-wise error: any two equal learners differ significantly |\n"
        "| interval | coverage: the 95 % interval contains the true value |",
        "| verdict | meaning |\n|---|---|\n"
        f"| {NOMINAL} | within {MAX_STANDARD_ERRORS} standard errors of the nominal rate |\n"
        f"| {CONSERVATIVE} | outside on the safe side: fewer errors than nominal, with less power or wider intervals |\n"
        f"| {LIBERAL} | outside on the other side: more errors than nominal |",
        "## Summary",
        "The worst rate is the highest type I error or the lowest coverage of the group, without other packages and procedures "
        "that are marked as not recommended.",
        format_summary(rates, groups),
        "## Too liberal",
        "Each reason is followed by the rates that it explains, in percent.",
        *format_reasons(rates, LIBERAL),
        "## Conservative",
        "Each reason is followed by the number of rates that it explains and the one farthest from its nominal rate.",
        "<details>\n<summary>All reasons</summary>",
        *format_reasons(rates, CONSERVATIVE),
        "</details>",
    ]
    for group in groups:
        members = [rate for rate in rates if rate.group == group]
        count = len({rate.procedure for rate in members})
        summary = f"{count} procedure{'s' if count > 1 else ''}"
        parts += [f"## {group}", f"<details>\n<summary>{summary}</summary>", format_group(members), "</details>"]
    return "\n\n".join(parts) + "\n"


def format_answer(rates: Sequence[Rate]) -> str:
    verdicts = Counter(rate.verdict for rate in rates)
    liberal = [rate for rate in rates if rate.verdict == LIBERAL]
    peers, warnings = sum(rate.is_peer for rate in liberal), sum(rate.is_warning for rate in liberal)
    expected = CHANCE * len(rates)
    return (
        f"**Of {len(rates) - verdicts[MISSING]:,} simulated rates, {verdicts[NOMINAL]:,} are nominal, "
        f"{verdicts[CONSERVATIVE]:,} are conservative and {len(liberal)} are too liberal.** Of those that are too liberal, "
        f"{peers} belong to other packages and {warnings} to procedures that are not recommended and shown as a warning. "
        f"[Too liberal](#too-liberal) gives the reason for every such rate. If all rates were exactly nominal, about "
        f"{expected:.0f} would be conservative or too liberal by chance."
    )


def format_summary(rates: Sequence[Rate], groups: Sequence[str]) -> str:
    lines = [
        f"| group | rates | {NOMINAL} | {CONSERVATIVE} | {LIBERAL} | worst rate, % |",
        "|---|---|---|---|---|---|",
    ]
    for group in groups:
        members = [rate for rate in rates if rate.group == group and rate.runs]
        verdicts = Counter(rate.verdict for rate in members)
        worst = max((rate for rate in members if not (rate.is_peer or rate.is_warning)), key=measure_excess)
        lines.append(
            f"| {group} | {len(members)} | {verdicts[NOMINAL]} | {verdicts[CONSERVATIVE]} | {verdicts[LIBERAL]} "
            f"| {100 * worst.value:.2f} (nominal {100 * worst.nominal:.4g}) |"
        )
    return "\n".join(lines)


def measure_excess(rate: Rate) -> float:
    """Measure by how much a rate has more errors than nominal; negative if it has fewer."""
    return rate.nominal - rate.value if rate.is_coverage else rate.value - rate.nominal


def format_reasons(rates: Sequence[Rate], verdict: str) -> list[str]:
    """List each reason for rates with a verdict: with all rates if they are too liberal, else with an example."""
    by_reason: dict[str, list[Rate]] = {}
    for rate in (rate for rate in rates if rate.verdict == verdict):
        by_reason.setdefault(reason(rate.procedure, rate.setting, verdict == LIBERAL), []).append(rate)
    items = []
    for text, members in by_reason.items():
        if verdict == LIBERAL:
            by_procedure: dict[str, list[str]] = {}
            for rate in members:
                by_procedure.setdefault(rate.procedure, []).append(f"{100 * rate.value:.2f} [{rate.setting}]")
            examples = "\n".join(f"  - {procedure}: {'; '.join(values)}" for procedure, values in by_procedure.items())
            items.append(f"- **{text}.**\n{examples}")
        else:
            farthest = max(members, key=lambda rate: abs(rate.value - rate.nominal))
            count = f"{len(members):,} rate{'s' if len(members) > 1 else ''}"
            example = f"{farthest.procedure} [{farthest.setting}], {100 * farthest.value:.2f} %"
            items.append(f"- **{text}.** {count}: {example}.")
    return ["\n".join(items)]


def format_group(rates: Sequence[Rate]) -> str:
    """Tabulate procedures: with the setting if there is one, else with the range of the rates over all settings."""
    by_procedure: dict[str, list[Rate]] = {}
    for rate in rates:
        by_procedure.setdefault(rate.procedure, []).append(rate)
    lines = ["| procedure | setting | runs | nominal, % | rate, % | verdict |", "|---|---|---|---|---|---|"]
    for procedure, members in by_procedure.items():
        settings = members[0].setting if len(members) == 1 else f"{len(members)} settings"
        runs = format_range([rate.runs for rate in members], "{:,}")
        nominal = format_range([100 * rate.nominal for rate in members], "{:.4g}")
        values = format_range([100 * rate.value for rate in members if rate.runs], "{:.2f}")
        verdicts = Counter(rate.verdict for rate in members)
        names = [verdict for verdict in (LIBERAL, CONSERVATIVE, NOMINAL, MISSING) if verdicts[verdict]]
        shown = [f"**{name}**" if name == LIBERAL else name for name in names]
        if len(names) > 1:
            shown = [f"{verdicts[name]} {text}" for name, text in zip(names, shown, strict=True)]
        lines.append(f"| {procedure} | {settings} | {runs} | {nominal} | {values} | {', '.join(shown)} |")
    return "\n".join(lines)


def format_range(values: Sequence[float], template: str) -> str:
    """Format the lowest and the highest value, or one value if they are equal."""
    if not values:
        return ""
    low, high = (template.format(value) for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


if __name__ == "__main__":
    write_page()
