"""Models from best to worst, pairs with the better one first, wherever they are shown; and how many rows each model has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtrial.measures import Measure, get_measure
from fairtrial.study.predictions.judged_positive import Positives, guessing_notes
from fairtrial.study.predictions.prediction_checks import Notes

if TYPE_CHECKING:
    import pandas as pd


def order_of(scores: pd.DataFrame, dataset: str, main: str | Measure) -> list[str]:
    """Models of a data set, the best by the main measure first; those without a value come last."""
    measure = get_measure(main)
    own = scores[(scores["dataset"] == dataset) & (scores["measure"] == measure.name)]
    down = measure.facts.direction == "min"
    ordered = own.sort_values("estimate", ascending=down, kind="stable", na_position="last")
    return [str(name) for name in ordered["model"]]


def turned(pairs: pd.DataFrame, scores: pd.DataFrame, main: str | Measure) -> pd.DataFrame:
    """The pairs, each with the model first that has the better value of the main measure; lines stay where they are."""
    import pandas as pd

    places = {str(name): order_of(scores, str(name), main).index for name in dict.fromkeys(scores["dataset"])}
    lines: list[dict[Any, Any]] = pairs.to_dict("records")
    for line in lines:
        place = places[str(line["dataset"])]
        if place(str(line["first"])) > place(str(line["second"])):
            line["first"], line["second"] = line["second"], line["first"]
            line["difference"], line["low"], line["high"] = (0.0 - line[each] for each in ("difference", "high", "low"))
    return pd.DataFrame(lines, columns=list(pairs.columns))


def unequal_rows(scores: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Data sets whose models are scored on different numbers of rows, with these numbers."""
    found = {
        str(name): {str(model): int(rows) for model, rows in own.groupby("model", sort=False)["rows"].max().items()}
        for name, own in scores.groupby("dataset", sort=False)
    }
    return {name: rows for name, rows in found.items() if len(set(rows.values())) > 1}


def tell_scores(scores: pd.DataFrame, positives: Positives, notes: Notes) -> None:
    """What to mind about the measures: models with fewer rows than others, and scores worse than guessing."""
    for name, rows in unequal_rows(scores).items():
        fewer = [f"{model} ({count:,})" for model, count in rows.items() if count < max(rows.values())]
        notes.tell(
            f"Models are scored on different rows of {name!r}: of {max(rows.values()):,} rows fewer have {', '.join(fewer)}. "
            "Their measures are not of the same cases; the paired tests are."
        )
    for sentence in guessing_notes(scores, positives):
        notes.tell(sentence)
