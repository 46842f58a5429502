"""Rules by repeated incremental pruning to produce error reduction: Cohen's RIPPER."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fairtrial._check import FloatArray, IntArray, at_least, generator, whole_number
from fairtrial._columns import Columns
from fairtrial.kernels.java_random import JavaRandom
from fairtrial.learners.learner import Learner, Training, declared_order
from fairtrial.learners.one_r import target_name
from fairtrial.learners.ripper_class import OneClass
from fairtrial.learners.ripper_conditions import Conditions, Table
from fairtrial.learners.ripper_rules import Rule, readable, rules_text
from fairtrial.learners.ripper_ruleset import Ruled, RuleSet, Task
from fairtrial.learners.ripper_source import classes_by_frequency, seeded


class Ripper(Learner):
    """An ordered list of rules, rare classes first and the most frequent one as the default: RIPPERk as WEKA's JRip learns it.

    All but one of `folds` parts of the rows grow a rule, the last prunes it; `min_weight` is the least number of rows of the
    class that a condition covers; `optimizations` is RIPPER's k. `check_error` refuses rules that are wrong on half of what
    they cover; `prune=False` leaves out pruning and optimisation.
    An integer `random_state` gives the rules that JRip finds with that seed on the same rows in the same order.

    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris(as_frame=True)
    >>> rules = Ripper().fit(iris.data, iris.target_names[iris.target])
    >>> for rule in rules.rules_:
    ...     print(rule)
    (petal length (cm) >= 3) and (petal width (cm) <= 1.6) and (petal length (cm) <= 4.9) => class=versicolor (47.0/0.0)
    (petal length (cm) <= 1.9) => class=setosa (50.0/0.0)
     => class=virginica (53.0/3.0)
    """

    def __init__(
        self,
        folds: int = 3,
        min_weight: float = 2.0,
        optimizations: int = 2,
        *,
        check_error: bool = True,
        prune: bool = True,
        random_state: Any = 1,
        nominal: Any = None,
    ) -> None:
        self.folds = folds
        self.min_weight = min_weight
        self.optimizations = optimizations
        self.check_error = check_error
        self.prune = prune
        self.random_state = random_state
        self.nominal = nominal

    def fit(self, X: Any, y: Any) -> Ripper:
        """Learn the rules."""
        whole_number("folds", self.folds, 2)
        whole_number("optimizations", self.optimizations, 0)
        at_least("min_weight", self.min_weight, 0)
        training = self._read_training(X, y)
        self._target = target_name(y)
        declared = declared_order(y, self.classes_)
        source = seeded(self._seed(), training.columns, self.classes_[training.codes].tolist())
        counts = np.bincount(training.codes, minlength=len(self.classes_))
        ordered = classes_by_frequency([int(counts[code]) if code >= 0 else 0 for code in declared], source)
        present = [declared[place] for place in ordered if declared[place] >= 0]
        self._learn(training, present, source)
        return self

    def _seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)) and not isinstance(self.random_state, bool):
            return int(self.random_state)
        return int(generator("random_state", self.random_state).integers(2**31))

    def _learn(self, training: Training, order: list[int], source: JavaRandom) -> None:
        """Rules for one class after the other, each on the rows that the rules of the earlier classes leave."""
        ranks = np.argsort(order)[training.codes].astype(np.intp)
        table = Table.of(training.columns, ranks)
        counts = np.bincount(ranks, minlength=len(order))
        rows, possible = np.arange(len(ranks), dtype=np.intp), table.possible_conditions
        self._conditions: list[Conditions] = []
        self.rules_: tuple[Rule, ...] = ()
        for rank in range(len(order)):
            share = float(counts[rank] / counts[rank:].sum())
            task = Task(table, ranks == rank, share, possible, self.check_error)
            if rank == len(order) - 1:
                found = RuleSet(task, rows).extended(Conditions.none())
            elif task.positive[rows].any():
                found = OneClass(task, rows, source, self.folds, self.min_weight, self.prune).learn(self.optimizations)
            else:
                continue
            rows = found.rest
            self._conditions += [each.conditions for each in found.rules]
            self.rules_ += tuple(self._readable(each, ranks, rank, order) for each in found.rules)
        self.n_rules_ = len(self.rules_)

    def _readable(self, rule: Ruled, ranks: IntArray, rank: int, order: list[int]) -> Rule:
        """A rule with names and class shares; a default rule that covers nothing is sure of its class."""
        counts = np.bincount(ranks[rule.covered], minlength=len(order)).astype(float)
        if not counts.any():
            counts[rank] = 1.0
        shares = np.empty(len(order))
        shares[order] = counts / counts.sum()
        label = self.classes_[order[rank]]
        return Rule(
            readable(rule.conditions, self._template),
            label.item() if hasattr(label, "item") else label,
            rule.counts.covered,
            rule.counts.wrong,
            tuple(shares.tolist()),
        )

    def export_text(self) -> str:
        """The rules as JRip prints them: rows covered and errors behind each."""
        check_is_fitted(self)
        return rules_text(self.rules_, self._target)

    def _firing(self, columns: Columns) -> IntArray:
        """The first rule that each row meets."""
        values = np.ascontiguousarray(columns.values.T)
        first = np.full(len(columns), len(self._conditions) - 1, dtype=np.intp)
        waiting = np.arange(len(columns), dtype=np.intp)
        for place, conditions in enumerate(self._conditions[:-1]):
            inside = conditions.covers(values, waiting)
            first[waiting[inside]] = place
            waiting = waiting[~inside]
        return first

    def _probabilities(self, columns: Columns) -> FloatArray:
        return np.array([rule.probabilities for rule in self.rules_])[self._firing(columns)]
