"""The contract for learners: the conventions of scikit-learn that studies rely on."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

import cloudpickle
import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import get_tags

from fairtrial._text import format_count
from fairtrial.learners import facts_of
from fairtrial.study.records import find_abstention_label
from fairtrial.testing.contract import Contract, require

if TYPE_CHECKING:
    import pandas as pd

_CLASSES = np.array(["blue", "green", "red"])
_N_PER_CLASS = 20
_SEED = 20
_TOLERANCE = 1e-6


class _LearnerCase:
    """A learner, a fitted copy of it, and a training set of 60 rows in three well-separated classes."""

    def __init__(self, learner: Any) -> None:
        rng = np.random.default_rng(_SEED)
        self.learner = learner
        self.codes = rng.permutation(np.repeat(np.arange(3), _N_PER_CLASS))
        self.y: npt.NDArray[Any] = self.codes if facts_of(learner).numbered else _CLASSES[self.codes]
        centres = np.array([[0.2, 0.2, 0.5], [0.8, 0.3, 0.1], [0.4, 0.9, 0.9]])
        # The values lie between 0 and 1 because some learners accept only nonnegative numbers.
        self.X = np.clip(centres[self.codes] + rng.normal(scale=0.06, size=(3 * _N_PER_CLASS, 3)), 0.0, 1.0)

    def copy_learner(self) -> Any:
        """Copy the unfitted learner and fix its seed."""
        learner = clone(self.learner)
        seeds = {name: _SEED for name in learner.get_params() if name.rpartition("__")[2] == "random_state"}
        return learner.set_params(**seeds) if seeds else learner

    def fit(self, X: Any = None, y: Any = None) -> Any:
        """Fit a copy of the learner, by default to the training set."""
        learner = self.copy_learner()
        learner.fit(self.X.copy() if X is None else X, self.y.copy() if y is None else y)
        return learner

    @cached_property
    def fitted(self) -> Any:
        return self.fit()

    @cached_property
    def predictions(self) -> npt.NDArray[Any]:
        return np.asarray(self.fitted.predict(self.X.copy()))

    @property
    def frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(self.X, columns=["length", "width", "height"])

    def require_same_predictions(self, predictions: Any, got: str) -> None:
        """Require that the predictions equal those of the fitted copy."""
        differences = int((np.asarray(predictions) != self.predictions).sum())
        require(differences == 0, f"{format_count(differences, 'different prediction')} {got}")


@contextmanager
def _open_case(learner: Any) -> Iterator[_LearnerCase]:
    yield _LearnerCase(learner)


_contract = Contract("learner", _open_case)


def check_learner(learner: Any) -> None:
    """Check that a learner satisfies the contract for learners.

    Parameters
    ----------
    learner : classifier
        An unfitted classifier that follows the conventions of scikit-learn. `fairtrial.learners.facts_of` determines
        whether it must accept nominal columns and missing values.

    Raises
    ------
    AssertionError
        If a rule is violated. The message names each violated rule, the value found and a remedy.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> check_learner(GaussianNB())
    """
    _contract.check(learner)


def _predicts_probabilities(learner: Any) -> bool:
    return hasattr(learner, "predict_proba")


def _has_decision_values(learner: Any) -> bool:
    return hasattr(learner, "decision_function")


def _takes_nominal(learner: Any) -> bool:
    return facts_of(learner).nominal


def _takes_missing(learner: Any) -> bool:
    return facts_of(learner).missing


def _ignores_columns(learner: Any) -> bool:
    """Return whether scikit-learn's tags declare that the learner does not validate X, as for DummyClassifier."""
    try:
        return bool(get_tags(learner).no_validation)
    except (AttributeError, TypeError):
        return False


@_contract.rule("store each argument of __init__ unchanged in an attribute of the same name")
def check_parameters_round_trip(case: _LearnerCase) -> None:
    """get_params, set_params and clone must preserve all parameters."""
    parameters = case.learner.get_params(deep=False)
    copied = clone(case.learner)
    for name, value in copied.get_params(deep=False).items():
        same = type(value) is type(parameters[name]) and repr(value) == repr(parameters[name])
        require(same, f"{name}={value!r} instead of {parameters[name]!r} in a clone")
    require(copied.set_params(**copied.get_params(deep=False)) is copied, "a different object from set_params")
    for name, value in copied.get_params(deep=False).items():
        require(repr(value) == repr(parameters[name]), f"{name}={value!r} instead of {parameters[name]!r} after set_params")


@_contract.rule("end fit with `return self`")
def check_fit_returns_self(case: _LearnerCase) -> None:
    """Fit must return the learner itself."""
    learner = case.copy_learner()
    returned = learner.fit(case.X.copy(), case.y.copy())
    require(returned is learner, f"{type(returned).__name__}")


@_contract.rule("write what fit learns to new attributes that end with an underscore")
def check_fit_keeps_parameters(case: _LearnerCase) -> None:
    """Fit must not change the parameters."""
    learner = case.copy_learner()
    before = {name: repr(value) for name, value in learner.get_params(deep=False).items()}
    learner.fit(case.X.copy(), case.y.copy())
    for name, value in learner.get_params(deep=False).items():
        require(repr(value) == before[name], f"{name}={value!r} instead of {before[name]}")


@_contract.rule("set self.classes_ = np.unique(y) in fit")
def check_classes_are_sorted(case: _LearnerCase) -> None:
    """classes_ must contain the classes of y in sorted order."""
    classes = np.asarray(case.fitted.classes_)
    require(np.array_equal(classes, np.unique(case.y)), f"{classes.tolist()} for {np.unique(case.y).tolist()}")


@_contract.rule("return labels from classes_, or declare the label of abstentions as `abstention_`")
def check_predictions_are_classes(case: _LearnerCase) -> None:
    """For each row, predict must return a label from classes_, or `abstention_`."""
    _require_known_labels(case.predictions, case.y, case.fitted)


@_contract.rule("normalize the rows of predict_proba", applies=_predicts_probabilities)
def check_probabilities_sum_to_one(case: _LearnerCase) -> None:
    """predict_proba must return probabilities between 0 and 1 that sum to 1 in each row."""
    probabilities = np.asarray(case.fitted.predict_proba(case.X.copy()))
    require(probabilities.shape == (len(case.X), 3), f"shape {probabilities.shape} for {len(case.X)} rows and 3 classes")
    require((probabilities >= 0).all() and (probabilities <= 1 + _TOLERANCE).all(), f"the probability {probabilities.min():g}")
    sums = probabilities.sum(axis=1)
    require(np.allclose(sums, 1.0, atol=_TOLERANCE), f"a sum of {sums[np.argmax(abs(sums - 1))]:g}")


@_contract.rule("sort the columns of predict_proba like classes_", applies=_predicts_probabilities)
def check_probabilities_follow_classes(case: _LearnerCase) -> None:
    """Column i of predict_proba must contain the probabilities of classes_[i]."""
    probabilities = np.asarray(case.fitted.predict_proba(case.X.copy()))
    for index, label in enumerate(np.unique(case.y)):
        column, is_label = probabilities[:, index], case.y == label
        require(
            column[is_label].mean() >= column[~is_label].mean() - _TOLERANCE,
            f"a lower mean in column {index} for rows of {label!r} than for other rows",
        )


@_contract.rule("return one column per class, or one value per row for two classes", applies=_has_decision_values)
def check_decision_values_have_columns(case: _LearnerCase) -> None:
    """decision_function must return a column for each of three classes, and one value per row for two classes."""
    values = np.asarray(case.fitted.decision_function(case.X.copy()))
    pairs = 3  # with three classes, one-vs-rest and one-vs-one both give three columns
    require(values.shape == (len(case.X), pairs), f"shape {values.shape} for {len(case.X)} rows and 3 classes")
    two = case.codes < 2
    values = np.asarray(case.fit(case.X[two], case.y[two]).decision_function(case.X[two]))
    require(values.shape == (int(two.sum()),), f"shape {values.shape} for {two.sum()} rows and 2 classes")


@_contract.rule("draw all random numbers from check_random_state(self.random_state)")
def check_same_seed_gives_same_predictions(case: _LearnerCase) -> None:
    """Two fits with the same seed and data must give the same predictions."""
    case.require_same_predictions(case.fit().predict(case.X.copy()), "from a second fit")


@_contract.rule("reset all attributes in fit")
def check_refit_forgets(case: _LearnerCase) -> None:
    """A second fit must not depend on the first."""
    learner = case.copy_learner()
    other = case.codes[::-1] if facts_of(case.learner).numbered else _CLASSES[case.codes[::-1]]
    learner.fit(case.X[:, ::-1].copy(), other)
    learner.fit(case.X.copy(), case.y.copy())
    case.require_same_predictions(learner.predict(case.X.copy()), "after another fit")


@_contract.rule("compute each prediction only from its own row")
def check_rows_are_predicted_independently(case: _LearnerCase) -> None:
    """The prediction of a row must not depend on the other rows."""
    expected = np.asarray(case.fitted.predict(case.X.copy()))[5:12]
    differences = int((np.asarray(case.fitted.predict(case.X[5:12].copy())) != expected).sum())
    require(differences == 0, f"{format_count(differences, 'different prediction')} for 7 rows alone")


@_contract.rule("copy X and y before you change them")
def check_input_is_not_modified(case: _LearnerCase) -> None:
    """Fit and predict must not modify X or y."""
    X, y = case.X.copy(), case.y.copy()
    learner = case.fit(X, y)
    require(np.array_equal(X, case.X), "a modified X after fit")
    require(np.array_equal(y, case.y), "a modified y after fit")
    learner.predict(X)
    require(np.array_equal(X, case.X), "a modified X after predict")


@_contract.rule("read X through sklearn.utils.validation.validate_data")
def check_frames_match_arrays(case: _LearnerCase) -> None:
    """A data frame must give the same predictions as an array with the same numbers."""
    frame = case.frame
    learner = case.fit(frame.copy(), case.y.copy())
    case.require_same_predictions(learner.predict(frame.copy()), "for a frame")


@_contract.rule("return self.classes_[codes] from predict", applies=lambda learner: not facts_of(learner).numbered)
def check_labels_keep_their_type(case: _LearnerCase) -> None:
    """For labels that are whole numbers or Booleans, predict must return labels of the same type."""
    two = case.codes < 2
    for X, y in ((case.X, case.codes), (case.X[two], case.codes[two] == 1)):
        learner = case.fit(X.copy(), y.copy())
        _require_known_labels(learner.predict(X.copy()), y, learner, f" for labels of type {y.dtype}")


@_contract.rule("encode nominal columns, or declare `fairtrial_facts = Facts(nominal=False, ...)`", applies=_takes_nominal)
def check_nominal_columns_are_accepted(case: _LearnerCase) -> None:
    """A learner that declares support for nominal columns must accept categorical columns."""
    import pandas as pd

    colour = pd.Categorical(np.array(["dark", "light", "none"])[case.codes])
    frame = pd.DataFrame({"size": case.X[:, 0], "colour": colour})
    learner = case.fit(frame.copy(), case.y.copy())
    _require_known_labels(learner.predict(frame.copy()), case.y, learner)


@_contract.rule(
    "handle NaN in fit and predict, or declare `fairtrial_facts = Facts(missing=False, ...)`", applies=_takes_missing
)
def check_missing_values_are_accepted(case: _LearnerCase) -> None:
    """A learner that declares support for missing values must accept NaN in fit and predict."""
    X = _remove_values(case.X)
    learner = case.fit(X.copy(), case.y.copy())
    _require_known_labels(learner.predict(X.copy()), case.y, learner)


@_contract.rule(
    "raise ValueError if X contains NaN, or declare `fairtrial_facts = Facts(missing=True, ...)`",
    applies=lambda learner: not _takes_missing(learner) and not _ignores_columns(learner),
)
def check_missing_values_are_refused(case: _LearnerCase) -> None:
    """A learner that does not declare support for missing values must raise ValueError for NaN."""
    try:
        case.fit(_remove_values(case.X), case.y.copy())
    except ValueError:
        return
    require(False, "a fit without an error")


@_contract.rule("keep all state in attributes that can be pickled")
def check_pickled_copy_predicts_equally(case: _LearnerCase) -> None:
    """A pickled copy of the fitted learner must give the same predictions."""
    expected = np.asarray(case.fitted.predict(case.X.copy()))
    restored = pickle.loads(cloudpickle.dumps(case.fitted))
    differences = int((np.asarray(restored.predict(case.X.copy())) != expected).sum())
    require(differences == 0, format_count(differences, "different prediction"))


def _require_known_labels(predictions: Any, y: npt.NDArray[Any], learner: Any, context: str = "") -> None:
    """Require one label of y, or the label of abstentions, for each row."""
    predictions = np.asarray(predictions)
    require(predictions.shape == y.shape, f"shape {predictions.shape} for {len(y)} rows{context}")
    known = [*np.unique(y).tolist(), find_abstention_label(learner)]
    unknown = [label for label in predictions.tolist() if label not in known]
    require(not unknown, f"the label {unknown[:1]}{context}")


def _remove_values(X: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    incomplete = X.copy()
    incomplete[::7, 0] = np.nan
    incomplete[3::11, 2] = np.nan
    return incomplete
