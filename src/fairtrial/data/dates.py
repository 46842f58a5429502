"""Convert ISO 8601 dates and ARFF dates to seconds since 1970 (UTC). ARFF files use the patterns of Java's SimpleDateFormat."""

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


def convert_date_format(pattern: str, make_error: Callable[[str], InputError]) -> str:
    """Convert a Java date pattern to a Python date format.

    >>> convert_date_format("yyyy-MM-dd'T'HH:mm", ValueError)
    '%Y-%m-%dT%H:%M'
    """
    parts, position = [], 0
    while position < len(pattern):
        match = _PART.match(pattern, position)
        if match is None:
            raise make_error(f"a date format must close its quotes, got {pattern!r}")
        parts.append(_convert_date_field(match, pattern, make_error))
        position = match.end()
    fields = [part for part in parts if re.fullmatch(r"%[A-Za-z]", part)]
    if len(set(fields)) < len(fields):
        raise make_error(f"a date format must contain each field at most once, got {pattern!r}")
    return "".join(parts)


def _convert_date_field(match: re.Match[str], pattern: str, make_error: Callable[[str], InputError]) -> str:
    whole, letter = match[0], match[2]
    if letter is None:
        text = whole if match[1] is None else match[1].replace("''", "'") or "'"
        return text.replace("%", "%%")
    if letter in _ZONES:
        return "%z"
    if letter not in _FIELDS:
        raise make_error(f"a date format must consist of {', '.join(_FIELDS)} and z, got {letter!r} in {pattern!r}")
    return _LONG.get(whole, _FIELDS[letter])


def parse_date(text: str, date_format: str) -> float:
    """Convert a date to seconds since 1970. Dates without a time zone are in UTC. Raise ValueError if the text is not a date.

    >>> parse_date("2001-04-03T12:12:12", "%Y-%m-%dT%H:%M:%S")
    986299932.0
    >>> parse_date("3 Apr", "%d %b") == parse_date("1900-04-03", "%Y-%m-%d")
    True
    """
    if "%z" in date_format:
        text = _UNIVERSAL.sub(lambda match: "" if match[1] else "+0000", text)
    if "%Y" not in date_format and "%y" not in date_format:  # 1900 is the default, but Python 3.13 warns
        text, date_format = f"1900 {text}", f"%Y {date_format}"
    return _to_timestamp(datetime.strptime(text, date_format))


def is_iso_like(text: str) -> bool:
    """Return whether a text has the format of an ISO 8601 date, even if there is no such date.

    >>> is_iso_like("2001-02-30"), is_iso_like("30.2.2001")
    (True, False)
    """
    return _ISO.fullmatch(text) is not None


def parse_iso_date(text: str) -> float | None:
    """Convert an ISO 8601 date to seconds since 1970, or return None if it is invalid. Dates without a time zone are in UTC.

    >>> parse_iso_date("2001-04-03 12:12:12"), parse_iso_date("2001-02-30")
    (986299932.0, None)
    """
    if not is_iso_like(text):
        return None
    try:
        return _to_timestamp(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        return None


def _to_timestamp(moment: datetime) -> float:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
