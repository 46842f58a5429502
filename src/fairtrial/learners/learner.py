"""Base classes for learners that accept typed columns and follow the scikit-learn API."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from fairtrial import _check
from fairtrial._check import FloatArray, IntArray, describe_other_values
from fairtrial._frames import EncodedTable, MemoryOrder, as_frame, is_nominal_dtype, read_columns
from fairtrial._registry import Registry
from fairtrial.errors import InputError, LearnerError
from fairtrial.kernels.compiling import is_cached

learners: Registry[type[Any]] = Registry("learner", group="fairtrial.learners")
"""Learners by the short name used in study files."""
E = TypeVar("E", bound=type[Any])


def register_learner(name: str, *, aliases: Iterable[str] = ()) -> Callable[[E], E]:
    """Register a classifier class under the short name that study files and `make_learner` use.

    A package registers its own learners in a module that is listed in the entry-point group `fairtrial.learners`.

    Parameters
    ----------
    name : str
        Short name in lower case with hyphens.
    aliases : iterable of str
        Additional names, e.g. the name of the learner in WEKA.

    Returns
    -------
    callable
        Class decorator that returns the class unchanged.

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
    """The typed columns of a training set, with the class code and the weight of each row."""

    columns: EncodedTable
    codes: IntArray
    weight: FloatArray

    @property
    def values(self) -> FloatArray:
        """The columns as a matrix, with nominal values as codes and missing values as NaN."""
        return self.columns.values


_compiled_classes: list[type[TypedClassifier]] = []


class TypedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Base class for classifiers that accept numeric and nominal columns with missing values.

    Categorical, text and Boolean columns are nominal, as are the columns listed in `nominal`. A nominal value that does not
    occur in the training rows is treated as missing.
    """

    nominal: Any = None
    _memory_order: ClassVar[MemoryOrder] = "C"  # F if the learner uses whole columns
    _kernels: ClassVar[tuple[Any, ...]] = ()  # compiled functions that the learner calls

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "_kernels" in vars(cls):
            _compiled_classes.append(cls)

    @classmethod
    def _compile_kernels(cls) -> None:
        """Compile the kernels by fitting the learner to a few rows and predicting them."""
        import pandas as pd

        X = pd.DataFrame({"number": np.arange(24) % 7.0, "word": pd.Categorical(list("abc") * 8)})
        cls().fit(X, [0, 1] * 12).predict(X)

    def _read_training(self, X: Any, y: Any, sample_weight: Any = None) -> TrainingSet:
        """Check columns, classes and weights, drop rows with zero weight, and set `classes_`."""
        if y is None:
            raise InputError("y must have the class of each row, got None: requires y to be passed, but the target y is None")
        columns = self._name_columns(read_columns(*self._check_input(X, reset=True), self._memory_order))
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
        """Return the class with the largest value in each row. Ties go to the class declared first."""
        return np.asarray(self.classes_[self._order[np.argmax(probabilities[:, self._order], axis=1)]])

    def _declare_labels(self, labels: npt.NDArray[Any]) -> Any:
        """Return labels for an inner learner, with the same declared classes as y."""
        if self._declared_classes is None:
            return labels
        import pandas as pd

        return pd.Series(pd.Categorical(labels, categories=self._declared_classes))

    def _name_columns(self, columns: EncodedTable) -> EncodedTable:
        """Name the columns as in the input data frame, because scikit-learn's checks return a matrix without names."""
        names = getattr(self, "feature_names_in_", columns.names)
        return EncodedTable(columns.values, tuple(map(str, names)), columns.categories)

    def _read_rows(self, X: Any) -> EncodedTable:
        """Encode the rows to predict, with the same codes for nominal values as in the training rows."""
        check_is_fitted(self)
        checked, _ = self._check_input(X, reset=False)
        return self._template.encode_like(checked, self._memory_order)

    def _check_input(self, X: Any, *, reset: bool) -> tuple[Any, Any]:
        """Check a table. Return it together with `nominal`, or with None if it has no nominal columns.

        A table with nominal columns is returned unchanged. scikit-learn's checks convert any other table to numbers.
        """
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
        """Return the sorted classes that occur in y, and the code of each label."""
        try:
            labels = np.asarray(column_or_1d(y, warn=True))
            if labels.dtype.kind == "O" and any(_check.is_missing(value) for value in labels):
                raise InputError("y must not have missing labels: Input y contains NaN; drop these rows")
            if labels.dtype.kind == "f" and not np.isfinite(labels).all():
                raise InputError("y must not have missing labels: Input y contains NaN or infinity; drop these rows")
            if labels.dtype.kind == "O" and len({isinstance(value, str) for value in labels}) > 1:
                raise InputError("y must have labels of one type, got text and other types: convert them to one type")
            check_classification_targets(labels)
        except InputError:
            raise
        except ValueError as error:
            raise InputError(str(error)) from None
        try:
            classes, codes = np.unique(labels, return_inverse=True)
        except TypeError:
            raise InputError("y must have labels of one type, got several: convert them to one type") from None
        return classes, codes.astype(np.intp)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


class Learner(TypedClassifier):
    """Base class for learners that predict probabilities.

    A subclass defines `__init__`, `fit` (which calls `_read_training`) and `_predict_probabilities(columns)`, which returns
    the class probabilities of each row.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The sorted class labels.

    Examples
    --------
    >>> class Constant(Learner):
    ...     def fit(self, X, y):
    ...         self._read_training(X, y)
    ...         return self
    ...     def _predict_probabilities(self, columns):
    ...         return np.full((len(columns), len(self.classes_)), 1 / len(self.classes_))
    >>> Constant().fit([[1.0], [2.0]], ["a", "b"]).predict_proba([[3.0]]).tolist()
    [[0.5, 0.5]]
    """

    def _predict_probabilities(self, columns: EncodedTable) -> FloatArray:
        raise NotImplementedError

    def predict_proba(self, X: Any) -> FloatArray:
        """Predict the probability of each class in `classes_` for each row of X."""
        return self._predict_probabilities(self._read_rows(X))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the most probable class of each row. Ties go to the class declared first."""
        return self._choose_most_probable(self.predict_proba(X))


class MarginLearner(TypedClassifier):
    """Base class for learners whose scores are not probabilities.

    A subclass defines `__init__`, `fit` (which calls `_read_training`) and `_compute_margins(columns)`, which returns one score
    per row and class.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The sorted class labels.

    Examples
    --------
    >>> class Sign(MarginLearner):
    ...     def fit(self, X, y):
    ...         self._read_training(X, y)
    ...         return self
    ...     def _compute_margins(self, columns):
    ...         return np.hstack([-columns.values[:, :1], columns.values[:, :1]])
    >>> Sign().fit([[-1.0], [2.0]], ["a", "b"]).predict([[3.0], [-4.0]]).tolist()
    ['b', 'a']
    """

    def _compute_margins(self, columns: EncodedTable) -> FloatArray:
        raise NotImplementedError

    def decision_function(self, X: Any) -> FloatArray:
        """Compute the score of each class or, for two classes, of the second class only.

        With two classes, the second class is predicted if its score is positive.
        """
        margins = self._compute_margins(self._read_rows(X))
        return np.asarray((margins[:, 1] - margins[:, 0]) / 2) if margins.shape[1] == 2 else margins

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the class with the largest score. Ties go to the class declared first."""
        return self._choose_most_probable(self._compute_margins(self._read_rows(X)))


def compile_kernels(estimators: Iterable[Any], report: Callable[[str, int, int], None] | None = None) -> None:
    """Compile all uncached kernels of learners and of the learners that they contain.

    Before each compilation, `report` is called with the name and index of the learner class, and the number of classes to
    compile.
    """
    components = [component for estimator in estimators for component in _list_components(estimator)]
    # The code of a user's subclass must not run here, so the class that declares the kernels is fitted.
    classes = dict.fromkeys(base for component in components for base in type(component).__mro__ if base in _compiled_classes)
    pending = [learner_class for learner_class in classes if not all(map(is_cached, learner_class._kernels))]
    for index, learner_class in enumerate(pending):
        if report is not None:
            report(learner_class.__name__, index, len(pending))
        learner_class._compile_kernels()


def _list_components(estimator: Any) -> list[Any]:
    """List an estimator and its components, including the default base learner of an ensemble."""
    components = [estimator]
    with suppress(Exception):  # third-party estimators may have no parameters or raise other errors
        components += estimator.get_params(deep=True).values()
    return components + [part._get_base_learner() for part in components if hasattr(type(part), "_get_base_learner")]


def _encode_declared(y: Any) -> tuple[npt.NDArray[Any], IntArray] | None:
    """Return the sorted classes and the codes of a categorical column, or None for any other column."""
    import pandas as pd

    if not isinstance(getattr(y, "dtype", None), pd.CategoricalDtype):
        return None
    column = pd.Categorical(y)
    if (column.codes < 0).any():
        raise InputError("y must not have missing labels: Input y contains NaN; drop these rows")
    present = np.unique(column.codes)
    names = np.asarray(column.categories[present])
    order = np.argsort(names, kind="stable")
    class_codes = np.empty(len(column.categories), dtype=np.intp)
    class_codes[present[order]] = np.arange(len(present))
    return names[order], class_codes[column.codes]


def get_declared_order(y: Any, classes: Any) -> list[int]:
    """Return the index in `classes` of each class that y declares, or -1 for an absent class.

    If y is not categorical, return 0, 1, ...
    """
    categories = getattr(getattr(y, "dtype", None), "categories", None)
    if categories is None:
        return list(range(len(classes)))
    code_by_label = {label: code for code, label in enumerate(classes.tolist())}
    return [code_by_label.get(label, -1) for label in categories]


def require_two_classes(learner: TypedClassifier) -> None:
    """Raise an error if y has only one class."""
    if len(learner.classes_) < 2:
        raise InputError(f"{type(learner).__name__} needs at least 2 classes in y, got 1 class")


def expand_probabilities(probabilities: Any, known_classes: Any, classes: Any) -> FloatArray:
    """Add zero columns for classes that did not occur in the learner's training rows."""
    kind = describe_other_values(np.asarray(probabilities))
    if kind is not None:
        raise LearnerError(f"predict_proba must return a table of real numbers, got {kind}: convert it to float")
    columns = np.zeros((len(probabilities), len(classes)))
    columns[:, np.searchsorted(classes, known_classes)] = probabilities
    return columns


def has_inner_method(method: str) -> Callable[[Any], bool]:
    """Return a condition for `available_if` that requires the inner learner to have the given method."""
    return lambda self: hasattr(getattr(self, "learner_", self.learner), method)


def clone_with_seeds(estimator: Any, rng: np.random.Generator) -> Any:
    """Clone an estimator, and draw a seed for each of its `random_state` parameters.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> clone_with_seeds(DecisionTreeClassifier(), np.random.default_rng(0)).random_state is None
    False
    """
    copy = clone(estimator)
    seeds = {name: int(rng.integers(2**31 - 1)) for name in copy.get_params() if name.split("__")[-1] == "random_state"}
    return copy.set_params(**seeds)


def require_object(name: str, candidate: Any, method: str, maker: str) -> None:
    """Raise an error if `candidate` is a string or a class, or does not have the given method."""
    if isinstance(candidate, (str, type)) or not hasattr(candidate, method):
        description = (
            repr(candidate) if isinstance(candidate, str) else getattr(candidate, "__name__", type(candidate).__name__)
        )
        raise InputError(f"{name} must be an object with {method}, got {description}: create it with {maker}")


def _has_types(X: Any) -> bool:
    """Return whether X is a data frame with columns that are not numeric."""
    import pandas as pd

    if hasattr(X, "to_pandas") and not isinstance(X, pd.DataFrame):
        X = X.to_pandas()
    if not isinstance(X, pd.DataFrame):
        return False
    return any(is_nominal_dtype(kind) for kind in X.dtypes)


def _with_remedy(error: str) -> str:
    """Append a remedy to scikit-learn's error message about text values."""
    remedy = ": pass a frame with nominal columns, or list them in nominal="
    return error + (remedy if "could not convert string" in error else "")


def _check_table(X: Any) -> None:
    """Check that a table has at least one row, at least one column and no infinite values."""
    frame = as_frame(X)
    n, d = frame.shape
    if n == 0:
        raise InputError(f"X must have at least 1 row: found array with 0 sample(s) (shape=({n}, {d}))")
    if d == 0:
        raise InputError(
            f"X must have at least 1 column: found array with 0 feature(s) (shape=({n}, {d})) while a minimum of 1"
        )
    floats = [j for j, kind in enumerate(frame.dtypes) if issubclass(kind.type, (np.float64, np.float32))]
    if not floats:
        return
    numbers = frame if len(floats) == d else frame.iloc[:, floats]
    infinite = np.isinf(numbers.to_numpy(dtype=np.float64, na_value=np.nan)).any(axis=0)
    if infinite.any():
        raise InputError(f"X must not contain infinity, got it in column {str(numbers.columns[int(np.argmax(infinite))])!r}")
