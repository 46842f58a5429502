"""Parquet files."""

import pandas as pd
import pytest

from fairtrial.data.frames import read_parquet
from fairtrial.errors import InputError, SuspectInputWarning


@pytest.fixture
def path(tmp_path):
    frame = pd.DataFrame(
        {"size": [1, None, 3], "hue": pd.Categorical(["r", "b", "r"], ["r", "g", "b"]), "kind": ["a", "b", "a"]}
    )
    frame.to_parquet(tmp_path / "three.parquet")
    return tmp_path / "three.parquet"


def test_dictionary_columns_are_nominal_with_all_their_values(path):
    data = read_parquet(path)
    assert (data.name, data.target, data.nominal) == ("three", "kind", ("hue",))
    assert data.X["hue"].cat.categories.tolist() == ["r", "g", "b"]
    assert data.X["size"].isna().tolist() == [False, True, False]
    assert read_parquet(path, drop=["hue"], name="two").X.columns.tolist() == ["size"]


def test_faults(path, tmp_path):
    with pytest.raises(InputError, match=r"target.*'kind'"):
        read_parquet(path, target="kin")
    with pytest.raises(InputError, match=r"absent\.parquet"):
        read_parquet(tmp_path / "absent.parquet")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"three\.parquet cannot be read as Parquet: "):
        read_parquet(path)
    path.write_bytes(b"")
    with pytest.raises(InputError, match=r"three\.parquet cannot be read as Parquet: "):
        read_parquet(path)


def test_a_class_of_fractions_warns(tmp_path):
    pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5]}).to_parquet(tmp_path / "t.parquet")
    with pytest.warns(SuspectInputWarning, match=r"'b' of .*t\.parquet"):
        read_parquet(tmp_path / "t.parquet")
