"""Read published folds from pairs of KEEL files, such as `x-5-1tra.dat` and `x-5-1tst.dat`."""

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
from fairtrial._text import format_count, join_names
from fairtrial.data.dataset import Dataset
from fairtrial.data.declared import read_declared
from fairtrial.data.faults import warn_if_known
from fairtrial.data.keel import KEEL
from fairtrial.errors import InputError, SuspectInputWarning

if TYPE_CHECKING:
    import pandas as pd


def compute_row_keys(frame: pd.DataFrame) -> IntArray:
    """Assign an integer key to each row. Equal rows get the same key.

    Missing values are treated as equal.

    >>> import pandas as pd
    >>> compute_row_keys(pd.DataFrame({"a": [1.0, float("nan"), 1.0, float("nan")]})).tolist()
    [0, 1, 0, 1]
    """
    columns = [column.cat.codes if column.dtype == "category" else column for _, column in frame.items()]
    table = np.column_stack([column.to_numpy(dtype=np.float64) for column in columns]) + 0.0
    table[np.isnan(table)] = np.nan
    row_to_key: dict[bytes, int] = {}
    return np.array([row_to_key.setdefault(row.tobytes(), len(row_to_key)) for row in table], dtype=np.intp)


def count_copies(test_keys: Sequence[IntArray], train_keys: Sequence[IntArray]) -> IntArray:
    """Estimate how many rows of the data set have each key.

    In a correct fold, the training and test sets together contain every row once. The estimate for a key is therefore the
    median, over folds, of the number of rows with this key. It is at least the largest number of such rows in a single training
    or test set. The median is not affected by a single fold in which a row is duplicated or lost.

    >>> tests, leaking = [[0, 1], [2], [3]], [[2, 3, 0], [0, 1, 3], [0, 1, 2]]
    >>> count_copies([np.array(each) for each in tests], [np.array(each) for each in leaking])
    array([1, 1, 1, 1])
    """
    width = 1 + max(int(keys.max()) for keys in [*test_keys, *train_keys])
    tests, trains = (np.array([np.bincount(keys, minlength=width) for keys in side]) for side in (test_keys, train_keys))
    typical = np.sort(tests + trains, axis=0)[(len(tests) - 1) // 2]
    needed = np.maximum(tests.max(axis=0), trains.max(axis=0))
    return np.asarray(np.maximum(typical, needed), dtype=np.intp)


def match_rows(test_keys: Sequence[IntArray], train_keys: Sequence[IntArray]) -> tuple[list[list[int]], list[int]]:
    """Match the rows of all test and training sets to positions in one table.

    Return the positions of the rows in each set, with all test sets first. For each position, also return the index of its row
    in the concatenated sets. No position occurs twice in a set. If several positions match a test row, a position that is in no
    earlier test set is preferred. If several positions match a training row, a position that is not in the test set of the same
    fold is preferred.

    >>> match_rows([np.array([0, 1]), np.array([2])], [np.array([2]), np.array([1, 0])])
    ([[0, 1], [2], [2], [1, 0]], [0, 1, 2])
    """
    left = count_copies(test_keys, train_keys).tolist()
    positions_by_key: dict[int, list[int]] = defaultdict(list)
    kept_rows: list[int] = []
    all_positions: list[list[int]] = []
    seen = 0
    for part, keys in enumerate([*test_keys, *train_keys]):
        avoided = set(all_positions[part - len(test_keys)]) if part >= len(test_keys) else set(range(len(kept_rows)))
        free: dict[int, list[int]] = {}
        positions: list[int] = []
        for row, key in enumerate(keys.tolist()):
            if key not in free:
                free[key] = sorted(positions_by_key[key], key=lambda position: (position in avoided, position), reverse=True)
            if left[key] and (not free[key] or free[key][-1] in avoided):
                free[key].append(len(kept_rows))
                positions_by_key[key].append(len(kept_rows))
                kept_rows.append(seen + row)
                left[key] -= 1
            positions.append(free[key].pop())
        all_positions.append(positions)
        seen += len(keys)
    return all_positions, kept_rows


_FOLD_FILE = re.compile(r"(?P<set>.+)-(?P<fold>[0-9]{1,6})(?P<part>tra|tst)\.dat", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class GivenFolds:
    """A data set with published splits.

    Iterate over the object to get pairs (train, test) of row positions. The rows of the data set follow the order of the test
    sets. Rows that are in no test set come last.

    Attributes
    ----------
    dataset : Dataset
        Data set that contains each row once.
    splits : tuple
        One pair (train, test) of arrays of row positions per fold.

    Examples
    --------
    >>> import numpy as np
    >>> dataset = Dataset.from_table([[1.0], [2.0], [3.0]], ["a", "b", "a"])
    >>> folds = GivenFolds(dataset, ((np.array([1, 2]), np.array([0])), (np.array([0]), np.array([1, 2]))))
    >>> len(folds), folds.never_tested
    (2, 0)
    """

    dataset: Dataset
    splits: tuple[tuple[IntArray, IntArray], ...]

    def __iter__(self) -> Iterator[tuple[IntArray, IntArray]]:
        return iter(self.splits)

    def __len__(self) -> int:
        return len(self.splits)

    @property
    def never_tested(self) -> int:
        """Number of rows that are in no test set."""
        return len(self.dataset) - len(set().union(*(test.tolist() for _, test in self.splits)))

    def frame(self) -> pd.DataFrame:
        """Return the sizes of the training set, the test set and their overlap for each fold."""
        import pandas as pd

        lines = [(len(train), len(test), len(np.intersect1d(train, test))) for train, test in self.splits]
        return pd.DataFrame(lines, columns=["train", "test", "both"], index=pd.RangeIndex(1, len(lines) + 1, name="fold"))

    def __str__(self) -> str:
        both, never = int(self.frame()["both"].sum()), self.never_tested
        folds, rows = format_count(len(self), "given fold"), format_count(len(self.dataset), "row")
        coverage = "every row is tested" if not never else f"{format_count(never, 'row')} never tested"
        leak = f"; {format_count(both, 'row')} in training and test set of the same fold" if both else ""
        return f"{self.dataset.name}: {folds} of {rows}; {coverage}{leak}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


def read_folds(
    path: str | PathLike[str], *, scheme: str | None = None, target: str | None = None, encoding: str = "utf-8"
) -> GivenFolds:
    """Read KEEL folds from a folder or a zip archive.

    KEEL files have no row identifiers, so rows are matched by their values. If a training row equals several rows of the data
    set, it is matched to a row that is not tested in the same fold. If there is no such row, the fold has a leak: one of its
    test rows is also a training row. A SuspectInputWarning is issued for leaks and for rows that are never tested.

    Parameters
    ----------
    path : path
        Folder or zip archive with pairs of files such as `x-5-1tra.dat` and `x-5-1tst.dat`.
    scheme : str, optional
        Part of the file names before the fold number, such as `x-5`. Required if there are several schemes.
    target : str, optional
        Class attribute. Default: the attribute named in `@outputs`, otherwise the last attribute.
    encoding : str, default "utf-8"
        Text encoding of the files.

    Returns
    -------
    GivenFolds

    Raises
    ------
    InputError
        If a file is missing or cannot be read, or if the files declare different attributes.

    Examples
    --------
    >>> import tempfile
    >>> head = "@attribute a real\\n@attribute c {x,y}\\n@data\\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, rows in {"1tra": "3,x", "1tst": "1,x\\n2,y", "2tra": "2,y\\n1,x", "2tst": "3,x"}.items():
    ...         _ = Path(folder, f"set-2-{name}.dat").write_text(head + rows)
    ...     folds = read_folds(folder)
    >>> print(folds)
    set-2: 2 given folds of 3 rows; every row is tested
    >>> [(train.tolist(), test.tolist()) for train, test in folds]
    [([2], [0, 1]), ([1, 0], [2])]
    """
    with closing(_FoldArchive.from_path(path)) as folder:
        name, members = _select_scheme(folder.list_names(), scheme, str(fspath(path)))
        fold_pairs = [tuple(_read_fold_file(folder, member, target, encoding) for member in pair) for pair in members]
    folds = _match_folds(fold_pairs, name, str(fspath(path)))
    _warn_about_leaks(folds)
    return GivenFolds(warn_if_known(folds.dataset), folds.splits)


class _FoldArchive:
    """The files in a folder or a zip archive."""

    def __init__(self, path: Path, archive: zipfile.ZipFile | None) -> None:
        self._path, self._archive = path, archive

    @classmethod
    def from_path(cls, source: str | PathLike[str]) -> _FoldArchive:
        path = Path(source)
        try:
            if path.is_dir():
                return cls(path, None)
            return cls(path, zipfile.ZipFile(path))
        except FileNotFoundError:
            raise InputError(f"{path}: no such folder or archive") from None
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            raise InputError(f"{path} must be a folder or a zip archive of folds: {error}") from None

    def list_names(self) -> list[str]:
        if self._archive is None:
            return sorted(path.name for path in self._path.iterdir())
        return [member for member in self._archive.namelist() if not member.startswith("__MACOSX/")]

    def open(self, name: str) -> IO[bytes]:
        try:
            return open(self._path / name, "rb") if self._archive is None else self._archive.open(name)
        except (OSError, RuntimeError, NotImplementedError, zipfile.BadZipFile) as error:
            raise InputError(f"{self._path}: {name} cannot be opened: {error}") from None

    def close(self) -> None:
        if self._archive is not None:
            self._archive.close()


def _select_scheme(names: Sequence[str], scheme: str | None, path: str) -> tuple[str, list[tuple[str, str]]]:
    """Return the name of the scheme and its pairs of files, sorted by fold number."""
    schemes: dict[str, dict[int, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for name in names:
        if matched := _FOLD_FILE.fullmatch(name.rpartition("/")[2]):
            schemes[matched["set"]][int(matched["fold"])][matched["part"].lower()] = name
    if not schemes:
        raise InputError(f"{path} must contain pairs of files like x-5-1tra.dat and x-5-1tst.dat, got none")
    if scheme is None and len(schemes) > 1:
        raise InputError(f"{path} must contain folds of one scheme, got {join_names(sorted(schemes))}: pass scheme=")
    scheme = scheme if scheme is not None else next(iter(schemes))
    if scheme not in schemes:
        raise InputError(f"scheme must be one of {join_names(sorted(schemes))}, got {scheme!r}")
    folds = schemes[scheme]
    for fold, pair in sorted(folds.items()):
        if len(pair) < 2:
            raise InputError(
                f"{path}: fold {fold} of {scheme} must have a training and a test file, got {sorted(pair.values())}"
            )
    return scheme, [(folds[fold]["tra"], folds[fold]["tst"]) for fold in sorted(folds)]


def _read_fold_file(folder: _FoldArchive, member: str, target: str | None, encoding: str) -> Dataset:
    with folder.open(member) as stream:
        try:
            return read_declared(stream, KEEL, target=target, name=None, encoding=encoding)
        except InputError as error:
            raise InputError(f"{folder._path}: {error}") from None


def _match_folds(fold_pairs: Sequence[tuple[Dataset, ...]], name: str, source: str) -> GivenFolds:
    """Match the rows of all files. In the data set, rows follow the order of the test sets."""
    ordered = [test for _, test in fold_pairs] + [train for train, _ in fold_pairs]
    everything = _join_datasets(ordered)
    ends = np.cumsum([len(dataset) for dataset in ordered])
    keys = np.split(compute_row_keys(everything.frame()), ends[:-1])
    positions, kept_rows = match_rows(keys[: len(fold_pairs)], keys[len(fold_pairs) :])
    unique_rows = everything.take(kept_rows)
    splits = tuple(
        (_freeze_positions(train), _freeze_positions(test))
        for test, train in zip(positions[: len(fold_pairs)], positions[len(fold_pairs) :], strict=True)
    )
    metadata = {"name": name, "source": source, "notes": fold_pairs[0][0].notes, "ranges": fold_pairs[0][0].ranges}
    return GivenFolds(Dataset.from_table(unique_rows.X, unique_rows.y, target=unique_rows.target, **metadata), splits)  # type: ignore[arg-type]


def _join_datasets(datasets: Sequence[Dataset]) -> Dataset:
    """Concatenate data sets. Categories keep the order in which they are first declared."""
    import pandas as pd

    names = list(datasets[0].X.columns)
    for dataset in datasets[1:]:
        if list(dataset.X.columns) != names or dataset.target != datasets[0].target:
            raise InputError(
                f"{dataset.source} must declare the same attributes as {datasets[0].source} ({join_names(names)}), got "
                f"{join_names(dataset.X.columns)}"
            )
    frames = [dataset.frame() for dataset in datasets]
    columns = {name: _join_columns([frame[name] for frame in frames]) for name in frames[0].columns}
    label = pd.Series(columns.pop(datasets[0].target), name=datasets[0].target)
    return Dataset.from_table(pd.DataFrame(columns), label)


def _join_columns(columns: Sequence[pd.Series[Any]]) -> Any:
    import pandas as pd

    nominal = [isinstance(column.dtype, pd.CategoricalDtype) for column in columns]
    if len(set(nominal)) > 1:
        raise InputError(f"attribute {columns[0].name!r} must have the same type in all files, got nominal and numeric")
    if not nominal[0]:
        return np.concatenate([column.to_numpy() for column in columns])
    categories = list(dict.fromkeys(value for column in columns for value in column.cat.categories))
    return pd.Categorical(np.concatenate([column.to_numpy(dtype=object) for column in columns]), categories=categories)


def _freeze_positions(positions: Sequence[int]) -> IntArray:
    array = np.array(positions, dtype=np.intp)
    array.flags.writeable = False
    return array


def _warn_about_leaks(folds: GivenFolds) -> None:
    messages = [
        f"fold {fold} has {both} of its {test} test rows in the training set"
        for fold, (test, both) in enumerate(folds.frame()[["test", "both"]].to_numpy().tolist(), 1)
        if both
    ]
    if folds.never_tested:
        verb = "is" if folds.never_tested == 1 else "are"
        messages.append(f"{folds.never_tested} of {len(folds.dataset)} rows {verb} never tested")
    if messages:
        text = f"{folds.dataset.source}: {'; '.join(messages)}: draw new folds from the whole data set"
        warnings.warn(text, SuspectInputWarning, stacklevel=3)
