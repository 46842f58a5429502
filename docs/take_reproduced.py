"""Copy the pages, tables and figures of full runs to docs/reproduced. Results files stay in the folder of the run.

Run `fairtrial reproduce all --scale full --out FOLDER`, then `python docs/take_reproduced.py FOLDER`.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pandas as pd

from fairtrial.reproduce import load_experiments

MAX_TABLE_SIZE = 300_000  # bytes; larger tables are not copied
OPENING = """# Reproduction results

This page lists the outcome of each claim in full runs. The pages of the experiments give the numbers. A claim is reproduced if
95 % intervals support it, contradicted if they support the opposite, and inconclusive otherwise
([how claims are judged](../reproduce.md#how-claims-are-judged)). Some claims are our own targets or statements of fairtrial's
documentation; they are marked as such.
"""


def copy_runs(source: Path, target: Path) -> None:
    """Replace the pages of all experiments in the source folder, and write the overview of all experiments."""
    for page in sorted(source.glob("*/index.md")):
        folder = target / page.parent.name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        tables = [file for file in page.parent.glob("*.csv") if file.stat().st_size <= MAX_TABLE_SIZE]
        figures = [_choose_smaller(file) for file in page.parent.glob("*.png")]
        for file in [page, *tables, *figures]:
            shutil.copyfile(file, folder / file.name)
        _update_links(folder / "index.md")
    overview = [OPENING, *(_list_outcomes(target, name) for name in load_experiments() if (target / name).is_dir())]
    (target / "index.md").write_text("\n".join(overview), encoding="utf-8")


def _choose_smaller(figure: Path) -> Path:
    """Return the PNG or the SVG file of a figure, whichever is smaller."""
    return min(figure, figure.with_suffix(".svg"), key=lambda file: file.stat().st_size)


def _update_links(page: Path) -> None:
    """Let the links of a page refer to the files that were copied."""
    lines = [_update_link(line, page.parent) for line in page.read_text(encoding="utf-8").splitlines()]
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _update_link(line: str, folder: Path) -> str:
    if line.startswith("![") and not (folder / line[line.rindex("(") + 1 : -1]).is_file():
        return line.removesuffix(".png)") + ".svg)"
    if line.startswith("[CSV](") and not (folder / line[6:-1]).is_file():
        return f"A run writes the whole table to `{line[6:-1]}`."
    return line


def _list_outcomes(target: Path, name: str) -> str:
    """List the claims of one experiment by outcome."""
    claims = pd.read_csv(target / name / "claims.csv")
    parts = [f"## [{name}]({name}/index.md)", f"{load_experiments()[name].paper}."]
    for outcome in ("reproduced", "contradicted", "inconclusive"):
        texts = claims[claims["outcome"] == outcome]["claim"]
        if len(texts):
            parts += [f"**{outcome.capitalize()}** ({len(texts)})", "\n".join(f"- {claim}" for claim in texts)]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    copy_runs(Path(sys.argv[1]), Path(__file__).parent / "reproduced")
