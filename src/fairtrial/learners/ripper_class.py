"""The rules for one class: grown and pruned one by one until description length or errors say stop, then revised."""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial._check import IntArray
from fairtrial.kernels.java_random import JavaRandom
from fairtrial.learners.ripper_conditions import Conditions
from fairtrial.learners.ripper_length import exceptions_length
from fairtrial.learners.ripper_ruleset import RuleSet, Task
from fairtrial.learners.ripper_source import stratified

_SURPLUS = 64.0


@dataclass(frozen=True, eq=False)
class OneClass:
    """How rules for one class are learnt. `rows` are those that no rule of an earlier class covers."""

    task: Task
    rows: IntArray
    source: JavaRandom
    folds: int
    least: float
    prune: bool

    def learn(self, optimizations: int) -> RuleSet:
        """Build, then optimise so many times."""
        rules = self._build()
        for _ in range(optimizations if self.prune else 0):
            rules = self._optimise(rules)
        return rules

    def _build(self) -> RuleSet:
        rules, rows, watch = None, self.rows, self._watch()
        while True:
            if self.prune:
                rows = self._mixed(rows)
            rule = self._fresh(rows)
            longer = (RuleSet(self.task, rows) if rules is None else rules).extended(rule)
            if watch.stops(longer):
                return RuleSet(self.task, self.rows) if rules is None else rules
            rules, rows = longer, longer.rest
            if longer.rules[-1].counts.missed == 0:
                return rules

    def _optimise(self, before: RuleSet) -> RuleSet:
        """Each rule may give way to a new or to a longer one; the positives left get rules; what does not pay goes."""
        old = [each.conditions for each in before.rules]
        accepted, rows, watch = RuleSet(self.task, self.rows), self.rows, self._watch()
        missed = 1
        while missed > 0:
            place = len(accepted.rules)
            rows = self._mixed(rows)
            if place < len(old):
                if not old[place].covers(self.task.table.values, rows).any():
                    accepted = accepted.extended(old[place])
                    continue
                accepted = accepted.extended(self._best_variant(accepted, old, rows))
            else:
                longer = accepted.extended(self._fresh(rows))
                if watch.stops(longer):
                    break
                accepted = longer
            rows, missed = accepted.rest, accepted.rules[-1].counts.missed
        # JRip passes over the first of the old rules that are not reached.
        return accepted.extended(*old[len(accepted.rules) + 1 :]).reduced()

    def _best_variant(self, accepted: RuleSet, old: list[Conditions], rows: IntArray) -> Conditions:
        """The old rule, a revision that goes on from it, or a replacement from nothing: the shortest, in this order."""
        place = len(accepted.rules)
        task, present, later = self.task, old[place], old[place + 1 :]
        growing, pruning = self._parts(rows)
        for rule in later:
            pruning = pruning[~rule.covers(task.table.values, pruning)]
        replacement, revision = (
            start.grown(task.table, growing, task.positive, self.least).pruned(task.table, pruning, task.positive, whole=True)
            for start in (Conditions.none(), present)
        )
        return min((present, revision, replacement), key=lambda rule: accepted.extended(rule, *later).relative_length(place))

    def _fresh(self, rows: IntArray) -> Conditions:
        task = self.task
        if not self.prune:
            return Conditions.none().grown(task.table, rows, task.positive, self.least)
        growing, pruning = self._parts(rows)
        rule = Conditions.none().grown(task.table, growing, task.positive, self.least)
        return rule.pruned(task.table, pruning, task.positive, whole=False)

    def _mixed(self, rows: IntArray) -> IntArray:
        return stratified(rows, self.task.table.codes, self.folds, self.source)

    def _parts(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """All folds but the last grow a rule, the last prunes it."""
        cut = len(rows) * (self.folds - 1) // self.folds
        return rows[:cut], rows[cut:]

    def _watch(self) -> Watch:
        return Watch(exceptions_length(self.task.share, RuleSet(self.task, self.rows).no_rule))


class Watch:
    """Follows the description length as rules are added, and tells when to stop."""

    def __init__(self, start: float) -> None:
        self.length = self.shortest = start

    def stops(self, rules: RuleSet) -> bool:
        """After the last rule: too long, no positive covered, or half of what it covers is wrong."""
        self.length += rules.relative_length(len(rules.rules) - 1)
        self.shortest = min(self.shortest, self.length)
        counts = rules.rules[-1].counts
        if self.length > self.shortest + _SURPLUS or counts.covered == counts.wrong:
            return True
        return rules.task.check_error and counts.wrong / counts.covered >= 0.5
