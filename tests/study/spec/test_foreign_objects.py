"""What people hold in Python and a study takes in another form; what is told to write works."""

import numpy as np
import pandas as pd
import pytest
from sklearn import model_selection
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from fairtrial import resampling
from fairtrial.study.spec.objects import suggest_dataset, suggest_learner, suggest_splitter


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (pd.DataFrame({"a": [1], "b": ["x"]}), "got a DataFrame: pass fairtrial.data.read_frame(table, target='b')"),
        ((np.zeros((2, 1)), [0, 1]), "got a pair of tables: pass fairtrial.data.Dataset.from_table(X, y, name='...')"),
        (np.zeros((2, 1)), "got a ndarray: pass fairtrial.data.Dataset.from_table(X, y, name='...')"),
        (load_iris(), "got a Bunch: pass fairtrial.data.read_bunch(bunch, name='...')"),
    ],
)
def test_data(value, told):
    assert suggest_dataset(value).endswith(told)


@pytest.mark.parametrize("value", ["iris", ["iris", "wine"], {"set": "iris"}, None, 3])
def test_what_a_study_holds(value):
    assert suggest_dataset(value) is None
    assert suggest_learner(value) is None
    assert suggest_splitter(value) is None


def test_a_class_is_no_learner():
    assert suggest_learner(GaussianNB) == "a learner must be an object, got the class GaussianNB: pass GaussianNB()"
    assert suggest_learner(GaussianNB()) is None


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (model_selection.KFold(4), resampling.KFold(4)),
        (model_selection.StratifiedKFold(7), resampling.StratifiedKFold(7)),
        (model_selection.LeaveOneOut(), resampling.LeaveOneOut()),
        (model_selection.ShuffleSplit(3), resampling.RandomSubsampling(3, test_size=0.1, stratify=False)),
        (model_selection.StratifiedShuffleSplit(3, test_size=5), resampling.RandomSubsampling(3, test_size=5, stratify=True)),
        (
            model_selection.RepeatedStratifiedKFold(n_splits=4, n_repeats=3),
            resampling.Repeated(resampling.StratifiedKFold(4), 3),
        ),
    ],
)
def test_splitters_have_one_of_ours_with_as_many_splits(theirs, ours):
    X, y = np.zeros((40, 1)), np.arange(40) % 2
    remedy = suggest_splitter(theirs).partition(": pass fairtrial.resampling.")[2]
    found = eval(remedy, vars(resampling))
    assert repr(found) == repr(ours)
    sizes = [[len(test) for _, test in each.split(X, y)] for each in (theirs, found)]
    assert sorted(sizes[0]) == sorted(sizes[1])


def test_other_splitters():
    assert "GroupKFold" in suggest_splitter(model_selection.GroupKFold(3))
    assert suggest_splitter(model_selection.KFold).endswith("pass KFold()")
