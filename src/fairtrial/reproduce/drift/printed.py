"""The tutorial's three tables, in one form, and what of them follows from what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial.reproduce.published import published

if TYPE_CHECKING:
    import pandas as pd


def printed() -> pd.DataFrame:
    """A line for each learner and change: errors in per cent (trivial, trained there, trained elsewhere) and pD.

    Two values of pD cannot be read in the text at hand and are holes. In Table II the names of the lines stand one line below
    their numbers there; the numbers are read in the order of the names.

    >>> printed().groupby("table").size().to_dict()
    {'definitions': 24, 'missing': 40, 'populations': 28}
    """
    import pandas as pd

    first = published("drift_flu_results")
    first = first[first["scenario"] != "NGP"]
    table_one = pd.DataFrame(
        {
            "table": "populations",
            "learner": first["learner"],
            "trained_on": "NGP",
            "tested_on": first["scenario"].str.removeprefix("NGP/"),
            "trivial": first["trivial_error"],
            "ideal": first["error_trained_on_same"],
            "error": first["error_trained_on_source"],
            "pd": first["pd"],
        }
    )
    return pd.concat([table_one, published("drift_flu_tables")], ignore_index=True)


def printed_averages() -> pd.DataFrame:
    """The averaged pD as printed and as it follows from the lines, for each table and learner.

    A pD that cannot be read is taken from the printed errors of its line: with it the average of 1R in Table III is as printed.

    >>> printed_averages().query("table == 'missing'")["from_lines"].round(3).tolist()
    [0.145, 0.088, 0.148, 0.097]
    """
    lines = printed()
    lines["pd"] = lines["pd"].fillna(recomputed(lines))
    means = lines.groupby(["table", "learner"])["pd"].mean().rename("from_lines").reset_index()
    return published("drift_flu_averages").merge(means, on=["table", "learner"], how="left")


def filled(table: str | None = None) -> list[str]:
    """Lines of a table, or of all, whose pD cannot be read, with the one that follows from their printed errors.

    >>> filled("definitions")
    ['1R from FC to MC (1.00)']
    """
    lines = printed()
    holes = lines[lines["pd"].isna()].assign(right=recomputed(lines))
    return [
        f"{row['learner']} from {row['trained_on']} to {row['tested_on']} ({row['right']:.2f})"
        for row in holes.to_dict("records")
        if table in (None, row["table"])
    ]


def recomputed(lines: pd.DataFrame) -> pd.Series[float]:
    """pD by its formula from the printed errors."""
    import pandas as pd

    from fairtrial.measures import performance_deterioration

    found = performance_deterioration(lines["error"].to_numpy(), lines["ideal"].to_numpy(), lines["trivial"].to_numpy())
    return pd.Series(found, index=lines.index)


def contradictions(lines: pd.DataFrame, tolerance: float = 0.015) -> list[str]:
    """Lines whose printed pD is not that of their printed errors."""
    both = lines.assign(right=recomputed(lines))
    told = both[(both["pd"] - both["right"]).abs() > tolerance].to_dict("records")
    return [
        f"{row['learner']} from {row['trained_on']} to {row['tested_on']} "
        f"(printed {row['pd']:.2f}, from its errors {row['right']:.2f})"
        for row in told
    ]
