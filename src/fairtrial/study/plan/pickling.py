"""A learner as it travels to another process: unfitted, and with its code where that process could not import it."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import Any

import cloudpickle

from fairtrial.errors import InputError
from fairtrial.study.plan.telling import Teller
from fairtrial.study.trial.unfitted import unfitted


def pickled(estimator: Any, name: str = "learner") -> bytes:
    """An unfitted copy of the estimator, as bytes. Classes and functions of no installed package travel with their code.

    >>> import pickle
    >>> from sklearn.naive_bayes import GaussianNB
    >>> pickle.loads(pickled(GaussianNB().fit([[0.0], [1.0]], [0, 1])))
    GaussianNB()
    """
    fresh = unfitted(estimator, name)
    try:
        return _with_code(fresh)
    except Exception:  # its module holds something that cannot travel; perhaps the other process can import it
        try:
            return bytes(cloudpickle.dumps(fresh))
        except Exception as error:
            raise InputError(
                f"{name} cannot be sent to another process ({error}): all its parameters must be picklable"
            ) from None


def _with_code(estimator: Any) -> bytes:
    teller = Teller()
    teller.tell(estimator)
    with ExitStack() as after:
        for module in sorted(teller.local_modules - cloudpickle.list_registry_pickle_by_value() - {"__main__"}):
            cloudpickle.register_pickle_by_value(sys.modules[module])
            after.callback(cloudpickle.unregister_pickle_by_value, sys.modules[module])
        return bytes(cloudpickle.dumps(estimator))
