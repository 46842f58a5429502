"""A column of text as what it holds: numbers or dates where all of it is such, else nominal values.

Text categories stand in the order of text, as they do in all readers: '10' before '9'.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.data.dates import iso_seconds
from fairtrial.data.sniffing import is_number, with_point

if TYPE_CHECKING:
    import pandas as pd

_PLAIN_WHOLE = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII)
_CODE = r"^[+-]?(?:0[0-9]|[0-9]{16,}$)"
_ENOUGH_VALUES = 20
_NEARLY_ALL = 0.95
_TRUTHS = {"false": False, "true": True}


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
        numbers = np.array(pc.fill_null(pc.cast(present, pa.float64()), np.nan), dtype=np.float64)
    except pa.ArrowInvalid:
        return _word_by_word(present, _number)
    return numbers if np.isnan(numbers).sum() == present.null_count else None  # Arrow takes the word nan for a number


def as_dates(cells: Any, missing: Collection[str]) -> FloatArray | None:
    """An Arrow column of dates as ISO 8601 writes them, as seconds since 1970; None if some other cell is none.

    >>> import pyarrow as pa
    >>> as_dates(pa.chunked_array([["1970-01-02", "?", "1970-01-01 00:01"]]), ["?"]).tolist()
    [86400.0, nan, 60.0]
    """
    return _word_by_word(_present(cells, missing), iso_seconds)


def first_code(cells: Any, missing: Collection[str]) -> str | None:
    """The first cell of a column of numbers that as a number would lose something: leading zeros, or digits beyond the 15th.

    >>> import pyarrow as pa
    >>> first_code(pa.chunked_array([["10", "0123"]]), [])
    '0123'
    """
    import pyarrow.compute as pc

    present = _present(cells, missing)
    found = pc.index(pc.match_substring_regex(present, _CODE), True).as_py()
    return None if found < 0 else present[found].as_py()


def as_labels(cells: Any, missing: Collection[str]) -> pd.Categorical:
    """An Arrow column of text as categories: whole numbers or truths as such if all are written plainly, else text; sorted.

    >>> import pyarrow as pa
    >>> as_labels(pa.chunked_array([["10", "9", "?"]]), ["?"]).tolist()
    [10, 9, nan]
    >>> as_labels(pa.chunked_array([["010", "9"]]), []).tolist()
    ['010', '9']
    """
    return _categorical(cells, missing, _plain_values)


def as_text(cells: Any, missing: Collection[str]) -> pd.Categorical:
    """An Arrow column of text as categories of text."""
    return _categorical(cells, missing, list)


def as_classes(cells: Any, missing: Collection[str], decimal: str = ".") -> pd.Categorical:
    """An Arrow column of text as classes: whole numbers or truths, else numbers if these keep all apart, else text.

    >>> import pyarrow as pa
    >>> as_classes(pa.chunked_array([["1.0", "-1.0"]]), []).tolist(), as_classes(pa.chunked_array([["01", "1"]]), []).tolist()
    ([1.0, -1.0], ['01', '1'])
    """
    return _categorical(cells, missing, lambda words: _class_values(words, decimal))


def first_word(cells: Any, missing: Collection[str], decimal: str = ".") -> tuple[int, str]:
    """The first cell, with its row, that is neither a number nor missing: there must be one.

    >>> import pyarrow as pa
    >>> first_word(pa.chunked_array([["1", "x"]]), [])
    (1, 'x')
    """
    words = enumerate(_present(cells, missing).to_pylist())
    return next((row, cell) for row, cell in words if cell is not None and _number(cell, decimal) is None)


def stray_word(cells: Any, missing: Collection[str], decimal: str = ".") -> tuple[int, str, int] | None:
    """The first word, with its row and the count of numbers, of a column in which nearly all values are numbers.

    >>> import pyarrow as pa
    >>> stray_word(pa.chunked_array([["1"] * 30 + ["oops"]]), [])
    (30, 'oops', 30)
    """
    import pyarrow.compute as pc

    present = _present(cells, missing)
    counts = {each["values"]: each["counts"] for each in pc.value_counts(present.drop_null()).to_pylist()}
    numbers = sum(count for word, count in counts.items() if _number(word, decimal) is not None)
    values = sum(counts.values())
    if values < _ENOUGH_VALUES or not _NEARLY_ALL * values <= numbers < values:
        return None
    return *first_word(cells, missing, decimal), numbers


def _with_points(present: Any, decimal: str) -> Any:
    """What `with_point` gives, of a whole column."""
    import pyarrow.compute as pc

    if decimal == ".":
        return present
    doubled = pc.replace_substring(present, pattern=".", replacement="..")
    return pc.replace_substring(doubled, pattern=decimal, replacement=".", max_replacements=1)


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


def _word_by_word(present: Any, read: Callable[[str], float | None]) -> FloatArray | None:
    """What `read` makes of each different word, NaN for missing ones; None if it makes nothing of some word."""
    import pyarrow.compute as pc

    encoded = _encoded(present)
    values = []
    for word in encoded.dictionary:
        value = read(word.as_py())
        if value is None:
            return None
        values.append(value)
    codes = np.array(pc.fill_null(encoded.indices, -1))
    return np.asarray(np.append(np.array(values, dtype=np.float64), np.nan)[codes], dtype=np.float64)


def _number(word: str, decimal: str = ".") -> float | None:
    plain = with_point(word, decimal)
    return float(plain) if is_number(plain) else None


def _categorical(cells: Any, missing: Collection[str], valued: Callable[[list[str]], list[Any]]) -> pd.Categorical:
    """Categories in order, of the values that `valued` makes of the different words, one for each."""
    import pandas as pd
    import pyarrow.compute as pc

    encoded = _encoded(_present(cells, missing))
    values = valued(encoded.dictionary.to_pylist())
    categories = sorted(set(values))
    place = {value: rank for rank, value in enumerate(categories)}
    ranks = np.array([*(place[value] for value in values), -1], dtype=np.intp)
    codes = ranks[np.array(pc.fill_null(encoded.indices, -1), dtype=np.intp)]
    text = not categories or isinstance(categories[0], str)
    return pd.Categorical.from_codes(codes, categories=pd.Index(categories, dtype=object if text else None))


def _plain_values(words: list[str]) -> list[Any]:
    if all(_PLAIN_WHOLE.fullmatch(word) for word in words):
        return [int(word) for word in words]
    truths = [_TRUTHS.get(word.lower()) for word in words]
    return words if None in truths else truths


def _class_values(words: list[str], decimal: str) -> list[Any]:
    values = _plain_values(words)
    numbers = [_number(word, decimal) for word in words]
    known = [number for number in numbers if number is not None and np.isfinite(number)]
    if values is not words or len(set(known)) < len(words) or any(re.match(_CODE, word) for word in words):
        return values
    return numbers
