"""The chapter's worked numbers, and statements that a single example decides."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

# Numbers that the chapter has wrong, by counting: of 90 patients and of 10 controls, how many are called right.
_SLIPS = {"accuracy averaged over both classes, %": (100 * 90 / 90 + 100 * 0 / 10) / 2}
_MISSED, _DISTINCT = "chance to miss a bootstrap sample of 100 rows", "share of distinct rows in 2000 such samples"
# Numbers that the chapter prints for many rows: what they tend to, and what 100 rows have.
_LIMITS = {_MISSED: (exp(-1), 0.99**100), _DISTINCT: (1 - exp(-1), 1 - 0.99**100)}
_NEAR = 0.003  # four standard errors of the share over 2000 samples


def worked() -> pd.DataFrame:
    """The always-positive model on 90 patients and 10 controls, and the chance of a row to miss a bootstrap sample.

    >>> worked().round(3)[["what", "ours", "printed"]].compute_values.tolist()[1]
    ['F-measure', 0.947, 0.95]
    """
    import pandas as pd

    from fairtrial.measures import accuracy, balanced_accuracy, f_score

    truth, said = np.repeat([1, 0], [90, 10]), np.ones(100, dtype=int)
    lines = [
        ("accuracy, %", 100 * float(accuracy(truth, said)), 90.0, 0),
        ("F-measure", float(f_score(truth, said, positive=1)), 0.95, 2),
        ("accuracy averaged over both classes, %", 100 * float(balanced_accuracy(truth, said)), 45.0, 0),
        (_MISSED, 0.99**100, 0.368, 3),
        (_DISTINCT, _distinct(), 0.632, 3),
    ]
    found = pd.DataFrame(lines, columns=["what", "ours", "printed", "digits"])
    verdicts = [verdict(row["what"], row["ours"], row["printed"], row["digits"]) for row in found.to_dict("records")]
    limits = [_LIMITS[what][0] if what in _LIMITS else float("nan") for what in found["what"]]
    return found.assign(limit=limits, verdict=verdicts)[["what", "ours", "printed", "limit", "verdict"]]


def verdict(what: str, ours: float, printed: float, digits: int) -> str:
    """What a printed number is beside ours: a slip or a limit only if it is a known one and ours is what counting gives, too.

    >>> verdict("F-measure", 0.947, 0.95, 2), verdict("F-measure", 0.5, 0.95, 2)
    ('agrees, rounded', 'differs')
    """
    if what in _LIMITS:
        return _verdict_on_limit(*_LIMITS[what], ours, printed, digits)
    if round(ours, digits) == round(printed, digits):
        return "agrees, rounded"
    known = what in _SLIPS and abs(ours - _SLIPS[what]) < 1e-9
    return "a slip of the chapter" if known else "differs"


def _verdict_on_limit(limit: float, counted: float, ours: float, printed: float, digits: int) -> str:
    """Whether the printed number is the limit, where ours is that of 100 rows."""
    if abs(ours - counted) > _NEAR or round(limit, digits) != printed:
        return "differs"
    return "the limit for many rows, rounded; not that of 100 rows"


def _distinct() -> float:
    from fairtrial.resampling import Bootstrap

    draws = Bootstrap(2000, random_state=1).freeze(np.zeros((100, 1)))
    return float(np.mean([len(np.unique(each.train)) for each in draws]) / 100)


def relative_absolute_error() -> float:
    """The relative absolute error of predictions that go the wrong way.

    >>> relative_absolute_error()
    2.0
    """
    from fairtrial.measures.regression import rae

    return float(rae([1.0, 2.0, 3.0], [3.0, 2.0, 1.0]))
