"""Claims on pooled numbers of which the answer is known."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.reproduce.dobscv.trials import LITERAL, SCV, SHUFFLED
from fairtrial.reproduce.dobscv.truth_claims import first_fold, truth_claims


def pooled(fold_bias, nearer, farther):
    lines = [
        ("balanced accuracy", scheme, 0.01, 0.05, 20, nearer, farther, own, own - 0.002, own + 0.002)
        for scheme, own in zip((SCV, LITERAL, SHUFFLED), fold_bias, strict=True)
    ]
    names = ["measure", "scheme", "bias", "rmse", "cells", "nearer than SCV", "farther than SCV"]
    return pd.DataFrame(lines, columns=[*names, "fold_bias", "fold_bias_low", "fold_bias_high"])


@pytest.mark.parametrize(
    ("fold_bias", "holds"),
    [((0.0, 0.01, 0.01), True), ((0.0, 0.01, 0.001), None), ((0.0, 0.01, -0.01), False), ((0.01, 0.01, 0.01), False)],
)
def test_optimism(fold_bias, holds):
    assert truth_claims(pooled(fold_bias, 0, 0))[1].holds is holds


@pytest.mark.parametrize(("nearer", "farther", "holds"), [(5, 1, True), (1, 5, False), (2, 2, None)])
def test_who_is_nearer(nearer, farther, holds):
    assert truth_claims(pooled((0.0, 0.0, 0.0), nearer, farther))[0].holds is holds


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
    assert "DOB-SCV literal -0.04" in claim.evidence
    assert first_fold(scores, 2).holds is None
    assert first_fold(scores.assign(value=0.8 + 0.01 * (scores["fold"] == 0)), 20).holds is not True
