"""Measures of scores: published values, scikit-learn, the hmeasure package, references, and degenerate rankings."""

import math

import hmeasure
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.special import expit
from sklearn import metrics

from fairtrial import measures
from fairtrial.errors import InputError, UndefinedMeasureWarning
from tests.reference import cases, ranking as reference

CASES = 1000
TEN = [0, 0, 1, 0, 0, 1, 1, 0, 1, 1], [0, 0.1, 0.2, 0.3, 0.3, 0.5, 0.6, 0.8, 0.8, 0.9]
HAND = [0] * 6 + [1] * 4, [0.1, 0.2, 0.3, 0.35, 0.6, 0.7, 0.4, 0.65, 0.8, 0.9]
FIVE_AND_FIVE = [1] * 5 + [0] * 5


@pytest.mark.parametrize(
    ("measure", "expected", "digits"),
    [
        (measures.auc, 0.78, 10),
        (measures.auch, 0.86, 10),
        (measures.ks, 0.6, 10),
        (measures.h_measure, 0.45425926, 8),
        (measures.sauc, 0.352, 10),
    ],
)
def test_the_row_of_reference_section_6(measure, expected, digits):
    assert measure(*TEN) == pytest.approx(expected, abs=0.5 * 10**-digits)


@pytest.mark.parametrize(
    ("measure", "params", "expected", "digits"),
    [
        (measures.h_measure, {}, 0.5915901308, 10),
        (measures.h_measure, {"severity_ratio": 1}, 0.5799731183, 10),
        (measures.auc, {}, 0.875, 10),
        (measures.auch, {}, 0.9166667, 7),
        (measures.ks, {}, 0.6666667, 7),
        (measures.mer, {}, 0.2, 10),
        (measures.mwl, {}, 0.16, 10),
    ],
)
def test_r_hmeasure_gives_these_figures(measure, params, expected, digits):
    assert measure(*HAND, **params) == pytest.approx(expected, abs=0.5 * 10**-digits)


def test_berrars_figure_2():
    """The only ranking of 5 + 5 cases with TPR 4/5 and FPR 1/5 at t6, its one maximum there, and taKS 1/3."""
    y = [1, 1, 0, 1, 1, 0, 0, 1, 0, 0]
    s = np.arange(10, 0, -1)
    assert measures.ks(y, s) == pytest.approx(3 / 5)
    assert measures.taks(y, s) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("scores", "taks", "abc"),
    [
        pytest.param([1.0] * 5 + [0.0] * 5, 1.0, 0.5, id="3a: optimal, 3 thresholds"),
        pytest.param(np.arange(10, 0, -1), 0.556, 0.5, id="3b: perfect ranking, 11 thresholds"),
        pytest.param([9, 9, 8, 7, 6, 5, 4, 3, 2, 1], 0.600, 0.533, id="3c: perfect ranking, 10 thresholds"),
        pytest.param([0.0] * 5 + [1.0] * 5, -1.0, -0.5, id="3g: the anti-model"),
    ],
)
def test_berrars_figure_3(scores, taks, abc):
    assert measures.taks(FIVE_AND_FIVE, scores) == pytest.approx(taks, abs=5e-4)
    assert measures.abc(FIVE_AND_FIVE, scores) == pytest.approx(abc, abs=5e-4)


def test_berrars_figure_1_does_not_tell_the_optimal_model_from_a_careful_one():
    y = [1, 1, 0, 0]
    assert measures.taks(y, [1, 1, 0, 0]) == measures.taks(y, [0.7, 0.7, 0.4, 0.4]) == 1.0
    assert measures.auc(y, [0.9, 0.8, 0.3, 0.2]) == measures.auc(y, [1, 1, 0, 0]) == 1.0
    assert measures.taks(y, [0.9, 0.8, 0.3, 0.2]) < 1


@pytest.mark.parametrize("weights", [None, np.linspace(0.1, 1, 10)])
@pytest.mark.parametrize("measure", [measures.taks, measures.abc], ids=lambda each: each.name)
def test_berrars_figure_3h_equal_scores_leave_taks_undefined(measure, weights):
    with pytest.warns(UndefinedMeasureWarning, match="taks|abc"):
        assert math.isnan(measure(FIVE_AND_FIVE, [0.5] * 10, sample_weight=weights))


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (measures.auc, 0.5),
        (measures.gini, 0.0),
        (measures.auch, 0.5),
        (measures.sauc, 0.0),
        (measures.soft_auc, 0.5),
        (measures.kappa_curve_area, 0.0),
        (measures.ks, 0.0),
        (measures.h_measure, 0.0),
        (measures.lift, 1.0),
        (measures.average_precision, 0.5),
        (measures.mer, 0.5),
        (measures.partial_auc, 0.005),
    ],
)
def test_equal_scores_have_the_value_of_no_knowledge(measure, expected):
    assert measure(FIVE_AND_FIVE, [0.3] * 10) == pytest.approx(expected, abs=1e-12)


def test_nothing_is_turned_round():
    y, s = FIVE_AND_FIVE, np.arange(10)
    assert measures.auc(y, s) == 0.0
    assert measures.gini(y, s) == -1.0
    assert measures.auch(y, s) == 0.5
    assert measures.h_measure(y, s) == pytest.approx(0, abs=1e-12)
    assert measures.h_measure(y, s, severity_ratio=1) == pytest.approx(0, abs=1e-12)
    assert measures.taks(y, [0] * 5 + [1] * 5) == -1.0
    assert measures.ks(y, s, signed=True) == 0.0
    assert measures.ks(y, s) == 1.0
    assert measures.sauc(y, s) == 0.0
    assert measures.soft_auc(y, s) == pytest.approx(1 - measures.soft_auc(1 - np.array(y), s))
    assert measures.kappa_curve_area(y, s) == pytest.approx(-0.5)
    assert measures.auc([0, 0, 1, 1], [0.1, 0.9, 0.2, 0.3]) == 0.5


TWINS = {
    "auc": reference.auc,
    "gini": lambda *rows: 2 * reference.auc(*rows) - 1,
    "partial_auc": lambda *rows: reference.partial_auc(*rows, max_fpr=0.1),
    "auch": reference.auch,
    "sauc": reference.sauc,
    "soft_auc": lambda *rows: reference.soft_auc(*rows, beta=10),
    "kappa_curve_area": reference.kappa_curve_area,
    "h_measure": reference.h_measure,
    "ks": lambda *rows: reference.ks(*rows, signed=False),
    "taks": reference.taks,
    "abc": reference.abc,
    "average_precision": reference.average_precision,
    "lift": lambda *rows: reference.lift(*rows, fraction=0.1),
    "mer": lambda *rows: 2 * reference.least_loss(*rows, cost=0.5),
    "mwl": lambda y, s, w: 2 * reference.least_loss(y, s, w, cost=w[y].sum() / w.sum()),
}


def test_every_measure_of_a_tally_has_a_reference_implementation():
    of_tallies = [
        each
        for each in measures.registry.values()
        if each.facts.needs == "scores" and each not in (measures.hand_till, measures.top_k_accuracy)
    ]
    assert {each.name for each in of_tallies} == set(TWINS)


@pytest.mark.filterwarnings("ignore::fairtrial.errors.UndefinedMeasureWarning")
@pytest.mark.parametrize("name", TWINS)
@given(rows=cases.scored_rows(max_rows=12))
@settings(max_examples=40, deadline=None)
def test_equals_the_reference(name, rows):
    y, s, w = rows
    found = measures.get_measure(name)(y, s, sample_weight=w)
    np.testing.assert_allclose(found, TWINS[name](y, s, w), rtol=1e-7, atol=1e-9)


def in_all_forms(seed):
    """y, scores for scikit-learn, weights, and the options that mean the same to both."""
    rng = np.random.default_rng(seed)
    k = 2 + seed % 3
    y, s = cases.scores(rng, k)
    average = "macro" if k == 2 else ["macro", "weighted"][seed // 3 % 2]
    return y, s, cases.weights(rng, len(y), kept=k), k, average


def test_auc_equals_scikit_learn_one_versus_rest():
    for seed in range(CASES):
        y, s, w, k, average = in_all_forms(seed)
        options = {} if k == 2 else {"average": average}
        expected = metrics.roc_auc_score(y, s, sample_weight=w, multi_class="ovr", average=average)
        assert measures.auc(y, s, sample_weight=w, **options) == pytest.approx(expected, abs=1e-12)


def test_average_precision_equals_scikit_learn():
    for seed in range(CASES):
        y, s, w, k, average = in_all_forms(seed)
        options = {} if k == 2 else {"average": average}
        expected = metrics.average_precision_score(y, s, sample_weight=w, average=average)
        assert measures.average_precision(y, s, sample_weight=w, **options) == pytest.approx(expected, abs=1e-12)


def test_partial_auc_equals_scikit_learn_in_mcclishs_form():
    for seed in range(CASES):
        rng = np.random.default_rng(seed)
        y, s = cases.scores(rng, 2)
        w, max_fpr = cases.weights(rng, len(y), kept=2), float(rng.uniform(0.01, 0.99))
        expected = metrics.roc_auc_score(y, s, sample_weight=w, max_fpr=max_fpr)
        found = measures.partial_auc(y, s, sample_weight=w, max_fpr=max_fpr, standardized=True)
        assert found == pytest.approx(expected, abs=1e-12)


def test_partial_auc_up_to_one_is_auc():
    for seed in range(50):
        y, s = cases.scores(np.random.default_rng(seed), 2)
        assert measures.partial_auc(y, s, max_fpr=1) == pytest.approx(metrics.roc_auc_score(y, s))


def test_ks_equals_scipys_two_sample_statistic():
    from scipy.stats import ks_2samp

    for seed in range(100):
        y, s = cases.scores(np.random.default_rng(seed), 2)
        assert measures.ks(y, s) == pytest.approx(ks_2samp(s[y == 1], s[y == 0], method="asymp").statistic, abs=1e-12)


@pytest.mark.parametrize("severity_ratio", [None, 1.0, 0.25])
def test_h_equals_the_hmeasure_package(severity_ratio):
    compared = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y, s = cases.scores(rng, 2, 60)
        expected = hmeasure.h_score(y, s / 2, severity_ratio=severity_ratio, pos_label=1)
        if measures.auc(y, s) > 0.5:  # hmeasure turns the others round
            compared += 1
            assert measures.h_measure(y, s, severity_ratio=severity_ratio) == pytest.approx(expected, abs=1e-8)
    assert compared > 20


def test_long_columns_take_the_radix_sort_to_the_same_value():
    rng = np.random.default_rng(0)
    y = rng.random(60_000) < 0.4
    s = rng.normal(size=60_000) + y
    assert measures.auc(y, s) == pytest.approx(metrics.roc_auc_score(y, s), abs=1e-12)


@pytest.mark.parametrize("beta", [0.01, 1.0, 30.0, 1e4])
def test_soft_auc_equals_the_mean_of_the_sigmoid_over_all_pairs(beta):
    rng = np.random.default_rng(3)
    y = rng.random(400) < 0.3
    s = rng.normal(size=400).round(1) * rng.choice([1e-3, 1, 100], 400) + y
    expected = expit(beta * (s[y][:, None] - s[~y])).mean()
    assert measures.soft_auc(y, s, beta=beta) == pytest.approx(expected, abs=1e-13)


def test_soft_auc_lies_between_one_half_and_the_auc():
    auc = measures.auc(*TEN)
    values = [measures.soft_auc(*TEN, beta=beta) for beta in (1e-9, 1, 10, 1e9)]
    assert values == sorted(values)
    assert values[0] == pytest.approx(0.5, abs=1e-9)
    assert values[-1] == pytest.approx(auc, abs=1e-12)


def test_soft_auc_of_scores_at_the_ends_of_the_range_of_floats():
    assert measures.soft_auc([0, 1], [-1.7e308, 1.7e308]) == 1.0
    assert measures.soft_auc([1, 0], [-1.7e308, 1.7e308]) == 0.0


def test_auk_of_balanced_classes_is_auc_minus_one_half():
    assert measures.kappa_curve_area(*TEN) == pytest.approx(measures.auc(*TEN) - 0.5, abs=1e-12)


@pytest.mark.parametrize("prevalence", [0.01, 0.25, 0.4999, 0.75, 0.99])
def test_auk_of_a_perfect_ranking_follows_from_its_integral(prevalence):
    """TPR is 1, so kappa is 2 c (1 - c) (1 - f) / (a + b f), with a = 2 c (1 - c) and b = (1 - c) (1 - 2 c)."""
    c = prevalence
    a, b = 2 * c * (1 - c), (1 - c) * (1 - 2 * c)
    expected = a * ((a + b) * math.log1p(b / a) - b) / b**2
    y = np.r_[np.ones(round(10_000 * c)), np.zeros(round(10_000 * (1 - c)))]
    assert measures.kappa_curve_area(y, y) == pytest.approx(expected, rel=1e-6)
    assert measures.kappa_curve_area(y, np.arange(len(y), 0, -1)) == pytest.approx(expected, rel=1e-6)


def test_kappa_at_each_threshold_lies_on_the_curve_that_auk_integrates():
    """A fine grid of ROC points leaves no room between the rule of trapezoids and the integral."""
    rng = np.random.default_rng(5)
    y = rng.random(20_000) < 0.1
    s = rng.normal(size=20_000) + 1.5 * y
    order = np.argsort(-s)
    tp, fp = np.cumsum(y[order]), np.cumsum(~y[order])
    thresholds = range(0, len(y), 100)
    kappas = [metrics.cohen_kappa_score(y[order], np.arange(len(y)) <= i) for i in thresholds]
    fpr = fp[:: len(y) // len(thresholds)] / (~y).sum()
    area = np.trapezoid([0, *kappas, 0], [0, *fpr, 1])
    assert measures.kappa_curve_area(y, s) == pytest.approx(area, abs=2e-3)
    assert tp[-1] == y.sum()


@pytest.mark.parametrize("fraction", [0.1, 0.25, 1.0])
def test_lift_of_a_perfect_ranking_is_one_over_the_larger_of_share_and_fraction(fraction):
    y = np.r_[np.ones(20), np.zeros(80)]
    assert measures.lift(y, y, fraction=fraction) == pytest.approx(1 / max(0.2, fraction))


def test_mwl_at_severity_one_is_the_minimum_error_rate():
    assert measures.mwl(*HAND, severity_ratio=1) == pytest.approx(measures.mer(*HAND)) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: measures.partial_auc(*TEN, max_fpr=0), "max_fpr.*0"),
        (lambda: measures.partial_auc(*TEN, max_fpr=1.5), "max_fpr.*1.5"),
        (lambda: measures.lift(*TEN, fraction=-0.1), "fraction.*-0.1"),
        (lambda: measures.soft_auc(*TEN, beta=0), "beta.*0"),
        (lambda: measures.h_measure(*TEN, severity_ratio=0), "severity_ratio.*0"),
        (lambda: measures.mwl(*TEN, severity_ratio=math.nan), "severity_ratio.*nan"),
    ],
)
def test_parameters_out_of_bounds_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_tiny_gaps_between_scores_still_rank():
    s = np.array([0.5, np.nextafter(0.5, 1), 5e-324, 0.0])
    assert measures.auc([0, 1, 1, 0], s) == 0.75


def test_zero_and_negative_zero_are_one_score():
    for weights in (None, [1.0, 1.0]):
        assert measures.auc([0, 1], [0.0, -0.0], sample_weight=weights) == 0.5
