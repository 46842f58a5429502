"""Permutation tests against all swaps listed one by one, the binomial, and scikit-learn."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import StratifiedKFold, permutation_test_score
from sklearn.naive_bayes import GaussianNB

from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import get_measure
from fairtrial.significance.counts import mcnemar
from fairtrial.significance.permutation import label_permutation, permutation_test

RNG = np.random.default_rng(1)


def by_listing(measure, y, a, b, **options):
    """The share of all 2^n swaps whose difference is at least as large either way."""
    chosen = get_measure(measure)
    seen = abs(chosen(y, a, **options) - chosen(y, b, **options))
    far = []
    for pattern in product((False, True), repeat=len(y)):
        swap = np.array(pattern).reshape(-1, *[1] * (np.ndim(a) - 1))
        first, second = np.where(swap, b, a), np.where(swap, a, b)
        far.append(abs(chosen(y, first, **options) - chosen(y, second, **options)) >= seen - 1e-9)
    return np.mean(far)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=2, max_size=7), st.sampled_from(["accuracy", "error_rate"]))
def test_labels_by_listing(rows, measure):
    y, a, b = np.array(rows).T
    found = permutation_test(y, a, b, measure)
    assert (found.variant, found.resamples) == (f"exact, {measure}", None)
    assert found.p_value == pytest.approx(by_listing(measure, y, a, b))


@pytest.mark.parametrize("measure", ["kappa", "mcc", "balanced_accuracy", "g_mean"])
def test_other_label_measures_by_listing(measure):
    y, a, b = [0, 0, 0, 1, 1, 1, 1, 0], [0, 0, 1, 1, 1, 1, 0, 0], [0, 1, 1, 0, 0, 1, 1, 0]
    found = permutation_test(y, a, b, measure)
    assert found.p_value == pytest.approx(by_listing(measure, np.array(y), np.array(a), np.array(b)))


@pytest.mark.parametrize("measure", ["auc", "brier", "log_loss", "h_measure"])
def test_scores_by_listing(measure):
    y = np.array([0, 1, 0, 1, 1, 0, 1, 0])
    # two permutations of the same numbers, so that ranks within each model keep the scale
    a, b = RNG.permutation(8) / 9 + 0.05, RNG.permutation(8) / 9 + 0.05
    found = permutation_test(y, a, b, measure)
    assert found.p_value == pytest.approx(by_listing(measure, y, a, b))
    assert found.variant.startswith("exact")


def test_class_probabilities_and_numbers_by_listing():
    y = np.array([0, 1, 2, 1, 0, 2])
    a, b = RNG.dirichlet(np.ones(3), 6), RNG.dirichlet(np.ones(3), 6)
    assert permutation_test(y, a, b, "brier").p_value == pytest.approx(by_listing("brier", y, a, b))
    from fairtrial.measures import regression

    truth, first, second = RNG.normal(size=(3, 7))
    measure = next(value for value in vars(regression).values() if getattr(value, "name", "") and hasattr(value, "facts"))
    assert permutation_test(truth, first, second, measure).p_value == pytest.approx(by_listing(measure, truth, first, second))


def test_accuracy_of_two_classes_is_exact_mcnemar_and_large():
    """With two classes and labels of one class apart, swaps are coin tosses of the discordant rows: the binomial test."""
    y = np.ones(300, dtype=int)
    a, b = (RNG.random(300) < 0.8).astype(int), (RNG.random(300) < 0.7).astype(int)
    found = permutation_test(y, a, b, "accuracy")
    assert found.variant == "exact, accuracy"
    assert found.p_value == pytest.approx(mcnemar(y, a, b, method="exact").p_value)


def test_random_swaps_come_near_the_exact_share():
    y = np.array([0, 1] * 30)
    a = np.where(RNG.random(60) < 0.8, y, 1 - y)
    b = np.where(RNG.random(60) < 0.65, y, 1 - y)
    exact = permutation_test(y, a, b, "kappa")
    assert exact.variant.startswith("exact")
    # as probabilities the rows are not counted together, and 2^d swaps are too many
    drawn = permutation_test(y, a.astype(float), b.astype(float), "mae", resamples=4000)
    accuracy = permutation_test(y, a, b, "accuracy")
    assert drawn.variant == "4000 resamples, mae"
    assert drawn.p_value == pytest.approx(accuracy.p_value, abs=0.02)


def test_random_label_swaps_come_near_mcnemar():
    k = 6
    y = RNG.integers(0, k, 400)
    a = np.where(RNG.random(400) < 0.7, y, RNG.integers(0, k, 400))
    b = np.where(RNG.random(400) < 0.66, y, RNG.integers(0, k, 400))
    drawn = permutation_test(y, a, b, "accuracy", resamples=20_000)
    assert drawn.resamples == 20_000
    assert drawn.p_value == pytest.approx(mcnemar(y, a, b, method="exact").p_value, abs=0.015)


def test_scale_of_scores_does_not_matter_to_a_measure_of_ranks():
    y = np.array([0, 1] * 20)
    a, b = y + RNG.normal(size=40), y + RNG.normal(size=40)
    assert permutation_test(y, a, b, "auc").p_value == permutation_test(y, a, 1000 * b + 7, "auc").p_value
    assert permutation_test(y, a, b, "sauc", resamples=50).caveats[0].kind == "shared_scale"


def test_smallest_p_and_seed():
    y = np.array([0, 1] * 40)
    good, bad = y + 0.01 * np.arange(80), -y + 0.01 * np.arange(80)
    first = permutation_test(y, good, bad, "auc", resamples=99)
    assert first.p_value == pytest.approx(1 / 100)
    noisy = y + RNG.normal(size=80)
    runs = [permutation_test(y, noisy, y + np.cos(np.arange(80)), "auc", 200, seed).p_value for seed in (3, 3, 4)]
    assert runs[0] == runs[1] != runs[2]


def test_equal_predictions_have_p_1():
    y = np.array([0, 1, 0, 1])
    assert permutation_test(y, y, y).p_value == 1
    assert permutation_test(y, y + 0.5, y + 0.5, "auc").p_value == 1


def test_undefined_measure_is_nan():
    with pytest.warns(UndefinedMeasureWarning, match="auc"):
        found = permutation_test([1, 1, 1], [0.1, 0.2, 0.3], [0.3, 0.2, 0.1], "auc")
    assert np.isnan(found.p_value)


def test_undefined_swaps_count_as_large():
    # precision is undefined when nothing is called positive, which some swaps bring about
    y, a, b = [1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0]
    found = permutation_test(y, a, b, "precision")
    assert [caveat.kind for caveat in found.caveats] == ["undefined_permutations"]
    assert found.caveats[0]["undefined"] == found.undefined_resamples > 0
    assert 0 < found.p_value <= 1


def test_positive_and_average_reach_the_measure():
    y, a, b = ["p", "n", "p", "n"], ["p", "n", "n", "n"], ["n", "n", "p", "p"]
    assert permutation_test(y, a, b, "recall", positive="n").statistic == 0.5
    assert permutation_test(y, a, b, "f_score", average="macro").details["first"] == pytest.approx((2 / 3 + 4 / 5) / 2)


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="pred_b"):
        permutation_test([0, 1], [0, 1], [1])
    with pytest.raises(InputError, match="resamples"):
        permutation_test([0, 1], [0, 1], [1, 1], resamples=0)
    with pytest.raises(InputError, match="average"):
        permutation_test([0, 1], [0, 1], [1, 1], "recall", average=None)
    with pytest.raises(InputError, match="pred_a and pred_b"):
        permutation_test([0, 1], np.eye(2), [0.1, 0.2], "brier")


def test_type_1_error_is_controlled():
    """Two equally good models: 5 % or less, up to the noise of 600 runs."""
    rng = np.random.default_rng(9)
    rejected = 0
    for _ in range(600):
        y = rng.integers(0, 2, 40)
        a, b = (np.where(rng.random(40) < 0.75, y, 1 - y) for _ in range(2))
        p = permutation_test(y, a, b, "kappa").p_value
        rejected += p <= 0.05
    assert rejected / 600 <= 0.05 + 0.02


class TestLabelPermutation:
    X = RNG.normal(size=(60, 2))
    y = np.array([0, 1] * 30)

    def test_it_is_that_of_scikit_learn(self):
        X = self.X + 0.35 * self.y[:, None]
        cv = StratifiedKFold(3)
        found = label_permutation(GaussianNB(), X, self.y, cv=cv, resamples=100)
        score, _, p = permutation_test_score(GaussianNB(), X, self.y, cv=cv, n_permutations=100, random_state=0)
        assert found.statistic == pytest.approx(score)
        assert found.p_value == pytest.approx(p, abs=0.1)
        assert found.alternative == "better than on permuted labels"

    def test_a_clear_signal_has_the_smallest_p(self):
        found = label_permutation(GaussianNB(), self.X + 4 * self.y[:, None], self.y, measure="auc", cv=3, resamples=30)
        assert found.p_value == pytest.approx(1 / 31)
        assert found.details["permuted mean"] == pytest.approx(0.5, abs=0.1)

    def test_smaller_is_better_for_an_error(self):
        found = label_permutation(GaussianNB(), self.X + 4 * self.y[:, None], self.y, measure="error_rate", cv=3, resamples=30)
        assert found.statistic < 0.1
        assert found.p_value == pytest.approx(1 / 31)

    def test_a_learner_that_learns_nothing_has_p_1(self):
        found = label_permutation(DummyClassifier(), self.X, self.y, cv=3, resamples=20)
        assert found.p_value == 1

    def test_names_of_classes_may_be_words(self):
        words = np.where(self.y == 1, "ill", "well")
        found = label_permutation(GaussianNB(), self.X, words, measure="recall", positive="ill", cv=3, resamples=5)
        assert 0 < found.p_value <= 1


def test_infinite_loss_is_no_zero_p():
    y, a, b = [0, 1, 1, 0], [0.2, 0.7, 0.0, 0.1], [0.3, 0.6, 0.8, 0.2]
    found = permutation_test(y, a, b, "log_loss")
    # the third row makes one of the two infinite in every swap
    assert (found.statistic, found.p_value) == (np.inf, 1)
