"""What the paper hopes of DOB-SCV, and what fairtrial's documentation says of it, judged where the truth is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtrial.reproduce.dobscv.biases import interval_of
from fairtrial.reproduce.dobscv.trials import LITERAL, SCV, SHUFFLED
from fairtrial.reproduce.reproduction import Claim

if TYPE_CHECKING:
    import pandas as pd

_FEW = 5


def truth_claims(pooled: pd.DataFrame) -> list[Claim]:
    """By pooled biases and errors of the balanced accuracy."""
    own = pooled[pooled["measure"] == "balanced accuracy"].set_index("scheme")
    return [_better(own), _optimistic(own)]


def _better(own: Any) -> Claim:
    text = "DOB-SCV gives a better estimate of a classifier's performance than SCV (known truth)"
    told: list[str] = [_errors(own, SCV)]
    verdicts: list[bool | None] = []
    for scheme in (LITERAL, SHUFFLED):
        nearer, farther, cells = (int(own.loc[scheme, name]) for name in ("nearer than SCV", "farther than SCV", "cells"))
        told.append(
            f"{_errors(own, scheme)}, significantly nearer than SCV in {nearer} and farther in {farther} of {cells} cells"
        )
        verdicts.append(None if nearer == farther else nearer > farther)
    return Claim(text, together(verdicts), "; ".join(told))


def _errors(own: Any, scheme: str) -> str:
    return f"{scheme}: bias {own.loc[scheme, 'bias']:+.4f}, root mean square error {own.loc[scheme, 'rmse']:.4f}"


def _optimistic(own: Any) -> Claim:
    text = (
        "fairtrial's documentation: on independent cases DOB-SCV, literal or shuffled, says more of its fold models than is "
        "true, and SCV does not"
    )
    ends = {scheme: own.loc[scheme, ["fold_bias", "fold_bias_low", "fold_bias_high"]] for scheme in (SCV, LITERAL, SHUFFLED)}
    told = "; ".join(f"{scheme} {_interval_words(*line)}" for scheme, line in ends.items())
    above = [above_zero(*ends[scheme]) for scheme in (LITERAL, SHUFFLED)]
    sound = above_zero(*ends[SCV]) is not True
    return Claim(text, together([*above, sound]), f"bias against the fold models' own truth: {told}")


def first_fold(scores: pd.DataFrame, sets: int) -> Claim:
    """Outliers gather in fold 1 of DOB-SCV as printed, so that its estimates are lower there."""
    text = "fairtrial's documentation: fold 1 of DOB-SCV as printed gathers outliers, and shuffled groups mend it"
    gaps = {scheme: _gap(scores, scheme) for scheme in (LITERAL, SHUFFLED) if (scores["scheme"] == scheme).any()}
    told = "; ".join(f"{scheme} {_interval_words(*each)}" for scheme, each in gaps.items())
    holds = None
    if SHUFFLED in gaps and sets > _FEW:
        lower = {scheme: above_zero(*(-each for each in gap)) for scheme, gap in gaps.items()}
        holds = together([lower[LITERAL], lower[SHUFFLED] is not True])
    return Claim(text, holds, f"AUC of fold 1 less that of the others, mean over sets and learners: {told}")


def above_zero(value: float, low: float, high: float) -> bool | None:
    """Whether a number is above zero, None where its interval (in either order) holds zero or is not known.

    >>> above_zero(2.0, 1.0, 3.0), above_zero(-2.0, -1.0, -3.0), above_zero(0.5, -1.0, 2.0)
    (True, False, None)
    """
    return bool(value > 0) if low * high > 0 else None


def together(verdicts: list[bool | None]) -> bool | None:
    """All hold, one does not, or it is open.

    >>> together([True, True]), together([True, None, False]), together([True, None])
    (True, False, None)
    """
    return False if False in verdicts else None if None in verdicts else True


def _interval_words(value: float, low: float, high: float) -> str:
    return f"{value:+.4f} ({low:+.4f} to {high:+.4f})"


def _gap(scores: pd.DataFrame, scheme: str) -> tuple[float, float, float]:
    own = scores[(scores["scheme"] == scheme) & scores["value"].notna()]
    first = own[own["fold"] == 0].groupby("dataset")["value"].mean()
    others = own[own["fold"] > 0].groupby("dataset")["value"].mean()
    return interval_of((first - others).dropna())
