"""How to have a judgement again: the command, the hashes of the files, the version."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

_OPTIONS = {"level": 0.95, "alpha": 0.05, "resamples": 2000, "seed": 0, "positive": None, "stream": None}
_NAMES = {"scores": "score", "measures": "measure"}


@dataclass(frozen=True)
class Origin:
    """Files with their SHA-256, the command that judges them, and the version of this package."""

    files: tuple[tuple[str, str], ...]
    command: str
    version: str


def origin_of(paths: Sequence[Path], options: Mapping[str, Any]) -> Origin:
    """Of files; of a frame there is no command and no hash."""
    files = tuple((path.name, _digest(path)) for path in paths)
    words = ["fairtrial", "judge", *(path.name for path in paths), *_words(options)]
    return Origin(files, shlex.join(words) if paths else "", version("fairtrial"))


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _words(options: Mapping[str, Any]) -> list[str]:
    """Options as on the command line, those that differ from what is usual.

    >>> _words({"level": 0.9, "seed": 0, "scores": {"tree": "t"}, "measures": ["auc", "ks"], "stream": True})
    ['--level', '0.9', '--score', 'tree=t', '--measure', 'auc', '--measure', 'ks', '--stream']
    """
    found: list[str] = []
    for name, value in options.items():
        if value is None or value is False or (name in _OPTIONS and value == _OPTIONS[name]):
            continue
        option = f"--{_NAMES.get(name, name)}"
        found += [option] if value is True else [word for each in _listed(value) for word in (option, each)]
    return found


def _listed(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [f"{key}={each}" for key, each in value.items()]
    if isinstance(value, (list, tuple)):
        return [str(getattr(each, "name", each)) for each in value]
    return [str(getattr(value, "name", value))]
