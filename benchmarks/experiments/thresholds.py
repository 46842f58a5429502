"""Coverage of the intervals of `choose_threshold`, and type I error of the test of costs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import norm

from experiments.registry import ALPHA, LEVEL, THRESHOLDS, covers, experiment, rejects
from fairtrial.errors import InputError
from fairtrial.predictions import choose_threshold
from fairtrial.predictions.thresholds import ThresholdChoice
from fairtrial.significance import cost_test

Hits = Mapping[str, bool | None]
Rng = np.random.Generator


class Population:
    """Normal scores of two classes with means `separation` apart, turned into calibrated probabilities."""

    def __init__(self, separation: float, prevalence: float) -> None:
        self.separation, self.prevalence = separation, prevalence

    def draw(self, rng: Rng, rows: int, patients: int | None = None) -> pd.DataFrame:
        """Draw rows; the rows of a patient share half of the variance of the score, and the class in two of three cases."""
        if patients is None:
            y = rng.random(rows) < self.prevalence
            noise = rng.standard_normal(rows)
            patient = np.arange(rows)
        else:
            patient = np.arange(rows) % patients
            y = np.where(
                rng.random(rows) < 2 / 3, (rng.random(patients) < self.prevalence)[patient], rng.random(rows) < self.prevalence
            )
            noise = np.sqrt(0.5) * (rng.standard_normal(patients)[patient] + rng.standard_normal(rows))
        probability = expit(self.to_logit(self.separation * y + noise))
        return pd.DataFrame({"patient": patient, "y_true": y.astype(int), "model_proba": probability})

    def draw_weighted(self, rng: Rng, rows: int) -> pd.DataFrame:
        """Draw rows with a probability that depends on class and score, and weight them by its inverse."""
        frame = self.draw(rng, 20 * rows)
        chance = np.where(frame["y_true"] == 1, 0.8, 0.1 + 0.4 * frame["model_proba"])
        frame = frame[rng.random(len(frame)) < chance].head(rows)
        return frame.assign(weight=1 / chance[frame.index])

    def to_logit(self, x: np.ndarray) -> np.ndarray:
        """Turn scores into logits of the calibrated probability."""
        return self.separation * x - self.separation**2 / 2 + logit(self.prevalence)

    def compute_rates(self, threshold: float) -> dict[str, float]:
        """Compute the true rates at a threshold of the probability."""
        if threshold <= 0:
            tpr = fpr = 1.0
        elif threshold >= 1:
            tpr = fpr = 0.0
        else:
            x = (logit(threshold) - logit(self.prevalence) + self.separation**2 / 2) / self.separation
            tpr, fpr = float(norm.sf(x - self.separation)), float(norm.sf(x))
        tp, fp = self.prevalence * tpr, (1 - self.prevalence) * fpr
        return {
            "recall": tpr,
            "fp": fp,
            "fn": self.prevalence - tp,
            "alert_rate": tp + fp,
            "precision": tp / (tp + fp) if tp + fp > 0 else float("nan"),
        }

    def compute_cost(self, threshold: float, costs: tuple[float, float]) -> float:
        """Compute the true cost per 1,000 cases."""
        rates = self.compute_rates(threshold)
        return 1000 * (costs[0] * rates["fp"] + costs[1] * rates["fn"])

    def find_threshold(self, name: str, value: float) -> float:
        """Find the threshold at which a rate has this value."""
        return float(brentq(lambda t: self.compute_rates(t)[name] - value, 1e-9, 1 - 1e-9))


def _check_costs(population: Population, frame: pd.DataFrame, costs: tuple[float, float], **options: object) -> Hits:
    choice = choose_threshold(frame, costs=costs, positive=1, thresholds=[0.5], measures="recall", **options).choices[0]
    cost, current = (population.compute_cost(t, costs) for t in (choice.threshold, 0.5))
    best = costs[0] / (costs[0] + costs[1])
    saving = choice.saving
    return {
        "choose_threshold, costs: threshold": choice.low <= best <= choice.high,
        "choose_threshold, costs: cost": covers(choice.estimates["cost"], cost),
        "choose_threshold, costs: current cost": covers(choice.current_estimates["cost"], current),
        "choose_threshold, costs: saving": covers(saving, 1 - cost / current) if np.isfinite(saving.low) else None,
    }


def _check_rate(population: Population, frame: pd.DataFrame, goal: str, value: float, **options: object) -> Hits:
    name, scale = ("alert_rate", 1000) if goal == "alerts" else (goal, 1)
    try:
        choice = choose_threshold(frame, **{goal: value}, positive=1, thresholds=[0.5], measures="recall", **options).choices[0]
    except InputError:  # no threshold reaches the precision
        return {}
    best, truth = population.find_threshold(name, value / scale), population.compute_rates(choice.threshold)[name]
    return {
        f"choose_threshold, {goal}: threshold": choice.low <= best <= choice.high,
        f"choose_threshold, {goal}: {name}": covers(choice.estimates[name], truth),
    }


SAMPLES = ((60, 0.3, 1.5), (200, 0.1, 1.5), (200, 0.5, 1.0), (1000, 0.05, 2.0), (2000, 0.3, 1.0))
RATES = (("recall", 0.8), ("precision", 0.5), ("alerts", 100.0))

for _rows, _prevalence, _separation in SAMPLES:
    _setting = f"{_rows:,} rows, {100 * _prevalence:g} % positive, classes {_separation:g} standard deviations apart"
    _population = Population(_separation, _prevalence)
    for _costs in ((1.0, 1.0), (1.0, 10.0), (5.0, 1.0)):

        @experiment(THRESHOLDS, f"{_setting}, costs {_costs[0]:g}:{_costs[1]:g}", share=0.05, nominal=LEVEL)
        def costs(rng: Rng, rows=_rows, population=_population, costs=_costs) -> Hits:  # type: ignore[no-untyped-def]
            return _check_costs(population, population.draw(rng, rows), costs)

    for _goal, _value in RATES:

        @experiment(THRESHOLDS, f"{_setting}, {_goal} {_value:g}", share=0.05, nominal=LEVEL)
        def rates(rng: Rng, rows=_rows, population=_population, goal=_goal, value=_value) -> Hits:  # type: ignore[no-untyped-def]
            return _check_rate(population, population.draw(rng, rows), goal, value)


for _patients, _size in ((20, 10), (50, 10), (100, 5)):
    _setting = f"{_patients} patients with {_size} rows each, 30 % positive"
    _population = Population(1.5, 0.3)

    @experiment(THRESHOLDS, f"{_setting}, costs 1:5", share=0.05, nominal=LEVEL)
    def clustered_costs(rng: Rng, patients=_patients, size=_size, population=_population) -> Hits:  # type: ignore[no-untyped-def]
        return _check_costs(population, population.draw(rng, patients * size, patients), (1.0, 5.0), cluster="patient")

    for _goal, _value in RATES:

        @experiment(THRESHOLDS, f"{_setting}, {_goal} {_value:g}", share=0.05, nominal=LEVEL)
        def clustered_rates(  # type: ignore[no-untyped-def]
            rng: Rng, patients=_patients, size=_size, population=_population, goal=_goal, value=_value
        ) -> Hits:
            return _check_rate(population, population.draw(rng, patients * size, patients), goal, value, cluster="patient")


for _rows, _prevalence, _separation in ((60, 0.3, 1.5), (200, 0.1, 1.5), (1000, 0.05, 2.0)):
    _setting = f"{_rows:,} weighted rows, {100 * _prevalence:g} % positive, classes {_separation:g} standard deviations apart"
    _population = Population(_separation, _prevalence)

    @experiment(THRESHOLDS, f"{_setting}, costs 1:10", share=0.05, nominal=LEVEL)
    def weighted_costs(rng: Rng, rows=_rows, population=_population) -> Hits:  # type: ignore[no-untyped-def]
        return _check_costs(population, population.draw_weighted(rng, rows), (1.0, 10.0), weight="weight")

    for _goal, _value in RATES:

        @experiment(THRESHOLDS, f"{_setting}, {_goal} {_value:g}", share=0.05, nominal=LEVEL)
        def weighted_rates(  # type: ignore[no-untyped-def]
            rng: Rng, rows=_rows, population=_population, goal=_goal, value=_value
        ) -> Hits:
            return _check_rate(population, population.draw_weighted(rng, rows), goal, value, weight="weight")


# With these costs, alerting everybody costs as much as alerting nobody, or more.
for _rows, _prevalence, _cost in ((60, 0.5, 1.0), (200, 0.1, 9.0), (200, 0.3, 1.0), (1000, 0.1, 9.0), (1000, 0.1, 1.0)):

    @experiment(THRESHOLDS, f"{_rows:,} rows, {100 * _prevalence:g} % positive, costs 1:{_cost:g}, random scores", share=0.05)
    def random_scores(rng: Rng, rows=_rows, prevalence=_prevalence, cost=_cost) -> Hits:  # type: ignore[no-untyped-def]
        frame = pd.DataFrame({"y_true": (rng.random(rows) < prevalence).astype(int), "model_proba": rng.random(rows)})
        if frame["y_true"].nunique() < 2:
            return {}
        is_equal = np.isclose(cost * prevalence, 1 - prevalence)
        choice = choose_threshold(frame, costs=(1, cost), positive=1, thresholds=[0.5], measures="recall").choices[0]
        return {
            "choose_threshold: cheaper than alerting nobody": _is_cheaper(choice, "nobody"),
            "choose_threshold: cheaper than alerting everybody": _is_cheaper(choice, "everybody") if is_equal else None,
            "choose_threshold: cheaper than both": bool(choice.is_useful(ALPHA)),
            "choose_threshold: current threshold cheaper than both": _is_current_cheaper(choice),
        }


def _is_cheaper(choice: ThresholdChoice, name: str) -> bool:
    outcome = choice.differences.get(name)
    return outcome is not None and outcome.statistic < 0 and rejects(outcome)


def _is_current_cheaper(choice: ThresholdChoice) -> bool:
    return choice.current_estimates["cost"].high < min(cost.low for cost in choice.alternatives.values())


# Proportions of rows on which only the first or only the second model has a false positive or a false negative; the expected
# costs are equal.
MIXES = {"both make the same errors": (0.1, 0.1, 0.03, 0.03), "one makes cheap errors, the other expensive ones": None}

for _rows in (20, 100, 1000):
    for _cost in (1, 10, 50):
        for _name, _mix in MIXES.items():

            @experiment(THRESHOLDS, f"{_rows:,} rows, costs 1:{_cost}, {_name}", share=0.3)
            def equal_costs(rng: Rng, rows=_rows, cost=_cost, mix=_mix) -> Hits:  # type: ignore[no-untyped-def]
                chances = mix or (0.1, 0.0, 0.0, 0.1 / cost)
                outcome = rng.choice(5, rows, p=[*chances, 1 - sum(chances)])
                y = np.where(outcome < 2, 0, np.where(outcome < 4, 1, rng.integers(0, 2, rows)))
                a, b = (np.where(np.isin(outcome, wrong), 1 - y, y) for wrong in ((0, 2), (1, 3)))
                return {"cost_test": rejects(cost_test(y, a, b, (1, cost), positive=1)) if y.any() else None}


for _patients in (10, 50):

    @experiment(THRESHOLDS, f"{_patients} patients with 10 rows each, costs 1:5, equal models", share=0.3)
    def clustered_equal_costs(rng: Rng, patients=_patients) -> Hits:  # type: ignore[no-untyped-def]
        patient = np.repeat(np.arange(patients), 10)
        y = rng.integers(0, 2, len(patient))
        effect = 1.2 * rng.standard_normal(patients)
        a, b = (
            np.where(rng.random(len(y)) < expit(1.5 + effect + 0.7 * rng.standard_normal(patients))[patient], y, 1 - y)
            for _ in range(2)
        )
        return {"cost_test, cluster": rejects(cost_test(y, a, b, (1, 5), positive=1, cluster=patient))}


for _rows, _prevalence, _correlation in ((200, 0.1, 0.5), (200, 0.3, 0.8), (1000, 0.3, 0.5), (1000, 0.3, 0.9)):

    @experiment(
        THRESHOLDS,
        f"{_rows:,} rows, {100 * _prevalence:g} % positive, costs 1:5, two equal models, correlation {_correlation}",
        share=0.05,
    )
    def cross_fitted_pairs(rng: Rng, rows=_rows, prevalence=_prevalence, correlation=_correlation) -> Hits:  # type: ignore[no-untyped-def]
        population = Population(1.5, prevalence)
        y = rng.random(rows) < prevalence
        shared, *noise = rng.standard_normal((3, rows))
        scores = [np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own + 1.5 * y for own in noise]
        a, b = (expit(population.to_logit(score)) for score in scores)
        frame = pd.DataFrame({"id": np.arange(rows), "y_true": y.astype(int), "a_proba": a, "b_proba": b})
        pairs = choose_threshold(frame, costs=(1, 5), positive=1, thresholds=[0.5], measures="recall").pairs
        return {"choose_threshold: costs of two models": bool(pairs["significant"].iloc[0])}
