"""Net benefit and decision curves: R dcurves, hand computation, limits, bad input."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairtrial import measures
from fairtrial.errors import InputError
from fairtrial.measures import decision_curve, decision_differences, evaluate, interval, net_benefit

ORACLE = Path(__file__).parents[1] / "oracles" / "probabilities.csv"

# dcurves 0.5.0 (R): dca(y ~ p, data, thresholds = ...)$dca
DCURVES = {
    0.01: (0.1773198653199, 0.1771043771044),
    0.05: (0.1498245614035, 0.1424561403509),
    0.10: (0.1160000000000, 0.0948148148148),
    0.15: (0.0976470588235, 0.0415686274510),
    0.20: (0.0756666666667, -0.0183333333333),
    0.35: (0.0541538461538, -0.2533333333333),
    0.50: (0.0146666666667, -0.6293333333333),
}


@pytest.fixture(scope="module")
def simulated():
    frame = pd.read_csv(ORACLE, comment="#")
    return frame["y"].to_numpy(), frame["p"].to_numpy()


def draw(rng, n=300):
    p = rng.random(n).round(2)
    return (rng.random(n) < p).astype(int), p


def test_the_curve_equals_dcurves(simulated):
    curve = decision_curve(*simulated, list(DCURVES))
    np.testing.assert_allclose(curve[["net_benefit", "treat_all"]], list(DCURVES.values()), atol=1e-12)
    assert (curve["treat_none"] == 0).all()
    for threshold, (value, _) in DCURVES.items():
        assert net_benefit(*simulated, threshold=threshold) == pytest.approx(value, abs=1e-12)


def test_the_measure_equals_the_definition_with_weights():
    rng = np.random.default_rng(1)
    for _ in range(30):
        y, p = draw(rng, 40)
        w, t = rng.random(40), rng.uniform(0.05, 0.95)
        expected = np.sum(w * (p >= t) * np.where(y == 1, 1, -t / (1 - t))) / w.sum()
        assert net_benefit(y, p, threshold=t, sample_weight=w) == pytest.approx(expected)
        assert decision_curve(y, p, [t], sample_weight=w)["net_benefit"][0] == pytest.approx(expected)


def test_a_score_equal_to_the_threshold_is_treated():
    assert net_benefit([1, 0], [0.3, 0.1], threshold=0.3) == 0.5


def test_treating_all_rows_has_the_wilson_limits_of_the_proportion(simulated):
    y, _ = simulated
    curve = decision_curve(y, np.ones(len(y)), [0.2])
    limits = stats.binomtest(int(y.sum()), len(y)).proportion_ci(method="wilson")
    expected = [limit - (1 - limit) * 0.25 for limit in limits]
    np.testing.assert_allclose(curve[["low", "high"]].iloc[0], expected, rtol=1e-9)


def test_differences_are_those_of_the_curves_and_change_sign(simulated):
    y, p = simulated
    models = {"a": p, "b": np.sqrt(p)}
    curves = decision_curve(y, models).set_index(["model", "threshold"])["net_benefit"]
    lines = decision_differences(y, models)
    assert list(lines[["first", "second"]].drop_duplicates().itertuples(index=False, name=None)) == [
        ("a", "b"),
        ("a", "treat all"),
        ("a", "treat none"),
        ("b", "treat all"),
        ("b", "treat none"),
    ]
    pair = lines[lines["second"] == "b"]
    np.testing.assert_allclose(pair["difference"], (curves["a"] - curves["b"]).to_numpy(), atol=1e-12)
    swapped = decision_differences(y, {"b": np.sqrt(p), "a": p})
    swapped = swapped[swapped["second"] == "a"]
    np.testing.assert_allclose(swapped[["low", "high"]], -pair[["high", "low"]], atol=1e-12)
    none = lines[(lines["first"] == "a") & (lines["second"] == "treat none")]
    np.testing.assert_allclose(none["difference"], curves["a"], atol=1e-12)


def test_limits_of_many_rows_are_those_of_the_mean_of_contributions():
    rng = np.random.default_rng(2)
    y, p = draw(rng, 20_000)
    q = np.clip(p + rng.normal(0, 0.2, len(p)), 0, 1)
    t = 0.4
    contributions = [(score >= t) * np.where(y == 1, 1, -t / (1 - t)) for score in (p, q)]
    line = decision_differences(y, {"a": p, "b": q}, [t]).iloc[0]
    difference = contributions[0] - contributions[1]
    half = 1.959964 * difference.std(ddof=1) / np.sqrt(len(y))
    assert (line["high"] - line["low"]) / 2 == pytest.approx(half, rel=0.02)
    weights = rng.choice([0.5, 1, 3], len(y))
    weighted = decision_curve(y, p, [t], sample_weight=weights).iloc[0]
    mean = np.average(contributions[0], weights=weights)
    error = np.sqrt((weights**2 * (contributions[0] - mean) ** 2).sum()) / weights.sum()
    assert (weighted["high"] - weighted["low"]) / 2 == pytest.approx(1.959964 * error, rel=0.02)


def test_repeated_rows_do_not_narrow_the_limits_if_they_are_clusters():
    y, p = draw(np.random.default_rng(3))
    cluster = np.tile(np.arange(len(y)), 4)
    repeated = decision_curve(np.tile(y, 4), np.tile(p, 4), [0.3, 0.6], cluster=cluster)
    single = decision_curve(y, p, [0.3, 0.6])
    np.testing.assert_allclose(repeated[["low", "high"]], single[["low", "high"]], atol=0.01)
    pair = decision_differences(np.tile(y, 4), np.tile(p, 4), [0.3], cluster=cluster)
    np.testing.assert_allclose(pair[["low", "high"]], decision_differences(y, p, [0.3])[["low", "high"]], atol=0.01)
    with pytest.warns(match="one cluster"):
        assert np.isnan(interval("net_benefit", y, p, cluster=np.zeros(len(y))).low)


def test_evaluate_gives_the_limits_of_the_curve(simulated):
    y, p = simulated
    found = evaluate(y, y_score=p, measures=["net_benefit"])["net_benefit"]
    line = decision_curve(y, p, [0.5]).iloc[0]
    assert (found.estimate, found.low, found.high) == pytest.approx((line["net_benefit"], line["low"], line["high"]))
    assert interval("net_benefit", y, p, threshold=0.1).estimate == pytest.approx(DCURVES[0.1][0])


@pytest.mark.parametrize("threshold", [0, 1, -0.2, 1.5, np.nan])
def test_thresholds_lie_between_0_and_1(threshold):
    with pytest.raises(InputError, match=f"thresholds.*{threshold}"):
        decision_curve([0, 1], [0.2, 0.7], [0.5, threshold])
    with pytest.raises(InputError, match=f"threshold.*{threshold}"):
        net_benefit([0, 1], [0.2, 0.7], threshold=threshold)


def test_bad_input_is_refused():
    for function in (decision_curve, decision_differences, net_benefit):
        with pytest.raises(InputError, match=r"y_\w+ must .*3"):
            function([0, 1], [0.2, 3.0])
    with pytest.raises(InputError, match="at least 1 model"):
        decision_curve([0, 1], {})
    with pytest.raises(InputError, match="rename the model"):
        decision_differences([0, 1], {"treat all": [0.2, 0.7]})
    with pytest.raises(InputError, match="at least 1 number"):
        decision_curve([0, 1], [0.2, 0.7], [])


def test_one_class_has_a_net_benefit():
    curve = decision_curve([0, 0, 0], [0.2, 0.7, 0.9], [0.5], labels=[0, 1])
    assert curve["net_benefit"][0] == pytest.approx(-2 / 3)
    assert curve["low"][0] < -2 / 3 < curve["high"][0]
    assert measures.get_measure("net_benefit").facts.direction == "max"


def test_percentages_are_refused_with_the_remedy():
    y, p = [0, 1, 0, 1], np.array([0.2, 0.7, 0.4, 0.9])
    with pytest.raises(InputError, match=r"thresholds must lie between 0 and 1, got 5: pass 0\.05 for 5 %"):
        decision_curve(y, p, [5, 10, 20])
    with pytest.raises(InputError, match=r"between 0 and 1, got 20 at row 0: divide percentages by 100"):
        net_benefit(y, 100 * p, threshold=0.1)
    with pytest.raises(InputError, match=r"threshold must lie between 0 and 1, got 1\.0: 1 itself is not allowed"):
        net_benefit(y, p, threshold=1.0)
