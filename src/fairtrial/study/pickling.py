"""A learner as it travels to another process: unfitted, and with its code where that process could not import it."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from importlib import import_module
from typing import Any

from fairtrial.errors import InputError
from fairtrial.study.telling import Teller


def pickled(estimator: Any, name: str = "learner") -> bytes:
    """An unfitted copy of the estimator, as bytes. Classes and functions of no installed package travel with their code.

    >>> import pickle
    >>> from sklearn.naive_bayes import GaussianNB
    >>> pickle.loads(pickled(GaussianNB().fit([[0.0], [1.0]], [0, 1])))
    GaussianNB()
    """
    fresh = _unfitted(estimator)
    try:
        return _with_code(fresh)
    except Exception:  # its module holds something that cannot travel; perhaps the other process can import it
        try:
            return bytes(_cloudpickle().dumps(fresh))
        except Exception as error:
            raise InputError(
                f"{name} cannot be sent to another process ({error}): all its parameters must be picklable"
            ) from None


def _unfitted(estimator: Any) -> Any:
    from sklearn.base import clone

    try:
        return clone(estimator, safe=False)
    except (RuntimeError, TypeError):  # it changes its parameters in __init__, which scikit-learn forbids and we need not
        return estimator


def _with_code(estimator: Any) -> bytes:
    cloudpickle = _cloudpickle()
    teller = Teller()
    teller.tell(estimator)
    with ExitStack() as after:
        for module in sorted(teller.local_modules - cloudpickle.list_registry_pickle_by_value() - {"__main__"}):
            cloudpickle.register_pickle_by_value(sys.modules[module])
            after.callback(cloudpickle.unregister_pickle_by_value, sys.modules[module])
        return bytes(cloudpickle.dumps(estimator))


def _cloudpickle() -> Any:
    """The package that joblib depends on since its version 1.6, and brought along before."""
    try:
        return import_module("cloudpickle")
    except ImportError:
        return import_module("joblib.externals.cloudpickle")
