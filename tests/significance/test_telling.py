"""Sentences are made from the numbers."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.errors import UndefinedMeasureWarning
from fairtrial.significance.advise import advise
from fairtrial.significance.telling import listed, p_text


def test_lists_and_p_values():
    assert listed([str(i) for i in range(10)]) == "0, 1, 2, 3, 4, 5, 6, 7 and 2 more"
    assert p_text(0.5) == "p = 0.5"


def test_what_a_p_value_does_not_mean():
    words = advise(pd.DataFrame(np.random.default_rng(0).normal(size=(10, 2)))).words
    assert "It is not the chance that they are equally good" in words
    assert "does not show equality" in words


@pytest.mark.filterwarnings("ignore:Kendall's W")
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(6, 15), st.sampled_from(["max", "min"]))
def test_words_follow_the_numbers(seed, k, n, better):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(n, k)) + np.arange(k), columns=[f"learner{i}" for i in range(k)])
    verdict = advise(table, better=better)
    said = {
        frozenset(found)
        for found in re.findall(r"(learner\d) (?:from|is better than) (learner\d)(?: \(p = [\d.e-]+\)|\.)", verdict.words)
    }
    pairs = verdict.pairs()
    different = {frozenset((pair.first, pair.second)) for pair in pairs.itertuples() if pair.different}
    assert said <= different
    assert len(said) == min(len(different), 8)
    assert (f"at most alpha {verdict.alpha}" in verdict.words) == (verdict.p_value <= verdict.alpha)
    # The better one is named first.
    for first, second in re.findall(r"(learner\d) from (learner\d)", verdict.words):
        pair = pairs[
            ((pairs["first"] == first) & (pairs["second"] == second))
            | ((pairs["first"] == second) & (pairs["second"] == first))
        ]
        ahead = pair["rank_difference"].item() < 0
        assert ahead == (pair["first"].item() == first)


def test_an_undefined_p_is_said():
    frame = pd.DataFrame({"fold": [1, 2, 3], "a": [0.5, 0.6, 0.7], "b": [0.4, 0.5, 0.6]})
    with pytest.warns(UndefinedMeasureWarning):
        verdict = advise(frame)
    assert np.isnan(verdict.p_value)
    assert "p is undefined: the differences do not vary" in verdict.words
    assert verdict.groups == (("a", "b"),)


def test_limits_that_do_not_exist_are_not_printed():
    with pytest.warns(UndefinedMeasureWarning):
        words = advise(pd.DataFrame({"a": [3.0, 4, 5], "b": [2.0, 2, 2], "c": [1.0, 0, 1]})).words
    assert "Size: Kendall's W 1 (no limits: all data sets agree)." in words
    assert "nan" not in words


def test_an_omnibus_test_that_finds_more_than_the_pairs(oracles):
    words = advise(oracles / "demsar_2006_table6_auc.csv").words
    assert "not all equal, but the data do not suffice to say which" in words
