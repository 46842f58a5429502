"""The study files of the experiments, as they stand."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any


def study_file(experiment: str, name: str) -> dict[str, Any]:
    """What a file of an experiment's folder declares.

    >>> len(study_file("ela", "study")["data"])
    32
    """
    text = (resources.files("fairtrial.reproduce") / experiment / f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
