"""Adapters for splitters of scikit-learn and of compatible packages."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np

from fairtrial._registry import suggest_name
from fairtrial.errors import InputError
from fairtrial.resampling.splits import Split
from fairtrial.resampling.splitter import Splitter, SplitterInput

_SEED_SPAN = 2**32


class ScikitLearnSplitter(Splitter):
    """Adapter that turns a scikit-learn splitter into a splitter of this package.

    The scikit-learn splitter receives the groups if it can use them. If the times of the rows are given, it receives the rows
    in order of time. The exception is `PredefinedSplit`, because its folds refer to the original order. The `random_state` of
    the scikit-learn splitter must be None. Pass the seed to `freeze` instead. If the splitter has no `n_repeats` and its test
    sets overlap, each split counts as a separate repeat.

    Parameters
    ----------
    splitter : scikit-learn splitter
        Object with `split` and `get_n_splits`.

    Examples
    --------
    >>> from sklearn.model_selection import GroupShuffleSplit
    >>> patient = ["ann", "ann", "bob", "bob", "cid", "cid"]
    >>> splits = ScikitLearnSplitter(GroupShuffleSplit(2, test_size=1)).freeze(patient, None, patient, random_state=1)
    >>> [len(test) for _, test in splits]
    [2, 2]
    """

    _uses_classes = True

    def __init__(self, splitter: Any) -> None:
        if isinstance(splitter, type) or not all(callable(getattr(splitter, name, None)) for name in ("split", "get_n_splits")):
            raise InputError(f"splitter must be an object with split and get_n_splits, got {splitter!r}: pass e.g. KFold(5)")
        if isinstance(splitter, Splitter):
            raise InputError(f"splitter must be a splitter of scikit-learn, got {splitter!r}: use it directly")
        if getattr(splitter, "random_state", None) is not None:
            raise InputError(
                f"random_state of the splitter must be None, got {splitter!r}: pass random_state to freeze() instead"
            )
        self.splitter = splitter
        self._uses_groups = _needs_groups(splitter)
        self._uses_time = _needs_time(splitter)
        self._is_random = hasattr(splitter, "random_state") and bool(getattr(splitter, "shuffle", True))

    def _iter_splits(self, rows: SplitterInput, rng: np.random.Generator) -> Iterator[Split]:
        from sklearn.model_selection import PredefinedSplit
        from sklearn.utils import _safe_indexing

        name = type(self.splitter).__name__
        if self._uses_groups:
            rows.require_groups(name)
        if self._uses_time:
            rows.require_time(name)
        order, X = np.arange(rows.n), rows.X
        if rows.time is not None and not isinstance(self.splitter, PredefinedSplit):
            order = np.argsort(rows.time, kind="stable")
            X = _safe_indexing(X, order)
        y, groups = (None if codes is None else codes[order] for codes in (rows.y, rows.groups))
        if not self._uses_groups and type(self.splitter).__module__.startswith("sklearn."):
            groups = None  # scikit-learn warns if it ignores them
        splitter = copy.deepcopy(self.splitter)
        if self._is_random:
            splitter.random_state = int(rng.integers(_SEED_SPAN))
        try:
            pairs = [(np.sort(order[train]), np.sort(order[test])) for train, test in splitter.split(X, y, groups)]
        except (TypeError, ValueError, IndexError) as error:
            raise InputError(f"{name} cannot split these rows: {error}") from None
        for (train, test), (repeat, fold) in zip(pairs, self._number_splits(pairs), strict=True):
            yield Split(train, test, repeat, fold)

    def _number_splits(self, pairs: list[tuple[Any, Any]]) -> list[tuple[int, int]]:
        """Number splits by repeat and fold.

        If test sets overlap within the only repeat, each split becomes a repeat.
        """
        repeats = getattr(self.splitter, "n_repeats", 1)
        folds = len(pairs) // repeats if len(pairs) % repeats == 0 else len(pairs)
        numbers = [divmod(index, folds) for index in range(len(pairs))]
        tested = np.concatenate([np.unique(test) for _, test in pairs]) if pairs else np.zeros(0)
        overlapping = repeats == 1 and len(np.unique(tested)) < len(tested)
        return [(index, 0) for index in range(len(pairs))] if overlapping else numbers

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X, y, groups : object, optional
            Data, passed to the scikit-learn splitter.

        Returns
        -------
        int
        """
        try:
            return int(self.splitter.get_n_splits(X, y, groups))
        except (TypeError, ValueError) as error:
            raise InputError(f"{type(self.splitter).__name__} cannot split these rows: {error}") from None


def _needs_groups(splitter: Any) -> bool:
    """Return whether the scikit-learn metadata routing of a splitter requests groups."""
    request = getattr(splitter, "get_metadata_routing", None)
    return request is not None and request().split.requests.get("groups") is True


def _needs_time(splitter: Any) -> bool:
    """Return whether a splitter needs rows in order of time."""
    from sklearn.model_selection import TimeSeriesSplit

    return isinstance(splitter, TimeSeriesSplit)


def list_parameters(kind: type[Any]) -> list[str]:
    """List the parameters of a splitter class.

    >>> from sklearn.model_selection import RepeatedKFold
    >>> list_parameters(RepeatedKFold)
    ['n_splits', 'n_repeats', 'random_state']
    """
    parameters = inspect.signature(kind).parameters.values()
    return [
        parameter.name for parameter in parameters if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]


def get_parameters(splitter: Any) -> dict[str, Any]:
    """Return the parameters of a splitter that differ from their defaults.

    >>> from sklearn.model_selection import RepeatedKFold
    >>> get_parameters(RepeatedKFold(n_splits=3))
    {'n_splits': 3}
    """
    values = {**getattr(splitter, "cvargs", {}), **vars(splitter)}
    parameters = inspect.signature(type(splitter)).parameters
    return {
        name: values[name]
        for name in list_parameters(type(splitter))
        if name in values and not (values[name] is parameters[name].default or values[name] == parameters[name].default)
    }


def build_splitter(kind: type[Any], path: str, parameters: dict[str, Any]) -> Splitter:
    """Build a splitter from its class and parameters, and check the parameters.

    >>> from sklearn.model_selection import KFold
    >>> build_splitter(KFold, "sklearn.model_selection.KFold", {"n_splits": 3})
    ScikitLearnSplitter(splitter=KFold(n_splits=3, random_state=None, shuffle=False))
    """
    accepted = [name for name in list_parameters(kind) if name != "random_state"]
    for name in parameters:
        if name == "random_state":
            raise InputError(f"{path} must have no parameter 'random_state': the seed of the study determines the splits")
        if name not in accepted:
            hint = suggest_name(name, accepted) if accepted else "it has no parameters"
            raise InputError(f"{path} has no parameter {name!r}: {hint}")
    try:
        splitter = kind(**parameters)
    except (TypeError, ValueError) as error:
        raise InputError(f"{path} cannot be created with these parameters: {error}") from None
    return splitter if isinstance(splitter, Splitter) else ScikitLearnSplitter(splitter)
