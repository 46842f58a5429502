import numpy as np
import pandas as pd
import pytest

from fairtrial._frames import read_columns
from fairtrial.learners.ripper_rules import (
    RuleConditions,
    RuleCounts,
    RuleSet,
    RuleTable,
    RuleTask,
    compute_exceptions_length,
    compute_rule_length,
)

ROWS = np.arange(40)
POSITIVE = ROWS < 15


def at_most(value):
    return RuleConditions(np.zeros(1, np.intp), np.zeros(1, np.intp), np.array([float(value)]))


def empty(check_error=True):
    table = RuleTable.from_columns(read_columns(pd.DataFrame({"x": ROWS.astype(float)})), (~POSITIVE).astype(np.intp))
    return RuleSet(RuleTask(table, POSITIVE, 15 / 40, table.possible_conditions, check_error), ROWS)


def test_each_rule_counts_what_the_earlier_ones_leave():
    rules = empty().extend(at_most(9), at_most(17))
    assert [each.counts for each in rules.rules] == [RuleCounts(10, 30, 0, 5), RuleCounts(8, 22, 3, 0)]
    assert rules.rules[1].covered.tolist() == list(range(10, 18))
    assert rules.rest.tolist() == list(range(18, 40))
    assert empty().no_rule == RuleCounts(0, 40, 0, 15)


def test_the_length_of_a_single_rule_is_what_it_adds():
    rules = empty().extend(at_most(14))
    expected = (
        compute_rule_length(1, 80)
        + compute_exceptions_length(0.375, RuleCounts(15, 25, 0, 0))
        - compute_exceptions_length(0.375, RuleCounts(0, 40, 0, 15))
    )
    assert rules.compute_relative_length(0) == pytest.approx(expected)
    assert expected < 0


def test_a_rule_that_a_later_one_replaces_only_costs_itself():
    """With or without the first the second covers the same rows in the end."""
    rules = empty().extend(at_most(9), at_most(14))
    assert rules.compute_relative_length(0) == pytest.approx(compute_rule_length(1, 80))


def test_rules_that_increase_the_length_are_dropped():
    rules = empty().extend(at_most(9), at_most(14), at_most(12))
    assert [float(each.conditions.cuts[0]) for each in rules.reduce().rules] == [9.0, 14.0]


@pytest.mark.parametrize(("check_error", "kept"), [(True, 0), (False, 1)])
def test_a_rule_that_is_wrong_on_half_is_dropped_only_if_errors_are_checked(check_error, kept):
    """40 positives among 400: the rule covers 30 of them and 30 others, which saves bits all the same."""
    rows = np.arange(400)
    positive = (rows % 2 == 0) & (rows < 60) | (rows >= 390)
    table = RuleTable.from_columns(read_columns(pd.DataFrame({"x": rows.astype(float)})), (~positive).astype(np.intp))
    rules = RuleSet(RuleTask(table, positive, 0.1, table.possible_conditions, check_error), rows).extend(at_most(59))
    assert rules.compute_relative_length(0) < 0
    assert len(rules.reduce().rules) == kept
