"""Sample sizes against R (pROC, power.t.test), statsmodels, closed forms and simulation."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats
from statsmodels.discrete.discrete_model import Logit
from statsmodels.stats.proportion import proportion_confint, samplesize_confint_proportion

from fairtrial.errors import InputError
from fairtrial.significance import plan_auc_test, plan_datasets, plan_interval, plan_margin

# AUC of S100b in pROC's aSAH: 2159 of 41 x 72 pairs
S100B = 2159 / (41 * 72)


def measure_wilson(n, p, level):
    low, high = proportion_confint(n * p, n, alpha=1 - level, method="wilson")
    return high - low


@pytest.mark.parametrize(("p", "width", "level"), [(0.8, 0.05, 0.95), (0.5, 0.1, 0.9), (0.99, 0.02, 0.95), (0.9, 0.3, 0.99)])
def test_wilson_needs_the_smallest_number_of_rows(p, width, level):
    n = plan_interval("accuracy", width, expected=p, level=level).n
    assert measure_wilson(n, p, level) <= width < measure_wilson(n - 1, p, level)


@pytest.mark.parametrize("p", [0.8, 0.5, 0.03])
def test_normal_approximation_equals_statsmodels(p):
    size = plan_interval("accuracy", 0.05, expected=p, method="normal")
    assert size.n_exact == pytest.approx(samplesize_confint_proportion(p, 0.025), rel=1e-12)
    assert size.n == math.ceil(size.n_exact)


def test_the_default_of_a_proportion_is_the_worst_case():
    assert plan_interval("accuracy", 0.1).n == max(plan_interval("accuracy", 0.1, expected=p).n for p in (0.3, 0.5, 0.7))


def test_recall_and_specificity_count_rows_of_their_class():
    n = plan_interval("accuracy", 0.1, expected=0.9).n
    recall = plan_interval("recall", 0.1, expected=0.9, prevalence=0.1)
    assert (recall.positives, recall.negatives, recall.n) == (n, 9 * n, 10 * n)
    specificity = plan_interval("specificity", 0.1, expected=0.9, prevalence=0.1)
    assert specificity.negatives == n
    assert specificity.positives == math.ceil(n / 9)


def test_a_design_effect_multiplies_the_rows():
    assert (
        plan_interval("accuracy", 0.05, expected=0.8, design_effect=3).n_exact
        == 3 * plan_interval("accuracy", 0.05, expected=0.8).n
    )


@pytest.mark.parametrize(
    ("auc", "width", "level", "ratio", "cases"),
    # (2 * qnorm((1 + level) / 2)) ^ 2 * pROC:::var.theta.obuchowski(auc, ratio) / width ^ 2
    [(0.8, 0.1, 0.95, 4, 130.6437093604777), (0.9, 0.05, 0.9, 1, 296.2443530610488)],
)
def test_the_width_of_an_auc_uses_the_variance_of_proc(auc, width, level, ratio, cases):
    size = plan_interval("auc", width, expected=auc, level=level, prevalence=1 / (1 + ratio))
    assert size.n_exact / (1 + ratio) == pytest.approx(cases, rel=1e-10)
    assert (size.positives, size.negatives) == (math.ceil(cases), math.ceil(ratio * cases))


@pytest.mark.parametrize("ratio", [1, 4])
def test_the_width_of_an_auc_by_hanley_and_mcneil(ratio):
    def measure_width(n, a):
        m = n / (1 + ratio)
        q1, q2 = a / (2 - a), 2 * a * a / (1 + a)
        return (
            2
            * 1.959963984540054
            * math.sqrt((a * (1 - a) + (m - 1) * (q1 - a * a) + (n - m - 1) * (q2 - a * a)) / (m * (n - m)))
        )

    size = plan_interval("auc", 0.1, expected=0.8, prevalence=1 / (1 + ratio), method="hanley-mcneil")
    n = int(size.n_exact)
    # The variance depends on which class is called positive; the larger one counts.
    assert max(measure_width(n, 0.8), measure_width(n, 0.2)) <= 0.1 < max(measure_width(n - 1, 0.8), measure_width(n - 1, 0.2))


def test_the_standard_error_of_a_calibration_slope_is_that_of_logistic_regression():
    values = np.random.default_rng(1).normal(-1, 1.3, 200)
    design = np.column_stack([np.ones(200), values])
    for slope in (1.0, 0.8):
        # The information does not depend on the labels.
        information = -Logit(np.tile([0, 1], 100), design).hessian([0, slope])
        error = math.sqrt(np.linalg.inv(information)[1, 1])
        size = plan_interval("calibration_slope", 0.4, expected=slope, linear_predictor=values)
        assert size.n_exact == pytest.approx(200 * (2 * stats.norm.ppf(0.975) * error / 0.4) ** 2, rel=1e-9)


def test_the_calibration_slope_follows_from_auc_and_prevalence():
    auc, prevalence = 0.8, 0.1
    spread = math.sqrt(2) * stats.norm.ppf(auc)
    centre = math.log(prevalence / (1 - prevalence))

    def integrand(x, power):
        density = prevalence * stats.norm.pdf(x, centre + spread**2 / 2, spread)
        density += (1 - prevalence) * stats.norm.pdf(x, centre - spread**2 / 2, spread)
        return density * x**power / (2 + 2 * math.cosh(x))

    i_a, i_ab, i_b = (integrate.quad(integrand, -15, 15, args=(power,))[0] for power in range(3))
    expected = (2 * 1.959963984540054 / 0.3) ** 2 * i_a / (i_a * i_b - i_ab**2)
    size = plan_interval("calibration_slope", 0.3, auc=auc, prevalence=prevalence)
    assert size.n_exact == pytest.approx(expected, rel=2e-4)


def test_one_auc_against_a_half_equals_proc():
    # power.roc.test(roc(outcome, s100b)); the same AUC, power = 0.95, kappa = 1.7; ncases = 41, ncontrols = 72, auc = 0.73
    assert plan_auc_test(S100B, positives=41, negatives=72).power == pytest.approx(0.9904832528, abs=1e-9)
    size = plan_auc_test(S100B, power=0.95, prevalence=1 / 2.7)
    assert size.n_exact / 2.7 == pytest.approx(29.29764472, abs=1e-7)
    assert (size.positives, size.negatives, size.n) == (30, 50, 80)
    assert plan_auc_test(0.73, positives=41, negatives=72).power == pytest.approx(0.9897453436, abs=1e-9)
    assert plan_auc_test(0.27, positives=41, negatives=72).power == pytest.approx(0.9897453436, abs=1e-9)


@pytest.mark.parametrize(
    ("first", "second", "correlation", "ratio", "cases", "power"),
    # power.roc.test(list(A1, B1 = 1, A2, B2 = 1, rn, ra, delta), power = 0.8, kappa) and with ncases = 150
    [
        (0.85, 0.80, 0.5, 1, 409.1063200143, 0.4194732492),
        (0.90, 0.87, 0.6, 4, 651.8742822802, 0.2963047587),
        (0.75, 0.70, 0.3, 9, 420.6360740476, 0.3903681892),
    ],
)
def test_two_aucs_on_the_same_rows_equal_proc(first, second, correlation, ratio, cases, power):
    size = plan_auc_test(first, second, correlation=correlation, prevalence=1 / (1 + ratio))
    assert size.n_exact / (1 + ratio) == pytest.approx(cases, rel=1e-9)
    given = plan_auc_test(first, second, correlation=correlation, positives=150, negatives=150 * ratio)
    assert given.power == pytest.approx(power, abs=1e-9)


@pytest.mark.parametrize(("margin", "discordant", "difference"), [(0.02, 0.1, 0.0), (0.02, 0.15, -0.005), (0.05, 0.3, 0.02)])
def test_rows_for_paired_accuracies_reach_the_power(margin, discordant, difference):
    n = plan_margin(margin, discordant=discordant, difference=difference, power=0.85).n
    z = stats.norm.ppf(0.975) + stats.norm.ppf(0.85)
    assert n == math.ceil(z**2 * (discordant - difference**2) / (margin + difference) ** 2)
    wins = (discordant + difference) / 2
    counts = np.random.default_rng(3).multinomial(n, [wins, discordant - wins, 1 - discordant], size=20_000)
    estimates, totals = (counts[:, 0] - counts[:, 1]) / n, (counts[:, 0] + counts[:, 1]) / n
    passed = estimates - stats.norm.ppf(0.975) * np.sqrt((totals - estimates**2) / n) > -margin
    assert passed.mean() == pytest.approx(0.85, abs=0.015)  # standard error 0.0025; the rest is skewness


def test_rows_for_a_standard_error_scale_with_its_square():
    size = plan_margin(0.01, standard_error=0.012, n=400, difference=0.002, power=0.9)
    z = stats.norm.ppf(0.975) + stats.norm.ppf(0.9)
    assert size.n_exact == pytest.approx(z**2 * 0.012**2 * 400 / 0.012**2, rel=1e-12)


@pytest.mark.parametrize("difference", [0.0, 0.004, -0.004])
def test_rows_for_equivalence_reach_the_power(difference):
    n = plan_margin(0.01, standard_error=0.02, n=100, difference=difference, equivalent=True).n_exact
    error = 0.02 * math.sqrt(100 / n)
    bound = 0.01 - stats.norm.ppf(0.975) * error
    power = stats.norm.cdf((bound - difference) / error) - stats.norm.cdf((-bound - difference) / error)
    assert power == pytest.approx(0.8, abs=1e-9)


def test_data_sets_by_the_t_test_equal_r():
    # power.t.test(n = 34, delta = .5, sd = 1, type = "one.sample", alternative = "one.sided", sig.level = .025)
    size = plan_margin(0.01, sd=0.02, test="paired_t", power=0.8)
    assert size.n == 34
    assert size.power == pytest.approx(0.807776685515, abs=1e-9)
    # the same with power = .9, delta = .012, sd = .02: n = 31.17
    assert plan_margin(0.01, sd=0.02, test="paired_t", difference=0.002, power=0.9).n == 32


def test_data_sets_by_the_wilcoxon_test_reach_the_power():
    size = plan_margin(0.01, sd=0.012)
    rng = np.random.default_rng(5)

    def simulate(n):
        differences = rng.normal(0.01, 0.012, size=(2000, n))
        return (stats.wilcoxon(differences, alternative="greater", axis=1, method="exact").pvalue <= 0.025).mean()

    assert simulate(size.n) == pytest.approx(size.power, abs=0.03)  # three standard errors
    assert size.power >= 0.8
    assert simulate(size.n - 1) < 0.82


def test_data_sets_for_equivalence_reach_the_power():
    size = plan_margin(0.01, sd=0.02, test="paired_t", equivalent=True)
    draws = np.random.default_rng(6).normal(0, 0.02, size=(20_000, size.n))
    half = stats.t.ppf(0.975, size.n - 1) * draws.std(axis=1, ddof=1) / math.sqrt(size.n)
    assert (np.abs(draws.mean(axis=1)) + half < 0.01).mean() == pytest.approx(size.power, abs=0.01)
    assert 0.8 <= size.power < 0.83


def test_scores_of_a_pilot_give_the_standard_deviation():
    rng = np.random.default_rng(7)
    scores = pd.DataFrame({"new": rng.normal(0.8, 0.05, 9), "old": rng.normal(0.8, 0.05, 9)}, index=list("abcdefghi"))
    sd = float((scores["new"] - scores["old"]).std(ddof=1))
    size = plan_datasets(scores, 0.03, difference=0.01)
    assert size.unit == "data set"
    assert size.n == plan_margin(0.03, sd=sd, difference=0.01).n
    # For a measure that is better if lower, a negative difference is an improvement.
    assert plan_datasets(scores, 0.03, difference=-0.01, better="min").n == size.n
    assert plan_datasets(scores, 0.03, difference=-0.01, measure="brier").n == size.n


def test_results_have_a_frame_and_text():
    size = plan_interval("accuracy", 0.05, expected=0.8)
    assert size.frame()[["n", "unit", "width"]].to_dict("records") == [{"n": size.n, "unit": "row", "width": 0.05}]
    assert str(size).startswith(f"{size.n:,} rows")
    assert f"{size.n:,} rows" in size._repr_html_()
    assert size.answer.kind == "size_for_interval"
    assert all(len(line) <= 80 for line in size.format_lines())


def build_scores(new, old):
    return pd.DataFrame({"new": new, "old": old}, index=[f"data set {i}" for i in range(len(new))])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plan_interval("accuracy", 0), "width must be"),
        (lambda: plan_interval("accuracy", 1.2), "width must be less than 1"),
        (lambda: plan_interval("accuracy", 0.1, expected=1.2), "expected must be between 0 and 1"),
        (lambda: plan_interval("auc", 0.1), "expected must be given"),
        (lambda: plan_interval("auc", 0.1, expected=0.8, method="wilson"), "method must be one of obuchowski, hanley-mcneil"),
        (lambda: plan_interval("accuracy", 0.1, auc=0.8), "auc must be None"),
        (lambda: plan_interval("brier", 0.1), "measure must be one of"),
        (lambda: plan_interval("calibration_slope", 0.1), "auc must be given"),
        (lambda: plan_interval("calibration_slope", 0.1, linear_predictor=[1, 1]), "at least 2 different values"),
        (lambda: plan_interval("accuracy", 1e-6), "more than 1,000,000,000 rows"),
        (lambda: plan_auc_test(0.5), "auc must differ from 0.5"),
        (lambda: plan_auc_test(0.8, positives=10), "positives and negatives must be given together"),
        (lambda: plan_auc_test(0.8, power=1), "power must lie between 0 and 1"),
        (lambda: plan_margin(0, discordant=0.1), "margin must be greater than 0"),
        (lambda: plan_margin(0.01), "exactly one of"),
        (lambda: plan_margin(0.01, discordant=0.1, sd=0.1), "exactly one of"),
        (lambda: plan_margin(0.01, discordant=0.1, power=1.5), "power must lie between 0 and 1"),
        (lambda: plan_margin(0.01, discordant=0.1, difference=-0.01), "difference must be above -0.01"),
        (lambda: plan_margin(0.01, discordant=0.1, difference=0.01, equivalent=True), "difference must be below 0.01"),
        (lambda: plan_margin(0.01, standard_error=0.1), "n must be given"),
        (lambda: plan_datasets(build_scores([0.5, 0.4], [0.6, 0.6]), 0.01), "at least 3 data sets"),
        (lambda: plan_datasets(build_scores([1, 2, 3], [2, 3, 4]), 0.01), "must vary"),
        (lambda: plan_datasets(build_scores([1, 2, 4], [2, 3, 4]), 0.01, candidate="nwe"), "did you mean 'new'"),
        (lambda: plan_datasets(build_scores([1, 2, 4], [2, 3, 4]), 0.01, candidate="new", baseline="new"), "must differ"),
        (lambda: plan_datasets(build_scores([1, 2, 4], [2, 3, 4]).assign(x=1.5), 0.01), "candidate must name a learner"),
    ],
)
def test_bad_input_is_one_sentence(call, message):
    with pytest.raises(InputError, match=message) as error:
        call()
    assert "\n" not in str(error.value)
