"""What several sections of a judgement share: its data sets and models, facts in numbers, and the frames of two tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fairtrial.measures import get_measure
from fairtrial.predictions.tables import order_best_first, rank_models
from fairtrial.report.names import describe_test
from fairtrial.report.section import Number, format_number

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.predictions.judgement import Judgement

FACTS = "judged-facts"
LEVEL, ALPHA = "confidence level, %", "alpha"
MEASURES_KEY, PAIRS_KEY = "measures-all", "pairs-all"
"""The tables of all measures and of all paired tests."""

_PAIR_NAMES = {"p_value": "p", "p_adjusted": "adjusted p", "at_minimum": "p at minimum"}
# Data sets (or classes of one) that get sentences and figures of their own; tables hold all of them.
MAX_PARTS = 6


def list_datasets(judgement: Judgement) -> list[str]:
    """The data sets, in the order of the file."""
    return list(dict.fromkeys(map(str, judgement.scores["dataset"])))


def list_models(judgement: Judgement) -> list[str]:
    """The models, in the order of the file."""
    return list(dict.fromkeys(map(str, judgement.scores["model"])))


def count_rows(judgement: Judgement) -> dict[str, int]:
    """How many rows a data set has: those of the model that predicts the most."""
    row_counts = judgement.scores.groupby("dataset", sort=False)["rows"].max()
    return {str(name): int(rows) for name, rows in row_counts.items()}


def select_largest_datasets(judgement: Judgement) -> list[str]:
    """The data sets with the most rows, as many as are shown one by one, in the order of the file."""
    rows = count_rows(judgement)
    chosen = sorted(rows, key=lambda name: -rows[name])[:MAX_PARTS]
    return [name for name in list_datasets(judgement) if name in chosen]


def get_direction(measure: str) -> str:
    """Whether larger or smaller values are better: "max" or "min"."""
    return str(get_measure(measure).facts.direction)


def build_facts_frame(judgement: Judgement) -> pd.DataFrame:
    """The judgement in numbers, by name."""
    import pandas as pd

    facts: dict[str, Any] = {
        "data sets": len(list_datasets(judgement)),
        "models": len(list_models(judgement)),
        "rows": sum(count_rows(judgement).values()),
        "measures": judgement.scores["measure"].nunique(),
        "paired tests": len(judgement.pairs),
        LEVEL: round(100 * judgement.level, 10),
        ALPHA: judgement.alpha,
    }
    facts[LEVEL] = int(facts[LEVEL]) if float(facts[LEVEL]).is_integer() else facts[LEVEL]
    return pd.DataFrame({"value": pd.Series(list(facts.values()), dtype=object)}).set_index(pd.Index(facts, name="fact"))


def get_fact(judgement: Judgement, name: str, template: str = "{:g}") -> Number:
    """One of these numbers, for a sentence."""
    return format_number(build_facts_frame(judgement), FACTS, name, "value", template)


def drop_single_dataset(frame: pd.DataFrame, several: bool) -> pd.DataFrame:
    """A table without the column of data sets, unless there are several; its lines counted from zero."""
    table = frame.rename(columns={"dataset": "data set"}).reset_index(drop=True)
    return table if several else table.drop(columns="data set", errors="ignore")


def join_test_names(names: Sequence[str]) -> str:
    """Tests as they stand in a sentence.

    >>> join_test_names(["delong"])
    "DeLong's test"
    """
    return " and ".join(describe_test(name) for name in names)


def build_measures_frame(judgement: Judgement) -> pd.DataFrame:
    """The frame of the table of all measures; its lines are those of `judgement.scores`."""
    return drop_single_dataset(judgement.scores, len(list_datasets(judgement)) > 1)


def rank_judged_models(judgement: Judgement, dataset: str) -> list[str]:
    """Models of a data set, the best by the main measure first; those without a value come last."""
    return rank_models(judgement.scores, dataset, judgement.main)


def order_pairs_best_first(judgement: Judgement) -> pd.DataFrame:
    """The pairs, each with the model first that has the better value of the main measure; lines as in `judgement.pairs`."""
    return order_best_first(judgement.pairs, judgement.scores, judgement.main)


def build_pairs_frame(judgement: Judgement) -> pd.DataFrame:
    """The frame of the table of all tests; its lines are those of `judgement.pairs`."""
    pairs = order_pairs_best_first(judgement)
    table = pairs.assign(
        test=[describe_test(name).removeprefix("the ") for name in pairs["test"]],
        significant=["yes" if p <= judgement.alpha else "no" for p in pairs["p_adjusted"]],
        primary=["yes" if flag else "no" for flag in pairs["primary"]],
        at_minimum=["at most" if flag else "" for flag in pairs["at_minimum"]],
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
