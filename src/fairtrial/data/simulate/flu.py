"""The flu domain: simulated flu patients who recover normally or develop complications, in changing populations.

Japkowicz's tutorial (after Alaiz-Rodriguez and Japkowicz 2008) states the attributes, the type of each distribution, and the
direction of every change. It shows the probabilities only in figures. The following details are from the tutorial. There are
six age groups. Ages are uniformly distributed in the first five groups and exponentially distributed in the last. Social
position and severity have normal distributions with mean 2 and variance 0.75. The hidden condition "delicate" is more frequent
in older patients. Delicate patients and poor patients have worse health than others. Infants, the elderly, and patients with
strong symptoms or poor health have more complications than others. All other values in this module were chosen to match the
tutorial approximately. The class proportions, the Bayes errors and the errors of a one-attribute rule in the eight populations
are close to those in the tutorial.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from fairtrial._check import FloatArray, IntArray, check_at_least, check_finite, check_number, check_numbers, check_one_of
from fairtrial._text import join_names
from fairtrial.data.simulate.population import BestError, Population
from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

GROUPS = ("Infant", "Teenager", "YoungAdult", "Adult", "OldAdult", "Elderly")


STARTS = (0.0, 6.0, 20.0, 35.0, 50.0, 65.0)


SEVERITY = ("Light", "Medium", "Strong")


HEALTH = ("Good", "Medium", "Poor")


SOCIAL = ("Rich", "MiddleClass", "Poor")


ELDERLY_MEAN = 10.0


VARIANCE = 0.75


HEALTH_VARIANCE = 0.25


Definition = Literal["usual", "MC", "FC"]


@dataclass(frozen=True)
class FluPopulation:
    """A population of flu patients.

    Attributes
    ----------
    ages : tuple of 6 floats
        Proportions of the six age groups.
    social : float, default 2
        Mean of social position, from 1 (rich) to 3 (poor).
    severity : float, default 2
        Mean of the severity of symptoms, from 1 (light) to 3 (strong).
    decline : float, default 0
        Amount to add to the mean of general health. General health ranges from 1 (good) to 3 (poor).

    Examples
    --------
    >>> Flu(FluPopulation((0.1, 0.1, 0.2, 0.2, 0.2, 0.2))).sample(5, rng=1)[0].shape
    (5, 4)
    """

    ages: tuple[float, ...]
    social: float = 2.0
    severity: float = 2.0
    decline: float = 0.0

    def __post_init__(self) -> None:
        proportions = check_finite("ages", np.atleast_1d(check_numbers("ages", self.ages)))
        if proportions.shape != (6,) or (proportions < 0).any() or abs(proportions.sum() - 1) > 1e-9:
            raise InputError(
                f"ages must be 6 proportions that sum to 1, one for each age group ({join_names(GROUPS, None)}), "
                f"got {self.ages!r}"
            )
        for name in ("social", "severity"):
            check_number(name, getattr(self, name))
        check_at_least("decline", self.decline, 0)


_NEGATIVE_GROWTH = (0.04, 0.13, 0.28, 0.31, 0.10, 0.14)


POPULATIONS: Mapping[str, FluPopulation] = MappingProxyType(
    {
        "NGP": FluPopulation(_NEGATIVE_GROWTH),
        "DP": FluPopulation((0.25, 0.26, 0.21, 0.15, 0.11, 0.02)),
        "ZGP": FluPopulation((0.15, 0.14, 0.20, 0.18, 0.20, 0.13)),
        "W": FluPopulation(_NEGATIVE_GROWTH, severity=2.4),
        "SW": FluPopulation(_NEGATIVE_GROWTH, severity=1.5),
        "DW": FluPopulation(_NEGATIVE_GROWTH, severity=2.5, decline=0.17),
        "P": FluPopulation(_NEGATIVE_GROWTH, social=2.7),
        "P+DW": FluPopulation(_NEGATIVE_GROWTH, social=2.7, severity=2.5, decline=0.17),
    }
)


def compute_delicate_probability(age: FloatArray) -> FloatArray:
    """Compute the probability that a patient of the given age is delicate."""
    return np.minimum(0.07 + 0.009 * age, 0.95)


def compute_health_mean(is_delicate: FloatArray, social: IntArray, decline: float) -> FloatArray:
    """Compute the mean of general health, from 1 (good) to 3 (poor).

    Social position is coded from 0 (rich) to 2 (poor).
    """
    return np.asarray(1.57 + 0.7 * is_delicate + 0.25 * (social - 1) + decline)


def round_to_level(value: FloatArray) -> IntArray:
    """Round values to 1, 2 or 3, and return them as levels 0, 1 or 2."""
    return np.asarray(np.clip(np.rint(value) - 1, 0, 2), dtype=np.intp)


def compute_remission_probability(
    age: FloatArray, severity: IntArray, health: IntArray, social: IntArray, definition: Definition
) -> FloatArray:
    """Compute the probability of normal remission.

    Severity, health and social position are coded from 0 to 2.

    Under the definition "FC" (fewer complications), normal remission is likely over a wider range of ages than usual. Under the
    definition "MC" (more complications), it is less likely than usual for patients aged 35 to 64, for poor patients, and for
    patients with strong symptoms.
    """
    from scipy.special import expit

    young, old = (12.0, 61.0) if definition == "FC" else (16.5, 57.0)
    logit = 2.4 - 2.4 * np.maximum(1 - age / young, 0) - np.minimum(0.32 * np.maximum(age - old, 0), 5.8)
    logit = logit - np.array([0.0, 0.2, 0.9])[severity] - np.array([0.0, 0.2, 3.0])[health] - np.array([0.0, 0.0, 0.15])[social]
    if definition == "MC":
        logit = logit - 0.6 * ((age >= 35) & (age < 65)) - 0.6 * (social == 2) - 0.6 * (severity == 2)
    return np.asarray(expit(logit))


_LEVELS = {"severity": SEVERITY, "health": HEALTH, "social": SOCIAL}


Coding = Literal["categories", "groups", "numbers"]


# Age groups that are missing from the training sets of the tutorial.
_LACKING = (
    *((group,) for group in GROUPS),
    ("OldAdult", "Elderly"),
    ("Infant", "Teenager"),
    ("Infant", "Elderly"),
    ("Teenager", "OldAdult"),
)


@dataclass(frozen=True)
class Flu(Population):
    """A population of simulated flu patients who recover normally or develop complications.

    The attributes are age, severity of symptoms, general health and social position. The domain is modelled on the drift study
    in Japkowicz's tutorial (after Alaiz-Rodríguez & Japkowicz 2008). The attributes and the direction of all changes come from
    the tutorial. Most numerical values were chosen for fairtrial, because the tutorial shows the probabilities only in figures.

    Parameters
    ----------
    population : str or FluPopulation, default "NGP"
        "NGP" (negative growth), "DP" (developing), "ZGP" (zero growth), "W", "SW", "DW" (winter, soft winter, drastic winter),
        "P" (poorer), "P+DW", or a population that you define.
    missing : sequence of str, default ()
        Age groups without patients: Infant, Teenager, YoungAdult, Adult, OldAdult, Elderly.
    definition : {"usual", "MC", "FC"}, default "usual"
        Class definition: usual, more complications, or fewer complications.
    coding : {"categories", "groups", "numbers"}, default "categories"
        "categories": age in years, other attributes as category names. "groups": age group and other attributes as category
        names. "numbers": age in years, other attributes as numbers from 1 (light, good, rich) to 3.

    Examples
    --------
    >>> X, y = Flu("DP", missing=["Elderly"]).sample(3, rng=1)
    >>> X.columns.tolist(), bool((X["age"] < 65).all()), y.cat.categories.tolist()
    (['age', 'severity', 'health', 'social'], True, ['NormalRemission', 'Complications'])
    >>> Flu("NGP").class_proportions()["Complications"]
    0.360
    """

    name: ClassVar[str] = "flu"

    population: str | FluPopulation = "NGP"
    missing: Sequence[str] = ()
    definition: Definition = "usual"
    coding: Coding = "categories"

    def __post_init__(self) -> None:
        if not isinstance(self.population, FluPopulation):
            check_one_of("population", self.population, POPULATIONS)
        groups = (self.missing,) if isinstance(self.missing, str) else tuple(self.missing)
        for group in groups:
            check_one_of("missing", group, GROUPS)
        object.__setattr__(self, "missing", tuple(sorted(set(groups), key=GROUPS.index)))
        check_one_of("definition", self.definition, ["usual", "MC", "FC"])
        check_one_of("coding", self.coding, ["categories", "groups", "numbers"])
        if not self._ages.any():
            raise InputError(f"missing must leave at least one age group with patients, got {join_names(groups, None)}")

    @property
    def classes(self) -> tuple[str, ...]:
        """The two outcomes."""
        return ("NormalRemission", "Complications")

    @property
    def _people(self) -> FluPopulation:
        return self.population if isinstance(self.population, FluPopulation) else POPULATIONS[self.population]

    @property
    def _ages(self) -> FloatArray:
        """Proportions of the age groups. The proportion of a missing group is 0."""
        proportions = np.where([group in self.missing for group in GROUPS], 0.0, self._people.ages)
        return proportions / proportions.sum() if proportions.any() else proportions

    def _draw(self, n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, IntArray]:
        people = self._people
        age = _compute_ages(rng.choice(6, size=n, p=self._ages), rng.random(n))
        social, severity = (round_to_level(rng.normal(mean, VARIANCE**0.5, n)) for mean in (people.social, people.severity))
        is_delicate = (rng.random(n) < compute_delicate_probability(age)).astype(np.float64)
        mean = compute_health_mean(is_delicate, social, people.decline)
        health = round_to_level(rng.normal(mean, HEALTH_VARIANCE**0.5))
        complications = rng.random(n) >= compute_remission_probability(age, severity, health, social, self.definition)
        return self._build_table(age, {"severity": severity, "health": health, "social": social}), complications.astype(np.intp)

    def _build_table(self, age: FloatArray, levels: dict[str, IntArray]) -> pd.DataFrame:
        import pandas as pd

        columns: dict[str, Any] = {"age": age}
        if self.coding == "groups":
            columns["age"] = pd.Categorical.from_codes(_find_group(age), categories=pd.Index(GROUPS), ordered=True)
        for name, codes in levels.items():
            named = pd.Categorical.from_codes(codes, categories=pd.Index(_LEVELS[name]), ordered=True)
            columns[name] = codes + 1.0 if self.coding == "numbers" else named
        return pd.DataFrame(columns)

    def _compute_posterior(self, frame: pd.DataFrame) -> FloatArray:
        severity, health, social = (
            _encode_levels(frame[_check_has_column(frame, name)], _LEVELS[name], (1, 2, 3)) for name in _LEVELS
        )
        if self.coding == "groups":
            normal = _compute_grouped_joint(self)[1][
                _encode_levels(frame[_check_has_column(frame, "age")], GROUPS, ()), severity, health, social
            ]
        else:
            age = frame[_check_has_column(frame, "age")].to_numpy(dtype=np.float64)
            normal = compute_remission_probability(age, severity, health, social, self.definition)
        return np.column_stack([normal, 1 - normal])

    def best_error(self) -> BestError:
        """Compute the Bayes error by summing over all levels and integrating over age."""
        mass, normal = _compute_grouped_joint(self) if self.coding == "groups" else _compute_joint(self)
        return BestError(float((mass * np.minimum(normal, 1 - normal)).sum()), 1e-5, "numerical integration")

    def class_proportions(self) -> dict[str, float]:
        """Compute the true proportion of each class."""
        mass, normal = _compute_joint(self)
        proportion = float((mass * normal).sum())
        return dict(zip(self.classes, (proportion, 1 - proportion), strict=True))


def flu_environments(
    kind: Literal["populations", "missing", "definitions"] = "populations",
    *,
    coding: Coding = "categories",
) -> dict[str, Flu]:
    """Build the environments for one of the three drift experiments in Japkowicz's tutorial.

    Parameters
    ----------
    kind : {"populations", "missing", "definitions"}, default "populations"
        "populations": all eight populations. "missing": populations in which one or two age groups are missing. "definitions":
        class definitions with more or fewer complications.
    coding : {"categories", "groups", "numbers"}, default "categories"
        Coding of the attributes, as in `Flu`.

    Returns
    -------
    dict of str to Flu
        Environments, keyed by name. The usual population, "NGP", comes first.

    Examples
    --------
    >>> list(flu_environments())
    ['NGP', 'DP', 'ZGP', 'W', 'SW', 'DW', 'P', 'P+DW']
    >>> list(flu_environments("definitions"))
    ['NGP', 'MC', 'FC']
    """
    check_one_of("kind", kind, ["populations", "missing", "definitions"])
    if kind == "populations":
        return {name: Flu(name, coding=coding) for name in POPULATIONS}
    usual = {"NGP": Flu(coding=coding)}
    if kind == "missing":
        return usual | {"no " + " or ".join(groups): Flu(missing=groups, coding=coding) for groups in _LACKING}
    return usual | {"MC": Flu(definition="MC", coding=coding), "FC": Flu(definition="FC", coding=coding)}


def age_group(age: Any) -> Any:
    """Find the age group that contains each age.

    Parameters
    ----------
    age : array-like
        Ages in years.

    Returns
    -------
    ndarray
        Name of the age group for each age.

    Examples
    --------
    >>> age_group([3, 19.5, 20, 80]).tolist()
    ['Infant', 'Teenager', 'YoungAdult', 'Elderly']
    """
    return np.array(GROUPS, dtype=object)[_find_group(np.asarray(age))]


def _find_group(age: FloatArray) -> IntArray:
    return np.searchsorted(STARTS, age, side="right") - 1


def _compute_ages(group: IntArray, quantile: FloatArray) -> FloatArray:
    """Compute the age at a quantile of an age group.

    Ages are uniformly distributed within each group, except that the ages of the elderly are exponentially distributed.
    """
    starts = np.array(STARTS)
    width = np.append(np.diff(starts), 0.0)
    elderly = starts[-1] - ELDERLY_MEAN * np.log1p(-quantile)
    return np.asarray(np.where(group == 5, elderly, starts[group] + quantile * width[group]))


@cache
def _compute_joint(flu: Flu, points: int = 500) -> tuple[FloatArray, FloatArray]:
    """Compute the probability mass and the remission probability of each combination of values."""
    people, levels = flu._people, np.arange(3)
    age = np.concatenate([_compute_ages(np.full(points, group), (np.arange(points) + 0.5) / points) for group in range(6)])
    weak = compute_delicate_probability(age)[:, None, None]
    health = [
        _compute_level_probabilities(compute_health_mean(np.array(d), levels, people.decline), HEALTH_VARIANCE)
        for d in (0.0, 1.0)
    ]
    social, severity = (_compute_level_probabilities(np.array(mean), VARIANCE) for mean in (people.social, people.severity))
    mass = np.einsum(
        "a,v,s,ash->avhs", np.repeat(flu._ages / points, points), severity, social, (1 - weak) * health[0] + weak * health[1]
    )
    normal = compute_remission_probability(
        age[:, None, None, None], levels[:, None, None], levels[:, None], levels, flu.definition
    )
    return mass, normal


@cache
def _compute_grouped_joint(flu: Flu) -> tuple[FloatArray, FloatArray]:
    """Aggregate the results of `_compute_joint` by age group.

    In a missing group, the remission probability is the unweighted mean over all ages.
    """
    mass, normal = _compute_joint(flu)
    by_group = (len(GROUPS), -1, *mass.shape[1:])
    mass, normal = mass.reshape(by_group), normal.reshape(by_group)
    total = mass.sum(axis=1)
    proportion = np.divide((mass * normal).sum(axis=1), total, out=normal.mean(axis=1), where=total > 0)
    return total, proportion


def _compute_level_probabilities(mean: FloatArray, variance: float) -> FloatArray:
    """Compute the probability that a normal variable is rounded to each of the three levels."""
    from scipy.special import ndtr

    below, upper = ndtr((1.5 - mean) / variance**0.5), ndtr((2.5 - mean) / variance**0.5)
    return np.stack([below, upper - below, 1 - upper], axis=-1)


def _check_has_column(frame: pd.DataFrame, name: str) -> str:
    if name not in frame:
        raise InputError(f"X must have the column {name!r}, got {join_names(frame.columns)}")
    return name


def _encode_levels(column: pd.Series[Any], names: Sequence[str], numbers: Sequence[int]) -> IntArray:
    """Convert a column of level names, or of the corresponding numbers, to level indices."""
    codes_by_value = {value: code for listed in (names, numbers) for code, value in enumerate(listed)}
    codes = column.astype(object).map(codes_by_value)
    if codes.isna().any():
        options = join_names([*names, *numbers], None, "or")
        raise InputError(f"column {str(column.name)!r} must contain {options}, got {column[codes.isna()].iloc[0]!r}")
    return np.asarray(codes, dtype=np.intp)
