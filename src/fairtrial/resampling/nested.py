"""Nested resampling: settings are chosen on inner splits and evaluated on outer splits."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import check_column, check_generator, check_same_length
from fairtrial._findings import Finding
from fairtrial._narrative import render_all
from fairtrial._text import format_count, format_html_block
from fairtrial.errors import InputError, LearnerError
from fairtrial.resampling.grouped import GroupKFold, StratifiedGroupKFold
from fairtrial.resampling.splits import Split, Splits, count_rows
from fairtrial.resampling.splitter import Seed, Splitter, encode_groups
from fairtrial.resampling.splitters import KFold, StratifiedKFold

if TYPE_CHECKING:
    import pandas as pd

Grid = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]


@dataclass(frozen=True, eq=False)
class OuterFold:
    """The setting chosen in one outer split, with its inner and outer scores."""

    repeat: int
    fold: int
    n_train: int
    n_test: int
    best_params: Mapping[str, Any]
    inner_score: float
    outer_score: float


@dataclass(frozen=True, eq=False)
class Nested:
    """Result of nested resampling.

    Attributes
    ----------
    folds : tuple of OuterFold
        Chosen setting, inner score and outer score of each outer split.
    scoring : str
        Name of the score.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> result = nested(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, X, y, random_state=1)
    >>> result.frame().columns.tolist()
    ['repeat', 'fold', 'n_train', 'n_test', 'inner_score', 'outer_score', 'n_neighbors']
    """

    folds: tuple[OuterFold, ...]
    scoring: str

    @cached_property
    def estimate(self) -> float:
        """Return the mean outer score."""
        return float(np.mean([fold.outer_score for fold in self.folds]))

    @cached_property
    def standard_error(self) -> float:
        """Return the corrected standard error of Nadeau & Bengio (2003), which is an approximation.

        The standard error is NaN if there is only one outer split.
        """
        if len(self.folds) < 2:
            return float("nan")
        ratio = np.mean([fold.n_test / fold.n_train for fold in self.folds])
        spread = np.var([fold.outer_score for fold in self.folds], ddof=1)
        return float(np.sqrt((1 / len(self.folds) + ratio) * spread))

    @cached_property
    def optimism(self) -> float:
        """Return the mean inner score of the chosen settings minus the mean outer score."""
        return float(np.mean([fold.inner_score for fold in self.folds])) - self.estimate

    @property
    def caveats(self) -> tuple[str, ...]:
        """Return remarks on the interpretation of the estimate."""
        caveats = [Finding.of("procedure_estimate")]
        settings = len({repr(sorted(fold.best_params.items())) for fold in self.folds})
        if settings > 1:
            caveats.append(Finding.of("different_settings", splits=len(self.folds), settings=settings))
        if self.optimism > 0:
            caveats.append(Finding.of("optimistic_inner_scores", optimism=self.optimism))
        return render_all(caveats)

    def frame(self) -> pd.DataFrame:
        """Return a data frame with one row per outer split and one column per parameter."""
        import pandas as pd

        scores = ("repeat", "fold", "n_train", "n_test", "inner_score", "outer_score")
        return pd.DataFrame([{**{field: getattr(fold, field) for field in scores}, **fold.best_params} for fold in self.folds])

    def __str__(self) -> str:
        error_text = f"standard error {self.standard_error:.4f}" if len(self.folds) > 1 else "standard error unknown"
        first = f"{self.scoring} {self.estimate:.4f}, {error_text}, {format_count(len(self.folds), 'outer split')}"
        lines = [
            f"  repeat {fold.repeat} fold {fold.fold}: inner {fold.inner_score:.4f}, outer {fold.outer_score:.4f}, "
            + ", ".join(f"{name}={value!r}" for name, value in fold.best_params.items())
            for fold in self.folds
        ]
        return "\n".join([first, *lines, *self.caveats])

    def _repr_html_(self) -> str:
        return format_html_block(str(self))


def nested(
    learner: Any,
    grid: Grid,
    X: Any,
    y: Any,
    *,
    inner: Any = None,
    outer: Any = None,
    scoring: Any = None,
    groups: Any = None,
    n_jobs: int | None = None,
    random_state: Seed = None,
) -> Nested:
    """Choose settings on inner splits and evaluate the choice on outer splits.

    The scores are the same as those of scikit-learn's `cross_val_score` for a `GridSearchCV` on the same splits.

    Parameters
    ----------
    learner : estimator
        A scikit-learn estimator.
    grid : mapping of str to list, or list of such mappings
        Parameter values to search, as in `GridSearchCV`.
    X, y : array-like
        Data.
    inner, outer : splitter, optional
        Splitters of this package or of scikit-learn. By default, there are five folds. The folds are stratified for
        classifiers, and they keep groups together if `groups` are given.
    scoring : str or callable, optional
        A scikit-learn scorer. Higher scores must be better.
    groups : array-like of shape (n,), optional
        Group of each row. No group may be in both the training and the test set of an inner or outer split.
    n_jobs : int, optional
        Number of parallel jobs of the search.
    random_state : int, Generator, SeedSequence or RandomState, optional
        Seed for splitters of this package that do not have their own seed.

    Returns
    -------
    Nested

    Raises
    ------
    InputError
        If `groups` are given and a group is in both the training and the test set of a split.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> result = nested(KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]}, X, y, random_state=1)
    >>> len(result.folds), bool(0.9 < result.estimate < 1)
    (5, True)
    """
    grouped = groups is not None
    inner, outer = (_check_splitter(name, cv, learner, grouped) for name, cv in (("inner", inner), ("outer", outer)))
    groups = check_column("groups", groups) if grouped else None
    if grouped:
        check_same_length(X=np.empty(count_rows(X)), groups=groups)
    rng = check_generator("random_state", random_state)
    splits = _freeze_splits("outer", outer, X, y, groups, rng)
    folds = tuple(_run_outer_fold(learner, grid, (X, y, groups), split, inner, scoring, n_jobs, rng) for split in splits)
    return Nested(folds, _get_scoring_name(learner, scoring))


def _check_splitter(name: str, cv: Any, learner: Any, grouped: bool) -> Any:
    from sklearn.base import is_classifier

    if cv is None and grouped:
        return StratifiedGroupKFold(5) if is_classifier(learner) else GroupKFold(5)
    if cv is None:
        return StratifiedKFold(5) if is_classifier(learner) else KFold(5)
    if not callable(getattr(cv, "split", None)) or isinstance(cv, str):
        raise InputError(f"{name} must be a splitter, got {cv!r}: pass e.g. StratifiedKFold(5)")
    if name == "inner" and isinstance(cv, Splits):
        raise InputError("inner must be a splitter, got frozen splits: each outer training set has different rows")
    return cv


def _freeze_splits(name: str, cv: Any, X: Any, y: Any, groups: Any, rng: np.random.Generator) -> Splits:
    if isinstance(cv, Splitter):
        seed = rng.integers(2**63)
        splits = cv.freeze(X, y, groups, random_state=None if cv._has_seed else np.random.default_rng(seed))
    else:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)  # groups are checked below
            splits = cv if isinstance(cv, Splits) else Splits.from_pairs(cv.split(X, y, groups), count_rows(X))
    if groups is not None:
        _check_whole_groups(name, cv, splits, groups)
    return splits


def _check_whole_groups(name: str, cv: Any, splits: Splits, groups: npt.NDArray[Any]) -> None:
    """Raise InputError if a group is in both the training and the test set of a split."""
    codes = encode_groups(groups)
    for split in splits:
        shared = np.isin(codes[split.test], codes[split.train])
        if shared.any():
            group = groups[split.test][shared].tolist()[0]
            raise InputError(
                f"{name} must keep groups together, got {cv!r}, which puts rows of {group!r} into both sets of a split: "
                "pass GroupKFold(5), or omit groups"
            )


def _run_outer_fold(
    learner: Any, grid: Grid, data: tuple[Any, Any, Any], split: Split, inner: Any, scoring: Any, n_jobs: Any, rng: Any
) -> OuterFold:
    from sklearn.model_selection import GridSearchCV
    from sklearn.utils import _safe_indexing

    train, test = ([None if array is None else _safe_indexing(array, rows) for array in data] for rows in split)
    splits = _freeze_splits("inner", inner, train[0], train[1], train[2], rng)
    search = GridSearchCV(learner, grid, scoring=scoring, cv=splits, n_jobs=n_jobs, error_score="raise")
    try:
        search.fit(*train[:2])
        score = search.score(*test[:2])
    except InputError:
        raise
    except Exception as failure:
        location = f"outer split {split.fold} of repeat {split.repeat}"
        raise LearnerError(f"{type(learner).__name__} failed in {location} ({failure})") from failure
    sizes = (len(split.train), len(split.test))
    return OuterFold(split.repeat, split.fold, *sizes, search.best_params_, float(search.best_score_), float(score))


def _get_scoring_name(learner: Any, scoring: Any) -> str:
    from sklearn.base import is_classifier, is_regressor

    if isinstance(scoring, str):
        return scoring
    if scoring is None:
        return "accuracy" if is_classifier(learner) else "R2" if is_regressor(learner) else "score"
    return str(getattr(scoring, "__name__", type(scoring).__name__))
