"""Codes stand for the values of the columns."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.data import Dataset
from fairtrial.errors import InputError
from fairtrial.reproduce.ranking.coded import coded


def test_codes_lead_back_to_the_values():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"x": rng.normal(size=50).round(1), "hue": pd.Categorical(rng.choice(list("rg"), 50), categories=list("rgb"))}
    )
    frame.loc[::7, "x"] = np.nan
    frame.loc[::9, "hue"] = np.nan
    found = coded("things", Dataset.from_table(frame, rng.choice(["a", "b"], 50, p=[0.7, 0.3])))
    levels, offsets = found.columns.levels, found.columns.offsets
    x = np.where(found.codes[0] >= 0, levels[offsets[0] + found.codes[0]], np.nan)
    np.testing.assert_array_equal(x, frame["x"])
    assert [None if code < 0 else "rgb"[code] for code in found.codes[1]] == [
        None if pd.isna(value) else value for value in frame["hue"]
    ]
    assert found.columns.nominal.tolist() == [0, 1]
    assert offsets[2] - offsets[1] == 3  # a category without a row counts, as for WEKA


def test_the_rarer_class_is_positive():
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    assert coded("few", Dataset.from_table(table, ["yes", "no", "no"])).classes.tolist() == [1, 0, 0]
    assert coded("few", Dataset.from_table(table, ["no", "yes", "yes"])).classes.tolist() == [1, 0, 0]


def test_more_than_two_classes_are_refused():
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    with pytest.raises(InputError, match="must have 2 classes, got 3 in flowers"):
        coded("flowers", Dataset.from_table(table, ["a", "b", "c"]))
