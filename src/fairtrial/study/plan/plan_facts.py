"""What a store keeps about a plan: facts of its data sets, conditions, learners and splits, under their hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import IntArray
from fairtrial.study.archive import ConditionFacts, DataFacts

if TYPE_CHECKING:
    from fairtrial.data import Dataset
    from fairtrial.study.plan.places import Place
    from fairtrial.study.plan.plan import Plan
    from fairtrial.study.store.store import Link, Store


def add_plan(store: Store, plan: Plan) -> None:
    """Tell the store what the plan is about."""
    store.add_plan(
        plan.header(),
        [data_facts(each.dataset, each.name) for each in plan.data],
        [
            (each.hash, ConditionFacts(each.name, each.level, each.condition.words(), each.condition.describe()))
            for each in plan.conditions
        ],
        [(each.hash, each.facts) for each in plan.learners],
        (
            (each.hash, bytes.fromhex(found), rows)
            for each in plan.data
            for rows, found in zip(each.splits, each.split_hashes, strict=True)
        ),
    )


def data_facts(dataset: Dataset, name: str) -> DataFacts:
    """A data set without its table.

    >>> from fairtrial.data import Dataset
    >>> facts = data_facts(Dataset.of([[1.0], [2.0], [3.0]], ["a", "b", "a"]), "three")
    >>> facts.classes, facts.codes.tolist(), facts.facts["numeric"]
    (('a', 'b'), [0, 1, 0], 1)
    """
    summary = dataset.summary()
    facts: dict[str, Any] = {
        what: getattr(summary, what) for what in ("rows", "numeric", "nominal", "missing", "imbalance_ratio")
    }
    facts |= {"source": dataset.source, "notes": list(dataset.notes)}
    codes: IntArray = np.asarray(dataset.y.cat.codes, dtype=np.intp)
    return DataFacts(name, dataset.content_hash, dataset.classes, codes, dataset.row_ids, facts)


def link_of(plan: Plan, place: Place) -> Link:
    """The hashes of what the trial at this place is about."""
    from fairtrial.study.store.store import Link

    data = plan.data[place.data]
    split = bytes.fromhex(data.split_hashes[place.split])
    return Link(data.hash, plan.conditions[place.condition].hash, split, plan.learners[place.learner].hash)
