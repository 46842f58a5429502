import numpy as np
import pandas as pd
import pytest

from fairtrial._frames import read_columns
from fairtrial.kernels.randomness import JavaRandom
from fairtrial.learners.ripper import ClassRuleLearner, StoppingCriterion
from fairtrial.learners.ripper_rules import RuleConditions, RuleSet, RuleTable, RuleTask

ROWS = np.arange(60)
POSITIVE = (ROWS % 30) < 10


def learning(prune=True, positive=POSITIVE, check_error=True):
    table = RuleTable.from_columns(read_columns(pd.DataFrame({"x": ROWS.astype(float)})), (~positive).astype(np.intp))
    task = RuleTask(table, positive, float(positive.mean()), table.possible_conditions, check_error)
    return ClassRuleLearner(task, ROWS, JavaRandom(1), 3, 2.0, prune)


@pytest.mark.parametrize(("prune", "optimizations"), [(True, 0), (True, 2), (False, 2)])
def test_two_stretches_of_positives_need_two_rules(prune, optimizations):
    rules = learning(prune).learn(optimizations)
    covered = np.concatenate([each.covered for each in rules.rules])
    assert len(rules.rules) == 2
    assert POSITIVE[covered].mean() > 0.9
    assert POSITIVE[rules.rest].sum() <= 2


def test_labels_without_any_pattern_give_no_rule():
    rules = learning(positive=ROWS % 2 == 0).learn(2)
    assert len(rules.rules) == 0
    assert rules.rest.tolist() == ROWS.tolist()


def rule_over(first, last):
    return RuleConditions(np.zeros(2, np.intp), np.array([1, 0]), np.array([float(first), float(last)]))


@pytest.mark.parametrize(("first", "last", "stops"), [(0, 9, False), (10, 20, True), (5, 14, True), (5, 13, False)])
def test_a_rule_without_positives_or_wrong_on_half_stops(first, last, stops):
    task = learning().task
    assert StoppingCriterion(0.0).should_stop(RuleSet(task, ROWS).extend(rule_over(first, last))) is stops


def test_half_wrong_is_allowed_when_errors_are_not_checked():
    task = learning(check_error=False).task
    assert StoppingCriterion(0.0).should_stop(RuleSet(task, ROWS).extend(rule_over(5, 14))) is False


def test_more_than_64_bits_above_the_shortest_stops():
    watch = StoppingCriterion(0.0)
    watch.shortest = -200.0
    assert watch.should_stop(RuleSet(learning().task, ROWS).extend(rule_over(0, 9)))
