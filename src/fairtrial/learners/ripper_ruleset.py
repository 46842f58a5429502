"""Rules for one class in order, with what each covers and what the whole costs in bits."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from fairtrial._check import IntArray
from fairtrial._columns import BoolArray
from fairtrial.learners.ripper_conditions import Conditions, Table
from fairtrial.learners.ripper_length import SMALL, Counts, exceptions_length, rule_length

_MOST_ERRORS = 0.5


@dataclass(frozen=True, eq=False)
class Task:
    """One class against the later ones: the table, its positive rows, the class's share and how rules are weighed."""

    table: Table
    positive: BoolArray
    share: float
    possible: int
    check_error: bool


@dataclass(frozen=True, eq=False)
class Ruled:
    """A rule at its place: the rows that it is first to cover, the rows left after it, and their counts."""

    conditions: Conditions
    covered: IntArray
    rest: IntArray
    counts: Counts


@dataclass(eq=False)
class RuleSet:
    """Rules in order over some rows."""

    task: Task
    rows: IntArray
    rules: list[Ruled] = field(default_factory=list)

    @property
    def rest(self) -> IntArray:
        """Rows that no rule covers."""
        return self.rules[-1].rest if self.rules else self.rows

    def extended(self, *more: Conditions) -> RuleSet:
        """With rules behind the present ones; this one stays as it is."""
        longer = RuleSet(self.task, self.rows, list(self.rules))
        for conditions in more:
            longer.rules.append(longer._after(longer.rest, conditions))
        return longer

    def _after(self, rows: IntArray, conditions: Conditions) -> Ruled:
        inside = conditions.covers(self.task.table.values, rows)
        covered, rest = rows[inside], rows[~inside]
        right = int(self.task.positive[covered].sum())
        missed = int(self.task.positive[rest].sum())
        return Ruled(conditions, covered, rest, Counts(len(covered), len(rest), len(covered) - right, missed))

    def _total(self, start: Counts, rules: list[Ruled]) -> Counts:
        """All rules together: errors add up, what is left is left by the last."""
        if not rules:
            return start
        last = rules[-1].counts
        covered, wrong = (sum(getattr(each.counts, name) for each in rules) for name in ("covered", "wrong"))
        return Counts(covered, last.left, wrong, last.missed)

    @property
    def no_rule(self) -> Counts:
        """When no rule covers anything."""
        return Counts(0, len(self.rows), 0, int(self.task.positive[self.rows].sum()))

    def _saved(self, together: Counts, rule: Ruled) -> float:
        """Bits saved when a rule goes; NaN when it should stay."""
        task, counts = self.task, rule.counts
        saved = (
            exceptions_length(task.share, together)
            + rule_length(len(rule.conditions), task.possible)
            - exceptions_length(task.share, together.without(counts))
        )
        too_wrong = task.check_error and counts.covered > 0 and counts.wrong / counts.covered > _MOST_ERRORS - SMALL
        return saved if saved > -SMALL or too_wrong else math.nan

    def _least(self, together: Counts, later: list[Ruled]) -> float:
        """Bits for the exceptions when each later rule that does not pay is gone."""
        saved = 0.0
        for rule in later:
            potential = self._saved(together, rule)
            if not math.isnan(potential):
                saved += potential
                together = together.without(rule.counts)
        return exceptions_length(self.task.share, together) - saved

    def relative_length(self, place: int) -> float:
        """Bits that the rules cost with the rule at this place, less those without it."""
        start = self.no_rule
        present = self._least(self._total(start, self.rules), self.rules[place + 1 :])
        shorter = RuleSet(self.task, self.rows, self.rules[:place]).extended(
            *(each.conditions for each in self.rules[place + 1 :])
        )
        absent = self._least(self._total(start, shorter.rules), shorter.rules[place:])
        return present + rule_length(len(self.rules[place].conditions), self.task.possible) - absent

    def reduced(self) -> RuleSet:
        """Without the rules that do not pay, looked at from the last to the first."""
        together = self._total(self.no_rule, self.rules)
        kept = []
        for rule in reversed(self.rules):
            if math.isnan(self._saved(together, rule)):
                kept.append(rule.conditions)
            else:
                together = together.without(rule.counts)
        return replace(self, rules=[]).extended(*reversed(kept))
