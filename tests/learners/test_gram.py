import numpy as np
from sklearn.metrics.pairwise import euclidean_distances, polynomial_kernel, rbf_kernel

from fairtrial.learners import svm

RNG = np.random.default_rng(3)
A, B = RNG.normal(size=(9, 4)), RNG.normal(size=(5, 4))


def test_against_scikit_learns_kernels():
    np.testing.assert_allclose(svm.make_gaussian_kernel(0.7)(A, B), rbf_kernel(A, B, gamma=0.7), rtol=1e-12)
    np.testing.assert_allclose(
        svm.make_polynomial_kernel(3, True)(A, B), polynomial_kernel(A, B, degree=3, gamma=1, coef0=1), rtol=1e-12
    )
    np.testing.assert_allclose(svm.make_polynomial_kernel(1, False)(A, B), A @ B.T, rtol=1e-12)
    np.testing.assert_allclose(svm.compute_squared_distances(A, B), euclidean_distances(A, B) ** 2, rtol=1e-9)


def test_pearson_is_the_formula():
    for sigma, omega in ((1.0, 1.0), (2.5, 0.5), (0.3, 4.0)):
        formula = (1 + (2 * euclidean_distances(A, B) * np.sqrt(2 ** (1 / omega) - 1) / sigma) ** 2) ** -omega
        np.testing.assert_allclose(svm.make_pearson_vii_kernel(sigma, omega)(A, B), formula, rtol=1e-9)


def test_a_matrix_is_cached_for_the_same_rows_and_kernel_only():
    made = []

    def kernel(first, second):
        made.append(1)
        return first @ second.T

    first = svm.compute_gram_matrix(("mine", 1), kernel, A)
    assert svm.compute_gram_matrix(("mine", 1), kernel, A.copy()) is first
    svm.compute_gram_matrix(("mine", 2), kernel, A)
    svm.compute_gram_matrix(("mine", 1), kernel, A + 1)
    assert len(made) == 3


def test_the_cache_stays_within_its_limit(monkeypatch):
    monkeypatch.setattr(svm, "_CACHE_BYTES", 0)
    matrix = svm.compute_gram_matrix(("bound",), lambda a, b: a @ b.T, A)
    assert matrix.shape == (9, 9)
    assert not svm._cache
