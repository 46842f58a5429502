"""Ranking measures against the R package hmeasure 1.0-2.

r_hmeasure.csv holds 14 random data sets with four severity ratios each (empty: the default) and what HMeasure(y, s,
severity.ratio) printed with 12 digits. hmeasure turns a ranking round whose AUC is below one half; fairtrial does not, so such
cases are given to it the other way round.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairtrial.measures import auc, auch, h_measure, ks, mer, mwl

CASES = pd.read_csv(Path(__file__).with_name("r_hmeasure.csv")).to_dict("records")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['case']}-{case['severity_ratio']}")
def test_equals_hmeasure_in_r(case):
    y, s = np.array(case["y"].split(), dtype=int), np.array(case["s"].split(), dtype=float)
    ratio = None if np.isnan(case["severity_ratio"]) else case["severity_ratio"]
    if auc(y, s) < 0.5:
        s = -s
    assert h_measure(y, s, severity_ratio=ratio) == pytest.approx(case["H"], abs=1e-10)
    assert mwl(y, s, severity_ratio=ratio) == pytest.approx(case["MWL"], abs=1e-10)
    for measure, name in ((auc, "AUC"), (auch, "AUCH"), (ks, "KS"), (mer, "MER")):
        assert measure(y, s) == pytest.approx(case[name], abs=1e-10)


def test_the_cases_are_as_varied_as_they_should_be():
    assert len(CASES) == 56
    assert any(len(set(case["s"].split())) < len(case["s"].split()) for case in CASES)
