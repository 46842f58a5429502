"""What scikit-learn's rules say of the parameters of an estimator before it is fitted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fairtrial.study.declare.gathering import Mistake

_TOLD = re.compile(r"The '(.+?)' parameter of \S+ must be (.+)\. Got (.+) instead\.", re.DOTALL)


def parameter_mistakes(estimator: Any) -> Iterator[Mistake]:
    """The parameters that the estimator, or one within it, would refuse when it is fitted.

    >>> from sklearn.ensemble import RandomForestClassifier
    >>> [each.message for each in parameter_mistakes(RandomForestClassifier("many"))]
    ["n_estimators must be an int in the range [1, inf), got 'many'"]
    """
    try:
        given = estimator.get_params(deep=True)
    except Exception:  # an estimator that keeps its parameters in a way of its own is asked when it is fitted
        return
    for name, value in given.items():
        above, _, own = name.rpartition("__")
        told = refusal(type(given.get(above, estimator)), own, value)
        if told:
            yield Mistake((name,), told)


def refusal(kind: type[Any], name: str, value: Any) -> str | None:
    """Why a class refuses the value of a parameter; None where it takes it or has no rules."""
    rules = getattr(kind, "_parameter_constraints", None)
    if not isinstance(rules, dict) or name not in rules:
        return None
    try:
        from sklearn.utils._param_validation import InvalidParameterError, validate_parameter_constraints
    except ImportError:
        return None
    try:
        validate_parameter_constraints({name: rules[name]}, {name: value}, kind.__name__)
    except InvalidParameterError as error:
        matched = _TOLD.fullmatch(str(error))
        return f"{matched[1]} must be {matched[2]}, got {matched[3]}" if matched else str(error)
    except Exception:  # rules that this version of scikit-learn cannot read
        return None
    return None
