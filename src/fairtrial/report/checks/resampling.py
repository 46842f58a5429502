"""Checks of the splits: leaks, the scheme, rows that are not tested, repeats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial.report.checks.check import Finding, check, named, not_applicable, passed, raised
from fairtrial.report.checks.kept import DRAWN, of_predictions_alone, scheme_of, split_lines, tested_lines
from fairtrial.report.sentence import say, shown

if TYPE_CHECKING:
    from fairtrial.study import Results

ONE_PARTITION = ("leave-one-out", "given")
"""Schemes of which there is only one partition: a repeat would give the same."""


@check(
    "FT004",
    title="Leaks between training and test rows",
    looks_for="rows that stand in the training and in the test part of one split",
    why="A learner that has seen the row it is tested on is judged on its memory.",
    remedy="correct the splitter or the given folds; look for rows with the same values before the study "
    "(Dataset.X.duplicated()), and keep rows of one patient, document or day in one fold",
    cite="Kaufman et al. 2012",
)
def leaks(results: Results) -> Finding:
    """Rows in both parts of a split."""
    if of_predictions_alone(results):
        return not_applicable(say("A file of predictions does not tell which rows the models were trained on."))
    frame = split_lines(results)
    frame = frame[frame["in both"] > 0].reset_index(drop=True)
    if frame.empty:
        return passed(
            say(
                "No row stands in both parts of a split. Whether different rows hold the same values cannot be seen from "
                "the evidence, which keeps no attributes."
            )
        )
    worst = int(frame["in both"].argmax())
    words = say(
        "Splits of {sets} test on rows that they train on: one of {worst} on {both} of its {rows} test rows.",
        sets=named(frame["data set"]),
        worst=frame["data set"].iloc[worst],
        both=shown(frame, "checks-ft004", worst, "in both", "{:d}"),
        rows=shown(frame, "checks-ft004", worst, "test rows", "{:d}"),
    )
    return raised(words, frame)


@check(
    "FT006",
    title="DOB-SCV optimism",
    looks_for="the scheme dob-scv",
    why="Distribution-optimally balanced folds spread near neighbours over all folds, so that each test row has its like "
    "in the training part: on independent rows the estimate was too high in 18 of 18 settings, by 0.004 to 0.015 of "
    "balanced accuracy, where stratified folds have no bias.",
    remedy="use it to compare learners with each other; to say how good one is, take stratified folds",
    cite="Moreno-Torres, Sáez & Herrera 2012",
)
def dob_scv_optimism(results: Results) -> Finding:
    """Estimates of folds that are more alike than chance would make them."""
    if scheme_of(results) in ("", "given", "object"):
        return not_applicable(say("How the rows were split is not known: the splits were given."))
    if scheme_of(results) == "dob-scv":
        return raised(say("The folds are those of DOB-SCV: the scores are somewhat too good as estimates for new rows."))
    return passed(say("The scheme is {scheme}, not DOB-SCV.", scheme=scheme_of(results)))


@check(
    "FT012",
    title="Rows never tested, or tested unequally often",
    looks_for="rows that no split tests, or that are tested more often than others, in schemes that promise to test each "
    "equally",
    why="Scores then speak of some rows more than of others, and of some not at all.",
    remedy="correct the given folds; in a file of predictions give every row to every repeat",
    cite="Kohavi 1995",
)
def unequal_tests(results: Results) -> Finding:
    """Rows left out of the tests."""
    if scheme_of(results) in DRAWN:
        return not_applicable(say("The scheme {scheme} draws the rows to test.", scheme=scheme_of(results)))
    frame = tested_lines(results)
    frame = frame[frame["least"] < frame["most"]].reset_index(drop=True)
    if frame.empty:
        return passed(say("Every row is tested as often as every other of its data set."))
    worst = int((frame["never tested"] / frame["rows"]).argmax())
    words = say(
        "Rows of {sets} are tested unequally often: of the {rows} rows of {worst} {never} are never tested, and one is tested "
        "{most} {times}.",
        sets=named(frame["data set"]),
        worst=frame["data set"].iloc[worst],
        rows=shown(frame, "checks-ft012", worst, "rows", "{:d}"),
        never=shown(frame, "checks-ft012", worst, "never tested", "{:d}"),
        most=shown(frame, "checks-ft012", worst, "most", "{:d}"),
        times="time" if frame["most"].iloc[worst] == 1 else "times",
    )
    return raised(words, frame)


@check(
    "FT016",
    title="No repeat",
    looks_for="a study in which the rows are split at random, but only once",
    why="Another partition of the same rows gives other scores; with one partition this spread is neither known nor "
    "averaged out.",
    remedy="declare [resampling] repeats = 5 or more",
    cite="Bouckaert & Frank 2004",
)
def no_repeat(results: Results) -> Finding:
    """One run of one partition."""
    if of_predictions_alone(results) or scheme_of(results) in ONE_PARTITION:
        return not_applicable(say("The splits are given, or there is only one way to split."))
    if results.trials()["repeat"].nunique() > 1:
        return passed(say("The rows are split more than once."))
    return raised(say("The rows of each data set are split only once: how much another partition would change is not known."))
