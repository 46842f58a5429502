"""Chi over 0..1."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.learners import Chi
from fairtrial.reproduce.dobscv.unit_chi import UnitChi


@pytest.fixture
def rows():
    rng = np.random.default_rng(4)
    X = rng.uniform(0.2, 0.7, size=(80, 2))
    return X, np.where(X[:, 0] + 0.1 * rng.normal(size=80) > 0.45, "high", "low")


def test_it_is_chi_with_declared_ranges(rows):
    X, y = rows
    table = pd.DataFrame(X, columns=["a", "b"])
    new = np.random.default_rng(5).uniform(size=(200, 2))
    declared = Chi(ranges={"a": (0.0, 1.0), "b": (0.0, 1.0)}).fit(table, y)
    expected = declared.predict(pd.DataFrame(new, columns=["a", "b"]))
    assert UnitChi().fit(X, y).predict(new).tolist() == expected.tolist()
    assert UnitChi().fit(table, y).predict(pd.DataFrame(new, columns=["a", "b"])).tolist() == expected.tolist()
    assert (Chi().fit(X, y).predict(new) != expected).any()


def test_nominal_columns_need_no_range(rows):
    X, y = rows
    table = pd.DataFrame({"a": X[:, 0], "hue": pd.Categorical(np.where(X[:, 1] > 0.4, "red", "blue"))})
    assert UnitChi().fit(table, y).decision_function(table).shape == (80,)


@pytest.mark.parametrize("value", [-0.1, 1.2])
def test_rows_outside_are_refused(rows, value):
    X, y = rows
    with pytest.raises(InputError, match="declared ranges"):
        UnitChi().fit(np.vstack([X, [[value, 0.5]]]), [*y, "low"])
