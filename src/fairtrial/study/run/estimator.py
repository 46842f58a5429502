"""A learner as it travelled, made ready for trials: fresh copies, seeded, each handed the data in the form that it takes."""

from __future__ import annotations

import hashlib
import pickle
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.data import Dataset


@dataclass(frozen=True, eq=False)
class TrialData:
    """The columns as one matrix where all are numeric (`matrix`), else as a frame; the class of each row as a code.

    `labels` are the declared classes, and a code is a place among them; `finite`: the matrix has neither gaps nor infinity.

    >>> import fairtrial
    >>> data = TrialData.of(fairtrial.data.load("iris"))
    >>> data.columns[:2], data.labels.tolist(), data.codes[[0, 50, 100]].tolist(), data.is_finite
    (('sepal length (cm)', 'sepal width (cm)'), ['setosa', 'versicolor', 'virginica'], [0, 1, 2], True)
    """

    columns: tuple[Any, ...]
    matrix: FloatArray | None
    frame: pd.DataFrame | None
    codes: IntArray
    kind: pd.CategoricalDtype[Any]
    labels: npt.NDArray[Any]
    finite: bool

    @classmethod
    def from_dataset(cls, dataset: Dataset) -> TrialData:
        """The data of a data set."""
        frame, label = dataset.X, dataset.y
        matrix = to_matrix(frame)
        codes = label.cat.codes.to_numpy().astype(np.intp)
        finite = matrix is not None and bool(np.isfinite(matrix).all())
        kept_frame = frame if matrix is None else None
        return cls(tuple(frame.columns), matrix, kept_frame, codes, label.dtype, _build_label_array(label.dtype), finite)  # type: ignore[arg-type]

    def take_rows(self, positions: IntArray) -> Any:
        """The attributes of these rows, as a new matrix, or as a new frame whose rows count from 0."""
        if self.matrix is not None:
            return self.matrix.take(positions, axis=0)
        assert self.frame is not None
        selected = self.frame.iloc[positions]
        if len(positions) == len(self.frame):  # pandas copies nothing where all rows are asked for in order
            selected = selected.copy()
        return selected.set_axis(range(len(positions)), axis=0)

    def to_frame(self, X: Any) -> pd.DataFrame:
        """A table with the names of the columns."""
        import pandas as pd

        return pd.DataFrame(X, columns=list(self.columns)) if isinstance(X, np.ndarray) else X

    def to_categorical(self, codes: IntArray) -> pd.Categorical[Any]:
        """These codes as a pandas category that declares all classes."""
        import pandas as pd

        return pd.Categorical.from_codes(codes, dtype=self.kind, validate=False)


def to_matrix(X: Any) -> FloatArray | None:
    """A table of numbers as one matrix, row after row in memory; None where it has nominal columns."""
    if isinstance(X, np.ndarray):
        return np.ascontiguousarray(X, dtype=np.float64) if X.dtype.kind in "fiu" else None
    if not all(isinstance(kind, np.dtype) and kind.kind in "fiu" for kind in X.dtypes):
        return None
    return np.ascontiguousarray(X.to_numpy(dtype=np.float64))


def _build_label_array(kind: pd.CategoricalDtype[Any]) -> npt.NDArray[Any]:
    """The declared classes in an array: text in one of text, which learners sort faster than objects."""
    declared = list(kind.categories)
    labels = np.array(declared)
    if labels.shape == (len(declared),) and labels.dtype.kind in "iubU" and labels.tolist() == declared:
        return labels
    objects = np.empty(len(declared), dtype=object)
    objects[:] = declared
    return objects


_REMEDY = "hand over one that has not learnt yet, or give it scikit-learn's get_params"


def clone_unfitted(estimator: Any, name: str = "learner") -> Any:
    """A copy with the same parameters that has learnt nothing; InputError where no such copy can be made.

    Also of estimators that change their parameters in `__init__`, which scikit-learn's `clone` refuses. One that has no
    `get_params` is copied as it is, unless attributes whose names end in an underscore tell that it has learnt.

    >>> from sklearn.naive_bayes import GaussianNB
    >>> hasattr(clone_unfitted(GaussianNB().fit([[0.0], [1.0]], [0, 1])), "theta_")
    False
    """
    copied = _clone_value(estimator, name)
    _refuse_fitted(copied, name)
    return copied


def _clone_value(value: Any, name: str) -> Any:
    """What `clone` gives; where it refuses, the same without its insistence that `__init__` keeps each parameter as it is."""
    from sklearn.base import clone

    try:
        return clone(value, safe=False)
    except Exception as error:
        if isinstance(value, (list, tuple, set, frozenset)):
            return type(value)([_clone_value(item, name) for item in value])
        if hasattr(value, "get_params"):
            return _build_copy(value, name)
        if hasattr(value, "fit"):
            raise InputError(f"{name} must let a copy of it be made, got {type(value).__name__} ({error}): {_REMEDY}") from None
        return value  # a lock, an open file: whether it can travel is seen when it is to


def _build_copy(estimator: Any, name: str) -> Any:
    parameters = {key: _clone_value(value, name) for key, value in estimator.get_params(deep=False).items()}
    try:
        copied = type(estimator)(**parameters)
    except Exception as error:
        problem = f"{type(estimator).__name__}(**get_params()) raises {type(error).__name__}: {error}"
        raise InputError(
            f"{name} must let an unfitted copy of it be made, got one that does not ({problem}): {_REMEDY}"
        ) from None
    for key in parameters.keys() & getattr(copied, "__dict__", {}).keys():  # as they were, not changed by `__init__` once more
        setattr(copied, key, parameters[key])
    return copied


def _refuse_fitted(estimator: Any, name: str) -> None:
    """Parts without parameters are copied whole: they must not have learnt."""
    components = [estimator, *(estimator.get_params(deep=True).values() if hasattr(estimator, "get_params") else ())]
    for component in components:
        if not hasattr(component, "fit") or hasattr(component, "get_params") or isinstance(component, type):
            continue
        fitted_attributes = [
            attribute
            for attribute in getattr(component, "__dict__", {})
            if attribute.endswith("_") and not attribute.startswith("_")
        ]
        if fitted_attributes:
            problem = f"{type(component).__name__} with {fitted_attributes[0]}"
            raise InputError(f"{name} must not have learnt before, got {problem}, which cannot be made anew: {_REMEDY}")


_BY_NAME = ("ColumnTransformer",)  # they call columns by their names, which a matrix does not have


class TrialLearner:
    """What the trials of one learner share. `fresh(seed)` gives an unfitted copy of its own to each of them.

    >>> from sklearn.ensemble import RandomForestClassifier
    >>> learner = TrialLearner(pickle.dumps(RandomForestClassifier()))
    >>> learner.name, learner.make_estimator(5).random_state
    ('RandomForestClassifier', 5)
    """

    def __init__(self, pickled: bytes) -> None:
        self.identity = hashlib.blake2b(pickled, digest_size=16).digest()
        estimator = clone_unfitted(pickle.loads(pickled))  # written by the study that runs, never read from a store
        self.name = _get_class_name(estimator)
        self.as_declared = PreparedEstimator(estimator)
        bare = extract_bare_learner(estimator)
        self._bare = None if bare is None else PreparedEstimator(bare, is_bare=True)

    def make_estimator(self, seed: int) -> Any:
        """An unfitted copy; each `random_state` that is not set gets this seed."""
        return self.as_declared.make_estimator(seed)

    def select_estimator(self, finite: bool) -> PreparedEstimator:
        """How the learner runs where the tables have numbers only, without gaps (`finite`), or on any others."""
        return self._bare if finite and self._bare is not None else self.as_declared

    @property
    def has_shortcut(self) -> bool:
        """Whether finite numbers need no preparation."""
        return self._bare is not None


class PreparedEstimator:
    """An unfitted estimator, and how it takes rows and classes."""

    def __init__(self, estimator: Any, *, is_bare: bool = False) -> None:
        self.prototype = estimator
        parameters = _get_parameters(estimator)
        components = [estimator, *parameters.values()]
        self._categories = (is_bare and not _is_plain_sklearn(estimator)) or any(
            _is_reader(component) for component in components
        )
        self._by_name = _needs_names(estimator, parameters)
        unset = [name for name, value in parameters.items() if name.split("__")[-1] == "random_state" and value is None]
        self._paths = [name.split("__") for name in unset if _is_plain(estimator, name.split("__"))]
        self._named = [name for name in unset if name.split("__") not in self._paths]
        self.scores_pairs = any(
            name.split("__")[-1] == "decision_function_shape" and value == "ovo" for name, value in parameters.items()
        )

    def make_estimator(self, seed: int) -> Any:
        """A copy of its own; each `random_state` that is not set gets this seed."""
        estimator = deepcopy(self.prototype)
        for *owners, last in self._paths:
            owner = estimator
            for name in owners:
                owner = getattr(owner, name)
            setattr(owner, last, seed)
        return estimator.set_params(**dict.fromkeys(self._named, seed)) if self._named else estimator

    def convert_table(self, X: Any, data: TrialData) -> Any:
        """A frame where there are nominal columns or columns are called by name, else a matrix."""
        return data.to_frame(X) if self._by_name else X

    def convert_classes(self, codes: IntArray, data: TrialData) -> Any:
        """A pandas category that declares all classes for learners that read typed columns, else an array of labels."""
        if not self._categories:
            return data.labels[codes]
        import pandas as pd

        return pd.Series(data.to_categorical(codes))


def extract_bare_learner(estimator: Any) -> Any:
    """The learner within a standard preparation that has nothing to do on finite numbers; else None.

    >>> from fairtrial.learners import Prepared
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> extract_bare_learner(Prepared(GaussianNB())), extract_bare_learner(Prepared(LogisticRegression()))
    (GaussianNB(), None)
    """
    from fairtrial.learners import Prepared
    from fairtrial.learners.prepared import facts_of

    if type(estimator) is not Prepared or not isinstance(estimator.preparation, str) or estimator.preparation != "standard":
        return None
    if estimator.sampler is not None or estimator.nominal is not None or not hasattr(estimator.learner, "fit"):
        return None
    facts = facts_of(estimator.learner)
    return None if facts.scale is not None or facts.numbered or facts.prepares else estimator.learner


def _get_class_name(estimator: Any) -> str:
    """The class that the user knows: that of the learner within a preparation."""
    from fairtrial.learners import Prepared

    return type(estimator.learner if type(estimator) is Prepared else estimator).__name__


def _get_parameters(estimator: Any) -> dict[str, Any]:
    """All parameters, those of parts too."""
    return dict(estimator.get_params(deep=True)) if hasattr(estimator, "get_params") else {}


def _is_reader(value: Any) -> bool:
    from fairtrial.learners.learner import TypedClassifier

    return isinstance(value, TypedClassifier)


def _is_plain_sklearn(estimator: Any) -> bool:
    """A learner of scikit-learn without learners within: it makes no difference to it how labels come."""
    components = (value for value in _get_parameters(estimator).values() if not isinstance(value, np.ndarray))
    alone = not any(hasattr(value, "fit") or isinstance(value, (list, tuple)) for value in components)
    return alone and type(estimator).__module__.split(".")[0] == "sklearn"


def _needs_names(estimator: Any, parameters: dict[str, Any]) -> bool:
    """Whether columns are called by name, or typed by name, somewhere within."""
    for name, value in [("", estimator), *parameters.items()]:
        last = name.split("__")[-1]
        if type(value).__name__ in _BY_NAME or (last == "nominal" and value is not None):
            return True
        if last == "preparation" and not isinstance(value, str):
            return True
    return False


def _is_plain(estimator: Any, path: list[str]) -> bool:
    """Whether a parameter may be set as an attribute: each owner on the way is an attribute and keeps scikit-learn's rules."""
    from sklearn.base import BaseEstimator

    owner = estimator
    for index, name in enumerate(path):
        plain = getattr(type(owner), "set_params", None) is BaseEstimator.set_params
        if not plain or name not in getattr(owner, "__dict__", {}):
            return False
        owner = owner if index == len(path) - 1 else getattr(owner, name)
    return True
