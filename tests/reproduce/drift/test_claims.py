"""Claims, judged by results whose losses are known."""

from math import nan
from typing import NamedTuple

import pytest

from fairtrial.reproduce.claim import IntervalEstimate
from fairtrial.reproduce.drift.claims import (
    MARGIN,
    build_claims,
    compute_margin_left,
    judge_averages,
    judge_best_choice,
    judge_drop,
    judge_over_variants,
    judge_rows,
    judge_simpler,
)
from fairtrial.reproduce.drift.simulation import DriftPlan
from tests.reproduce.drift.conftest import LOST, make_results


def test_all_lose_and_the_simpler_more(results):
    for table in ("populations", "missing", "definitions"):
        assert judge_drop(results, table).reproduced is True
    assert [judge_simpler(results, table).reproduced for table in ("populations", "missing")] == [True, True]
    assert judge_simpler(results, "definitions").reproduced is False  # the simple network must not lose more there
    assert judge_best_choice(results).reproduced is True
    assert "lower in 20, higher in 0" in judge_best_choice(results).details


def test_a_learner_that_gains_refutes_and_one_that_wobbles_leaves_open():
    gains, still = make_results(LOST | {"1R": -0.02}), make_results(LOST | {"1R": 0.0})
    assert judge_drop(gains, "missing").reproduced is False
    assert judge_drop(still, "missing").reproduced is None
    assert judge_simpler(gains, "missing").reproduced is False


def test_table_three_as_the_tutorial_has_it():
    as_printed = make_results({"1R": 0.06, "Decision Tree": 0.03, "Simple NN": 0.02, "Complex NN": 0.05})
    assert judge_simpler(as_printed, "definitions").reproduced is True
    assert judge_simpler(as_printed, "populations").reproduced is False


def test_not_more_is_shown_by_an_interval_and_not_by_a_lack_of_evidence():
    alike = make_results({"1R": 0.06, "Decision Tree": 0.03, "Simple NN": 0.0200, "Complex NN": 0.0241})
    assert judge_simpler(alike, "definitions").reproduced is True
    judged = [
        compute_margin_left(IntervalEstimate(value, value - 0.01, value + 0.01)).is_positive for value in (-0.3, 0.0, 0.05, 0.2)
    ]
    assert judged == [True, True, None, False]
    assert compute_margin_left(IntervalEstimate(0.0, -0.4, 0.4)).is_positive is None
    assert "that of the simple network by less than 0.05" in judge_simpler(alike, "definitions").text


class FixedResults(NamedTuple):
    """Results whose differences between the learners of both pairs are given."""

    both: tuple[IntervalEstimate, IntervalEstimate]
    plan = DriftPlan.read("smoke")

    def estimate_pd_difference(self, table, pair, variant=""):
        return self.both[self.plan.pairs.index(pair)]

    estimate_loss_difference = estimate_pd_difference


@pytest.mark.parametrize(("table", "second"), [("populations", 0.3), ("missing", 0.3), ("definitions", MARGIN - 0.3)])
def test_a_claim_of_two_parts_is_refused_only_by_intervals_that_hold_together(table, second):
    """At 4 degrees of freedom an interval for two parts is 3.495 / 2.776 = 1.26 times as wide as one alone."""
    holds = IntervalEstimate(second, second - 0.1, second + 0.1, 4)
    for half, verdict in ((0.9, None), (0.7, False)):  # both below 0 alone; widened, 1.13 and 0.88
        assert judge_simpler(FixedResults((IntervalEstimate(-1, -1 - half, -1 + half, 4), holds)), table).reproduced is verdict
        refused = MARGIN + 1 if table == "definitions" else -1
        beyond = IntervalEstimate(refused, refused - half, refused + half, 4)
        assert judge_simpler(FixedResults((IntervalEstimate(1, 0.5, 1.5, 4), beyond)), table).reproduced is verdict
    assert judge_simpler(FixedResults((IntervalEstimate(1, 0.5, 1.5, 4), holds)), table).reproduced is True


def test_a_variant_that_says_the_contrary_leaves_it_open():
    signs = {"": 1, "same": 1, "other": -1, "unclear": 0}

    def numbers(variant):
        return [IntervalEstimate(signs[variant], signs[variant] - 0.5, signs[variant] + 0.5, 9)]

    assert judge_over_variants(["same"], numbers) == (True, "; the same under all variants")
    assert judge_over_variants([], numbers) == (True, "")
    verdict, told = judge_over_variants(["same", "other", "unclear"], numbers)
    assert verdict is None
    assert told == "; main variant: reproduced, other: contradicted, unclear: inconclusive"
    assert judge_over_variants(["unclear"], numbers) == (True, "; main variant: reproduced, unclear: inconclusive")


def test_what_is_undefined_is_called_so():
    nothing = IntervalEstimate(nan, nan, nan)
    judged = judge_simpler(FixedResults((nothing, nothing)), "missing")
    assert judged.reproduced is None
    assert "nan" not in judged.details
    assert "1R minus Decision Tree undefined" in judged.details


def test_how_it_is_judged_is_said(results):
    for judged in build_claims(results)[:6]:
        assert "(judged as: " in judged.text


def test_the_tutorials_own_numbers():
    assert judge_averages().reproduced is False
    assert judge_averages().details.count("Table II,") == 4
    assert "1R from FC to MC (1.00)" in judge_averages().details
    assert judge_rows().details.startswith("89 of 90")


def test_each_claim_has_its_numbers(results):
    judged = build_claims(results)
    assert len(judged) == 9
    assert all(any(sign.isdigit() for sign in claim.details) for claim in judged)
