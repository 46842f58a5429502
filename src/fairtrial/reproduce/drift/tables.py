"""The three drift tables of the tutorial, compared with our results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial.reproduce.drift.results import DriftResults
from fairtrial.reproduce.drift.simulation import TABLES, TableName
from fairtrial.reproduce.experiment import ResultTable, compare_with_published, read_published

if TYPE_CHECKING:
    import pandas as pd

TABLE_NUMBERS: dict[TableName, str] = {"populations": "Table I", "missing": "Table II", "definitions": "Table III"}
TABLE_TITLES: dict[TableName, str] = {
    "populations": "Table I, population drift",
    "missing": "Table II, age groups missing in training",
    "definitions": "Table III, another definition of the class",
}
_PATTERN = "{:.2f}"
_QUANTITIES = {"error": "error, %", "pd": "pD"}
_HYPOTHESES_NOTE = (
    "A loss is the error of a learner minus its error after training in the test environment, in percentage points. Losses are "
    "averaged over the changes of the table and have 95 % jackknife intervals over replicates. The last column shows, "
    "by pD, whether the simple learner loses more than the complex one."
)
_TABLE_NOTES: dict[TableName, str] = {
    "populations": (
        "The table shows the errors, in percent, of learners that are trained in one environment and tested in another. pD is "
        "computed from the mean errors. `low` and `high` are 95 % confidence limits of the difference, computed over our "
        "replicates. The printed number is treated as fixed."
    ),
    "missing": (
        "In the available text, each row name is one line below its numbers, so we moved the names up by one line. "
        "Comparisons of single rows depend on this assignment."
    ),
    "definitions": "Tests on MC are not comparable (see the details).",
}


def read_drift_tables() -> pd.DataFrame:
    """Read the published tables, with a row per learner and change of environment.

    Each row contains the trivial, ideal and actual error in percent, and pD. Two pD values are illegible in the available text
    and are missing here. In Table II of that text, each row name is one line below its numbers, so names and numbers are paired
    in order.

    >>> read_drift_tables().groupby("table").size().to_dict()
    {'definitions': 24, 'missing': 40, 'populations': 28}
    """
    import pandas as pd

    first = read_published("drift_flu_results")
    first = first[first["scenario"] != "NGP"]
    first_table = pd.DataFrame(
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
    return pd.concat([first_table, read_published("drift_flu_tables")], ignore_index=True)


def compute_published_pd(rows: pd.DataFrame) -> pd.Series[float]:
    """Compute pD by its formula from the published errors."""
    import pandas as pd

    from fairtrial.measures import performance_deterioration

    values = performance_deterioration(rows["error"].to_numpy(), rows["ideal"].to_numpy(), rows["trivial"].to_numpy())
    return pd.Series(values, index=rows.index)


def read_published_averages() -> pd.DataFrame:
    """Read the published averages of pD, and compute the means of the published rows.

    The column `value` contains the published averages, and `from_rows` contains the means of the rows.

    An illegible pD is computed from the published errors of its row. With the computed value, the average of 1R in Table III
    equals the published average.

    >>> read_published_averages().query("table == 'missing'")["from_rows"].round(3).tolist()
    [0.145, 0.088, 0.148, 0.097]
    """
    rows = read_drift_tables()
    rows["pd"] = rows["pd"].fillna(compute_published_pd(rows))
    means = rows.groupby(["table", "learner"])["pd"].mean().rename("from_rows").reset_index()
    return read_published("drift_flu_averages").merge(means, on=["table", "learner"], how="left")


def average_published_pd(table: TableName, *, without_test: str = "") -> dict[str, float]:
    """Return the published averages of pD by learner.

    If `without_test` is given, return the means of the published rows without the tests in this environment.

    >>> average_published_pd("populations")
    {'1R': 0.28, 'Decision Tree': 0.05, 'Simple NN': 0.2, 'Complex NN': 0.04}
    """
    if not without_test:
        averages = read_published_averages()
        averages = averages[averages["table"] == table]
        return dict(zip(averages["learner"], averages["value"], strict=True))
    rows = read_drift_tables()
    rows["pd"] = rows["pd"].fillna(compute_published_pd(rows))
    kept = rows[(rows["table"] == table) & (rows["tested_on"] != without_test)]
    means = kept.groupby("learner", sort=False)["pd"].mean()
    return dict(zip(means.index, means, strict=True))


def read_unchanged_errors() -> dict[str, dict[TableName, float]]:
    """Read the published error of each learner trained and tested on the usual population (NGP).

    Each of the three tables prints this error, so the result contains one error per learner and table.

    >>> read_unchanged_errors()["Decision Tree"]
    {'populations': 18.9, 'missing': 18.9, 'definitions': 18.6}
    """
    first = read_published("drift_flu_results").query("scenario == 'NGP'").set_index("learner")["error_trained_on_same"]
    others = read_published("drift_flu_tables").query("tested_on == 'NGP'").groupby(["learner", "table"])["ideal"].first()
    return {
        learner: {table: float(first[learner] if table == "populations" else others[learner, table]) for table in TABLES}
        for learner in first.index
    }


def list_illegible(table: str | None = None) -> list[str]:
    """List the rows of a table with an illegible pD, each with the pD computed from its errors.

    By default, the rows of all tables are listed.

    >>> list_illegible("definitions")
    ['1R from FC to MC (1.00)']
    """
    rows = read_drift_tables()
    illegible = rows[rows["pd"].isna()].assign(computed=compute_published_pd(rows))
    return [
        f"{row['learner']} from {row['trained_on']} to {row['tested_on']} ({row['computed']:.2f})"
        for row in illegible.to_dict("records")
        if table in (None, row["table"])
    ]


def list_contradictions(rows: pd.DataFrame, tolerance: float = 0.015) -> list[str]:
    """List the rows whose published pD does not follow from their published errors."""
    rows = rows.assign(computed=compute_published_pd(rows))
    return [
        f"{row['learner']} from {row['trained_on']} to {row['tested_on']} "
        f"(printed {row['pd']:.2f}, from its errors {row['computed']:.2f})"
        for row in rows[(rows["pd"] - rows["computed"]).abs() > tolerance].to_dict("records")
    ]


def build_tables(results: DriftResults) -> tuple[ResultTable, ...]:
    """Build all tables of the page."""
    return (
        ResultTable(
            "averages",
            "Averaged pD, ours and the tutorial's",
            compare_averages(results),
            _note_averages(),
            digits=2,
            is_main=True,
        ),
        ResultTable(
            "hypotheses", "Both hypotheses under every variant", tabulate_hypotheses(results), _HYPOTHESES_NOTE, digits=2
        ),
        *(
            ResultTable(
                table,
                f"{TABLE_TITLES[table]}: ours and the tutorial's",
                compare_cells(results, table),
                _note_table(table),
                digits=2,
            )
            for table in TABLES
        ),
        ResultTable(
            "trivial", "Trivial error of each environment, ours and the tutorial's", compare_trivial(results), digits=1
        ),
    )


def compare_cells(results: DriftResults, table: TableName) -> pd.DataFrame:
    """Compare error and pD of each learner for each change with the published values."""
    published = read_drift_tables()
    ours = _to_long(results.build_cells(table), 100.0)
    theirs = _to_long(published[published["table"] == table], 1.0)
    return compare_with_published(ours, theirs, ["learner", "trained_on", "tested_on", "quantity"])


def _to_long(cells: pd.DataFrame, error_factor: float) -> pd.DataFrame:
    """Return one row per cell and quantity.

    Cells without a change of environment are left out, because their pD is undefined.
    """
    import pandas as pd

    changed = cells[cells["trained_on"] != cells["tested_on"]]
    frames = []
    for column, name in _QUANTITIES.items():
        factor = error_factor if column == "error" else 1.0
        frame = changed[["learner", "trained_on", "tested_on"]].assign(quantity=name, value=changed[column] * factor)
        for end in ("low", "high"):
            frame[end] = changed[f"{column}_{end}"] * factor if f"{column}_{end}" in changed else float("nan")
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def compare_averages(results: DriftResults) -> pd.DataFrame:
    """Compare the averaged pD of each learner in each table with the published value."""
    import pandas as pd

    rows = [
        {"table": table, "learner": learner, **vars(results.get_errors(table, learner).estimate_pd())}
        for table in TABLES
        for learner in results.plan.learners
    ]
    published = read_published_averages()
    both = compare_with_published(pd.DataFrame(rows), published, ["table", "learner"])
    from_rows = both.merge(published, on=["table", "learner"], how="left")["from_rows"]
    return both.assign(table=both["table"].map(TABLE_NUMBERS), **{"mean of the printed rows": from_rows})


def tabulate_hypotheses(results: DriftResults) -> pd.DataFrame:
    """Tabulate the losses of each pair of learners and their difference."""
    import pandas as pd

    rows = []
    for variant in ("", *results.plan.variants):
        for table in TABLES:
            for pair in results.plan.pairs:
                losses = [results.get_errors(table, learner, variant).estimate_loss() for learner in pair]
                pd_difference = results.estimate_pd_difference(table, pair, variant)
                loss_difference = results.estimate_loss_difference(table, pair, variant)
                rows.append(
                    {
                        "variant": variant or "main",
                        "table": TABLE_NUMBERS[table],
                        "simple": pair[0],
                        "complex": pair[1],
                        "simple loses": losses[0].format(_PATTERN),
                        "complex loses": losses[1].format(_PATTERN),
                        "pD, simple minus complex": pd_difference.format(_PATTERN),
                        "points, simple minus complex": loss_difference.format(_PATTERN),
                        "the simple one loses": {1: "more", 0: "no significant difference", -1: "less"}[pd_difference.sign],
                    }
                )
    return pd.DataFrame(rows)


def compare_trivial(results: DriftResults) -> pd.DataFrame:
    """Compare our trivial errors with the published ones, in percent.

    The simulated domain was designed to approximate the published errors.
    """
    import pandas as pd

    cells = pd.concat([results.build_cells(table) for table in TABLES])
    ours = (cells.groupby("tested_on", sort=False)["trivial"].mean() * 100).rename("value").reset_index()
    theirs = read_drift_tables().groupby("tested_on", sort=False)["trivial"].first().rename("value").reset_index()
    return compare_with_published(ours, theirs, ["tested_on"], interval=False).rename(columns={"tested_on": "environment"})


def _note_table(table: TableName) -> str:
    rows = read_drift_tables()
    illegible = "; ".join(list_illegible(table))
    contradictions = "; ".join(list_contradictions(rows[rows["table"] == table]))
    return (
        _TABLE_NOTES[table]
        + (f" We computed illegible pD values from the printed errors: {illegible}." if illegible else "")
        + (f" A printed pD does not follow from the printed errors of its row: {contradictions}." if contradictions else "")
    )


def _note_averages() -> str:
    return (
        "pD is the performance deterioration (see the details). `ours` is averaged over all changes of the table for which pD "
        "is defined. `low` and `high` are the 95 % confidence limits of the difference. The published average should equal the "
        "mean of the printed rows. In Table II, the two numbers differ, so we draw no conclusion from its averages. Illegible "
        "pD values are computed from the printed errors of their rows: "
        f"{'; '.join(list_illegible())}."
    )
