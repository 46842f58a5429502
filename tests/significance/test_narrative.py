"""Sentences are made from the numbers."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from fairtrial._text import join_names
from fairtrial.errors import UndefinedMeasureWarning
from fairtrial.significance.compare import compare
from fairtrial.significance.narrative import format_p


def test_lists_and_p_values():
    assert join_names([str(i) for i in range(10)]) == "0, 1, 2, 3, 4, 5, 6, 7 and 2 more"
    assert format_p(0.5) == "p = 0.5"
    assert format_p(0.03125, 0.0312) == "p = 0.03125"


def test_what_a_p_value_does_not_mean():
    words = compare(pd.DataFrame(np.random.default_rng(0).normal(size=(10, 2)))).summary
    assert "It is not the chance that they are equally good" in words
    assert "does not show equality" in words


@pytest.mark.filterwarnings("ignore:Kendall's W")
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(6, 15), st.sampled_from(["max", "min"]))
def test_words_follow_the_numbers(seed, k, n, better):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(n, k)) + np.arange(k), columns=[f"learner{i}" for i in range(k)])
    verdict = compare(table, better=better)
    said = {
        frozenset(found)
        for found in re.findall(r"(learner\d) (?:from|is better than) (learner\d)(?: \(p = [\d.e-]+\)|\.)", verdict.summary)
    }
    pairs = verdict.pairs()
    different = {frozenset((pair.first, pair.second)) for pair in pairs.itertuples() if pair.significant}
    assert said <= different
    assert len(said) == min(len(different), 8)
    assert (f"at most alpha {verdict.alpha}" in verdict.summary) == (verdict.p_value <= verdict.alpha)
    # The better one is named first.
    for first, second in re.findall(r"(learner\d) from (learner\d)", verdict.summary):
        pair = pairs[
            ((pairs["first"] == first) & (pairs["second"] == second))
            | ((pairs["first"] == second) & (pairs["second"] == first))
        ]
        ahead = pair["rank_difference"].item() < 0
        assert ahead == (pair["first"].item() == first)


def test_an_undefined_p_is_said():
    frame = pd.DataFrame({"fold": [1, 2, 3], "a": [0.5, 0.6, 0.7], "b": [0.4, 0.5, 0.6]})
    with pytest.warns(UndefinedMeasureWarning):
        verdict = compare(frame)
    assert np.isnan(verdict.p_value)
    assert "p is undefined: the differences do not vary" in verdict.summary
    assert verdict.groups == (("a", "b"),)


def test_limits_that_do_not_exist_are_not_printed():
    with pytest.warns(UndefinedMeasureWarning):
        words = compare(pd.DataFrame({"a": [3.0, 4, 5], "b": [2.0, 2, 2], "c": [1.0, 0, 1]})).summary
    assert "Size: Kendall's W 1 (no limits: all data sets agree)." in words
    assert "nan" not in words


def test_an_omnibus_test_that_finds_more_than_the_pairs(find_published):
    words = compare(find_published("demsar_2006_table6_auc")).summary
    assert "not all equal, but the data do not suffice to say which" in words


def near_alpha(above):
    """Two learners whose paired t test has a p just above or below 0.05: differences of which the mean is moved."""
    spread = stats.norm.ppf(np.linspace(0.06, 0.94, 15))
    wanted = stats.t.isf((0.05 + (3e-5 if above else -2e-5)) / 2, 14)
    d = spread - spread.mean() + wanted * spread.std(ddof=1) / np.sqrt(15)
    base = np.linspace(0, 1, 15)
    return pd.DataFrame({"A": base + d, "B": base})


@pytest.mark.parametrize("above", [True, False])
def test_a_p_value_near_alpha_does_not_seem_to_lie_on_its_other_side(above):
    verdict = compare(near_alpha(above), parametric=True)
    told = "0.05003" if above else "0.04998"
    assert str(verdict).startswith(f"paired_t: p = {told}\n")
    assert f", p = {told}, {'above' if above else 'at most'} alpha 0.05: " in verdict.summary
    assert f"The p value of {told} is the chance" in verdict.summary
    assert f"p = {told}" in verdict._repr_html_()


def test_the_smallest_p_of_six_data_sets_against_a_level_just_below_it():
    scores = pd.DataFrame({"A": [0.9, 0.8, 0.9, 0.6, 0.7, 0.8], "B": [0.8, 0.75, 0.7, 0.5, 0.64, 0.6]})
    words = compare(scores, alpha=0.0312).summary
    assert "p = 0.03125, above alpha 0.0312:" in words  # 2 / 2**6
    assert "gives p = 0.03125." in words
    assert "the smallest p that this test can give is 0.03125: no result could have reached alpha 0.0312." in words
    assert "p = 0.03125, above alpha 0.03124999999:" in compare(scores, alpha=0.03124999999).summary


def test_pairs_near_alpha_show_their_side(find_published):
    scores = find_published("demsar_2006_table6_auc")
    p = sorted(each[3] for each in compare(scores).comparisons)[0]
    verdict = compare(scores, alpha=float(f"{p:.3g}"))
    assert verdict.alpha != p
    for text in (str(verdict), verdict._repr_html_()):
        numbers = [float(each) for each in re.findall(r"(?<![\w.])0\.\d+", text)]
        near = [each for each in numbers if abs(each - p) < 1e-6]
        assert near
        assert all((each <= verdict.alpha) == (p <= verdict.alpha) for each in near)
    assert "(p = " in verdict.posthoc.summary or p > verdict.alpha
