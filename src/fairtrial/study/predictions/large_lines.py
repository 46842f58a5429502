"""Which lines of a large file are judged: complete ones, of one condition, and of each row the first prediction alone."""

from __future__ import annotations

from fairtrial.errors import InputError
from fairtrial.study.predictions.large_file import LargeFile, name, quoted
from fairtrial.study.predictions.prediction_checks import Notes, condition_of, tell_condition, tell_first

_COMPLETE = ("truth", "dataset", "model", "row", "repeat", "fold")


def choose_lines(file: LargeFile, notes: Notes) -> None:
    """Check the columns that name things, and leave in `judged` the lines that files held in memory are judged by."""
    _check_complete(file)
    _one_condition(file, notes)
    if file.roles.get("row") is not None:
        _first_of_rows(file, notes)
    elif file.roles.get("repeat") is not None:
        _first_repeat(file, notes)


def several_folds(file: LargeFile) -> bool:
    """Whether a model predicts in several folds."""
    fold = file.roles.get("fold")
    if fold is None:
        return False
    keys = ", ".join(["1", *_keys(file, "dataset", "model")])
    return bool(file.rows(f"SELECT {keys} FROM judged GROUP BY ALL HAVING min({name(fold)}) <> max({name(fold)}) LIMIT 1"))


def _keys(file: LargeFile, *roles: str) -> list[str]:
    return [name(column) for column in map(file.roles.get, roles) if column is not None]


def _check_complete(file: LargeFile) -> None:
    known = [(role, column) for role in _COMPLETE if (column := file.roles.get(role)) is not None]
    counts = ", ".join(f"count(*) FILTER (WHERE {file.missing(column)})" for _, column in known)
    for (role, column), count in zip(known, file.rows(f"SELECT {counts} FROM lines")[0], strict=True):
        if count:
            raise InputError(
                f"{role} must not be missing, got nothing in column {column!r} ({count:,} such lines): drop these lines or "
                "fill the cells"
            )


def _one_condition(file: LargeFile, notes: Notes) -> None:
    if file.roles.get("condition") is None:
        return
    keys = _keys(file, "condition", "level")
    found = file.rows(f"SELECT {', '.join(keys)}, count(*) FROM lines GROUP BY ALL")
    if len(found) > 1:
        *wanted, count = condition_of(found)
        pairs = zip(keys, wanted, strict=True)
        file.keep(" AND ".join(f"{key} IS NOT DISTINCT FROM {quoted(value)}" for key, value in pairs))
        tell_condition(len(found), count, wanted, notes)


def _first_of_rows(file: LargeFile, notes: Notes) -> None:
    """A model predicts a row once in each repeat and fold; of several such predictions the first is judged."""
    keys, splits = ", ".join(_keys(file, "dataset", "model", "row")), _keys(file, "repeat", "fold")
    different = f"count(DISTINCT ({', '.join(splits)}))" if splits else "1"
    lines = f"SELECT {keys}, count(*) AS n, {different} AS d FROM judged GROUP BY {keys} HAVING count(*) > 1"
    several, twice = file.rows(f"SELECT count(*), coalesce(sum(n - d), 0) FROM ({lines})")[0]
    if twice:
        row = str(file.roles.get("row"))
        example = file.rows(f"SELECT {name(row)} FROM ({lines}) WHERE n > d LIMIT 1")[0][0]
        raise InputError(
            f"models must predict each row once, got row {example!r} of column {row!r} more than once ({int(twice):,} such "
            "lines): drop the repeated lines, or number repeats and folds in columns of these names"
        )
    if several:
        file.keep_first(keys, ", ".join(splits))
        tell_first(notes)


def _first_repeat(file: LargeFile, notes: Notes) -> None:
    """Without ids of rows, the first repeat of each model."""
    repeat = name(str(file.roles.get("repeat")))
    keys = ", ".join(["1", *_keys(file, "dataset", "model")])
    if file.rows(f"SELECT {keys} FROM judged GROUP BY ALL HAVING min({repeat}) <> max({repeat}) LIMIT 1"):
        file.keep(f"({keys}, {repeat}) IN (SELECT {keys}, min({repeat}) FROM lines WHERE {file.kept} GROUP BY ALL)")
        tell_first(notes)
