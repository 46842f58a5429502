import numpy as np

from fairtrial.learners import C45
from fairtrial.reproduce.tutorial.tested import as_printed, folds_run, folds_told, pooled_rows
from fairtrial.resampling import WekaFolds


def test_rows_are_those_of_a_plain_loop(small_study, labour):
    own = pooled_rows(small_study, "Labour", "C4.5")
    truth, told, priors = [], [], []
    for train, test in WekaFolds(10, random_state=1).freeze(labour.X, labour.y):
        learner = C45().fit(labour.X.iloc[train], labour.y.iloc[train])
        told.append(learner.predict_proba(labour.X.iloc[test]))
        truth += labour.y.iloc[test].astype(str).tolist()
        share = (labour.y.iloc[train].astype(str) == "bad").sum() + 1
        priors += [share / (len(train) + 2)] * len(test)
    assert own.truth.tolist() == truth
    np.testing.assert_allclose(own.probabilities, np.vstack(told))
    np.testing.assert_allclose(own.priors[:, own.classes.index("bad")], priors)
    np.testing.assert_allclose(own.score("good"), np.vstack(told)[:, 1])


def test_errors_by_fold_add_up(small_study):
    own = pooled_rows(small_study, "Labour", "C4.5")
    assert len(own.errors_by_fold) == 10
    assert sum(own.errors_by_fold) == 15 == (~own.right).sum()  # WEKA: 15 of 57 wrong


def test_what_the_study_lacks_is_nothing(small_study):
    assert pooled_rows(small_study, "Labour", "RanF") is None
    assert pooled_rows(small_study, "Nowhere", "NB") is None


def test_folds_are_counted(small_study, two_folds):
    assert (folds_run(small_study), folds_run(two_folds)) == (10, 2)
    assert as_printed(small_study)
    assert not as_printed(two_folds)
    assert "nothing is judged" not in folds_told(small_study)
    assert "nothing is judged" in folds_told(two_folds)
