"""Measures of probabilities: published values, WEKA, scikit-learn, references, and degenerate probabilities."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from sklearn import metrics

from fairtrial import measures
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures.measure import OutcomeMeasure
from fairtrial.measures.probability import assign_bins
from tests.reference import cases, probability as reference

CASES = 1000
FIVE = [1, 0, 1, 0, 1], [0.95, 0.6, 0.8, 0.75, 0.9]


def test_the_tutorials_five_cases():
    assert measures.rmse(*FIVE) == pytest.approx(0.4416, abs=5e-5)
    assert measures.brier(*FIVE) == pytest.approx(0.195)
    assert measures.information_score(*FIVE) == pytest.approx(0.2682, abs=5e-5)
    assert measures.information_score(*FIVE, kind="total") == pytest.approx(5 * 0.2682, abs=3e-4)


@pytest.mark.parametrize(("case", "bits"), [(0, 0.663), (1, 0.0), (2, 0.415), (3, -0.322), (4, 0.585)])
def test_information_of_each_of_the_five_cases(case, bits):
    """The tutorial prints +.32 for the fourth; Kononenko and Bratko subtract what misleads (ERRATA)."""
    y, p = FIVE
    alone = measures.information_score([y[case]], [p[case]], labels=[0, 1], prior=[0.4, 0.6])
    assert alone == pytest.approx(bits, abs=5e-4)


@pytest.fixture(scope="module")
def labour():
    """WEKA's J48 on labour: truth, probabilities, and WEKA's prior for each row, (1 + count) / (classes + rows)."""
    frame = pd.read_csv(Path(__file__).with_name("weka_labor_j48.csv"), comment="#")
    counts = frame[["train_bad", "train_good"]].to_numpy()
    return frame["truth"], frame[["p_bad", "p_good"]].to_numpy(), (1 + counts) / (2 + counts.sum(axis=1, keepdims=True))


def test_weka_prints_these_information_scores_for_labour(labour):
    y, p, prior = labour
    total = measures.information_score(y, p, kind="total", prior=prior)
    assert total == pytest.approx(16.5588, abs=5e-5)
    assert measures.information_score(y, p, prior=prior) == pytest.approx(0.2905, abs=5e-5)
    # WEKA divides by the entropy of the last fold's prior alone.
    last = prior[-1]
    assert 100 * total / -(last * np.log2(last)).sum() == pytest.approx(1769.6451, abs=5e-5)


def test_relative_information_divides_by_the_mean_entropy_of_the_priors(labour):
    y, p, prior = labour
    entropy = -(prior * np.log2(prior)).sum(axis=1).mean()
    total = measures.information_score(y, p, kind="total", prior=prior)
    assert measures.information_score(y, p, kind="relative", prior=prior) == pytest.approx(100 * total / entropy)


def test_weka_prints_these_errors_for_labour(labour):
    y, p, _ = labour
    assert measures.rmse(y, p) == pytest.approx(0.4669, abs=5e-5)
    assert measures.mae(y, p) == pytest.approx(0.3192, abs=5e-5)


def test_weka_prints_these_other_figures_for_labour(labour):
    y, p, _ = labour
    said = np.where(p[:, 0] >= p[:, 1], "bad", "good")
    assert measures.Confusion.from_labels(y, said).table.tolist() == [[14, 6], [9, 28]]
    assert measures.kappa(y, said) == pytest.approx(0.4415, abs=5e-5)
    np.testing.assert_allclose(measures.auc(y, p, average=None), [0.695, 0.695], atol=5e-4)
    assert measures.auc(y, p, average="weighted") == pytest.approx(0.695, abs=5e-4)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(measures.brier, metrics.brier_score_loss), (measures.log_loss, metrics.log_loss)],
    ids=["brier", "log"],
)
def test_equals_scikit_learn(ours, theirs):
    for seed in range(CASES):
        rng = np.random.default_rng(seed)
        k = 2 + seed % 3
        y, p = cases.probabilities(rng, k)
        w = cases.weights(rng, len(y), kept=k)
        assert ours(y, p, sample_weight=w) == pytest.approx(theirs(y, p, sample_weight=w), abs=1e-12)


@pytest.mark.filterwarnings("ignore::fairtrial.errors.UndefinedMeasureWarning")
@pytest.mark.parametrize("name", reference.ALL)
@given(rows=cases.forecast_rows())
@settings(max_examples=80, deadline=None)
def test_equals_the_reference(name, rows):
    y, p, w = rows
    found = measures.get_measure(name)(y, p, sample_weight=w, labels=range(p.shape[1]))
    np.testing.assert_allclose(found, reference.ALL[name](y.tolist(), p.tolist(), w.tolist()), rtol=1e-9, atol=1e-12)


def test_every_measure_of_probabilities_has_a_reference_implementation():
    of_probabilities = [each for each in measures.registry.values() if each.facts.needs == "probabilities"]
    # Measures of one class and its outcomes: see test_calibration.py and test_net_benefit.py.
    assert {each.name for each in of_probabilities if not isinstance(each, OutcomeMeasure)} == set(reference.ALL)


def test_one_column_and_two_columns_mean_the_same():
    y, p = cases.probabilities(np.random.default_rng(0), 2)
    for name in reference.ALL:
        measure = measures.get_measure(name)
        assert measure(y, p) == pytest.approx(measure(y, np.c_[1 - p, p]))
        assert measure(y, 1 - p, positive=0) == pytest.approx(measure(y, np.c_[1 - p, p], positive=0))


# ---- log loss


def test_an_impossible_truth_costs_infinitely_much_unless_clipped():
    assert measures.log_loss([0, 1], [0.0, 0.0]) == math.inf
    assert measures.log_loss([0, 1], [0.0, 0.0], clip=0.01) == pytest.approx((-math.log(0.99) - math.log(0.01)) / 2)
    assert measures.log_loss([0, 1], [0.0, 0.0], sample_weight=[1, 0]) == 0.0


@pytest.mark.parametrize("clip", [-0.1, 0.5, math.nan])
def test_clip_lies_between_zero_and_one_half(clip):
    with pytest.raises(InputError, match=f"clip.*{clip}"):
        measures.log_loss([0, 1], [0.1, 0.9], clip=clip)


# ---- information score


@pytest.mark.parametrize("kind", ["mean", "total", "relative"])
@pytest.mark.parametrize(
    ("y", "p", "weights"), [([1, 1], [0.7, 0.9], None), ([1, 1], [1.0, 1.0], None), ([0, 1, 1], [0.2, 0.7, 0.9], [0, 0.1, 0.2])]
)
def test_where_one_class_holds_all_cases_there_is_nothing_to_learn(kind, y, p, weights):
    with pytest.warns(UndefinedMeasureWarning, match="information_score"):
        assert math.isnan(measures.information_score(y, p, kind=kind, sample_weight=weights))


def test_the_prior_itself_tells_nothing():
    y = [0, 0, 0, 1]
    assert measures.information_score(y, [0.25] * 4) == pytest.approx(0, abs=1e-15)
    assert measures.information_score(y, [0.0, 0.0, 1.0, 0.0], prior=[1, 0], labels=[0, 1], sample_weight=[1, 1, 0, 1]) == 0.0


def test_the_total_grows_with_the_weights_and_the_mean_does_not():
    w = np.array([1, 2, 0.5, 1, 3])
    total, tripled = (measures.information_score(*FIVE, kind="total", sample_weight=c * w) for c in (1, 3))
    assert tripled == pytest.approx(3 * total)
    assert measures.information_score(*FIVE, sample_weight=3 * w) == pytest.approx(total / w.sum())


def test_a_certain_prior_is_infinitely_misled():
    assert measures.information_score([0, 0], [0.5, 0.5], prior=[1.0, 0.0], labels=[0, 1]) == -math.inf
    assert measures.information_score([1, 1], [0.5, 0.5], prior=[1.0, 0.0], labels=[0, 1]) == math.inf


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([0.2, 0.3, 0.5], r"prior.*\(3,\)"),
        ([0.5, 0.6], "prior.*1.1.*0"),
        ([-0.5, 1.5], "prior.*-0.5"),
    ],
)
def test_a_prior_that_is_none_is_refused(prior, message):
    with pytest.raises(InputError, match=message):
        measures.information_score(*FIVE, prior=prior)


def test_an_unknown_kind_is_refused():
    with pytest.raises(InputError, match=r"kind.*'totl'.*'total'"):
        measures.information_score(*FIVE, kind="totl")


# ---- calibration


def test_a_forecast_equal_to_the_share_in_each_bin_is_calibrated():
    y = [0, 0, 0, 1] * 5 + [1, 1, 1, 0] * 5
    p = [0.25] * 20 + [0.75] * 20
    for norm in ("l1", "l2", "max"):
        for strategy in ("uniform", "quantile"):
            assert measures.calibration_error(y, p, norm=norm, strategy=strategy) == pytest.approx(0, abs=1e-15)


def test_norms_weigh_the_gaps_of_the_bins():
    y, p = [0, 0, 0, 1], [0.1, 0.1, 0.1, 0.6]
    assert measures.calibration_error(y, p) == pytest.approx((3 * 0.1 + 0.4) / 4)
    assert measures.calibration_error(y, p, norm="l2") == pytest.approx(math.sqrt((3 * 0.1**2 + 0.4**2) / 4))
    assert measures.calibration_error(y, p, norm="max") == pytest.approx(0.4)


def test_one_bin_compares_the_mean_forecast_with_the_share():
    y, p = cases.probabilities(np.random.default_rng(2), 2, 50)
    for strategy in ("uniform", "quantile"):
        assert measures.calibration_error(y, p, bins=1, strategy=strategy) == pytest.approx(abs(p.mean() - y.mean()))


def test_quantile_bins_hold_equally_many_rows():
    p = np.linspace(0.01, 0.2, 20)
    y = np.tile([0, 1], 10)
    halves = [abs(p[rows].mean() - 0.5) for rows in (slice(0, 10), slice(10, 20))]
    assert measures.calibration_error(y, p, bins=2, strategy="quantile") == pytest.approx(np.mean(halves))


@pytest.mark.parametrize("bins", [3, 10, 15, 100])
def test_a_forecast_on_an_edge_belongs_to_the_bin_below(bins):
    """0.07 * 100 is 7.000000000000001 in floating point, and must not leave the seventh bin."""
    assert assign_bins(np.arange(1, bins + 1) / bins, bins, "uniform", None).tolist() == list(range(bins))
    assert assign_bins(np.array([0.0]), bins, "uniform", None).tolist() == [0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bins": 0}, "bins.*0"),
        ({"bins": 2.5}, "bins.*2.5"),
        ({"strategy": "even"}, "strategy"),
        ({"norm": "l3"}, "norm"),
    ],
)
def test_calibration_options_are_checked(options, message):
    with pytest.raises(InputError, match=message):
        measures.calibration_error(*FIVE, **options)
