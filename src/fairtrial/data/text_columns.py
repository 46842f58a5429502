"""A column of text as what it holds: numbers where all of it is numbers, else nominal values."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.data.sniffing import is_number

if TYPE_CHECKING:
    import pandas as pd

_PLAIN_WHOLE = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII)


def as_numbers(cells: Any, missing: Collection[str], decimal: str = ".") -> FloatArray | None:
    """An Arrow column of text as float64, missing cells as NaN; None if some other cell is no number.

    >>> import pyarrow as pa
    >>> as_numbers(pa.chunked_array([["1", "?", " 2.5"]]), ["?"]).tolist()
    [1.0, nan, 2.5]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    present = _with_points(_present(cells, missing), decimal)
    try:
        numbers = pc.cast(present, pa.float64())
    except pa.ArrowInvalid:
        return _rare_numbers(present)
    return np.array(pc.fill_null(numbers, np.nan), dtype=np.float64)


def as_labels(cells: Any, missing: Collection[str]) -> pd.Categorical:
    """An Arrow column of text as categories: whole numbers as such if all are written plainly, else text; sorted.

    >>> import pyarrow as pa
    >>> as_labels(pa.chunked_array([["10", "9", "?"]]), ["?"]).tolist()
    [10, 9, nan]
    >>> as_labels(pa.chunked_array([["010", "9"]]), []).tolist()
    ['010', '9']
    """
    return _categorical(cells, missing, plain=True)


def as_text(cells: Any, missing: Collection[str]) -> pd.Categorical:
    """An Arrow column of text as categories of text; numbers among them in order of size."""
    return _categorical(cells, missing, plain=False)


def as_classes(cells: Any, missing: Collection[str]) -> pd.Categorical:
    """An Arrow column of text as classes: whole numbers, else numbers, else text."""
    import pandas as pd

    labels = as_labels(cells, missing)
    values = labels.categories.tolist()
    if not all(isinstance(value, str) and is_number(value) for value in values):
        return labels
    return pd.Categorical(np.append(np.array(values, dtype=np.float64), np.nan)[labels.codes])


def first_word(cells: Any, missing: Collection[str], decimal: str = ".") -> tuple[int, str]:
    """The first cell, with its row, that is neither a number nor missing: there must be one.

    >>> import pyarrow as pa
    >>> first_word(pa.chunked_array([["1", "x"]]), [])
    (1, 'x')
    """
    words = enumerate(_with_points(_present(cells, missing), decimal).to_pylist())
    return next((row, cell) for row, cell in words if cell is not None and not is_number(cell))


def _with_points(present: Any, decimal: str) -> Any:
    import pyarrow.compute as pc

    return present if decimal == "." else pc.replace_substring(present, pattern=decimal, replacement=".", max_replacements=1)


def _present(cells: Any, missing: Collection[str]) -> Any:
    """The cells without blanks around them, null where missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.ascii_trim_whitespace(cells)
    absent = pc.is_in(trimmed, value_set=pa.array(list(missing), pa.string()))
    return pc.if_else(absent, pa.scalar(None, pa.string()), trimmed)


def _encoded(present: Any) -> Any:
    """The values that occur, and for each row the place of its value among them."""
    import pyarrow as pa

    return pa.concat_arrays(present.chunks or [pa.array([], pa.string())]).dictionary_encode()


def _rare_numbers(present: Any) -> FloatArray | None:
    """Numbers that Arrow's cast does not know, value by value."""
    import pyarrow.compute as pc

    encoded = _encoded(present)
    values = []
    for word in encoded.dictionary:
        if not is_number(word.as_py()):
            return None
        values.append(float(word.as_py()))
    codes = np.array(pc.fill_null(encoded.indices, -1))
    return np.asarray(np.append(np.array(values, dtype=np.float64), np.nan)[codes], dtype=np.float64)


def _categorical(cells: Any, missing: Collection[str], *, plain: bool) -> pd.Categorical:
    import pandas as pd
    import pyarrow.compute as pc

    encoded = _encoded(_present(cells, missing))
    words = encoded.dictionary.to_pylist()
    order = sorted(range(len(words)), key=lambda i: _size(words[i]))
    rank = np.empty(len(words) + 1, dtype=np.intp)
    rank[order] = np.arange(len(words))
    rank[-1] = -1
    values: list[Any] = [words[i] for i in order]
    if plain and all(_PLAIN_WHOLE.fullmatch(word) for word in values):
        values = [int(word) for word in values]
    codes = rank[np.array(pc.fill_null(encoded.indices, -1), dtype=np.intp)]
    return pd.Categorical.from_codes(codes, categories=pd.Index(values, dtype=None if values and plain else object))


def _size(word: str) -> tuple[int, float, str]:
    return (0, float(word), word) if is_number(word) else (1, 0.0, word)
