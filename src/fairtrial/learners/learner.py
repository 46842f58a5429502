"""The base classes of learners: typed columns and classes, read according to scikit-learn's contract."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from fairtrial import _check
from fairtrial._check import FloatArray, IntArray
from fairtrial._frames import EncodedTable, as_frame, read_columns
from fairtrial._registry import Registry
from fairtrial.errors import InputError

learners: Registry[type[Any]] = Registry("learner", group="fairtrial.learners")
"""Learners by the short name that a study file gives them."""
E = TypeVar("E", bound=type[Any])


def register_learner(name: str, *, aliases: Iterable[str] = ()) -> Callable[[E], E]:
    """Register a classifier class under the short name that study files and `make_learner` use.

    A package registers its own learners in a module that it names in the entry-point group `fairtrial.learners`.

    Parameters
    ----------
    name : str
        The short name, in lower case with hyphens.
    aliases : iterable of str
        Further names, such as that of the same learner in WEKA.

    Examples
    --------
    >>> from fairtrial.learners import make_learner
    >>> make_learner("j48")
    C45()
    """

    def register(learner_class: E) -> E:
        learners.add(name, learner_class, aliases=aliases)
        return learner_class

    return register


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """What a learner learns from: typed columns, each row's class (its place in `classes_`) and each row's weight."""

    columns: EncodedTable
    codes: IntArray
    weight: FloatArray

    @property
    def values(self) -> FloatArray:
        """The matrix: numbers as they are, nominal values as codes, NaN where missing."""
        return self.columns.values


class TypedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier over numeric and nominal columns with missing values.

    Nominal are columns of category, text or boolean type in a frame, and those that the parameter `nominal` names or numbers.
    A nominal value that was not there in training counts as missing.
    """

    nominal: Any = None

    def _read_training(self, X: Any, y: Any, sample_weight: Any = None) -> TrainingSet:
        """Checked columns, class codes and weights; rows of weight zero are left out. Sets `classes_`."""
        if y is None:
            raise InputError(
                "y must be given, the class of each row, got None: requires y to be passed, but the target y is None"
            )
        columns = self._name_columns(read_columns(*self._check_input(X, reset=True)))
        self.classes_, codes = _encode_declared(y) or self._encode_present(y)
        if len(codes) != len(columns):
            detail = f"inconsistent numbers of samples: [{len(columns)}, {len(codes)}]"
            raise InputError(f"X and y must have the same number of rows, got {detail}")
        order = get_declared_order(y, self.classes_)
        self._order = np.array([index for index in order if index >= 0], dtype=np.intp)
        self._declared_classes = getattr(getattr(y, "dtype", None), "categories", None)
        weight = _check.check_weights(sample_weight, len(columns))
        weight = np.ones(len(columns)) if weight is None else weight
        self._template = EncodedTable(columns.values[:0], columns.names, columns.categories)
        has_weight = weight > 0
        if not has_weight.all():
            columns = EncodedTable(columns.values[has_weight], columns.names, columns.categories)
        return TrainingSet(columns, codes[has_weight], weight[has_weight])

    def _choose_most_probable(self, probabilities: FloatArray) -> npt.NDArray[Any]:
        """The class of the largest value in each row; of equal ones the first declared."""
        return np.asarray(self.classes_[self._order[np.argmax(probabilities[:, self._order], axis=1)]])

    def _declare_labels(self, labels: npt.NDArray[Any]) -> Any:
        """Labels for a learner within this one: declared as y declared them."""
        if self._declared_classes is None:
            return labels
        import pandas as pd

        return pd.Series(pd.Categorical(labels, categories=self._declared_classes))

    def _name_columns(self, columns: EncodedTable) -> EncodedTable:
        """The columns under the names of the frame that they came in, which scikit-learn's checks turn into a matrix."""
        names = getattr(self, "feature_names_in_", columns.names)
        return EncodedTable(columns.values, tuple(map(str, names)), columns.categories)

    def _read_rows(self, X: Any) -> EncodedTable:
        """Rows to predict, in the codes of the training columns."""
        check_is_fitted(self)
        checked, _ = self._check_input(X, reset=False)
        return self._template.encode_like(checked)

    def _check_input(self, X: Any, *, reset: bool) -> tuple[Any, Any]:
        """The table as given if it has nominal columns, else as numbers by scikit-learn's own checks; and which are nominal."""
        typed = _has_types(X) or (self.nominal is not None and hasattr(X, "__len__"))
        try:
            if not typed:
                return validate_data(self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan"), None
            validate_data(self, X, reset=reset, skip_check_array=True)
        except InputError:
            raise
        except ValueError as error:
            raise InputError(_with_remedy(str(error))) from None
        except TypeError as error:
            if "only supported if all input features have string names" in str(error):
                raise InputError(f"columns of X must all have names or all have numbers: {error}") from None
            raise
        _check_table(X)
        return X, self.nominal

    def _encode_present(self, y: Any) -> tuple[npt.NDArray[Any], IntArray]:
        """The classes that occur, sorted, and the place of each label among them."""
        try:
            labels = np.asarray(column_or_1d(y, warn=True))
            if labels.dtype.kind == "O" and any(_check.is_missing(value) for value in labels):
                raise InputError("y must not hold missing labels: Input y contains NaN; drop these rows")
            if labels.dtype.kind == "f" and not np.isfinite(labels).all():
                raise InputError("y must not hold missing labels: Input y contains NaN or infinity; drop these rows")
            if labels.dtype.kind == "O" and len({isinstance(value, str) for value in labels}) > 1:
                raise InputError("y must hold labels of one kind, got a mixture of text and others: convert them")
            check_classification_targets(labels)
        except InputError:
            raise
        except ValueError as error:
            raise InputError(str(error)) from None
        try:
            classes, codes = np.unique(labels, return_inverse=True)
        except TypeError:
            raise InputError("y must hold labels of one kind, got a mixture of types: convert them") from None
        return classes, codes.astype(np.intp)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


class Learner(TypedClassifier):
    """A learner that predicts probabilities.

    A subclass writes `__init__`, `fit` (through `_read_training`) and `_predict_probabilities(columns)`, which returns a row of
    class probabilities for each row.
    """

    def _predict_probabilities(self, columns: EncodedTable) -> FloatArray:
        raise NotImplementedError

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each class of `classes_`, a row for each row of X."""
        return self._predict_probabilities(self._read_rows(X))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The most probable class of each row; of equal ones the first declared."""
        return self._choose_most_probable(self.predict_proba(X))


class MarginLearner(TypedClassifier):
    """A learner whose scores are not probabilities: a subclass supplies `_compute_margins(columns)`, a score per class."""

    def _compute_margins(self, columns: EncodedTable) -> FloatArray:
        raise NotImplementedError

    def decision_function(self, X: Any) -> FloatArray:
        """The score of each class, or with two classes the score of the second: above zero when it is predicted."""
        margins = self._compute_margins(self._read_rows(X))
        return np.asarray((margins[:, 1] - margins[:, 0]) / 2) if margins.shape[1] == 2 else margins

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of the largest score; of equal ones the first declared."""
        return self._choose_most_probable(self._compute_margins(self._read_rows(X)))


def _encode_declared(y: Any) -> tuple[npt.NDArray[Any], IntArray] | None:
    """The same of a category column, whose codes are there already; None for anything else."""
    import pandas as pd

    if not isinstance(getattr(y, "dtype", None), pd.CategoricalDtype):
        return None
    column = pd.Categorical(y)
    if (column.codes < 0).any():
        raise InputError("y must not hold missing labels: Input y contains NaN; drop these rows")
    present = np.unique(column.codes)
    names = np.asarray(column.categories[present])
    order = np.argsort(names, kind="stable")
    class_codes = np.empty(len(column.categories), dtype=np.intp)
    class_codes[present[order]] = np.arange(len(present))
    return names[order], class_codes[column.codes]


def get_declared_order(y: Any, classes: Any) -> list[int]:
    """Places in `classes` in the order that a category column declares, -1 for what does not occur; else as they are."""
    categories = getattr(getattr(y, "dtype", None), "categories", None)
    if categories is None:
        return list(range(len(classes)))
    code_by_label = {label: code for code, label in enumerate(classes.tolist())}
    return [code_by_label.get(label, -1) for label in categories]


def require_two_classes(learner: TypedClassifier) -> None:
    """There is something to separate."""
    if len(learner.classes_) < 2:
        raise InputError(f"{type(learner).__name__} needs at least 2 classes in y, got 1 class")


def expand_probabilities(probabilities: Any, known_classes: Any, classes: Any) -> FloatArray:
    """Columns of the classes that a learner knows among all classes, zero for the others."""
    columns = np.zeros((len(probabilities), len(classes)))
    columns[:, np.searchsorted(classes, known_classes)] = probabilities
    return columns


def require_object(name: str, candidate: Any, method: str, maker: str) -> None:
    """A part of a learner is an object with the method, not a name and not a class."""
    if isinstance(candidate, (str, type)) or not hasattr(candidate, method):
        description = (
            repr(candidate) if isinstance(candidate, str) else getattr(candidate, "__name__", type(candidate).__name__)
        )
        raise InputError(f"{name} must be an object with {method}, got {description}: make one of a name by {maker}")


def _has_types(X: Any) -> bool:
    """Whether a frame has columns that are not numbers."""
    import pandas as pd

    if hasattr(X, "to_pandas") and not isinstance(X, pd.DataFrame):
        X = X.to_pandas()
    if not isinstance(X, pd.DataFrame):
        return False
    return any(not pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_bool_dtype(kind) for kind in X.dtypes)


def _with_remedy(error: str) -> str:
    """What scikit-learn says of text, and what to do about it."""
    remedy = ": give nominal columns in a frame, or name or number them by nominal="
    return error + (remedy if "could not convert string" in error else "")


def _check_table(X: Any) -> None:
    """At least one row, at least one column, no infinity."""
    frame = as_frame(X)
    n, d = frame.shape
    if n == 0:
        raise InputError(f"X must hold at least 1 row: found array with 0 sample(s) (shape=({n}, {d}))")
    if d == 0:
        raise InputError(
            f"X must hold at least 1 column: found array with 0 feature(s) (shape=({n}, {d})) while a minimum of 1"
        )
    numbers = frame.select_dtypes("float")
    infinite = np.isinf(numbers.to_numpy(dtype=np.float64, na_value=np.nan)).any(axis=0)
    if infinite.any():
        raise InputError(f"X must not hold infinity, got it in column {str(numbers.columns[int(np.argmax(infinite))])!r}")
