"""Ordered rules for one class: conditions, covered rows, and description length in bits."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fairtrial._check import FloatArray, IntArray
from fairtrial._frames import BoolArray, EncodedTable
from fairtrial.kernels import rule_grow
from fairtrial.learners.encoding import format_decimal, format_double

SMALL = 1e-6


_LOG_2 = math.log(2.0)


_REDUNDANCY = 0.5


# Upper bound of an expected error rate. A rate of 1 would give an infinite length.
_NEARLY_ONE = 1 - 1e-12


@dataclass(frozen=True)
class RuleCounts:
    """Numbers of covered rows, uncovered rows, covered negatives and uncovered positives."""

    covered: int
    left: int
    wrong: int
    missed: int

    def exclude(self, rule_counts: RuleCounts) -> RuleCounts:
        """Return the counts of the rule set without a rule that has the counts `rule_counts`."""
        right = rule_counts.covered - rule_counts.wrong
        return RuleCounts(
            self.covered - rule_counts.covered,
            self.left + rule_counts.covered,
            self.wrong - rule_counts.wrong,
            self.missed + right,
        )


def _compute_log2(value: float) -> float:
    return math.log(value) / _LOG_2


def compute_subset_length(total: float, chosen: float, rate: float) -> float:
    """Compute the bits needed to identify `chosen` of `total` elements.

    `rate` is the expected proportion of chosen elements.
    """
    rate = min(rate, _NEARLY_ONE) if chosen < total else rate
    inside = -chosen * _compute_log2(rate) if rate > SMALL else 0.0
    return inside - (total - chosen) * _compute_log2(1 - rate) if chosen < total else inside


def compute_rule_length(size: int, possible: int) -> float:
    """Compute the bits needed to encode a rule with `size` of `possible` conditions.

    The result is halved to allow for redundant conditions.

    >>> round(compute_rule_length(2, 100), 3)
    7.572
    """
    if size == 0:
        return 0.0
    bits = _compute_log2(size)
    if size > 1:
        bits += 2 * _compute_log2(bits)
    return _REDUNDANCY * (bits + compute_subset_length(possible, size, size / possible))


def compute_exceptions_length(proportion: float, counts: RuleCounts) -> float:
    """Compute the bits needed to encode the errors of a list of rules.

    `proportion` is the expected proportion of false positives among the errors.
    """
    errors = counts.wrong + counts.missed
    bits = _compute_log2(counts.covered + counts.left + 1)
    if counts.covered > counts.left:
        bits_covered = compute_subset_length(counts.covered, counts.wrong, proportion * errors / counts.covered)
        bits_left = compute_subset_length(counts.left, counts.missed, counts.missed / counts.left) if counts.left else 0.0
    else:
        bits_covered = (
            compute_subset_length(counts.covered, counts.wrong, counts.wrong / counts.covered) if counts.covered else 0.0
        )
        bits_left = compute_subset_length(counts.left, counts.missed, (1 - proportion) * errors / counts.left)
    return bits + bits_covered + bits_left


@dataclass(frozen=True, eq=False)
class RuleTable:
    """The training rows, stored by column, and the class of each row.

    `values[j]` contains column j. `orders[j]` lists all rows in ascending order of column j, and only the first `n_known[j]` of
    these rows have known values. `sizes[j]` is the number of values of a nominal column, or 0 for a numeric column.
    """

    values: FloatArray
    orders: IntArray
    n_known: IntArray
    sizes: IntArray
    codes: IntArray

    @classmethod
    def from_columns(cls, columns: EncodedTable, codes: IntArray) -> RuleTable:
        """Build the table, and sort each column with missing values last."""
        values = np.ascontiguousarray(columns.values.T)
        sizes = np.array([len(categories) if categories is not None else 0 for categories in columns.categories], dtype=np.intp)
        orders = np.argsort(values, axis=1, kind="stable").astype(np.intp)
        return cls(values, orders, (~np.isnan(values)).sum(axis=1).astype(np.intp), sizes, codes)

    @property
    def possible_conditions(self) -> int:
        """Number of possible conditions: one per nominal value, and two per distinct numeric value."""
        sorted_values = np.take_along_axis(self.values, self.orders, axis=1)
        distinct = (sorted_values[:, 1:] > sorted_values[:, :-1]).sum(axis=1) + (self.n_known > 0)
        return int(np.where(self.sizes > 0, self.sizes, 2 * distinct).sum())


@dataclass(frozen=True, eq=False)
class RuleConditions:
    """Conditions (at most, at least or equal) that a row must all satisfy."""

    columns: IntArray
    kinds: IntArray
    cuts: FloatArray

    @classmethod
    def make_empty(cls) -> RuleConditions:
        """Return conditions that every row satisfies."""
        return cls(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0))

    def __len__(self) -> int:
        return len(self.columns)

    def find_covered(self, values: FloatArray, rows: IntArray) -> BoolArray:
        """Mark the rows that satisfy the conditions. Each row of `values` is a column of the table."""
        return np.asarray(rule_grow.find_covered_rows(values, rows, self.columns, self.kinds, self.cuts))

    def grow(self, table: RuleTable, rows: IntArray, positive: BoolArray, min_weight: float) -> RuleConditions:
        """Append conditions with a positive gain on the rows that satisfy all previous conditions."""
        used = np.zeros(len(table.sizes), dtype=bool)
        used[self.columns] = table.sizes[self.columns] > 0
        rows = rows[self.find_covered(table.values, rows)]
        added = rule_grow.grow_rule(table.values, table.orders, table.n_known, table.sizes, rows, positive, used, min_weight)
        extended = [np.concatenate(pair) for pair in zip((self.columns, self.kinds, self.cuts), added, strict=True)]
        return RuleConditions(*extended)

    def prune(self, table: RuleTable, rows: IntArray, positive: BoolArray, *, by_accuracy: bool) -> RuleConditions:
        """Drop trailing conditions that do not improve the rule on the given rows."""
        length = rule_grow.find_best_length(table.values, rows, positive, self.columns, self.kinds, self.cuts, by_accuracy)
        return RuleConditions(self.columns[:length], self.kinds[:length], self.cuts[:length])


_SIGNS = ("<=", ">=", "=")


@dataclass(frozen=True)
class RuleCondition:
    """A condition: column, operator and value.

    >>> print(RuleCondition("petal length", "<=", 1.9))
    petal length <= 1.9
    """

    column: str
    sign: str
    value: Any

    def __str__(self) -> str:
        return f"{self.column} {self.sign} {self.value if self.sign == '=' else format_decimal(self.value)}"


@dataclass(frozen=True)
class RipperRule:
    """A rule that predicts its class if all its conditions are satisfied and no earlier rule applies.

    `covered` is the number of training rows that the rule covers, and `errors` is the number of these rows that belong to other
    classes. `probabilities` contains the class proportions of the covered rows.

    >>> print(RipperRule((RuleCondition("size", ">=", 3.0), RuleCondition("hue", "=", "red")), "yes", 12, 1, (1 / 12, 11 / 12)))
    (size >= 3) and (hue = red) => class=yes (12.0/1.0)
    """

    conditions: tuple[RuleCondition, ...]
    label: Any
    covered: int
    errors: int
    probabilities: tuple[float, ...]

    def to_text(self, target: str = "class") -> str:
        """Format the rule with the name of the class column."""
        conditions = " and ".join(f"({condition})" for condition in self.conditions)
        return f"{conditions} => {target}={self.label} ({format_double(self.covered)}/{format_double(self.errors)})"

    def __str__(self) -> str:
        return self.to_text()


def make_readable(conditions: RuleConditions, columns: EncodedTable) -> tuple[RuleCondition, ...]:
    """Convert encoded conditions to conditions with column names and values."""
    readable_conditions = []
    for column, kind, cut in zip(conditions.columns, conditions.kinds, conditions.cuts, strict=True):
        categories = columns.categories[column]
        value = float(cut) if categories is None else categories[int(cut)]
        readable_conditions.append(RuleCondition(columns.names[column], _SIGNS[kind], value))
    return tuple(readable_conditions)


def format_rules(rules: tuple[RipperRule, ...], target: str) -> str:
    """Format all rules as JRip does."""
    lines = "\n".join(rule.to_text(target) for rule in rules)
    return f"JRIP rules:\n===========\n\n{lines}\n\nNumber of Rules : {len(rules)}\n"


_MOST_ERRORS = 0.5


@dataclass(frozen=True, eq=False)
class RuleTask:
    """The task of learning rules that separate one class from all later classes."""

    table: RuleTable
    positive: BoolArray
    proportion: float
    possible: int
    check_error: bool


@dataclass(frozen=True, eq=False)
class RuleCoverage:
    """A rule in a list, with the rows that it covers and the rows left for later rules."""

    conditions: RuleConditions
    covered: IntArray
    rest: IntArray
    counts: RuleCounts


@dataclass(eq=False)
class RuleSet:
    """An ordered list of rules for a set of rows."""

    task: RuleTask
    rows: IntArray
    rules: list[RuleCoverage] = field(default_factory=list)

    @property
    def rest(self) -> IntArray:
        """Rows that no rule covers."""
        return self.rules[-1].rest if self.rules else self.rows

    def extend(self, *more: RuleConditions) -> RuleSet:
        """Return a new rule set with additional rules at the end."""
        longer = RuleSet(self.task, self.rows, list(self.rules))
        for conditions in more:
            longer.rules.append(longer._apply_rule(longer.rest, conditions))
        return longer

    def _apply_rule(self, rows: IntArray, conditions: RuleConditions) -> RuleCoverage:
        inside = conditions.find_covered(self.task.table.values, rows)
        covered, rest = rows[inside], rows[~inside]
        right = int(self.task.positive[covered].sum())
        missed = int(self.task.positive[rest].sum())
        return RuleCoverage(conditions, covered, rest, RuleCounts(len(covered), len(rest), len(covered) - right, missed))

    def _sum_counts(self, start: RuleCounts, rules: list[RuleCoverage]) -> RuleCounts:
        if not rules:
            return start
        last = rules[-1].counts
        covered, wrong = (sum(getattr(rule.counts, name) for rule in rules) for name in ("covered", "wrong"))
        return RuleCounts(covered, last.left, wrong, last.missed)

    @property
    def no_rule(self) -> RuleCounts:
        """Counts for an empty list of rules."""
        return RuleCounts(0, len(self.rows), 0, int(self.task.positive[self.rows].sum()))

    def _compute_savings(self, total: RuleCounts, rule: RuleCoverage) -> float:
        """Compute the number of bits saved by dropping a rule. Return NaN if the rule should be kept."""
        task, counts = self.task, rule.counts
        saved = (
            compute_exceptions_length(task.proportion, total)
            + compute_rule_length(len(rule.conditions), task.possible)
            - compute_exceptions_length(task.proportion, total.exclude(counts))
        )
        too_wrong = task.check_error and counts.covered > 0 and counts.wrong / counts.covered > _MOST_ERRORS - SMALL
        return saved if saved > -SMALL or too_wrong else math.nan

    def _compute_min_length(self, total: RuleCounts, later: list[RuleCoverage]) -> float:
        """Compute the bits needed to encode the errors, minus the bits saved by dropping later rules.

        Later rules that increase the description length are dropped.
        """
        saved = 0.0
        for rule in later:
            potential = self._compute_savings(total, rule)
            if not math.isnan(potential):
                saved += potential
                total = total.exclude(rule.counts)
        return compute_exceptions_length(self.task.proportion, total) - saved

    def compute_relative_length(self, position: int) -> float:
        """Compute how many bits the rule at this position adds to the description length."""
        start = self.no_rule
        present = self._compute_min_length(self._sum_counts(start, self.rules), self.rules[position + 1 :])
        shorter = RuleSet(self.task, self.rows, self.rules[:position]).extend(
            *(rule.conditions for rule in self.rules[position + 1 :])
        )
        absent = self._compute_min_length(self._sum_counts(start, shorter.rules), shorter.rules[position:])
        return present + compute_rule_length(len(self.rules[position].conditions), self.task.possible) - absent

    def reduce(self) -> RuleSet:
        """Drop the rules that increase the description length, starting with the last rule."""
        total = self._sum_counts(self.no_rule, self.rules)
        conditions = []
        for rule in reversed(self.rules):
            if math.isnan(self._compute_savings(total, rule)):
                conditions.append(rule.conditions)
            else:
                total = total.exclude(rule.counts)
        return replace(self, rules=[]).extend(*reversed(conditions))
