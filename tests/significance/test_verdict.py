"""One object: ranks, pairs, groups and frames agree with each other."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.significance.compare import compare
from fairtrial.significance.verdict import find_smallest

# Where all data sets order the learners alike, Kendall's W has no limits.
pytestmark = pytest.mark.filterwarnings("ignore:Kendall's W")

TABLES = st.tuples(st.integers(2, 6), st.integers(5, 12), st.integers(0, 10_000), st.sampled_from(["max", "min"]))


def random_verdict(case, **options):
    k, n, seed, better = case
    rng = np.random.default_rng(seed)
    # Rounded, so that ties occur.
    values = np.round(rng.normal(size=(n, k)) + 0.8 * np.arange(k), 1)
    return compare(pd.DataFrame(values, columns=list("abcdef"[:k])), better=better, **options, rows="datasets")


@settings(max_examples=60, deadline=None)
@given(TABLES)
def test_groups_are_the_maximal_sets_not_told_apart(case):
    """By brute force over all subsets."""
    verdict = random_verdict(case)
    apart = {frozenset((pair.first, pair.second)) for pair in verdict.pairs().itertuples() if pair.significant}
    learners = verdict.table.learners
    free = [
        set(names)
        for size in range(1, len(learners) + 1)
        for names in combinations(learners, size)
        if not any(frozenset(pair) in apart for pair in combinations(names, 2))
    ]
    maximal = {frozenset(names) for names in free if not any(names < other for other in free)}
    assert {frozenset(group) for group in verdict.groups} == maximal


@settings(max_examples=40, deadline=None)
@given(TABLES)
def test_ranks_and_records_agree(case):
    verdict = random_verdict(case)
    n, k = verdict.table.shape
    ranks, pairs = verdict.ranks(), verdict.pairs()
    assert ranks.to_numpy().sum(axis=1) == pytest.approx(k * (k + 1) / 2)
    assert verdict.mean_ranks.is_monotonic_increasing
    assert (pairs[["wins", "ties", "losses"]].sum(axis=1) == n).all()
    assert (pairs["significant"] == (pairs["p_adjusted"] <= verdict.alpha)).all()
    for pair in pairs.itertuples():
        sign = 1 if verdict.better == "min" else -1
        gaps = np.round(sign * (verdict.table.values @ _contrast(verdict, pair.first, pair.second)), 9)
        assert (pair.wins, pair.losses) == ((gaps < 0).sum(), (gaps > 0).sum())
        assert pair.rank_difference == pytest.approx(ranks[pair.first].mean() - ranks[pair.second].mean())
    assert len(pairs) == k * (k - 1) // 2
    assert verdict.frame()["learner"].tolist() == list(verdict.order)


def _contrast(verdict, first, second):
    names = np.array(verdict.table.learners)
    return (names == first).astype(float) - (names == second)


@settings(max_examples=20, deadline=None)
@given(TABLES)
def test_turning_the_scores_round_changes_nothing(case):
    better = case[-1]
    verdict = random_verdict(case)
    table = pd.DataFrame(-verdict.table.values, columns=list(verdict.table.learners))
    turned = compare(table, better="min" if better == "max" else "max", rows="datasets")
    assert turned.p_value == pytest.approx(verdict.p_value)
    assert turned.groups == verdict.groups
    pd.testing.assert_series_equal(turned.mean_ranks, verdict.mean_ranks)


def test_frame_of_published_ranks(find_published):
    frame = compare(find_published("demsar_2006_table6_auc")).frame().set_index("learner")
    assert frame["mean_rank"].to_dict() == pytest.approx(
        {"C4.5": 3.143, "C4.5+m": 2.0, "C4.5+cf": 2.893, "C4.5+m+cf": 1.964}, abs=5e-4
    )
    assert np.isnan(frame.loc["C4.5+m+cf", "effect_vs_best"])


def test_effect_against_the_best_is_the_rank_biserial():
    # Differences 1, 2, -3, 4: R+ 7, R- 3
    frame = compare(pd.DataFrame({"a": [1.0, 2, 0, 4], "b": [0.0, 0, 3, 0]}), rows="datasets").frame()
    assert frame["effect_vs_best"].tolist()[1] == pytest.approx(0.4)


def test_a_control_has_its_own_pairs_and_group(find_published):
    verdict = compare(find_published("garcia_herrera_2008_accuracy"), control="CN2")
    pairs = verdict.pairs()
    assert (pairs["first"] == "CN2").all()
    assert len(pairs) == 4
    (group,) = verdict.groups
    assert set(group) == {"CN2", *pairs.loc[~pairs["significant"], "second"]}


def test_frozen_and_escaped():
    verdict = compare(pd.DataFrame({"<b>": [1.0, 2, 3], "<i>": [2.0, 3, 5], "c": [3.0, 1, 1]}), rows="datasets")
    with pytest.raises(AttributeError):
        verdict.alpha = 0.1
    page = verdict._repr_html_()
    assert "<i>" not in page
    assert "&lt;i&gt;" in page
    assert page.startswith("<p><b>")
    assert page.count("<b>") == 1


def test_all_parts_name_one_winner_where_ranks_and_sizes_disagree():
    """A loses a little often and wins a lot: signed ranks say A, mean ranks say B."""
    d = np.r_[-np.linspace(0.001, 0.005, 16), np.linspace(0.1, 0.3, 14)]
    verdict = compare(pd.DataFrame({"A": 0.5 + d, "B": 0.5}), rows="datasets")
    assert verdict.ranking.names == ("A", "B")
    assert verdict.ranking.criterion == ""  # B has the better mean rank, A the larger signed ranks
    assert verdict.groups == (("A",), ("B",))
    assert verdict.frame()["learner"].tolist() == ["A", "B"]
    assert verdict.order_pair("B", "A") == ("A", "B")


def test_splits_of_one_data_set_are_ordered_by_their_means():
    i = np.arange(20)
    frame = pd.DataFrame({"A": np.where(i < 11, 0.799, 0.85) + i * 1e-5, "B": 0.8, "C": 0.3 + i * 1e-4})
    verdict = compare(frame.assign(repeat=i // 10 + 1, fold=i % 10 + 1), test_fraction=0.02)
    assert verdict.ranking.names == ("A", "B", "C")
    assert verdict.ranking.worse == ("B", "C")
    assert verdict.groups[0] == ("A",)
    first = verdict.posthoc.frame().iloc[0]
    assert first["statistic"] > 0
    assert first["effect"] == pytest.approx(frame["A"].mean() - 0.8)


def test_the_pair_of_the_main_test():
    rng = np.random.default_rng(0)
    assert compare(pd.DataFrame(rng.normal(size=(8, 2)), columns=["a", "b"]), rows="datasets").pair == ("a", "b")
    assert compare(pd.DataFrame(rng.normal(size=(8, 3)), columns=["a", "b", "c"]), rows="datasets").pair is None
    assert find_smallest([0.2, float("nan"), 0.1, 0.1]) == 2
