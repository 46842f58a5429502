"""A learner with preparation steps (imputation, encoding, scaling, sampling) that are fitted only to training rows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if

from fairtrial._check import FloatArray, check_one_of
from fairtrial._frames import EncodedTable
from fairtrial._registry import suggest_name
from fairtrial.errors import InputError, LearnerError, UnknownNameError
from fairtrial.learners.encoding import NumberEncoder, Scale, compute_fill_values
from fairtrial.learners.learner import TrainingSet, TypedClassifier, expand_probabilities, has_inner_method, require_object
from fairtrial.learners.noise_filters import NoiseFilter

_STANDARD = ("linear_model", "svm", "neighbors", "neural_network", "gaussian_process", "semi_supervised")


_POSITIVE = ("MultinomialNB", "ComplementNB")


_OWN_PREPARATION = ("Pipeline", "Prepared")


_TYPED = ("HistGradientBoostingClassifier", "LGBMClassifier")


_MATRIX_PACKAGES = ("catboost", "fairtrial", "imblearn", "lightgbm", "sklearn", "xgboost")


@dataclass(frozen=True)
class Facts:
    """The input that a learner accepts, and the preparation that it needs.

    Attributes
    ----------
    nominal : bool
        Whether the learner accepts nominal columns.
    missing : bool
        Whether the learner accepts missing values.
    scale : {"min-max", "standard"} or None
        Scaling that the learner needs.
    prepares : bool, default False
        Whether the learner prepares its own input. If true, the input is passed on unchanged.
    numbered : bool, default False
        Whether the learner requires the classes to be the integers 0, 1, ...

    Examples
    --------
    >>> Facts(nominal=False, missing=True).describe()
    'nominal to binary'
    """

    nominal: bool
    missing: bool
    scale: Scale = None
    prepares: bool = False
    numbered: bool = False

    def describe(self) -> str:
        """Describe the preparation in a few words."""
        steps = ["nominal to binary"] if not self.nominal else []
        steps += ["missing values filled"] if not self.missing else []
        steps += [f"{self.scale} scale"] if self.scale else []
        steps += ["classes numbered"] if self.numbered else []
        return ", ".join(steps) or "nothing"


def facts_of(learner: Any) -> Facts:
    """Return the input that a learner accepts and the preparation that it needs.

    Parameters
    ----------
    learner : estimator
        A learner can declare its `Facts` in the attribute `fairtrial_facts`. By default, they are derived from the class and
        the scikit-learn tags of the learner.

    Returns
    -------
    Facts

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> facts_of(LogisticRegression())
    Facts(nominal=False, missing=False, scale='standard', prepares=False, numbered=False)
    """
    declared = getattr(learner, "fairtrial_facts", None)
    if isinstance(declared, Facts):
        return declared
    name, module = type(learner).__name__, type(learner).__module__
    if name in _OWN_PREPARATION:
        return Facts(nominal=True, missing=True, prepares=True)
    inner_learners = _find_inner_learners(learner)
    if inner_learners:
        return _combine_facts([facts_of(inner_learner) for inner_learner in inner_learners])
    if isinstance(learner, TypedClassifier):
        return Facts(nominal=True, missing=True)
    numbered = module.split(".")[0] == "xgboost"
    return Facts(
        nominal=name in _TYPED, missing=_can_take_missing(learner), scale=_choose_scale(name, module), numbered=numbered
    )


def reads_names(learner: Any) -> bool:
    """Return whether a learner may use column names.

    Learners from known packages use only the column order."""
    return type(learner).__module__.split(".")[0] not in _MATRIX_PACKAGES


def _find_inner_learners(learner: Any) -> list[Any]:
    """Find the learners that a meta-learner contains."""
    estimators = getattr(learner, "estimators", None)
    inner_learners = (
        [entry[1] if isinstance(entry, tuple) else entry for entry in estimators] if isinstance(estimators, list) else []
    )
    single = getattr(learner, "estimator", None)
    return [inner_learner for inner_learner in [*inner_learners, single] if hasattr(inner_learner, "fit")]


def _combine_facts(facts: list[Facts]) -> Facts:
    """Combine the facts of several learners: the input that all of them accept, and the scaling that any of them needs."""
    scales = [learner_facts.scale for learner_facts in facts if learner_facts.scale]
    return Facts(
        nominal=all(learner_facts.nominal for learner_facts in facts),
        missing=all(learner_facts.missing for learner_facts in facts),
        scale=scales[0] if scales else None,
        prepares=all(learner_facts.prepares for learner_facts in facts),
        numbered=any(learner_facts.numbered for learner_facts in facts),
    )


def _can_take_missing(learner: Any) -> bool:
    from sklearn.utils import get_tags

    try:
        return bool(get_tags(learner).input_tags.allow_nan)
    except (AttributeError, TypeError):
        return type(learner).__module__.split(".")[0] in ("xgboost", "lightgbm", "catboost")


def _choose_scale(name: str, module: str) -> Scale:
    if name in _POSITIVE:
        return "min-max"
    return "standard" if module.startswith("sklearn.") and module.split(".")[1] in _STANDARD else None


_FOR_ALL_COLUMNS = ("RandomOverSampler", "RandomUnderSampler", "SMOTENC", "SMOTEN", "FunctionSampler")


@cache
def sampler_classes() -> dict[str, type[Any]]:
    """Map short names to the samplers of imbalanced-learn and to noise filters.

    Returns
    -------
    dict of str to type

    Examples
    --------
    >>> sampler_classes()["smote"].__name__, sampler_classes()["ipf"].__name__
    ('SMOTE', 'IPF')
    """
    from imblearn.utils.testing import all_estimators

    classes = [
        sampler_class for name, sampler_class in all_estimators(type_filter="sampler") if name not in ("SMOTENC", "SMOTEN")
    ]
    return {make_short_name(kind.__name__): kind for kind in [*classes, *NoiseFilter.__subclasses__()]}


def make_short_name(name: str) -> str:
    """Convert a class name to lower case with hyphens.

    >>> [make_short_name(name) for name in ("RandomOverSampler", "SMOTE", "SVMSMOTE", "SMOTEENN", "GaussianNB", "LinearSVC")]
    ['random-over-sampler', 'smote', 'svm-smote', 'smote-enn', 'gaussian-nb', 'linear-svc']
    """
    name = name.replace("SVMSMOTE", "SvmSmote").replace("SMOTEENN", "SmoteEnn").replace("SMOTETomek", "SmoteTomek")
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1-\2", name)
    return re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1-\2", name).lower()


def get_sampler(name: str, **parameters: Any) -> Any:
    """Create an imbalanced-learn sampler or a noise filter by name.

    Parameters
    ----------
    name : str
        Short name such as "smote" or "ipf".
    **parameters : object
        Parameters of the sampler.

    Returns
    -------
    sampler

    Raises
    ------
    UnknownNameError
        If no sampler has this name.

    Examples
    --------
    >>> get_sampler("smote", k_neighbors=3)
    SMOTE(k_neighbors=3)
    """
    classes = sampler_classes()
    if name not in classes:
        raise UnknownNameError(f"no sampler is called {name!r}: {suggest_name(name, classes)}")
    try:
        return classes[name](**parameters)
    except TypeError as error:
        raise InputError(f"{name} does not accept these parameters: {error}") from None


def resample_columns(sampler: Any, columns: EncodedTable, labels: Any) -> tuple[EncodedTable, Any, Any]:
    """Resample training rows. Return the new rows, their classes and the fitted sampler.

    SMOTE is replaced with SMOTENC if some columns are nominal, and with SMOTEN if all columns are nominal. Most other
    samplers of imbalanced-learn raise an error if there are nominal columns.
    """
    from sklearn.base import clone

    fitted_sampler = _select_sampler(clone(sampler), columns)
    classes, codes = np.unique(labels, return_inverse=True)
    is_filter = isinstance(fitted_sampler, NoiseFilter)
    # Some samplers do not accept text, so they receive class codes. If the sampling strategy is a dict, a list or a function,
    # they receive labels, because the strategy may refer to labels.
    has_simple_strategy = isinstance(getattr(fitted_sampler, "sampling_strategy", None), (str, int, float))
    try:
        if is_filter:
            fitted_sampler.fit_resample(to_frame(columns) if columns.nominal.any() else columns.values, labels)
            kept = fitted_sampler.sample_indices_
            rows, new_labels = columns.values[kept], labels[kept]
        elif has_simple_strategy:
            rows, new_codes = fitted_sampler.fit_resample(columns.values, codes)
            new_labels = classes[new_codes]
        else:
            rows, new_labels = fitted_sampler.fit_resample(columns.values, labels)
    except (ValueError, TypeError, RuntimeError, IndexError) as error:
        counts = dict(zip(*(array.tolist() for array in np.unique(labels, return_counts=True)), strict=True))
        remedy = "; use fewer neighbours or RandomOverSampler" if "neighbors" in str(error) else ""
        message = f"{type(fitted_sampler).__name__} cannot sample training rows with classes {counts}: {error}{remedy}"
        raise LearnerError(message) from error
    return (
        EncodedTable(np.asarray(rows, dtype=np.float64), columns.names, columns.categories),
        np.asarray(new_labels),
        fitted_sampler,
    )


def _select_sampler(sampler: Any, columns: EncodedTable) -> Any:
    nominal, name = columns.nominal, type(sampler).__name__
    if not nominal.any() or name in _FOR_ALL_COLUMNS or isinstance(sampler, NoiseFilter):
        return sampler
    if name != "SMOTE":
        column = columns.names[int(np.argmax(nominal))]
        raise InputError(f"{name} accepts numeric columns only, got {column!r}: use smote or random-over-sampler")
    from imblearn.over_sampling import SMOTEN, SMOTENC

    shared = {name: sampler.get_params()[name] for name in ("sampling_strategy", "random_state", "k_neighbors")}
    if nominal.all():
        return SMOTEN(**shared)
    return SMOTENC(categorical_features=np.flatnonzero(nominal).tolist(), **shared)


def to_frame(columns: EncodedTable) -> Any:
    """Convert columns to a data frame with `category` and `float64` columns."""
    import pandas as pd

    series = {}
    for j, name in enumerate(columns.names):
        values, categories = columns.values[:, j], columns.categories[j]
        if categories is None:
            series[name] = values
        else:
            codes = np.where(np.isnan(values), -1, values).astype(np.intp)
            series[name] = pd.Categorical.from_codes(codes, list(categories))  # type: ignore[call-overload]
    return pd.DataFrame(series)


class Prepared(TypedClassifier):
    """A learner that accepts any table because its input is prepared first.

    The preparation is fitted only to the training rows, so cross-validation does not leak information from test rows.

    Parameters
    ----------
    learner : estimator
        Learner to prepare the input for.
    sampler : imbalanced-learn sampler or noise filter, optional
        Sampler applied to the training rows after imputation. Test rows are never resampled.
    preparation : {"standard", "none"} or transformer, default "standard"
        "standard" applies the steps that `facts_of(learner)` requires. If you pass a transformer, it replaces these steps. Its
        input is a data frame.
    nominal : sequence of str or int, optional
        Names or indices of columns to treat as nominal. Categorical, text and Boolean columns are always nominal.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The sorted class labels.
    learner_ : estimator
        The fitted learner.
    preparation_ : dict of str to str
        The steps that were applied.

    Examples
    --------
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
        """Fit the preparation, resample the rows and fit the learner.

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
        if isinstance(self.preparation, str):
            check_one_of("preparation", self.preparation, ["standard", "none"])
        require_object("learner", self.learner, "fit", "fairtrial.learners.make_learner")
        if self.sampler is not None:
            require_object("sampler", self.sampler, "fit_resample", "fairtrial.learners.get_sampler")
        training = self._read_training(X, y)
        facts = facts_of(self.learner) if self.preparation == "standard" else Facts(nominal=True, missing=True, prepares=True)
        self._fill_values = compute_fill_values(training.columns, training.weight)
        columns, labels, fitted_sampler = training.columns, self.classes_[training.codes], None
        if self.sampler is not None:
            columns, labels, fitted_sampler = resample_columns(self.sampler, self._fill_missing(columns), labels)
        self._needs = facts
        self._encoder = self._fit_encoder(columns, labels, facts)
        self.preparation_ = self._describe_preparation(training.columns, facts, fitted_sampler)
        self._seen_classes, codes = np.unique(labels, return_inverse=True)
        targets = codes if facts.numbered else self._declare_labels(labels)
        self.learner_ = clone(self.learner).fit(self._encode_columns(columns), targets)
        return self

    def _fit_encoder(self, columns: EncodedTable, labels: Any, facts: Facts) -> Any:
        """Fit the encoder for the columns. Return None if the learner accepts imputed columns without encoding."""
        if not isinstance(self.preparation, str):
            require_object("preparation", self.preparation, "transform", 'a transformer class, or pass "standard" or "none"')
            return clone(self.preparation).fit(to_frame(columns), labels)
        if (columns.nominal.any() and not facts.nominal) or facts.scale is not None:
            rows = TrainingSet(columns, np.zeros(len(columns), dtype=np.intp), np.ones(len(columns)))
            return NumberEncoder.fit(rows, facts.scale, fill=not facts.missing)
        return None

    def _fill_missing(self, columns: EncodedTable) -> EncodedTable:
        return EncodedTable(
            np.where(np.isnan(columns.values), self._fill_values, columns.values), columns.names, columns.categories
        )

    def _encode_columns(self, columns: EncodedTable) -> Any:
        if self.sampler is not None:
            columns = self._fill_missing(columns)
        if isinstance(self._encoder, NumberEncoder):
            encoded = self._encoder(columns)
            return self._add_names(encoded, columns) if hasattr(self, "feature_names_in_") else encoded
        if self._encoder is not None:
            return self._encoder.transform(to_frame(columns))
        if not self._needs.missing:
            columns = self._fill_missing(columns)
        typed = bool(columns.nominal.any()) or hasattr(self, "feature_names_in_")
        return to_frame(columns) if typed else columns.values

    def _add_names(self, encoded: FloatArray, columns: EncodedTable) -> Any:
        """Convert encoded columns to a data frame if the learner may use column names."""
        if not reads_names(self.learner):
            return encoded
        import pandas as pd

        return pd.DataFrame(encoded, columns=self._encoder.list_names(columns))

    def _describe_preparation(self, columns: EncodedTable, facts: Facts, fitted_sampler: Any) -> dict[str, str]:
        steps = {}
        if np.isnan(columns.values).any() and (not facts.missing or fitted_sampler is not None):
            steps["missing"] = "mean or mode"
        if not isinstance(self.preparation, str):
            steps["preparation"] = repr(self.preparation)
        else:
            if columns.nominal.any() and not facts.nominal:
                steps["nominal"] = "binary columns"
            if facts.scale:
                steps["scale"] = facts.scale
        if fitted_sampler is not None:
            steps["sampler"] = repr(fitted_sampler)
        return steps

    def predict(self, X: Any) -> Any:
        """Predict the class of each row."""
        rows = self._prepare_rows(X)
        predictions = np.asarray(self.learner_.predict(rows))
        if predictions.ndim == 2 and predictions.shape[1] == 1:  # CatBoost returns a column for three or more classes
            predictions = predictions[:, 0]
        return self._seen_classes[predictions.astype(np.intp)] if self._needs.numbered else predictions

    @available_if(has_inner_method("predict_proba"))  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> FloatArray:
        """Predict the probability of each class in `classes_` for each row."""
        rows = self._prepare_rows(X)
        return expand_probabilities(self.learner_.predict_proba(rows), self._seen_classes, self.classes_)

    @available_if(has_inner_method("decision_function"))  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def decision_function(self, X: Any) -> FloatArray:
        """Compute the decision values of the learner."""
        rows = self._prepare_rows(X)
        return np.asarray(self.learner_.decision_function(rows))

    def _prepare_rows(self, X: Any) -> Any:
        return self._encode_columns(self._read_rows(X))
