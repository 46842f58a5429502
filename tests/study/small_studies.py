"""Small studies for the tests of plans: what a declaration resolves to, made by hand."""

from typing import Any

import numpy as np
from sklearn.naive_bayes import GaussianNB

from fairtrial.conditions import Clean
from fairtrial.data import Dataset
from fairtrial.study.records import ResourceLimits
from fairtrial.study.spec.resolve import NamedCondition, NamedData, NamedLearner, NamedScheme, ResolvedStudy, VerdictPlan
from fairtrial.study.spec.schemes import build_scheme

CLEAN = ("clean", 0.0, Clean())


def rows(count: int = 30, seed: int = 0) -> Dataset:
    """Two classes in two columns."""
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % 2
    return Dataset.from_table(rng.normal(size=(count, 2)) + labels[:, None], np.array(["a", "b"])[labels], name=f"rows-{seed}")


def study(
    data: dict[str, Dataset] | None = None,
    learners: dict[str, Any] | None = None,
    conditions: tuple[Any, ...] = (CLEAN,),
    seed: int = 1,
    limits: ResourceLimits | None = None,
    **resampling: Any,
) -> ResolvedStudy:
    """Naive Bayes on 30 rows in 3 folds, twice, unless told otherwise."""
    data = {"first": rows()} if data is None else data
    learners = {"bayes": GaussianNB()} if learners is None else learners
    declared = resampling if "scheme" in resampling else {"scheme": "stratified", "folds": 3, "repeats": 2} | resampling
    return ResolvedStudy(
        "small",
        seed,
        {"name": "small"},
        tuple(NamedData(*each) for each in data.items()),
        tuple(NamedCondition(*each) for each in conditions),
        tuple(NamedLearner(*each) for each in learners.items()),
        (NamedScheme("scheme", build_scheme(declared)),),
        ("accuracy",),
        VerdictPlan("accuracy"),
        ResourceLimits(60.0) if limits is None else limits,
    )
