"""Dates as seconds since 1970 (UTC): those of ARFF files by the patterns of Java's SimpleDateFormat, and those of ISO 8601."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime

from fairtrial.errors import InputError

DEFAULT_FORMAT = "yyyy-MM-dd'T'HH:mm:ss"

_PART = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']", re.DOTALL)
_FIELDS = {
    "y": "%Y",
    "M": "%m",
    "d": "%d",
    "H": "%H",
    "h": "%I",
    "m": "%M",
    "s": "%S",
    "S": "%f",
    "a": "%p",
    "D": "%j",
    "E": "%a",
}
_LONG = {"yy": "%y", "MMM": "%b", "MMMM": "%B", "EEEE": "%A"}
_ZONES = "zZX"
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:?\d\d)?)?", re.ASCII)
_UNIVERSAL = re.compile(r"(?:UTC|GMT)(?=([+-])?)")


def python_format(pattern: str, fault: Callable[[str], InputError]) -> str:
    """A pattern of Java as a format of Python.

    >>> python_format("yyyy-MM-dd'T'HH:mm", ValueError)
    '%Y-%m-%dT%H:%M'
    """
    parts, place = [], 0
    while place < len(pattern):
        found = _PART.match(pattern, place)
        if found is None:
            raise fault(f"a date format must close its quotes, got {pattern!r}")
        parts.append(_field(found, pattern, fault))
        place = found.end()
    fields = [part for part in parts if re.fullmatch(r"%[A-Za-z]", part)]
    if len(set(fields)) < len(fields):
        raise fault(f"a date format must name each part once, got {pattern!r}")
    return "".join(parts)


def _field(found: re.Match[str], pattern: str, fault: Callable[[str], InputError]) -> str:
    whole, letter = found[0], found[2]
    if letter is None:
        text = whole if found[1] is None else found[1].replace("''", "'") or "'"
        return text.replace("%", "%%")
    if letter in _ZONES:
        return "%z"
    if letter not in _FIELDS:
        raise fault(f"a date format must be made of {', '.join(_FIELDS)} and z, got {letter!r} in {pattern!r}")
    return _LONG.get(whole, _FIELDS[letter])


def seconds(text: str, form: str) -> float:
    """A date as seconds since 1970; a date without a zone is taken as UTC. A text that is none raises ValueError.

    >>> seconds("2001-04-03T12:12:12", "%Y-%m-%dT%H:%M:%S")
    986299932.0
    """
    if "%z" in form:
        text = _UNIVERSAL.sub(lambda found: "" if found[1] else "+0000", text)
    return _since_1970(datetime.strptime(text, form))


def looks_like_iso(text: str) -> bool:
    """Whether a text is written like a date of ISO 8601, perhaps with a time and a zone; the date itself may be wrong.

    >>> looks_like_iso("2001-02-30"), looks_like_iso("30.2.2001")
    (True, False)
    """
    return _ISO.fullmatch(text) is not None


def iso_seconds(text: str) -> float | None:
    """A date of ISO 8601 as seconds since 1970; without a zone it is taken as UTC. None if the text is no such date.

    >>> iso_seconds("2001-04-03 12:12:12"), iso_seconds("2001-02-30")
    (986299932.0, None)
    """
    if not looks_like_iso(text):
        return None
    try:
        return _since_1970(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        return None


def _since_1970(when: datetime) -> float:
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
