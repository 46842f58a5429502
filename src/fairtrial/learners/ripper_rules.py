"""Rules to read: conditions with names and values, the class, and what they cover."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fairtrial._columns import Columns
from fairtrial.learners.ripper_conditions import Conditions
from fairtrial.learners.ripper_numbers import decimal, double

_SIGNS = ("<=", ">=", "=")


@dataclass(frozen=True)
class Condition:
    """A column, a sign and a value.

    >>> print(Condition("petal length", "<=", 1.9))
    petal length <= 1.9
    """

    column: str
    sign: str
    value: Any

    def __str__(self) -> str:
        return f"{self.column} {self.sign} {self.value if self.sign == '=' else decimal(self.value)}"


@dataclass(frozen=True)
class Rule:
    """If all conditions hold and no earlier rule's do, then this class.

    `covered` training rows met it, `errors` of them are of another class; `probabilities` are the classes' shares among them.

    >>> print(Rule((Condition("size", ">=", 3.0), Condition("hue", "=", "red")), "yes", 12, 1, (1 / 12, 11 / 12)))
    (size >= 3) and (hue = red) => class=yes (12.0/1.0)
    """

    conditions: tuple[Condition, ...]
    label: Any
    covered: int
    errors: int
    probabilities: tuple[float, ...]

    def text(self, target: str = "class") -> str:
        """The rule with the name of the class column."""
        conditions = " and ".join(f"({each})" for each in self.conditions)
        return f"{conditions} => {target}={self.label} ({double(self.covered)}/{double(self.errors)})"

    def __str__(self) -> str:
        return self.text()


def readable(conditions: Conditions, columns: Columns) -> tuple[Condition, ...]:
    """Conditions with names and values in place of numbers."""
    told = []
    for column, kind, cut in zip(conditions.columns, conditions.kinds, conditions.cuts, strict=True):
        known = columns.categories[column]
        value = float(cut) if known is None else known[int(cut)]
        told.append(Condition(columns.names[column], _SIGNS[kind], value))
    return tuple(told)


def rules_text(rules: tuple[Rule, ...], target: str) -> str:
    """All rules as JRip prints them."""
    lines = "\n".join(rule.text(target) for rule in rules)
    return f"JRIP rules:\n===========\n\n{lines}\n\nNumber of Rules : {len(rules)}\n"
