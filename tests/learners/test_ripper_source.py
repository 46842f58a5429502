"""Java 17 and WEKA 3.6.14 gave hashes, quotation marks and orders."""

import numpy as np
import pandas as pd
import pytest

from fairtrial._columns import read_columns
from fairtrial.kernels.java_random import JavaRandom
from fairtrial.learners.ripper_source import classes_by_frequency, java_hash, quoted, row_text, seeded, stratified, weka_order


def test_hashes_of_strings_with_letters_beyond_sixteen_bits():
    assert java_hash("zürich \U0001f600 5.1,3.5,1.4") == -1546785066
    assert java_hash("Aa") == java_hash("BB") == 2112


def test_quotation_marks():
    texts = ["a b", "5%", "it's", "?", "", "{x}", "a,b", "tab\there", 'q"q', "back\\s", "plain-1"]
    expected = r"""'a b'|'5\%'|'it\'s'|'?'|''|'{x}'|'a,b'|'tab\there'|'q\"q'|'back\\s'|plain-1"""
    assert "|".join(map(quoted, texts)) == expected


@pytest.mark.parametrize(
    ("numbers", "order"),
    [
        ([3, 3, 3, 3, 3], [0, 3, 2, 1, 4]),
        ([2, 1, 2, 1, 2, 1, 2], [3, 1, 5, 4, 0, 2, 6]),
        ([5, 4, 4, 5], [1, 2, 0, 3]),
        ([1, 1], [0, 1]),
        ([7, 7, 1], [2, 1, 0]),
        ([1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 2, 2, 0], [12, 4, 8, 3, 1, 7, 9, 6, 5, 0, 2, 11, 10]),
        ([4], [0]),
    ],
)
def test_ties_are_sorted_as_weka_sorts_them(numbers, order):
    assert weka_order(numbers) == order


def test_a_row_as_a_line_of_an_arff_file():
    columns = read_columns(pd.DataFrame({"size": [1.5, None], "hue": ["dark red", None]}))
    assert [row_text(columns, row, label) for row, label in enumerate(["no", "to be"])] == ["1.5,'dark red',no", "?,?,'to be'"]


def test_the_generator_takes_its_seed_from_a_row():
    columns = read_columns(pd.DataFrame({"size": [1.5]}))
    expected = JavaRandom(java_hash("1.5,no") + 9)
    found = seeded(9, columns, ["no"])
    assert [found.below(100) for _ in range(5)] == [expected.below(100) for _ in range(5)]


def test_classes_from_rare_to_frequent():
    assert classes_by_frequency([5, 2, 9, 0], JavaRandom(1)) == [3, 1, 0, 2]


def test_each_fold_gets_its_share_of_each_class():
    codes = np.repeat([0, 1], [6, 12]).astype(np.intp)
    dealt = stratified(np.arange(18), codes, 3, JavaRandom(1))
    assert sorted(dealt.tolist()) == list(range(18))
    assert [codes[fold].sum() for fold in dealt.reshape(3, 6)] == [4, 4, 4]
