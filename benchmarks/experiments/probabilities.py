"""Coverage of the intervals of net benefit and calibration, and type I error of the tests of calibration."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit, ndtri

from experiments.registry import LEVEL, PROBABILITIES, covers, experiment, rejects
from fairtrial.measures import brier_decomposition, corp_curve, decision_differences, interval
from fairtrial.significance import calibration_test

Hits = Mapping[str, bool | None]
Rng = np.random.Generator
THRESHOLDS = {0.5: (0.3, 0.5), 0.1: (0.05, 0.2)}
MEANS = {0.5: 0.0, 0.1: -2.9}
SPREAD = 1.5
SHAPES = {"calibrated": (0.0, 1.0), "overconfident": (0.3, 0.6)}
"""Intercept and slope of the true logits, given the logits of the predicted probabilities."""


def _predict(x: np.ndarray, shape: str) -> np.ndarray:
    """Compute the predicted logits whose true logits are x."""
    intercept, slope = SHAPES[shape]
    return (x - intercept) / slope


@cache
def _compute_truth(prevalence: float, shape: str) -> dict[str, float]:
    """Compute the true values from a fine grid of the normal distribution."""
    x = MEANS[prevalence] + SPREAD * ndtri((np.arange(200_000) + 0.5) / 200_000)
    q, predicted = expit(x), _predict(x, shape)
    p = expit(predicted)
    truth = {
        "calibration_intercept": float(brentq(lambda a: (expit(a + predicted) - q).mean(), -5, 5)),
        "calibration_slope": SHAPES[shape][1],
        "brier_miscalibration": float(((p - q) ** 2).mean()),
        "brier_discrimination": float(q.var()),
        "uncertainty": float(q.mean() * (1 - q.mean())),
    }
    for t in THRESHOLDS[prevalence]:
        gain = q - (1 - q) * t / (1 - t)
        truth[f"net_benefit {t}"] = float((gain * (p >= t)).mean())
        truth[f"treat all {t}"] = float((gain * ((p >= t) - 1.0)).mean())
    return truth


def _draw(rng: Rng, rows: int, prevalence: float, shape: str, cluster_size: int = 1) -> tuple[np.ndarray, ...]:
    """Draw outcomes, probabilities and clusters; rows of a cluster share 30 % of the variance of logits and outcomes."""
    cluster = np.arange(rows) // cluster_size
    share = 0.3 if cluster_size > 1 else 0.0
    x, z = (
        np.sqrt(share) * rng.standard_normal(rows)[cluster] + np.sqrt(1 - share) * rng.standard_normal(rows) for _ in range(2)
    )
    logits = MEANS[prevalence] + SPREAD * x
    return (ndtri(expit(logits)) > z).astype(int), expit(_predict(logits, shape)), cluster


def _check_intervals(y: np.ndarray, p: np.ndarray, cluster: np.ndarray | None, prevalence: float, shape: str) -> Hits:
    truth, options = _compute_truth(prevalence, shape), {"cluster": cluster, "labels": [0, 1]}
    hits: dict[str, bool | None] = {}
    # The target of the O:E ratio is the expected number of positives over the sum of the given probabilities.
    intercept, slope = SHAPES[shape]
    expected = float(expit(intercept + slope * logit(p)).sum() / p.sum())
    for name in ("calibration_intercept", "calibration_slope", "oe_ratio"):
        result = interval(name, y, p, **options)
        target = expected if name == "oe_ratio" else truth[name]
        hits[f"interval, {name}"] = covers(result, target) if np.isfinite(result.low) else None
    parts = brier_decomposition(y, p, **options)
    for part in (parts.miscalibration, parts.discrimination, parts.uncertainty):
        hits[f"brier_decomposition, {part.measure}"] = covers(part, truth[part.measure])
    for t in THRESHOLDS[prevalence]:
        hits[f"interval, net_benefit, threshold {t}"] = covers(
            interval("net_benefit", y, p, threshold=t, **options), truth[f"net_benefit {t}"]
        )
        line = decision_differences(y, p, [t], **options).iloc[0]
        hits[f"decision_differences, treat all, threshold {t}"] = covers(line, truth[f"treat all {t}"])
    return hits


def _check_tests(y: np.ndarray, p: np.ndarray, cluster: np.ndarray | None, seed: int) -> Hits:
    methods = ("auto",) if cluster is not None else ("auto", "score", "likelihood_ratio", "spiegelhalter")
    options = {"cluster": cluster, "labels": [0, 1]}
    return {f"calibration_test, {name}": rejects(calibration_test(y, p, method=name, seed=seed, **options)) for name in methods}


for _rows in (50, 200, 1000):
    for _prevalence in (0.5, 0.1):
        for _shape in SHAPES:

            @experiment(PROBABILITIES, f"{_rows} rows, {100 * _prevalence:g} % positive, {_shape}", share=0.1, nominal=LEVEL)
            def intervals(rng: Rng, rows=_rows, prevalence=_prevalence, shape=_shape) -> Hits:  # type: ignore[no-untyped-def]
                y, p, _ = _draw(rng, rows, prevalence, shape)
                with warnings.catch_warnings(action="ignore"):
                    return _check_intervals(y, p, None, prevalence, shape)


for _clusters in (20, 100):
    for _prevalence in (0.5, 0.1):
        for _shape in SHAPES:

            @experiment(
                PROBABILITIES,
                f"{_clusters} clusters with 5 rows, {100 * _prevalence:g} % positive, {_shape}",
                share=0.1,
                nominal=LEVEL,
            )
            def clustered(rng: Rng, clusters=_clusters, prevalence=_prevalence, shape=_shape) -> Hits:  # type: ignore[no-untyped-def]
                y, p, cluster = _draw(rng, 5 * clusters, prevalence, shape, 5)
                with warnings.catch_warnings(action="ignore"):
                    return _check_intervals(y, p, cluster, prevalence, shape)


@cache
def _compute_true_difference(prevalence: float, t: float) -> float:
    """Compute the true difference in net benefit between a model and a noisier one, from a large sample."""
    rng = np.random.default_rng(5)
    q, first, second = _draw_models(rng, 4_000_000, prevalence)
    return float(((q - (1 - q) * t / (1 - t)) * ((first >= t) * 1.0 - (second >= t))).mean())


def _draw_models(rng: Rng, rows: int, prevalence: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    logits = MEANS[prevalence] + SPREAD * rng.standard_normal(rows)
    return expit(logits), expit(logits), expit(logits + 0.8 * rng.standard_normal(rows))


for _rows in (50, 200, 1000):
    for _prevalence in (0.5, 0.1):

        @experiment(PROBABILITIES, f"{_rows} rows, {100 * _prevalence:g} % positive, two models", share=0.1, nominal=LEVEL)
        def pairs(rng: Rng, rows=_rows, prevalence=_prevalence) -> Hits:  # type: ignore[no-untyped-def]
            q, first, second = _draw_models(rng, rows, prevalence)
            y = (rng.random(rows) < q).astype(int)
            lines = decision_differences(y, {"a": first, "b": second}, list(THRESHOLDS[prevalence]), labels=[0, 1])
            lines = lines[lines["second"] == "b"].to_dict("records")
            return {
                f"decision_differences, two models, threshold {line['threshold']}": bool(
                    line["low"] <= _compute_true_difference(prevalence, line["threshold"]) <= line["high"]
                )
                for line in lines
            }


for _rows in (20, 50, 200, 1000):
    for _prevalence in (0.5, 0.1):

        @experiment(PROBABILITIES, f"{_rows} rows, {100 * _prevalence:g} % positive, calibrated: tests", share=0.1)
        def calibrated(rng: Rng, rows=_rows, prevalence=_prevalence) -> Hits:  # type: ignore[no-untyped-def]
            y, p, _ = _draw(rng, rows, prevalence, "calibrated")
            return _check_tests(y, p, None, int(rng.integers(1 << 30)))


for _clusters in (10, 20, 100):

    @experiment(PROBABILITIES, f"{_clusters} clusters with 5 rows, calibrated: tests", share=0.2)
    def clustered_tests(rng: Rng, clusters=_clusters) -> Hits:  # type: ignore[no-untyped-def]
        y, p, cluster = _draw(rng, 5 * clusters, 0.5, "calibrated", 5)
        return _check_tests(y, p, cluster, int(rng.integers(1 << 30)))


# Rounded probabilities of 0 and 1 are frequent if the logits vary this much.
ROUNDED_SPREADS = {"some of them 0 or 1": 2.0, "many of them 0 or 1": 4.0}

for _rows in (50, 200, 1000):
    for _name, _spread in ROUNDED_SPREADS.items():
        _setting = f"{_rows} rows, calibrated probabilities rounded to 2 decimal places, {_name}"

        @experiment(PROBABILITIES, f"{_setting}: tests", share=0.1)
        def rounded_tests(rng: Rng, rows=_rows, spread=_spread) -> Hits:  # type: ignore[no-untyped-def]
            y, _, rounded = _draw_rounded(rng, rows, spread)
            test = calibration_test(y, rounded, seed=int(rng.integers(1 << 30)), resamples=1000, labels=[0, 1])
            return {"calibration_test, auto": None if np.isnan(test.p_value) else rejects(test)}

        @experiment(PROBABILITIES, f"{_setting}: intervals", share=0.1, nominal=LEVEL)
        def rounded_intervals(rng: Rng, rows=_rows, spread=_spread) -> Hits:  # type: ignore[no-untyped-def]
            y, p, rounded = _draw_rounded(rng, rows, spread)
            truth = {"calibration_intercept": 0.0, "calibration_slope": 1.0, "oe_ratio": float(p.sum() / rounded.sum())}
            with warnings.catch_warnings(action="ignore"):
                results = {name: interval(name, y, rounded, labels=[0, 1]) for name in truth}
                parts = brier_decomposition(y, rounded, labels=[0, 1])
            hits = {
                f"interval, {name}": covers(results[name], target) if np.isfinite(results[name].low) else None
                for name, target in truth.items()
            }
            return hits | {"brier_decomposition, brier_miscalibration": covers(parts.miscalibration, 0.0)}


def _draw_rounded(rng: Rng, rows: int, spread: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw outcomes, calibrated probabilities, and these probabilities rounded to 2 decimal places."""
    p = expit(-1 + spread * rng.standard_normal(rows))
    return (rng.random(rows) < p).astype(int), p, p.round(2)


for _rows, _size in ((100, 1), (1000, 1), (1000, 5)):

    @experiment(
        PROBABILITIES, f"{_rows} rows in clusters of {_size}, calibrated: band of the CORP curve", share=0.1, nominal=LEVEL
    )
    def band(rng: Rng, rows=_rows, size=_size) -> Hits:  # type: ignore[no-untyped-def]
        y, p, cluster = _draw(rng, rows, 0.5, "calibrated", size)
        curve = corp_curve(y, p, cluster=cluster if size > 1 else None, resamples=400, seed=int(rng.integers(1 << 30)))
        hits = {}
        for x in (0.1, 0.5, 0.9):
            line = curve.iloc[int((curve["predicted"] - x).abs().argmin())]
            hits[f"corp_curve, probability {x}"] = covers(line, float(line["recalibrated"]))
        return hits
