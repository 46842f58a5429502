"""The steps from columns to a tree."""

import numpy as np
import pytest
from scipy.stats import norm

from fairtrial._frames import read_columns
from fairtrial.errors import InputError
from fairtrial.kernels.c45 import SplitRules
from fairtrial.learners.c45 import C45Settings, build_tree, make_error_bound
from fairtrial.learners.learner import TrainingSet


def test_the_bound_has_single_precision_as_in_j48():
    assert make_error_bound(0.25) == pytest.approx((0.25, norm.isf(0.25)))
    assert make_error_bound(0.1).confidence == float(np.float32(0.1))


def test_the_bound_needs_a_small_confidence():
    with pytest.raises(InputError, match="confidence"):
        make_error_bound(0.75)


def test_minus_zero_and_negative_nan_are_read_as_zero_and_missing():
    x = np.array([-0.0, 0.0, -np.nan, 1.0, 1.0, 1.0]).reshape(-1, 1)
    training = TrainingSet(read_columns(x), np.array([0, 0, 0, 1, 1, 1]), np.ones(6))
    plan = C45Settings(SplitRules(2.0, True, False), make_error_bound(0.25), True, True, True)
    tree = build_tree(training, plan, np.arange(2), 2)
    assert tree.threshold[0] == 0
    assert not np.signbit(tree.threshold[0])
    assert tree.counts[1] == pytest.approx([2.4, 0])  # the missing one by 2 : 3
