"""Contracts: named rules that every learner, splitter, measure, engine or store must satisfy."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from fairtrial._check import check_one_of
from fairtrial.errors import InputError

Check = Callable[[Any], None]
OpenCase = Callable[[Any], AbstractContextManager[Any]]


class ViolationError(Exception):
    """Raised by `require` if a rule is violated. The message describes the value that violates the rule."""


def require(condition: Any, got: str) -> None:
    """Raise a ViolationError unless the condition is true. `got` describes the value that was found."""
    if not condition:
        raise ViolationError(got)


@dataclass(frozen=True)
class ContractRule:
    """One rule of a contract. Call the rule with an object to check only this rule.

    Attributes
    ----------
    kind : str
        The kind of object: learner, splitter, measure, engine or store.
    name : str
        The name of the rule, as shown in error messages.
    statement : str
        The requirement, as a sentence.
    remedy : str
        How to fix an object that violates the rule.
    check : callable
        Function that raises an error if the rule is violated.
    applies : callable
        Function that returns whether the rule applies to an object.

    Examples
    --------
    >>> from fairtrial.resampling import KFold
    >>> rule = list_rules("splitter")[0]
    >>> rule.name
    'indices_are_in_range'
    >>> rule(KFold(5, random_state=1))
    """

    kind: str
    name: str
    statement: str
    remedy: str
    check: Check = field(repr=False)
    applies: Callable[[Any], bool] = field(repr=False)

    def __call__(self, subject: Any) -> None:
        """Check an object against this rule.

        Parameters
        ----------
        subject : object
            The learner, splitter, measure or engine, or the function that opens a store.
        """
        with _contracts[self.kind].open_case(subject) as case:
            violation = self.find_violation(subject, case)
        if violation is not None:
            raise AssertionError(violation)

    def find_violation(self, subject: Any, case: Any) -> str | None:
        """Check a prepared case against the rule and describe the violation, if any.

        Parameters
        ----------
        subject : object
            Object to name in the description.
        case : object
            The test case that the contract prepared for the object, such as data and a fitted copy of a learner.

        Returns
        -------
        str or None
        """
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.check(case)
        except ViolationError as violation:
            got = str(violation)
        except Exception as error:
            got = f"{type(error).__name__}: {error}"
        else:
            return None
        return f"{_describe_subject(subject)} violates {self.name}: {self.statement}, got {got}: {self.remedy}"


@dataclass(frozen=True, eq=False)
class Contract:
    """The rules for one kind of object, in the order in which they are checked."""

    kind: str
    open_case: OpenCase
    rules: list[ContractRule] = field(default_factory=list)

    def __post_init__(self) -> None:
        _contracts[self.kind] = self

    def rule(self, remedy: str, applies: Callable[[Any], bool] = lambda _: True) -> Callable[[Check], Check]:
        """Register a check function as a rule (decorator).

        The name of the function without `check_` is the name of the rule. The docstring of the function states the rule.
        """

        def add_rule(check: Check) -> Check:
            statement = (check.__doc__ or "").strip().rstrip(".")
            name = check.__name__.removeprefix("check_")
            self.rules.append(ContractRule(self.kind, name, statement, remedy, check, applies))
            return check

        return add_rule

    def find_violations(self, subject: Any) -> dict[str, str]:
        """Check all rules that apply. Return descriptions of the violations, keyed by rule name."""
        with self.open_case(subject) as case:
            violations = {rule.name: rule.find_violation(subject, case) for rule in self.rules if rule.applies(subject)}
        return {name: text for name, text in violations.items() if text is not None}

    def check(self, subject: Any) -> None:
        """Check all rules and raise an AssertionError that describes each violation."""
        violations = self.find_violations(subject)
        if violations:
            raise AssertionError("\n".join(violations.values()))


_contracts: dict[str, Contract] = {}


def list_rules(kind: str) -> tuple[ContractRule, ...]:
    """List the rules of a contract in the order in which they are checked.

    Parameters
    ----------
    kind : {"learner", "splitter", "measure", "engine", "store"}
        The kind of object.

    Returns
    -------
    tuple of ContractRule

    Examples
    --------
    >>> [rule.name for rule in list_rules("splitter")][:2]
    ['indices_are_in_range', 'train_and_test_are_disjoint']
    """
    check_one_of("kind", kind, _contracts)
    return tuple(_contracts[kind].rules)


def find_violations(kind: str, subject: Any) -> dict[str, str]:
    """Check an object and return the violated rules instead of raising an error.

    Parameters
    ----------
    kind : {"learner", "splitter", "measure", "engine", "store"}
        The kind of the object.
    subject : object
        The learner, splitter, measure or engine, or the function that opens a store.

    Returns
    -------
    dict of str to str
        Descriptions of the violations, keyed by rule name.

    Examples
    --------
    >>> from sklearn.model_selection import KFold
    >>> find_violations("splitter", KFold(3))
    {}
    """
    check_one_of("kind", kind, _contracts)
    return _contracts[kind].find_violations(subject)


def parametrize_with_contract(kind: str, objects: Iterable[Any]) -> Any:
    """Parametrize a pytest test with one check for each object and rule.

    The test takes one argument, `check`, and calls it. Rules that do not apply to an object are left out.

    Parameters
    ----------
    kind : {"learner", "splitter", "measure", "engine", "store"}
        The kind of the objects.
    objects : iterable
        Learners, splitters, measures, functions that open a new engine, or functions that open a store.

    Returns
    -------
    pytest.MarkDecorator

    Examples
    --------
    >>> from fairtrial.resampling import KFold, StratifiedKFold
    >>> @parametrize_with_contract("splitter", [KFold(3), StratifiedKFold(3)])
    ... def test_contract(check):
    ...     check()
    """
    try:
        import pytest
    except ImportError:
        raise InputError(
            "parametrize_with_contract needs pytest, which is not installed: pip install pytest, or call check_" + kind
        ) from None
    rules = list_rules(kind)
    parameters = [
        pytest.param(partial(rule, subject), id=f"{_describe_subject(subject)}-{rule.name}")
        for subject in objects
        for rule in rules
        if rule.applies(subject)
    ]
    return pytest.mark.parametrize("check", parameters)


def _describe_subject(subject: Any) -> str:
    name = getattr(subject, "name", None) or getattr(subject, "__qualname__", None)
    return name if isinstance(name, str) else " ".join(repr(subject).split())
