"""Check the output of a fitted learner: its predicted classes or abstentions, and its scores for each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray, describe_other_values
from fairtrial._registry import suggest_name
from fairtrial.conditions import ScoreNoise
from fairtrial.errors import LearnerError
from fairtrial.study.records import ABSTAINED, find_abstention_label

Kind = Literal["probability", "decision"]
_METHODS: dict[str, Kind] = {"predict_proba": "probability", "decision_function": "decision"}
_ROUNDING = 1e-5  # rounding error in single precision with a thousand classes


@dataclass(frozen=True, eq=False)
class EstimatorScores:
    """Scores with a column for each declared class.

    If the learner returned invalid probabilities, `note` explains the problem.
    """

    values: FloatArray
    kind: Kind
    note: str | None = None

    def add_noise(self, noise: ScoreNoise, rng: np.random.Generator) -> tuple[EstimatorScores, float, int]:
        """Add noise. Return the noisy scores, the realized noise level, and the number of changed scores.

        With two classes, noise is added to the score of the second class. The score of the first class is then 1 minus the
        noisy probability, or the negated noisy decision value. With more classes, noise is added to each score. Scores remain
        probabilities only if there are two classes and the scores are clipped.
        """
        if self.values.shape[1] != 2:
            changed = noise.apply(self.values.T, None, rng)
            noisy = EstimatorScores(np.ascontiguousarray(changed.X.T), "decision", self.note)
            return noisy, changed.level, int(changed.mask.sum())
        changed = noise.apply(self.values[:, 1], None, rng)
        first = 1 - changed.X if self.kind == "probability" else -changed.X
        kind: Kind = self.kind if noise.clip else "decision"
        return EstimatorScores(np.column_stack([first, changed.X]), kind, self.note), changed.level, int(changed.mask.sum())


@dataclass(frozen=True, eq=False)
class PredictionOutput:
    """The output of a fitted learner. `abstention` is the label that marks abstentions, or None if there is no such label."""

    predicted: Any
    scores: Any = None
    method: str | None = None
    abstention: Any = None

    @classmethod
    def from_estimator(cls, fitted: Any, X: Any) -> PredictionOutput:
        """Predict classes and, if possible, scores: probabilities if available, otherwise decision values."""
        predicted, abstention = fitted.predict(X), find_abstention_label(fitted)
        for method in _METHODS:
            if hasattr(fitted, method):
                return cls(predicted, getattr(fitted, method)(X), method, abstention)
        return cls(predicted, abstention=abstention)

    def encode_predictions(self, n: int, labels: npt.NDArray[Any], name: str) -> IntArray:
        """Encode predictions as indices of the declared classes, and abstentions as ABSTAINED.

        If the abstention label is also a declared class, it is treated as this class.

        >>> PredictionOutput(["b", "a", "?"], abstention="?").encode_predictions(3, np.array(["a", "b"]), "Mine").tolist()
        [1, 0, -1]
        """
        predictions = np.asarray(self.predicted)
        if predictions.shape not in ((n,), (n, 1)):
            raise LearnerError(f"predict of {name} must return a class for each of the {n} rows, got shape {predictions.shape}")
        codes_by_label = {label: code for code, label in enumerate(labels.tolist())}
        if self.abstention is not None:
            codes_by_label.setdefault(self.abstention, ABSTAINED)
        predicted_labels = predictions.reshape(-1).tolist()
        try:
            return np.fromiter(map(codes_by_label.__getitem__, predicted_labels), dtype=np.intp, count=n)
        except (KeyError, TypeError):
            wrong = next(label for label in predicted_labels if not _is_known_label(label, codes_by_label))
            hint = suggest_name(wrong, labels.tolist())
            raise LearnerError(f"predict of {name} must return classes of the data set, got {wrong!r}: {hint}") from None

    def align_scores(
        self, fitted: Any, n: int, trained: IntArray, labels: npt.NDArray[Any], name: str, *, pairs: bool = False
    ) -> EstimatorScores | None:
        """Arrange the scores in the order of the declared classes. Return None if the learner provides no scores.

        A class without training rows gets probability 0, or the smallest decision value. `trained` contains the class codes of
        the training rows. If `pairs` is True, decision values refer to pairs of classes. Such decision values are refused if
        there are more than two classes.

        >>> output = PredictionOutput(["b", "c"], [[0.9, 0.1], [0.2, 0.8]], "predict_proba")
        >>> class Fitted:
        ...     classes_ = ["b", "c"]
        >>> output.align_scores(Fitted(), 2, np.array([1, 2]), np.array(["a", "b", "c"]), "Mine").values.tolist()
        [[0.0, 0.9, 0.1], [0.0, 0.2, 0.8]]
        """
        if self.method is None:
            return None
        class_codes = _get_class_codes(fitted, trained, labels, name)
        who = f"{self.method} of {name}"
        table = _to_number_table(self.scores, who)
        kind = _METHODS[self.method]
        if kind == "decision":
            table = _expand_decisions(table, len(class_codes), pairs, who)
        if table.shape != (n, len(class_codes)):
            rule = f"a column for each of its {len(class_codes)} classes"
            raise LearnerError(f"{who} must return a row for each of the {n} rows and {rule}, got shape {table.shape}")
        note = _describe_invalid_probabilities(table, who) if kind == "probability" else None
        expanded = _expand_to_all_classes(table, class_codes, len(labels), kind)
        return EstimatorScores(expanded, "decision" if note else kind, note)


def _is_known_label(label: Any, codes_by_label: dict[Any, int]) -> bool:
    try:
        return label in codes_by_label
    except TypeError:
        return False


def _get_class_codes(fitted: Any, trained: IntArray, labels: npt.NDArray[Any], name: str) -> IntArray:
    """Return the class code of each score column.

    The columns follow the order of `classes_` or, if the learner lacks this attribute, of the sorted training classes.
    """
    codes_by_label = {label: code for code, label in enumerate(labels.tolist())}
    classes = getattr(fitted, "classes_", None)
    class_labels = (
        np.unique(labels[np.unique(trained)]).tolist() if classes is None else np.asarray(classes).reshape(-1).tolist()
    )
    wrong = [label for label in class_labels if not _is_known_label(label, codes_by_label)]
    if wrong or not class_labels or len(set(class_labels)) < len(class_labels):
        raise LearnerError(f"classes_ of {name} must be distinct classes of the data set, got {class_labels!r}")
    return np.array([codes_by_label[label] for label in class_labels], dtype=np.intp)


def _to_number_table(scores: Any, who: str) -> FloatArray:
    try:
        values = np.asarray(scores)
        kind = describe_other_values(values)
        table = values.astype(np.float64) if kind is None else None
    except (TypeError, ValueError):
        kind, table = type(scores).__name__, None
    if table is None:
        raise LearnerError(f"{who} must return a table of real numbers, got {kind}: convert it to float")
    if table.ndim and not np.isfinite(table).all():
        index = tuple(np.argwhere(~np.isfinite(table))[0])
        raise LearnerError(f"{who} must return finite numbers, got {table[index]} at row {index[0]}")
    return table


def _expand_decisions(table: FloatArray, k: int, pairs: bool, who: str) -> FloatArray:
    """Expand decision values to a column for each class."""
    if pairs and k > 2:
        rule = "must return a score for each class, got one for each pair of classes"
        raise LearnerError(f"{who} {rule}: set decision_function_shape='ovr'")
    single = table.reshape(-1) if table.ndim == 1 or (table.ndim == 2 and table.shape[1] == 1) else None
    if single is None:
        return table
    return np.column_stack([-single, single]) if k == 2 else single.reshape(-1, 1)


def _describe_invalid_probabilities(table: FloatArray, who: str) -> str | None:
    """Describe why values are not probabilities, ignoring rounding errors. Return None if all values are valid."""
    if table.min() < -_ROUNDING or table.max() > 1 + _ROUNDING:
        return f"{who} returns values from {table.min():.3g} to {table.max():.3g}: stored as scores, not as probabilities"
    sums = table.sum(axis=1)
    if np.abs(sums - 1).max() > _ROUNDING:
        return f"{who} returns rows with sums from {sums.min():.3g} to {sums.max():.3g}: stored as scores, not as probabilities"
    return None


def _expand_to_all_classes(table: FloatArray, class_codes: IntArray, k: int, kind: Kind) -> FloatArray:
    if len(class_codes) == k and (class_codes == np.arange(k)).all():
        return table
    expanded = np.full((len(table), k), 0.0 if kind == "probability" else table.min())
    expanded[:, class_codes] = table
    return expanded
