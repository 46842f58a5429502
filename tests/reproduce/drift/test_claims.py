from math import nan
from typing import NamedTuple

import pytest

from fairtrial.reproduce.drift.claims import (
    MARGIN,
    averages_follow,
    best_choice,
    claims,
    drop,
    lines_follow,
    over_variants,
    short_of,
    simpler,
    told_apart,
)
from fairtrial.reproduce.drift.declared import plan_of
from fairtrial.reproduce.interval import Interval
from tests.reproduce.drift.conftest import LOST, findings


def test_all_lose_and_the_simpler_more(found):
    for table in ("populations", "missing", "definitions"):
        assert drop(found, table).holds is True
    assert [simpler(found, table).holds for table in ("populations", "missing")] == [True, True]
    assert simpler(found, "definitions").holds is False  # the simple network must not lose more there
    assert best_choice(found).holds is True
    assert "less in 20, more in 0" in best_choice(found).evidence


def test_a_learner_that_gains_refutes_and_one_that_wobbles_leaves_open():
    gains, still = findings(LOST | {"1R": -0.02}), findings(LOST | {"1R": 0.0})
    assert drop(gains, "missing").holds is False
    assert drop(still, "missing").holds is None
    assert simpler(gains, "missing").holds is False


def test_table_three_as_the_tutorial_has_it():
    as_printed = findings({"1R": 0.06, "Decision Tree": 0.03, "Simple NN": 0.02, "Complex NN": 0.05})
    assert simpler(as_printed, "definitions").holds is True
    assert simpler(as_printed, "populations").holds is False


def test_not_more_is_shown_by_an_interval_and_not_by_a_lack_of_evidence():
    alike = findings({"1R": 0.06, "Decision Tree": 0.03, "Simple NN": 0.0200, "Complex NN": 0.0241})
    assert simpler(alike, "definitions").holds is True
    judged = [short_of(Interval(value, value - 0.01, value + 0.01)).above for value in (-0.3, 0.0, 0.05, 0.2)]
    assert judged == [True, True, None, False]
    assert short_of(Interval(0.0, -0.4, 0.4)).above is None
    assert "that of the simple network by less than 0.05" in simpler(alike, "definitions").text


class Set(NamedTuple):
    """Findings whose differences between the learners of both pairs are given."""

    both: tuple[Interval, Interval]
    plan = plan_of("smoke")

    def more(self, table, pair, variant=""):
        return self.both[self.plan.pairs.index(pair)]

    more_points = more


@pytest.mark.parametrize(("table", "second"), [("populations", 0.3), ("missing", 0.3), ("definitions", MARGIN - 0.3)])
def test_a_claim_of_two_parts_is_refused_only_by_intervals_that_hold_together(table, second):
    """At 4 degrees of freedom an interval for two parts is 3.495 / 2.776 = 1.26 times as wide as one alone."""
    holds = Interval(second, second - 0.1, second + 0.1, 4)
    for half, verdict in ((0.9, None), (0.7, False)):  # both below 0 alone; widened, 1.13 and 0.88
        assert simpler(Set((Interval(-1, -1 - half, -1 + half, 4), holds)), table).holds is verdict
        refused = MARGIN + 1 if table == "definitions" else -1
        beyond = Interval(refused, refused - half, refused + half, 4)
        assert simpler(Set((Interval(1, 0.5, 1.5, 4), beyond)), table).holds is verdict
    assert simpler(Set((Interval(1, 0.5, 1.5, 4), holds)), table).holds is True


def test_a_variant_that_says_the_contrary_leaves_it_open():
    signs = {"": 1, "same": 1, "other": -1, "unclear": 0}

    def numbers(variant):
        return [Interval(signs[variant], signs[variant] - 0.5, signs[variant] + 0.5, 9)]

    assert over_variants(["same"], numbers) == (True, "; the same under all variants")
    assert over_variants([], numbers) == (True, "")
    verdict, told = over_variants(["same", "other", "unclear"], numbers)
    assert verdict is None
    assert told == "; by the main run it holds, with other it does not hold, with unclear it is open"
    assert over_variants(["unclear"], numbers) == (True, "; by the main run it holds, with unclear it is open")


def test_what_is_undefined_is_called_so():
    nothing = Interval(nan, nan, nan)
    judged = simpler(Set((nothing, nothing)), "missing")
    assert judged.holds is None
    assert "nan" not in judged.evidence
    assert "1R minus Decision Tree undefined" in judged.evidence


def test_how_it_is_judged_is_said(found):
    for judged in claims(found)[:6]:
        assert "(judged as: " in judged.text


def test_the_tutorials_own_numbers():
    assert averages_follow().holds is False
    assert averages_follow().evidence.count("Table II,") == 4
    assert "1R from FC to MC (1.00)" in averages_follow().evidence
    assert lines_follow().evidence.startswith("89 of 90")


def test_each_claim_has_its_numbers(found):
    judged = claims(found)
    assert len(judged) == 9
    assert all(any(sign.isdigit() for sign in each.evidence) for each in judged)


@pytest.mark.parametrize(("low", "word"), [(0.1, "a loses more"), (-0.5, "a and b are not"), (-2, "a loses less")])
def test_words(low, word):
    assert told_apart(("a", "b"), Interval(low + 0.5, low, low + 1)).startswith(word)
