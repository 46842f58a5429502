"""Bootstrap splits: training rows are drawn with replacement, and the others are tested."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fairtrial._check import IntArray, check_whole_number
from fairtrial.errors import InputError
from fairtrial.resampling.splits import Split
from fairtrial.resampling.splitter import Seed, Splitter, SplitterInput, scheme
from fairtrial.resampling.splitters import number_by_appearance


@scheme("bootstrap", cite="Efron & Tibshirani 1997")
class Bootstrap(Splitter):
    """Bootstrap samples as training sets, with the rows not drawn (about 36.8 %) as test sets.

    Each sample counts as one repeat. A sample that contains all rows is drawn again. The mean error over these splits is
    pessimistic, because a training set contains only about 63.2 % of the rows. `estimate` corrects this bias.

    Parameters
    ----------
    n_splits : int, default 200
        Number of bootstrap samples.
    stratify : bool, default False
        Whether to draw rows within each class, so that each training set contains all classes.
    random_state : int, Generator, SeedSequence or RandomState, optional
        Seed. An integer makes the splits reproducible. Default: a random seed.

    Examples
    --------
    >>> train, test = next(Bootstrap(200, random_state=1).split(range(6)))
    >>> len(train), sorted(set(train.tolist())), test.tolist()
    (6, [0, 2, 3, 4, 5], [1])
    """

    def __init__(self, n_splits: int = 200, *, stratify: bool = False, random_state: Seed = None) -> None:
        self.n_splits = check_whole_number("n_splits", n_splits, 1)
        self.stratify = stratify
        self.random_state = random_state
        self._uses_classes = stratify

    def _iter_splits(self, rows: SplitterInput, rng: np.random.Generator) -> Iterator[Split]:
        y = (
            number_by_appearance(rows.require_classes("Bootstrap(stratify=True)"))
            if self.stratify
            else np.zeros(rows.n, dtype=np.intp)
        )
        if np.bincount(y).max() < 2:
            raise InputError("X must have at least 2 rows" + (" of one class" if self.stratify else "") + " to leave one out")
        strata = np.split(np.argsort(y, kind="stable"), np.cumsum(np.bincount(y))[:-1])
        for repeat in range(self.n_splits):
            yield _draw_bootstrap(rows.n, strata, rng, repeat)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of bootstrap samples.

        Parameters
        ----------
        X, y, groups : object, optional
            Ignored.

        Returns
        -------
        int
        """
        return self.n_splits


def _draw_bootstrap(n: int, strata: list[IntArray], rng: np.random.Generator, repeat: int) -> Split:
    while True:
        train = np.sort(np.concatenate([rng.choice(members, len(members)) for members in strata]))
        unseen = np.ones(n, dtype=bool)
        unseen[train] = False
        if unseen.any():
            return Split(train, np.flatnonzero(unseen), repeat)
