"""Differences of the two learners on single data sets."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from fairtrial.reproduce.ela.cells import LOGISTIC, STATED, our_cells
from fairtrial.reproduce.ela.paired import exact_lines, line_of, split_lines
from fairtrial.reproduce.published import published


def splits(seed=1, n=10):
    rng = np.random.default_rng(seed)
    hard = rng.normal(0, 0.03, n)
    starts = {"acc0_c45": 0.8, "acc0_svm": 0.85, "acc10_c45": 0.78, "acc10_svm": 0.75}
    return pd.DataFrame({name: start + hard + rng.normal(0, 0.01, n) for name, start in starts.items()})


def test_a_difference_of_accuracies_has_the_corrected_interval_of_paired_splits():
    frame = splits()
    gaps = 100 * (frame["acc0_c45"] - frame["acc0_svm"])
    half = t.ppf(0.975, 9) * np.sqrt((1 / 10 + 0.2 / 0.8) * gaps.var(ddof=1))
    found = line_of(frame, 0.2)["acc0"]
    assert (found.value, found.low, found.high) == pytest.approx((gaps.mean(), gaps.mean() - half, gaps.mean() + half))


@pytest.mark.parametrize(("name", "most"), [("ela", 1.0), ("rla", None)])
def test_a_difference_of_losses_has_the_spread_of_its_numeric_derivatives(name, most):
    """The variance of f(means) by the delta method, the gradient by differences, the covariance as a matrix."""
    frame = splits(seed=2)

    def gap(means):
        tree0, svm0, tree, svm = means
        losses = [((before if most is None else most) - after) / before for before, after in ((tree0, tree), (svm0, svm))]
        return losses[0] - losses[1]

    middle = frame.mean().to_numpy()
    gradient = np.array([(gap(middle + step) - gap(middle - step)) / 2e-6 for step in 1e-6 * np.eye(4)])
    spread = np.sqrt((1 / 10 + 0.2 / 0.8) * gradient @ np.cov(frame.to_numpy().T) @ gradient)
    found = line_of(frame, 0.2)[name]
    assert found.value == pytest.approx(gap(middle))
    assert found.high - found.value == pytest.approx(t.ppf(0.975, 9) * spread, rel=1e-6)


def test_lines_of_a_study_agree_with_its_cells(small):
    cells = our_cells(small).set_index(["dataset", "learner", "quantity"])["value"]
    lines = split_lines(small, STATED, LOGISTIC)
    assert set(lines) == {"iris", "wine"}
    for name, line in lines.items():
        for short, quantity in (("acc0", "accuracy at 0 %"), ("acc10", "accuracy at 10 %"), ("ela", "ELA"), ("rla", "RLA")):
            gap = cells[name, "c45", quantity] - cells[name, LOGISTIC, quantity]
            assert line[short].value == pytest.approx(gap, abs=1e-9)
        assert line["rla_svm"].value == pytest.approx(cells[name, LOGISTIC, "RLA"])


def test_losses_of_one_learner_have_the_intervals_of_the_results(small):
    frame = small.robustness(STATED).astype({"dataset": object, "learner": object}).set_index(["dataset", "learner"])
    found = split_lines(small, STATED, LOGISTIC)["wine"]["rla_c45"]
    low, high = frame.loc[("wine", "c45"), ["rla_low", "rla_high"]]
    assert (found.low, min(found.high, 1.0)) == pytest.approx((low, high))  # no loss is above 1, and the results end there


def test_splits_that_do_not_differ_tell_no_interval():
    frame = pd.DataFrame({"acc0_c45": [0.9, 0.9], "acc0_svm": [0.8, 0.8], "acc10_c45": [0.9, 0.8], "acc10_svm": [0.8, 0.8]})
    found = line_of(frame, 0.5)
    assert found["acc0"].value == pytest.approx(10)
    assert found["acc0"].above is None


def test_exact_lines_are_the_differences_of_the_table():
    line = exact_lines(published("ela_table3").set_index("dataset"))["zoo"]
    assert line["acc0"].value == pytest.approx(92.29 - 80.64)
    assert (line["acc0"].sign, line["rla"].sign, line["rla_c45"].value) == (1, -1, 0.0064)
