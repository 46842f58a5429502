"""Scores from a file or a frame: wide or tidy, with repeats and folds or without, guessed and told."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from math import isnan
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._registry import did_you_mean
from fairtrial.errors import InputError
from fairtrial.significance.columns import Columns, columns_of_file, columns_of_frame
from fairtrial.significance.scores import Design as Design, Scores as Scores, Split

if TYPE_CHECKING:
    import pandas as pd

_TIDY = "dataset, learner, value, repeat, fold, measure"
_ONLY_DATA_SET = "data"


def read_scores(source: Scores | str | PathLike[str] | pd.DataFrame | Any, *, measure: str | None = None) -> Scores:
    """Scores from a CSV, TSV or Parquet file, a pandas frame or a matrix; the layout is guessed and told in `guessed`.

    - wide: a row for each data set, a column for each learner; the first column of text (or the frame's index) names the data
      sets. Columns called `repeat` and `fold` make it a row for each split.
    - tidy: a row for each score with columns `learner` and `value` (or `score`, or a column named as a measure), and where they
      apply `dataset`, `repeat`, `fold` and `measure`. Of several measures `measure` picks one.

    Empty cells, NA and ? are missing. What cannot be read is refused in one sentence that names the place.

    >>> import pandas as pd
    >>> scores = read_scores(pd.DataFrame({"dataset": ["iris", "wine"], "tree": [0.94, 0.9], "bayes": [0.95, 0.97]}))
    >>> print(scores)
    Scores: 2 learners, 2 data sets. The table is taken as wide: rows are data sets (column 'dataset'), columns learners.
    """
    if isinstance(source, Scores):
        return source
    raw = columns_of_file(Path(source)) if isinstance(source, (str, PathLike)) else columns_of_frame(source)
    _once("column", raw.names)
    roles = raw.roles()
    scores = _tidy(raw, roles, measure) if _is_tidy(raw, roles) else _wide(raw, roles)
    _check_design(scores)
    return scores


def _once(what: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"each {what} must occur once in the table, got {name!r} more than once: rename or average")
        seen.add(name)


def _is_tidy(raw: Columns, roles: dict[str, int]) -> bool:
    return "learner" in roles and ("value" in roles or not raw.numeric(roles["learner"]))


def _wide(raw: Columns, roles: dict[str, int]) -> Scores:
    names, told = _names_column(raw, roles)
    # A learner may be called Run or Seed: only whole numbers count repeats and folds.
    keys = {role: i for role, i in roles.items() if role in ("repeat", "fold") and not raw.fractional(i)}
    learners = [i for i in range(len(raw.names)) if i != names and i not in keys.values()]
    guessed = [f"The table is taken as wide: rows are {'splits of ' if keys else ''}data sets{told}, columns learners"]
    guessed += [f"column {raw.names[i]!r} numbers the {role}s" for role, i in keys.items()]
    # Row numbers, as a shuffled or joined frame has them, must never turn splits into data sets.
    only = keys and names is None and not (raw.text_index and len(set(raw.index)) < len(raw.index))
    datasets = raw.labels(names, "data set") if names is not None else [_ONLY_DATA_SET] * len(raw.index) if only else raw.index
    splits = _splits(raw, datasets, keys)
    twice = (
        next((split for i, split in enumerate(splits) if split in splits[:i]), None) if len(set(splits)) < len(splits) else None
    )
    if twice is not None:
        what = "split" if keys else "data set"
        remedy = "number the repeats" if keys else "rename it, or add a column 'fold' or 'repeat'"
        raise InputError(f"each {what} must occur once in the table, got {_split_name(twice, keys)} more than once: {remedy}")
    cells = np.column_stack([raw.numbers(i) for i in learners]) if learners else np.empty((len(splits), 0))
    return Scores(cells, splits, tuple(raw.names[i] for i in learners), tuple(guessed))


def _names_column(raw: Columns, roles: dict[str, int]) -> tuple[int | None, str]:
    """The column that names the data sets, and how to say so; None if the index does."""
    if "dataset" in roles:
        return roles["dataset"], f" (column {raw.names[roles['dataset']]!r})"
    unknown = 0 not in roles.values()
    if raw.names[0] in ("", "Unnamed: 0") or (unknown and (raw.counts_rows(0) or not raw.numeric(0))):
        return 0, f" (the first column{f', {raw.names[0]!r}' if raw.names[0] else ''})"
    return None, " named by the index" if raw.named_index else ", which have no names"


def _splits(raw: Columns, datasets: list[str], keys: dict[str, int]) -> tuple[Split, ...]:
    repeats, folds = (_numbered(raw, keys, role) for role in ("repeat", "fold"))
    return tuple(zip(datasets, repeats, folds, strict=True))


def _numbered(raw: Columns, keys: dict[str, int], role: str) -> list[Hashable]:
    """Labels of repeats or folds, as whole numbers where they are."""
    if role not in keys:
        return [1] * len(raw.index)
    labels = raw.labels(keys[role], role)
    found = [raw.number(label) for label in labels]
    if all(each is not None and not isnan(each) and each == int(each) for each in found):
        return [int(each) for each in found if each is not None]
    return list(labels)


def _split_name(split: Split, keys: dict[str, int]) -> str:
    numbers = {"repeat": split[1], "fold": split[2]}
    return ", ".join([repr(split[0]), *(f"{role} {numbers[role]}" for role in keys)])


def _tidy(raw: Columns, roles: dict[str, int], measure: str | None) -> Scores:
    value, name = _value_column(raw, roles, measure)
    used = {role: i for role, i in roles.items() if role not in ("value", "measure")}
    learners = raw.labels(roles["learner"], "learner")
    datasets = raw.labels(roles["dataset"], "data set") if "dataset" in roles else [_ONLY_DATA_SET] * len(raw.index)
    keys = {role: i for role, i in used.items() if role in ("repeat", "fold")}
    splits = _splits(raw, datasets, keys)
    values = raw.numbers(value)
    rows = list(range(len(values)))
    if "measure" in roles:
        measures = raw.labels(roles["measure"], "measure")
        name = _one_measure(measures, measure)
        rows = [row for row in rows if measures[row] == name]
    place = {split: i for i, split in enumerate(dict.fromkeys(splits[row] for row in rows))}
    column = {learner: i for i, learner in enumerate(dict.fromkeys(learners[row] for row in rows))}
    cells = np.full((len(place), len(column)), np.nan)
    seen: set[tuple[Split, str]] = set()
    for row in rows:
        cell = splits[row], learners[row]
        if cell in seen:
            where = _split_name(splits[row], keys)
            raise InputError(
                f"each score must occur once, got learner {learners[row]!r} on data set {where} more than once (again in "
                f"{raw.place(row)}): number the repeats and folds in columns 'repeat' and 'fold', or average"
            )
        seen.add(cell)
        cells[place[splits[row]], column[learners[row]]] = values[row]
    told = ", ".join(
        f"{role} {raw.names[i]!r}" for role, i in sorted({**used, "value": value}.items(), key=lambda each: each[1])
    )
    guessed = (f"The table is taken as tidy, a row for each score, its columns being {told}",)
    return Scores(cells, tuple(place), tuple(column), guessed, name)


def _value_column(raw: Columns, roles: dict[str, int], measure: str | None) -> tuple[int, str | None]:
    """The column of scores, and the measure it is named after."""
    others = [i for i in range(len(raw.names)) if i not in roles.values()]
    if "value" in roles and not others:
        return roles["value"], None
    named = [i for i in others if raw.names[i] == measure] or [i for i in others if _is_measure(raw.names[i])]
    if "value" not in roles and len(named) == 1 and (len(others) == 1 or raw.names[named[0]] == measure):
        return named[0], raw.names[named[0]]
    if "value" not in roles and "dataset" not in roles and all(raw.numeric(i) for i in others):
        remedy = (
            f"name the column of numbers 'value', or transpose a table whose column {raw.names[roles['learner']]!r} names rows"
        )
    elif "value" not in roles and named:
        remedy = f"pass measure= to choose {raw.names[named[0]]!r} or another"
    elif "value" not in roles:
        remedy = "name the column of numbers 'value'"
    else:
        remedy = "drop it, or keep the rows of one setting"
    told = ", ".join(repr(raw.names[i]) for i in others[:3]) + (" ..." if len(others) > 3 else "")
    raise InputError(
        f"a tidy table must have the columns {_TIDY} and no others, got {told or 'no column of numbers'}: {remedy}"
    )


def _is_measure(name: str) -> bool:
    from fairtrial.measures import registry

    return name in registry


def _one_measure(found: list[str], wanted: str | None) -> str:
    names = list(dict.fromkeys(found))
    if wanted is None and len(names) > 1:
        raise InputError(f"scores must be of one measure, got {', '.join(names)}: pass measure= to choose one")
    if wanted is not None and wanted not in names:
        raise InputError(f"measure must be one of the table's, got {wanted!r}: {did_you_mean(wanted, names)}")
    return wanted or names[0]


def _check_design(scores: Scores) -> None:
    _once("learner", scores.learners)
    design = scores.design
    if len(design.learners) < 2:
        told = f"only {design.learners[0]!r}" if design.learners else "none"
        raise InputError(f"scores must have at least 2 learners to compare, got {told}: a learner is a column of a wide table")
    if len(scores.splits) < 2:
        raise InputError(
            f"scores must come from several data sets, or from repeats or folds of one, got one score for each learner on "
            f"{design.datasets[0]!r}: one number each has no spread to judge by"
        )
    known = scores.cells[~np.isnan(scores.cells)]
    if not len(known):
        raise InputError("scores must hold numbers, got none: all cells are missing")
    if np.ptp(known) <= 1e-12 * np.abs(known).max():
        raise InputError(f"scores must differ somewhere, got {known[0]:g} in every cell: there is nothing to compare")
