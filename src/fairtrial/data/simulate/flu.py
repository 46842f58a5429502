"""The flu domain: patients with the flu, who recover normally or with complications, in changing populations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from fairtrial._check import FloatArray, IntArray, one_of
from fairtrial._registry import did_you_mean
from fairtrial.data.simulate import flu_domain as domain
from fairtrial.data.simulate.flu_domain import GROUPS, POPULATIONS, STARTS, Definition, FluPopulation
from fairtrial.data.simulate.population import BestError, Population
from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

_LEVELS = {"severity": domain.SEVERITY, "health": domain.HEALTH, "social": domain.SOCIAL}
Coding = Literal["categories", "groups", "numbers"]
# The training sets of the tutorial that lack one or two groups.
_LACKING = (
    *((group,) for group in GROUPS),
    ("OldAdult", "Elderly"),
    ("Infant", "Teenager"),
    ("Infant", "Elderly"),
    ("Teenager", "OldAdult"),
)


@dataclass(frozen=True)
class Flu(Population):
    """Age, severity of the symptoms, general health and social position of flu patients; the class is the outcome.

    A reconstruction of the simulated domain in the tutorial's drift study: it gives the probabilities in pictures only, so that
    the numbers are ours (see `flu_domain`), while the structure and the direction of all changes are the tutorial's.

    - `population`: "NGP" (negative growth, the usual one), "DP" (developing), "ZGP" (zero growth), "W", "SW", "DW" (winter,
      soft winter, drastic winter), "P" (poorer), "P+DW"; or a `FluPopulation` of your own.
    - `missing`: groups of ages that are not there: Infant, Teenager, YoungAdult, Adult, OldAdult, Elderly.
    - `definition`: "usual", "MC" (more complications) or "FC" (fewer): the same patients, another class.
    - `coding`: "categories" (age in years, the other attributes as names), "groups" (age as the name of its group too, as the
      tutorial lists the values), or "numbers" (age in years, the others from 1, light, good, rich, to 3).

    >>> X, y = Flu("DP", missing=["Elderly"]).sample(3, rng=1)
    >>> X.columns.tolist(), bool((X["age"] < 65).all()), y.cat.categories.tolist()
    (['age', 'severity', 'health', 'social'], True, ['NormalRemission', 'Complications'])
    >>> Flu("NGP").class_shares()["Complications"]
    0.360
    """

    name: ClassVar[str] = "flu"

    population: str | FluPopulation = "NGP"
    missing: Sequence[str] = ()
    definition: Definition = "usual"
    coding: Coding = "categories"

    def __post_init__(self) -> None:
        if not isinstance(self.population, FluPopulation):
            _known("population", self.population, POPULATIONS)
        groups = (self.missing,) if isinstance(self.missing, str) else tuple(self.missing)
        for each in groups:
            _known("missing", each, GROUPS)
        object.__setattr__(self, "missing", tuple(sorted(set(groups), key=GROUPS.index)))
        one_of("definition", self.definition, ["usual", "MC", "FC"])
        one_of("coding", self.coding, ["categories", "groups", "numbers"])
        if not self._ages.any():
            raise InputError(f"missing must leave some of the patients, got {list(groups)}")

    @property
    def classes(self) -> tuple[str, ...]:
        """The outcomes."""
        return ("NormalRemission", "Complications")

    @property
    def _people(self) -> FluPopulation:
        return self.population if isinstance(self.population, FluPopulation) else POPULATIONS[self.population]

    @property
    def _ages(self) -> FloatArray:
        """Shares of the groups that are there."""
        shares = np.where([group in self.missing for group in GROUPS], 0.0, self._people.ages)
        return shares / shares.sum() if shares.any() else shares

    def _draw(self, n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, IntArray]:
        people = self._people
        age = _ages_at(rng.choice(6, size=n, p=self._ages), rng.random(n))
        social, severity = (
            domain.level(rng.normal(mean, domain.VARIANCE**0.5, n)) for mean in (people.social, people.severity)
        )
        is_delicate = (rng.random(n) < domain.delicate(age)).astype(np.float64)
        mean = domain.health_mean(is_delicate, social, people.decline)
        health = domain.level(rng.normal(mean, domain.HEALTH_VARIANCE**0.5))
        complications = rng.random(n) >= domain.remission(age, severity, health, social, self.definition)
        return self._table(age, {"severity": severity, "health": health, "social": social}), complications.astype(np.intp)

    def _table(self, age: FloatArray, levels: dict[str, IntArray]) -> pd.DataFrame:
        import pandas as pd

        columns: dict[str, Any] = {"age": age}
        if self.coding == "groups":
            columns["age"] = pd.Categorical.from_codes(_group_of(age), categories=pd.Index(GROUPS), ordered=True)
        for name, codes in levels.items():
            named = pd.Categorical.from_codes(codes, categories=pd.Index(_LEVELS[name]), ordered=True)
            columns[name] = codes + 1.0 if self.coding == "numbers" else named
        return pd.DataFrame(columns)

    def _posterior(self, frame: pd.DataFrame) -> FloatArray:
        severity, health, social = (_codes(frame[_there(frame, name)], _LEVELS[name], (1, 2, 3)) for name in _LEVELS)
        if self.coding == "groups":
            normal = _grouped(self)[1][_codes(frame[_there(frame, "age")], GROUPS, ()), severity, health, social]
        else:
            age = frame[_there(frame, "age")].to_numpy(dtype=np.float64)
            normal = domain.remission(age, severity, health, social, self.definition)
        return np.column_stack([normal, 1 - normal])

    def best_error(self) -> BestError:
        """The smallest error that any rule can have: a sum over all levels and an integral over age."""
        mass, normal = _grouped(self) if self.coding == "groups" else _joint(self)
        return BestError(float((mass * np.minimum(normal, 1 - normal)).sum()), 1e-5, "numerical integration")

    def class_shares(self) -> dict[str, float]:
        """The true share of each class."""
        mass, normal = _joint(self)
        share = float((mass * normal).sum())
        return dict(zip(self.classes, (share, 1 - share), strict=True))


def flu_environments(
    kind: Literal["populations", "missing", "definitions"] = "populations",
    *,
    coding: Coding = "categories",
) -> dict[str, Flu]:
    """The environments of the tutorial's three experiments, by name; the usual population, "NGP", comes first.

    "populations": all eight. "missing": each of the six groups of ages left out, and the four pairs that the tutorial lists.
    "definitions": more and fewer complications.

    >>> list(flu_environments())
    ['NGP', 'DP', 'ZGP', 'W', 'SW', 'DW', 'P', 'P+DW']
    >>> list(flu_environments("definitions"))
    ['NGP', 'MC', 'FC']
    """
    one_of("kind", kind, ["populations", "missing", "definitions"])
    if kind == "populations":
        return {name: Flu(name, coding=coding) for name in POPULATIONS}
    usual = {"NGP": Flu(coding=coding)}
    if kind == "missing":
        return usual | {"no " + " or ".join(groups): Flu(missing=groups, coding=coding) for groups in _LACKING}
    return usual | {"MC": Flu(definition="MC", coding=coding), "FC": Flu(definition="FC", coding=coding)}


def age_group(age: Any) -> Any:
    """The group of ages that years belong to.

    >>> age_group([3, 19.5, 20, 80]).tolist()
    ['Infant', 'Teenager', 'YoungAdult', 'Elderly']
    """
    return np.array(GROUPS, dtype=object)[_group_of(np.asarray(age))]


def _group_of(age: FloatArray) -> IntArray:
    return np.searchsorted(STARTS, age, side="right") - 1


def _ages_at(group: IntArray, quantile: FloatArray) -> FloatArray:
    """The age at this quantile of a group: uniform, but for the elderly exponential."""
    starts = np.array(STARTS)
    width = np.append(np.diff(starts), 0.0)
    elderly = starts[-1] - domain.ELDERLY_MEAN * np.log1p(-quantile)
    return np.asarray(np.where(group == 5, elderly, starts[group] + quantile * width[group]))


@cache
def _joint(flu: Flu, points: int = 500) -> tuple[FloatArray, FloatArray]:
    """Probability mass and probability of normal remission over age, severity, health and social position."""
    people, levels = flu._people, np.arange(3)
    age = np.concatenate([_ages_at(np.full(points, group), (np.arange(points) + 0.5) / points) for group in range(6)])
    weak = domain.delicate(age)[:, None, None]
    health = [
        _level_shares(domain.health_mean(np.array(d), levels, people.decline), domain.HEALTH_VARIANCE) for d in (0.0, 1.0)
    ]
    social, severity = (_level_shares(np.array(mean), domain.VARIANCE) for mean in (people.social, people.severity))
    mass = np.einsum(
        "a,v,s,ash->avhs", np.repeat(flu._ages / points, points), severity, social, (1 - weak) * health[0] + weak * health[1]
    )
    normal = domain.remission(age[:, None, None, None], levels[:, None, None], levels[:, None], levels, flu.definition)
    return mass, normal


@cache
def _grouped(flu: Flu) -> tuple[FloatArray, FloatArray]:
    """The same with age known by its group only: where a group is missing, its remission counts every age alike."""
    mass, normal = _joint(flu)
    by_group = (len(GROUPS), -1, *mass.shape[1:])
    mass, normal = mass.reshape(by_group), normal.reshape(by_group)
    total = mass.sum(axis=1)
    share = np.divide((mass * normal).sum(axis=1), total, out=normal.mean(axis=1), where=total > 0)
    return total, share


def _level_shares(mean: FloatArray, variance: float) -> FloatArray:
    """Shares of the three levels of a normal variable, rounded and cut off at both ends; the levels are the last axis."""
    from scipy.special import ndtr

    below, upper = ndtr((1.5 - mean) / variance**0.5), ndtr((2.5 - mean) / variance**0.5)
    return np.stack([below, upper - below, 1 - upper], axis=-1)


def _known(name: str, value: object, options: Any) -> None:
    if value not in options:
        raise InputError(f"{name} must be one of {list(options)}, got {value!r}: {did_you_mean(value, options)}")


def _there(frame: pd.DataFrame, name: str) -> str:
    if name not in frame:
        raise InputError(f"X must have the column {name!r}, got {list(map(str, frame.columns))}")
    return name


def _codes(column: pd.Series[Any], names: Sequence[str], numbers: Sequence[int]) -> IntArray:
    """Places of a column of names, or of the numbers that stand for them."""
    places = {each: code for listed in (names, numbers) for code, each in enumerate(listed)}
    codes = column.astype(object).map(places)
    if codes.isna().any():
        told = f" or {list(numbers)}" if numbers else ""
        raise InputError(f"column {str(column.name)!r} must hold {list(names)}{told}, got {column[codes.isna()].iloc[0]!r}")
    return np.asarray(codes, dtype=np.intp)
