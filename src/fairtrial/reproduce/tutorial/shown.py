"""Numbers that a page shows with as many decimals as are printed, while files keep them in full."""

from __future__ import annotations


class Shown(float):
    """A number with the text that stands for it on a page, whatever format is asked for.

    >>> number = Shown(7.864536, "7.8645")
    >>> f"{number:.2f}", number + 1
    ('7.8645', 8.864536)
    """

    text: str

    def __new__(cls, value: float, text: str) -> Shown:
        """Of a number and its text."""
        made = super().__new__(cls, value)
        made.text = text
        return made

    def __format__(self, form: str) -> str:
        """The text."""
        return self.text

    def __repr__(self) -> str:
        """The number as files write all numbers: with ten digits."""
        return f"{float(self):.10g}"

    @classmethod
    def with_decimals(cls, value: float, decimals: int) -> Shown:
        """With so many decimals; what rounds to 0 has no sign.

        >>> [f"{Shown.with_decimals(value, 4)}" for value in (7.864536, 0.4534, -0.00001)]
        ['7.8645', '0.4534', '0.0000']
        """
        return cls(value, f"{round(value, decimals) + 0.0:.{decimals}f}")


def beside_printed(value: float, decimals: int) -> Shown:
    """With one decimal more than is printed, unless there is nothing more to be shown.

    >>> f"{beside_printed(7.86454, 4)}", f"{beside_printed(42.0, 0)}"
    ('7.86454', '42')
    """
    exact = abs(value - round(value, decimals)) < 1e-12
    return Shown.with_decimals(value, decimals if exact else decimals + 1)
