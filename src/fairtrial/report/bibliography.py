"""The works that measures, tests and checks cite: short citations, and the full text of each work."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files


def split_citation(cite: str) -> list[str]:
    """The works of a short citation, one by one.

    >>> split_citation("Cohen 1960, 1968; Sáez, Luengo & Herrera 2011")
    ['Cohen 1960', 'Cohen 1968', 'Sáez, Luengo & Herrera 2011']
    """
    works = []
    for citation in filter(None, (part.strip() for part in cite.split(";"))):
        years_match = re.fullmatch(r"(.*?) (\d{4}(?:, \d{4})+)", citation)
        works += [f"{years_match[1]} {year}" for year in years_match[2].split(", ")] if years_match else [citation]
    return works


@cache
def read_bibliography() -> dict[str, str]:
    """The full text of each work by its short name."""
    text = files("fairtrial.report").joinpath("bibliography.toml").read_text(encoding="utf-8")
    return {name: str(work) for name, work in tomllib.loads(text).items()}
