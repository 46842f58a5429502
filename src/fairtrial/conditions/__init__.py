"""Controlled changes of the data: noise and shift, by an exact amount, with proof of what changed."""

from fairtrial.conditions.condition import (
    Changed as Changed,
    Clean as Clean,
    Condition as Condition,
    condition as condition,
    registry as registry,
)
