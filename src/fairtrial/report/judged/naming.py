"""What sections of a judgement share: its data sets and models, the facts in numbers, and words for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fairtrial.measures import get_measure
from fairtrial.report.sentence import Shown, shown

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study.predictions.judgement import Judgement

FACTS = "judged-facts"
LEVEL, ALPHA = "level of the intervals, %", "alpha"
TESTS = {
    "mcnemar": "McNemar's test",
    "delong": "DeLong's test",
    "bootstrap_difference": "the bootstrap of the difference",
    "permutation_test": "the permutation test",
}
# Data sets (or classes of one) that get sentences and figures of their own; tables hold all of them.
MOST_PARTS = 6


def datasets_of(judgement: Judgement) -> list[str]:
    """The data sets, in the order of the file."""
    return list(dict.fromkeys(map(str, judgement.scores["dataset"])))


def models_of(judgement: Judgement) -> list[str]:
    """The models, in the order of the file."""
    return list(dict.fromkeys(map(str, judgement.scores["model"])))


def rows_by_set(judgement: Judgement) -> dict[str, int]:
    """How many rows a data set has: those of the model that predicts the most."""
    found = judgement.scores.groupby("dataset", sort=False)["rows"].max()
    return {str(name): int(rows) for name, rows in found.items()}


def largest(judgement: Judgement) -> list[str]:
    """The data sets with the most rows, as many as are shown one by one, in the order of the file."""
    rows = rows_by_set(judgement)
    chosen = sorted(rows, key=lambda name: -rows[name])[:MOST_PARTS]
    return [name for name in datasets_of(judgement) if name in chosen]


def better(measure: str) -> str:
    """Whether larger or smaller values are better: "max" or "min"."""
    return str(get_measure(measure).facts.direction)


def facts_frame(judgement: Judgement) -> pd.DataFrame:
    """The judgement in numbers, by name."""
    import pandas as pd

    facts: dict[str, Any] = {
        "data sets": len(datasets_of(judgement)),
        "models": len(models_of(judgement)),
        "rows": sum(rows_by_set(judgement).values()),
        "measures": judgement.scores["measure"].nunique(),
        "paired tests": len(judgement.pairs),
        LEVEL: round(100 * judgement.level, 10),
        ALPHA: judgement.alpha,
    }
    facts[LEVEL] = int(facts[LEVEL]) if float(facts[LEVEL]).is_integer() else facts[LEVEL]
    return pd.DataFrame({"value": pd.Series(list(facts.values()), dtype=object)}).set_index(pd.Index(facts, name="fact"))


def fact(judgement: Judgement, name: str, form: str = "{:g}") -> Shown:
    """One of these numbers, for a sentence."""
    return shown(facts_frame(judgement), FACTS, name, "value", form)


def without_lone_set(frame: pd.DataFrame, several: bool) -> pd.DataFrame:
    """A table without the column of data sets, unless there are several; its lines counted from zero."""
    found = frame.rename(columns={"dataset": "data set"}).reset_index(drop=True)
    return found if several else found.drop(columns="data set", errors="ignore")


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "model"), counted(2500, "row")
    ('1 model', '2,500 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def told_tests(names: Sequence[str]) -> str:
    """Tests as they stand in a sentence.

    >>> told_tests(["delong"])
    "DeLong's test"
    """
    return " and ".join(TESTS.get(name, name) for name in names)
