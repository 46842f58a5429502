"""What was judged: the columns and what they were taken for, rows and models, what was repaired, and what is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial.report.judged.naming import FACTS, datasets_of, fact, facts_frame, models_of, without_lone_set
from fairtrial.report.section import Section, Table
from fairtrial.report.sections.naming import listed
from fairtrial.report.sentence import Sentence, say

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study.predictions.judgement import Judgement


POSITIVE = "judged-positive"


def section(judgement: Judgement) -> Section:
    """The file in words and tables; notes repeat every repair and assumption."""
    tables: tuple[Table, ...] = (
        Table(FACTS, "The judgement in numbers", facts_frame(judgement), {"value": "{:,}"}),
        Table("judged-columns", "What each column was taken for", judgement.roles.frame(), long=True),
        Table("judged-models", "The models", models_frame(judgement), long=True),
    )
    if judgement.positives.classes:
        tables += (
            Table(POSITIVE, "The positive class", positive_frame(judgement), long=len(judgement.positives.classes) > 12),
        )
    said = (_file(judgement), _columns(judgement), *_positive(judgement), *left_out(judgement))
    return Section("what-was-judged", "What was judged", said, (), tables, judgement.notes)


def models_frame(judgement: Judgement) -> pd.DataFrame:
    """A line for each data set and model: what it gives; of a counted file its rows alone."""
    several = len(datasets_of(judgement)) > 1
    if judgement.predictions is not None:
        return without_lone_set(judgement.predictions.frame(), several)
    rows = judgement.scores.groupby(["dataset", "model"], sort=False)["rows"].max().reset_index()
    return without_lone_set(rows, several)


def positive_frame(judgement: Judgement) -> pd.DataFrame:
    """A line for each data set: its positive class, the other one, and how it was chosen."""
    import pandas as pd

    found = judgement.positives
    lines = [(name, label, other, found.how) for name, (label, other) in found.classes.items()]
    frame = pd.DataFrame(lines, columns=["dataset", "positive class", "other class", "how"])
    return without_lone_set(frame, len(datasets_of(judgement)) > 1)


def _positive(judgement: Judgement) -> tuple[Sentence, ...]:
    """Which class is the positive one; where data sets differ the table tells of each."""
    found = judgement.positives
    labels = list(dict.fromkeys(label for label, _ in found.classes.values()))
    if not labels:
        return ()
    if len(labels) > 1:
        return (say("The positive class differs between data sets, {how}: the table names it for each.", how=found.how),)
    return (say("The positive class is {label}, {how}.", label=labels[0], how=found.how),)


def _file(judgement: Judgement) -> Sentence:
    numbers = {"rows": fact(judgement, "rows", "{:,}"), "models": fact(judgement, "models", "{:,}")}
    count = len(models_of(judgement))
    told = "{source} holds the predictions of {models} " + ("model" if count == 1 else "models") + " for {rows} rows"
    if len(datasets_of(judgement)) > 1:
        return say(
            told + " of {sets} data sets.", source=judgement.source, sets=fact(judgement, "data sets", "{:,}"), **numbers
        )
    return say(told + ".", source=judgement.source, **numbers)


def _columns(judgement: Judgement) -> Sentence:
    roles = judgement.roles
    what = "a line for each row and model" if roles.get("model") else "a line for each row"
    frame = roles.frame()
    guessed = sorted(set(frame.loc[(frame["how"] == "guessed") & (frame["role"] != "left alone"), "role"]))
    parts = {"layout": roles.layout, "what": what, "unused": listed(list(roles.unused)), "guessed": listed(guessed)}
    told = "The file is {layout}, {what}."
    told += " Guessed from names and contents: {guessed}." if guessed else " What the columns are for was given."
    told += " Left alone: {unused}." if roles.unused else ""
    return say(told, **{name: part for name, part in parts.items() if "{" + name + "}" in told})


def left_out(judgement: Judgement) -> tuple[Sentence, ...]:
    """Parts that other judgements have and this one has not, each with the reason."""
    told = []
    counted = judgement.predictions is None
    if not judgement.curves:
        many = counted and len(judgement.classes["class"].unique()) > 2
        why = "a counted file of more than two classes has none" if many else "the file has no scores"
        told.append(say("There are no curves: {why}.", why=why))
    if not len(judgement.calibration):
        told.append(say("Calibration is left out: no model gives probabilities."))
    if not judgement.roles.groups:
        told.append(say("There are no subgroups: no column names groups of rows."))
    if len(models_of(judgement)) < 2:
        told.append(say("There are no paired tests: one model has nothing to be compared with."))
    elif judgement.verdict is None:
        told.append(_no_verdict(judgement, counted))
    return tuple(told)


def _no_verdict(judgement: Judgement, counted: bool) -> Sentence:
    what = "data sets" if len(datasets_of(judgement)) > 1 else "splits"
    if counted:
        why = "the file was counted and its rows were not held"
    elif len(datasets_of(judgement)) == 1 and not judgement.roles.get("fold") and not judgement.roles.get("repeat"):
        why = "the file has one split of one data set"
    else:
        why = "not every model has a value of the main measure everywhere, or there is one split alone"
    return say("There is no verdict over {what}: {why}.", what=what, why=why)
