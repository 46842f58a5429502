"""The outcome of a statistical test: statistic, p-value, effect size and caveats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from math import isnan
from typing import TYPE_CHECKING

from fairtrial._findings import Finding
from fairtrial._narrative import render_all
from fairtrial._text import capitalize, format_html_table, format_interval, format_number, format_p_value
from fairtrial.significance.names import get_display_name, get_statistic_symbol

if TYPE_CHECKING:
    import pandas as pd

Degrees = float | tuple[float, float] | None


@dataclass(frozen=True)
class Effect:
    """An effect size with its confidence interval.

    Attributes
    ----------
    name : str
        Name of the effect size, such as "rank_biserial" or "mean difference".
    estimate : float
        The estimate; NaN if it is undefined.
    low, high : float
        Confidence limits; NaN if there is no interval.
    level : float, default 0.95
        Confidence level of the interval.
    note : str
        A remark: the magnitude by a published convention, the type of interval, or why a value is undefined.

    Examples
    --------
    >>> print(Effect("difference in AUC", 0.021, 0.008, 0.034))
    difference in AUC 0.021, 95 % CI 0.008 to 0.034
    """

    name: str
    estimate: float
    low: float
    high: float
    level: float = 0.95
    note: str = ""

    def __str__(self) -> str:
        text = f"{get_display_name(self.name)} {format_number(self.estimate)}"
        if not (isnan(self.low) and isnan(self.high)):
            text += f", {format_interval(self.low, self.high, self.level)}"
        return text + (f"; {self.note}" if self.note else "")


@dataclass(frozen=True)
class Outcome:
    """The outcome of one statistical test.

    Attributes
    ----------
    test : str
        Name of the test, such as "wilcoxon".
    statistic : float
        Value of the test statistic; NaN if it is undefined.
    p_value : float
        The p-value; NaN if it is undefined.
    df : float, (float, float) or None
        Degrees of freedom.
    n : int
        Number of cases: data sets, splits or rows.
    variant : str
        Form of the test, such as "exact" or "mid-p".
    alternative : str, default "two-sided"
        The alternative hypothesis.
    ties, zeros : Finding or None
        How ties and zero differences were treated; None if there were none.
    effect : Effect or None
        Effect size with its confidence interval.
    details : mapping of str to float
        Further results keyed by name, e.g. R+ and R- of the Wilcoxon test.
    caveats : tuple of Finding
        Assumptions and limitations that apply to this result.
    resamples : int or None
        Number of random resamples or permutations; None if the test does not use any.
    undefined_resamples : int
        Number of resamples or permutations for which the measure is undefined.

    Examples
    --------
    >>> print(Outcome("sign_test", 9, 0.0215, n=10, variant="exact"))
    sign test (exact): wins = 9, p = 0.021, n = 10
    """

    test: str
    statistic: float
    p_value: float
    df: Degrees = None
    n: int = 0
    variant: str = ""
    alternative: str = "two-sided"
    ties: Finding | None = None
    zeros: Finding | None = None
    effect: Effect | None = None
    details: Mapping[str, float] = field(default_factory=dict)
    caveats: tuple[Finding, ...] = ()
    resamples: int | None = None
    undefined_resamples: int = 0

    def frame(self) -> pd.DataFrame:
        """Return the outcome as a data frame with one row."""
        import pandas as pd

        effect = self.effect
        return pd.DataFrame(
            [
                {
                    "test": self.test,
                    "variant": self.variant,
                    "statistic": self.statistic,
                    "df": _format_degrees(self.df, ", "),
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
    def findings(self) -> tuple[Finding, ...]:
        """How ties and zero differences were treated, followed by the caveats."""
        return tuple(finding for finding in (self.ties, self.zeros, *self.caveats) if finding is not None)

    @property
    def summary(self) -> str:
        """The result, the effect size and the caveats as text."""
        lines = [str(self), str(self.effect) if self.effect else ""]
        return " ".join([*(f"{capitalize(line)}." for line in lines if line), *render_all(self.findings)])

    @property
    def symbol(self) -> str:
        """Symbol of the statistic, such as "W"."""
        return get_statistic_symbol(self.test, self.variant)

    def __str__(self) -> str:
        statistic = " undefined" if isnan(self.statistic) else f" = {format_number(self.statistic)}"
        df = f", df = {_format_degrees(self.df, ' and ')}" if self.df is not None else ""
        p = format_p_value(self.p_value)
        return f"{get_display_name(self.test, self.variant)}: {self.symbol}{statistic}{df}, {p}, n = {self.n:,}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.summary)}</p>" + format_html_table(self.frame())


def _format_degrees(df: Degrees, separator: str) -> str:
    if df is None:
        return ""
    return separator.join(f"{value:g}" for value in df) if isinstance(df, tuple) else f"{df:g}"
