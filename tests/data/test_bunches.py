"""scikit-learn's bunches."""

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets
from sklearn.utils import Bunch

from fairtrial.data.frames import read_bunch
from fairtrial.errors import InputError, SuspectInputWarning


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits"])
@pytest.mark.parametrize("as_frame", [False, True])
def test_the_sets_of_scikit_learn(name, as_frame):
    bunch = getattr(datasets, f"load_{name}")(as_frame=as_frame)
    data = read_bunch(bunch, name=name)
    np.testing.assert_equal(data.X.to_numpy(), np.asarray(bunch.data))
    assert data.X.columns.tolist() == list(bunch.feature_names)
    assert data.y.tolist() == np.asarray(bunch.target_names)[np.asarray(bunch.target)].tolist()
    assert data.classes == tuple(np.asarray(bunch.target_names).tolist())


def test_a_bunch_as_fetch_openml_gives_it_names_its_target_column():
    target = pd.Series(pd.Categorical(["no", "yes", "no"], ["yes", "no", "never"]), name="outcome")
    bunch = Bunch(data=pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "x"]}), target=target, target_names=["outcome"])
    data = read_bunch(bunch)
    assert (data.target, data.classes, data.nominal) == ("outcome", ("yes", "no", "never"), ("b",))


def test_numbers_without_names_stay_numbers():
    data = read_bunch({"data": np.eye(3), "target": np.array([5, 7, 5])})
    assert data.classes == (5, 7)
    assert data.X.columns.tolist() == ["x0", "x1", "x2"]
    assert read_bunch({"data": np.eye(3), "target": np.array([5, 7, 5])}, drop=["x1"], nominal=["x0"]).nominal == ("x0",)


def test_faults():
    with pytest.raises(InputError, match=r"bunch.*got dict"):
        read_bunch({"data": [[1]]})
    with pytest.raises(InputError, match=r"bunch.*\(2, 2\)"):
        read_bunch({"data": np.eye(2), "target": np.eye(2)})


def test_a_bunch_of_measurements_warns():
    with pytest.warns(SuspectInputWarning, match="'class'.*214"):
        read_bunch(datasets.load_diabetes())
