"""Takes pages, tables and pictures of full runs into docs/reproduced; the evidence itself stays where it is.

`fairtrial reproduce all --scale full --out FOLDER`, then `python docs/take_reproduced.py FOLDER`.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

TAKEN = (".md", ".csv", ".png")
LARGEST = 300_000  # bytes: longer tables stay with the run


def take(source: Path, target: Path) -> None:
    """Replace the pages of the experiments that the folder has."""
    for page in sorted(source.glob("*/index.md")):
        place = target / page.parent.name
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        for file in sorted(page.parent.iterdir()):
            if file.suffix in TAKEN and (file.suffix != ".csv" or file.stat().st_size <= LARGEST):
                shutil.copyfile(file, place / file.name)
        _without_dead_links(place / "index.md")


def _without_dead_links(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    told = [_told(line, page.parent) for line in lines]
    page.write_text("\n".join(told) + "\n", encoding="utf-8")


def _told(line: str, folder: Path) -> str:
    if line.startswith("[As a file](") and not (folder / line[12:-1]).is_file():
        return f"The whole table is the file `{line[12:-1]}` of a run."
    return line


if __name__ == "__main__":
    take(Path(sys.argv[1]), Path(__file__).parent / "reproduced")
