import numpy as np
import pandas as pd
import pytest

from fairtrial.reproduce.reproduction import Request
from fairtrial.reproduce.tutorial.resampling import _stratified_claim, resampling


@pytest.fixture(scope="module")
def found(labour, tmp_path_factory):
    return resampling(labour, Request("smoke", tmp_path_factory.mktemp("resampling")))


def test_e632_is_the_tutorials_formula(found):
    by = found.table("resampling_errors").set_index("scheme")[["C4.5", "NB", "1NN"]]
    expected = 0.632 * by.loc["bootstrap E0"] + 0.368 * by.loc["resubstitution"]
    np.testing.assert_allclose(by.loc["e632 (as in the tutorial)"], expected)
    assert by.loc["resubstitution", "1NN"] == 0


def test_shares_are_about_those_of_the_data(found):
    shares = found.table("resampling_shares").set_index("scheme")
    assert shares.loc["2-fold, stratified", ["least in test", "most in test"]].tolist() == pytest.approx(
        [20 / 57] * 2, abs=0.02
    )
    assert shares["splits"].tolist() == [2, 2, 10]


def test_picture_has_every_variant(found):
    (chart,) = found.figures.values()
    assert len(chart.to_dict()["vconcat"]) == 5


def test_two_folds_do_not_judge_stratification(found):
    assert found.claims[0].holds is None
    shares = pd.DataFrame({"least in test": [0.1, 0.3], "most in test": [0.6, 0.4]})
    assert _stratified_claim(shares, 10).holds is True
    assert _stratified_claim(shares[::-1], 10).holds is False
    assert _stratified_claim(shares, 2).holds is None
