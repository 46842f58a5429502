"""Confidence bands of ROC curves."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, kstwo, norm

from fairtrial.errors import InputError
from fairtrial.measures import roc_curve
from fairtrial.report.figures.curves import compute_roc_band, draw_roc, with_band


def drawn(rng, positives, negatives, ties=False):
    scores = np.concatenate([rng.normal(size=negatives), rng.normal(1, size=positives)])
    return roc_curve(np.repeat([0, 1], [negatives, positives]), np.round(scores) if ties else scores)


def brute(curve, x, far_x, far_y):
    """The highest and lowest point of the curve within far_x, found on a fine line along it."""
    steps = np.linspace(0, len(curve) - 1, 20_001)
    fpr, tpr = (np.interp(steps, np.arange(len(curve)), curve[name]) for name in ("fpr", "tpr"))
    near = np.abs(fpr - x) <= far_x + 1e-9
    return max(tpr[near].min() - far_y, 0) if x >= far_x else 0.0, min(tpr[near].max() + far_y, 1) if x <= 1 - far_x else 1.0


@pytest.mark.parametrize("ties", [False, True])
def test_the_band_of_the_curve_is_that_of_all_points_within_kolmogorovs_distance(ties):
    curve = drawn(np.random.default_rng(1), 40, 30, ties)
    far_y, far_x = (kstwo.ppf(np.sqrt(0.9), n) for n in (40, 30))
    band = compute_roc_band(curve, 40, 30, level=0.9)
    for x in np.linspace(0.013, 0.987, 40):
        low, high = brute(curve, x, far_x, far_y)
        after, before = (band[band["fpr"] >= x].iloc[0], band[band["fpr"] <= x].iloc[-1])
        share = (x - before["fpr"]) / ((after["fpr"] - before["fpr"]) or 1)
        assert before["low"] + share * (after["low"] - before["low"]) == pytest.approx(low, abs=2e-3)
        assert before["high"] + share * (after["high"] - before["high"]) == pytest.approx(high, abs=2e-3)


def test_kolmogorovs_distance_is_the_one_of_the_tables():
    # 0.40925 for 10 cases at 5 % (Massey 1951: 0.409); both classes at 5 % make a band of 0.95 squared
    band = compute_roc_band(pd.DataFrame({"fpr": [0, 1], "tpr": [0, 1]}), 10, 10, level=0.9025)
    assert band["high"].iloc[0] == pytest.approx(2 * 0.40925, abs=1e-4)


def test_the_whole_true_curve_lies_within_as_often_as_promised():
    rng, inside, times = np.random.default_rng(5), 0, 100
    x = np.linspace(0.001, 0.999, 200)
    true = norm.sf(norm.isf(x) - 1)
    for _ in range(times):
        band = compute_roc_band(drawn(rng, 25, 35), 25, 35, level=0.8)
        low, high = (np.interp(x, band["fpr"], band[name]) for name in ("low", "high"))
        inside += bool(((low <= true + 1e-9) & (true <= high + 1e-9)).all())
    assert inside / times >= 0.8 - 3 * np.sqrt(0.8 * 0.2 / times)


def test_the_band_of_points_joins_wilsons_limits():
    curve = drawn(np.random.default_rng(2), 20, 20)
    band = compute_roc_band(curve, 20, 20, kind="points")
    for fpr, tpr in curve.groupby("fpr")["tpr"].max().items():
        (left, _), (_, top) = (
            binomtest(round(20 * each), 20).proportion_ci(np.sqrt(0.95), method="wilson") for each in (fpr, tpr)
        )
        left = max(left, 0.0)
        assert np.isclose(band.loc[np.isclose(band["fpr"], left), "high"], top).any()


@pytest.mark.parametrize("of", ["curve", "points"])
def test_the_band_holds_the_curve_and_rises(of):
    curve = drawn(np.random.default_rng(3), 15, 50, ties=True)
    band = compute_roc_band(curve, 15, 50, kind=of)
    assert (band["low"].diff().dropna() >= 0).all()
    assert (band["high"].diff().dropna() >= 0).all()
    assert band["fpr"].iloc[[0, -1]].tolist() == [0, 1]
    low, high = (np.interp(curve["fpr"], band["fpr"], band[name]) for name in ("low", "high"))
    assert ((low <= curve["tpr"] + 1e-9) & (curve["tpr"] <= high + 1e-9)).all()


def test_more_cases_make_a_narrower_band():
    curve = drawn(np.random.default_rng(4), 20, 20)
    widths = [(band["high"] - band["low"]).mean() for band in (compute_roc_band(curve, n, n) for n in (20, 200, 2000))]
    assert widths[0] > widths[1] > widths[2]


@pytest.mark.parametrize(("options", "words"), [({"level": 2}, "level"), ({"kind": "rows"}, "kind must be one of")])
def test_wrong_options_are_refused(options, words):
    curve = pd.DataFrame({"fpr": [0.0, 1.0], "tpr": [0.0, 1.0]})
    with pytest.raises(InputError, match=words):
        compute_roc_band(curve, 5, 5, **options)


def test_the_chart_says_whose_band_it_is():
    curves = {"a": drawn(np.random.default_rng(6), 9, 9), "b": drawn(np.random.default_rng(7), 9, 9)}
    plain = draw_roc(curves)
    chart = with_band(plain, {"b": compute_roc_band(curves["b"], 9, 9)}, curves, level=0.9).to_dict()
    assert chart["title"]["subtitle"][-1] == "Shaded: 90 % simultaneous band of b"
    assert len(plain.to_dict()["layer"]) + 1 == len(chart["layer"])
    # An order would make an area of each row, which nobody sees.
    assert "order" not in chart["layer"][0]["encoding"]
