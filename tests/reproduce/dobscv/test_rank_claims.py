"""Claims about Wilcoxon's tests over runs."""

import pandas as pd
import pytest

from fairtrial.reproduce.dobscv.rank_claims import normal_scores, rank_claims
from fairtrial.reproduce.dobscv.table5 import comparison_of
from fairtrial.reproduce.dobscv.trials import GIVEN, LITERAL, SCV


def some_tests(chances, plus=1400.0, base=GIVEN, learner="SMO"):
    lines = [(learner, comparison_of(LITERAL, base), run, plus + run, 2211 - plus - run, p) for run, p in enumerate(chances)]
    return pd.DataFrame(lines, columns=["learner", "comparison", "run", "R+", "R-", "p"])


@pytest.mark.parametrize(
    ("chances", "holds"),
    [
        ((0.001, 0.002, 0.001, 0.003, 0.002), True),
        ((0.2, 0.3, 0.25, 0.4, 0.3), False),
        ((0.03, 0.06, 0.04, 0.08, 0.03), None),
        ((0.001,), None),
        ((0.9,), None),
    ],
)
def test_significance_is_that_of_single_runs(chances, holds):
    claim = rank_claims(some_tests(chances))[0]
    assert claim.holds is holds
    assert claim.evidence.endswith("SMO 0.0639, PDFC 0.0955")  # as printed in Table 5


def test_significantly_lower_does_not_count():
    assert rank_claims(some_tests((0.001, 0.002, 0.001), plus=500.0))[0].holds is False


@pytest.mark.parametrize(("plus", "holds"), [(1400.0, True), (700.0, False), (1104.0, None)])
def test_rank_sums(plus, holds):
    assert rank_claims(some_tests((0.1, 0.1, 0.1), plus=plus))[1].holds is holds


def test_both_kinds_of_folds_and_all_learners_must_agree():
    good, bad = some_tests((0.001, 0.002, 0.001)), some_tests((0.5, 0.6, 0.5), plus=700.0, base=SCV)
    both = rank_claims(pd.concat([good, bad]))
    assert [each.holds for each in both] == [False, False]
    assert "against SCV:" in both[1].evidence
    third = some_tests((0.5, 0.6, 0.5), plus=700.0, learner="Chi")
    assert rank_claims(pd.concat([good, third]))[1].holds is False


def test_published_p_as_z():
    assert normal_scores(some_tests((0.0639,))).tolist() == pytest.approx([1.8528], abs=1e-3)  # R: qnorm(1 - .0639 / 2)
