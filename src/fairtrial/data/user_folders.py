"""Data sets in the user's own folders, which the variable FAIRTRIAL_DATA names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from fairtrial.data.dataset import Dataset
from fairtrial.data.entries import Entry
from fairtrial.data.reading import SUFFIXES, read
from fairtrial.data.text_tables import stem
from fairtrial.errors import InputError

VARIABLE = "FAIRTRIAL_DATA"

_FOLD = re.compile(r"-\d+-\d+(tra|tst)$")
_SEARCHED = tuple(each for each in SUFFIXES if each != ".txt")


def user_folders() -> list[Path]:
    """The folders of FAIRTRIAL_DATA, which parts them as PATH does; each must exist."""
    folders = [Path(each) for each in os.environ.get(VARIABLE, "").split(os.pathsep) if each]
    for folder in folders:
        if not folder.is_dir():
            raise InputError(f"{VARIABLE} must name folders, got {str(folder)!r}, which is none: correct or unset the variable")
    return folders


def folder_entries() -> list[Entry]:
    """One entry for each readable file at any depth; parts of folds and .txt are left out."""
    return [
        Entry(stem(path), str(path.parent), partial(_open, path), path=str(path))
        for folder in user_folders()
        for path in _files(folder)
    ]


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        yield from (Path(place) / name for name in sorted(names) if _is_data(name))


def _is_data(name: str) -> bool:
    plain = Path(name.removesuffix(".gz"))
    packed = name.endswith(".gz") and plain.suffix.lower() in (".parquet", ".pq")
    return plain.suffix.lower() in _SEARCHED and not packed and not name.startswith(".") and not _FOLD.search(plain.stem)


def _open(path: Path) -> Dataset:
    return read(path)
