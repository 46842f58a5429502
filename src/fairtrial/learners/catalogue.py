"""Create learners by short name or import path, and list the available learners."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from fairtrial._registry import suggest_name
from fairtrial.errors import InputError, UnknownNameError
from fairtrial.learners.learner import learners
from fairtrial.learners.prepared import facts_of, make_short_name

if TYPE_CHECKING:
    import pandas as pd

# These learners need another learner or special input. They are available only by import path.
_EXCLUDED = ("ClassifierChain", "SelfTrainingClassifier", "RadiusNeighborsClassifier", "CategoricalNB")
# Searching all of scikit-learn takes a second. The most common learners are therefore listed here.
_COMMON_LEARNERS = {
    "decision-tree": "tree.DecisionTreeClassifier",
    "dummy": "dummy.DummyClassifier",
    "extra-trees": "ensemble.ExtraTreesClassifier",
    "gaussian-nb": "naive_bayes.GaussianNB",
    "gradient-boosting": "ensemble.GradientBoostingClassifier",
    "hist-gradient-boosting": "ensemble.HistGradientBoostingClassifier",
    "k-neighbors": "neighbors.KNeighborsClassifier",
    "linear-discriminant-analysis": "discriminant_analysis.LinearDiscriminantAnalysis",
    "linear-svc": "svm.LinearSVC",
    "logistic-regression": "linear_model.LogisticRegression",
    "mlp": "neural_network.MLPClassifier",
    "random-forest": "ensemble.RandomForestClassifier",
    "svc": "svm.SVC",
}
_OPTIONAL_LEARNERS = {
    "xgboost": "xgboost.XGBClassifier",
    "lightgbm": "lightgbm.LGBMClassifier",
    "catboost": "catboost.CatBoostClassifier",
}


def learner_class(name: str) -> type[Any]:
    """Return the class of the learner with the given short name or import path.

    Parameters
    ----------
    name : str
        Short name such as "random-forest", or import path such as `package.module.Class`.

    Returns
    -------
    type

    Raises
    ------
    UnknownNameError
        If no learner has this name.

    Examples
    --------
    >>> learner_class("c45").__name__, learner_class("random-forest").__name__
    ('C45', 'RandomForestClassifier')
    >>> learner_class("random-forrest")
    Traceback (most recent call last):
    fairtrial.errors.UnknownNameError: no learner is called 'random-forrest': did you mean 'random-forest'?
    """
    if not isinstance(name, str):
        raise InputError(f"name must be the name of a learner, got {type(name).__name__}: pass a string")
    if is_registered(name):
        return learners[name if name in learners else name.lower()]
    if name in _OPTIONAL_LEARNERS:
        return _import_optional(name)
    if name in _COMMON_LEARNERS:
        return _import_class(f"sklearn.{_COMMON_LEARNERS[name]}")
    if name in find_scikit_learn_classes():
        return find_scikit_learn_classes()[name]
    if "." in name:
        return _import_class(name)
    names = [*learners.names(), *_OPTIONAL_LEARNERS, *find_scikit_learn_classes()]
    raise UnknownNameError(f"no learner is called {name!r}: {suggest_name(name, names)}")


def is_registered(name: str) -> bool:
    """Return whether a learner is registered under this name, ignoring case."""
    return name in learners or name.lower() in learners


def make_learner(name: str, **parameters: Any) -> Any:
    """Create a learner by name.

    Parameters
    ----------
    name : str
        Short name or import path, as in `learner_class`.
    **parameters : object
        Parameters of the learner.

    Returns
    -------
    estimator

    Raises
    ------
    InputError
        If the learner does not have one of the given parameters.

    Examples
    --------
    >>> make_learner("random-forest", n_estimators=50)
    RandomForestClassifier(n_estimators=50)
    >>> make_learner("c45", confidance=0.1)
    Traceback (most recent call last):
    fairtrial.errors.InputError: c45 has no parameter 'confidance': did you mean 'confidence'?
    """
    estimator_class = learner_class(name)
    defaults = get_parameters(estimator_class)
    for parameter in parameters:
        if defaults and parameter not in defaults:
            raise InputError(f"{name} has no parameter {parameter!r}: {suggest_name(parameter, defaults)}")
    try:
        return estimator_class(**parameters)
    except TypeError as error:
        raise InputError(f"{name} does not accept these parameters: {error}") from None


def get_parameters(learner: Callable[..., Any]) -> dict[str, Any]:
    """Return the parameters of a class or function with their defaults, or {} if it accepts any keyword."""
    parameters = inspect.signature(learner).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return {}
    return {parameter.name: parameter.default for parameter in parameters}


@cache
def find_scikit_learn_classes() -> dict[str, type[Any]]:
    """Return the scikit-learn classifiers without required arguments, keyed by short name."""
    from sklearn.utils import all_estimators

    classes = {}
    for name, estimator_class in all_estimators("classifier"):
        required = [value for value in get_parameters(estimator_class).values() if value is inspect.Parameter.empty]
        deprecated = getattr(estimator_class.__new__, "__module__", "") == "sklearn.utils.deprecation"
        if not required and not deprecated and name not in _EXCLUDED:
            classes[make_short_name(name.removesuffix("Classifier"))] = estimator_class
    return classes


def listing() -> pd.DataFrame:
    """List all learners with their class, package, preparation and parameters.

    Returns
    -------
    DataFrame
        One row per learner with the columns `name`, `class`, `from`, `prepared` and `parameters`.

    Examples
    --------
    >>> listing().columns.tolist()
    ['name', 'class', 'from', 'prepared', 'parameters']
    """
    import pandas as pd

    names = [
        *learners,
        *(name for name in _OPTIONAL_LEARNERS if find_spec(_OPTIONAL_LEARNERS[name].split(".")[0])),
        *find_scikit_learn_classes(),
    ]
    return pd.DataFrame([_make_listing_row(name) for name in dict.fromkeys(names)])


def describe_learner(name: str) -> str:
    """Return a text with the class, summary, preparation and parameters of a learner."""
    estimator_class = learner_class(name)
    description = (inspect.getdoc(estimator_class) or "").split("\n\n")[0].replace("\n", " ")
    defaults = get_parameters(estimator_class)
    needed = [parameter for parameter, value in defaults.items() if value is inspect.Parameter.empty]
    prepared = f"needs {', '.join(needed)}" if needed else f"preparation: {facts_of(estimator_class()).describe()}"
    parameters = [
        f"  {parameter}" if parameter in needed else f"  {parameter} = {value!r}" for parameter, value in defaults.items()
    ]
    head = f"{name}: {estimator_class.__module__.split('._')[0]}.{estimator_class.__name__}"
    return "\n".join([head, description, prepared, "parameters:", *parameters])


def _make_listing_row(name: str) -> dict[str, str]:
    estimator_class = learner_class(name)
    return {
        "name": name,
        "class": estimator_class.__name__,
        "from": estimator_class.__module__.split(".")[0],
        "prepared": facts_of(estimator_class()).describe(),
        "parameters": ", ".join(get_parameters(estimator_class)),
    }


def _import_optional(name: str) -> type[Any]:
    package = _OPTIONAL_LEARNERS[name].split(".")[0]
    if find_spec(package) is None:
        raise InputError(f"{name} is not installed: pip install {package}")
    return _import_class(_OPTIONAL_LEARNERS[name])


def _import_class(path: str) -> type[Any]:
    module, _, name = path.rpartition(".")
    try:
        estimator_class = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise UnknownNameError(f"no learner can be imported as {path!r}: {error}") from None
    if not (inspect.isclass(estimator_class) and hasattr(estimator_class, "fit") and hasattr(estimator_class, "predict")):
        raise InputError(f"{path} must be a class with fit and predict, got {estimator_class!r}")
    return estimator_class
