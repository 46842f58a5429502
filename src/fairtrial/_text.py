"""Formats of text that is shown to people: short lines, counts with nouns, lists of names, p-values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan

_ELLIPSIS = "…"
_MAX_DIGITS = 17


def collapse_whitespace(text: object, max_length: int | None = None) -> str:
    """Text without line breaks and control characters; text longer than `max_length` is cut after a word, and ends in "…".

    >>> collapse_whitespace("cannot open\\n[/data/train]"), collapse_whitespace("no such file or directory", 16)
    ('cannot open [/data/train]', 'no such file or…')
    """
    line = " ".join("".join(character if character.isprintable() else " " for character in str(text)).split())
    if max_length is None or len(line) <= max_length:
        return line
    prefix = line[:max_length]  # a word that ends exactly there is whole
    start, _, _ = prefix.rpartition(" ")
    return (start if len(start) > max_length // 2 else prefix[:-1]).rstrip() + _ELLIPSIS


def format_reason(error: object, message: object, max_length: int = 120) -> str:
    """Why a trial failed: the class of the error and its message, as far as they are known.

    >>> format_reason("ValueError", "3 rows are too few\\nsecond line"), format_reason(None, None)
    ('ValueError: 3 rows are too few second line', '')
    """
    return collapse_whitespace(": ".join(part for part in (error, message) if isinstance(part, str) and part), max_length)


def format_count(number: int, noun: str) -> str:
    """A number with its noun.

    >>> format_count(1, "fold"), format_count(3000, "fold")
    ('1 fold', '3,000 folds')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def join_names(names: Sequence[str], limit: int = 8) -> str:
    """Join the first `limit` names and count the others.

    >>> join_names(["a", "b"], 2), join_names(["a", "b", "c", "d"], 2)
    ('a, b', 'a, b and 2 more')
    """
    more = len(names) - limit
    return ", ".join(names[:limit]) + (f" and {more} more" if more > 0 else "")


def format_p_value(p: float, alpha: float, *, digits: int = 2, floor: bool = False) -> str:
    """A p value in words, to stand beside the level alpha; one at the floor of its resamples may be smaller.

    >>> format_p_value(0.01234, 0.05), format_p_value(0.050016, 0.05), format_p_value(0.04998, 0.05)
    ('p = 0.012', 'p = 0.05002', 'p = 0.04998')
    >>> format_p_value(0.001, 0.05, floor=True), format_p_value(float("nan"), 0.05)
    ('p at most 0.001', 'p is undefined')
    """
    if isnan(p):
        return "p is undefined"
    return f"p {'at most' if floor else '='} {choose_p_format([p], alpha, digits).format(p)}"


def choose_p_format(values: Iterable[float], alpha: float, digits: int = 2) -> str:
    """The format of p values that stand beside a level: with so many digits that none seems to lie on its other side.

    >>> choose_p_format([0.0123], 0.05), choose_p_format([0.0496], 0.05), choose_p_format([0.0123, 0.05000004], 0.05)
    ('{:.2g}', '{:.3g}', '{:.7g}')
    """
    candidates = [value for value in map(float, values) if value != alpha and not isnan(value)]
    while digits < _MAX_DIGITS and any(_is_across_alpha(float(f"{value:.{digits}g}"), value, alpha) for value in candidates):
        digits += 1
    return f"{{:.{digits}g}}"


def _is_across_alpha(rounded: float, value: float, alpha: float) -> bool:
    return rounded == alpha or (rounded < alpha) != (value < alpha)
