"""Single values of a declaration: read from what people write, refused in plain words."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, cast
from unicodedata import category

from fairtrial._registry import did_you_mean
from fairtrial.errors import InputError

NO_LIMIT = "none"

_AMOUNT = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]+)\s*")
_SECONDS = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1),
    **dict.fromkeys(("min", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hour", "hours"), 3600),
    **dict.fromkeys(("d", "day", "days"), 86400),
}
_BYTES = {"b": 1, "bytes": 1}
_BYTES |= {f"{letter}b": 1000**power for power, letter in enumerate("kmgt", 1)}
_BYTES |= {f"{letter}ib": 1024**power for power, letter in enumerate("kmgt", 1)}
_LEAST_MEMORY = 1_000_000
_LONGEST_NAME = 200

Check = Callable[[Any], Any]


def counted(number: int, what: str) -> str:
    """A number with its noun.

    >>> counted(1, "row"), counted(2, "row")
    ('1 row', '2 rows')
    """
    return f"{number} {what}{'' if number == 1 else 's'}"


def whole(name: str, minimum: int) -> Check:
    """A whole number of at least `minimum`.

    >>> whole("folds", 2)("five")
    Traceback (most recent call last):
    fairtrial.errors.InputError: folds must be a whole number of at least 2, got 'five'
    """

    def check(value: Any) -> int:
        if isinstance(value, bool) or not hasattr(value, "__index__") or int(value) < minimum:
            raise InputError(f"{name} must be a whole number of at least {minimum}, got {value!r}")
        return int(value)

    return check


def text(name: str) -> Check:
    """Text that is not blank."""

    def check(value: Any) -> str:
        if not isinstance(value, str) or not value.strip():
            raise InputError(f"{name} must be text in quotes, got {value!r}")
        return value

    return check


def file_name(name: str) -> Check:
    """Text that can be the name of a file.

    >>> file_name("name")("../up")
    Traceback (most recent call last):
    fairtrial.errors.InputError: name must not hold '/', since a file is called after it, got '../up'
    """

    def check(value: Any) -> str:
        found = str(text(name)(value))
        wrong = next((each for each in found if each in "/\\" or category(each) in ("Cc", "Cs")), None)
        if wrong is not None:
            raise InputError(f"{name} must not hold {wrong!r}, since a file is called after it, got {value!r}")
        if found in (".", ".."):
            raise InputError(f"{name} must be other than '.' and '..', since a file is called after it, got {value!r}")
        if len(found.encode()) > _LONGEST_NAME:
            told = f"at most {_LONGEST_NAME} characters (letters such as 'é' count twice or more), got {len(found.encode())}"
            raise InputError(f"{name} must have {told}: {found[:20]!r}...")
        return found

    return check


def names(name: str) -> Check:
    """A list of some length; a single name is a list of one. Its members are checked one by one."""

    def check(value: Any) -> list[Any]:
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, (list, tuple)) or not listed:
            raise InputError(f"{name} must be a list of names, got {value!r}")
        return list(listed)

    return check


def mapping(name: str) -> Check:
    """A table whose keys are text."""

    def check(value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise InputError(f"{name} must be a table of names and values, got {value!r}")
        for key in value:
            if not isinstance(key, str) or not key.strip():
                raise InputError(f"{name} must have names that are text, got {key!r}")
        return dict(value)

    return check


def choice(name: str, options: tuple[str, ...]) -> Check:
    """One of some words."""

    def check(value: Any) -> str:
        if value not in options:
            hint = did_you_mean(value, options)
            remedy = f": {hint}" if "mean" in hint else ""
            raise InputError(f"{name} must be one of {', '.join(options)}, got {value!r}{remedy}")
        return str(value)

    return check


def number(name: str, rule: str, fits: Callable[[float], bool]) -> Check:
    """A number that fits a rule."""

    def check(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not fits(value):
            raise InputError(f"{name} must be a number {rule}, got {value!r}")
        return value

    return check


def seconds(value: Any) -> float | str:
    """A time in seconds, of a number or of text; "none" is no limit.

    >>> seconds(600), seconds("10 min"), seconds("1.5 h"), seconds("none")
    (600, 600, 5400, 'none')
    """
    found = _amount(value, _SECONDS)
    if found is None or not (found == NO_LIMIT or 0 < found < math.inf):
        raise InputError(f"time must be seconds above 0, or text such as '10 min', '2 h' or 'none', got {value!r}")
    return cast("float | str", found)


def memory_bytes(value: Any) -> int | str:
    """Memory in bytes, of a number or of text; "none" is no limit.

    >>> memory_bytes("2 GB"), memory_bytes("512 MiB"), memory_bytes(3000000)
    (2000000000, 536870912, 3000000)
    """
    found = _amount(value, _BYTES)
    if found is None or not (found == NO_LIMIT or math.isfinite(found)):
        raise InputError(f"memory must be bytes, or text such as '500 MB', '2 GB' or 'none', got {value!r}")
    if found == NO_LIMIT:
        return NO_LIMIT
    if found < _LEAST_MEMORY:
        raise InputError(f"memory must be at least 1 MB, and a number means bytes, got {value!r}: write '{value} GB', say")
    return int(found)


def _amount(value: Any, units: Mapping[str, int]) -> Any:
    """A number as it is, an amount with a unit in the smallest one, "none"; None where it cannot be read."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    if value is None:
        return NO_LIMIT
    if not isinstance(value, str):
        return None
    if value.strip().lower() == NO_LIMIT:
        return NO_LIMIT
    matched = _AMOUNT.fullmatch(value)
    if matched is None or matched[2].lower() not in units:
        return None
    amount = float(matched[1]) * units[matched[2].lower()]
    return int(amount) if amount.is_integer() else amount
