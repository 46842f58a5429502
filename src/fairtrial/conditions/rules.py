"""Rules that select or weight rows, as expressions or functions.

An expression can contain columns of X, the class `y`, numbers, text and lists. It can combine these with (chained) comparisons,
`in`, `and`, `or`, `not`, arithmetic, and the functions abs, exp, log and sqrt. Nothing else is evaluated, so expressions in
study files cannot run arbitrary code. Column names that are not valid Python names must be written in backticks. If X has a
column named y, `y` refers to this column, not to the class. Comparisons with missing values are false, except `!=` and `not
in`, which are true. If text is compared with a number, the number is converted to text. For example, `size == 1` matches the
value '1', and `y == '1'` matches the class 1.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray
from fairtrial._frames import as_frame
from fairtrial._registry import suggest_name
from fairtrial.conditions.condition import count_rows
from fairtrial.errors import InputError

BoolArray = npt.NDArray[np.bool_]
Rule = str | Callable[..., Any]
Weights = str | Callable[..., Any] | Mapping[str, float]

_COMPARISONS: dict[type, Any] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: lambda left, right: operator.eq(*_align_types(left, right)),
    ast.NotEq: lambda left, right: operator.ne(*_align_types(left, right)),
    ast.In: lambda left, right: np.isin(*_align_types(left, right)),
    ast.NotIn: lambda left, right: ~np.isin(*_align_types(left, right)),
}
_OPERATIONS: dict[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.Mod: operator.mod,
    ast.BitAnd: np.logical_and,
    ast.BitOr: np.logical_or,
}
_NUMBERS = (bool, int, float, np.bool_, np.number)
_FUNCTIONS: dict[str, Any] = {"abs": np.abs, "exp": np.exp, "log": np.log, "sqrt": np.sqrt}


def check_rule(name: str, rule: object) -> None:
    """Check that a rule is a function or a valid expression, without checking its columns."""
    if isinstance(rule, str):
        _parse_rule(name, rule)
    elif not callable(rule):
        raise InputError(f"{name} must be an expression such as 'age < 65' or a function, got {rule!r}")


def check_weight_rule(name: str, rule: object) -> None:
    """Check that weights are a function, an expression, or a mapping of expressions to numbers."""
    if not isinstance(rule, Mapping):
        check_rule(name, rule)
        return
    for where, weight in rule.items():
        check_rule(name, where)
        if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 <= weight < np.inf:
            raise InputError(f"{name} must map expressions to finite numbers that are at least 0, got {where!r}: {weight!r}")


def format_rule(rule: Weights) -> str:
    """Format a rule for display."""
    if isinstance(rule, Mapping):
        return ", ".join(f"{weight:g} if {where}" for where, weight in rule.items())
    return rule if isinstance(rule, str) else getattr(rule, "__name__", type(rule).__name__)


def find_matching_rows(name: str, rule: Rule, X: Any, y: Any = None, *, with_class: bool = False) -> BoolArray:
    """Find the rows that satisfy a rule.

    A function is called with X or, if `with_class` is true, with X and y.

    >>> find_matching_rows("where", "20 <= x0 < 65 or x1 == 1", np.array([[30, 0], [70, 1], [70, 0]])).tolist()
    [True, True, False]
    """
    result = np.asarray(_evaluate_rule(name, rule, X, y, with_class))
    n = count_rows(X)
    if result.shape == () and result.dtype == bool:
        result = np.full(n, bool(result))
    if result.shape != (n,) or result.dtype != bool:
        raise InputError(f"{name} must return a boolean for each of the {n} rows, got {result.dtype} of shape {result.shape}")
    return result


def compute_weights(name: str, rule: Weights, X: Any, y: Any = None, *, with_class: bool = False) -> FloatArray:
    """Compute the weight of each row.

    If the rule is a mapping, the weights of all expressions that a row satisfies are multiplied.

    >>> compute_weights("weights", {"x0 > 1": 3, "x0 > 2": 0.5}, np.array([[1], [2], [3]])).tolist()
    [1.0, 3.0, 1.5]
    """
    n = count_rows(X)
    if isinstance(rule, Mapping):
        weights = np.ones(n)
        for where, weight in rule.items():
            weights = weights * np.where(find_matching_rows(name, where, X, y, with_class=with_class), float(weight), 1.0)
        return weights
    result = np.asarray(_evaluate_rule(name, rule, X, y, with_class))
    if result.dtype.kind not in "bifu" or result.shape not in {(), (n,)}:
        raise InputError(f"{name} must return a number for each of the {n} rows, got {result.dtype} of shape {result.shape}")
    weights = np.broadcast_to(result.astype(np.float64), (n,))
    bad = ~((weights >= 0) & (weights < np.inf))
    if bad.any():
        raise InputError(f"{name} must be finite and at least 0, got {weights[bad][0]} at row {int(np.argmax(bad))}")
    return weights


def _evaluate_rule(name: str, rule: Rule, X: Any, y: Any, with_class: bool) -> Any:
    if not isinstance(rule, str):
        return rule(X, y) if with_class else rule(X)
    return _ExpressionEvaluator(name, rule, X, y).evaluate(_parse_rule(name, rule))


def _parse_rule(name: str, text: str) -> ast.expr:
    """Parse an expression. Column names in backticks can contain any characters."""
    try:
        tree = ast.parse(re.sub(r"`([^`]*)`", lambda match: f"({_quote_column(match[1])})", text.strip()), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(f"{name} must be an expression such as 'age < 65 and sex == \"f\"', got {text!r}") from None
    for node in ast.walk(tree):
        _check_node(name, text, node)
    return tree


def _quote_column(column: str) -> str:
    """Convert a column name to a bytes literal, to distinguish it from text."""
    return repr(column.encode())


def _check_node(name: str, text: str, node: ast.AST) -> None:
    simple = (
        ast.BoolOp,
        ast.And,
        ast.Or,
        ast.UnaryOp,
        ast.Not,
        ast.USub,
        ast.Invert,
        ast.Compare,
        ast.BinOp,
        ast.Name,
        ast.Load,
    )
    is_known = isinstance(node, (*simple, ast.List, ast.Tuple, *_COMPARISONS, *_OPERATIONS))
    constant = isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float, str, bytes))
    if not (is_known or constant or _is_known_call(node)):
        remedy = "use columns, numbers, text, comparisons, and, or, not, in, + - * / **, abs, exp, log, sqrt"
        raise InputError(f"{name} must not contain {type(node).__name__.lower()}, got {text!r}: {remedy}")


def _is_known_call(node: ast.AST) -> bool:
    named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS
    return named and len(node.args) == 1 and not node.keywords  # type: ignore[attr-defined]


class _ExpressionEvaluator:
    """Evaluates one expression over the columns of one table."""

    def __init__(self, name: str, text: str, X: Any, y: Any) -> None:
        self._name, self._text, self._y = name, text, y
        self._frame = as_frame(X)

    def evaluate(self, tree: ast.expr) -> Any:
        """Evaluate the expression."""
        try:
            with np.errstate(all="ignore"):
                return self._evaluate_node(tree)
        except (TypeError, RecursionError) as error:
            raise InputError(f"{self._name} must combine values of matching types, got {self._text!r}: {error}") from None

    def _evaluate_node(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            return self._get_column(node.id)
        return getattr(self, f"_visit_{type(node).__name__.lower()}")(node)

    def _visit_constant(self, node: ast.Constant) -> Any:
        if isinstance(node.value, bytes):
            return self._get_column(node.value.decode())
        # Python integers have no size limit, so 9 ** 9 ** 9 would never finish.
        return node.value if isinstance(node.value, (bool, str)) else np.float64(node.value)  # type: ignore[arg-type]

    def _visit_list(self, node: ast.List | ast.Tuple) -> Any:
        return [self._evaluate_node(element) for element in node.elts]

    _visit_tuple = _visit_list

    def _visit_unaryop(self, node: ast.UnaryOp) -> Any:
        return (
            -self._evaluate_node(node.operand)
            if isinstance(node.op, ast.USub)
            else np.logical_not(self._evaluate_boolean(node.operand))
        )

    def _visit_boolop(self, node: ast.BoolOp) -> Any:
        join = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
        return join.reduce(np.broadcast_arrays(*[self._evaluate_boolean(operand) for operand in node.values]))

    def _visit_binop(self, node: ast.BinOp) -> Any:
        evaluate_side = self._evaluate_boolean if isinstance(node.op, (ast.BitAnd, ast.BitOr)) else self._evaluate_node
        return _OPERATIONS[type(node.op)](evaluate_side(node.left), evaluate_side(node.right))

    def _visit_call(self, node: ast.Call) -> Any:
        return _FUNCTIONS[node.func.id](self._evaluate_node(node.args[0]))  # type: ignore[attr-defined]

    def _visit_compare(self, node: ast.Compare) -> Any:
        sides = [self._evaluate_node(operand) for operand in (node.left, *node.comparators)]
        comparisons = [_COMPARISONS[type(op)](*pair) for op, pair in zip(node.ops, pairwise(sides), strict=True)]
        return np.logical_and.reduce(np.broadcast_arrays(*[np.asarray(comparison, dtype=bool) for comparison in comparisons]))

    def _evaluate_boolean(self, node: ast.expr) -> Any:
        result = np.asarray(self._evaluate_node(node))
        if result.dtype != bool:
            raise InputError(f"{self._name} must apply and, or, not to comparisons, got other values in {self._text!r}")
        return result

    def _get_column(self, column: str) -> npt.NDArray[Any]:
        names = [str(name) for name in self._frame.columns]
        if column in names:
            return _to_plain_array(self._frame.iloc[:, names.index(column)])
        if column == "y" and self._y is not None:
            return _to_plain_array(self._y)
        hint = suggest_name(column, names)
        raise InputError(f"{self._name} must name columns of X in {self._text!r}, got {column!r}: {hint}")


def _to_plain_array(column: Any) -> npt.NDArray[Any]:
    """Convert a numeric column to an array of numbers, and other columns to arrays of objects."""
    values = np.asarray(column)
    return values if values.dtype.kind in "biuf" else values.astype(object)


def _align_types(left: Any, right: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Convert numbers to text unless both sides are numbers.

    A missing value does not equal any value.
    """
    sides = [_to_plain_array(np.array(side, dtype=object) if isinstance(side, list) else side) for side in (left, right)]
    left, right = sides if all(map(_is_number, sides)) else map(_to_texts, sides)
    return left, right


def _is_number(values: npt.NDArray[Any]) -> bool:
    return values.dtype.kind in "biuf" or all(isinstance(value, _NUMBERS) for value in values.ravel())


def _to_texts(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    import pandas as pd

    texts = np.empty(values.size, dtype=object)
    texts[:] = [_to_text(value) for value in values.ravel().tolist()]
    texts[pd.isna(values.ravel())] = np.nan
    return texts.reshape(values.shape)


def _to_text(value: Any) -> Any:
    """Convert a number to text, without a decimal point if it is whole; keep other values."""
    if not isinstance(value, _NUMBERS):
        return value
    return str(int(value)) if isinstance(value, (float, np.floating)) and float(value).is_integer() else str(value)
