"""Tests of the reproduced experiments."""

import re

_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?")


def read_numbers(text):
    """Read all numbers of a text in order: `read_numbers("+2.00 (1 to 1,000)")` gives [2.0, 1.0, 1000.0]."""
    return [float(number.replace(",", "")) for number in _NUMBER.findall(text)]
