"""List the data sets and models of a judgement, and build the tables of its report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtrial.measures import get_measure
from fairtrial.predictions.pairs import UNDECIDED
from fairtrial.predictions.tables import order_best_first, rank_models
from fairtrial.report.section import Number, format_number
from fairtrial.significance.names import get_display_name

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.predictions.judgement import Judgement

FACTS = "judged-facts"
LEVEL, ALPHA = "confidence level, %", "alpha"
MEASURES_KEY, PAIRS_KEY = "measures-all", "pairs-all"
"""Keys of the tables of all measures and of all paired tests."""

_PAIR_NAMES = {"p_value": "p", "p_adjusted": "adjusted p", "at_minimum": "p at minimum"}
# Maximum number of data sets, or of classes of a data set, in sentences and figures. Tables have no such limit.
MAX_PARTS = 6
MAX_ROWS = 12
"""Maximum number of models in a figure, and maximum number of small multiples."""


def list_datasets(judgement: Judgement) -> list[str]:
    """List the data sets in the order of the file."""
    return list(dict.fromkeys(map(str, judgement.scores["dataset"])))


def list_models(judgement: Judgement) -> list[str]:
    """List the models in the order of the file."""
    return list(dict.fromkeys(map(str, judgement.scores["model"])))


def count_rows(judgement: Judgement) -> dict[str, int]:
    """Count the rows of each data set.

    If models have different numbers of predictions, the largest number is used.
    """
    row_counts = judgement.scores.groupby("dataset", sort=False)["rows"].max()
    return {str(name): int(rows) for name, rows in row_counts.items()}


def select_largest_datasets(judgement: Judgement) -> list[str]:
    """Select up to `MAX_PARTS` data sets with the most rows, in the order of the file."""
    rows = count_rows(judgement)
    chosen = sorted(rows, key=lambda name: -rows[name])[:MAX_PARTS]
    return [name for name in list_datasets(judgement) if name in chosen]


def get_direction(measure: str) -> str:
    """Get the direction of a measure: "max", "min", "target" or "none"."""
    return str(get_measure(measure).facts.direction)


def build_facts_frame(judgement: Judgement) -> pd.DataFrame:
    """Build a frame with the counts, the confidence level and the significance level of a judgement."""
    import pandas as pd

    facts: dict[str, Any] = {
        "data sets": len(list_datasets(judgement)),
        "models": len(list_models(judgement)),
        "rows": sum(count_rows(judgement).values()),
        "measures": judgement.scores["measure"].nunique(),
        "paired tests": len(judgement.tests),
        LEVEL: round(100 * judgement.level, 10),
        ALPHA: judgement.alpha,
    }
    facts[LEVEL] = int(facts[LEVEL]) if float(facts[LEVEL]).is_integer() else facts[LEVEL]
    return pd.DataFrame({"value": pd.Series(list(facts.values()), dtype=object)}).set_index(pd.Index(facts, name="fact"))


def get_fact(judgement: Judgement, name: str, template: str = "{:g}") -> Number:
    """Format a number from `build_facts_frame` for a sentence."""
    return format_number(build_facts_frame(judgement), FACTS, name, "value", template)


def drop_single_dataset(frame: pd.DataFrame, several: bool) -> pd.DataFrame:
    """Rename the data set column, or drop it if there is only one data set. Number the rows from zero."""
    table = frame.rename(columns={"dataset": "data set"}).reset_index(drop=True)
    return table if several else table.drop(columns="data set", errors="ignore")


def build_measures_frame(judgement: Judgement) -> pd.DataFrame:
    """Build the table of all measures, with one row for each row of `judgement.scores`."""
    return drop_single_dataset(judgement.scores, len(list_datasets(judgement)) > 1)


def rank_judged_models(judgement: Judgement, dataset: str, measure: str = "") -> list[str]:
    """Sort models by a measure on a data set, best first. Models without a value come last.

    By default, use the main measure.
    """
    return rank_models(judgement.scores, dataset, measure or judgement.main)


def list_tested_measures(judgement: Judgement) -> list[str]:
    """List the main measure, then the other measures that have scores and paired tests."""
    tested = set(map(str, judgement.tests["measure"]))
    scored = dict.fromkeys(map(str, judgement.scores["measure"]))
    return [judgement.main, *(name for name in scored if name in tested and name != judgement.main)]


def order_pairs_best_first(judgement: Judgement, measure: str = "") -> pd.DataFrame:
    """Reorder each pair of models so that the model with the better value of a measure comes first.

    By default, use the main measure. The result has no column `outcome`. The confidence limits `low` and `high` are
    simultaneous over all pairs.
    """
    pairs = judgement.pairs.drop(columns="outcome")
    if measure not in ("", judgement.main):
        pairs = judgement.tests[judgement.tests["measure"] == measure]
        pairs = pairs.assign(significant=pairs["p_adjusted"] <= judgement.alpha)
    return _take_simultaneous_limits(order_best_first(pairs, judgement.scores, measure or judgement.main))


def _take_simultaneous_limits(pairs: pd.DataFrame) -> pd.DataFrame:
    return pairs.assign(low=pairs["simultaneous_low"], high=pairs["simultaneous_high"])


def build_tests_frame(judgement: Judgement) -> pd.DataFrame:
    """Build the table of all paired tests, with one row for each row of `judgement.tests`.

    The row of a primary test shows the adjusted p-value, the decision and the note of its pair.
    """
    tests = _take_simultaneous_limits(order_best_first(_add_decisions(judgement), judgement.scores, judgement.main))
    table = tests.assign(
        test=[get_display_name(name) for name in tests["test"]],
        primary=["yes" if flag else "no" for flag in tests["primary"]],
        at_minimum=["at most" if flag else "" for flag in tests["at_minimum"]],
    )
    columns = [
        "dataset",
        "first",
        "second",
        "test",
        "measure",
        "difference",
        "low",
        "high",
        "p_adjusted",
        "significant",
        "primary",
        "p_value",
        "at_minimum",
    ]
    frame = table[[*columns, "rows", "note"]].rename(columns=_PAIR_NAMES)
    return drop_single_dataset(frame, len(list_datasets(judgement)) > 1)


def _add_decisions(judgement: Judgement) -> pd.DataFrame:
    """Add a column `significant`. Each primary test gets the adjusted p-value and the note of its pair."""
    keys, tests = ["dataset", "first", "second"], judgement.tests
    pairs = tests[keys].merge(judgement.pairs, on=keys, how="left").set_axis(tests.index)
    p_adjusted = tests["p_adjusted"].where(~tests["primary"], pairs["p_adjusted"])
    is_undecided = p_adjusted.isna() | (tests["primary"] & (pairs["outcome"] == UNDECIDED))
    significant = (p_adjusted <= judgement.alpha).map({True: "yes", False: "no"}).where(~is_undecided, UNDECIDED)
    note = tests["note"].where(~tests["primary"], pairs["note"])
    return tests.assign(p_adjusted=p_adjusted, significant=significant, note=note)
