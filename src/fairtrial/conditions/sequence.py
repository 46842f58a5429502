"""Apply several conditions one after another."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fairtrial._check import IntArray, check_one_of
from fairtrial.conditions.condition import BoolArray, Changed, Clean, Condition, Part, condition, count_rows
from fairtrial.errors import InputError


@condition("sequence")
@dataclass(frozen=True)
class Sequence(Condition):
    """Conditions that are applied one after another.

    Each step keeps its own `part`: `limit_to("train")` returns the steps for the training set, while `apply` applies all steps.
    If all steps change cells, the mask of the result marks the cells that any step changed. Otherwise, it marks rows. The level
    is the proportion of marked cells or rows. Each step has its own random generator, so the draws of a step do not depend on
    the levels of other steps.

    Parameters
    ----------
    steps : list of Condition
        Conditions, in the order in which they are applied.
    part : {"train", "test", "all"}, default "all"
        Data that the condition changes: training set, test set, or both.

    Examples
    --------
    >>> from fairtrial.conditions import AttributeNoise, ClassNoise
    >>> both = Sequence([ClassNoise(0.5), AttributeNoise(0.5, part="test")])
    >>> print(both)
    50 % class noise (symmetric-uniform) in the training set, then 50 % attribute noise (symmetric-uniform) in the test set
    >>> print(both.limit_to("test"))
    50 % attribute noise (symmetric-uniform) in the test set
    """

    steps: Any
    part: Part = field(default="all", kw_only=True)

    def _check(self) -> None:
        if isinstance(self.steps, Condition) or not isinstance(self.steps, (list, tuple)):
            raise InputError(f"steps must be a list of conditions, got {type(self.steps).__name__}")
        if not self.steps:
            raise InputError("steps must contain at least 1 condition, got none: use Clean()")
        for step in self.steps:
            if not isinstance(step, Condition):
                raise InputError(f"steps must contain conditions, got {step!r}")
        object.__setattr__(self, "steps", tuple(self.steps))

    def limit_to(self, part: Part) -> Condition:
        """Return a condition with the steps that change the given part ("train" or "test")."""
        check_one_of("part", part, ["train", "test"])
        if self.part not in (part, "all"):
            return Clean()
        steps = [step.limit_to(part) for step in self.steps]
        active = tuple(step for step in steps if not isinstance(step, Clean))
        return replace(self, steps=active) if len(active) > 1 else active[0] if active else Clean()

    def _apply(self, X: Any, y: Any, rng: np.random.Generator) -> Changed:
        n = count_rows(X)
        rows, done = np.arange(n), []
        for step_condition, seed in zip(self.steps, rng.integers(2**63, size=len(self.steps)), strict=True):
            step = step_condition.apply(X, y, np.random.default_rng(int(seed)))
            done.append((step, rows))
            X, y, rows = step.X, step.y, rows[step.rows]
        mask = _combine_masks([(step.mask, before) for step, before in done], n)
        steps = tuple(step for step, _ in done)
        return Changed(X, y, mask, float(mask.mean()), rows, sum(step.chosen for step in steps), steps)

    def summarise(self) -> str:
        """Describe the steps in a short phrase."""
        return ", then ".join(step.summarise() for step in self.steps)


def _combine_masks(masks: list[tuple[BoolArray, IntArray]], n: int) -> BoolArray:
    """Combine the masks of all steps into one mask of the original rows.

    Each mask is paired with the original indices of its rows.
    """
    widths = {mask.shape[1:] for mask, _ in masks}
    if len(widths) > 1:
        masks = [(np.asarray(mask.reshape(len(mask), -1).any(axis=1)), rows) for mask, rows in masks]
    combined = np.zeros((n, *masks[0][0].shape[1:]), dtype=bool)
    for mask, rows in masks:
        np.logical_or.at(combined, rows, mask)
    return combined
