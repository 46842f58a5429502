"""Words that look like numbers or dates but are not read as such: what to tell, and how to have them read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from fairtrial.data.dates import iso_seconds, looks_like_iso
from fairtrial.data.sniffing import is_number, with_point

_COMMAS_PART_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?", re.ASCII)
_POINTS_PART_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+(?:,\d*)?", re.ASCII)


def suspicion(words: Sequence[str], decimal: str) -> tuple[str, str] | None:
    """What the different words of a column hold, and the remedy, if all of them look like numbers or dates.

    >>> suspicion(["1,5", "2"], ".")
    ('numbers with decimal commas', "pass decimal=','")
    >>> suspicion(["1,5", "red"], ".")
    """
    wrong = [word for word in words if looks_like_iso(word) and iso_seconds(word) is None]
    if wrong and all(map(looks_like_iso, words)):
        return f"dates, but {wrong[0]!r} is none", "correct it"
    odd = [word for word in words if not is_number(with_point(word, decimal))]
    return (_of_commas(words, odd) if decimal == "." else _of_points(odd)) if odd else None


def _of_commas(words: Sequence[str], odd: list[str]) -> tuple[str, str] | None:
    """The numbers in `odd` have commas, or several points."""
    points = any("." in word for word in words)
    decimals = all(is_number(word.replace(",", ".", 1)) for word in odd)
    thousands = all(_COMMAS_PART_THOUSANDS.fullmatch(word) for word in odd)
    if decimals and thousands and not points:
        one = odd[0]
        either = f"pass decimal=',' if {one!r} is {one.replace(',', '.')}, take out the commas if it is {one.replace(',', '')}"
        return "numbers with commas", either
    if thousands:
        return "numbers with commas between thousands", "take out the commas"
    if decimals and points:
        return "numbers with points and with commas", "write them alike"
    if decimals:
        return "numbers with decimal commas", "pass decimal=','"
    if all(_POINTS_PART_THOUSANDS.fullmatch(word) or is_number(word.replace(",", ".", 1)) for word in odd):
        commas = any("," in word for word in odd)
        return "numbers with points between thousands", "take out the points" + (" and pass decimal=','" if commas else "")
    return None


def _of_points(odd: list[str]) -> tuple[str, str] | None:
    """The numbers in `odd` have points although decimal=',', or several commas."""
    if all(is_number(word) or _POINTS_PART_THOUSANDS.fullmatch(word) for word in odd):
        remedy = "take them out if they stand between thousands, leave out decimal= if they are decimal points"
        return "points, which decimal=',' does not allow", remedy
    if all(_COMMAS_PART_THOUSANDS.fullmatch(word) for word in odd):
        return "numbers with commas between thousands", "take out the commas"
    return None


def one_number(words: Sequence[str], decimal: str) -> tuple[str, str] | None:
    """Two of the words that are one number, if all words are numbers.

    >>> one_number(["2", "01", "1"], ".")
    ('01', '1')
    """
    seen: dict[Decimal, str] = {}
    pairs = []
    for word in words:
        if not is_number(with_point(word, decimal)):
            return None
        try:
            number = Decimal(with_point(word, decimal))
        except InvalidOperation:  # an exponent beyond all measure
            return None
        first = seen.setdefault(number, word)
        if first != word:
            pairs.append((first, word))
    return pairs[0] if pairs else None
