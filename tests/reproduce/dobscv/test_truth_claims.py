"""Claims on pooled numbers of which the answer is known."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.reproduce.dobscv.trials import LITERAL, SCV, SHUFFLED
from fairtrial.reproduce.dobscv.truth_claims import first_fold, interval_in, truth_claims


def pooled(fold_bias=(0.0, 0.0, 0.0), excess=(0.0, 0.0, 0.0), reach=0.002, nearer=0, farther=0):
    lines = [
        ("balanced accuracy", scheme, 0.01, 0.05, 20, nearer, farther, own, own - reach, own + reach, e, e - reach, e + reach)
        for scheme, own, e in zip((SCV, LITERAL, SHUFFLED), fold_bias, excess, strict=True)
    ]
    names = ["measure", "scheme", "bias", "rmse", "cells", "nearer than SCV", "farther than SCV"]
    ends = [f"{name}{end}" for name in ("fold_bias", "excess") for end in ("", "_low", "_high")]
    return pd.DataFrame(lines, columns=[*names, *ends])


@pytest.mark.parametrize(
    ("fold_bias", "holds"),
    [
        ((0.0, 0.01, 0.01), True),
        ((0.0, 0.01, 0.001), None),
        ((0.0, 0.01, -0.01), False),
        ((0.01, 0.01, 0.01), False),
        ((0.004, 0.01, 0.01), None),
    ],
)
def test_optimism(fold_bias, holds):
    assert truth_claims(pooled(fold_bias))[1].holds is holds


def test_a_wide_interval_does_not_clear_scv():
    assert truth_claims(pooled((0.0, 0.5, 0.5), reach=0.1))[1].holds is None


@pytest.mark.parametrize(
    ("excess", "holds"),
    [((0, -0.01, -0.01), True), ((0, 0.01, 0.01), False), ((0, -0.01, -0.001), None), ((0, -0.01, 0.01), False)],
)
def test_who_is_nearer(excess, holds):
    assert truth_claims(pooled(excess=excess))[0].holds is holds


def test_a_cell_by_chance_decides_nothing():
    claim = truth_claims(pooled(nearer=1))[0]
    assert claim.holds is None
    assert "nearer in 1 and farther in 0 of 20 cells" in claim.evidence


def test_intervals_are_read_from_the_table():
    own = pooled((0.0, 0.01, 0.02)).set_index("scheme")
    assert interval_in(own, SHUFFLED, "fold_bias").told() == "+0.0200 (+0.0180 to +0.0220)"


def test_a_first_fold_that_is_worse():
    rng = np.random.default_rng(1)
    lines = [
        (scheme, f"set {number}", fold, 0.8 + rng.normal(0, 0.01) - (0.05 if scheme == LITERAL and fold == 0 else 0))
        for scheme in (LITERAL, SHUFFLED)
        for number in range(20)
        for fold in range(5)
    ]
    scores = pd.DataFrame(lines, columns=["scheme", "dataset", "fold", "value"])
    claim = first_fold(scores, 20)
    assert claim.holds
    assert "outliers" not in claim.text
    assert "DOB-SCV literal -0.04" in claim.evidence
    assert first_fold(scores, 2).holds is None
    assert first_fold(scores.assign(value=0.8 + 0.01 * (scores["fold"] == 0)), 20).holds is False
    both = scores["value"].where((scores["scheme"] == LITERAL) | (scores["fold"] > 0), scores["value"] - 0.05)
    assert first_fold(scores.assign(value=both), 20).holds is False  # shuffled groups do not mend it
    loose = scores["value"] + np.where(scores["scheme"] == SHUFFLED, rng.normal(0, 0.2, len(scores)), 0)
    assert first_fold(scores.assign(value=loose), 20).holds is None  # nor is it known whether they do
