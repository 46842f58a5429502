"""RIPPER rule learner: repeated incremental pruning to produce error reduction (Cohen 1995)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fairtrial._check import FloatArray, IntArray, check_at_least, check_generator, check_whole_number
from fairtrial._frames import EncodedTable
from fairtrial.kernels import rule_grow
from fairtrial.kernels.randomness import JavaRandom
from fairtrial.learners import ripper_rules
from fairtrial.learners.encoding import format_decimal
from fairtrial.learners.learner import Learner, TrainingSet, get_declared_order, register_learner
from fairtrial.learners.one_r import get_target_name
from fairtrial.learners.ripper_rules import RipperRule, RuleConditions, RuleCoverage, RuleSet, RuleTable, RuleTask

_ESCAPED = {"\\": "\\\\", "'": "\\'", "\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "%": "\\%", "\x1e": "\\u001E"}


def make_java_random(seed: int, columns: EncodedTable, labels: Sequence[Any]) -> JavaRandom:
    """Create JRip's random number generator, seeded with `seed` plus the Java hash of a random row."""
    row = JavaRandom(seed).draw_below(len(columns))
    return JavaRandom(compute_java_hash(format_row(columns, row, labels[row])) + seed)


def format_row(columns: EncodedTable, row: int, label: Any) -> str:
    """Format a row as a line of an ARFF file, with the class last."""
    cells = [
        "?" if np.isnan(value) else format_decimal(value) if categories is None else quote(categories[int(value)])
        for value, categories in zip(columns.values[row], columns.categories, strict=True)
    ]
    return ",".join([*cells, quote(label)])


def quote(value: Any) -> str:
    """Quote text as ARFF files require.

    >>> print(quote("red"), quote("dark red"), quote("5%"))
    red 'dark red' '5\\%'
    """
    text = str(value)
    escaped = "".join(_ESCAPED.get(letter, letter) for letter in text)
    return f"'{escaped}'" if escaped != text or text in ("", "?") or set("{}, ") & set(text) else text


def compute_java_hash(text: str) -> int:
    """Compute the 32-bit hash code that Java assigns to a string.

    >>> compute_java_hash("hello"), compute_java_hash("fairtrial")
    (99162322, -349893006)
    """
    code = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        code = (31 * code + 256 * high + low) & 0xFFFFFFFF
    return code - (1 << 32) if code >= 1 << 31 else code


def order_classes_by_frequency(counts: Sequence[int], source: JavaRandom) -> list[int]:
    """Order classes from the rarest to the most frequent.

    Ties are broken as in JRip: the classes are shuffled and then sorted by WEKA's quicksort, which is not stable.
    """
    shuffled = list(range(len(counts)))
    JavaRandom(source.draw_int32()).shuffle(shuffled)
    return [shuffled[index] for index in sort_like_weka([counts[code] for code in shuffled])]


def sort_like_weka(numbers: Sequence[float]) -> list[int]:
    """Return the indices that sort the numbers, as found by WEKA's unstable quicksort."""
    indices = list(range(len(numbers)))
    _quicksort(numbers, indices, 0, len(indices) - 1)
    return indices


def _put_in_order(numbers: Sequence[float], indices: list[int], left: int, right: int) -> None:
    if numbers[indices[left]] > numbers[indices[right]]:
        indices[left], indices[right] = indices[right], indices[left]


def _quicksort(numbers: Sequence[float], indices: list[int], left: int, right: int) -> None:
    """Sort with the median of the first, middle and last elements as the pivot. Up to three elements are sorted directly."""
    if right <= left:
        return
    centre = left + 1 if right - left == 2 else (left + right) // 2
    if right - left > 1:
        _put_in_order(numbers, indices, left, centre)
    _put_in_order(numbers, indices, left, right)
    if right - left > 1:
        _put_in_order(numbers, indices, centre, right)
    if right - left <= 2:
        return
    indices[centre], indices[right - 1] = indices[right - 1], indices[centre]
    pivot = numbers[indices[right - 1]]
    low, high = left, right - 1
    while True:
        low += 1
        while numbers[indices[low]] < pivot:
            low += 1
        high -= 1
        while numbers[indices[high]] > pivot:
            high -= 1
        if low >= high:
            break
        indices[low], indices[high] = indices[high], indices[low]
    indices[low], indices[right - 1] = indices[right - 1], indices[low]
    _quicksort(numbers, indices, left, low - 1)
    _quicksort(numbers, indices, low + 1, right)


def stratify_rows(rows: IntArray, codes: IntArray, folds: int, source: JavaRandom) -> IntArray:
    """Shuffle rows within each class, assign them to folds in turn, and concatenate the folds."""
    bags: list[int] = []
    classes = codes[rows]
    for code in range(int(classes.max()) + 1):
        bag = rows[classes == code].tolist()
        source.shuffle(bag)
        bags += bag
    return np.array([row for start in range(folds) for row in bags[start::folds]], dtype=np.intp)


_SURPLUS = 64.0


@dataclass(frozen=True, eq=False)
class ClassRuleLearner:
    """Learner of the rules for one class. `rows` are not covered by rules for earlier classes."""

    task: RuleTask
    rows: IntArray
    source: JavaRandom
    folds: int
    min_weight: float
    prune: bool

    def learn(self, optimizations: int) -> RuleSet:
        """Build the rules and optimize them `optimizations` times."""
        rules = self._build()
        for _ in range(optimizations if self.prune else 0):
            rules = self._optimise(rules)
        return rules

    def _build(self) -> RuleSet:
        rules, rows, stopping = None, self.rows, self._make_stopping_criterion()
        while True:
            if self.prune:
                rows = self._shuffle_rows(rows)
            rule = self._grow_rule(rows)
            longer = (RuleSet(self.task, rows) if rules is None else rules).extend(rule)
            if stopping.should_stop(longer):
                return RuleSet(self.task, self.rows) if rules is None else rules
            rules, rows = longer, longer.rest
            if longer.rules[-1].counts.missed == 0:
                return rules

    def _optimise(self, rule_set: RuleSet) -> RuleSet:
        """Keep, revise or replace each rule, then add rules for uncovered positives.

        Finally, rules that increase the description length are dropped.
        """
        old = [rule.conditions for rule in rule_set.rules]
        accepted, rows, stopping = RuleSet(self.task, self.rows), self.rows, self._make_stopping_criterion()
        missed = 1
        while missed > 0:
            position = len(accepted.rules)
            rows = self._shuffle_rows(rows)
            if position < len(old):
                if not old[position].find_covered(self.task.table.values, rows).any():
                    accepted = accepted.extend(old[position])
                    continue
                accepted = accepted.extend(self._choose_variant(accepted, old, rows))
            else:
                longer = accepted.extend(self._grow_rule(rows))
                if stopping.should_stop(longer):
                    break
                accepted = longer
            rows, missed = accepted.rest, accepted.rules[-1].counts.missed
        # JRip skips the first of the remaining old rules.
        return accepted.extend(*old[len(accepted.rules) + 1 :]).reduce()

    def _choose_variant(self, accepted: RuleSet, old: list[RuleConditions], rows: IntArray) -> RuleConditions:
        """Choose the old rule, its revision or a replacement by the description length.

        Ties go to the old rule, then to the revision.
        """
        position = len(accepted.rules)
        task, present, later = self.task, old[position], old[position + 1 :]
        growing, pruning = self._split_rows(rows)
        for rule in later:
            pruning = pruning[~rule.find_covered(task.table.values, pruning)]
        replacement, revision = (
            start.grow(task.table, growing, task.positive, self.min_weight).prune(
                task.table, pruning, task.positive, by_accuracy=True
            )
            for start in (RuleConditions.make_empty(), present)
        )
        return min(
            (present, revision, replacement), key=lambda rule: accepted.extend(rule, *later).compute_relative_length(position)
        )

    def _grow_rule(self, rows: IntArray) -> RuleConditions:
        task = self.task
        if not self.prune:
            return RuleConditions.make_empty().grow(task.table, rows, task.positive, self.min_weight)
        growing, pruning = self._split_rows(rows)
        rule = RuleConditions.make_empty().grow(task.table, growing, task.positive, self.min_weight)
        return rule.prune(task.table, pruning, task.positive, by_accuracy=False)

    def _shuffle_rows(self, rows: IntArray) -> IntArray:
        return stratify_rows(rows, self.task.table.codes, self.folds, self.source)

    def _split_rows(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Split off the last fold, which is used to prune a rule that is grown on all other folds."""
        cut = len(rows) * (self.folds - 1) // self.folds
        return rows[:cut], rows[cut:]

    def _make_stopping_criterion(self) -> StoppingCriterion:
        return StoppingCriterion(
            ripper_rules.compute_exceptions_length(self.task.proportion, RuleSet(self.task, self.rows).no_rule)
        )


class StoppingCriterion:
    """A criterion for when to stop adding rules, based on the description length."""

    def __init__(self, start: float) -> None:
        self.length = self.shortest = start

    def should_stop(self, rules: RuleSet) -> bool:
        """Return whether to stop because of the last rule.

        Reasons are a description length that is too large, no covered positives and, if checked, an error rate of at least
        0.5.
        """
        self.length += rules.compute_relative_length(len(rules.rules) - 1)
        self.shortest = min(self.shortest, self.length)
        counts = rules.rules[-1].counts
        if self.length > self.shortest + _SURPLUS or counts.covered == counts.wrong:
            return True
        return rules.task.check_error and counts.wrong / counts.covered >= 0.5


@register_learner("ripper", aliases=("jrip",))
class Ripper(Learner):
    """RIPPER rule learner: an ordered list of rules, with rare classes first.

    The rules are identical to those of WEKA's JRip. The most frequent class is the default rule.

    Parameters
    ----------
    folds : int, default 3
        Number of folds. A rule is grown on all folds but the last and pruned on the last fold.
    min_weight : float, default 2
        Minimum number of rows of the predicted class that a rule must cover after a condition is added.
    optimizations : int, default 2
        Number of optimization rounds, the k of RIPPERk.
    check_error : bool, default True
        Whether to reject rules that are wrong on at least half of the rows that they cover.
    prune : bool, default True
        Whether to prune and optimize.
    random_state : int or Generator, default 1
        Random seed or generator. With the same integer seed and the same rows in the same order, JRip learns the same rules.
    nominal : sequence of str or int, optional
        Names or indices of columns to treat as nominal. Categorical, text and Boolean columns are always nominal.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The sorted class labels.
    rules_ : tuple of RipperRule
        The rules in order. The last one is the default rule.
    n_rules_ : int
        Number of rules.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris(as_frame=True)
    >>> rules = Ripper().fit(iris.data, iris.target_names[iris.target])
    >>> for rule in rules.rules_:
    ...     print(rule)
    (petal length (cm) >= 3) and (petal width (cm) <= 1.6) and (petal length (cm) <= 4.9) => class=versicolor (47.0/0.0)
    (petal length (cm) <= 1.9) => class=setosa (50.0/0.0)
     => class=virginica (53.0/3.0)
    """

    _kernels = (rule_grow.find_covered_rows, rule_grow.grow_rule, rule_grow.find_best_length)

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
        """Learn the rules.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n, d)
            Training rows.
        y : array-like of shape (n,)
            Class label of each row.

        Returns
        -------
        self
        """
        check_whole_number("folds", self.folds, 2)
        check_whole_number("optimizations", self.optimizations, 0)
        check_at_least("min_weight", self.min_weight, 0)
        training = self._read_training(X, y)
        self._target = get_target_name(y)
        declared = get_declared_order(y, self.classes_)
        source = make_java_random(self._resolve_seed(), training.columns, self.classes_[training.codes].tolist())
        counts = np.bincount(training.codes, minlength=len(self.classes_))
        ordered = order_classes_by_frequency([int(counts[code]) if code >= 0 else 0 for code in declared], source)
        present = [declared[index] for index in ordered if declared[index] >= 0]
        self._learn(training, present, source)
        return self

    def _resolve_seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)) and not isinstance(self.random_state, bool):
            return int(self.random_state)
        return int(check_generator("random_state", self.random_state).integers(2**31))

    def _learn(self, training: TrainingSet, order: list[int], source: JavaRandom) -> None:
        """Learn rules for one class after another, on the rows that earlier rules do not cover."""
        ranks = np.argsort(order)[training.codes].astype(np.intp)
        table = RuleTable.from_columns(training.columns, ranks)
        counts = np.bincount(ranks, minlength=len(order))
        rows, possible = np.arange(len(ranks), dtype=np.intp), table.possible_conditions
        self._conditions: list[RuleConditions] = []
        self.rules_: tuple[RipperRule, ...] = ()
        for rank in range(len(order)):
            proportion = float(counts[rank] / counts[rank:].sum())
            task = RuleTask(table, ranks == rank, proportion, possible, self.check_error)
            if rank == len(order) - 1:
                rule_set = RuleSet(task, rows).extend(RuleConditions.make_empty())
            elif task.positive[rows].any():
                rule_set = ClassRuleLearner(task, rows, source, self.folds, self.min_weight, self.prune).learn(
                    self.optimizations
                )
            else:
                continue
            rows = rule_set.rest
            self._conditions += [rule.conditions for rule in rule_set.rules]
            self.rules_ += tuple(self._make_rule(rule, ranks, rank, order) for rule in rule_set.rules)
        self.n_rules_ = len(self.rules_)

    def _make_rule(self, rule: RuleCoverage, ranks: IntArray, rank: int, order: list[int]) -> RipperRule:
        """Build a readable rule with class proportions.

        A default rule that covers no rows predicts its class with probability 1.
        """
        counts = np.bincount(ranks[rule.covered], minlength=len(order)).astype(float)
        if not counts.any():
            counts[rank] = 1.0
        proportions = np.empty(len(order))
        proportions[order] = counts / counts.sum()
        label = self.classes_[order[rank]]
        return RipperRule(
            ripper_rules.make_readable(rule.conditions, self._template),
            label.item() if hasattr(label, "item") else label,
            rule.counts.covered,
            rule.counts.wrong,
            tuple(proportions.tolist()),
        )

    def export_text(self) -> str:
        """Format the rules as JRip does, with (covered/errors) after each rule."""
        check_is_fitted(self)
        return ripper_rules.format_rules(self.rules_, self._target)

    def _find_first_rule(self, columns: EncodedTable) -> IntArray:
        """Find the first rule that applies to each row."""
        values = np.ascontiguousarray(columns.values.T)
        first = np.full(len(columns), len(self._conditions) - 1, dtype=np.intp)
        pending = np.arange(len(columns), dtype=np.intp)
        for index, conditions in enumerate(self._conditions[:-1]):
            inside = conditions.find_covered(values, pending)
            first[pending[inside]] = index
            pending = pending[~inside]
        return first

    def _predict_probabilities(self, columns: EncodedTable) -> FloatArray:
        return np.array([rule.probabilities for rule in self.rules_])[self._find_first_rule(columns)]
