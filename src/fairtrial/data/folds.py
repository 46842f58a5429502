"""Folds that others made: KEEL's pairs of files (`x-5-1tra.dat`, `x-5-1tst.dat`) as one data set and its splits."""

from __future__ import annotations

import re
import warnings
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from html import escape
from os import PathLike, fspath
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import IntArray
from fairtrial.data.dataset import Dataset
from fairtrial.data.declared import read_declared
from fairtrial.data.faults import warn_if_known
from fairtrial.data.keel import KEEL
from fairtrial.data.matching import match, row_keys
from fairtrial.errors import InputError, SuspectInputWarning

if TYPE_CHECKING:
    import pandas as pd

_PART = re.compile(r"(?P<set>.+)-(?P<fold>[0-9]{1,6})(?P<part>tra|tst)\.dat", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class GivenFolds:
    """A data set with the splits that came with it: pairs (train, test) of positions, in the order of the folds.

    The rows are those of the test parts, one after the other, then those that no test part holds.
    """

    dataset: Dataset
    splits: tuple[tuple[IntArray, IntArray], ...]

    def __iter__(self) -> Iterator[tuple[IntArray, IntArray]]:
        return iter(self.splits)

    def __len__(self) -> int:
        return len(self.splits)

    @property
    def never_tested(self) -> int:
        """How many rows no test part holds."""
        return len(self.dataset) - len(set().union(*(test.tolist() for _, test in self.splits)))

    def frame(self) -> pd.DataFrame:
        """A line for each fold: rows that train, rows that test, rows that do both."""
        import pandas as pd

        lines = [(len(train), len(test), len(np.intersect1d(train, test))) for train, test in self.splits]
        return pd.DataFrame(lines, columns=["train", "test", "both"], index=pd.RangeIndex(1, len(lines) + 1, name="fold"))

    def __str__(self) -> str:
        both, never = int(self.frame()["both"].sum()), self.never_tested
        told = "every row tests" if not never else f"{never} rows never test"
        leak = f"; {both} rows train and test in the same fold" if both else ""
        return f"{self.dataset.name}: {len(self)} given folds of {len(self.dataset)} rows; {told}{leak}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


def read_folds(
    path: str | PathLike[str], *, scheme: str | None = None, target: str | None = None, encoding: str = "utf-8"
) -> GivenFolds:
    """KEEL's folds from a folder or a zip archive.

    KEEL repeats the rows in every file and numbers none, so rows are matched by their values: the data set has as many equal
    rows as most folds show. A training row is one that its own fold does not test as long as there is one, else the fold leaks.
    Folds that leak or leave rows untested give a SuspectInputWarning. Where files of several schemes lie together, `scheme`
    chooses: what stands before the number of the fold, as `x-5` in `x-5-1tra.dat`.

    >>> import tempfile
    >>> head = "@attribute a real\\n@attribute c {x,y}\\n@data\\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, rows in {"1tra": "3,x", "1tst": "1,x\\n2,y", "2tra": "2,y\\n1,x", "2tst": "3,x"}.items():
    ...         _ = Path(folder, f"set-2-{name}.dat").write_text(head + rows)
    ...     folds = read_folds(folder)
    >>> print(folds)
    set-2: 2 given folds of 3 rows; every row tests
    >>> [(train.tolist(), test.tolist()) for train, test in folds]
    [([2], [0, 1]), ([1, 0], [2])]
    """
    with closing(_Folder.of(path)) as folder:
        name, members = _chosen(folder.names(), scheme, str(fspath(path)))
        parts = [tuple(_part(folder, member, target, encoding) for member in pair) for pair in members]
    folds = _matched(parts, name, str(fspath(path)))
    _warn_of_leaks(folds)
    return GivenFolds(warn_if_known(folds.dataset), folds.splits)


class _Folder:
    """Named files, in a folder or an archive."""

    def __init__(self, path: Path, archive: zipfile.ZipFile | None) -> None:
        self._path, self._archive = path, archive

    @classmethod
    def of(cls, given: str | PathLike[str]) -> _Folder:
        path = Path(given)
        try:
            if path.is_dir():
                return cls(path, None)
            return cls(path, zipfile.ZipFile(path))
        except FileNotFoundError:
            raise InputError(f"{path}: there is no such folder or archive") from None
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            raise InputError(f"{path} must be a folder or a zip archive of folds: {error}") from None

    def names(self) -> list[str]:
        if self._archive is None:
            return sorted(each.name for each in self._path.iterdir())
        return [each for each in self._archive.namelist() if not each.startswith("__MACOSX/")]

    def open(self, name: str) -> IO[bytes]:
        try:
            return open(self._path / name, "rb") if self._archive is None else self._archive.open(name)
        except (OSError, RuntimeError, NotImplementedError, zipfile.BadZipFile) as error:
            raise InputError(f"{self._path}: {name} cannot be opened: {error}") from None

    def close(self) -> None:
        if self._archive is not None:
            self._archive.close()


def _chosen(names: Sequence[str], scheme: str | None, path: str) -> tuple[str, list[tuple[str, str]]]:
    """The name of the scheme and its pairs of files, by the number of the fold."""
    found: dict[str, dict[int, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for name in names:
        if matched := _PART.fullmatch(name.rpartition("/")[2]):
            found[matched["set"]][int(matched["fold"])][matched["part"].lower()] = name
    if not found:
        raise InputError(f"{path} must hold pairs of files like x-5-1tra.dat and x-5-1tst.dat, got none")
    if scheme is None and len(found) > 1:
        raise InputError(f"{path} holds folds of {len(found)} schemes, {sorted(found)}: choose one with scheme=")
    scheme = scheme if scheme is not None else next(iter(found))
    if scheme not in found:
        raise InputError(f"scheme must be one of {sorted(found)}, got {scheme!r}")
    folds = found[scheme]
    for fold, pair in sorted(folds.items()):
        if len(pair) < 2:
            raise InputError(
                f"{path}: fold {fold} of {scheme} must have a training and a test file, got {sorted(pair.values())}"
            )
    return scheme, [(folds[fold]["tra"], folds[fold]["tst"]) for fold in sorted(folds)]


def _part(folder: _Folder, member: str, target: str | None, encoding: str) -> Dataset:
    with folder.open(member) as stream:
        try:
            return read_declared(stream, KEEL, target=target, name=None, encoding=encoding)
        except InputError as error:
            raise InputError(f"{folder._path}: {error}") from None


def _matched(parts: Sequence[tuple[Dataset, ...]], name: str, source: str) -> GivenFolds:
    """Test parts lie before training parts in the joined table, so that a row is taken from where it is tested."""
    ordered = [test for _, test in parts] + [train for train, _ in parts]
    everything = _joined(ordered)
    ends = np.cumsum([len(each) for each in ordered])
    keys = np.split(row_keys(everything.frame()), ends[:-1])
    places, kept = match(keys[: len(parts)], keys[len(parts) :])
    taken = everything.take(kept)
    splits = tuple(
        (_frozen(train), _frozen(test)) for test, train in zip(places[: len(parts)], places[len(parts) :], strict=True)
    )
    known = {"name": name, "source": source, "notes": parts[0][0].notes, "ranges": parts[0][0].ranges}
    return GivenFolds(Dataset.of(taken.X, taken.y, target=taken.target, **known), splits)  # type: ignore[arg-type]


def _joined(parts: Sequence[Dataset]) -> Dataset:
    """All parts below each other; categories in the order in which they are first declared."""
    import pandas as pd

    names = list(parts[0].X.columns)
    for part in parts[1:]:
        if list(part.X.columns) != names or part.target != parts[0].target:
            raise InputError(
                f"{part.source} must declare the attributes {names} as {parts[0].source}, got {list(part.X.columns)}"
            )
    frames = [part.frame() for part in parts]
    columns = {name: _joined_column([frame[name] for frame in frames]) for name in frames[0].columns}
    label = pd.Series(columns.pop(parts[0].target), name=parts[0].target)
    return Dataset.of(pd.DataFrame(columns), label)


def _joined_column(columns: Sequence[pd.Series[Any]]) -> Any:
    import pandas as pd

    nominal = [isinstance(each.dtype, pd.CategoricalDtype) for each in columns]
    if len(set(nominal)) > 1:
        raise InputError(f"attribute {columns[0].name!r} must be of one type in all files, got nominal and numeric")
    if not nominal[0]:
        return np.concatenate([each.to_numpy() for each in columns])
    categories = list(dict.fromkeys(value for each in columns for value in each.cat.categories))
    return pd.Categorical(np.concatenate([each.to_numpy(dtype=object) for each in columns]), categories=categories)


def _frozen(positions: Sequence[int]) -> IntArray:
    array = np.array(positions, dtype=np.intp)
    array.flags.writeable = False
    return array


def _warn_of_leaks(folds: GivenFolds) -> None:
    told = [
        f"{both} of the {test} test rows of fold {fold} also train"
        for fold, (test, both) in enumerate(folds.frame()[["test", "both"]].to_numpy().tolist(), 1)
        if both
    ]
    if folds.never_tested:
        told.append(f"{folds.never_tested} of {len(folds.dataset)} rows never test")
    if told:
        text = f"{folds.dataset.source}: {'; '.join(told)}: make folds of your own from the whole data set"
        warnings.warn(text, SuspectInputWarning, stacklevel=3)
