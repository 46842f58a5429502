"""Nested resampling: settings are chosen on inner splits, and what was chosen is judged on outer ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import check_generator
from fairtrial.errors import InputError, LearnerError
from fairtrial.resampling.splits import Split, Splits, count_rows
from fairtrial.resampling.splitter import Seed, Splitter
from fairtrial.resampling.splitters import KFold, StratifiedKFold

if TYPE_CHECKING:
    import pandas as pd

Grid = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]


@dataclass(frozen=True, eq=False)
class OuterFold:
    """One outer split: what was chosen on its training part, how well it did there, and how well on its test part."""

    repeat: int
    fold: int
    n_train: int
    n_test: int
    best_params: Mapping[str, Any]
    inner_score: float
    outer_score: float


@dataclass(frozen=True, eq=False)
class Nested:
    """What choosing and judging apart gave: `estimate` is the mean outer score, `optimism` what inner scores promised beyond.

    `standard_error` is Nadeau & Bengio's (2003), which allows for training parts that share rows; it is still a rough guess.
    """

    folds: tuple[OuterFold, ...]
    scoring: str

    @cached_property
    def estimate(self) -> float:
        """The mean outer score."""
        return float(np.mean([fold.outer_score for fold in self.folds]))

    @cached_property
    def standard_error(self) -> float:
        """Of the estimate; NaN with one outer split."""
        if len(self.folds) < 2:
            return float("nan")
        ratio = np.mean([fold.n_test / fold.n_train for fold in self.folds])
        spread = np.var([fold.outer_score for fold in self.folds], ddof=1)
        return float(np.sqrt((1 / len(self.folds) + ratio) * spread))

    @cached_property
    def optimism(self) -> float:
        """Mean inner score of what was chosen less mean outer score."""
        return float(np.mean([fold.inner_score for fold in self.folds])) - self.estimate

    @property
    def caveats(self) -> tuple[str, ...]:
        """What the reader must know."""
        caveats = [
            "The estimate is for the whole procedure, choosing included, and not for any one setting; "
            "for a learner to keep, choose once more on all rows."
        ]
        settings = len({repr(sorted(fold.best_params.items())) for fold in self.folds})
        if settings > 1:
            caveats.append(
                f"The {len(self.folds)} outer splits chose {settings} different settings: the choice depends on the rows."
            )
        if self.optimism > 0:
            caveats.append(f"The inner scores of what was chosen are higher by {self.optimism:.4f}: do not report them.")
        return tuple(caveats)

    def frame(self) -> pd.DataFrame:
        """A line for each outer split, with a column for each parameter."""
        import pandas as pd

        scores = ("repeat", "fold", "n_train", "n_test", "inner_score", "outer_score")
        return pd.DataFrame([{**{field: getattr(fold, field) for field in scores}, **fold.best_params} for fold in self.folds])

    def __str__(self) -> str:
        error_text = f"standard error about {self.standard_error:.4f}" if len(self.folds) > 1 else "standard error unknown"
        first = f"{self.scoring} {self.estimate:.4f}, {error_text}, outer splits: {len(self.folds)}"
        lines = [
            f"  repeat {fold.repeat} fold {fold.fold}: inner {fold.inner_score:.4f}, outer {fold.outer_score:.4f}, "
            + ", ".join(f"{name}={value!r}" for name, value in fold.best_params.items())
            for fold in self.folds
        ]
        return "\n".join([first, *lines, *self.caveats])

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


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
    """Choose settings from `grid` on inner splits of each outer training part, then judge the choice on the outer test part.

    `inner` and `outer` are splitters, or anything that scikit-learn takes as `cv=` and that can split; five folds if left out,
    stratified for classifiers. `scoring` is a name or a scorer as in scikit-learn, more being better. `random_state` seeds
    those splitters of this package that have no seed of their own. The result equals scikit-learn's `cross_val_score` of a
    `GridSearchCV` on the same splits.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> found = nested(KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]}, X, y, random_state=1)
    >>> len(found.folds), bool(0.9 < found.estimate < 1)
    (5, True)
    """
    inner, outer = (_check_splitter(name, cv, learner) for name, cv in (("inner", inner), ("outer", outer)))
    rng = check_generator("random_state", random_state)
    splits = _freeze_splits(outer, X, y, groups, rng)
    folds = tuple(_run_outer_fold(learner, grid, (X, y, groups), split, inner, scoring, n_jobs, rng) for split in splits)
    return Nested(folds, _get_scoring_name(learner, scoring))


def _check_splitter(name: str, cv: Any, learner: Any) -> Any:
    from sklearn.base import is_classifier

    if cv is None:
        return StratifiedKFold(5) if is_classifier(learner) else KFold(5)
    if not callable(getattr(cv, "split", None)) or isinstance(cv, str):
        raise InputError(f"{name} must be a splitter, got {cv!r}: pass StratifiedKFold(5), say")
    if name == "inner" and isinstance(cv, Splits):
        raise InputError("inner must be a splitter, got decided splits: each outer split has other rows to choose on")
    return cv


def _freeze_splits(cv: Any, X: Any, y: Any, groups: Any, rng: np.random.Generator) -> Splits:
    if not isinstance(cv, Splitter):
        return cv if isinstance(cv, Splits) else Splits.from_pairs(cv.split(X, y, groups), count_rows(X))
    seed = rng.integers(2**63)
    return cv.freeze(X, y, groups, random_state=None if cv._has_seed else np.random.default_rng(seed))


def _run_outer_fold(
    learner: Any, grid: Grid, data: tuple[Any, Any, Any], split: Split, inner: Any, scoring: Any, n_jobs: Any, rng: Any
) -> OuterFold:
    from sklearn.model_selection import GridSearchCV
    from sklearn.utils import _safe_indexing

    train, test = ([None if array is None else _safe_indexing(array, rows) for array in data] for rows in split)
    splits = _freeze_splits(inner, train[0], train[1], train[2], rng)
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
