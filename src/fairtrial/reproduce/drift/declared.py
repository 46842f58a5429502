"""What is run: the learners, their coding, the number of patients, and the variants, as `drift.toml` declares them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, NamedTuple

from fairtrial.reproduce.study_files import study_file

TableName = Literal["populations", "missing", "definitions"]
TABLES: tuple[TableName, ...] = ("populations", "missing", "definitions")


class Part(NamedTuple):
    """A run of its own: one learner in the environments of one table."""

    table: TableName
    learner: str
    coding: str
    n_train: int


@dataclass(frozen=True)
class Plan:
    """All that is run at a scale."""

    n_train: int
    n_test: int
    replicates: int
    rounds: int  # of the network with a hidden layer, at most
    variants: tuple[str, ...]
    declared: Mapping[str, Any] = field(repr=False)

    @property
    def learners(self) -> tuple[str, ...]:
        """Names of the learners."""
        return tuple(self.declared["learners"])

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """A simple learner and the complex one that it is compared with."""
        return tuple((simple, complicated) for simple, complicated in self.declared["pairs"])

    def parts(self, variant: str = "") -> dict[tuple[TableName, str], Part]:
        """The runs of a variant by table and learner; those that the variant does not change are the same in all."""
        other = self.declared["variants"][variant] if variant else {}
        n_train = other.get("n_train", self.n_train)
        coding = {name: told["coding"] for name, told in self.declared["learners"].items()} | other.get("coding", {})
        return {(table, name): Part(table, name, coding[name], n_train) for table in TABLES for name in self.learners}

    def learner(self, name: str) -> Any:
        """The learner of a name, with what has to be done before it can read the attributes."""
        from fairtrial.learners import Prepared, make_learner

        told = self.declared["learners"][name]
        parameters = told.get("parameters", {}) | ({"max_iter": self.rounds} if told["learner"] == "mlp" else {})
        return Prepared(make_learner(told["learner"], **parameters))


def plan_of(scale: str) -> Plan:
    """The plan of a scale.

    >>> plan = plan_of("full")
    >>> plan.replicates, plan.learners
    (30, ('1R', 'Decision Tree', 'Simple NN', 'Complex NN'))
    """
    told = _declared()["scales"][scale]
    return Plan(told["n_train"], told["n_test"], told["replicates"], told["rounds"], tuple(told["variants"]), _declared())


@cache
def _declared() -> dict[str, Any]:
    return study_file("drift", "drift")
