"""An experiment's page: Markdown, its tables as CSV, its figures as SVG and PNG."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from fairtrial.report.files import save
from fairtrial.report.tables import to_markdown
from fairtrial.reproduce.reproduction import Claim, Reproduction, Request, Table, verdicts_told

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.reproduce.experiments import Experiment

_SMOKE = "**At this scale the numbers of what is simulated or run mean nothing**: the page shows that everything runs."
_PACKAGES = ("fairtrial", "numpy", "scikit-learn", "pandas")


def write(experiment: Experiment, request: Request, found: Reproduction, seconds: Sequence[float]) -> Path:
    """Write all of it into the request's folder; the page is `index.md`. `seconds` are those of every run into it."""
    folder = request.out
    for name, frame in {**{table.name: table.frame for table in found.tables}, "claims": _claims(found.claims)}.items():
        frame.to_csv(folder / f"{name}.csv", index=False, encoding="utf-8", float_format="%.10g")
    pictures = {title: file_name(title) for title in found.figures}
    for title, chart in found.figures.items():
        for suffix in ("svg", "png"):
            save(chart, folder / f"{pictures[title]}.{suffix}")
    page = folder / "index.md"
    page.write_text(_page(experiment, request, found, seconds, pictures), encoding="utf-8")
    return page


def _page(
    experiment: Experiment, request: Request, found: Reproduction, seconds: Sequence[float], pictures: dict[str, str]
) -> str:
    parts = [
        f"# {experiment.name}: {experiment.title}",
        f"After: {experiment.paper}.",
        f"```bash\n{command(experiment, request)}\n```",
        *([_SMOKE] if request.scale == "smoke" else []),
        *found.words,
    ]
    if found.claims:
        lines = to_markdown(_claims(found.claims), better=None).strip()
        parts += ["## What the paper states", verdicts_told(found.claims), lines, "[As a file](claims.csv)"]
    parts += [f"![{title}]({name}.png)\n\n*{title}*" for title, name in pictures.items()]
    for table in found.tables:
        parts += [f"## {table.title}", *_table(table)]
    if found.left_out:
        parts += ["## Left out", "\n".join(f"- {name}: {why}" for name, why in found.left_out.items())]
    parts += ["## This run", _machine(request, seconds)]
    return "\n\n".join(parts) + "\n"


def command(experiment: Experiment, request: Request) -> str:
    """The command that gives this page."""
    measures = "".join(f" --measure {name}" for name in request.measures)
    seed = f" --seed {request.seed}" if request.seed != 1 else ""
    return f"fairtrial reproduce {experiment.name} --scale {request.scale}{measures}{seed}"


def _claims(claims: tuple[Claim, ...]) -> pd.DataFrame:
    import pandas as pd

    lines = [(each.text, each.word, each.evidence) for each in claims]
    return pd.DataFrame(lines, columns=["claim", "here", "what was seen"])


def _table(table: Table) -> list[str]:
    lines = to_markdown(table.frame, better=None, digits=table.digits).strip() if len(table.frame) else "There are none."
    return [*([table.note] if table.note else []), *([lines] if table.shown else []), f"[As a file]({table.name}.csv)"]


def _machine(request: Request, seconds: Sequence[float]) -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    processes = "1 process" if request.jobs == 1 else f"{request.jobs} processes"
    parts = f" in {len(seconds)} runs" if len(seconds) > 1 else ""
    return (
        f"Scale {request.scale}, seed {request.seed}, {processes}, {_told(sum(seconds))}{parts} on {platform.machine()} "
        f"({platform.system()}), Python {platform.python_version()}, {packages}, {datetime.now(UTC).date()}."
    )


def _told(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def file_name(title: str) -> str:
    """A title as the name of a file.

    >>> file_name("Bias, and its size: n = 25")
    'bias-and-its-size-n-25'
    """
    return "-".join("".join(each if each.isalnum() and each.isascii() else " " for each in title.lower()).split())[:60]
