"""What a test gives: a number with everything that is needed to judge it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

Degrees = float | tuple[float, float] | None


@dataclass(frozen=True)
class Effect:
    """How large a difference is, with its interval."""

    name: str
    estimate: float
    low: float
    high: float
    level: float = 0.95
    note: str = ""

    def __str__(self) -> str:
        text = f"{self.name} {self.estimate:.4g} ({100 * self.level:g} % interval {self.low:.4g} to {self.high:.4g})"
        return text + (f"; {self.note}" if self.note else "")


@dataclass(frozen=True)
class Outcome:
    """The outcome of one statistical test.

    `variant` names the form of the test (exact, mid-p, corrected ...), `ties` and `zeros` how equal values were treated,
    `details` holds further numbers by name (R+ and R-, discordant counts ...), `caveats` what the reader must know.

    >>> print(Outcome("sign_test", 9, 0.0215, n=10, variant="exact"))
    sign_test (exact): statistic 9, p = 0.0215, n = 10
    """

    test: str
    statistic: float
    p_value: float
    df: Degrees = None
    n: int = 0
    variant: str = ""
    alternative: str = "two-sided"
    ties: str = ""
    zeros: str = ""
    effect: Effect | None = None
    details: Mapping[str, float] = field(default_factory=dict)
    caveats: tuple[str, ...] = ()

    def frame(self) -> pd.DataFrame:
        """One line."""
        import pandas as pd

        effect = self.effect
        return pd.DataFrame(
            [
                {
                    "test": self.test,
                    "variant": self.variant,
                    "statistic": self.statistic,
                    "df": _format_degrees(self.df),
                    "p_value": self.p_value,
                    "n": self.n,
                    "alternative": self.alternative,
                    "effect": effect.name if effect else "",
                    "effect_estimate": effect.estimate if effect else float("nan"),
                    "effect_low": effect.low if effect else float("nan"),
                    "effect_high": effect.high if effect else float("nan"),
                    **self.details,
                }
            ]
        )

    @property
    def summary(self) -> str:
        """The outcome in plain words, with what it rests on."""
        parts = [str(self), str(self.effect) if self.effect else "", self.ties, self.zeros, *self.caveats]
        return ". ".join(part for part in parts if part) + "."

    def __str__(self) -> str:
        variant = f" ({self.variant})" if self.variant else ""
        df = f", df = {_format_degrees(self.df)}" if self.df is not None else ""
        return f"{self.test}{variant}: statistic {self.statistic:.4g}{df}, p = {self.p_value:.4g}, n = {self.n}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.summary)}</p>" + self.frame().to_html(index=False)


def _format_degrees(df: Degrees) -> str:
    if df is None:
        return ""
    return ", ".join(f"{value:g}" for value in df) if isinstance(df, tuple) else f"{df:g}"
