"""Finished runs on disk, so that a study that was stopped goes on where it was."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

if TYPE_CHECKING:
    from fairtrial.study.environments import EnvironmentMatrix

Settings = Mapping[str, Any]


def kept_path(folder: Path, settings: Settings) -> Path:
    """Where a run of these settings is kept; whatever differs in them has a file of its own.

    >>> one, other = (kept_path(Path("parts"), {"table": "missing", "learner": "1R", "seed": seed}) for seed in (1, 2))
    >>> one.name[:11], one == other
    ('missing-1r-', False)
    """
    told = json.dumps(settings, sort_keys=True)
    name = f"{settings['table']}-{settings['learner']}".lower().replace(" ", "-")
    return folder / f"{name}-{hashlib.sha256(told.encode()).hexdigest()[:16]}.npz"


def keep(path: Path, settings: Settings, matrix: EnvironmentMatrix) -> None:
    """Write the errors of each replicate, and what failed; a file is whole or not there."""
    runs = matrix.runs().sort_values("replicate", kind="stable")
    cells = dict(list(runs.groupby(["learner", "trained_on", "tested_on"], sort=False)))
    told = {
        "settings": dict(settings),
        "cells": list(cells),
        "learners": matrix.learners,
        "environments": matrix.environments,
        "plan": dict(matrix.plan),
        "failures": [astuple(each) for each in matrix.failures],
    }
    errors, trivial = (np.array([own[kind].to_numpy() for own in cells.values()]) for kind in ("error", "trivial"))
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    with unfinished.open("wb") as file:
        np.savez_compressed(file, told=np.array(json.dumps(told)), errors=errors, trivial=trivial)
    unfinished.replace(path)


def kept(path: Path) -> EnvironmentMatrix | None:
    """The run as it was; None where none is kept, or where the file cannot be read."""
    from fairtrial.study.environments import EnvironmentFailure, build_matrix

    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as found:
            told, errors, trivial = json.loads(str(found["told"])), found["errors"], found["trivial"]
        cells = [(learner, source, target) for learner, source, target in told["cells"]]
        by_cell = dict(zip(cells, errors, strict=True))
        by_target = {target: own for (_, _, target), own in zip(cells, trivial, strict=True)}
        failures = [EnvironmentFailure(*each) for each in told["failures"]]
        return build_matrix(told["learners"], told["environments"], by_cell, by_target, failures, told["plan"])
    except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile, zlib.error):
        return None
