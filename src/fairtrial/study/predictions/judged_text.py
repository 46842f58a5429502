"""The tables of a judgement as they are printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.significance.p_words import p_form
from fairtrial.study.predictions.judged_order import unequal_rows

if TYPE_CHECKING:
    import pandas as pd


def scores_text(scores: pd.DataFrame) -> str:
    """Models side by side, the interval behind each estimate; how many rows each has where they differ."""
    import pandas as pd

    keys = ["dataset", "measure"] if scores["dataset"].nunique() > 1 else ["measure"]
    lines: dict[tuple[Any, ...], dict[str, str]] = {}
    for line in scores.to_dict("records"):
        cell = _cell(line["estimate"], line["low"], line["high"])
        lines.setdefault(tuple(line[key] for key in keys), {})[line["model"]] = cell
    for name, rows in unequal_rows(scores).items():
        lines[(name, "rows") if len(keys) > 1 else ("rows",)] = {model: f"{count:,}" for model, count in rows.items()}
    models = list(dict.fromkeys(scores["model"]))
    table = [[*key, *(found.get(model, "") for model in models)] for key, found in lines.items()]
    return pd.DataFrame(table, columns=[*keys, *models]).to_string(index=False)


def _cell(estimate: float, low: float, high: float) -> str:
    if np.isnan(estimate):
        return "-"
    return f"{estimate:.4f}" + (f" [{low:.4f}, {high:.4f}]" if np.isfinite(low) and np.isfinite(high) else "")


def methods_text(scores: pd.DataFrame) -> str:
    """How the intervals are made."""
    known = scores[(scores["method"] != "") & scores["low"].notna()]
    parts = []
    for name, own in known.groupby("method", sort=False):
        parts.append(f"{name} ({', '.join(dict.fromkeys(map(str, own['measure'])))})")
    return f"Intervals: {'; '.join(parts)}." if parts else ""


def pairs_text(pairs: pd.DataFrame, alpha: float) -> str:
    """The pairs as a table of text; what is not defined is left empty."""
    table = pairs if pairs["dataset"].nunique() > 1 else pairs.drop(columns="dataset")
    columns = ["dataset", "first", "second", "test", "measure", "difference", "low", "high", "p_value", "adjusted"]
    table = table[[name for name in columns if name in table]]
    numbers = {name: [_text(each, "{:.4g}") for each in table[name]] for name in ("difference", "low", "high")}
    floors = pairs["floor"].to_numpy(dtype=bool)
    for name in ("p_value", "adjusted"):
        numbers[name] = [
            ("<=" if low else "") + _text(each, p_form([each], alpha)) for each, low in zip(table[name], floors, strict=True)
        ]
    return table.assign(**numbers).to_string(index=False)


def _text(value: float, form: str) -> str:
    return "" if np.isnan(value) else form.format(value)
