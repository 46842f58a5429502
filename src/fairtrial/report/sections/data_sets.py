"""The section of data sets: what each is like, who is best on it, and all means side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.measures import get_measure
from fairtrial.report.places import lines_of
from fairtrial.report.section import Section, Table
from fairtrial.report.sections.naming import in_a_row, joined, keys_of, listed, main_condition, measure_words, where_words
from fairtrial.report.sections.score_means import by_data_set, scored
from fairtrial.report.sentence import Sentence, say, shown
from fairtrial.study.archive import DataFacts

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

_COUNTS = ("numeric", "nominal", "missing")
_FORMATS = {"mean": "{:.4f}", "low": "{:.4f}", "high": "{:.4f}", "ahead by": "{:.4f}", "imbalance ratio": "{:.2f}"}
_BEST_NOTE = (
    "Means over splits with 95 % intervals, corrected for the overlap of training rows (Nadeau and Bengio). Ahead by: the "
    "distance to the next mean. Being first on one data set is no verdict."
)


def section(results: Results) -> Section:
    """Facts of each data set, the best learner there under each declared measure, and the means of all learners."""
    main = main_condition(results.archive.conditions)
    facts = facts_frame(results.archive.datasets)
    names = list(dict.fromkeys(results.measures))
    means = by_data_set(results, scored(results, names)[0])
    own = means[lines_of(means, main)]
    best = best_frame(own)
    tables = [Table("data-sets-facts", "The data sets", facts, _FORMATS, _facts_note(facts), None, True)]
    if len(best):
        title = f"The best learner on each data set, {where_words(main)}"
        tables.append(Table("data-sets-best", title, best, _FORMATS, _BEST_NOTE, None, True))
    if len(results.archive.learners) > 1:
        tables += [
            _wide(results, name, key) for name, key in zip(names, keys_of(names), strict=True) if (own["measure"] == name).any()
        ]
    return Section("data-sets", "Data set by data set", _sentences(facts), (), tuple(tables))


def facts_frame(datasets: Sequence[DataFacts]) -> pd.DataFrame:
    """A line for each data set: rows, attributes, missing values, classes, how uneven they are, notes."""
    import pandas as pd

    frame = pd.DataFrame([_facts(each) for each in datasets], index=pd.Index([each.name for each in datasets], name="data set"))
    unknown = [name for name in ("attributes", *_COUNTS) if frame[name].isna().all()]
    return frame.drop(columns=unknown + [name for name in ("source", "notes") if not any(frame[name])])


def _facts(data: DataFacts) -> dict[str, Any]:
    known = {name: data.facts.get(name) for name in _COUNTS}
    counts = data.counts[data.counts > 0]
    attributes = None if known["numeric"] is None or known["nominal"] is None else known["numeric"] + known["nominal"]
    notes = data.facts.get("notes") or ""
    return {
        "rows": len(data.codes),
        "attributes": attributes,
        **known,
        "classes": len(counts),
        "smallest class": int(counts.min()) if len(counts) else 0,
        "imbalance ratio": float(counts.max() / counts.min()) if len(counts) else float("nan"),
        "source": str(data.facts.get("source") or ""),
        "notes": notes if isinstance(notes, str) else " ".join(str(each) for each in notes),
    }


def _facts_note(facts: pd.DataFrame) -> str:
    told = "Imbalance ratio: rows of the largest class for each row of the smallest."
    return told if "attributes" in facts else f"{told} Attributes are not known: the evidence holds predictions alone."


def best_frame(means: pd.DataFrame) -> pd.DataFrame:
    """For each data set and measure the learners with the best mean, its interval, and how far the next lies behind."""
    import pandas as pd

    lines = []
    for (measure, dataset), own in means.groupby(["measure", "dataset"], sort=False, observed=True):
        known = own[own["mean"].notna()]
        if known.empty:
            continue
        sign = 1.0 if get_measure(str(measure)).facts.direction == "max" else -1.0
        gains = np.round(sign * known["mean"].to_numpy(dtype=np.float64), 12)
        first = gains == gains.max()
        line = known[first].iloc[0]
        behind = gains[~first]
        lines.append(
            {
                "data set": str(dataset),
                "measure": measure_words(str(measure)),
                "best": ", ".join(str(name) for name in known.loc[first, "learner"]),
                **{name: float(line[name]) for name in ("mean", "low", "high")},
                "ahead by": float(gains.max() - behind.max()) if len(behind) and np.isfinite(behind.max()) else float("nan"),
            }
        )
    return pd.DataFrame(lines, columns=["data set", "measure", "best", "mean", "low", "high", "ahead by"])


def _wide(results: Results, measure: str, key: str) -> Table:
    main = main_condition(results.archive.conditions)
    frame = results.wide(measure, main.name, main.level).rename_axis(index="data set")
    title = f"Means on each data set, {where_words(main)}: {measure_words(measure)}"
    formats = dict.fromkeys((str(name) for name in frame.columns), "{:.4f}")
    return Table(f"data-sets-{key}", title, frame, formats, "", get_measure(measure).facts.direction, True)


def _sentences(facts: pd.DataFrame) -> tuple[Sentence, ...]:
    if len(facts) == 1:
        name = facts.index[0]
        return (say("{name} has {rows} rows of {classes} classes.", name=name, **_shown(facts, name, "rows", "classes")),)
    least, most = facts["rows"].idxmin(), facts["rows"].idxmax()
    if least == most:
        found = [say("All data sets have {rows} rows.", **_shown(facts, least, "rows"))]
    else:
        small = say("The smallest data set is {name} with {rows} rows, ", name=least, **_shown(facts, least, "rows"))
        found = [small, say("the largest {name} with {rows}.", name=most, **_shown(facts, most, "rows"))]
    return (in_a_row([joined(found), _uneven(facts)]),)


def _uneven(facts: pd.DataFrame) -> Sentence | None:
    """Where the classes are most uneven; or that they are equal."""
    ratios = facts["imbalance ratio"].dropna()
    if ratios.empty:
        return None
    if ratios.max() == 1:
        return say("Every data set has equally many rows of each class.")
    worst = ratios.index[ratios == ratios.max()]
    ratio = shown(facts, "data-sets-facts", worst[0], "imbalance ratio", _ratio_form(ratios.max()))
    words = "The classes are most uneven in {names}, with an imbalance ratio of {ratio}."
    return say(words, names=listed([str(name) for name in worst]), ratio=ratio)


def _ratio_form(ratio: float) -> str:
    """With so many digits that classes which are not equal do not seem so."""
    return next((form for form in ("{:.2f}", "{:.3f}", "{:.4f}") if float(form.format(ratio)) != 1), "{:.6g}")


def _shown(facts: pd.DataFrame, line: Any, *columns: str) -> dict[str, Any]:
    return {column: shown(facts, "data-sets-facts", line, column, "{:,}") for column in columns}
