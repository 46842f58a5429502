"""Java's source of random numbers, for answers that must be those of a Java program."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")

_MULTIPLIER, _INCREMENT, _MASK = 0x5DEECE66D, 0xB, (1 << 48) - 1


class JavaRandom:
    """The generator of the Java platform (a linear congruential one of 48 bits), as its documentation specifies it.

    >>> source = JavaRandom(1)
    >>> [source.below(10) for _ in range(5)]
    [5, 8, 7, 3, 4]
    """

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ _MULTIPLIER) & _MASK

    def _bits(self, count: int) -> int:
        self._state = (self._state * _MULTIPLIER + _INCREMENT) & _MASK
        return self._state >> (48 - count)

    def whole(self) -> int:
        """A whole number of 32 bits, with its sign."""
        bits = self._bits(32)
        return bits - (1 << 32) if bits >= 1 << 31 else bits

    def below(self, bound: int) -> int:
        """A whole number from 0 to bound - 1."""
        if bound & (bound - 1) == 0:
            return (bound * self._bits(31)) >> 31
        while True:
            bits = self._bits(31)
            value = bits % bound
            if bits - value + bound - 1 < 1 << 31:
                return value

    def shuffle(self, rows: list[T]) -> None:
        """Swap each place, from the last, with one at or before it."""
        for place in range(len(rows) - 1, 0, -1):
            other = self.below(place + 1)
            rows[place], rows[other] = rows[other], rows[place]
