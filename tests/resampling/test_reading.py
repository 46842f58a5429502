"""Splits from a table."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.resampling import read_splits
from fairtrial.resampling.splits import Splits
from fairtrial.resampling.splitters import StratifiedKFold


def test_what_splits_write_is_read_again(tmp_path):
    y = np.repeat(["a", "b"], 10)
    splits = StratifiedKFold(4, random_state=0).freeze(y, y)
    splits.frame().to_csv(tmp_path / "splits.csv", index=False)
    assert read_splits(tmp_path / "splits.csv", 20).content_hash == splits.content_hash


def test_repeats_stay_apart():
    frame = pd.DataFrame({"repeat": [0, 0, 1, 1], "fold": [0, 1, 0, 1], "row": [0, 1, 1, 0]})
    found = read_splits(frame, 2)
    assert [(part.repeat, part.fold, part.test.tolist()) for part in found] == [
        (0, 0, [0]),
        (0, 1, [1]),
        (1, 0, [1]),
        (1, 1, [0]),
    ]
    assert isinstance(found, Splits)


def test_a_row_may_test_twice_in_a_fold():
    found = read_splits(pd.DataFrame({"fold": [0, 0], "row": [1, 1]}), 3)
    assert found.splits[0].test.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"fold": [0]}), "'row'"),
        (pd.DataFrame({"row": [0]}), "'fold'"),
        (pd.DataFrame({"row": [0.5], "fold": [0]}), "'row'.*0.5"),
        (pd.DataFrame({"row": [9], "fold": [0]}), "9"),
        (pd.DataFrame({"row": [0], "fold": [0]}).iloc[:0], "splits.*0"),
    ],
)
def test_bad_tables_are_refused(frame, message):
    with pytest.raises(InputError, match=message):
        read_splits(frame, 3)


def test_bad_files_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"nowhere.csv"):
        read_splits(tmp_path / "nowhere.csv", 3)
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(InputError, match=r"empty.csv"):
        read_splits(tmp_path / "empty.csv", 3)


def test_a_row_that_is_no_number_is_named():
    with pytest.raises(InputError, match=r"'row'.*'x'.*2"):
        read_splits(pd.DataFrame({"fold": [0, 1], "row": ["0", "x"]}), 2)
    with pytest.raises(InputError, match=r"splits.*0"):
        read_splits(pd.DataFrame({"fold": [], "row": []}), 2)
    with pytest.raises(InputError, match=r"0 to 1.*1 to 2"):
        read_splits(pd.DataFrame({"fold": [0, 1], "row": [1, 2]}), 2)
