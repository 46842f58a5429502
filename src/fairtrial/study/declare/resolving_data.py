"""From names, paths and globs to data sets."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fairtrial._registry import did_you_mean
from fairtrial.errors import FairtrialError, InputError
from fairtrial.study.declare.declaration import Data, DataSet
from fairtrial.study.declare.declared_values import counted
from fairtrial.study.declare.gathering import Mistake, made_of, mistakes_of
from fairtrial.study.declare.resolved import NamedData
from fairtrial.study.declare.schemes import RIGHT_TARGET

_FOLD_OPTIONS = ("scheme", "target", "encoding")


def resolve_data(
    declared: Data, folder: Path, objects: Mapping[tuple[str, ...], Any]
) -> tuple[list[tuple[tuple[str | int, ...], NamedData]], list[Mistake]]:
    """Each data set with its place, and what is wrong."""
    found: list[tuple[tuple[str | int, ...], NamedData]] = []
    mistakes: list[Mistake] = []
    for place, name, make in _makers(declared, folder, objects):
        try:
            entries = [_named(each, name) for each in make()]
            for entry in entries:
                _check_new(entry, [each for _, each in found])
                found.append((place, entry))
        except (FairtrialError, OSError, TypeError, ValueError) as error:
            mistakes += mistakes_of(error, *place)
    return found, mistakes


def is_path(text: str, folder: Path) -> bool:
    """Whether a text names a file or a folder rather than a set of the catalogue or of OpenML.

    >>> is_path("iris", Path()), is_path("openml:61", Path()), is_path("heart.csv", Path()), is_path("files/*.dat", Path())
    (False, False, True, True)
    """
    from fairtrial.data.reading import SUFFIXES

    if text.startswith("openml:"):
        return False
    if glob.has_magic(text) or text.lower().endswith((*SUFFIXES, ".gz", ".zip")) or text.startswith((".", "~", os.sep)):
        return True
    return ("/" in text or os.sep in text) and (folder / text).exists()


def _makers(
    declared: Data, folder: Path, objects: Mapping[tuple[str, ...], Any]
) -> Iterator[tuple[tuple[str | int, ...], str | None, Any]]:
    for number, text in enumerate(declared.sets):
        yield ("data", "sets", number), None, lambda text=text: _by_text(text, folder, {})
    for name, entry in declared.named.items():
        yield ("data", name), name, lambda name=name, entry=entry: _by_entry(name, entry, folder, objects)


def _by_entry(name: str, entry: DataSet, folder: Path, objects: Mapping[tuple[str, ...], Any]) -> list[Any]:
    if entry.object is not None:
        if ("data", name) not in objects:
            raise InputError(f"{name} was an object of Python, which no file can hold: write it to a file and name that")
        return [objects["data", name]]
    if entry.file is not None:
        path = _expanded(entry.file, folder)
        return [made_of(lambda options: _by_file(path, options), entry.parameters)]
    found = made_of(lambda options: _by_text(str(entry.set), folder, options), entry.parameters)
    if len(found) != 1:
        raise InputError(f"{name} must be one data set, got {len(found)} files of {entry.set!r}: list them under sets")
    return found


def _by_text(text: str, folder: Path, options: Mapping[str, Any]) -> list[Any]:
    if not is_path(text, folder):
        return [_by_name(text, folder, options)]
    if not glob.has_magic(text) or _expanded(text, folder).exists():
        return [_by_file(_expanded(text, folder), options)]
    files = sorted(glob.glob(os.path.expanduser(text), root_dir=folder, recursive=True))
    if not files:
        raise InputError(f"no file fits {text!r} in {folder}")
    return [_by_file(folder / each, options) for each in files]


def _by_name(text: str, folder: Path, options: Mapping[str, Any]) -> Any:
    from fairtrial.data import load
    from fairtrial.errors import UnknownNameError

    if options:
        raise InputError(f"{text} is a set of the catalogue and has no option {next(iter(options))!r}: options are for files")
    try:
        return load(text)
    except UnknownNameError:
        if (folder / text).exists():
            return _by_file(folder / text, options)
        raise


def _by_file(path: Path, options: Mapping[str, Any]) -> Any:
    """A table, or folds in an archive or a folder."""
    from fairtrial.data import read, read_folds

    if not (path.is_dir() or path.suffix.lower() == ".zip"):
        if "name" in options:
            raise InputError(f"a data set has no option 'name', got {options['name']!r}: its name is that of its table")
        try:
            return read(path, **options)
        except TypeError as error:
            raise InputError(f"{path.name} cannot be read with these options: {error}") from None
    for each in options:
        if each not in _FOLD_OPTIONS:
            raise InputError(f"folds have no option {each!r}: {did_you_mean(each, _FOLD_OPTIONS)}")
    return read_folds(path, **options)


def _expanded(text: str, folder: Path) -> Path:
    return folder / os.path.expanduser(text)


def _named(found: Any, name: str | None) -> NamedData:
    from fairtrial.data import GivenFolds
    from fairtrial.resampling import Splits

    dataset = found.dataset if isinstance(found, GivenFolds) else found
    given = Splits.of(found.splits, len(dataset)) if isinstance(found, GivenFolds) else None
    return NamedData(name or dataset.name, dataset, given)


def _check_new(entry: NamedData, others: list[NamedData]) -> None:
    rows = entry.dataset.y.value_counts()
    present, target = int((rows > 0).sum()), entry.dataset.target
    if present < 2:
        raise InputError(f"{entry.name} must have at least 2 classes with rows, got {present}: is the target right?")
    if rows.max() == 1:
        told = f"{target!r} has a value of its own in each of {counted(present, 'row')}"
        raise InputError(f"{entry.name} must have a class with more than 1 row, got none: {told}; {RIGHT_TARGET}")
    for other in others:
        if other.name == entry.name:
            raise InputError(f"two data sets are called {entry.name!r}: give one a name, [data.another] with file = ...")
        if other.dataset == entry.dataset:
            raise InputError(f"{entry.name} and {other.name} have the same contents: leave one out")
