"""Numbers as WEKA writes them."""

from __future__ import annotations

import math
from decimal import Decimal


def decimal(value: float) -> str:
    """At most six digits behind the point and no trailing zero.

    >>> decimal(0.1234567), decimal(2.50), decimal(-3)
    ('0.123457', '2.5', '-3')
    """
    scaled = value * 1e6
    if abs(scaled) >= 2**63:
        return double(value)
    whole = int(math.copysign(math.floor(abs(scaled) + 0.5), scaled))
    sign, digits = "-" if whole < 0 else "", f"{abs(whole):07d}"
    return f"{sign}{digits[:-6]}.{digits[-6:]}".rstrip("0").rstrip(".")


def double(value: float) -> str:
    """All digits that tell the number from its neighbours, at least one behind the point; a power of ten outside 0.001..10**7.

    >>> double(3), double(0.0001), double(12345678.5)
    ('3.0', '1.0E-4', '1.23456785E7')
    """
    value = float(value)
    if value == 0 or 1e-3 <= abs(value) < 1e7 or not math.isfinite(value):
        return repr(value)
    mantissa, power = f"{Decimal(repr(value)).normalize():E}".split("E")
    return f"{mantissa}{'' if '.' in mantissa else '.0'}E{int(power)}"
