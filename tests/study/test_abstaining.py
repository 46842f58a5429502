"""Rows that a learner gives no class."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from fairtrial.learners import Chi, Prepared
from fairtrial.study.records import AbstentionNote, count_abstentions, find_abstention_label
from fairtrial.study.results.summary import format_abstentions

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    "learner",
    [
        Chi(),
        Prepared(Chi()),
        make_pipeline(MinMaxScaler(), Chi()),
        GridSearchCV(Chi(), {"labels": [3, 5]}, cv=2, scoring="accuracy"),
        GridSearchCV(make_pipeline(MinMaxScaler(), Prepared(Chi())), {"prepared__learner__labels": [3]}, cv=2),
    ],
    ids=lambda each: type(each).__name__,
)
def test_the_label_is_found_within_what_wraps_a_learner(learner):
    assert find_abstention_label(learner.fit(X, Y)) == -1


@pytest.mark.parametrize("learner", [GaussianNB(), Prepared(GaussianNB()), make_pipeline(MinMaxScaler(), GaussianNB())])
def test_most_learners_have_none(learner):
    assert find_abstention_label(learner.fit(X, Y)) is None


def trials_with(*predictions, learner="chi", more=""):
    notes = [f"{AbstentionNote.from_predictions(np.array(each)) or ''}{more}" or None for each in predictions]
    return pd.DataFrame({"learner": learner, "status": "ok", "notes": pd.Series(notes, dtype=object)})


def test_what_trials_note_adds_up_by_learner():
    trials = pd.concat(
        [
            trials_with([0, -1, -1, 2], [1, 1], [-1], more="\nUserWarning: abstained on 9 of 9 test rows: counted as errors"),
            trials_with([0, 1, 1], learner="tree"),
            trials_with([-1, 1], learner="rules").assign(status="timeout"),
        ]
    )
    assert count_abstentions(trials).to_dict("records") == [
        {"learner": "chi", "trials": 3, "abstaining": 2, "rows": 5, "abstained": 3}
    ]
    assert format_abstentions(trials) == ["chi abstained in 2 of 3 trials, on 3 of the 5 test rows there: counted as errors"]
    assert format_abstentions(trials_with([0, 1])) == []


def test_large_numbers_and_single_ones():
    many = trials_with(*[[-1] * 1000] * 1200)
    told = "chi abstained in 1,200 of 1,200 trials, on 1,200,000 of the 1,200,000 test rows there: counted as errors"
    assert format_abstentions(many) == [told]
    assert format_abstentions(trials_with([-1])) == [
        "chi abstained in 1 of 1 trial, on 1 of the 1 test row there: counted as errors"
    ]


def test_other_notes_are_kept_apart():
    note = AbstentionNote.from_predictions(np.array([-1]))
    assert AbstentionNote.parse(str(note)) == (note, "")
    assert AbstentionNote.parse("UserWarning: late") == (None, "UserWarning: late")
    assert AbstentionNote.parse(None) == AbstentionNote.parse("") == AbstentionNote.parse(float("nan")) == (None, "")
