"""Takes pages, tables and pictures of full runs into docs/reproduced; the evidence itself stays where it is.

`fairtrial reproduce all --scale full --out FOLDER`, then `python docs/take_reproduced.py FOLDER`.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pandas as pd

from fairtrial.reproduce import load_experiments

LARGEST = 300_000  # bytes: longer tables stay with the run
OPENING = """# Reproduction results

The outcomes of full runs, one line for each claim; the pages have the numbers. A claim is reproduced if 95 % intervals
support it, contradicted if they support the contrary, and inconclusive otherwise
([how claims are judged](../reproduce.md#how-claims-are-judged)). Some lines are our own targets, or statements of fairtrial's
documentation that we tested; they say so.
"""


def take(source: Path, target: Path) -> None:
    """Replace the pages of the experiments that the folder has, and the overview of all that are there."""
    for page in sorted(source.glob("*/index.md")):
        place = target / page.parent.name
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        tables = [file for file in page.parent.glob("*.csv") if file.stat().st_size <= LARGEST]
        pictures = [_smaller(file) for file in page.parent.glob("*.png")]
        for file in [page, *tables, *pictures]:
            shutil.copyfile(file, place / file.name)
        _with_links_to_what_is_there(place / "index.md")
    overview = [OPENING, *(_stands(target, name) for name in load_experiments() if (target / name).is_dir())]
    (target / "index.md").write_text("\n".join(overview), encoding="utf-8")


def _smaller(picture: Path) -> Path:
    """The picture as PNG or as SVG, whichever is the smaller file."""
    return min(picture, picture.with_suffix(".svg"), key=lambda file: file.stat().st_size)


def _with_links_to_what_is_there(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    told = [_linked(line, page.parent) for line in lines]
    page.write_text("\n".join(told) + "\n", encoding="utf-8")


def _linked(line: str, folder: Path) -> str:
    if line.startswith("![") and not (folder / line[line.rindex("(") + 1 : -1]).is_file():
        return line.removesuffix(".png)") + ".svg)"
    if line.startswith("[CSV](") and not (folder / line[6:-1]).is_file():
        return f"The whole table is the file `{line[6:-1]}` of a run."
    return line


def _stands(target: Path, name: str) -> str:
    """The outcomes of one experiment, the reproduced claims first."""
    claims = pd.read_csv(target / name / "claims.csv")
    parts = [f"## [{name}]({name}/index.md)", f"{load_experiments()[name].paper}."]
    for outcome in ("reproduced", "contradicted", "inconclusive"):
        texts = claims[claims["outcome"] == outcome]["claim"]
        if len(texts):
            parts += [f"**{outcome.capitalize()}** ({len(texts)})", "\n".join(f"- {claim}" for claim in texts)]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    take(Path(sys.argv[1]), Path(__file__).parent / "reproduced")
