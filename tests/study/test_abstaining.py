"""Learners that abstain: their label, the stored number of abstentions, and the counts by learner."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from fairtrial._narrative import render
from fairtrial.learners import Chi, Prepared
from fairtrial.study.records import ABSTAINED, Predictions, find_abstention_label
from fairtrial.study.results.summary import count_abstentions, find_abstentions
from tests.study.archives import CLEAN, archive_of, data_facts

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
    ids=lambda learner: type(learner).__name__,
)
def test_label_is_found_inside_wrappers(learner):
    assert find_abstention_label(learner.fit(X, Y)) == -1


@pytest.mark.parametrize("learner", [GaussianNB(), Prepared(GaussianNB()), make_pipeline(MinMaxScaler(), GaussianNB())])
def test_most_learners_have_no_label(learner):
    assert find_abstention_label(learner.fit(X, Y)) is None


def archive_with(predictions):
    """An archive of one data set; `predictions` has a list of predicted codes, or a status, for each learner and split."""
    n_splits = max(map(len, predictions.values()))
    splits = {"x": {(0, fold): (np.arange(10, 20), np.arange(10)) for fold in range(n_splits)}}
    facts = data_facts("x", [0, 1, 2, 0, 1] * 4, ("a", "b", "c"))

    def predict(_, __, learner, ___, fold):
        codes = predictions[learner][fold]
        if isinstance(codes, str):
            return codes
        rows = np.arange(len(codes))
        return Predictions(rows, facts.codes[rows], np.array(codes), None, None)

    return archive_of([facts], [CLEAN], list(predictions), splits, predict)


def test_abstentions_are_counted_by_learner():
    archive = archive_with(
        {
            "chi": [[0, ABSTAINED, ABSTAINED, 2], [1, 1], [ABSTAINED]],
            "tree": [[0, 1, 1], [0], [1]],
            "rules": ["timeout", "timeout", [1]],
        }
    )
    expected = {"learner": "chi", "trials": 3, "abstaining": 2, "rows": 5, "abstained": 3}
    assert count_abstentions(archive, archive.trials()).to_dict("records") == [expected]
    (finding,) = find_abstentions(archive, archive.trials())
    assert (finding.kind, dict(finding.values)) == ("abstentions", expected)
    assert render(finding).startswith("chi abstained on 3 of 5 test rows")


def test_no_abstention_gives_no_finding():
    archive = archive_with({"tree": [[0, 1]]})
    assert find_abstentions(archive, archive.trials()) == []


def test_failed_trials_do_not_count():
    archive = archive_with({"chi": [[ABSTAINED], "timeout"]})
    trials = archive.trials()
    trials["abstentions"] = 1
    assert count_abstentions(archive, trials)["trials"].tolist() == [1]
