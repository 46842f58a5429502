"""Chance as JRip takes it: a generator seeded by a training row's text, the order of classes, rows shuffled and dealt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fairtrial._check import IntArray
from fairtrial._columns import Columns
from fairtrial.kernels.java_random import JavaRandom
from fairtrial.learners.ripper_numbers import decimal

_ESCAPED = {"\\": "\\\\", "'": "\\'", "\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "%": "\\%", "\x1e": "\\u001E"}


def seeded(seed: int, columns: Columns, labels: Sequence[Any]) -> JavaRandom:
    """The generator whose seed is the given one plus the hash of a row that it chooses."""
    row = JavaRandom(seed).below(len(columns))
    return JavaRandom(java_hash(row_text(columns, row, labels[row])) + seed)


def row_text(columns: Columns, row: int, label: Any) -> str:
    """A row as a line of an ARFF file, the class last."""
    cells = [
        "?" if np.isnan(value) else decimal(value) if known is None else quoted(known[int(value)])
        for value, known in zip(columns.values[row], columns.categories, strict=True)
    ]
    return ",".join([*cells, quoted(label)])


def quoted(value: Any) -> str:
    """Text in quotation marks where an ARFF file needs them.

    >>> print(quoted("red"), quoted("dark red"), quoted("5%"))
    red 'dark red' '5\\%'
    """
    text = str(value)
    escaped = "".join(_ESCAPED.get(letter, letter) for letter in text)
    return f"'{escaped}'" if escaped != text or text in ("", "?") or set("{}, ") & set(text) else text


def java_hash(text: str) -> int:
    """A string's hash on the Java platform, a whole number of 32 bits.

    >>> java_hash("hello"), java_hash("fairtrial")
    (99162322, -349893006)
    """
    code = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        code = (31 * code + 256 * high + low) & 0xFFFFFFFF
    return code - (1 << 32) if code >= 1 << 31 else code


def classes_by_frequency(counts: Sequence[int], source: JavaRandom) -> list[int]:
    """Classes from the rarest to the most frequent; chance and WEKA's sorting settle ties."""
    shuffled = list(range(len(counts)))
    JavaRandom(source.whole()).shuffle(shuffled)
    return [shuffled[place] for place in weka_order([counts[code] for code in shuffled])]


def weka_order(numbers: Sequence[float]) -> list[int]:
    """The places that sort the numbers, by WEKA's quicksort, which is not stable."""
    places = list(range(len(numbers)))
    _quicksort(numbers, places, 0, len(places) - 1)
    return places


def _put_in_order(numbers: Sequence[float], places: list[int], left: int, right: int) -> None:
    if numbers[places[left]] > numbers[places[right]]:
        places[left], places[right] = places[right], places[left]


def _quicksort(numbers: Sequence[float], places: list[int], left: int, right: int) -> None:
    """The median of the first, the middle and the last is the pivot; up to three are put in order directly."""
    if right <= left:
        return
    centre = left + 1 if right - left == 2 else (left + right) // 2
    if right - left > 1:
        _put_in_order(numbers, places, left, centre)
    _put_in_order(numbers, places, left, right)
    if right - left > 1:
        _put_in_order(numbers, places, centre, right)
    if right - left <= 2:
        return
    places[centre], places[right - 1] = places[right - 1], places[centre]
    pivot = numbers[places[right - 1]]
    low, high = left, right - 1
    while True:
        low += 1
        while numbers[places[low]] < pivot:
            low += 1
        high -= 1
        while numbers[places[high]] > pivot:
            high -= 1
        if low >= high:
            break
        places[low], places[high] = places[high], places[low]
    places[low], places[right - 1] = places[right - 1], places[low]
    _quicksort(numbers, places, left, low - 1)
    _quicksort(numbers, places, low + 1, right)


def stratified(rows: IntArray, codes: IntArray, folds: int, source: JavaRandom) -> IntArray:
    """Rows shuffled within their class and dealt to folds in turn, one fold after the other."""
    bags: list[int] = []
    classes = codes[rows]
    for code in range(int(classes.max()) + 1):
        bag = rows[classes == code].tolist()
        source.shuffle(bag)
        bags += bag
    return np.array([row for start in range(folds) for row in bags[start::folds]], dtype=np.intp)
