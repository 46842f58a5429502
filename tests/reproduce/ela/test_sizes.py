"""Files of another size than the paper's."""

import numpy as np

from fairtrial.data import Dataset, load
from fairtrial.reproduce.ela.sets import Sets
from fairtrial.reproduce.ela.sizes import other_sizes, table, words


def test_a_set_of_another_size_is_told_and_others_are_not():
    short = Dataset.from_table(np.arange(10.0).reshape(-1, 1), np.arange(10) % 2, name="new")
    frame = other_sizes(Sets({"iris": load("iris"), "newthyroid": short}, {}, {}))
    assert frame[["data set", "rows", "rows in the paper"]].values.tolist() == [["newthyroid", 10, 215]]
    assert "newthyroid (10 rows, the paper's has 215)" in words(frame)
    assert table(frame).frame is frame


def test_equal_sizes_need_no_words():
    frame = other_sizes(Sets({"iris": load("iris")}, {}, {}))
    assert words(frame) == ""
    assert table(frame) is None
