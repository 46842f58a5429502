from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import vl_convert
from hypothesis import given, strategies as st

from fairtrial.errors import InputError
from fairtrial.report.figures.critical_difference import build_rank_bars, draw_critical_difference
from fairtrial.significance.posthoc import Comparison, PostHoc

RANKS = pd.Series({"tree": 1.2, "bayes": 2.1, "rule": 3.0, "kernel": 3.7})


def svg(chart):
    return vl_convert.vegalite_to_svg(chart.to_dict())


def marks(chart, kind):
    """The rows of each layer with this mark, by layer."""
    spec = chart.to_dict()
    return [spec["datasets"][layer["data"]["name"]] for layer in spec["layer"] if layer["mark"]["type"] == kind]


def told_apart(k, rng, alpha=0.05):
    """Mean ranks of k learners and random adjusted p values of all pairs, which need not follow the ranks."""
    names = [f"L{i}" for i in range(k)]
    ranks = rng.integers(2, 2 * k + 1, k) / 2  # halves, so that some are equal
    p = {pair: rng.choice([0.001, alpha, 0.06, 0.5]) for pair in combinations(names, 2)}
    return dict(zip(names, ranks, strict=True)), p


def found(ranks, p):
    rows = tuple(Comparison(a, b, 0.0, value, value, 0.0) for (a, b), value in p.items())
    return PostHoc("holm", "friedman", 0.05, 10, tuple(ranks), tuple(ranks.values()), rows)


def cliques(names, alike):
    """All largest sets of names of which any two are alike, by trying every set."""
    sets = [
        set(some)
        for size in range(1, len(names) + 1)
        for some in combinations(names, size)
        if all(frozenset(pair) in alike for pair in combinations(some, 2))
    ]
    return [each for each in sets if not any(each < other for other in sets)]


class TestBars:
    @given(k=st.integers(2, 6), seed=st.integers(0, 2**32 - 1))
    def test_a_solid_bar_never_covers_a_pair_that_is_told_apart(self, k, seed):
        ranks, p = told_apart(k, np.random.default_rng(seed))
        bars = build_rank_bars(ranks, found(ranks, p).groups)
        for bar in bars[bars["solid"]].itertuples():
            under = sorted(name for name, rank in ranks.items() if bar.low <= rank <= bar.high)
            assert len(under) > 1
            assert all(p[pair] > 0.05 for pair in combinations(under, 2))

    @given(k=st.integers(2, 6), seed=st.integers(0, 2**32 - 1))
    def test_bars_are_the_groups(self, k, seed):
        ranks, p = told_apart(k, np.random.default_rng(seed))
        alike = {frozenset(pair) for pair, value in p.items() if value > 0.05}
        expected = sorted(sorted(ranks[name] for name in group) for group in cliques(list(ranks), alike) if len(group) > 1)
        bars = build_rank_bars(ranks, found(ranks, p).groups)
        ends = bars.groupby("group").agg(low=("low", "min"), high=("high", "max")).to_numpy().tolist()
        assert sorted(ends) == sorted([group[0], group[-1]] for group in expected)
        # The pieces of a group follow each other without a gap: whoever is not told apart is joined.
        for _, pieces in bars.groupby("group"):
            assert pieces["low"].iloc[1:].tolist() == pieces["high"].iloc[:-1].tolist()

    @given(k=st.integers(2, 6), seed=st.integers(0, 2**32 - 1))
    def test_bars_of_one_lane_do_not_meet(self, k, seed):
        ranks, p = told_apart(k, np.random.default_rng(seed))
        spans = (
            build_rank_bars(ranks, found(ranks, p).groups)
            .groupby(["lane", "group"])
            .agg(low=("low", "min"), high=("high", "max"))
        )
        for _, lane in spans.groupby("lane"):
            ordered = lane.sort_values("low")
            assert (ordered["low"].to_numpy()[1:] > ordered["high"].to_numpy()[:-1]).all()

    def test_a_learner_in_between_breaks_the_bar(self):
        bars = build_rank_bars(RANKS, [("tree", "bayes", "kernel")])
        assert bars[["low", "high", "solid"]].to_numpy().tolist() == [[1.2, 2.1, True], [2.1, 3.7, False]]

    def test_a_learner_of_the_same_rank_outside_the_group_breaks_it_too(self):
        bars = build_rank_bars({"a": 1.5, "b": 1.5, "c": 3.0}, [("a", "c"), ("a", "b")])
        assert bars[["low", "high", "solid"]].to_numpy().tolist() == [[1.5, 1.5, True], [1.5, 3.0, False]]

    def test_groups_of_one_have_no_bar(self):
        assert build_rank_bars(RANKS, [(name,) for name in RANKS.index]).empty


class TestDiagram:
    GROUPS = (("tree", "bayes"), ("bayes", "rule"), ("kernel",))

    def test_solid_bars_are_the_groups(self):
        chart = draw_critical_difference(RANKS, self.GROUPS)
        drawn = [(row["rank"], row["end"]) for rows in marks(chart, "rule") for row in rows if "solid" in row]
        assert drawn == [(1.2, 2.1), (2.1, 3.0)]

    def test_learners_lie_at_their_mean_ranks_and_are_named(self):
        chart = draw_critical_difference(RANKS, self.GROUPS)
        points = {row["learner"]: row["rank"] for row in marks(chart, "point")[0]}
        assert points == RANKS.to_dict()
        text = svg(chart)
        for word in ("tree", "kernel", "1.20", "2.10", "3.00", "3.70", "Critical-difference diagram"):
            assert f">{word}</text>" in text

    def test_the_critical_difference_is_as_long_as_it_says(self):
        chart = draw_critical_difference(RANKS, self.GROUPS, critical_difference=1.25)
        assert {"rank": 1, "end": 2.25, "y": 18} in [row for rows in marks(chart, "rule") for row in rows]
        assert ">CD = 1.250</text>" in svg(chart)
        assert "CD" not in svg(draw_critical_difference(RANKS, self.GROUPS))

    @pytest.mark.parametrize("k", [2, 3, 5, 12, 20])
    def test_names_do_not_lie_on_each_other_and_lines_do_not_cross(self, k):
        rng = np.random.default_rng(k)
        ranks = pd.Series(rng.uniform(1, k, k), index=[f"a learner of some length {i}" for i in range(k)])
        chart = draw_critical_difference(ranks, [])
        lines = pd.DataFrame(marks(chart, "line")[0]).groupby("learner")
        ends = lines.last()
        for _, side in ends.groupby("rank"):
            assert (np.diff(np.sort(side["y"])) >= 20).all()
        paths = [path[["rank", "y"]].to_numpy() for _, path in lines]
        for one in paths:
            (x, top), (_, bottom), _ = one
            for other in paths:
                _, (start, height), (end, _) = other
                crosses = min(start, end) < x < max(start, end) and top < height < bottom
                assert one is other or not crosses

    def test_the_control_is_named_and_bold(self):
        chart = draw_critical_difference(RANKS, [("tree", "bayes")], control="tree")
        assert chart.to_dict()["title"]["subtitle"] == [
            "Mean ranks; 1 is best. The bar joins tree and learners without a significant difference from it"
        ]
        bold = [layer for layer in chart.to_dict()["layer"] if layer["mark"].get("fontWeight") == "bold"]
        assert [row["learner"] for row in chart.to_dict()["datasets"][bold[0]["data"]["name"]]] == ["tree"]

    @pytest.mark.parametrize(
        ("control", "words"), [(None, "All differ significantly"), ("rule", "All differ significantly from rule")]
    )
    def test_without_bars_it_says_so(self, control, words):
        chart = draw_critical_difference(RANKS, [], control=control)
        assert chart.to_dict()["title"]["subtitle"] == [f"Mean ranks; 1 is best. {words}"]

    def test_dotted_lines_are_explained(self):
        chart = draw_critical_difference(RANKS, [("tree", "rule")])
        assert "Dotted: no significant difference either" in svg(chart)

    @pytest.mark.parametrize(
        ("ranks", "groups", "message"),
        [
            ({"a": 1.0}, [], "mean_ranks must hold at least 2 learners, got 1"),
            ({"a": 0.5, "b": 1.0}, [], "mean_ranks must lie between 1 and the number of learners, 2, got 0.5 for 'a'"),
            ({"a": np.nan, "b": 1.0}, [], "got nan for 'a'"),
            ([1, 2], [], "mean_ranks must map learners to mean ranks, got list"),
            (pd.Series([1.0, 2.0], index=["a", "a"]), [], "mean_ranks must name each learner once"),
            ({"a": 1.0, "b": 2.0}, [("a", "c")], "groups must hold learners of mean_ranks, got 'c'"),
        ],
    )
    def test_bad_input_is_refused(self, ranks, groups, message):
        with pytest.raises(InputError, match=message):
            draw_critical_difference(ranks, groups)
