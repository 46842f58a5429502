"""Family-wise error and simultaneous coverage of the gaps between subgroups and the rest of the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
import pandas as pd
from scipy.special import expit

from experiments.registry import ALPHA, LEVEL, SUBGROUPS, experiment
from fairtrial.measures import demographic_parity_difference, equalized_odds_difference, get_measure
from fairtrial.predictions.read import read_predictions
from fairtrial.predictions.statistics import InMemoryModels, JudgeSettings
from fairtrial.predictions.subgroups import build_gaps, find_other_gaps

Hits = Mapping[str, bool | None]
Rng = np.random.Generator
MEASURES = ("accuracy", "recall", "precision", "selection_rate", "fpr", "auc", "brier", "f_score", "average_precision")
SIZES = {
    "2 subgroups of 50": (50, 50),
    "2 subgroups of 20 and 400": (20, 400),
    "4 subgroups of 20, 40, 80 and 160": (20, 40, 80, 160),
    "4 subgroups of 500": (500,) * 4,
    "10 subgroups of 20 to 200": (20, 20, 20, 40, 40, 40, 80, 80, 200, 200),
    "10 subgroups of 200": (200,) * 10,
}


def _draw_rows(rng: Rng, sizes: Sequence[int], prior: float, separations: Sequence[float], patient: int) -> pd.DataFrame:
    """Draw calibrated probabilities. Rows of a patient share an effect on the score; each subgroup has its separation."""
    codes = np.repeat(np.arange(len(sizes)), sizes)
    y = (rng.random(len(codes)) < prior).astype(int)
    patients = np.arange(len(codes)) // patient
    noise = rng.standard_normal(len(codes))
    if patient > 1:
        noise = np.sqrt(0.5) * noise + np.sqrt(0.5) * rng.standard_normal(patients.max() + 1)[patients]
    separation = np.asarray(separations)[codes]
    logit = separation * (separation * y + noise - separation / 2) + np.log(prior / (1 - prior))
    frame = pd.DataFrame({"y_true": y, "score": expit(logit).clip(1e-12, 1 - 1e-12), "part": codes, "patient": patients})
    return frame.assign(label=(frame["score"] > (0.5 if prior == 0.5 else prior)).astype(int))


def _compute_gaps(frame: pd.DataFrame, measures: Sequence[str], clustered: bool) -> pd.DataFrame:
    columns = frame.drop(columns="patient") if not clustered else frame
    file = read_predictions(
        columns, y_true="y_true", prediction="label", scores="score", subgroup="part", cluster="patient" if clustered else None
    )
    models = InMemoryModels(file, 1).models
    subgroups = {(models[0].dataset, "part"): sorted(map(str, set(frame["part"])))}
    return build_gaps(models, subgroups, [get_measure(name) for name in measures], JudgeSettings(LEVEL))


@cache
def _compute_true_gaps(sizes: tuple[int, ...], prior: float, separations: tuple[float, ...]) -> pd.Series:
    """Compute the true gaps from a large sample."""
    scale = 1_000_000 // sum(sizes)
    frame = _draw_rows(np.random.default_rng(1), [size * scale for size in sizes], prior, separations, 1)
    return _compute_gaps(frame, MEASURES, False).set_index(["measure", "subgroup"])["difference"]


for _name, _sizes in SIZES.items():
    for _prior, _separation in ((0.5, 1.5), (0.2, 2.5)):
        for _patient in (1, 4):

            @experiment(
                SUBGROUPS,
                f"{_name}, {_prior:.0%} positive, separation {_separation}{', patients of 4 rows' if _patient > 1 else ''}: "
                "no subgroup differs",
                share=0.05,
            )
            def family_wise_error(  # type: ignore[no-untyped-def]
                rng: Rng, sizes=_sizes, prior=_prior, separation=_separation, patient=_patient
            ) -> Hits:
                frame = _draw_rows(rng, sizes, prior, [separation] * len(sizes), patient)
                gaps = _compute_gaps(frame, MEASURES, patient > 1)
                hits = {
                    f"gaps, {measure}: any significant": bool(lines["significant"].any())
                    for measure, lines in gaps.groupby("measure", sort=False)
                    if lines["p_adjusted"].notna().any()
                }
                return hits | {"gaps, measures other than auc: any stated": find_other_gaps(gaps, "auc", ALPHA) is not None}

            @experiment(
                SUBGROUPS,
                f"{_name}, {_prior:.0%} positive, separations 1 to 2.5{', patients of 4 rows' if _patient > 1 else ''}: "
                "all limits cover",
                share=0.05,
                nominal=LEVEL,
            )
            def coverage(rng: Rng, sizes=_sizes, prior=_prior, patient=_patient) -> Hits:  # type: ignore[no-untyped-def]
                separations = tuple(np.linspace(1, 2.5, len(sizes)).tolist())
                true_gaps = _compute_true_gaps(sizes, prior, separations)
                gaps = _compute_gaps(_draw_rows(rng, sizes, prior, separations, patient), MEASURES, patient > 1)
                return {
                    f"gaps, {measure}: all limits cover": _covers(lines.set_index(["measure", "subgroup"]), true_gaps)
                    for measure, lines in gaps.groupby("measure", sort=False)
                }


def _covers(lines: pd.DataFrame, true_gaps: pd.Series) -> bool | None:
    known = lines[lines["low"].notna()]
    differences = true_gaps.loc[known.index]
    return bool(((known["low"] <= differences) & (differences <= known["high"])).all()) if len(known) else None


for _name, _sizes in SIZES.items():
    for _spread in (0.0, 0.2):

        @experiment(
            SUBGROUPS,
            f"{_name}, selection rates {'equal' if not _spread else 'differ by 0.2'}: limits of the largest difference",
            share=0.05,
            nominal=LEVEL,
        )
        def largest_differences(rng: Rng, sizes=_sizes, spread=_spread) -> Hits:  # type: ignore[no-untyped-def]
            codes = np.repeat(np.arange(len(sizes)), sizes)
            y = rng.integers(0, 2, len(codes))
            rates = np.linspace(0.3 - spread / 2, 0.3 + spread / 2, len(sizes))[codes] + 0.4 * y
            predicted = (rng.random(len(codes)) < rates).astype(int)
            parity = demographic_parity_difference(y, predicted, codes)
            odds = equalized_odds_difference(y, predicted, codes)
            return {
                "demographic_parity_difference: limits cover": parity.low <= spread <= parity.high,
                "equalized_odds_difference: limits cover": odds.low <= spread <= odds.high,
            }
