"""Tuning: the parameters chosen for each tuned learner inside the training sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial._text import join_names
from fairtrial.report.figures.tuning import draw_tuning
from fairtrial.report.section import Figure, ReportTable, Section, build_sentence, format_number, section
from fairtrial.study.results.tuning import count_choices

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.report.source import ReportSource

_LEARNERS, _CHOICES = "tuning-learners", "tuning-choices"
_NOTE = (
    "The inner score is the mean score of the chosen combination on inner splits of the training set. It is biased upwards, "
    "because the combination with the best inner score is chosen. Only the scores on test sets are unbiased."
)


@section("tuning", title="Tuning", order=155, serves=("study",), schemes="all", question="how")
def build_section(source: ReportSource) -> Section | None:
    """Show how often tuning chose each parameter value. Return None if no learner is tuned."""
    choices = source.get_all_results().tuning()
    if choices.empty:
        return None
    learners = _summarize_learners(choices)
    counts = count_choices(choices.astype({"dataset": str, "learner": str})).rename(columns={"dataset": "data set"})
    names = [str(name) for name in learners.index]
    sentence = build_sentence("{learners} chose parameters inside each training set.", learners=join_names(names))
    alone = [
        build_sentence(
            "{learner} chose {count} different combinations in {trials} trials.",
            learner=name,
            count=format_number(learners, _LEARNERS, name, "different combinations", "{:.0f}"),
            trials=format_number(learners, _LEARNERS, name, "trials", "{:.0f}"),
        )
        for name, distinct in zip(names, learners["different combinations"].tolist(), strict=True)
        if distinct > 1
    ]
    tables = (
        ReportTable(_LEARNERS, "Tuned learners", learners, {"inner score": "{:.3f}"}),
        ReportTable(_CHOICES, "How often each value was chosen", counts, long=True),
    )
    alt = f"Values of the parameters that {join_names(names)} chose, by data set."
    figure = Figure("tuning-values", "Chosen parameters by data set", draw_tuning(choices), alt, choices)
    return Section("tuning", "Tuning", (sentence, *alone), (figure,), tables, (_NOTE,))


def _summarize_learners(choices: pd.DataFrame) -> pd.DataFrame:
    """For each learner, count the trials and the chosen combinations of parameters, and average the inner scores."""
    trial = [name for name in choices.columns if name not in ("parameter", "value")]
    text = choices.assign(value=choices["parameter"] + "=" + choices["value"].map(repr), learner=choices["learner"].astype(str))
    combinations = text.groupby(trial, sort=False, observed=True, dropna=False)["value"].agg("; ".join).reset_index()
    summary = combinations.groupby("learner", sort=False).agg(
        trials=("value", "size"), distinct=("value", "nunique"), tried=("tried", "max"), score=("score", "mean")
    )
    names = {"distinct": "different combinations", "tried": "combinations tried", "score": "inner score"}
    return summary.rename(columns=names)
