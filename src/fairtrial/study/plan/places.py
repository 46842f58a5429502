"""Where in the plan a trial stands, by its key: for the trials that are out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from fairtrial.study.plan.plan import Plan
    from fairtrial.study.records import Chunk


class Place(NamedTuple):
    """Places of a trial's data set, split, condition and learner in the plan."""

    data: int
    split: int
    condition: int
    learner: int


class Places:
    """The places of trials that are out; only the table of the data set that was last sent out is kept."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._data = {each.hash: place for place, each in enumerate(plan.data)}
        self._table: tuple[int, dict[bytes, int]] = (-1, {})
        self._places: dict[bytes, Place] = {}

    def went_out(self, chunk: Chunk) -> None:
        """These trials are out."""
        data = self._data[chunk.data]
        numbers = self._numbers(data)
        _, conditions, learners = self._plan.keys(data).shape
        for task in chunk.tasks:
            split, rest = divmod(numbers[task.key], conditions * learners)
            self._places[task.key] = Place(data, split, *divmod(rest, learners))

    def came_back(self, key: bytes) -> Place:
        """Where this trial stands; it is no longer out."""
        return self._places.pop(key)

    def _numbers(self, data: int) -> dict[bytes, int]:
        if self._table[0] != data:
            keys = self._plan.keys(data)
            packed, size = keys.tobytes(), keys.dtype.itemsize
            self._table = (data, {packed[size * i : size * (i + 1)]: i for i in range(keys.size)})
        return self._table[1]
