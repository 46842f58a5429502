"""What a fitted learner answers, checked: a declared class or an abstention for each row, a score for each row and class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial._registry import did_you_mean
from fairtrial.conditions import ScoreNoise
from fairtrial.errors import LearnerError
from fairtrial.study.abstaining import abstention_of
from fairtrial.study.evidence import ABSTAINED

Kind = Literal["probability", "decision"]
_METHODS: dict[str, Kind] = {"predict_proba": "probability", "decision_function": "decision"}
_ROUNDING = 1e-5  # what single precision leaves of a thousand classes


@dataclass(frozen=True, eq=False)
class Answers:
    """What the learner said, as it said it; `abstention` is the label by which it gives no class, None where it has none."""

    predicted: Any
    told: Any = None
    method: str | None = None
    abstention: Any = None


@dataclass(frozen=True, eq=False)
class Scores:
    """A column for each declared class; and what there is to note about them."""

    values: FloatArray
    kind: Kind
    note: str | None = None


def ask(fitted: Any, X: Any) -> Answers:
    """Let the learner predict, and tell its scores: probabilities if it has any, else decision values, else none."""
    predicted, abstention = fitted.predict(X), abstention_of(fitted)
    for method in _METHODS:
        if hasattr(fitted, method):
            return Answers(predicted, getattr(fitted, method)(X), method, abstention)
    return Answers(predicted, abstention=abstention)


def predicted_codes(answers: Answers, n: int, labels: npt.NDArray[Any], name: str) -> IntArray:
    """Predictions as places among the declared classes, or ABSTAINED. A label that is a declared class is never an abstention.

    >>> predicted_codes(Answers(["b", "a", "?"], abstention="?"), 3, np.array(["a", "b"]), "Mine").tolist()
    [1, 0, -1]
    """
    told = np.asarray(answers.predicted)
    if told.shape not in ((n,), (n, 1)):
        raise LearnerError(f"predict of {name} must give a class for each of the {n} rows, got shape {told.shape}")
    place = {label: code for code, label in enumerate(labels.tolist())}
    if answers.abstention is not None:
        place.setdefault(answers.abstention, ABSTAINED)
    listed = told.reshape(-1).tolist()
    try:
        return np.fromiter(map(place.__getitem__, listed), dtype=np.intp, count=n)
    except (KeyError, TypeError):
        wrong = next(each for each in listed if not _known(each, place))
        known = did_you_mean(wrong, labels.tolist())
        raise LearnerError(f"predict of {name} must give classes of the data set, got {wrong!r}: {known}") from None


def _known(label: Any, place: dict[Any, int]) -> bool:
    try:
        return label in place
    except TypeError:
        return False


def scores_of(
    answers: Answers, fitted: Any, n: int, trained: IntArray, labels: npt.NDArray[Any], name: str, *, pairs: bool = False
) -> Scores | None:
    """The scores in the order of the declared classes; None where the learner tells none.

    A class without training rows has probability 0; its decision value is the smallest that there is. `trained` are the codes
    of the training rows, `pairs` says that decision values are those of pairs of classes, which are refused.

    >>> answers = Answers(["b", "c"], [[0.9, 0.1], [0.2, 0.8]], "predict_proba")
    >>> class Fitted:
    ...     classes_ = ["b", "c"]
    >>> scores_of(answers, Fitted(), 2, np.array([1, 2]), np.array(["a", "b", "c"]), "Mine").values.tolist()
    [[0.0, 0.9, 0.1], [0.0, 0.2, 0.8]]
    """
    if answers.method is None:
        return None
    known = _known_classes(fitted, trained, labels, name)
    who = f"{answers.method} of {name}"
    table = _numbers(answers.told, who)
    kind = _METHODS[answers.method]
    if kind == "decision":
        table = _decisions(table, len(known), pairs, who)
    if table.shape != (n, len(known)):
        rule = f"a column for each of the {len(known)} classes that it knows"
        raise LearnerError(f"{who} must give a row for each of the {n} rows and {rule}, got shape {table.shape}")
    note = _broken(table, who) if kind == "probability" else None
    spread = _spread(table, known, len(labels), kind)
    return Scores(spread, "decision" if note else kind, note)


def disturbed(scores: Scores, noise: ScoreNoise, rng: np.random.Generator) -> tuple[Scores, float, int]:
    """Scores with noise, its realised level, and how many scores changed.

    Of two classes the score of the second gets the noise, and the first the rest to 1 (of decision values: the opposite). Of
    more classes each score gets noise of its own. They remain probabilities only where two of them are kept within 0 and 1.
    """
    if scores.values.shape[1] != 2:
        changed = noise.apply(scores.values.T, None, rng)
        return Scores(np.ascontiguousarray(changed.X.T), "decision", scores.note), changed.level, int(changed.mask.sum())
    changed = noise.apply(scores.values[:, 1], None, rng)
    first = 1 - changed.X if scores.kind == "probability" else -changed.X
    kind: Kind = scores.kind if noise.clip else "decision"
    return Scores(np.column_stack([first, changed.X]), kind, scores.note), changed.level, int(changed.mask.sum())


def _known_classes(fitted: Any, trained: IntArray, labels: npt.NDArray[Any], name: str) -> IntArray:
    """The declared classes that the columns of a learner are about: its `classes_`, else those of training, sorted."""
    place = {label: code for code, label in enumerate(labels.tolist())}
    given = getattr(fitted, "classes_", None)
    listed = np.unique(labels[np.unique(trained)]).tolist() if given is None else np.asarray(given).reshape(-1).tolist()
    wrong = [each for each in listed if not _known(each, place)]
    if wrong or not listed or len(set(listed)) < len(listed):
        raise LearnerError(f"classes_ of {name} must hold classes of the data set, each once, got {listed!r}")
    return np.array([place[each] for each in listed], dtype=np.intp)


def _numbers(told: Any, who: str) -> FloatArray:
    try:
        table = np.asarray(told, dtype=np.float64)
    except (TypeError, ValueError):
        raise LearnerError(f"{who} must give a table of numbers, got {type(told).__name__}") from None
    if table.ndim and not np.isfinite(table).all():
        place = tuple(np.argwhere(~np.isfinite(table))[0])
        raise LearnerError(f"{who} must give finite numbers, got {table[place]} at row {place[0]}")
    return table


def _decisions(table: FloatArray, k: int, pairs: bool, who: str) -> FloatArray:
    """A column for each class, also where there is one for both of two."""
    if pairs and k > 2:
        rule = "must give a score for each class, got one for each pair of classes"
        raise LearnerError(f"{who} {rule}: set decision_function_shape='ovr'")
    single = table.reshape(-1) if table.ndim == 1 or (table.ndim == 2 and table.shape[1] == 1) else None
    if single is None:
        return table
    return np.column_stack([-single, single]) if k == 2 else single.reshape(-1, 1)


def _broken(table: FloatArray, who: str) -> str | None:
    """What is wrong with probabilities, beyond rounding."""
    if table.min() < -_ROUNDING or table.max() > 1 + _ROUNDING:
        return f"{who} gives values from {table.min():.3g} to {table.max():.3g}: kept as scores, not as probabilities"
    sums = table.sum(axis=1)
    if np.abs(sums - 1).max() > _ROUNDING:
        return f"{who} gives rows with sums from {sums.min():.3g} to {sums.max():.3g}: kept as scores, not as probabilities"
    return None


def _spread(table: FloatArray, known: IntArray, k: int, kind: Kind) -> FloatArray:
    if len(known) == k and (known == np.arange(k)).all():
        return table
    spread = np.full((len(table), k), 0.0 if kind == "probability" else table.min())
    spread[:, known] = table
    return spread
