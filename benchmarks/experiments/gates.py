"""Error rates of `gate` at the boundary of each decision: the true difference is -margin, 0 or +margin."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.special import expit, ndtri

from experiments.registry import ALPHA, GATES, experiment
from fairtrial.measures import get_measure
from fairtrial.predictions.gate import gate

Hits = Mapping[str, bool | None]
Rng = np.random.Generator
OTHER_MEASURES = ("f_score", "balanced_accuracy", "brier", "average_precision")


def _count_errors(frame: pd.DataFrame, measure: str, margin: float, bound: float, **options: object) -> Hits:
    """Return which decisions about new - old are wrong if the true difference is `bound`, which is -margin, 0 or margin."""
    result = gate(frame, candidate="new", baseline="old", measure=measure, margin=margin, positive=1, **options)
    tests = {test.name: test.passed for test in result.comparisons[0].result.tests}
    if bound == 0:
        return {f"gate, {measure}: superior, true difference 0": tests["superiority"]}
    if bound > 0:
        return {f"gate, {measure}: equivalent, true difference +margin": tests["equivalence"]}
    return {
        f"gate, {measure}: non-inferior, true difference -margin": tests["non-inferiority"],
        f"gate, {measure}: inferior, true difference -margin": tests["inferiority"],
    }


def _draw_labels(rng: Rng, rows: int, discordant: float, difference: float) -> pd.DataFrame:
    """Draw two models of which 70 % of the other rows are right for both."""
    only_new, only_old = (discordant + difference) / 2, (discordant - difference) / 2
    chances = [only_new, only_old, 0.7 * (1 - discordant), 0.3 * (1 - discordant)]
    outcome = rng.choice(4, rows, p=chances)
    y = np.arange(rows) % 2
    right = {"new": np.isin(outcome, (0, 2)), "old": np.isin(outcome, (1, 2))}
    return pd.DataFrame({"y_true": y, **{name: np.where(is_right, y, 1 - y) for name, is_right in right.items()}})


for _rows in (40, 100, 300, 1000):
    for _discordant, _margin in ((0.05, 0.02), (0.11, 0.1), (0.3, 0.1)):
        for _sign in (-1, 0, 1):

            @experiment(
                GATES,
                f"{_rows} rows, {100 * _discordant:g} % discordant, margin {_margin}, true difference {_sign * _margin:g}",
                share=0.1,
                nominal=ALPHA / 2,
            )
            def accuracy(rng: Rng, rows=_rows, discordant=_discordant, margin=_margin, sign=_sign) -> Hits:  # type: ignore[no-untyped-def]
                return _count_errors(_draw_labels(rng, rows, discordant, sign * margin), "accuracy", margin, sign * margin)


def _draw_scores(
    rng: Rng, positives: int, negatives: int, separations: tuple[float, float], correlation: float
) -> pd.DataFrame:
    """Draw normal scores of an old and a new model with these separations of the classes."""
    y = np.repeat([1, 0], [positives, negatives])
    shared, *own = rng.standard_normal((3, len(y)))
    scores = [np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * noise for noise in own]
    old, new = (score + separation * y for score, separation in zip(scores, separations, strict=True))
    return pd.DataFrame({"row": np.arange(len(y)), "y_true": y, "old_score": old, "new_score": new})


for _positives, _negatives in ((5, 50), (10, 10), (20, 200), (50, 50), (200, 200), (200, 2000)):
    for _auc, _margin, _correlation in ((0.75, 0.05, 0.5), (0.9, 0.05, 0.9), (0.95, 0.02, 0.5)):
        for _sign in (-1, 0, 1):

            @experiment(
                GATES,
                f"{_positives} + {_negatives} rows, AUC {_auc}, correlation {_correlation}, margin {_margin}, true difference "
                f"{_sign * _margin:g}",
                share=0.1,
                nominal=ALPHA / 2,
            )
            def aucs(  # type: ignore[no-untyped-def]
                rng: Rng, m=_positives, n=_negatives, auc=_auc, margin=_margin, correlation=_correlation, sign=_sign
            ) -> Hits:
                separations = np.sqrt(2) * ndtri(auc), np.sqrt(2) * ndtri(auc + sign * margin)
                return _count_errors(_draw_scores(rng, m, n, separations, correlation), "auc", margin, sign * margin)


for _patients in (10, 20, 50):

    @experiment(GATES, f"{_patients} patients with 5 rows each, accuracy, margin 0.1", share=0.1, nominal=ALPHA / 2)
    def clusters(rng: Rng, patients=_patients) -> Hits:  # type: ignore[no-untyped-def]
        # A patient is easy or hard for a model: 5 rows share most of the outcome.
        patient = np.repeat(np.arange(patients), 5)
        y = np.arange(5 * patients) % 2
        predictions = {}
        for name, rate in (("new", 0.75), ("old", 0.85)):
            own, shared = rng.random(5 * patients) < rate, (rng.random(patients) < rate)[patient]
            right = np.where(rng.random(5 * patients) < 0.5, own, shared)
            predictions[name] = np.where(right, y, 1 - y)
        frame = pd.DataFrame({"patient": patient, "y_true": y, **predictions})
        return _count_errors(frame, "accuracy", 0.1, -0.1, cluster="patient")


def _to_probabilities(frame: pd.DataFrame, separations: tuple[float, float], prior: float) -> pd.DataFrame:
    """Turn normal scores into the calibrated probability of the positive class."""
    columns = {
        f"{name}_proba": expit(separation * (frame[f"{name}_score"] - separation / 2) + np.log(prior / (1 - prior)))
        for name, separation in zip(("old", "new"), separations, strict=True)
    }
    return frame[["row", "y_true"]].assign(**columns)


def _compute_truth(measure: str, positives: int, negatives: int, separations: tuple[float, float]) -> float:
    """Compute the true difference in a measure from a large sample."""
    rng, scale = np.random.default_rng(1), 400_000 // (positives + negatives)
    frame = _draw_scores(rng, positives * scale, negatives * scale, separations, 0.7)
    frame = _to_probabilities(frame, separations, positives / (positives + negatives))
    found = get_measure(measure)
    values = {}
    for name in ("old", "new"):
        probability = frame[f"{name}_proba"].to_numpy()
        inputs = (probability > 0.5).astype(int) if found.facts.needs == "labels" else probability
        values[name] = float(found(frame["y_true"].to_numpy(), inputs))
    return values["new"] - values["old"]


for _positives, _negatives in ((100, 100), (100, 500), (300, 300)):
    for _measure in OTHER_MEASURES:
        _separations = 1.6, 1.3

        @experiment(GATES, f"{_positives} + {_negatives} rows, {_measure}", share=0.1, nominal=ALPHA / 2)
        def others(  # type: ignore[no-untyped-def]
            rng: Rng,
            m=_positives,
            n=_negatives,
            measure=_measure,
            separations=_separations,
            truth=[],  # noqa: B006
        ) -> Hits:
            if not truth:
                truth.append(_compute_truth(measure, m, n, separations))
            frame = _to_probabilities(_draw_scores(rng, m, n, separations, 0.7), separations, m / (m + n))
            margin = abs(truth[0])
            return _count_errors(frame, measure, margin, -margin, resamples=1000)
