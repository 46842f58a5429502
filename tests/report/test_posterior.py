import numpy as np
import pandas as pd
import pytest
import vl_convert
from hypothesis import given, strategies as st

from fairtrial.errors import InputError
from fairtrial.report.figures.posterior import count_in_hexagons, draw_density, draw_simplex
from fairtrial.significance.bayes import bayes_signed_rank, correlated_t

A = [0.84, 0.91, 0.77, 0.88, 0.69, 0.95, 0.80, 0.71]
B = [0.81, 0.86, 0.78, 0.83, 0.65, 0.93, 0.82, 0.70]
NAMES = ("tree", "bayes")


def svg(chart):
    return vl_convert.vegalite_to_svg(chart.to_dict())


def rows(chart):
    return [row for dataset in chart.to_dict()["datasets"].values() for row in dataset]


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
