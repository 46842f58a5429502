"""What the paper states of the standard deviations over folds, with intervals over data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.reproduce.dobscv.cells import HIGH, LOW
from fairtrial.reproduce.dobscv.effects import bases, by_sets, mean_effects, set_differences, told_of
from fairtrial.reproduce.dobscv.trials import LITERAL
from fairtrial.reproduce.interval import Interval, all_above
from fairtrial.reproduce.reproduction import Claim

if TYPE_CHECKING:
    import pandas as pd

MUCH = 1.5  # the paper names no number


def spread_claims(cells: pd.DataFrame) -> list[Claim]:
    """Both of them."""
    return [_more_with_imbalance(cells), _less(cells)]


def _more_with_imbalance(cells: pd.DataFrame) -> Claim:
    text = (
        "The standard deviation over folds is much higher where the imbalance is high (that is, at least "
        f"{MUCH} times as high, a limit of ours)"
    )
    groups = cells.drop_duplicates("dataset").set_index("dataset")["group"]
    if set(groups) != {LOW, HIGH}:
        return Claim(text, None, "only one group of imbalance ran")
    found, told = [], []
    for scheme in (*bases(cells), LITERAL):
        own = by_sets(cells, scheme, "sd")
        of_group = groups.reindex(own.index)
        ratios = {str(name): log_ratio(each[of_group == HIGH], each[of_group == LOW]) for name, each in own.items()}
        found += [each.less(float(np.log(MUCH))) for each in ratios.values()]
        plain = {name: Interval(*np.exp([each.value, each.low, each.high])) for name, each in ratios.items()}
        told.append(f"{scheme}: {told_of(plain, '{:.3f}')}")
    return Claim(text, all_above(found), f"ratio of the means of IR>9 and IR<9: {'; '.join(told)}")


def log_ratio(first: Any, second: Any) -> Interval:
    """The logarithm of the ratio of two groups' means, with Welch's interval by the delta method.

    >>> log_ratio([2.0, 2.0, 2.0], [1.0, 1.0]).told("{:.4f}")
    '0.6931 (0.6931 to 0.6931)'
    """
    from scipy.stats import t

    groups = [np.asarray(each, dtype=float) for each in (first, second)]
    groups = [each[~np.isnan(each)] for each in groups]
    if min(len(each) for each in groups) < 2 or min(each.mean() for each in groups) <= 0:
        return Interval(float("nan"), float("nan"), float("nan"))
    value = float(np.log(groups[0].mean() / groups[1].mean()))
    parts = np.array([each.var(ddof=1) / len(each) / each.mean() ** 2 for each in groups])
    if not parts.sum():
        return Interval(value, value, value)
    freedom = parts.sum() ** 2 / sum(part**2 / (len(each) - 1) for part, each in zip(parts, groups, strict=True))
    half = float(t.ppf(0.975, freedom) * np.sqrt(parts.sum()))
    return Interval(value, value - half, value + half, float(freedom))


def _less(cells: pd.DataFrame) -> Claim:
    text = "DOB-SCV has lower standard deviations over folds than SCV"
    found = {base: mean_effects(-set_differences(cells, LITERAL, base, "sd")) for base in bases(cells)}
    told = "; ".join(f"{base}: {told_of(each)}" for base, each in found.items())
    verdict = all_above(each for effects in found.values() for each in effects.values())
    return Claim(text, verdict, f"by how much lower, mean over sets, than under {told}")
