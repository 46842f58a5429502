import numpy as np
import pytest
from sklearn import metrics

from fairtrial.predictions.statistics import compute_losses

SHARES = np.array([[0.7, 0.2, 0.1], [0.25, 0.5, 0.25], [0.1, 0.1, 0.8], [0.6, 0.3, 0.1]])
TRUE = np.array([0, 1, 2, 1])


def test_their_mean_is_the_measure():
    assert compute_losses(SHARES, TRUE, None, "log_loss").mean() == pytest.approx(metrics.log_loss(TRUE, SHARES))
    assert compute_losses(SHARES, TRUE, None, "brier").mean() == pytest.approx(
        ((SHARES - np.eye(3)[TRUE]) ** 2).sum(axis=1).mean()
    )


def test_one_class_against_the_rest():
    own = SHARES[:, 1]
    assert compute_losses(SHARES, TRUE, 1, "brier").mean() == pytest.approx(metrics.brier_score_loss(TRUE == 1, own))
    assert compute_losses(SHARES, TRUE, 1, "log_loss").mean() == pytest.approx(metrics.log_loss(TRUE == 1, own))
