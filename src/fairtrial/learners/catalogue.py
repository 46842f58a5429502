"""Learners by short names: ours, scikit-learn's, the boosted trees that are installed, and any class by its full name."""

from __future__ import annotations

import inspect
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from fairtrial._registry import Registry, did_you_mean
from fairtrial.errors import InputError, UnknownNameError
from fairtrial.learners.facts import facts_of
from fairtrial.learners.sampling import short_name

if TYPE_CHECKING:
    import pandas as pd

registry: Registry[type[Any]] = Registry("learner", group="fairtrial.learners")

_OURS = {
    "c45": "c45.C45",
    "one-r": "one_r.OneR",
    "ripper": "ripper.Ripper",
    "naive-bayes": "naive_bayes.NaiveBayes",
    "nearest-neighbours": "nearest_neighbours.NearestNeighbours",
    "puk-svc": "machines.PukSVC",
    "smo": "machines.SMO",
    "pdfc": "pdfc.PDFC",
    "chi": "chi.Chi",
    "stump": "stump.Stump",
    "bagging": "ensembles.Bagging",
    "adaboost-m1": "ensembles.AdaBoostM1",
}
_ALIASES = {
    **dict.fromkeys(("c4.5", "j48"), "c45"),
    "jrip": "ripper",
    **dict.fromkeys(("ibk", "knn", "k-nn", "1-nn"), "nearest-neighbours"),
    "decision-stump": "stump",
}
# These need another learner, or more than numbers on a scale; their full names work.
_LEFT_OUT = ("ClassifierChain", "SelfTrainingClassifier", "RadiusNeighborsClassifier", "CategoricalNB")
# scikit-learn's can be found by looking through all of it, which takes a second: those that are asked for most go before.
_USUAL = {
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
_OTHERS = {"xgboost": "xgboost.XGBClassifier", "lightgbm": "lightgbm.LGBMClassifier", "catboost": "catboost.CatBoostClassifier"}


def learner_class(name: str) -> type[Any]:
    """The class of a learner by its short name, or by its full name `package.module.Class`.

    >>> learner_class("c45").__name__, learner_class("random-forest").__name__
    ('C45', 'RandomForestClassifier')
    >>> learner_class("random-forrest")
    Traceback (most recent call last):
    fairtrial.errors.UnknownNameError: no learner is called 'random-forrest': did you mean 'random-forest'?
    """
    if not isinstance(name, str):
        raise InputError(f"name must be the name of a learner, got {type(name).__name__}: an estimator needs no catalogue")
    name = _ALIASES.get(name.lower(), name)
    if name in _OURS:
        return _imported(f"fairtrial.learners.{_OURS[name]}")
    if name in registry:
        return registry[name]
    if name in _OTHERS:
        return _installed(name)
    if name in _USUAL:
        return _imported(f"sklearn.{_USUAL[name]}")
    if name in scikit_learn_classes():
        return scikit_learn_classes()[name]
    if "." in name:
        return _imported(name)
    known = [*_OURS, *_ALIASES, *registry, *_OTHERS, *scikit_learn_classes()]
    raise UnknownNameError(f"no learner is called {name!r}: {did_you_mean(name, known)}")


def make_learner(name: str, **parameters: Any) -> Any:
    """A learner by name, with its parameters.

    >>> make_learner("random-forest", n_estimators=50)
    RandomForestClassifier(n_estimators=50)
    >>> make_learner("c45", confidance=0.1)
    Traceback (most recent call last):
    fairtrial.errors.InputError: c45 has no parameter 'confidance': did you mean 'confidence'?
    """
    found = learner_class(name)
    known = parameters_of(found)
    for each in parameters:
        if known and each not in known:
            raise InputError(f"{name} has no parameter {each!r}: {did_you_mean(each, known)}")
    try:
        return found(**parameters)
    except TypeError as error:
        raise InputError(f"{name} cannot be made of these parameters: {error}") from None


def parameters_of(learner: type[Any]) -> dict[str, Any]:
    """The parameters of a class with their defaults; empty where it takes any."""
    found = inspect.signature(learner).parameters.values()
    if any(each.kind is each.VAR_KEYWORD for each in found):
        return {}
    return {each.name: each.default for each in found}


@cache
def scikit_learn_classes() -> dict[str, type[Any]]:
    """Scikit-learn's classifiers that need no argument, by short name: `random-forest`, `svc`, `gaussian-nb` ..."""
    from sklearn.utils import all_estimators

    found = {}
    for name, each in all_estimators("classifier"):
        required = [value for value in parameters_of(each).values() if value is inspect.Parameter.empty]
        leaving = getattr(each.__new__, "__module__", "") == "sklearn.utils.deprecation"
        if not required and not leaving and name not in _LEFT_OUT:
            found[short_name(name.removesuffix("Classifier"))] = each
    return found


def listing() -> pd.DataFrame:
    """A line for each learner: name, class, where it is from, what is prepared for it, its parameters."""
    import pandas as pd

    names = [*_OURS, *registry, *(name for name in _OTHERS if find_spec(_OTHERS[name].split(".")[0])), *scikit_learn_classes()]
    return pd.DataFrame([_line(name) for name in dict.fromkeys(names)])


def one(name: str) -> str:
    """One learner in full, in words."""
    found = learner_class(name)
    what = (inspect.getdoc(found) or "").split("\n\n")[0].replace("\n", " ")
    given = parameters_of(found)
    needed = [each for each, value in given.items() if value is inspect.Parameter.empty]
    prepared = f"needs {', '.join(needed)}" if needed else f"prepared for it: {facts_of(found()).words()}"
    parameters = [f"  {each}" if each in needed else f"  {each} = {value!r}" for each, value in given.items()]
    head = f"{name}: {found.__module__.split('._')[0]}.{found.__name__}"
    return "\n".join([head, what, prepared, "parameters:", *parameters])


def _line(name: str) -> dict[str, str]:
    found = learner_class(name)
    return {
        "name": name,
        "class": found.__name__,
        "from": found.__module__.split(".")[0],
        "prepared": facts_of(found()).words(),
        "parameters": ", ".join(parameters_of(found)),
    }


def _installed(name: str) -> type[Any]:
    package = _OTHERS[name].split(".")[0]
    if find_spec(package) is None:
        raise InputError(f"{name} is not installed: pip install {package}")
    return _imported(_OTHERS[name])


def _imported(path: str) -> type[Any]:
    module, _, name = path.rpartition(".")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise UnknownNameError(f"no learner can be imported as {path!r}: {error}") from None
    if not (inspect.isclass(found) and hasattr(found, "fit") and hasattr(found, "predict")):
        raise InputError(f"{path} must be a class with fit and predict, got {found!r}")
    return found
