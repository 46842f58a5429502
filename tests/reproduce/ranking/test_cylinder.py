"""Cylinder in other ways: what is dropped, kept and taken for a value."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.data import Dataset
from fairtrial.reproduce.ranking.cylinder import cylinder_readings, cylinder_table, cylinder_words
from fairtrial.reproduce.ranking.real_sets import cylinder
from tests.reproduce.ranking.test_real_tables import as_printed, made


@pytest.fixture
def small():
    X = pd.DataFrame(
        {
            "timestamp": pd.Categorical(["1", "2", "3", "4", "5"]),
            "job_number": [1.0, 2, 3, 4, 5],
            "ink": pd.Categorical(["red", None, "blue", "red", "red"]),
            "humidity": [1.5, 2.5, None, 1.5, 2.5],
        }
    )
    return Dataset.from_table(X, ["band", "none", "none", "band", "none"], nominal=["timestamp", "ink"])


def test_readings(small):
    dropped, complete, named = cylinder_readings(small).values()
    assert [each.codes.shape for each in (dropped, complete, named)] == [(2, 5), (4, 3), (4, 5)]
    assert dropped.codes[0].tolist()[1] == -1
    assert (complete.codes >= 0).all()
    ink, humidity = named.codes[2:]
    assert len(set(ink.tolist())) == 3
    assert (ink >= 0).all()
    assert np.flatnonzero(humidity < 0).tolist() == [2]
    assert len({each.content_hash for each in (dropped, complete, named)}) == 3


def test_words_and_table_say_how_near_each_reading_comes(small):
    sets = dict(zip(("near", "far"), cylinder_readings(small).values(), strict=False))
    outcomes = {
        "near": [as_printed(e, "Cylinder") for e in (1, 2, 3, 4)],
        "far": [made(e, "Cylinder", [0, 0, 0, 50, 0, 0]) for e in (1, 2, 3, 4)],
    }
    (told,) = cylinder_words(outcomes)
    assert "near: 24 of 24 cells, sAUC in 4 of 4; far:" in told
    assert told.endswith("sAUC in 0 of 4.")
    table = cylinder_table(outcomes, sets)
    assert table["reading"].tolist() == ["near"] * 4 + ["far"] * 4
    assert table[["rows", "columns"]].drop_duplicates().to_numpy().tolist() == [[5, 2], [3, 4]]
    assert table["sAUC"].str.endswith("*").tolist() == [False] * 4 + [True] * 4


def test_of_the_real_set_277_rows_are_complete(shared_data, monkeypatch):
    """The UCI repository states 277 rows without missing values."""
    monkeypatch.setenv("FAIRTRIAL_DATA", str(shared_data))
    dropped, complete, named = cylinder_readings(cylinder()).values()
    assert [each.codes.shape for each in (dropped, complete, named)] == [(35, 540), (39, 277), (39, 540)]
