import re
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy.stats import binomtest, norm

from fairtrial.errors import InputError, SuspectInputWarning
from fairtrial.resampling.estimate import (
    METHODS,
    NoInformation,
    _compute_632_plus,
    _compute_limits,
    _OutOfBagLosses,
    out_of_bag_estimates,
)


def digits(text):
    return np.array([[int(digit) for digit in line] for line in text.split()])


# R 4, ipred 0.9-13: errorest(Species ~ ., iris[51:150, c(1, 2, 5)][c(3:12, 53:62, 70:74), ], model = lda, estimator = "boot"
# and "632plus", est.para = control.errorest(list.tindx = idx)); set.seed(7); idx <- lapply(1:12, \(i) sample(25, 25, TRUE)).
# Each line: whether the learner of a bootstrap sample errs on each case; how often the case is in the sample.
IPRED_LOSSES = digits("""
    1010101001000010000000100 1010101000000010000000100 1010001000000010000000100 1011101001000010000000100
    1010101001000010000000100 1010001000000010000000100 1010001000000010000010100 1111101001000010000000000
    1010001000000010000000100 1011101001000010000000000 1110001000000010000000100 1010001000000010000000100
""")
IPRED_COUNTS = digits("""
    0111011401010031012113020 0212020220202110100021121 0010120412011103030020210 2101011010231002210001222
    0210000220201100130312121 1101102211223011110112000 2111111112320110121000110 1321010200101130010021113
    0011111220112211010121012 1120022001201111112010302 0232100101010211110220310 0110110201000411310114020
""")
(IPRED_RESUBSTITUTION,) = digits("1010101000000010000000100")
(IPRED_PREDICTED,) = digits("1010101000111101111111011")
(IPRED_TRUE,) = digits("0000000000111111111111111")


def by_hand():
    counts = [[0, 0, 3], [0, 2, 1], [1, 2, 0], [0, 1, 2]]
    losses = [[1, 0, 9], [1, 9, 9], [9, 9, 0], [0, 9, 9]]  # a 9 is the loss of a training case: not to be looked at
    return out_of_bag_estimates(losses, counts, [1, 0, 0], 0.5)


class TestEstimates:
    def test_by_hand(self):
        found = by_hand()
        assert found["loo-bootstrap"].value == pytest.approx((2 / 3 + 0 + 0) / 3)
        assert found["e0"].value == pytest.approx((1 / 2 + 1 + 0 + 0) / 4)
        assert found["e0-pooled"].value == pytest.approx(2 / 5)
        assert found["resubstitution"].value == pytest.approx(1 / 3)
        assert found["632"].value == pytest.approx(0.368 / 3 + 0.632 * 2 / 9)
        assert found["632-e0"].value == pytest.approx(0.368 / 3 + 0.632 * 0.375)
        # Less error on cases left out than on training cases: nothing was overfitted.
        assert found["632+"].value == found["632"].value
        assert (found.overfitting, found.weight) == (0, 0.632)

    def test_against_r_ipred(self):
        gamma = NoInformation.from_labels(IPRED_TRUE, IPRED_PREDICTED)
        found = out_of_bag_estimates(IPRED_LOSSES, IPRED_COUNTS, IPRED_RESUBSTITUTION, gamma)
        assert found["loo-bootstrap"].value == pytest.approx(0.294, abs=1e-14)
        assert found["632+"].value == pytest.approx(0.277450384072739, abs=1e-14)

    def test_worse_than_chance_counts_as_overfitting_in_full(self):
        """The equation cuts the leave-one-out bootstrap in its second term only, not in the .632 estimate."""
        losses, counts = np.ones((6, 3)), np.array([[0, 1, 2], [2, 0, 1], [1, 2, 0]] * 2)
        found = out_of_bag_estimates(losses, counts, [0, 0, 0], 0.5)
        assert found["loo-bootstrap"].value == 1
        assert found["632+"].value == pytest.approx(0.632 * 1 + 0.368 * 0.5)
        assert (found.overfitting, found.weight) == (1, 1)

    def test_standard_error_where_worse_than_chance(self):
        """There the estimate is 0.632 of the leave-one-out bootstrap and a constant: so is its standard error."""
        rng = np.random.default_rng(1)
        losses = (rng.random(IPRED_COUNTS.shape) < 0.7).astype(float)
        found = out_of_bag_estimates(losses, IPRED_COUNTS, np.zeros(25), 0.5)
        assert found["loo-bootstrap"].value > 0.5
        assert found["632+"].standard_error == pytest.approx(0.632 * found["loo-bootstrap"].standard_error)

    def test_the_main_method(self):
        found = by_hand()
        assert found.value == found["632+"].value
        assert (found.low, found.high, found.standard_error) == tuple(
            getattr(found["632+"], what) for what in ("low", "high", "standard_error")
        )
        assert found.frame()["method"].tolist() == list(METHODS)
        assert all(value in str(found).splitlines()[0] for value in ("4 bootstrap samples", "3 rows", "95 %"))
        assert str(found).splitlines()[1].startswith("> 632+ 0.2631, standard error ")
        assert re.findall(r"\d\.\d+", str(found).splitlines()[-1])[:3] == ["0.5000", "0.0000", "0.6320"]
        assert "&gt; 632+" in found._repr_html_()
        with pytest.raises(InputError, match="'632'"):
            found["0.632"]

    def test_a_case_in_every_sample_does_not_count(self):
        with pytest.warns(SuspectInputWarning, match="1 of 3"):
            found = out_of_bag_estimates([[1, 0, 0], [0, 0, 0]], [[0, 1, 2], [1, 0, 2]], [0, 0, 0], 0.5)
        assert found["loo-bootstrap"].value == 0.5

    def test_a_perfect_learner_still_has_an_interval(self):
        found = out_of_bag_estimates(np.zeros((12, 25)), IPRED_COUNTS, np.zeros(25), 0.5)
        limits = binomtest(0, 25).proportion_ci(method="wilson")
        assert (found.value, found.standard_error) == (0, 0)
        assert (found.low, found.high) == pytest.approx((limits.low, limits.high))

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            (([[0, 1]], [[0, 1]], [0, 0]), "losses"),
            (([[0, 1]] * 2, [[0, 1]] * 3, [0, 0]), "losses.*counts.*resubstitution"),
            (([[0, 1]] * 2, [[0, 1]] * 2, [0]), "resubstitution"),
            (([[0, 1]] * 2, [[1, 1]] * 2, [0, 0]), "counts"),
            (([[np.nan, 1]] * 2, [[0, 2]] * 2, [0, 0]), "losses"),
        ],
    )
    def test_bad_tables(self, given, message):
        with pytest.raises(InputError, match=message):
            out_of_bag_estimates(*given, 0.5)

    def test_bad_options(self):
        with pytest.raises(InputError, match="method"):
            out_of_bag_estimates([[0, 1]] * 2, [[0, 2]] * 2, [0, 0], 0.5, method="633")
        with pytest.raises(InputError, match=r"level.*95"):
            out_of_bag_estimates([[0, 1]] * 2, [[0, 2]] * 2, [0, 0], 0.5, level=95)


POINTS = np.array([0.0, 1.0, 1.7, 3.1, 3.3])
TRUTH = np.array([0, 0, 1, 0, 1])


def all_samples(n):
    """Every bootstrap sample of n cases once: how often each case is in it, and whether the nearest neighbour errs on each."""
    draws = np.array(list(product(range(n), repeat=n)))
    counts = np.array([np.bincount(draw, minlength=n) for draw in draws])
    nearest = np.array([draw[np.abs(POINTS[:n, None] - POINTS[draw]).argmin(axis=1)] for draw in draws])
    return draws, counts, (TRUTH[nearest] != TRUTH[:n]).astype(float)


def reweighted(weights, draws, counts, losses):
    """The leave-one-out bootstrap if case i weighed weights[i] in the population."""
    chance = np.prod(weights[draws], axis=1)
    out = counts == 0
    of_case = [(chance[out[:, i]] * losses[out[:, i], i]).sum() / chance[out[:, i]].sum() for i in range(len(weights))]
    return float(weights @ of_case)


class TestInfluence:
    @pytest.mark.parametrize("n", [3, 4, 5])
    def test_it_is_the_derivative_of_the_reweighted_estimate(self, n):
        """The delta method by definition: put a little more weight on a case and see, with all bootstrap samples at hand."""
        draws, counts, losses = all_samples(n)
        found = _OutOfBagLosses.from_losses(losses, counts.astype(float))
        even, step = np.full(n, 1 / n), 1e-5
        for i in range(n):
            towards = np.eye(n)[i] - even
            ends = [reweighted(even + sign * step * towards, draws, counts, losses) for sign in (1, -1)]
            assert found.influence[i] == pytest.approx((ends[0] - ends[1]) / (2 * step) / n, abs=1e-8)
        assert found.per_case == pytest.approx(reweighted(even, draws, counts, losses))

    def test_the_noise_of_few_samples_is_taken_out(self):
        """Few samples at random against all samples: the raw sum of squares is too large, what is left is right on average."""
        n = 5
        _, counts, losses = all_samples(n)
        truth = (_OutOfBagLosses.from_losses(losses, counts.astype(float)).influence ** 2).sum()
        rng, raw, mended, means = np.random.default_rng(1), [], [], []
        for _ in range(300):
            drawn = rng.choice(len(counts), 60)
            found = _OutOfBagLosses.from_losses(losses[drawn], counts[drawn].astype(float))
            raw.append((found.influence**2).sum())
            mended.append(raw[-1] - found.noise)
            means.append((found.per_case, found.monte_carlo_error))
        assert np.mean(raw) > 1.1 * truth
        assert np.mean(mended) == pytest.approx(truth, rel=0.05)
        spread, estimated = np.std([mean for mean, _ in means]), np.mean([error for _, error in means])
        assert estimated == pytest.approx(spread, rel=0.15)

    def test_standard_errors_match_the_spread_over_samples(self):
        """Forty rows of two normal classes and the nearest centroid, again and again."""
        rng, found = np.random.default_rng(1), []
        for _ in range(80):
            y = np.arange(40) % 2
            X = rng.normal(size=(40, 3)) + y[:, None]
            draws = rng.integers(0, 40, (100, 40))
            counts = np.array([np.bincount(draw, minlength=40) for draw in draws])
            centres = [(counts * (y == c)) @ X / (counts * (y == c)).sum(axis=1, keepdims=True) for c in (0, 1)]
            near = [((X[None] - centre[:, None]) ** 2).sum(axis=2) for centre in centres]
            whole = [((X - X[y == c].mean(axis=0)) ** 2).sum(axis=1) for c in (0, 1)]
            predicted = (whole[1] < whole[0]).astype(int)
            gamma = NoInformation.from_labels(y, predicted)
            estimates = out_of_bag_estimates((near[1] < near[0]) != y, counts, predicted != y, gamma)
            found.append([(estimates[m].value, estimates[m].standard_error) for m in ("632+", "632", "loo-bootstrap")])
        values, errors = np.moveaxis(np.array(found), 2, 0)
        assert errors.mean(axis=0) == pytest.approx(values.std(axis=0), rel=0.25)


class TestPlus:
    rates = st.floats(0.01, 0.99)

    @given(error=rates, e1=rates, gamma=rates)
    def test_as_printed(self, error, e1, gamma):
        """Equation 32 of Efron & Tibshirani (1997), with a relative overfitting rate that stays within 0 and 1."""
        found, overfitting, weight, _ = _compute_632_plus(error, e1, gamma)
        cut = min(e1, gamma)
        r = min(1, (e1 - error) / (gamma - error)) if e1 > error and gamma > error else 0
        expected = 0.368 * error + 0.632 * e1 + (cut - error) * 0.368 * 0.632 * r / (1 - 0.368 * r)
        assert found == pytest.approx(expected)
        assert overfitting == pytest.approx(r)
        assert 0.632 <= weight <= 1 + 1e-12
        if e1 <= gamma:
            assert found == pytest.approx((1 - weight) * error + weight * e1)

    @given(error=rates, e1=rates, gamma=rates)
    def test_slopes_are_derivatives(self, error, e1, gamma):
        assume(min(abs(e1 - gamma), abs(e1 - error), abs(gamma - error)) > 1e-3)
        step = 1e-7
        slopes = _compute_632_plus(error, e1, gamma)[3]
        for place, slope in enumerate(slopes):
            up, down = ([error, e1, gamma] for _ in range(2))
            up[place] += step
            down[place] -= step
            assert (_compute_632_plus(*up)[0] - _compute_632_plus(*down)[0]) / (2 * step) == pytest.approx(slope, abs=1e-4)

    def test_no_jump_at_chance(self):
        assert _compute_632_plus(0.1, 0.5 - 1e-9, 0.5)[0] == pytest.approx(_compute_632_plus(0.1, 0.5 + 1e-9, 0.5)[0])
        assert _compute_632_plus(0.1, 0.7, 0.5)[0] == pytest.approx(0.632 * 0.7 + 0.368 * 0.5)


class TestNoInformation:
    @given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abcd")), min_size=1, max_size=12))
    def test_labels_by_trying_all_pairs(self, pairs):
        y, predicted = (np.array(each) for each in zip(*pairs, strict=True))
        table = (y[:, None] != predicted[None, :]).astype(float)
        n = len(y)
        for found in (NoInformation.from_labels(y, predicted), NoInformation.from_loss(lambda a, b: a != b, y, predicted)):
            assert found.rate == pytest.approx(table.mean())
            assert found.influence == pytest.approx((table.mean(axis=1) + table.mean(axis=0) - 2 * table.mean()) / n)

    def test_two_classes_as_printed(self):
        """p (1 - q) + (1 - p) q with shares p of truths and q of predictions."""
        y, predicted = np.repeat([0, 1], [7, 3]), np.repeat([0, 1], [6, 4])
        assert NoInformation.from_labels(y, predicted).rate == pytest.approx(0.3 * 0.6 + 0.7 * 0.4)

    def test_squared_loss(self):
        y, predicted = np.array([0.0, 1.0, 5.0]), np.array([1.0, 2.0, 2.0])
        found = NoInformation.from_loss(lambda a, b: (a - b) ** 2, y, predicted)
        assert found.rate == pytest.approx(((y[:, None] - predicted) ** 2).mean())


class TestLimits:
    @pytest.mark.parametrize(("k", "n"), [(0, 20), (3, 20), (20, 20), (50, 120)])
    def test_wilson(self, k, n):
        p = k / n
        expected = binomtest(k, n).proportion_ci(method="wilson")
        assert _compute_limits(p, np.sqrt(p * (1 - p) / n), 0.95, n, True) == pytest.approx((expected.low, expected.high))

    def test_a_larger_standard_error_is_worth_fewer_cases(self):
        expected = binomtest(5, 20).proportion_ci(method="wilson")
        assert _compute_limits(0.25, np.sqrt(0.25 * 0.75 / 20), 0.95, 80, True) == pytest.approx((expected.low, expected.high))
        # ... and a smaller one never more than there are.
        assert _compute_limits(0.25, 1e-3, 0.95, 20, True) == pytest.approx((expected.low, expected.high))

    def test_other_losses_are_normal(self):
        assert _compute_limits(2.0, 0.5, 0.9, 20, False) == pytest.approx(norm.interval(0.9, 2, 0.5))

    def test_worthless(self):
        assert _compute_limits(1.0, 0.5, 0.95, 20, True) == (0.0, 1.0)
