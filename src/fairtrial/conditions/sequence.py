"""Several conditions, one after the other."""

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
    """Conditions in order; each changes what the one before left.

    Each step keeps the part it is declared for: `limit_to("train")` is the sequence of those for training. `apply` applies
    them all. `mask` marks, in the data that came in, the cells that any step changed when all steps change cells, else the
    rows that any step changed, removed or drew otherwise; `level` is the marked proportion. `steps` of the result hold the
    mask and level of each step. Each step draws from a source of its own, so that a change of one step's level leaves the
    draws of the others as they are.

    >>> from fairtrial.conditions import AttributeNoise, ClassNoise
    >>> both = Sequence([ClassNoise(0.5), AttributeNoise(0.5, part="test")])
    >>> print(both)
    50 % class noise (symmetric-uniform) in the training part, then 50 % attribute noise (symmetric-uniform) in the test part
    >>> print(both.limit_to("test"))
    50 % attribute noise (symmetric-uniform) in the test part
    """

    steps: Any
    part: Part = field(default="all", kw_only=True)

    def _check(self) -> None:
        if isinstance(self.steps, Condition) or not isinstance(self.steps, (list, tuple)):
            raise InputError(f"steps must be a list of conditions, got {type(self.steps).__name__}")
        if not self.steps:
            raise InputError("steps must hold at least 1 condition, got none: use Clean()")
        for step in self.steps:
            if not isinstance(step, Condition):
                raise InputError(f"steps must hold conditions, got {step!r}")
        object.__setattr__(self, "steps", tuple(self.steps))

    def limit_to(self, part: Part) -> Condition:
        """The steps for this part, `"train"` or `"test"`."""
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
        """What the steps do, in order, in words."""
        return ", then ".join(step.summarise() for step in self.steps)


def _combine_masks(masks: list[tuple[BoolArray, IntArray]], n: int) -> BoolArray:
    """All masks in one over the rows that came in; each comes with the places, there, of the rows that it is about."""
    widths = {mask.shape[1:] for mask, _ in masks}
    if len(widths) > 1:
        masks = [(np.asarray(mask.reshape(len(mask), -1).any(axis=1)), rows) for mask, rows in masks]
    combined = np.zeros((n, *masks[0][0].shape[1:]), dtype=bool)
    for mask, rows in masks:
        np.logical_or.at(combined, rows, mask)
    return combined
