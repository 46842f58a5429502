"""Ctrl-C while a learner trains."""

import os
import signal
import threading
import warnings

import numpy as np
import pytest
from sklearn.neural_network import MLPClassifier

from fairtrial.study.environments import raise_on_interrupt


@pytest.mark.usefixtures("interruptible")
def test_a_network_is_stopped_and_does_not_go_on_half_trained():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(400, 20)), rng.integers(0, 2, 400)
    network = MLPClassifier(hidden_layer_sizes=(100,), max_iter=100_000, tol=0, n_iter_no_change=100_000)
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt), raise_on_interrupt():
        network.fit(X, y)


def test_other_warnings_stay_what_they_are():
    with pytest.warns(UserWarning, match="something else"), raise_on_interrupt():
        warnings.warn("something else", stacklevel=1)
    with pytest.raises(UserWarning, match="raised"), raise_on_interrupt():
        raise UserWarning("raised")
