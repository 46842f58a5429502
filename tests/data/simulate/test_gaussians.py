import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import multivariate_normal, norm
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from fairtrial.data.simulate import GaussianMixture
from fairtrial.errors import InputError


@pytest.mark.parametrize(("distance", "prior"), [(1.0, 0.5), (2.0, 0.5), (2.0, 0.9), (0.5, 0.99), (6.0, 0.3)])
def test_two_gaussians_with_one_covariance_by_integration_of_the_smaller_density(distance, prior):
    x = np.linspace(-15, 25, 400_001)
    expected = np.trapezoid(np.minimum(prior * norm.pdf(x), (1 - prior) * norm.pdf(x, distance)), x)
    mixture = GaussianMixture(means=[0, distance], priors=[prior, 1 - prior])
    assert mixture.best_error().method == "closed form"
    assert mixture.bayes_error == pytest.approx(expected, abs=1e-8)


def test_the_closed_form_turns_with_the_covariance():
    """A linear map of all that is drawn changes no error: the standard pair at distance 2 has Phi(-1)."""
    turn = np.array([[2.0, 1.0], [0.0, 0.5]])
    pair = GaussianMixture(means=[[1, 1], turn @ [2, 0] + 1], covariances=turn @ turn.T)
    assert pair.bayes_error == pytest.approx(norm.cdf(-1))


def test_equal_means_leave_the_smaller_prior():
    assert GaussianMixture(means=[[1, 1], [1, 1]], priors=[0.3, 0.7]).bayes_error == 0.3


def test_one_dimension_with_other_variances_has_two_thresholds():
    """N(0, 1) and N(0, 4): the densities cross where x^2 = 8/3 log 2."""
    cross = np.sqrt(8 / 3 * np.log(2))
    expected = norm.sf(cross) + norm.cdf(cross / 2) - 0.5
    assert GaussianMixture(means=[0, 0], covariances=[1, 4]).bayes_error == pytest.approx(expected, abs=1e-7)


def test_integration_finds_a_needle_beside_a_haystack():
    """A needle of sd 0.001 in a normal of sd 1000: nearly all the error is what the hay has under the needle."""
    mixture = GaussianMixture(means=[0, 3], covariances=[1e6, 1e-6])
    needle = np.linspace(3 - 0.01, 3 + 0.01, 200_001)
    expected = np.trapezoid(np.minimum(norm.pdf(needle, 0, 1000), norm.pdf(needle, 3, 0.001)), needle) / 2
    assert mixture.bayes_error == pytest.approx(expected, abs=1e-7)


def test_monte_carlo_states_an_accuracy_that_holds():
    """Two components along one line, embedded in three dimensions: the truth is the one-dimensional integral."""
    line = GaussianMixture(means=[0, 3, 6], component_classes=["a", "b", "a"])
    space = GaussianMixture(means=[[0, 0, 0], [3, 0, 0], [6, 0, 0]], component_classes=["a", "b", "a"])
    estimate = space.best_error(accuracy=1e-3)
    assert estimate.method.startswith("Monte Carlo")
    assert estimate.accuracy <= 1e-3
    assert abs(estimate.value - line.bayes_error) < estimate.accuracy
    assert space.best_error(accuracy=1e-3) == estimate


def test_one_class_has_no_error():
    assert GaussianMixture(means=[0, 1], component_classes=["a", "a"]).bayes_error == 0


def test_moments_of_a_large_sample():
    covariance = np.array([[2.0, -0.5], [-0.5, 1.0]])
    X, y = GaussianMixture(means=[[1, -1], [4, 4]], covariances=[covariance, 0.25], priors=[0.25, 0.75]).sample(200_000, rng=5)
    assert (y == "1").mean() == pytest.approx(0.25, abs=0.004)
    first = X[(y == "1").to_numpy()].to_numpy()
    np.testing.assert_allclose(first.mean(axis=0), [1, -1], atol=0.03)
    np.testing.assert_allclose(np.cov(first.T), covariance, atol=0.04)


@given(st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_posteriors_equal_scipys_densities(seed):
    rng = np.random.default_rng(seed)
    k, d = rng.integers(2, 5), rng.integers(1, 4)
    means, priors = rng.normal(size=(k, d)) * 2, rng.dirichlet(np.ones(k) * 5)
    spread = rng.normal(size=(k, d, d))
    covariances = spread @ spread.transpose(0, 2, 1) + 0.5 * np.eye(d)
    covariances = (covariances + covariances.transpose(0, 2, 1)) / 2
    X = rng.normal(size=(20, d)) * 3
    density = np.column_stack(
        [p * multivariate_normal(m, c).pdf(X) for p, m, c in zip(priors, means, covariances, strict=True)]
    )
    mixture = GaussianMixture(means=means, covariances=covariances, priors=priors / priors.sum())
    np.testing.assert_allclose(mixture.bayes_probabilities(X), density / density.sum(axis=1, keepdims=True), atol=1e-9)


def test_far_away_rows_have_probabilities_too():
    assert GaussianMixture(means=[0, 1]).bayes_probabilities([[1e6]]).tolist() == [[0.0, 1.0]]


def test_scikit_learns_discriminant_comes_near_the_bayes_error():
    mixture = GaussianMixture(means=[[0, 0], [1, 1]], covariances=[1, 3])
    (X, y), (X_test, y_test) = mixture.sample(20_000, rng=1), mixture.sample(20_000, rng=2)
    error = 1 - QuadraticDiscriminantAnalysis().fit(X, y).score(X_test, y_test)
    assert error == pytest.approx(mixture.bayes_error, abs=0.01)


@pytest.mark.parametrize(
    ("wrong", "value"),
    [
        ({"means": []}, r"means.*\(0, 1\)"),
        ({"means": [[0, np.nan], [1, 1]]}, "means"),
        ({"means": [0, 1], "covariances": -1}, "covariances"),
        ({"means": [[0, 0], [1, 1]], "covariances": [[1, 2], [3, 4]]}, "covariances"),
        ({"means": [0, 1], "priors": [0.5, 0.6]}, r"priors.*\[0\.5, 0\.6\]"),
        ({"means": [0, 1], "priors": [1, 0]}, "priors"),
        ({"means": [0, 1], "component_classes": ["a"]}, "component_classes.*got 1"),
    ],
)
def test_wrong_parameters_are_named(wrong, value):
    with pytest.raises(InputError, match=value):
        GaussianMixture(**wrong)


def test_accuracy_must_be_a_share():
    with pytest.raises(InputError, match="accuracy"):
        GaussianMixture(means=[0, 1]).best_error(accuracy=0)
