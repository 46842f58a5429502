"""Java 17 and WEKA 3.6.14 gave hashes, quotation marks and orders."""

import numpy as np
import pandas as pd
import pytest

from fairtrial._frames import read_columns
from fairtrial.kernels.randomness import JavaRandom
from fairtrial.learners.ripper import (
    compute_java_hash,
    format_row,
    make_java_random,
    order_classes_by_frequency,
    quote,
    sort_like_weka,
    stratify_rows,
)


def test_hashes_of_strings_with_letters_beyond_sixteen_bits():
    assert compute_java_hash("zürich \U0001f600 5.1,3.5,1.4") == -1546785066
    assert compute_java_hash("Aa") == compute_java_hash("BB") == 2112


def test_quotation_marks():
    texts = ["a b", "5%", "it's", "?", "", "{x}", "a,b", "tab\there", 'q"q', "back\\s", "plain-1"]
    expected = r"""'a b'|'5\%'|'it\'s'|'?'|''|'{x}'|'a,b'|'tab\there'|'q\"q'|'back\\s'|plain-1"""
    assert "|".join(map(quote, texts)) == expected


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
    assert sort_like_weka(numbers) == order


def test_a_row_as_a_line_of_an_arff_file():
    columns = read_columns(pd.DataFrame({"size": [1.5, None], "hue": ["dark red", None]}))
    assert [format_row(columns, row, label) for row, label in enumerate(["no", "to be"])] == [
        "1.5,'dark red',no",
        "?,?,'to be'",
    ]


def test_the_generator_takes_its_seed_from_a_row():
    columns = read_columns(pd.DataFrame({"size": [1.5]}))
    expected = JavaRandom(compute_java_hash("1.5,no") + 9)
    found = make_java_random(9, columns, ["no"])
    assert [found.draw_below(100) for _ in range(5)] == [expected.draw_below(100) for _ in range(5)]


def test_classes_from_rare_to_frequent():
    assert order_classes_by_frequency([5, 2, 9, 0], JavaRandom(1)) == [3, 1, 0, 2]


def test_folds_are_stratified():
    codes = np.repeat([0, 1], [6, 12]).astype(np.intp)
    dealt = stratify_rows(np.arange(18), codes, 3, JavaRandom(1))
    assert sorted(dealt.tolist()) == list(range(18))
    assert [codes[fold].sum() for fold in dealt.reshape(3, 6)] == [4, 4, 4]
