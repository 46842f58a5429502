"""Write the output of an experiment: a Markdown page, CSV tables and figures.

The page starts with the answer, the main figure, the claims and the main tables. An experiment's template extends `page.md.j2`
and fills the block `text` with the details. The template can use all names in `Reproduction.values`. It can also use
`experiment`, `request`, `command`, `answer`, `claims` (data frames by kind), `counts`, `figures`, `tables`, `errata`, `skipped`
and `run`.

Three filters are available in addition to Jinja's own. `markdown` formats a data frame or a ResultTable as a Markdown table.
`join_names` joins names ("a, b and c"). `file_name` turns the title of a figure into its file name. Each paragraph of the page
is one line; lists, tables and code keep their line breaks.
"""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from fairtrial._text import format_count, format_duration, join_names
from fairtrial.report.files import save
from fairtrial.report.tables import to_markdown
from fairtrial.reproduce.claim import KINDS, Claim, count_verdicts, describe_verdict
from fairtrial.reproduce.experiment import Experiment, Reproduction, Request, ResultTable
from fairtrial.reproduce.papers import read_errata

if TYPE_CHECKING:
    import pandas as pd

_PACKAGES = ("fairtrial", "numpy", "scikit-learn", "pandas")


def write_page(experiment: Experiment, request: Request, reproduction: Reproduction, durations: Sequence[float]) -> Path:
    """Write tables, figures and `index.md` to the output folder.

    `durations` contains the duration in seconds of each run in this folder.
    """
    folder = request.out
    frames = {table.name: table.frame for table in reproduction.tables} | {"claims": tabulate_claims(reproduction.claims)}
    for name, frame in frames.items():
        frame.to_csv(folder / f"{name}.csv", index=False, encoding="utf-8", float_format="%.10g")
    for title, chart in reproduction.figures.items():
        for suffix in ("svg", "png"):
            save(chart, folder / f"{format_file_name(title)}.{suffix}")
    summary = {"answer": reproduction.answer, "figure": next(map(format_file_name, reproduction.figures), None)}
    (folder / "summary.json").write_text(json.dumps(summary, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    page = folder / "index.md"
    page.write_text(_render(experiment, request, reproduction, durations), encoding="utf-8")
    return page


def _render(experiment: Experiment, request: Request, reproduction: Reproduction, durations: Sequence[float]) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("fairtrial.reproduce", "")
    environment = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    filters = {"file_name": format_file_name, "join_names": partial(join_names, limit=None), "markdown": _format_table}
    environment.filters |= filters
    template = environment.from_string(experiment.template.read_text(encoding="utf-8"))
    by_kind = {
        title: [claim for claim in reproduction.claims if claim.kind == kind]
        for kind, title in KINDS.items()
        if any(claim.kind == kind for claim in reproduction.claims)
    }
    text = template.render(
        **reproduction.values,
        experiment=experiment,
        request=request,
        command=format_command(experiment, request),
        answer=reproduction.answer,
        claims={title: _tabulate_for_page(claims) for title, claims in by_kind.items()},
        counts={title: count_verdicts(claims) for title, claims in by_kind.items()},
        errata=read_errata(experiment.name).drop(columns="experiment"),
        figures=reproduction.figures,
        tables=reproduction.tables,
        skipped=reproduction.skipped,
        run=_describe_run(request, durations),
    )
    return _join_lines(text)


def _join_lines(text: str) -> str:
    """Join the lines of each paragraph, but keep the line breaks of lists, tables and code.

    >>> _join_lines("One\\nparagraph.\\n\\n\\n- a\\n- b\\n")
    'One paragraph.\\n\\n- a\\n- b\\n'
    """
    paragraphs = []
    for block in re.split(r"\n\s*\n", text.strip()):
        lines = [line.rstrip() for line in block.splitlines() if line.strip()]
        is_text = not any(re.match(r"\||#|```|>|\s*([-*]|\d+\.)\s", line) for line in lines)
        paragraphs.append(" ".join(line.strip() for line in lines) if is_text else "\n".join(lines))
    return "\n\n".join(paragraphs) + "\n"


def _format_table(table: ResultTable | pd.DataFrame) -> str:
    frame, digits = (table.frame, table.digits) if isinstance(table, ResultTable) else (table, None)
    return to_markdown(frame, better=None, digits=digits).strip() if len(frame) else "No rows."


def format_command(experiment: Experiment, request: Request) -> str:
    """Format the command that repeats this run."""
    measures = "".join(f" --measure {name}" for name in request.measures)
    seed = f" --seed {request.seed}" if request.seed != 1 else ""
    return f"fairtrial reproduce {experiment.name} --scale {request.scale}{measures}{seed}"


def tabulate_claims(claims: Sequence[Claim]) -> pd.DataFrame:
    """Return the claims as a data frame with one row per claim."""
    import pandas as pd

    rows = [(claim.text, claim.verdict, claim.details, claim.sensitivity, claim.kind) for claim in claims]
    return pd.DataFrame(rows, columns=["claim", "verdict", "details", "sensitivity", "kind"])


def _tabulate_for_page(claims: Sequence[Claim]) -> pd.DataFrame:
    """Tabulate claims for display, with "sensitivity" only if a claim has variants."""
    table = tabulate_claims(claims).drop(columns="kind")
    table["verdict"] = [describe_verdict(claim.verdict, claim.kind) for claim in claims]
    return table if table["sensitivity"].any() else table.drop(columns="sensitivity")


def _describe_run(request: Request, durations: Sequence[float]) -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    duration = format_duration(sum(durations)) + (f" in {len(durations)} runs" if len(durations) > 1 else "")
    processes = format_count(request.jobs, "process")
    return (
        f"Scale {request.scale}, seed {request.seed}, {processes}, {duration} on "
        f"{format_count(os.cpu_count() or 1, 'core')} ({platform.machine()}, {platform.system()}), "
        f"Python {platform.python_version()}, {packages}, {datetime.now(UTC).date()}."
    )


def format_file_name(title: str) -> str:
    """Convert a title to a file name of at most 60 characters, without a suffix.

    >>> format_file_name("Bias, and its size: n = 25")
    'bias-and-its-size-n-25'
    """
    words = "".join(char if char.isalnum() and char.isascii() else " " for char in title.lower()).split()
    return "-".join(words)[:60]
