"""What a judgement says, made from its tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.measures import Measure

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.significance import Verdict

_TESTS = {
    "mcnemar": "McNemar's test",
    "delong": "DeLong's test",
    "bootstrap_difference": "the bootstrap",
    "permutation_test": "the permutation test",
}


def verdict_words(
    scores: pd.DataFrame, pairs: pd.DataFrame, main: Measure, level: float, alpha: float, verdict: Verdict | None
) -> tuple[str, ...]:
    """Who is ahead and how sure that is: for each data set by its rows, then over data sets or splits."""
    told = []
    datasets = list(dict.fromkeys(scores["dataset"]))
    for name in datasets:
        own = scores[(scores["dataset"] == name) & (scores["measure"] == main.name)]
        where = f"On {name}: " if len(datasets) > 1 else ""
        told.append(where + _of_one(own, pairs[pairs["dataset"] == name], main, level, alpha))
    if verdict is not None:
        what = "Over the data sets" if verdict.unit == "data set" else "Over the splits"
        told.append(f"{what}: {' '.join(verdict.findings)}")
    return tuple(told)


def _of_one(scores: pd.DataFrame, pairs: pd.DataFrame, main: Measure, level: float, alpha: float) -> str:
    known = scores[scores["estimate"].notna()].sort_values("estimate", ascending=main.facts.direction == "min", kind="stable")
    if not len(known):
        return f"{main.name} has no value here, so that there is nothing to say."
    best = known.iloc[0]
    limits = f" ({100 * level:g} % interval {best['low']:.4g} to {best['high']:.4g})" if np.isfinite(best["low"]) else ""
    if len(known) == 1:
        return f"{best['model']} has {main.name} {best['estimate']:.4g}{limits}.{_chance(best, main)}"
    head = f"{best['model']} has the best {main.name}, {best['estimate']:.4g}{limits}."
    deciding = pairs[pairs["decides"]]
    against = [_against(best["model"], other, deciding) for other in known["model"].iloc[1:]]
    known_pairs = [line for line in against if line is not None]
    told_apart = [line for line in known_pairs if line["adjusted"] <= alpha]
    # Models that predict different rows may change places on those that both predict.
    sign = 1 if main.facts.direction == "max" else -1
    apart = [line for line in told_apart if sign * line["difference"] > 0]
    turned = [line for line in told_apart if not sign * line["difference"] > 0]
    alike = [line for line in known_pairs if not line["adjusted"] <= alpha]
    parts = [head]
    if apart:
        parts.append(f"It is ahead of {_listed([_told(line, len(against)) for line in apart])}.")
    if alike:
        parts.append(f"It cannot be told apart from {_listed([_told(line, len(against)) for line in alike])}.")
    if turned:
        parts.append(f"On the rows that both predict it is behind {_listed([_told(line, len(against)) for line in turned])}.")
    tests = list(dict.fromkeys(str(line["test"]) for line in known_pairs))
    if tests:
        many = int(deciding["adjusted"].notna().sum())
        how = f", p adjusted by Holm's procedure over {many} pairs" if many > 1 else ""
        parts.append(f"By {' and '.join(_TESTS.get(test, test) for test in tests)} at level {alpha:g}{how}.")
    return " ".join(parts)


def _chance(line: pd.Series[Any], main: Measure) -> str:
    """Whether a lone model is better than guessing, where the measure knows what guessing gives."""
    chance, low, high = main.facts.chance, float(line["low"]), float(line["high"])
    if chance is None or not np.isfinite(low):
        return ""
    beyond = low > chance if main.facts.direction == "max" else high < chance
    return f" That is {'better than' if beyond else 'not surely better than'} guessing ({chance:g})."


def _against(best: object, other: object, deciding: pd.DataFrame) -> dict[str, Any] | None:
    """The comparison of two models, the best one being the first."""
    for line in deciding.to_dict("records"):
        if line["first"] == best and line["second"] == other:
            return {str(key): value for key, value in line.items()}
        if line["first"] == other and line["second"] == best:
            turned = {"difference": 0.0 - line["difference"], "low": 0.0 - line["high"], "high": 0.0 - line["low"]}
            return {**{str(key): value for key, value in line.items()}, **turned, "second": other}
    return None


def _told(line: dict[str, Any], others: int) -> str:
    limits = f", interval {line['low']:.4g} to {line['high']:.4g}" if np.isfinite(line["low"]) else ""
    adjusted = " adjusted" if others > 1 else ""
    return f"{line['second']} (difference {line['difference']:.4g}{limits}, {p_text(line['adjusted'])}{adjusted})"


def p_text(p: float) -> str:
    """A p value as it is printed.

    >>> p_text(0.0123), p_text(1e-9)
    ('p = 0.012', 'p < 0.0001')
    """
    if np.isnan(p):
        return "p is undefined"
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
