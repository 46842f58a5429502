"""Text tables (CSV, TSV and their kin) as data sets: layout and types inferred, errors with their line."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fairtrial._check import FloatArray, one_of
from fairtrial.data.dataset import Dataset
from fairtrial.data.faults import warn_if_known
from fairtrial.data.frames import known_columns, read_frame
from fairtrial.data.sniffing import MISSING
from fairtrial.data.suspect_words import one_number, suspicion
from fairtrial.data.text_tables import Content, Layout, cells_of, contents, find_layout, line_of, stem
from fairtrial.errors import InputError, SuspectInputWarning


def read_delimited(
    path: str | os.PathLike[str],
    *,
    target: str | None = None,
    name: str | None = None,
    nominal: Sequence[str] | None = None,
    numeric: Sequence[str] | None = None,
    text: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    columns: Sequence[str] | None = None,
    missing: Collection[str] = MISSING,
    decimal: str = ".",
    encoding: str = "utf-8",
) -> Dataset:
    """A text table as a data set; `.gz` is unpacked.

    Delimiter, header and types are inferred unless given: a column is numeric if every value that is not missing is a number,
    or a date of ISO 8601 (seconds since 1970), else nominal; true and false in any case are truths. Numbers with leading zeros
    or more than 15 digits are codes, and nominal unless `numeric` names the column. The class is the column `target`, or the
    last one; whole numbers stay whole numbers there. Without a header the columns are x0, x1, ... unless `columns` names them.
    Columns in `text` are nominal with their values exactly as written. The words in `missing` mean a missing value; an empty
    cell always does.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "flowers.csv").write_text("length;hue;kind\\n1.5;red;a\\n?;blue;b\\n")
    ...     print(read_delimited(Path(folder) / "flowers.csv").summary())
    flowers: 2 rows, 1 numeric and 1 nominal attributes, 1 missing values; classes: a 1, b 1; imbalance ratio 1.00
    """
    path = Path(path)
    absent = frozenset([missing] if isinstance(missing, str) else missing) | {""}
    one_of("decimal", decimal, [".", ","])
    content = contents(path, encoding)
    layout = find_layout(content, delimiter, header, columns, absent)
    cells = cells_of(content, layout)
    where = str(path)
    names = [each for each in layout.names if each not in known_columns("drop", drop, layout.names, where)]
    if len(names) < 2:
        raise InputError(f"{where} must have at least 2 columns, attributes and a class, got {len(names)} behind drop=")
    chosen = names[-1] if target is None else known_columns("target", [target], names, where)[0]
    kinds = _kinds(chosen, nominal, numeric, text, names, where)
    table = {each: _typed(each, cells.pop(each), kinds.get(each), absent, decimal, content, layout) for each in names}
    _warn_of_row_numbers(table, layout, where)
    _complete(table[chosen], chosen, content, layout)
    return _dataset(table, chosen, name or stem(path), where)


def _kinds(
    target: str,
    nominal: Sequence[str] | None,
    numeric: Sequence[str] | None,
    text: Sequence[str] | None,
    names: list[str],
    where: str,
) -> dict[str, str]:
    """What is declared of columns. A class that is declared nominal is text."""
    declared = {"nominal": nominal, "numeric": numeric, "text": text}
    kinds = {target: "class"}
    for kind, given in declared.items():
        for each in known_columns(kind, given, names, where):
            if kinds.get(each, kind) not in (kind, "class") or (each == target and kind == "numeric"):
                raise InputError(f"{each!r} must be declared once, got {kinds[each]} and {kind}")
            kinds[each] = "text" if each == target else kind
    return kinds


def _typed(
    name: str, cells: Any, kind: str | None, missing: frozenset[str], decimal: str, content: Content, layout: Layout
) -> Any:
    from fairtrial.data import text_columns

    where = str(content.path)
    if kind == "text":
        return text_columns.as_text(cells, missing)
    if kind == "class":
        values = text_columns.as_classes(cells, missing, decimal)
        _warn_of_classes(name, values, decimal, where)
        return values
    if kind == "nominal":
        return text_columns.as_labels(cells, missing)
    numbers = text_columns.as_numbers(cells, missing, decimal)
    if numbers is None:
        return _dates_or_words(name, cells, kind, missing, decimal, content, layout)
    if kind is None and (code := text_columns.first_code(cells, missing)):
        _warn_of_code(name, code, where)
        return text_columns.as_text(cells, missing)
    _finite(name, numbers, cells, content, layout)
    return numbers


def _dates_or_words(
    name: str, cells: Any, kind: str | None, missing: frozenset[str], decimal: str, content: Content, layout: Layout
) -> Any:
    from fairtrial.data import text_columns

    dates = text_columns.as_dates(cells, missing)
    if dates is not None:
        return dates
    if kind == "numeric":
        row, cell = text_columns.first_word(cells, missing, decimal)
        line = line_of(row, content, layout)
        raise InputError(f"{content.path}, line {line}: column {name!r} must hold numbers, got {cell!r}")
    values = text_columns.as_labels(cells, missing)
    if not _warn_of_words(name, values, decimal, str(content.path)) and (
        found := text_columns.stray_word(cells, missing, decimal)
    ):
        _warn_of_stray(name, *found, content, layout)
    return values


def _warn_of_classes(name: str, values: Any, decimal: str, where: str) -> None:
    words = [each for each in values.categories if isinstance(each, str)]
    if pair := one_number(words, decimal):
        warnings.warn(
            f"the classes {pair[0]!r} and {pair[1]!r} of {name!r} in {where} are one number, and are kept apart: write them "
            f"alike, or pass text=[{name!r}] if they differ",
            SuspectInputWarning,
            stacklevel=5,
        )


def _warn_of_stray(name: str, row: int, word: str, numbers: int, content: Content, layout: Layout) -> None:
    warnings.warn(
        f"{content.path}, line {line_of(row, content, layout)}: column {name!r} holds {word!r} among {numbers} numbers, and is "
        f"taken as nominal: correct it, pass missing=[{word!r}] if it means so, or nominal=[{name!r}] to have it so",
        SuspectInputWarning,
        stacklevel=6,
    )


def _warn_of_words(name: str, values: Any, decimal: str, where: str) -> bool:
    """Whether there was something to warn of."""
    words = [each for each in values.categories if isinstance(each, str)]
    if found := suspicion(words, decimal):
        what, remedy = found
        warnings.warn(
            f"column {name!r} of {where} holds {what}, and is taken as nominal: {remedy}",
            SuspectInputWarning,
            stacklevel=6,
        )
    return found is not None


def _warn_of_code(name: str, code: str, where: str) -> None:
    zeros = code.lstrip("+-").startswith("0")
    why = "which as a number would lose its leading zeros" if zeros else "which has more digits than a number keeps"
    warnings.warn(
        f"column {name!r} of {where} holds {code!r}, {why}, and is taken as nominal: pass numeric=[{name!r}] for numbers, or "
        f"text=[{name!r}] to have it so",
        SuspectInputWarning,
        stacklevel=5,
    )


def _finite(name: str, numbers: FloatArray, cells: Any, content: Content, layout: Layout) -> None:
    infinite = np.isinf(numbers)
    if infinite.any():
        row = int(infinite.argmax())
        raise InputError(
            f"{content.path}, line {line_of(row, content, layout)}: column {name!r} must hold finite numbers, got "
            f"{cells[row].as_py().strip()!r}: correct it, or name it in missing="
        )


def _complete(label: Any, name: str, content: Content, layout: Layout) -> None:
    missing = (label.codes < 0).nonzero()[0]
    if len(missing):
        line = line_of(int(missing[0]), content, layout)
        raise InputError(
            f"{content.path}, line {line}: the class {name!r} is missing ({len(missing)} such rows): drop these rows, or name "
            "another class by target="
        )


def _warn_of_row_numbers(table: dict[str, Any], layout: Layout, where: str) -> None:
    name = layout.names[0]
    values = table.get(name)
    if not layout.header or layout.named[0] or not isinstance(values, np.ndarray) or len(values) < 2:
        return
    if np.array_equal(values - values[0], np.arange(len(values))):
        warnings.warn(
            f"the first column of {where} has no name and counts the rows: it is probably no attribute; pass drop=[{name!r}]",
            SuspectInputWarning,
            stacklevel=4,
        )


def _dataset(table: dict[str, Any], target: str, name: str, source: str) -> Dataset:
    import pandas as pd

    return warn_if_known(read_frame(pd.DataFrame(table), target=target, name=name, source=source))
