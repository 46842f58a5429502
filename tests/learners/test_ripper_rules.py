import numpy as np
import pandas as pd

from fairtrial._frames import read_columns
from fairtrial.learners.ripper_rules import RipperRule, RuleCondition, RuleConditions, format_rules, make_readable


def test_conditions_get_names_and_values():
    columns = read_columns(pd.DataFrame({"size": [1.0, 2.0], "hue": ["red", "blue"]}))
    conditions = RuleConditions(np.array([0, 1, 0]), np.array([0, 2, 1]), np.array([1.5, 1.0, 0.25]))
    told = make_readable(conditions, columns)
    assert told == (RuleCondition("size", "<=", 1.5), RuleCondition("hue", "=", "red"), RuleCondition("size", ">=", 0.25))


def test_rules_are_printed_as_jrip_prints_them():
    rules = (RipperRule((RuleCondition("size", ">=", 2.0),), "b", 7, 1, (1 / 7, 6 / 7)), RipperRule((), "a", 3, 0, (1.0, 0.0)))
    expected = "JRIP rules:\n===========\n\n(size >= 2) => kind=b (7.0/1.0)\n => kind=a (3.0/0.0)\n\nNumber of Rules : 2\n"
    assert format_rules(rules, "kind") == expected
