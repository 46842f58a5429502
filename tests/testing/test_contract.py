"""What all contracts share: rules by name, one test for each object and rule, messages with rule, value and remedy."""

import pytest
from sklearn.model_selection import ShuffleSplit

from fairtrial.errors import InputError
from fairtrial.measures import auc, ela
from fairtrial.resampling import GroupKFold, KFold
from fairtrial.testing import check_splitter, find_violations, list_rules, parametrize_with_contract

KINDS = ["learner", "splitter", "measure", "engine", "store"]


class WrongCount(KFold):
    def get_n_splits(self, X=None, y=None, groups=None):
        return 99


@pytest.mark.parametrize("kind", KINDS)
def test_rules_have_unique_names_a_statement_and_a_remedy(kind):
    rules = list_rules(kind)
    assert len({rule.name for rule in rules}) == len(rules)
    assert all(rule.kind == kind and rule.statement and rule.remedy for rule in rules)
    assert not any(rule.statement.endswith(".") or "\n" in rule.statement for rule in rules)


@pytest.mark.parametrize("function", [list_rules, lambda kind: find_violations(kind, None)])
def test_an_unknown_kind_is_refused(function):
    with pytest.raises(InputError, match="splitters"):
        function("splitters")


def test_the_error_contains_object_rule_value_and_remedy():
    rule = next(rule for rule in list_rules("splitter") if rule.name == "n_splits_matches")
    with pytest.raises(AssertionError) as raised:
        check_splitter(WrongCount(3))
    message = str(raised.value)
    for part in ("WrongCount(n_splits=3)", rule.name, rule.statement, "99", rule.remedy):
        assert part in message


class WrongCountAndOrder(WrongCount):
    def split(self, X, y=None, groups=None):
        return iter(list(super().split(X, y, groups))[::-1])


class Raising(KFold):
    def split(self, X, y=None, groups=None):
        raise ArithmeticError("not today")


def test_all_violations_are_reported():
    assert set(find_violations("splitter", WrongCountAndOrder(3))) == {"n_splits_matches", "freeze_matches_split"}


def test_a_rule_can_be_checked_alone():
    rules = {rule.name: rule for rule in list_rules("splitter")}
    rules["sets_are_not_empty"](WrongCount(3))
    with pytest.raises(AssertionError, match="n_splits_matches"):
        rules["n_splits_matches"](WrongCount(3))


def test_an_exception_is_a_violation():
    violations = find_violations("splitter", Raising(3))
    assert list(violations) == ["freeze_matches_split"]
    assert "ArithmeticError: not today" in violations["freeze_matches_split"]


def test_parametrization_has_a_test_for_each_object_and_rule_that_applies():
    mark = parametrize_with_contract("splitter", [GroupKFold(3), ShuffleSplit(2)])
    assert mark.args[0] == "check"
    names = [parameter.id for parameter in mark.args[1]]
    assert "GroupKFold(n_splits=3)-groups_stay_together" in names
    assert sum("groups_stay_together" in name for name in names) == 1
    assert sum("n_splits_matches" in name for name in names) == 2


def test_measures_of_results_have_fewer_rules():
    n_tests = [len(parametrize_with_contract("measure", [measure]).args[1]) for measure in (ela, auc)]
    assert n_tests[0] == 2 < n_tests[1]


@parametrize_with_contract("splitter", [WrongCount(3)])
def test_checks_take_no_argument(check):
    if check.func.name == "n_splits_matches":
        with pytest.raises(AssertionError, match="n_splits_matches"):
            check()
    else:
        check()
