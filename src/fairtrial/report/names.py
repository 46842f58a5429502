"""Display names of conditions and measures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fairtrial.study.archive import ConditionFacts
from fairtrial.study.results.selection import CLEAN, format_condition, format_measure_name as format_measure_name

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results


def format_condition_phrase(condition: ConditionFacts) -> str:
    """Format a condition as a phrase for use in a sentence.

    >>> format_condition_phrase(ConditionFacts("class-noise", 0.1, "", {}))
    'under class-noise 0.1'
    >>> format_condition_phrase(ConditionFacts("clean", 0.0, "", {}))
    'on clean data'
    """
    return "on clean data" if condition.name == CLEAN else f"under {format_condition(condition)}"


def get_verdict_measure_name(results: Results) -> str:
    """Get the name of the verdict's measure. The default is the first measure of the study."""
    declared = results.archive.declaration.get("verdict")
    chosen = declared.get("measure") if isinstance(declared, Mapping) else None
    return str(chosen or results.measures[0])


def find_best_names(values: pd.Series[float], better: str) -> list[str]:
    """Find the names with the best value. Values that agree to 12 decimal places are tied."""
    rounded = values.round(12)
    return [str(name) for name in values.index[rounded == (rounded.max() if better == "max" else rounded.min())]]
