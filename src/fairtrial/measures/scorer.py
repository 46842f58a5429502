"""Measures as scikit-learn scorers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial.errors import InputError
from fairtrial.measures.measure import Measure

_METHODS = {
    "labels": ("predict",),
    "values": ("predict",),
    "scores": ("decision_function", "predict_proba"),
    "probabilities": ("predict_proba",),
}


@dataclass(frozen=True)
class MeasureScorer:
    """A scikit-learn scorer, called as `scorer(estimator, X, y)`.

    Higher scores are better. The scorer negates the value if lower values of the measure are better. If values near a target
    are better, the score is minus the distance from the target.

    Parameters
    ----------
    measure : Measure
        Measure to compute.
    options : dict
        The options `positive`, `labels` and `average`, and the parameters of the measure.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.datasets import load_iris
    >>> from fairtrial.measures import kappa
    >>> X, y = load_iris(return_X_y=True)
    >>> cross_val_score(LogisticRegression(max_iter=1000), X, y, scoring=kappa.scorer(), cv=3).round(2)
    array([0.97, 0.94, 0.97])
    """

    measure: Measure
    options: dict[str, Any]

    def __call__(self, estimator: Any, X: Any, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> float:
        """Score an estimator on these rows. Higher scores are better."""
        options = dict(self.options)
        if sample_weight is not None:
            options["sample_weight"] = sample_weight
        if self.measure.facts.needs != "values":
            # Use all classes of the learner, including those that do not occur in a small fold.
            options.setdefault("labels", self._list_labels(estimator, y))
        value = self.measure(y, self._compute_response(estimator, X), **options)
        if self.measure.facts.target is not None:
            return -abs(float(value) - self.measure.facts.target)
        return float(value) if self.measure.facts.direction == "max" else -float(value)

    def _compute_response(self, estimator: Any, X: Any) -> Any:
        needs = self.measure.facts.needs
        if needs not in _METHODS:
            raise InputError(f"{self.measure.name} compares results of several learners and cannot score a single one")
        methods = _METHODS[needs]
        if needs == "scores" and len(self._get_classes(estimator)) > 2:
            # Decision values of more than two classes may be shifted in each row (softmax), so rows are not comparable.
            methods = methods[::-1]
        for method in methods:
            if hasattr(estimator, method):
                return self._select_response_columns(estimator, method, getattr(estimator, method)(X))
        raise InputError(
            f"{self.measure.name} needs {' or '.join(_METHODS[needs])}, but {type(estimator).__name__} does not have it: "
            "choose another learner or wrap it in CalibratedClassifierCV"
        )

    def _select_response_columns(self, estimator: Any, method: str, response: Any) -> Any:
        if method == "predict_proba" and response.shape[1] == 2 and self.measure.facts.needs == "scores":
            return response[:, self._find_positive_index(estimator)]
        if method == "decision_function" and response.ndim == 1 and self._find_positive_index(estimator) == 0:
            return -response
        return response

    def _find_positive_index(self, estimator: Any) -> int:
        positive, classes = self.options.get("positive"), self._get_classes(estimator)
        if positive is None:
            return 1
        _check.check_one_of("positive", positive, classes)
        return classes.index(positive)

    def _list_labels(self, estimator: Any, y: npt.ArrayLike) -> list[Any]:
        """List the classes of the learner.

        For measures of predicted labels, add the classes that occur only in `y`, and the label for abstentions.
        """
        classes = self._get_classes(estimator)
        if self.measure.facts.needs != "labels":
            return classes
        others = sorted(set(np.asarray(y).tolist()) - set(classes))
        abstention = getattr(estimator, "abstention_", None)  # label of rows that the learner does not classify
        return classes + others + ([abstention] if abstention is not None and abstention not in classes else [])

    def _get_classes(self, estimator: Any) -> list[Any]:
        """Return the classes of the learner in the order of its score columns."""
        if not hasattr(estimator, "classes_"):
            raise InputError(f"{self.measure.name} needs a fitted classifier, got {type(estimator).__name__}")
        classes: list[Any] = np.asarray(estimator.classes_).tolist()
        labels = self.options.get("labels")
        if labels is not None and self.measure.facts.needs != "labels" and list(labels) != classes:
            raise InputError(
                f"labels must be the classes of the learner in the same order ({classes}), got {list(labels)}: pass positive= "
                "instead"
            )
        return classes
