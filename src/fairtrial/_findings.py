"""Typed records in verdicts, judgements and checks. `_narrative` renders them as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class Finding:
    """A finding of a given kind, with the values that its text contains.

    `kind` names a template in `_narrative.TEMPLATES`. Values are names, numbers, or tuples of names or numbers, never
    sentences.

    >>> finding = Finding.of("few_rows", rows=12, needed=30)
    >>> finding.kind, finding["rows"]
    ('few_rows', 12)
    """

    kind: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", MappingProxyType(dict(self.values)))

    def __hash__(self) -> int:
        return hash((self.kind, tuple(sorted((name, str(value)) for name, value in self.values.items()))))

    def __reduce__(self) -> Any:
        return type(self), (self.kind, dict(self.values))

    @classmethod
    def of(cls, kind: str, **values: Any) -> Finding:
        """Build a finding from its kind and values."""
        return cls(kind, values)

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)


@dataclass(frozen=True)
class PairDifference:
    """The comparison that decides whether two learners or models differ significantly.

    `better` is the name of the learner or model that ranks higher. `difference` is the value of the measure for `better` minus
    the value for `other`. `low` and `high` are the confidence limits of the difference, or NaN if there is no interval.
    `p_adjusted` is the p-value, adjusted for all comparisons of the ranking. If `p_is_bound` is true, `p_adjusted` is an upper
    bound, because the p-value is the smallest that resampling can yield.
    """

    better: str
    other: str
    p_adjusted: float
    difference: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    p_is_bound: bool = False
    is_reversed: bool = False
    """Whether this comparison favours `other`. The comparison may cover fewer rows than the ranking."""
    is_simultaneous: bool = False
    """Whether `low` and `high` are simultaneous confidence limits for all comparisons of the ranking."""


@dataclass(frozen=True)
class Ranking:
    """The answer of a verdict or a judgement: ranked learners and their pairwise comparisons.

    `names` lists learners or models from best to worst. `values` contains the value of `criterion` (e.g. "mean rank" or "AUC")
    for each name. If `criterion` is empty, only the order of two names is known. `measure` names the measure whose values are
    compared in `pairs`. `measure` is empty if the differences have no unit. `tests` contains the display names of the tests.
    """

    names: tuple[str, ...]
    values: tuple[float, ...]
    criterion: str
    pairs: tuple[PairDifference, ...]
    alpha: float = 0.05
    control: str | None = None
    measure: str = ""
    tests: tuple[str, ...] = ()
    adjustment: str = ""
    n: int = 0
    unit: str = "data set"
    scope: str = ""
    """What the ranking is limited to, e.g. "on iris" or "under class noise"."""
    lower_is_better: bool = False
    interval: tuple[float, float] | None = None
    level: float = 0.95
    chance: float | None = None
    undecidable: Finding | None = None
    """Why no pair can be decided, e.g. because there are too few data sets. None if a decision is possible."""
    clusters: int = 0
    """Number of clusters of dependent rows, e.g. patients, or 0 if rows are independent."""
    cluster: str = ""
    """Column that identifies the clusters."""
    predictions_per_row: tuple[int, int] = (1, 1)
    """Smallest and largest numbers of predictions that a model makes for the same row."""
    if_independent: bool = False
    """Whether significant differences are valid only if rows are independent, which is doubtful."""

    kind = "ranking"

    @cached_property
    def best(self) -> tuple[str, ...]:
        """All names that share the best value."""
        return tuple(name for name, value in zip(self.names, self.values, strict=True) if value == self.values[0])

    def find_pair(self, first: str, second: str) -> PairDifference | None:
        """Find the comparison of two names, which may be given in either order."""
        return self._pairs_by_names.get(frozenset((first, second)))

    @cached_property
    def _pairs_by_names(self) -> dict[frozenset[str], PairDifference]:
        # If two names are compared several times, the first comparison is used.
        return {frozenset((pair.better, pair.other)): pair for pair in reversed(self.pairs)}

    def is_significant(self, pair: PairDifference) -> bool:
        """Return whether the adjusted p-value of a pair is at most alpha."""
        return pair.p_adjusted <= self.alpha

    @cached_property
    def significant_pairs(self) -> tuple[PairDifference, ...]:
        """The pairs that differ significantly."""
        return tuple(pair for pair in self.pairs if self.is_significant(pair))

    @cached_property
    def worse(self) -> tuple[str, ...]:
        """The names that are significantly worse than the first."""
        return tuple(name for name in self.names[1:] if self._relation(name) == "worse")

    @cached_property
    def not_worse(self) -> tuple[str, ...]:
        """The names that are not significantly worse than the first, except names that share the best value."""
        return tuple(name for name in self.names[1:] if self._relation(name) == "not worse" and name not in self.best)

    @cached_property
    def undecided(self) -> tuple[str, ...]:
        """The names whose comparison with the first is missing or has no p-value."""
        return tuple(name for name in self.names[1:] if self._relation(name) == "undecided" and name not in self.best)

    def _relation(self, name: str) -> str:
        pair = self.find_pair(self.names[0], name)
        if pair is None or pair.p_adjusted != pair.p_adjusted or self.undecidable is not None:
            return "undecided"
        return "worse" if self.is_significant(pair) and not pair.is_reversed else "not worse"
