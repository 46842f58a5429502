"""The support vector machine of the paper, and what else it could have been: encodings, scales and ways to an answer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from fairtrial._check import FloatArray, check_one_of, check_positive
from fairtrial._frames import EncodedTable
from fairtrial.learners import Learner, PukSVC
from fairtrial.learners.encoding import NumberEncoder
from fairtrial.learners.learner import TrainingSet, require_two_classes
from fairtrial.reproduce.ela.coupling import BoolArray, coupled, fitted_line, second_share

_HELD_OUT = 5


class LogisticPukSVC(Learner):
    """A machine with the Pearson VII kernel for each pair of classes, and one of several ways from its outputs to an answer.

    `answer`: "logistic" fits a logistic line to each machine's outputs on its own training rows and couples the pairs, as SMO
    of WEKA and KEEL does when it fits logistic models; "held-out" fits it to outputs of rows left out, in 5 parts; "votes"
    counts the pairs won; "one-vs-rest" has a machine for each class and takes the largest output. `encoding`: nominal columns
    "binary" or as "codes", the places of their values, scaled like other numbers. `tol`: where the logistic fit stops. A
    machine that is sure of its training rows leaves the line nothing to be fitted to: see `fitted_line`.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LogisticPukSVC().fit(X[::2], y[::2]).predict(X[[0, 50, 100]]).tolist()
    [0, 1, 2]
    """

    def __init__(
        self,
        C: float = 100.0,
        *,
        answer: str = "logistic",
        encoding: str = "binary",
        scale: str | None = "min-max",
        tol: float = 1e-5,
        nominal: Any = None,
    ) -> None:
        self.C = C
        self.answer = answer
        self.encoding = encoding
        self.scale = scale
        self.tol = tol
        self.nominal = nominal

    def fit(self, X: Any, y: Any) -> LogisticPukSVC:
        """Learn a machine for each pair of classes, or for each class."""
        check_one_of("answer", self.answer, ["logistic", "held-out", "votes", "one-vs-rest"])
        check_one_of("encoding", self.encoding, ["binary", "codes"])
        check_one_of("scale", self.scale, ["min-max", "standard", None])
        check_positive("tol", self.tol)
        training = self._read_training(X, y)
        require_two_classes(self)
        columns = self._coded(training.columns)
        self._encoder = NumberEncoder.fit(TrainingSet(columns, training.codes, training.weight), self.scale)  # type: ignore[arg-type]
        rows, codes = self._encoder(columns), training.codes
        self._machines, self._lines, self._counts = {}, {}, np.zeros((len(self.classes_), len(self.classes_)))
        for pair, taken, second in self._problems(codes):
            machine = PukSVC(self.C, scale=None).fit(rows[taken], second)
            self._machines[pair] = machine
            self._lines[pair] = self._line(machine, rows[taken], second)
            self._counts[pair] = len(second)
        return self

    def _problems(self, codes: Any) -> Iterator[tuple[tuple[int, int], BoolArray, BoolArray]]:
        """Each machine's place, its rows, and which of them are of its second class."""
        classes = range(len(self.classes_))
        if self.answer == "one-vs-rest" and len(self.classes_) > 2:
            for one in classes:
                yield (one, one), np.ones(len(codes), dtype=bool), codes == one
            return
        for first, second in combinations(classes, 2):
            taken = (codes == first) | (codes == second)
            yield (first, second), taken, codes[taken] == second

    def _line(self, machine: PukSVC, rows: FloatArray, second: BoolArray) -> tuple[float, float]:
        if self.answer == "logistic":
            return fitted_line(machine.decision_function(rows), second, tol=self.tol)
        if self.answer == "held-out":
            return fitted_line(_left_out(machine, rows, second), second, tol=self.tol)
        return 0.0, 1.0

    def _coded(self, columns: EncodedTable) -> EncodedTable:
        if self.encoding == "binary":
            return columns
        return EncodedTable(columns.values, columns.names, (None,) * len(columns.names))

    def _predict_probabilities(self, columns: EncodedTable) -> FloatArray:
        rows = self._encoder(self._coded(columns))
        outputs = {pair: machine.decision_function(rows) for pair, machine in self._machines.items()}
        if self.answer == "one-vs-rest" and len(self.classes_) > 2:
            return _largest(np.column_stack(list(outputs.values())))
        shares = np.zeros((len(rows), *self._counts.shape))
        for pair, output in outputs.items():
            share = second_share(output, self._lines[pair])
            shares[(slice(None), *pair)] = 1 - share if self._fits else output <= 0
        if len(self.classes_) == 2:
            return np.column_stack([shares[:, 0, 1], 1 - shares[:, 0, 1]])
        return coupled(shares, self._counts) if self._fits else _vote_shares(shares)

    @property
    def _fits(self) -> bool:
        return self.answer in ("logistic", "held-out")


def _left_out(machine: PukSVC, rows: FloatArray, second: BoolArray) -> FloatArray:
    """Outputs for rows that the machine has not learnt from; classes of a single row have none, and are learnt from."""
    from sklearn.base import clone
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    parts = min(_HELD_OUT, int(second.sum()), int((~second).sum()))
    if parts < 2:
        return machine.decision_function(rows)
    folds = StratifiedKFold(parts, shuffle=True, random_state=1)
    return np.asarray(cross_val_predict(clone(machine), rows, second, cv=folds, method="decision_function"))


def _vote_shares(won: FloatArray) -> FloatArray:
    upper = np.triu(np.ones(won.shape[1:], dtype=bool), 1)
    votes = np.where(upper, won, 0).sum(axis=2) + np.where(upper, 1 - won, 0).sum(axis=1)
    return np.asarray(votes / upper.sum())


def _largest(outputs: FloatArray) -> FloatArray:
    """All of the probability for the class of the largest output."""
    return np.asarray(np.arange(outputs.shape[1]) == outputs.argmax(axis=1)[:, None], dtype=np.float64)
