"""Conditions for data set shift, such as prior shift, covariate shift and concept change."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from fairtrial import _check
from fairtrial._check import FloatArray, IntArray
from fairtrial._registry import suggest_name
from fairtrial._text import format_percentage, join_names
from fairtrial.conditions import rules
from fairtrial.conditions.condition import (
    Changed,
    Condition,
    Part,
    check_level,
    condition,
    count_rows,
    round_count,
)
from fairtrial.conditions.labels import EncodedLabels, convert_label, find_label, read_labels, replace_labels
from fairtrial.conditions.rules import Rule, Weights
from fairtrial.errors import InputError, SuspectInputWarning

Size = int | float | None


class NoRowsLeftError(InputError):
    """A condition that removes every row."""


def check_size(size: object) -> None:
    """Check that `size` is None, a number of rows, or a proportion (a float in (0, 1])."""
    if size is None:
        return
    _check.check_number("size", size)
    if isinstance(size, (float, np.floating)):
        _check.check_proportion("size", float(size))
    elif not int(size) >= 1:  # type: ignore[call-overload]
        raise InputError(f"size must be at least 1 row, or a proportion of the rows as a float, got {size!r}")


def resolve_size(size: Size, n: int, default: int) -> int:
    """Convert a size to a number of rows, given n rows."""
    if size is None:
        return default
    return round_count(float(size), n) if isinstance(size, (float, np.floating)) else int(size)


def divide_by_proportion(proportions: FloatArray, n: int) -> IntArray:
    """Divide n rows in the given proportions by the largest remainder method.

    The method rounds each count up or down, and the counts sum to n.

    >>> divide_by_proportion(np.array([0.5, 0.3, 0.2]), 7).tolist()
    [4, 2, 1]
    """
    quota = np.round(proportions * n, 9)
    counts = np.floor(quota).astype(np.intp)
    left = n - int(counts.sum())
    counts[np.argsort(-(quota - counts), kind="stable")[:left]] += 1
    return counts


def find_largest_total(proportions: FloatArray, available: IntArray) -> int:
    """Compute the most rows with these class proportions that can be drawn without replacement.

    >>> find_largest_total(np.array([0.5, 0.5]), np.array([10, 3]))
    6
    """
    requested = proportions > 0
    return int(np.floor(np.round((available[requested] / proportions[requested]).min(), 9)))


def compute_inclusion_probabilities(weights: FloatArray, size: int) -> FloatArray:
    """Compute the probability of keeping each row.

    Each probability is proportional to the weight of the row, but at most 1. The probabilities sum to `size`.

    >>> compute_inclusion_probabilities(np.array([1.0, 1.0, 2.0, 12.0]), 2).tolist()
    [0.25, 0.25, 0.5, 1.0]
    """
    possible = int((weights > 0).sum())
    if size > possible:
        raise InputError(f"size must be at most the {possible} rows that have a weight above 0, got {size}")
    chances, open_ = np.zeros(len(weights)), weights > 0
    while size - int((chances == 1).sum()) > 0:
        rest = size - int((chances == 1).sum())
        chances[open_] = rest * weights[open_] / weights[open_].sum()
        full = open_ & (chances >= 1)
        if not full.any():
            break
        chances[full], open_ = 1.0, open_ & ~full
    return chances


def sample_systematically(chances: FloatArray, rng: np.random.Generator) -> IntArray:
    """Draw the rows to keep by Madow's systematic sampling in random order.

    Each row is kept with exactly the given probability. The number of kept rows is the sum of the probabilities, rounded up or
    down.
    """
    order = rng.permutation(len(chances))
    edges = np.round(np.concatenate([[0.0], np.cumsum(chances[order])]), 9) + rng.random()
    is_kept = np.floor(edges[1:]) > np.floor(edges[:-1])
    return np.sort(order[is_kept])


def select_rows(X: Any, y: Any, rows: IntArray) -> Changed:
    """Select the given rows, and mark the original rows that are not selected exactly once."""
    n = count_rows(X)
    if len(rows) == 0:
        raise NoRowsLeftError(f"the condition must leave at least 1 of the {n} rows, got 0")
    mask = np.bincount(rows, minlength=n) != 1
    return Changed(take_rows(X, rows), None if y is None else take_rows(y, rows), mask, float(mask.mean()), rows)


def take_rows(values: Any, rows: IntArray) -> Any:
    """Select the given rows from a table or a column of any type."""
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if hasattr(values, "tocsr"):
        return values.tocsr()[rows].asformat(values.format)
    if isinstance(values, (list, tuple)):
        return type(values)([values[row] for row in rows])
    return values[rows]


@condition("class-proportion")
@dataclass(frozen=True)
class ClassProportion(Condition):
    """Class proportion: delete an exact proportion of the positive cases (Berrar).

    If there are P positive cases, round(level * P) of them are deleted, with halves rounded to even. `X` can be a table or a
    vector of scores.

    Parameters
    ----------
    level : float
        Proportion of the positive cases to delete, from 0 to 1.
    positive : label, optional
        Positive class. Default: the second of two classes.
    part : {"train", "test", "all"}, default "train"
        Data that the condition changes: training set, test set, or both.

    Examples
    --------
    >>> changed = ClassProportion(0.5).apply([0.1, 0.4, 0.8, 0.9], [0, 0, 1, 1], rng=1)
    >>> changed.y, changed.rows.tolist(), changed.level
    ([0, 0, 1], [0, 1, 3], 0.5)
    """

    level: float
    positive: Any = None

    def _check(self) -> None:
        check_level(self.level)

    def _apply(self, X: Any, y: Any, rng: np.random.Generator) -> Changed:
        labels = read_labels(y)
        if self.positive is None and len(labels.names) != 2:
            raise InputError(f"positive must be given unless there are 2 classes, got the classes {join_names(labels.names)}")
        code = 1 if self.positive is None else labels.find_code(self.positive, "positive")
        positives = np.flatnonzero(labels.codes == code)
        m = round_count(self.level, len(positives))
        mask = np.zeros(count_rows(X), dtype=bool)
        mask[rng.permutation(positives)[:m]] = True
        rows = np.flatnonzero(~mask)
        if m == 0:
            return Changed(X, y, mask, 0.0, rows)
        if m == len(positives):
            message = f"the condition class-proportion deletes all cases of class {labels.names[code]!r}"
            warnings.warn(message, SuspectInputWarning, stacklevel=3)
        if len(rows) == 0:
            raise InputError("level must leave at least 1 case, got 0: lower the level")
        return Changed(take_rows(X, rows), take_rows(y, rows), mask, m / len(positives), rows)

    def _describe_change(self) -> str:
        deleted = "positives" if self.positive is None else f"cases of class {self.positive}"
        return f"{format_percentage(self.level)} of the {deleted} deleted"


@condition("prior-shift")
@dataclass(frozen=True, kw_only=True)
class PriorShift(Condition):
    """Prior shift: change the class proportions.

    Rows of each class are selected at random. The new class proportions are exact, up to rounding by the largest remainder
    method.

    Parameters
    ----------
    priors : mapping, optional
        Proportion of each class after the change, e.g. {"sick": 0.1}. Classes that are not listed share the remainder in their
        old proportions.
    weights : mapping, optional
        Factor for the relative frequency of each class, e.g. {"sick": 0.5}. Classes that are not listed have factor 1.
    method : {"remove", "draw"}, default "remove"
        Whether to remove rows or to draw rows with replacement.
    size : int or float, optional
        Number of rows after the change, as a count or as a proportion of the original rows. Default: as many as possible for
        "remove", and as many as before for "draw".
    part : {"train", "test", "all"}, default "test"
        Data that the condition changes: training set, test set, or both.

    Examples
    --------
    >>> changed = PriorShift(priors={"sick": 0.1}).apply([[0.0]] * 60, ["sick"] * 30 + ["well"] * 30, rng=1)
    >>> len(changed.y), changed.y.count("sick"), round(changed.level, 3)
    (33, 3, 0.45)
    """

    part: Part = "test"
    priors: Mapping[Any, float] | None = field(default=None, hash=False)
    weights: Mapping[Any, float] | None = field(default=None, hash=False)
    method: Literal["remove", "draw"] = "remove"
    size: Size = None

    def _check(self) -> None:
        _check.check_one_of("method", self.method, ["remove", "draw"])
        check_size(self.size)
        if (self.priors is None) == (self.weights is None):
            raise InputError("exactly one of priors and weights must be given, got both or neither: pass one of them")
        for name, values in (("priors", self.priors), ("weights", self.weights)):
            if values is not None:
                _check_mapping(name, values)

    def _describe_change(self) -> str:
        values = self.priors if self.priors is not None else self.weights or {}
        text = ", ".join(
            f"{label} {format_percentage(value)}" if self.priors is not None else f"{label} x {value:g}"
            for label, value in values.items()
        )
        return f"prior shift ({text}, {'rows removed' if self.method == 'remove' else 'drawn with replacement'})"

    def _apply(self, X: Any, y: Any, rng: np.random.Generator) -> Changed:
        classes, (codes,) = _check.encode_labels(None, None, y=_check.check_column("y", y))
        counts = np.bincount(codes, minlength=len(classes))
        proportions = self._compute_proportions(classes.names.tolist(), counts)
        rows = self._choose_rows(codes, counts, proportions, rng)
        return select_rows(X, y, rows)

    def _compute_proportions(self, names: list[Any], counts: IntArray) -> FloatArray:
        values = self.priors if self.priors is not None else self.weights or {}
        unknown = [label for label in values if find_label(names, label) is None]
        if unknown:
            hint = suggest_name(unknown[0], names)
            raise InputError(f"{'priors' if self.priors else 'weights'} must name classes of y, got {unknown[0]!r}: {hint}")
        named = {find_label(names, label): float(value) for label, value in values.items()}
        if self.weights is not None:
            proportions = counts * np.array([named.get(code, 1.0) for code in range(len(names))])
        else:
            proportions = _complete_proportions(named, counts)
        absent = [names[code] for code in np.flatnonzero((proportions > 0) & (counts == 0))]
        if absent or proportions.sum() == 0:
            received = f"class {absent[0]!r}, which has no rows" if absent else "0 for all classes in y"
            raise InputError(
                f"priors or weights must be above 0 for at least 1 class in y, and only for classes in y, got {received}"
            )
        return np.asarray(proportions / proportions.sum(), dtype=np.float64)

    def _choose_rows(self, codes: IntArray, counts: IntArray, proportions: FloatArray, rng: np.random.Generator) -> IntArray:
        with_replacement = self.method == "draw"
        most = len(codes) if with_replacement else find_largest_total(proportions, counts)
        size = resolve_size(self.size, len(codes), most)
        if size > most and not with_replacement:
            raise InputError(
                f"size must be at most {most}, the rows available in these proportions, got {size}: pass method='draw'"
            )
        chosen = [
            rng.choice(np.flatnonzero(codes == code), count, replace=with_replacement)
            for code, count in enumerate(divide_by_proportion(proportions, size))
            if count
        ]
        return np.sort(np.concatenate(chosen)) if chosen else np.empty(0, dtype=np.intp)


def _check_mapping(name: str, mapping: Any) -> None:
    if not isinstance(mapping, Mapping) or not mapping:
        raise InputError(f"{name} must map classes to numbers, got {mapping!r}")
    for label, value in mapping.items():
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 <= value < np.inf:
            raise InputError(f"{name} must map classes to finite numbers that are at least 0, got {label!r}: {value!r}")
    if name == "priors" and sum(mapping.values()) > 1 + 1e-9:
        raise InputError(f"priors must sum to at most 1, got {sum(mapping.values()):g}")


def _complete_proportions(named: Mapping[int | None, float], counts: IntArray) -> FloatArray:
    """Return the proportion of each class.

    Classes that are not named share the remainder in their old proportions.
    """
    proportions = np.zeros(len(counts))
    others = np.ones(len(counts), dtype=bool)
    for code, value in named.items():
        proportions[code], others[code] = value, False
    rest = 1 - proportions.sum()
    if rest > 1e-9 and counts[others].sum() == 0:
        raise InputError(f"priors must sum to 1 if all classes are named, got {proportions.sum():g}")
    if counts[others].sum():
        proportions[others] = max(rest, 0.0) * counts[others] / counts[others].sum()
    return proportions


@condition("covariate-shift")
@dataclass(frozen=True, kw_only=True)
class CovariateShift(Condition):
    """Covariate shift: remove or reweight rows depending on their attributes.

    Parameters
    ----------
    keep : str or callable, optional
        Rows to keep: an expression over the columns, such as "age >= 18", or a function of X.
    weights : str, callable or mapping, optional
        Weight of each row: an expression such as "exp(-age / 20)", or a function of X. A mapping from expressions to factors is
        also allowed, e.g. {"age >= 65": 3, "sex == 'f'": 0.5}. Factors that apply to the same row are multiplied.
    method : {"draw", "remove"}, default "draw"
        How to apply the weights. With "draw", rows are drawn with replacement, with probabilities proportional to their
        weights. With "remove", each row is kept at most once, with a probability proportional to its weight.
    size : int or float, optional
        Number of rows after the change, as a count or as a proportion of the original rows. Default: as many as before for
        "draw", and as many as the weights allow for "remove". If there are no weights, the default is all rows that `keep`
        selects.
    part : {"train", "test", "all"}, default "test"
        Data that the condition changes: training set, test set, or both.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": [70, 20, 66, 64]})
    >>> CovariateShift(keep="age < 65").apply(X, ["a", "b", "c", "d"]).y
    ['b', 'd']
    """

    part: Part = "test"
    keep: Rule | None = None
    weights: Weights | None = field(default=None, hash=False)
    method: Literal["draw", "remove"] = "draw"
    size: Size = None

    def _check(self) -> None:
        _check.check_one_of("method", self.method, ["draw", "remove"])
        check_size(self.size)
        if self.keep is None and self.weights is None:
            raise InputError("keep or weights must be given, got neither: pass the rows to keep, or the weights of rows")
        if self.keep is not None:
            rules.check_rule("keep", self.keep)
        if self.weights is not None:
            rules.check_weight_rule("weights", self.weights)

    def _describe_change(self) -> str:
        parts = [] if self.keep is None else [f"only {rules.format_rule(self.keep)}"]
        parts += [] if self.weights is None else [f"weights {rules.format_rule(self.weights)}"]
        return f"covariate shift ({', '.join(parts)})"

    def _apply(self, X: Any, y: Any, rng: np.random.Generator) -> Changed:
        n = count_rows(X)
        is_kept = np.ones(n, dtype=bool) if self.keep is None else rules.find_matching_rows("keep", self.keep, X)
        if self.weights is None:
            return select_rows(X, y, self._sample_rows(np.flatnonzero(is_kept), n, rng))
        weights = np.where(is_kept, rules.compute_weights("weights", self.weights, X), 0.0)
        if not weights.any():
            raise InputError(f"weights must be positive for at least 1 of the {n} rows, got none")
        if self.method == "draw":
            return select_rows(X, y, np.sort(rng.choice(n, resolve_size(self.size, n, n), p=weights / weights.sum())))
        size = resolve_size(self.size, n, find_largest_total(weights / weights.sum(), np.ones(n, dtype=np.intp)))
        return select_rows(X, y, sample_systematically(compute_inclusion_probabilities(weights, size), rng))

    def _sample_rows(self, rows: Any, n: int, rng: np.random.Generator) -> Any:
        size = resolve_size(self.size, n, len(rows))
        if size > len(rows):
            raise InputError(f"size must be at most the {len(rows)} rows to keep, got {size}")
        return rows if size == len(rows) else np.sort(rng.choice(rows, size, replace=False))


@condition("selection-bias")
@dataclass(frozen=True, kw_only=True)
class SelectionBias(Condition):
    """Selection bias: keep each row with its own probability.

    Parameters
    ----------
    chance : str, callable or mapping
        Probability of keeping a row, as an expression over the columns and the class `y`, or as a function of X and y. A
        mapping from expressions to probabilities is also allowed, e.g. {"y == 'sick' and age > 65": 0.2}. Probabilities that
        apply to the same row are multiplied. A row to which no probability applies is always kept.
    size : int or float, optional
        Exact number or proportion of rows to keep. The probabilities are then proportional to `chance`. Default: the sum of the
        probabilities, rounded up or down at random.
    part : {"train", "test", "all"}, default "train"
        Data that the condition changes: training set, test set, or both.

    Examples
    --------
    >>> sick = ["sick"] * 50 + ["well"] * 50
    >>> changed = SelectionBias(chance={"y == 'sick'": 0.2}).apply([[0.0]] * 100, sick, rng=1)
    >>> changed.y.count("sick"), changed.y.count("well"), changed.level
    (10, 50, 0.4)
    """

    chance: Weights = field(hash=False)
    size: Size = None

    def _check(self) -> None:
        rules.check_weight_rule("chance", self.chance)
        check_size(self.size)

    def _describe_change(self) -> str:
        return f"selection bias (kept with probability {rules.format_rule(self.chance)})"

    def _apply(self, X: Any, y: Any, rng: np.random.Generator) -> Changed:
        chances = rules.compute_weights("chance", self.chance, X, y, with_class=True)
        if (chances > 1).any():
            row = int(np.argmax(chances > 1))
            raise InputError(f"chance must be at most 1, got {chances[row]:g} at row {row}")
        if self.size is not None:
            chances = compute_inclusion_probabilities(chances, resolve_size(self.size, len(chances), len(chances)))
        return select_rows(X, y, sample_systematically(chances, rng))


@condition("concept-change")
@dataclass(frozen=True, kw_only=True)
class ConceptChange(Condition):
    """Concept change: change the class of rows that satisfy a rule.

    The candidates are the rows that `where` selects and to which `labels` assigns a class other than their own. The realized
    level is the proportion of candidates that change.

    Parameters
    ----------
    labels : mapping or callable
        New class for each old class, e.g. {"well": "sick"}, or a function of X and y that returns the new classes. New classes
        must have the same type as the old ones.
    where : str or callable, optional
        Rows to change: an expression over the columns and the class `y`, or a function of X and y. Default: all rows.
    level : float, default 1
        Exact proportion of the candidates to change, drawn at random.
    part : {"train", "test", "all"}, default "test"
        Data that the condition changes: training set, test set, or both.

    Examples
    --------
    >>> change = ConceptChange(labels={"well": "sick"}, where="x0 > 1")
    >>> changed = change.apply([[0], [1], [2], [3]], ["well", "sick", "well", "sick"])
    >>> changed.y, changed.mask.tolist()
    (['well', 'sick', 'sick', 'sick'], [False, False, True, False])
    """

    part: Part = "test"
    labels: Mapping[Any, Any] | Callable[..., Any] = field(hash=False)
    where: Rule | None = None
    level: float = 1.0

    def _check(self) -> None:
        check_level(self.level)
        if self.where is not None:
            rules.check_rule("where", self.where)
        if not callable(self.labels) and not (isinstance(self.labels, Mapping) and self.labels):
            raise InputError(f"labels must map old classes to new ones, or be a function of X and y, got {self.labels!r}")

    def _describe_change(self) -> str:
        labels = self.labels
        mapping_text = (
            rules.format_rule(labels) if callable(labels) else ", ".join(f"{old} to {new}" for old, new in labels.items())
        )
        where = "" if self.where is None else f" if {rules.format_rule(self.where)}"
        proportion = "" if self.level == 1 else f", {format_percentage(self.level)} of them"
        return f"concept change ({mapping_text}{where}{proportion})"

    def _apply(self, X: Any, y: Any, rng: np.random.Generator) -> Changed:
        labels = read_labels(y, "declared" if hasattr(getattr(y, "dtype", None), "categories") else "present")
        n = len(labels.codes)
        where = (
            np.arange(n)
            if self.where is None
            else np.flatnonzero(rules.find_matching_rows("where", self.where, X, y, with_class=True))
        )
        new = dict(zip(where.tolist(), self._compute_labels(X, y, labels, where), strict=True))
        differ = [label != labels.names[labels.codes[row]] for row, label in new.items()]
        candidates = where[np.array(differ, dtype=bool)]
        if len(candidates) == 0:
            warnings.warn("no class changes: no row satisfies labels and where", SuspectInputWarning, stacklevel=3)
        rows = rng.choice(candidates, round_count(self.level, len(candidates)), replace=False) if self.level < 1 else candidates
        mask = np.zeros(n, dtype=bool)
        mask[rows] = True
        changed = replace_labels(y, rows, [new[row] for row in rows.tolist()])
        return Changed(X, changed, mask, len(rows) / max(len(candidates), 1), np.arange(n))

    def _compute_labels(self, X: Any, y: Any, labels: EncodedLabels, rows: IntArray) -> list[Any]:
        if not callable(self.labels):
            labels_by_code = self._resolve_mapping(labels)
            return [labels_by_code.get(code, labels.names[code]) for code in labels.codes[rows].tolist()]
        new_labels = self.labels(X, y)
        new_labels = new_labels.tolist() if hasattr(new_labels, "tolist") else new_labels
        if not isinstance(new_labels, (list, tuple)) or len(new_labels) != len(labels.codes):
            received = len(new_labels) if isinstance(new_labels, (list, tuple)) else repr(new_labels)
            raise InputError(f"labels must return a class for each of the {len(labels.codes)} rows, got {received}")
        return [convert_label(new_labels[row], labels.names, "labels") for row in rows]

    def _resolve_mapping(self, labels: EncodedLabels) -> dict[int, Any]:
        """Map the code of each old class in `self.labels` to its new class."""
        labels_by_code = {}
        for old, new in self.labels.items():  # type: ignore[union-attr]
            code, new_label = find_label(labels.names, old), convert_label(new, labels.names, "labels")
            if code is None:
                message = f"labels contains the class {old!r}, which does not occur: {suggest_name(old, labels.names)}"
                warnings.warn(message, SuspectInputWarning, stacklevel=5)
            else:
                labels_by_code[code] = new_label
        return labels_by_code
