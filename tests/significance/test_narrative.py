"""The text of a verdict agrees with its numbers."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from fairtrial.errors import UndefinedMeasureWarning
from fairtrial.significance.compare import compare


def kinds(verdict):
    return [finding.kind for finding in verdict.findings]


def test_the_meaning_of_the_p_value_is_explained():
    verdict = compare(pd.DataFrame(np.random.default_rng(0).normal(size=(10, 2))), rows="datasets")
    assert kinds(verdict)[0] == "test_result"
    assert kinds(verdict)[-1] == "p_value_meaning"


@pytest.mark.filterwarnings("ignore:Kendall's W")
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(6, 15), st.sampled_from(["max", "min"]))
def test_ranking_follows_the_numbers(seed, k, n, better):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(n, k)) + np.arange(k), columns=[f"learner{i}" for i in range(k)])
    verdict = compare(table, better=better, rows="datasets")
    pairs = verdict.pairs()
    different = {frozenset((pair.first, pair.second)) for pair in pairs.itertuples() if pair.significant}
    ranking = verdict.ranking
    assert {frozenset((pair.better, pair.other)) for pair in ranking.significant_pairs} == different
    assert {frozenset((ranking.names[0], name)) for name in ranking.worse} <= different
    assert not {frozenset((ranking.names[0], name)) for name in ranking.not_worse} & different
    for pair in ranking.pairs:
        row = pairs[pairs["first"].isin([pair.better, pair.other]) & pairs["second"].isin([pair.better, pair.other])]
        assert pair.p_adjusted == row["p_adjusted"].item()
    assert all(name in verdict.summary for name in (ranking.names[0], *ranking.worse))


def test_an_undefined_p_value():
    frame = pd.DataFrame({"fold": [1, 2, 3], "a": [0.5, 0.6, 0.7], "b": [0.4, 0.5, 0.6]})
    with pytest.warns(UndefinedMeasureWarning):
        verdict = compare(frame)
    assert np.isnan(verdict.p_value)
    assert "p_value_meaning" not in kinds(verdict)
    assert "nan" not in verdict.summary
    assert verdict.groups == (("a", "b"),)


def test_undefined_limits_are_not_printed():
    with pytest.warns(UndefinedMeasureWarning):
        verdict = compare(pd.DataFrame({"a": [3.0, 4, 5], "b": [2.0, 2, 2], "c": [1.0, 0, 1]}), rows="datasets")
    assert "effect_size" in kinds(verdict)
    assert "nan" not in verdict.explain()


def test_an_omnibus_test_that_finds_more_than_the_pairs(find_published):
    assert "omnibus_without_pairs" in kinds(compare(find_published("demsar_2006_table6_auc")))


def near_alpha(above):
    """Two learners with a p-value of the paired t test just above or below 0.05."""
    spread = stats.norm.ppf(np.linspace(0.06, 0.94, 15))
    wanted = stats.t.isf((0.05 + (3e-5 if above else -2e-5)) / 2, 14)
    d = spread - spread.mean() + wanted * spread.std(ddof=1) / np.sqrt(15)
    base = np.linspace(0, 1, 15)
    return pd.DataFrame({"A": base + d, "B": base})


@pytest.mark.parametrize("above", [True, False])
def test_a_p_value_near_alpha_keeps_its_side(above):
    verdict = compare(near_alpha(above), parametric=True, rows="datasets")
    printed = f"p = {'0.05003' if above else '0.04998'}"
    assert verdict.choice == "paired_t"
    for text in (str(verdict), verdict.summary, verdict._repr_html_()):
        assert printed in text


@pytest.mark.parametrize("alpha", [0.0312, 0.03124999999])
def test_the_smallest_p_of_six_data_sets_above_alpha(alpha):
    scores = pd.DataFrame({"A": [0.9, 0.8, 0.9, 0.6, 0.7, 0.8], "B": [0.8, 0.75, 0.7, 0.5, 0.64, 0.6]})
    verdict = compare(scores, alpha=alpha, rows="datasets")
    assert verdict.p_value == 2 / 2**6
    assert "p = 0.03125" in verdict.summary
    findings = {finding.kind: finding for finding in verdict.findings}
    assert findings["sign_test"]["p"] == 2 / 2**6
    assert (findings["cannot_decide_pair"]["n"], findings["cannot_decide_pair"]["smallest"]) == (6, 2 / 2**6)


def test_pairs_near_alpha_show_their_side(find_published):
    scores = find_published("demsar_2006_table6_auc")
    p = sorted(pair[3] for pair in compare(scores, rows="datasets").comparisons)[0]
    verdict = compare(scores, alpha=float(f"{p:.3g}"), rows="datasets")
    assert verdict.alpha != p
    for text in (str(verdict), verdict._repr_html_()):
        numbers = [float(number) for number in re.findall(r"(?<![\w.])0\.\d+", text)]
        near = [number for number in numbers if abs(number - p) < 1e-6]
        assert near
        assert all((number <= verdict.alpha) == (p <= verdict.alpha) for number in near)
    assert "(p = " in verdict.posthoc.summary or p > verdict.alpha
