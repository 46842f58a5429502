"""A learner with what it needs before it: gaps filled, nominal to binary, scaled, sampled; all fitted on training rows only."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if

from fairtrial._check import FloatArray, one_of
from fairtrial._columns import Columns
from fairtrial.learners.facts import Facts, facts_of
from fairtrial.learners.learner import Reader, Training, an_object, spread
from fairtrial.learners.numbers import NumberEncoder, gap_fills
from fairtrial.learners.sampling import frame_of, sampled


def _can(method: str) -> Any:
    return lambda self: hasattr(getattr(self, "learner_", self.learner), method)


class Prepared(Reader):
    """Any learner on any table: what the learner cannot take is prepared for it, inside the fold.

    `preparation` is "standard" (what `facts_of(learner)` says is lacking), "none", or a transformer of frames that replaces it.
    A `sampler` of imbalanced-learn changes the training rows after gaps are filled and before the learner sees them; test rows
    it never touches. `preparation_` tells what was done.

    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> table = pd.DataFrame({"size": [1.0, None, 8.0, 9.0], "hue": ["red", "red", "blue", "green"]})
    >>> learner = Prepared(LogisticRegression()).fit(table, ["a", "a", "b", "b"])
    >>> learner.predict(table).tolist(), learner.preparation_
    (['a', 'a', 'b', 'b'], {'missing': 'mean or mode', 'nominal': 'binary columns', 'scale': 'standard'})
    """

    def __init__(self, learner: Any, *, sampler: Any = None, preparation: Any = "standard", nominal: Any = None) -> None:
        self.learner = learner
        self.sampler = sampler
        self.preparation = preparation
        self.nominal = nominal

    def fit(self, X: Any, y: Any) -> Prepared:
        """Fit the preparation, sample, and let the learner learn."""
        if isinstance(self.preparation, str):
            one_of("preparation", self.preparation, ["standard", "none"])
        an_object("learner", self.learner, "fit", "fairtrial.learners.make_learner")
        if self.sampler is not None:
            an_object("sampler", self.sampler, "fit_resample", "fairtrial.learners.get_sampler")
        training = self._read_training(X, y)
        facts = facts_of(self.learner) if self.preparation == "standard" else Facts(nominal=True, missing=True, prepares=True)
        self._fills = gap_fills(training.columns, training.weight)
        columns, labels, used = training.columns, self.classes_[training.codes], None
        if self.sampler is not None:
            columns, labels, used = sampled(self.sampler, self._filled(columns), labels)
        self._needs = facts
        self._encoder = self._fitted_encoder(columns, labels, facts)
        self.preparation_ = self._told(training.columns, facts, used)
        self._present, codes = np.unique(labels, return_inverse=True)
        answers = codes if facts.numbered else self._labels_for(labels)
        self.learner_ = clone(self.learner).fit(self._encoded(columns), answers)
        return self

    def _fitted_encoder(self, columns: Columns, labels: Any, facts: Facts) -> Any:
        """What turns columns into what the learner takes; None: they go as they are, gaps apart."""
        if not isinstance(self.preparation, str):
            an_object("preparation", self.preparation, "transform", 'hand, or pass "standard" or "none"')
            return clone(self.preparation).fit(frame_of(columns), labels)
        if (columns.nominal.any() and not facts.nominal) or facts.scale is not None:
            rows = Training(columns, np.zeros(len(columns), dtype=np.intp), np.ones(len(columns)))
            return NumberEncoder.fit(rows, facts.scale, fill=not facts.missing)
        return None

    def _filled(self, columns: Columns) -> Columns:
        return Columns(np.where(np.isnan(columns.values), self._fills, columns.values), columns.names, columns.categories)

    def _encoded(self, columns: Columns) -> Any:
        if self.sampler is not None:
            columns = self._filled(columns)
        if isinstance(self._encoder, NumberEncoder):
            return self._encoder(columns)
        if self._encoder is not None:
            return self._encoder.transform(frame_of(columns))
        if not self._needs.missing:
            columns = self._filled(columns)
        typed = bool(columns.nominal.any()) or hasattr(self, "feature_names_in_")
        return frame_of(columns) if typed else columns.values

    def _told(self, columns: Columns, facts: Facts, used: Any) -> dict[str, str]:
        """What was done, for whoever asks later."""
        told = {}
        if np.isnan(columns.values).any() and (not facts.missing or used is not None):
            told["missing"] = "mean or mode"
        if not isinstance(self.preparation, str):
            told["preparation"] = repr(self.preparation)
        else:
            if columns.nominal.any() and not facts.nominal:
                told["nominal"] = "binary columns"
            if facts.scale:
                told["scale"] = facts.scale
        if used is not None:
            told["sampler"] = repr(used)
        return told

    def predict(self, X: Any) -> Any:
        """The learner's predictions."""
        rows = self._ready(X)
        told = np.asarray(self.learner_.predict(rows))
        return self._present[told.astype(np.intp)] if self._needs.numbered else told

    @available_if(_can("predict_proba"))  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> FloatArray:
        """The learner's probabilities, in the order of `classes_`."""
        rows = self._ready(X)
        return spread(self.learner_.predict_proba(rows), self._present, self.classes_)

    @available_if(_can("decision_function"))  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def decision_function(self, X: Any) -> FloatArray:
        """The learner's decision values."""
        rows = self._ready(X)
        return np.asarray(self.learner_.decision_function(rows))

    def _ready(self, X: Any) -> Any:
        return self._encoded(self._read_rows(X))
