"""Parameters that tuned learners chose: a list by trial, and counts of the chosen values."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._text import format_number
from fairtrial.errors import StoreError
from fairtrial.study.results.scores import KEY_COLUMNS

if TYPE_CHECKING:
    import pandas as pd

_MAX_VALUES = 8
"""Maximum number of distinct numbers that are listed individually. If there are more, they are summarized as a range."""


def list_choices(trials: pd.DataFrame) -> pd.DataFrame:
    """List the parameters that tuned learners chose: one row per successful trial and parameter."""
    import pandas as pd

    tuned = trials[(trials["status"] == "ok") & trials["tuning"].notna()]
    lines = []
    for *keys, text in tuned[[*KEY_COLUMNS, "tuning"]].itertuples(index=False, name=None):
        choice = _read_choice(text)
        line = dict(zip(KEY_COLUMNS, keys, strict=True))
        lines += [
            line | {"parameter": name, "value": value, "score": choice["score"], "tried": choice["tried"]}
            for name, value in choice["parameters"].items()
        ]
    frame = pd.DataFrame(lines, columns=[*KEY_COLUMNS, "parameter", "value", "score", "tried"])
    return frame.astype({"value": object})


def count_choices(choices: pd.DataFrame) -> pd.DataFrame:
    """Count how often each value was chosen, by learner, data set and parameter.

    More than 8 distinct numbers are summarized as a range.

    >>> import pandas as pd
    >>> line = {"learner": "knn", "dataset": "iris", "parameter": "k", "value": [3, 5, 3]}
    >>> count_choices(pd.DataFrame(line))[["value", "chosen", "trials"]].to_dict("list")
    {'value': ['3', '5'], 'chosen': [2, 1], 'trials': [3, 3]}
    """
    import pandas as pd

    lines = []
    for names, group in choices.groupby(["learner", "dataset", "parameter"], sort=False, observed=True):
        line = dict(zip(("learner", "dataset", "parameter"), names, strict=True))
        counts = _count_values(group["value"].tolist())
        lines += [line | {"value": value, "chosen": count, "trials": len(group)} for value, count in counts.items()]
    return pd.DataFrame(lines, columns=["learner", "dataset", "parameter", "value", "chosen", "trials"])


def _count_values(values: list[Any]) -> dict[str, int]:
    numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    if len(numbers) == len(values) and len(set(numbers)) > _MAX_VALUES:
        low, middle, high = (format_number(value) for value in (min(numbers), float(np.median(numbers)), max(numbers)))
        return {f"{low} to {high} (median {middle})": len(values)}
    if len(numbers) == len(values):
        values = sorted(values)
    counts: dict[str, int] = {}
    for value in values:
        text = format_value(value)
        counts[text] = counts.get(text, 0) + 1
    return counts


def format_value(value: Any) -> str:
    """Format a chosen value.

    >>> format_value(2.79856), format_value("rbf"), format_value(None), format_value([1, 2])
    ('2.8', 'rbf', 'None', '[1, 2]')
    """
    return format_number(value) if isinstance(value, float) else str(value)


def _read_choice(text: str) -> dict[str, Any]:
    try:
        choice = json.loads(text)
        return {"parameters": dict(choice["parameters"]), "score": float(choice["score"]), "tried": int(choice["tried"])}
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(
            f"the chosen parameters of a trial are corrupted ({error}): restore a backup, or rerun the study into a new file"
        ) from None
