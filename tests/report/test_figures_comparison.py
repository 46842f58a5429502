"""Tests of `fairtrial.report.figures.comparison`."""

import subprocess
import sys
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import vl_convert
from hypothesis import given, strategies as st

from fairtrial.errors import InputError
from fairtrial.report.figures import comparison
from fairtrial.report.figures.critical_difference import build_rank_bars, draw_critical_difference
from fairtrial.report.figures.posterior import count_in_hexagons, draw_density, draw_simplex
from fairtrial.report.figures.projection import CORNERS, _compute_label_box, _compute_overlap, choose_corners
from fairtrial.significance.bayes import bayes_signed_rank, correlated_t
from fairtrial.significance.posthoc import Comparison, PostHoc
from fairtrial.significance.strength import bradley_terry

# --- Comparison ---


def svg(chart):
    return vl_convert.vegalite_to_svg(chart.to_dict())


def rows(chart):
    return [row for dataset in chart.to_dict()["datasets"].values() for row in dataset]


class TestRanks:
    RANKS = pd.DataFrame({"rule": [3.0, 3, 2, 3], "tree": [1, 1.5, 1, 2], "bayes": [2, 1.5, 3, 1]})

    def test_circles_count_the_ranks(self):
        held = [row for row in rows(comparison.draw_ranks(self.RANKS)) if "datasets" in row]
        for name in self.RANKS:
            counts = {row["rank"]: row["datasets"] for row in held if row["learner"] == name}
            assert counts == {rank: int((self.RANKS[name] == rank).sum()) for rank in self.RANKS[name].unique()}

    def test_means_are_drawn_and_told_the_best_first(self):
        chart = comparison.draw_ranks(self.RANKS)
        means = {row["learner"]: row["rank"] for row in rows(chart) if "datasets" not in row and "learner" in row}
        assert means == self.RANKS.mean().to_dict()
        assert chart.to_dict()["layer"][0]["encoding"]["y"]["sort"] == ["tree", "bayes", "rule"]
        assert all(f">{word}</text>" in svg(chart) for word in ("tree", "1.38", "2.75", "Rank on a data set (1 is the best)"))

    def test_rows_may_be_splits(self):
        assert ">Rank on a split (1 is the best)</text>" in svg(comparison.draw_ranks(self.RANKS, unit="split"))

    def test_every_rank_has_its_number(self):
        k = 14
        ranks = pd.DataFrame(np.tile(np.arange(1.0, k + 1), (3, 1)), columns=[f"L{i}" for i in range(k)])
        assert all(f">{rank}</text>" in svg(comparison.draw_ranks(ranks)) for rank in range(1, k + 1))

    @pytest.mark.parametrize(
        ("ranks", "message"),
        [
            (pd.DataFrame({"a": [0.9, 0.8], "b": [0.7, 0.6]}), "ranks must be between 1 and 2, the number of learners"),
            (pd.DataFrame({"a": [1.0]}), "ranks must have at least 2 learners"),
            (pd.DataFrame({"a": ["x"], "b": ["y"]}), "ranks must be between 1 and "),
            (pd.DataFrame({"a": [np.nan], "b": [1.0]}), "ranks must be between 1 and "),
            ([1, 2], "frame must be a frame or a result that has one, got list"),
        ],
    )
    def test_bad_ranks_are_refused(self, ranks, message):
        with pytest.raises(InputError, match=message):
            comparison.draw_ranks(ranks)


class TestPairs:
    PAIRS = pd.DataFrame(
        {
            "first": ["rule", "rule", "tree"],
            "second": ["tree", "bayes", "bayes"],
            "difference": [-0.2, -0.05, 0.15],
            "rank_difference": [1.5, 0.5, -1.0],
            "p_adjusted": [0.00002, 0.0501, 0.31],
            "significant": [True, False, False],
            "wins": [1, 3, 7],
            "ties": [0, 2, 1],
            "losses": [9, 5, 2],
        }
    )

    def cells(self, **options):
        held = rows(comparison.draw_pairs(self.PAIRS, **options))
        return {(row["row"], row["column"]): row for row in held if "net" in row}

    def test_cells_are_turned_so_that_the_better_is_the_row(self):
        cells = self.cells()
        assert set(cells) == {("tree", "rule"), ("bayes", "rule"), ("tree", "bayes")}
        first = cells["tree", "rule"]
        assert (first["difference"], first["p"], first["record"]) == ("+0.200", "p < 0.001", "9 / 0 / 1")
        assert first["net"] == pytest.approx(0.8)
        assert cells["tree", "bayes"]["record"] == "7 / 1 / 2"

    def test_p_values_near_alpha_are_not_rounded_to_it(self):
        assert self.cells()["bayes", "rule"]["p"] == "p = 0.0501"

    @pytest.mark.parametrize(
        ("p", "alpha", "text"),
        [
            (0.05003, 0.05, "p = 0.05003"),
            (0.04998, 0.05, "p = 0.04998"),
            (0.05, 0.05, "p = 0.05"),
            (0.03125, 0.0312, "p = 0.03125"),
            (0.03125, 0.03124, "p = 0.03125"),
            (0.00002, 0.00001, "p = 2e-05"),
        ],
    )
    def test_p_values_keep_their_side_of_the_level_that_was_asked(self, p, alpha, text):
        chart = comparison.draw_pairs(self.PAIRS.assign(p_adjusted=p), alpha=alpha)
        assert {row["p"] for row in rows(chart) if "net" in row} == {text}

    def test_frames_are_the_pairs_that_differ(self):
        chart = comparison.draw_pairs(self.PAIRS).to_dict()
        frames = [layer for layer in chart["layer"] if layer["mark"].get("filled") is False]
        assert [(row["row"], row["column"]) for row in chart["datasets"][frames[0]["data"]["name"]]] == [("tree", "rule")]
        alike = self.PAIRS.assign(significant=False)
        assert all(layer["mark"].get("filled") is None for layer in comparison.draw_pairs(alike).to_dict()["layer"])

    def test_an_order_may_be_given(self):
        assert ("rule", "tree") in self.cells(order=["rule", "bayes", "tree"])
        with pytest.raises(InputError, match=r"order.*'tree'"):
            self.cells(order=["rule", "bayes"])

    def test_a_control_is_the_only_row(self):
        chart = comparison.draw_pairs(self.PAIRS.iloc[:2])
        assert {row["row"] for row in rows(chart) if "row" in row} == {"rule"}
        assert ">\N{MINUS SIGN}0.200</text>" in svg(chart)

    def test_undefined_numbers_are_told(self):
        text = svg(comparison.draw_pairs(self.PAIRS.assign(p_adjusted=np.nan, difference=np.nan)))
        assert ">p undefined</text>" in text
        assert ">undefined</text>" in text

    def test_a_difference_that_rounds_to_zero_has_no_sign(self):
        text = svg(comparison.draw_pairs(self.PAIRS.assign(difference=[0.2, 0.0001, -0.0001])))
        assert text.count(">0.000</text>") == 2
        assert "\N{MINUS SIGN}0.000" not in text

    @pytest.mark.parametrize(
        ("unit", "told"),
        [(1e-8, "+2.00e\N{MINUS SIGN}09"), (0.05, "+0.0100"), (1, "+0.200"), (1000, "+200"), (5e9, "+1.00e+09")],
    )
    def test_differences_have_three_digits(self, unit, told):
        chart = comparison.draw_pairs(self.PAIRS.assign(difference=self.PAIRS["difference"] * unit))
        assert told in [row["difference"] for row in rows(chart) if "difference" in row]

    def test_a_missing_column_is_named(self):
        with pytest.raises(InputError, match="pairs must have the column 'ties'"):
            comparison.draw_pairs(self.PAIRS.drop(columns="ties"))


class TestStrengths:
    SCORES = np.array([[0.9, 0.8, 0.7], [0.8, 0.9, 0.7], [0.9, 0.8, 0.6], [0.7, 0.6, 0.65]])

    @pytest.mark.parametrize("scale", ["elo", "log"])
    def test_a_result_and_its_frame_are_drawn(self, scale):
        found = bradley_terry(self.SCORES, resamples=50, scale=scale)
        for strengths in (found, found.frame()):
            held = pd.DataFrame([row for row in rows(comparison.draw_strengths(strengths)) if "learner" in row])
            columns = ["learner", "strength", "low", "high"]
            pd.testing.assert_frame_equal(held[columns], found.frame()[columns])

    def test_numbers_are_told(self):
        found = bradley_terry(self.SCORES, resamples=50)
        best = found.frame().iloc[0]
        text = svg(comparison.draw_strengths(found)).replace("  (", " (")
        assert f">{best.strength:.0f} ({best.low:.0f} to {best.high:.0f})</text>" in text
        assert "95 % intervals over data sets" in text

    def test_undefined_strengths_leave_a_hole(self):
        frame = pd.DataFrame({"learner": ["a", "b"], "strength": [np.nan, 1500], "low": [np.nan] * 2, "high": [np.nan] * 2})
        text = svg(comparison.draw_strengths(frame))
        assert ">undefined</text>" in text
        assert ">1500 (interval undefined)</text>" in text.replace("  (", " (").replace("&nbsp;", "")
        assert "undefined to undefined" not in text
        assert "NaN" not in text


def test_importing_the_figures_does_not_import_altair():
    code = "import sys, fairtrial.report.figures.comparison; print('altair' in sys.modules, 'pandas' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.split() == ["False", "False"]


# --- Critical difference ---


RANKS = pd.Series({"tree": 1.2, "bayes": 2.1, "rule": 3.0, "kernel": 3.7})


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
            "Mean ranks; 1 is best. The bar joins tree and learners that do not differ significantly from it"
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
            ({"a": 1.0}, [], "mean_ranks must contain at least 2 learners, got 1"),
            ({"a": 0.5, "b": 1.0}, [], "mean_ranks must lie between 1 and the number of learners, 2, got 0.5 for 'a'"),
            ({"a": np.nan, "b": 1.0}, [], "got nan for 'a'"),
            ([1, 2], [], "mean_ranks must map learners to mean ranks, got list"),
            (pd.Series([1.0, 2.0], index=["a", "a"]), [], "mean_ranks must name each learner once"),
            ({"a": 1.0, "b": 2.0}, [("a", "c")], "groups must contain learners of mean_ranks, got 'c'"),
        ],
    )
    def test_bad_input_is_refused(self, ranks, groups, message):
        with pytest.raises(InputError, match=message):
            draw_critical_difference(ranks, groups)


# --- Posterior ---


A = [0.84, 0.91, 0.77, 0.88, 0.69, 0.95, 0.80, 0.71]
B = [0.81, 0.86, 0.78, 0.83, 0.65, 0.93, 0.82, 0.70]
NAMES = ("tree", "bayes")


class TestHexagons:
    @given(st.lists(st.tuples(*[st.floats(0.001, 1)] * 3), min_size=1, max_size=50))
    def test_every_sample_is_in_the_nearest_one(self, weights):
        draws = np.array(weights) / np.sum(weights, axis=1, keepdims=True)
        found = count_in_hexagons(draws, across=10)
        assert found[:, 2].sum() == len(draws)
        x, y = draws[:, 2] + draws[:, 1] / 2, np.sqrt(0.75) * draws[:, 1]
        gaps = np.hypot(x[:, None] - found[:, 0], y[:, None] - found[:, 1]).min(axis=1)
        # No point of a hexagon is farther from its centre than a corner, 1 / sqrt(3) of the distance between centres.
        assert (gaps <= 0.1 / np.sqrt(3) + 1e-9).all()
        assert len(np.unique(found[:, :2], axis=0)) == len(found)

    def test_the_corners_are_where_they_should_be(self):
        corners = count_in_hexagons(np.eye(3), across=24)
        np.testing.assert_allclose(corners[:, :2], [[0, 0], [0.5, np.sqrt(0.75)], [1, 0]], atol=1 / 24 / np.sqrt(3))


class TestSimplex:
    FOUND = bayes_signed_rank(A, B, rope=0.01, samples=4000)

    def test_it_holds_all_samples(self):
        held = pd.DataFrame(rows(draw_simplex(self.FOUND))).dropna(subset="samples")
        assert held["samples"].sum() == 4000
        assert held["share"].sum() == pytest.approx(1)
        # The middle of the cloud is the mean of the samples, up to the width of a hexagon.
        mean = self.FOUND.samples().mean()
        assert np.average(held["x"], weights=held["samples"]) == pytest.approx(mean["second"] + mean["rope"] / 2, abs=0.02)
        assert np.average(held["y"], weights=held["samples"]) == pytest.approx(mean["rope"] * np.sqrt(0.75), abs=0.02)

    def test_corners_name_learners_and_their_probabilities(self):
        text = svg(draw_simplex(self.FOUND, names=NAMES))
        for word in ("tree better", "bayes better", "practically equivalent (differences up to 0.01)"):
            assert f">{word}</text>" in text
        for chance in (self.FOUND.p_first, self.FOUND.p_rope, self.FOUND.p_second):
            assert f">{chance:.3f}</text>" in text
        assert self.FOUND.meaning in text

    def test_the_corner_of_each_result(self):
        corners = {row["word"]: (row["x"], row["y"]) for row in rows(draw_simplex(self.FOUND, names=NAMES)) if "word" in row}
        assert corners["tree better"] == (0, 0)
        assert corners["bayes better"] == (1, 0)

    def test_samples_alone_give_the_same_picture(self):
        one, two = (rows(draw_simplex(each)) for each in (self.FOUND, self.FOUND.samples()))
        assert [row for row in one if "samples" in row] == [row for row in two if "samples" in row]
        chances = [[row["chance"] for row in each if "chance" in row] for each in (one, two)]
        assert chances[0] == chances[1]

    def test_without_a_rope_it_is_a_histogram(self):
        found = bayes_signed_rank(A, B, samples=2000)
        chart = draw_simplex(found, names=NAMES)
        held = pd.DataFrame(rows(chart)).dropna(subset="share")
        assert held["share"].sum() == pytest.approx(1)
        favours = held[held["region"] == f"tree better: {found.p_first:.3f}"]
        assert favours["share"].sum() == pytest.approx(found.p_first, abs=0.005)
        assert ">Probability that tree beats bayes on the next data set</text>" in svg(chart)

    def test_a_posterior_without_samples_is_refused(self):
        with pytest.raises(InputError, match="samples"):
            draw_simplex(correlated_t(A, B, test_fraction=0.1))

    @pytest.mark.parametrize(
        ("samples", "message"),
        [
            (pd.DataFrame({"first": [0.5]}), "posterior must have the column 'rope'"),
            (pd.DataFrame({"first": [0.5], "rope": [0.1], "second": [0.5]}), "probabilities that sum to 1"),
            (pd.DataFrame({"first": [np.nan], "rope": [0.1], "second": [0.5]}), "probabilities that sum to 1"),
        ],
    )
    def test_bad_samples_are_refused(self, samples, message):
        with pytest.raises(InputError, match=message):
            draw_simplex(samples)


class TestDensity:
    @pytest.mark.parametrize("better", ["max", "min"])
    @pytest.mark.parametrize("rope", [0.0, 0.01])
    def test_areas_are_the_probabilities(self, better, rope):
        found = correlated_t(A, B, test_fraction=0.1, rope=rope, better=better)
        held = pd.DataFrame(rows(draw_density(found, names=NAMES)))
        held = held.drop_duplicates(["region", "difference"])
        areas = {word: np.trapezoid(part["density"], part["difference"]) for word, part in held.groupby("region")}
        assert len(areas) == (3 if rope else 2)
        for word, chance in (("tree better", found.p_first), ("bayes better", found.p_second)):
            assert areas[f"{word}: {chance:.3f}"] == pytest.approx(chance, abs=0.002)
        if rope:
            assert areas[f"practically equivalent: {found.p_rope:.3f}"] == pytest.approx(found.p_rope, abs=0.002)

    def test_areas_are_not_stacked(self):
        chart = draw_density(correlated_t(A, B, test_fraction=0.1, rope=0.01)).to_dict()
        assert chart["layer"][0]["encoding"]["y"]["stack"] is None

    def test_something_else_is_refused(self):
        with pytest.raises(InputError, match="posterior must be a Posterior, got int"):
            draw_density(3)


# --- Label places ---
# Names beside points.


def test_areas_that_two_boxes_share():
    assert _compute_overlap((0, 0, 4, 3), (2, 1, 9, 9)) == 4
    assert _compute_overlap((0, 0, 4, 3), (4, 0, 9, 9)) == 0
    assert _compute_overlap((0, 0, 1, 1), (5, 5, 6, 6)) == 0


@pytest.mark.parametrize("x", [3.0, 417.0])
def test_a_name_stays_in_the_picture(x):
    [corner] = choose_corners([(x, 200.0)], ["forest"], 420)
    left, _, right, _ = _compute_label_box((x, 200.0), "forest", corner)
    assert left >= 0
    assert right <= 420


def test_names_of_near_points_do_not_lie_on_each_other():
    points, names = [(200.0, 200.0), (206.0, 212.0), (212.0, 196.0)], ["Boost", "Bagg", "Ripp"]
    boxes = [
        _compute_label_box(at, name, corner)
        for at, name, corner in zip(points, names, choose_corners(points, names, 420), strict=True)
    ]
    assert sum(_compute_overlap(boxes[i], boxes[j]) for i in range(3) for j in range(i)) == 0


def test_chosen_corners_hide_less_than_one_corner_for_all():
    rng = np.random.default_rng(1)
    points = [tuple(each) for each in rng.uniform(150, 270, size=(9, 2)).tolist()]
    names = [f"learner {place}" for place in range(9)]

    def hidden(corners):
        boxes = [_compute_label_box(at, name, corner) for at, name, corner in zip(points, names, corners, strict=True)]
        return sum(_compute_overlap(boxes[i], boxes[j]) for i in range(9) for j in range(i))

    assert hidden(choose_corners(points, names, 420)) < min(hidden([corner] * 9) for corner in CORNERS)


def test_more_learners_than_colours_differ_in_shape():
    names = [f"learner {i}" for i in range(12)]
    chart = comparison.draw_dataset_scores(pd.DataFrame([np.linspace(0.5, 0.9, 12)], columns=names, index=["iris"])).to_dict()
    points = next(layer for layer in chart["layer"] if "shape" in layer["encoding"])["encoding"]
    looks = list(zip(points["color"]["scale"]["range"], points["shape"]["scale"]["range"], strict=True))
    assert len(set(looks)) == len(names)
    assert points["shape"]["scale"]["domain"] == names
