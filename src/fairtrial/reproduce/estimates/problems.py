"""The simulated problems, and what is run on them at each scale."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from fairtrial.reproduce.study_files import study_file

if TYPE_CHECKING:
    from fairtrial.data.simulate import Population

LEARNERS = ("nearest neighbour", "naive Bayes", "linear discriminant", "C4.5")


@dataclass(frozen=True)
class Plan:
    """What is simulated at a scale."""

    sizes: tuple[int, ...]
    problems: tuple[str, ...]
    replicates: dict[str, int]
    bootstrap_samples: int
    subsamples: int
    test_rows: int
    ensembles: dict[str, Any]
    selections: int

    def replicates_of(self, learner: str) -> int:
        """How many samples this learner is tried on."""
        return self.replicates["c45" if learner == "C4.5" else "others"]


def plan_of(scale: str) -> Plan:
    """The plan of a scale.

    >>> plan_of("full").sizes
    (25, 50, 100, 200)
    """
    told = study_file("estimates", "estimates")["scales"][scale]
    return Plan(**told | {name: tuple(told[name]) for name in ("sizes", "problems")})


@cache
def population(name: str) -> Population:
    """A problem by its name.

    >>> round(population("two Gaussians").bayes_error, 3), population("no signal").bayes_error
    (0.2, 0.5)
    """
    from fairtrial.data.simulate import GaussianMixture, Ringnorm, Twonorm, Waveform

    apart = 1.6832 / 5**0.5  # in each of five attributes: a best error of 20 %
    known: dict[str, Any] = {
        "no signal": lambda: GaussianMixture(means=[[0.0] * 5, [0.0] * 5]),
        "two Gaussians": lambda: GaussianMixture(means=[[0.0] * 5, [apart] * 5]),
        "rare class": lambda: GaussianMixture(means=[[0.0] * 5, [apart] * 5], priors=[0.8, 0.2]),
        "twonorm": Twonorm,
        "ringnorm": Ringnorm,
        "waveform": Waveform,
    }
    found: Population = known[name]()
    return found


def drawn(name: str, n: int, rng: Any) -> tuple[Any, Any, int]:
    """Rows of a problem as a matrix, their classes as codes, and how many classes there are."""
    X, y = population(name).sample(n, rng)
    return X.to_numpy(), y.cat.codes.to_numpy().astype("int64"), len(y.cat.categories)
