import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import vl_convert

from fairtrial.errors import InputError
from fairtrial.report.figures import comparison
from fairtrial.significance.strength import bradley_terry


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
            (pd.DataFrame({"a": [0.9, 0.8], "b": [0.7, 0.6]}), "ranks must be numbers from 1 to the number of learners, 2"),
            (pd.DataFrame({"a": [1.0]}), "ranks must have at least 2 learners"),
            (pd.DataFrame({"a": ["x"], "b": ["y"]}), "ranks must be numbers"),
            (pd.DataFrame({"a": [np.nan], "b": [1.0]}), "ranks must be numbers"),
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
        assert (first["difference"], first["p"], first["record"]) == ("+0.200", "p < 0.0001", "9 / 0 / 1")
        assert first["net"] == pytest.approx(0.8)
        assert cells["tree", "bayes"]["record"] == "7 / 1 / 2"

    def test_p_values_near_alpha_are_not_rounded_to_it(self):
        assert self.cells()["bayes", "rule"]["p"] == "p = 0.0501"

    @pytest.mark.parametrize(
        ("p", "alpha", "text"),
        [
            (0.05003, 0.05, "p = 0.05003"),
            (0.04998, 0.05, "p = 0.04998"),
            (0.05, 0.05, "p = 0.0500"),
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
        with pytest.raises(InputError, match="order must name every learner of the pairs, got none for 'tree'"):
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
        for given in (found, found.frame()):
            held = pd.DataFrame([row for row in rows(comparison.draw_strengths(given)) if "learner" in row])
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
