"""Splits and confidence intervals for the generalization error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isqrt, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray, check_between, check_column, check_finite, check_number, check_whole_number
from fairtrial._text import format_count
from fairtrial.errors import InputError
from fairtrial.resampling.estimate import Estimate
from fairtrial.resampling.splits import Split, Splits
from fairtrial.resampling.splitter import Seed, Splitter, SplitterInput, scheme


@scheme("nested-cv", cite="Bates, Hastie & Tibshirani 2024")
class NestedCV(Splitter):
    """Outer folds, and inner folds of each training set, for nested cross-validation intervals.

    The first K splits form an ordinary K-fold cross-validation. Then each fold is left out in turn. Each of the other folds is
    a test set, and the remaining K - 2 folds are its training set. Only `nested_cv_interval` uses these inner splits. Use
    `Repeated` to draw several partitions. To tune parameters, use `nested` instead.

    Parameters
    ----------
    n_splits : int, default 5
        Number of folds K, at least 3. There are K * K splits.
    random_state : int, Generator, SeedSequence or RandomState, optional
        Seed. An integer makes the splits reproducible. Default: a random seed.

    Examples
    --------
    >>> splits = NestedCV(3, random_state=1).freeze(range(9))
    >>> [(split.fold, len(split.train), len(split.test)) for split in splits][:5]
    [(0, 6, 3), (1, 6, 3), (2, 6, 3), (3, 3, 3), (4, 3, 3)]
    """

    def __init__(self, n_splits: int = 5, *, random_state: Seed = None) -> None:
        self.n_splits = check_whole_number("the number of folds", n_splits, 3)
        self.random_state = random_state

    @property
    def _primary_folds(self) -> int:  # type: ignore[override]  # depends on a parameter
        return self.n_splits

    def _iter_splits(self, rows: SplitterInput, rng: np.random.Generator) -> Iterator[Split]:
        if rows.n < 2 * self.n_splits:
            limit = f"{rows.n // 2}, half the number of rows"
            raise InputError(f"the number of folds must be at most {limit}, got {self.n_splits}: use fewer folds")
        folds = rng.permutation(np.arange(rows.n) % self.n_splits)
        for fold in range(self.n_splits):
            yield Split(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold), 0, fold)
        pairs = [(left_out, tested) for left_out in range(self.n_splits) for tested in range(self.n_splits)]
        inner_pairs = [(left_out, tested) for left_out, tested in pairs if left_out != tested]
        for number, (left_out, tested) in enumerate(inner_pairs, self.n_splits):
            train = np.flatnonzero((folds != left_out) & (folds != tested))
            yield Split(train, np.flatnonzero(folds == tested), 0, number)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits, which is the square of the number of folds.

        Parameters
        ----------
        X, y, groups : object, optional
            Ignored.

        Returns
        -------
        int
        """
        return self.n_splits**2


@scheme("conservative-z", cite="Nadeau & Bengio 2003")
class PairedSubsampling(Splitter):
    """Random splits of all rows and of disjoint halves, for the conservative z interval.

    Fold 0 of each repeat is a random split of all rows. In addition, the rows are divided at random into two halves,
    `repeats_out` times. Each half is split in the same way, with test sets of the same size as in fold 0. Only
    `conservative_z_interval` uses the splits of the halves.

    Parameters
    ----------
    repeats_in : int, default 15
        Number of splits of all rows and of each half.
    repeats_out : int, default 10
        Number of pairs of halves. There are (2 * repeats_out + 1) * repeats_in splits.
    ratio : float, default 0.9
        Fraction of all rows in the training set, at least 2/3.
    random_state : int, Generator, SeedSequence or RandomState, optional
        Seed. An integer makes the splits reproducible. Default: a random seed.

    Examples
    --------
    >>> splits = PairedSubsampling(1, 1, random_state=1).freeze(range(20))
    >>> [(split.fold, len(split.train), len(split.test)) for split in splits]
    [(0, 18, 2), (1, 8, 2), (2, 8, 2)]
    """

    _primary_folds = 1
    _sets_repeats = True

    def __init__(self, repeats_in: int = 15, repeats_out: int = 10, ratio: float = 0.9, *, random_state: Seed = None) -> None:
        self.repeats_in = check_whole_number("repeats_in", repeats_in, 1)
        self.repeats_out = check_whole_number("repeats_out", repeats_out, 1)
        check_number("ratio", ratio)
        if not 2 / 3 <= ratio < 1:
            raise InputError(f"ratio must be at least 2/3 and below 1, got {ratio!r}: half of the rows must suffice to train")
        self.ratio = float(ratio)
        self.random_state = random_state

    def _iter_splits(self, rows: SplitterInput, rng: np.random.Generator) -> Iterator[Split]:
        n_test, half = rows.n - round(rows.n * self.ratio), rows.n // 2
        if not 0 < n_test < half:
            sizes = f"{format_count(n_test, 'test row')} of {format_count(half, 'row')} in each half"
            raise InputError(f"ratio must leave test and training rows in each half, got {self.ratio!r}, i.e. {sizes}")
        for repeat in range(self.repeats_in):
            yield _draw_subsample(np.arange(rows.n), n_test, rng, repeat, 0)
        for pair in range(self.repeats_out):
            order = rng.permutation(rows.n)
            for side in range(2):
                members = order[side * half : (side + 1) * half]
                for repeat in range(self.repeats_in):
                    yield _draw_subsample(members, n_test, rng, repeat, 1 + 2 * pair + side)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits of all rows and of all halves.

        Parameters
        ----------
        X, y, groups : object, optional
            Ignored.

        Returns
        -------
        int
        """
        return (2 * self.repeats_out + 1) * self.repeats_in


def _draw_subsample(members: IntArray, n_test: int, rng: np.random.Generator, repeat: int, fold: int) -> Split:
    order = rng.permutation(members)
    return Split(np.sort(order[n_test:]), np.sort(order[:n_test]), repeat, fold)


def nested_cv_interval(losses: Sequence[npt.ArrayLike], splits: Splits, *, level: float = 0.95) -> Estimate:
    """Compute a confidence interval for the generalization error by nested cross-validation.

    The estimate is corrected because the training sets are smaller than the data set. Its standard error is at least the
    standard error for n independent rows, and at most sqrt(K) times as large (Bates, Hastie & Tibshirani 2024). The confidence
    limits are based on the normal distribution.

    Parameters
    ----------
    losses : list of array-like
        Losses on the test rows, one array per split. A loss can be 0 or 1, a squared error, etc.
    splits : Splits
        Splits drawn by `NestedCV`, possibly with `Repeated`.
    level : float, default 0.95
        Confidence level.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from fairtrial.resampling import Repeated
    >>> X, y = load_iris(return_X_y=True)
    >>> splits = Repeated(NestedCV(5), 10, random_state=1).freeze(X)
    >>> losses = [GaussianNB().fit(X[train], y[train]).predict(X[test]) != y[test] for train, test in splits]
    >>> result = nested_cv_interval(losses, splits)
    >>> result.method, bool(0 < result.low < result.value < result.high < 0.1)
    ('nested-cv', True)
    """
    check_between("level", level, 0, 1)
    rows = [check_column(f"losses of split {number}", values) for number, values in enumerate(losses)]
    if [len(values) for values in rows] != [len(split.test) for split in splits]:
        raise InputError("losses must contain one value for each test row of each split: pass one array per split")
    check_finite("losses", np.concatenate(rows).astype(np.float64))
    keys = [(split.repeat, split.fold) for split in splits]
    n_folds = isqrt(1 + max(fold for _, fold in keys))
    if n_folds < 3 or sorted({fold for _, fold in keys}) != list(range(n_folds**2)):
        raise InputError(f"splits must come from NestedCV, got {splits.scheme}: draw them with NestedCV(5).freeze(X)")
    return compute_nested_cv([values.astype(np.float64) for values in rows], keys, n_folds, splits.n_rows, level)


def compute_nested_cv(
    losses: Sequence[FloatArray], keys: Sequence[tuple[int, int]], n_folds: int, n_rows: int, level: float
) -> Estimate:
    """Compute the nested cross-validation interval.

    `keys` contains the repeat and the fold of each split.
    """
    from scipy.special import ndtri

    K = n_folds
    by_key = dict(zip(keys, losses, strict=True))
    outer, inner, gaps = [], [], []
    for repeat in dict.fromkeys(repeat for repeat, _ in keys):
        for fold in range(K):
            first = K + fold * (K - 1)
            tested = by_key[repeat, fold]
            trained = np.concatenate([by_key[repeat, number] for number in range(first, first + K - 1)])
            gaps.append((trained.mean() - tested.mean()) ** 2 - tested.var(ddof=1) / len(tested))
            outer.append(tested)
            inner.append(trained)
    cv_error, all_inner = float(np.concatenate(outer).mean()), np.concatenate(inner)
    nested_error = float(all_inner.mean())
    lowest = float(all_inner.std(ddof=1)) / sqrt(n_rows)
    error = sqrt(max(0.0, (K - 1) / K * float(np.mean(gaps))))
    error = max(lowest, min(error, lowest * sqrt(K)))
    value = nested_error - (1 + (K - 2) / K) * (nested_error - cv_error)
    half_width = float(ndtri(0.5 + level / 2)) * error
    return Estimate("nested-cv", value, error, value - half_width, value + half_width)


def conservative_z_interval(scores: npt.ArrayLike, splits: Splits, *, level: float = 0.95) -> Estimate:
    """Compute the conservative z confidence interval for the mean score over random splits.

    The estimate is the mean over the splits of all rows. Its variance is estimated from the differences between disjoint halves
    of the rows. With half the rows, the variance is larger, so the interval is conservative (Nadeau & Bengio 2003). The scores
    can come from any measure.

    Parameters
    ----------
    scores : array-like of shape (n_splits,)
        Score of each split.
    splits : Splits
        Splits drawn by `PairedSubsampling`.
    level : float, default 0.95
        Confidence level.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> splits = PairedSubsampling(random_state=1).freeze(X)
    >>> scores = [GaussianNB().fit(X[train], y[train]).score(X[test], y[test]) for train, test in splits]
    >>> result = conservative_z_interval(scores, splits)
    >>> result.method, bool(0.8 < result.low < result.value < result.high)
    ('conservative-z', True)
    """
    check_between("level", level, 0, 1)
    values = check_finite("scores", check_column("scores", scores).astype(np.float64))
    if len(values) != len(splits):
        raise InputError(f"scores must have one value per split, got {len(values)} for {format_count(len(splits), 'split')}")
    n_folds = len({split.fold for split in splits})
    if n_folds < 3 or n_folds % 2 == 0 or any(split.fold >= n_folds for split in splits):
        raise InputError(f"splits must come from PairedSubsampling, got {splits.scheme}: use PairedSubsampling().freeze(X)")
    return compute_conservative_z(values, np.array([split.fold for split in splits]), level)


def compute_conservative_z(scores: FloatArray, folds: IntArray, level: float) -> Estimate:
    """Compute the conservative z interval.

    `folds` contains the fold of each split of `PairedSubsampling`.
    """
    from scipy.special import ndtri

    means = np.bincount(folds, scores) / np.bincount(folds)
    value, error = float(means[0]), sqrt(float(np.mean((means[1::2] - means[2::2]) ** 2)) / 2)
    half_width = float(ndtri(0.5 + level / 2)) * error
    return Estimate("conservative-z", value, error, value - half_width, value + half_width)
