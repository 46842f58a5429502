import numpy as np
import pandas as pd

from fairtrial._frames import read_columns
from fairtrial.learners.ripper_rules import RuleConditions, RuleTable

FRAME = pd.DataFrame({"size": [3.0, 1.0, np.nan, 1.0, 2.0], "hue": pd.Categorical(["a", "b", "a", None, "b"], ["a", "b", "c"])})
TABLE = RuleTable.from_columns(read_columns(FRAME), np.zeros(5, np.intp))
POSITIVE = np.array([True, False, True, False, False])
ROWS = np.arange(5)


def test_a_table_sorts_its_columns_and_counts_what_can_be_asked():
    assert TABLE.orders[0].tolist() == [1, 3, 4, 0, 2]
    assert TABLE.n_known.tolist() == [4, 4]
    assert TABLE.possible_conditions == 2 * 3 + 3


def test_a_column_without_values_asks_nothing():
    columns = read_columns(pd.DataFrame({"none": [np.nan, np.nan], "one": [4.0, 4.0]}))
    assert RuleTable.from_columns(columns, np.zeros(2, np.intp)).possible_conditions == 2


def test_no_condition_is_met_by_all():
    assert len(RuleConditions.make_empty()) == 0
    assert RuleConditions.make_empty().find_covered(TABLE.values, ROWS).all()


def test_a_rule_grows_on_and_asks_a_nominal_column_once():
    first = RuleConditions.make_empty().grow(TABLE, ROWS, POSITIVE, 1.0)
    assert (first.columns.tolist(), first.kinds.tolist(), first.cuts.tolist()) == ([1], [2], [0.0])
    assert first.find_covered(TABLE.values, ROWS).tolist() == [True, False, True, False, False]
    again = first.grow(TABLE, ROWS, np.array([True, False, False, False, False]), 1.0)
    assert again.columns.tolist() == [1, 0]


def test_pruning_takes_the_last_conditions_away():
    rule = RuleConditions(np.array([1, 0]), np.array([2, 1]), np.array([0.0, 3.0]))
    assert len(rule.prune(TABLE, ROWS, POSITIVE, by_accuracy=False)) == 1
    assert len(rule.prune(TABLE, ROWS[:0], POSITIVE, by_accuracy=False)) == 2
