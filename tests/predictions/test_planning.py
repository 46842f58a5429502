"""Sample sizes from a pilot: against pROC, closed forms, and the decisions of `gate` on new samples."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer
from statsmodels.discrete.discrete_model import Logit

from fairtrial import gate
from fairtrial.errors import InputError
from fairtrial.predictions import plan_test, read_predictions
from fairtrial.significance import plan_interval


def draw_population(rng, n, cluster_size=1, prevalence=0.3):
    """Draw scores of two models that are equally good; rows of a cluster share part of their scores."""
    clusters = np.arange(n) // cluster_size
    y_true = (rng.random(n) < prevalence).astype(int)
    shared = 1.5 * y_true + rng.normal(size=n)
    effects = rng.normal(size=(2, clusters[-1] + 1))[:, clusters] if cluster_size > 1 else np.zeros((2, n))
    scores = shared + 0.4 * rng.normal(size=(2, n)) + effects
    probabilities = 1 / (1 + np.exp(1 - scores))
    return pd.DataFrame({"y_true": y_true, "new_proba": probabilities[0], "old_proba": probabilities[1], "patient": clusters})


PILOT = draw_population(np.random.default_rng(0), 1500)


def measure_gate_power(size, runs, seed=1, cluster_size=1, **options):
    """Return the proportion of new samples of this size in which `gate` passes."""
    rng = np.random.default_rng(seed)
    samples = (draw_population(rng, size.n, cluster_size) for _ in range(runs))
    return np.mean([gate(sample, candidate="new", baseline="old", **options).passed for sample in samples])


def test_rows_for_an_auc_follow_from_delongs_variance():
    x, y = load_breast_cancer(return_X_y=True)
    pilot = pd.DataFrame({"y_true": 1 - y, "new_score": x[:, 21], "old_score": x[:, 1]})
    # pROC: (qnorm(.975) + qnorm(.8)) ^ 2 * (var(r1) + var(r2) - 2 * cov(r1, r2)) * 569 / 0.02 ^ 2
    size = plan_test(pilot, candidate="new", baseline="old", measure="auc", margin=0.02)
    assert size.n_exact == pytest.approx(1150.59178455, rel=1e-9)
    assert size.positives == math.ceil(size.n * 212 / 569)
    assert abs(size.power - 0.8) <= 1.5 * size.power_error


def test_rows_for_an_accuracy_follow_from_the_discordant_rows():
    correct = PILOT[["new_proba", "old_proba"]].gt(0.5).eq(PILOT["y_true"], axis=0)
    discordant = (correct["new_proba"] != correct["old_proba"]).mean()
    size = plan_test(PILOT, candidate="new", baseline="old", measure="accuracy", margin=0.03, power=0.9, difference=0.005)
    z = stats.norm.ppf(0.975) + stats.norm.ppf(0.9)
    assert size.n_exact == pytest.approx(z**2 * (discordant - 0.005**2) / 0.035**2, rel=1e-9)


@pytest.mark.parametrize(("measure", "label"), [("recall", 1), ("specificity", 0)])
def test_rates_of_a_class_count_its_rows(measure, label):
    rows = PILOT[PILOT["y_true"] == label]
    discordant = (rows["new_proba"].gt(0.5) != rows["old_proba"].gt(0.5)).mean()
    size = plan_test(PILOT, candidate="new", baseline="old", measure=measure, margin=0.1)
    z = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    assert size.n_exact == pytest.approx(z**2 * discordant / 0.1**2 * len(PILOT) / len(rows), rel=1e-9)


@pytest.mark.parametrize(("measure", "margin", "equivalent"), [("auc", 0.03, False), ("accuracy", 0.05, True)])
def test_gate_passes_with_the_planned_power(measure, margin, equivalent):
    options = {"measure": measure, "margin": margin, "equivalent": equivalent}
    size = plan_test(PILOT, candidate="new", baseline="old", **options)
    # Standard errors: 0.04 by 100 samples, 0.02 by the simulation of the plan, 0.03 by the variance of the pilot
    assert measure_gate_power(size, 100, **options) == pytest.approx(0.8, abs=0.15)


def test_clusters_are_drawn_as_a_whole():
    pilot = draw_population(np.random.default_rng(2), 1500, cluster_size=10)
    options = {"measure": "accuracy", "margin": 0.05, "cluster": "patient"}
    size = plan_test(pilot, candidate="new", baseline="old", **options)
    assert size.clusters == math.ceil(size.n / 10)
    correct = pilot[["new_proba", "old_proba"]].gt(0.5).eq(pilot["y_true"], axis=0).astype(float)
    deviations = correct["new_proba"] - correct["old_proba"]
    sums = (deviations - deviations.mean()).groupby(pilot["patient"]).sum()
    variance = 150 / 149 * (sums**2).sum() / 1500**2
    z = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    assert size.n_exact == pytest.approx(1500 * z**2 * variance / 0.05**2, rel=1e-9)
    assert measure_gate_power(size, 80, cluster_size=10, **options) == pytest.approx(0.8, abs=0.16)


def test_repeated_predictions_of_a_row_are_drawn_together():
    once = draw_population(np.random.default_rng(3), 300).drop(columns="patient").assign(row=np.arange(300))
    repeated = pd.concat([once.assign(repeat=repeat) for repeat in range(3)])
    options = {"candidate": "new", "baseline": "old", "measure": "accuracy", "margin": 0.06}
    size = plan_test(repeated, row="row", repeat="repeat", **options)
    # Copies of the same predictions add no information.
    assert size.n_exact == pytest.approx(plan_test(once, row="row", **options).n_exact, rel=0.02)
    assert size.n < 2 * size.n_exact


def test_other_measures_are_planned_by_simulation():
    # Differences of Brier scores are differences of means: their variance gives a closed form.
    pilot = PILOT[:400]
    losses = (pilot[["new_proba", "old_proba"]].sub(pilot["y_true"], axis=0)) ** 2
    variance = (losses["new_proba"] - losses["old_proba"]).var()
    z = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    size = plan_test(pilot, candidate="new", baseline="old", measure="brier", margin=0.015, difference=0.002)
    assert size.n_exact == pytest.approx(
        z**2 * variance / 0.013**2, rel=0.1
    )  # three standard errors of a variance of 2,000 resamples
    assert abs(size.power - 0.8) <= 1.5 * size.power_error
    assert size.power_error > 0


def test_a_large_margin_needs_enough_cases_of_each_class():
    size = plan_test(PILOT, candidate="new", baseline="old", measure="auc", margin=0.4)
    assert size.n_exact < 5 <= size.positives
    assert size.power > 0.8
    assert "size_minimum" in [caveat.kind for caveat in size.caveats]


def test_very_many_rows_are_planned_by_the_formula():
    size = plan_test(PILOT, candidate="new", baseline="old", measure="auc", margin=0.0005)
    assert size.n == math.ceil(size.n_exact) > 200_000
    assert (size.power, size.power_error) == (0.8, 0)


def test_the_width_of_an_interval_comes_from_the_pilot():
    size = plan_test(PILOT, width=0.02, candidate="new", measure="accuracy")
    expected = (PILOT["new_proba"].gt(0.5) == PILOT["y_true"]).mean()
    assert size.n_exact == plan_interval("accuracy", 0.02, expected=expected).n_exact
    # Clusters of one row are no clusters: the width of the pilot's interval gives about the same number.
    clustered = plan_test(PILOT, width=0.02, candidate="new", measure="accuracy", cluster="patient")
    assert clustered.n_exact == pytest.approx(size.n_exact, rel=0.01)
    slope = plan_test(PILOT, width=0.2, candidate="new", measure="calibration_slope")
    logits = np.log(PILOT["new_proba"] / (1 - PILOT["new_proba"]))
    information = -Logit(PILOT["y_true"], np.column_stack([np.ones(1500), logits])).hessian([0, 1])
    error = math.sqrt(np.linalg.inv(information)[1, 1])
    assert slope.n == math.ceil(1500 * (2 * stats.norm.ppf(0.975) * error / 0.2) ** 2)


def test_the_same_seed_gives_the_same_plan():
    options = {"candidate": "new", "baseline": "old", "measure": "accuracy", "margin": 0.04}
    plan, same = plan_test(PILOT, **options), plan_test(read_predictions(PILOT), **options)
    pd.testing.assert_frame_equal(plan.frame(), same.frame())


FEW_POSITIVES = PILOT[:100].sort_values("new_proba").assign(y_true=[0] * 96 + [1] * 4)
LABELS = pd.DataFrame({"y_true": ["no", "yes"] * 20, "new": ["no", "yes"] * 20, "old": ["no", "yes"] * 20})


@pytest.mark.parametrize(
    ("pilot", "options", "message"),
    [
        (PILOT, {"margin": 0}, "margin must be greater than 0"),
        (PILOT, {}, "either margin or width must be given"),
        (PILOT, {"margin": 0.01, "width": 0.1}, "either margin or width must be given"),
        (PILOT, {"margin": 0.01, "power": 1}, "power must lie between 0 and 1"),
        (PILOT, {"margin": 0.01, "candidate": "nwe"}, "did you mean 'new'"),
        (PILOT, {"margin": 0.01, "difference": -0.02}, "difference must be above -0.01"),
        (PILOT, {"margin": 1e-9}, "more than 1,000,000,000 rows"),
        (PILOT, {"width": 0.1, "candidate": "nwe"}, "did you mean 'new'"),
        (PILOT, {"width": 0.1, "candidate": None}, "candidate must name a model"),
        (FEW_POSITIVES, {"margin": 0.1}, "at least 5 cases of each class"),
        (LABELS, {"margin": 0.1}, "must differ on some rows"),
        (LABELS.assign(dataset=["a"] * 20 + ["b"] * 20), {"width": 0.1}, "one data set"),
        (LABELS.assign(dataset=["a"] * 20 + ["b"] * 20), {"margin": 0.1}, "one data set"),
        (LABELS, {"margin": 0.1, "measure": "auc"}, "measure auc needs scores"),
        (LABELS, {"width": 0.1, "measure": "brier"}, "measure brier needs probabilities"),
        (LABELS, {"width": 0.1, "measure": "calibration_slope"}, "needs probabilities"),
    ],
)
def test_bad_input_is_one_sentence(pilot, options, message):
    with pytest.raises(InputError, match=message) as error:
        plan_test(pilot, **{"candidate": "new", "baseline": "old", **options})
    assert "\n" not in str(error.value)
