"""Conditions tried on the data before a run: a mistake that only the data show is told before any learner is blamed for it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fairtrial.conditions import Clean
from fairtrial.errors import Problem, SpecError, SuspectInputWarning
from fairtrial.study.one_line import one_line
from fairtrial.study.plan.chunking import chunk_of
from fairtrial.study.plan.plan import Block, Plan
from fairtrial.study.trial.trial_data import TrialData
from fairtrial.study.trial.trial_parts import parts_of

_MOST_ROWS = 20_000  # larger data sets are not tried
_PATIENCE = 5.0  # seconds, after which no further data set is
_NAMED = 5  # data sets in a sentence


class _Found(NamedTuple):
    """What became of a condition on a data set, by their places in the plan; the message is None where it could be applied."""

    condition: int
    data: int
    message: str | None


def try_conditions(plan: Plan, missing: Iterable[Block]) -> None:
    """Apply the conditions of the missing trials to their data sets, a split of each.

    One that fails on every data set is refused by a SpecError; one that fails on some is told by a warning. Data sets of more
    than 20,000 rows are not tried, and none after 5 seconds: what was not tried is not refused.
    """
    pairs = {(block.data, block.condition) for block in missing}
    wanted = {pair for pair in pairs if not isinstance(plan.conditions[pair[1]].condition, Clean)}
    found = list(_tried(plan, wanted))
    hopeless = _hopeless(found, wanted)
    if hopeless:
        raise SpecError.of(_problems(plan, found, hopeless))
    for sentence in _sentences(plan, found):
        warnings.warn(sentence, SuspectInputWarning, stacklevel=3)


def _tried(plan: Plan, wanted: set[tuple[int, int]]) -> Iterator[_Found]:
    """Small data sets first."""
    until = time.monotonic() + _PATIENCE
    for data in sorted({data for data, _ in wanted}, key=lambda place: (len(plan.data[place].dataset), place)):
        if len(plan.data[data].dataset) > _MOST_ROWS or time.monotonic() > until:
            return
        table = TrialData.of(plan.data[data].dataset)
        for condition in sorted(condition for of, condition in wanted if of == data):
            yield _Found(condition, data, _message(plan, table, data, condition))


def _message(plan: Plan, table: TrialData, data: int, condition: int) -> str | None:
    """Why the condition can be applied neither to the first split nor to the last: either alone may be an odd one."""
    told = None
    for split in sorted({0, len(plan.data[data].splits) - 1}):
        try:
            _apply(plan, table, data, condition, split)
        except Exception as error:
            told = told or one_line(error) or type(error).__name__
        else:
            return None
    return told


def _apply(plan: Plan, table: TrialData, data: int, condition: int, split: int) -> None:
    """As a trial would, with the same seed; learners play no part in it."""
    chunk = chunk_of(plan, [Block(data, split, condition, (0,))], [b""] * len(plan.learners), plan.study.limits)
    parts_of(table, chunk.splits[0], chunk.conditions[0], chunk.tasks[0].condition_seed)


def _hopeless(found: list[_Found], wanted: set[tuple[int, int]]) -> list[int]:
    """Conditions that were tried on all of their data sets and failed on each."""
    failed = {(each.data, each.condition) for each in found if each.message is not None}
    return sorted(
        condition for condition in {each for _, each in wanted} if {pair for pair in wanted if pair[1] == condition} <= failed
    )


def _problems(plan: Plan, found: list[_Found], hopeless: list[int]) -> list[Problem]:
    """One for each name and message: levels of one condition fail alike."""
    told: dict[Problem, None] = {}
    for condition in hopeless:
        own = [each for each in found if each.condition == condition]
        also = f" (on {plan.data[own[0].data].name}, and it fails on the other data sets too)" if len(own) > 1 else ""
        told[Problem(f"conditions.{plan.conditions[condition].name}", None, f"{own[0].message}{also}")] = None
    return list(told)


def _sentences(plan: Plan, found: list[_Found]) -> Iterator[str]:
    """One for each condition, with the data sets and what the first of them leads to."""
    sets: dict[str, dict[str, str]] = {}
    for each in found:
        if each.message is not None:
            sets.setdefault(plan.conditions[each.condition].name, {}).setdefault(plan.data[each.data].name, each.message)
    for condition, names in sets.items():
        message = next(iter(names.values()))
        known = ", ".join([*list(names)[:_NAMED], *([f"{len(names) - _NAMED} more"] if len(names) > _NAMED else [])])
        yield f"{condition} cannot be applied to {known}: {message}; its trials will be recorded as failures"
