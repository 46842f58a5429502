"""t and F tests of resampled scores, against R, formulas written out, and their degenerate cases."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.significance.resampled import corrected_resampled_t, five_by_two_f, five_by_two_t, paired_t, ten_by_ten

C45 = [0.2456, 0.1754, 0.1754, 0.2632, 0.1579, 0.2456, 0.2105, 0.1404, 0.2632, 0.2982]
NB = [0.0702, 0.0702, 0.0175, 0.0702, 0.0702, 0.0526, 0.1579, 0.0351, 0.0351, 0.0702]
A = np.array([[0.80, 0.78], [0.82, 0.79], [0.81, 0.80], [0.79, 0.83], [0.80, 0.82]])
B = np.array([[0.76, 0.77], [0.78, 0.78], [0.80, 0.76], [0.78, 0.79], [0.77, 0.80]])
TESTS = {
    "paired_t": (paired_t, (10,)),
    "corrected": (lambda a, b: corrected_resampled_t(a, b, test_fraction=0.1), (10,)),
    "calibrated": (ten_by_ten, (10, 10)),
    "sorted": (lambda a, b: ten_by_ten(a, b, variant="sorted-runs"), (10, 10)),
    "averaged": (lambda a, b: ten_by_ten(a, b, variant="averaged-folds"), (10, 10)),
    "five_by_two_t": (five_by_two_t, (5, 2)),
    "five_by_two_f": (five_by_two_f, (5, 2)),
}
every_test = pytest.mark.parametrize(("test", "shape"), TESTS.values(), ids=TESTS)


def test_labour_is_that_of_r_not_the_misprint():
    found = paired_t(C45, NB)
    # ERRATA: the tutorial prints 8.0845; R's t.test gives this
    assert found.statistic == pytest.approx(7.8645361, rel=1e-7)
    assert found.p_value == pytest.approx(2.536406e-05, rel=1e-6)
    assert found.df == 9
    assert found.effect.estimate == pytest.approx(0.15262)
    assert (found.effect.low, found.effect.high) == pytest.approx((0.1087203445, 0.1965196555), rel=1e-8)


def test_corrected_t_against_r():
    found = corrected_resampled_t([0.80, 0.85, 0.78, 0.90, 0.82], [0.75, 0.84, 0.74, 0.83, 0.80], test_fraction=0.2)
    # R: t <- mean(d)/sqrt((1/5 + .25)*var(d)); 2*pt(-t, 4)
    assert (found.statistic, found.p_value) == pytest.approx((2.372684056, 0.07659670464))
    assert (found.effect.low, found.effect.high) == pytest.approx((-0.006466482476, 0.08246648248))


def test_corrected_t_has_the_variance_of_the_bayesian_one():
    # REFERENCE: x = (4,2,6), y = (5,7,3) with rho 1/3: mean 1, variance 16(1/3 + 1/2), df 2
    found = corrected_resampled_t([5, 7, 3], [4, 2, 6], test_fraction=1 / 3)
    assert found.statistic == pytest.approx(1 / np.sqrt(16 * (1 / 3 + 1 / 2)))
    assert found.df == 2


def test_five_by_two_against_r():
    t, f = five_by_two_t(A, B), five_by_two_f(A, B)
    assert (t.statistic, t.p_value, t.df) == pytest.approx((2.07950098, 0.09212031805, 5))
    assert (f.statistic, f.p_value) == pytest.approx((2.189189189, 0.2003104498))
    assert f.df == (10, 5)
    for each in (t, f):
        assert each.effect.estimate == pytest.approx(0.025)
        assert (each.effect.low, each.effect.high) == pytest.approx((-0.02444612887, 0.07444612887))


def test_f_does_not_depend_on_the_order_of_folds_but_t_does():
    assert five_by_two_f(A[::-1], B[::-1]).p_value == pytest.approx(five_by_two_f(A, B).p_value)
    assert five_by_two_t(A[::-1], B[::-1]).p_value != pytest.approx(five_by_two_t(A, B).p_value)


def test_ten_by_ten_written_out():
    rng = np.random.default_rng(1)
    a, b = rng.normal(0.8, 0.05, (10, 10)), rng.normal(0.78, 0.05, (10, 10))
    d = a - b
    calibrated = ten_by_ten(a, b)
    t = d.mean() / (d.std(ddof=1) / np.sqrt(11))
    assert (calibrated.statistic, calibrated.p_value) == pytest.approx((t, 2 * stats.t.sf(abs(t), 10)))
    by_runs = [sorted(run) for run in d.tolist()]
    averaged = [np.mean([run[i] for run in by_runs]) for i in range(10)]
    theirs = stats.ttest_1samp(averaged, 0)
    ours = ten_by_ten(a, b, variant="sorted-runs")
    assert (ours.statistic, ours.p_value) == pytest.approx((theirs.statistic, theirs.pvalue))
    by_repeat = stats.ttest_rel([np.mean(run) for run in a], [np.mean(run) for run in b])
    folds = ten_by_ten(a, b, variant="averaged-folds")
    assert (folds.statistic, folds.p_value, folds.df) == pytest.approx((by_repeat.statistic, by_repeat.pvalue, 9))
    assert [caveat.kind for caveat in folds.caveats] == ["pair_independence"]


@every_test
def test_equal_scores_have_p_1(test, shape):
    scores = np.random.default_rng(0).random(shape)
    found = test(scores, scores)
    assert (found.statistic, found.p_value, found.effect.estimate) == (0, 1, 0)
    assert found.caveats[-1].kind == "same_scores"
    assert found.effect.note


@every_test
def test_equal_differences_are_undefined(test, shape):
    scores = np.round(np.random.default_rng(0).random(shape), 3)
    with pytest.warns(UndefinedMeasureWarning):
        found = test(scores + 0.1, scores)
    assert np.isnan(found.statistic)
    assert np.isnan(found.p_value)
    assert found.effect.estimate == pytest.approx(0.1)


@every_test
def test_swapping_the_learners_changes_the_sign_alone(test, shape):
    rng = np.random.default_rng(5)
    a, b = np.round(rng.random(shape), 3), np.round(rng.random(shape), 3)
    there, back = test(a, b), test(b, a)
    assert back.p_value == pytest.approx(there.p_value)
    assert back.effect.estimate == pytest.approx(-there.effect.estimate)
    assert (back.effect.low, back.effect.high) == pytest.approx((-there.effect.high, -there.effect.low))


@given(st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 1000)), min_size=3, max_size=30), st.floats(0.01, 0.9))
def test_corrected_t_equals_the_paired_t_shrunk(pairs, fraction):
    a, b = np.array(pairs, dtype=float).T
    if np.ptp(a - b) == 0:
        return
    theirs = stats.ttest_rel(a, b)
    plain = paired_t(a, b)
    assert (plain.statistic, plain.p_value) == pytest.approx((theirs.statistic, theirs.pvalue))
    ours = corrected_resampled_t(a, b, test_fraction=fraction)
    assert ours.statistic == pytest.approx(theirs.statistic / np.sqrt(1 + len(a) * fraction / (1 - fraction)))
    assert ours.p_value >= plain.p_value - 1e-12
    assert (ours.p_value < 0.05) == (not ours.effect.low <= 0 <= ours.effect.high)


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="test_fraction"):
        corrected_resampled_t([1, 2], [2, 4], test_fraction=1)
    with pytest.raises(InputError, match=r"\(10,\)"):
        five_by_two_t(C45, NB)
    with pytest.raises(InputError, match="first and second"):
        paired_t([1], [2])
    with pytest.raises(InputError, match="variant"):
        ten_by_ten(A, B, variant="sorted")
    with pytest.raises(InputError, match="corrected_resampled_t"):
        ten_by_ten(A, B)
    with pytest.raises(InputError, match="level"):
        paired_t(C45, NB, level=1)


def test_level_of_corrected_t_under_overlap():
    # Ten-fold differences that share a common part with correlation 0.1: the plain t is far too sure, the corrected one is not.
    rng = np.random.default_rng(11)
    runs = 2000
    common, own = rng.normal(size=(runs, 1)), rng.normal(size=(runs, 10))
    d = np.sqrt(0.1) * common + np.sqrt(0.9) * own
    plain = np.mean([paired_t(each, np.zeros(10)).p_value < 0.05 for each in d])
    corrected = np.mean([corrected_resampled_t(each, np.zeros(10), test_fraction=0.1).p_value < 0.05 for each in d])
    assert plain > 0.1
    assert corrected == pytest.approx(0.05, abs=0.015)
